"""WHAT was done and refused? Every write adds a line in its own transaction; a refusal adds one too."""

from dataclasses import dataclass

from onrecord.model.answer import Answer
from onrecord.model.ledger import AuditEntry
from onrecord.operation import Call, operation
from onrecord.store.ports.filters import AuditFilter


@dataclass(frozen=True, slots=True)
class ListAudit(AuditFilter):
    """Who wrote what, when, and what was refused; newest first. The text of memories is not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited(Answer):
    """A page of the audit, newest first; `next` asks for the following page."""

    entries: tuple[AuditEntry, ...]
    next: str | None = None


@operation("read", "memory.admin", "GET /audit")
def audit(call: Call, ask: ListAudit) -> Audited:
    with call.store.ledger(call.caller.tenant, writes=False) as ledger:
        entries, mark = ledger.page(ask)
    return Audited(entries=tuple(entries), next=mark)
