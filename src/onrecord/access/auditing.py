"""WHAT was done and refused? Every write leaves a line in its own transaction; a refusal leaves one too."""

from contextlib import suppress
from datetime import datetime

from onrecord.errors import OnRecordError
from onrecord.model.answers import Audited
from onrecord.model.caller import Caller
from onrecord.model.requests import ListAudit
from onrecord.store.ports.store import Store


def listed(caller: Caller, ask: ListAudit, store: Store) -> Audited:
    """A page of the tenant's audit."""
    with store.ledger(caller.tenant, writes=False) as ledger:
        entries, mark = ledger.page(ask)
    return Audited(entries=tuple(entries), next=mark)


def note(caller: Caller, operation: str, store: Store, now: datetime, subject: str | None = None) -> None:
    """A line about something that was done as a whole, such as an import."""
    with store.ledger(caller.tenant) as ledger:
        ledger.note(caller, operation, now, subject)


def note_refusal(caller: Caller, operation: str, store: Store, now: datetime) -> None:
    """A line about what was not allowed; the refusal stands even where the line cannot be written."""
    with suppress(OnRecordError), store.ledger(caller.tenant) as ledger:
        ledger.note(caller, operation, now, outcome="refused")
