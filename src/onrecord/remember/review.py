"""WHO approves? A proposal counts once a person has said so; each is one transaction."""

from dataclasses import dataclass, replace

from onrecord.errors import Conflict
from onrecord.model.answer import Answer
from onrecord.model.memory import Memory
from onrecord.model.request import Request, ask
from onrecord.model.rules import ID, REASON, OrNone
from onrecord.operation import Call, operation
from onrecord.remember.save import refuse_retired
from onrecord.remember.supersede import end
from onrecord.store.ports.records import Writing


@dataclass(frozen=True, slots=True)
class Approve(Request):
    """Let a proposal count, or vouch for a memory that an agent wrote: after that it may be told unasked."""

    id: str = ask(ID, "The memory to approve.", positional=True)


@dataclass(frozen=True, slots=True)
class Reject(Request):
    """Turn a proposal down. It stays readable in the past; a second call changes nothing."""

    id: str = ask(ID, "The proposal to turn down.", positional=True)
    reason: str | None = ask(OrNone(REASON), "Why.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed(Answer):
    """A memory after a person has looked at it; `changed` is false if nothing was to be done."""

    memory: Memory
    changed: bool


@operation("write", "memory.review", "POST /memories/{id}/approve")
def approve(call: Call, ask: Approve) -> Reviewed:
    """A proposal becomes active; a memory that is active already is vouched for."""
    with call.writing(ask.id) as writing:
        memory = writing.reviewable(ask.id)
        refuse_retired(memory)
        if memory.status != "pending" and memory.approved_by is not None:
            return Reviewed(memory=memory, changed=False)
        approved = replace(
            memory,
            status="active" if memory.status == "pending" else memory.status,
            status_reason=None if memory.status == "pending" else memory.status_reason,
            approved_by=call.caller.user,
            approved_at=call.now,
            updated_at=max(call.now, memory.updated_at),
        )
        saved = writing.replace(memory, approved, call.change("approve"))
    return Reviewed(memory=saved, changed=True)


@operation("write", "memory.review", "POST /memories/{id}/reject")
def reject(call: Call, ask: Reject) -> Reviewed:
    """A proposal is archived, as having been true at no time that counts."""
    with call.writing(ask.id) as writing:
        memory = writing.reviewable(ask.id)
        if memory.status != "pending":
            _refuse_settled(memory, writing)
            return Reviewed(memory=memory, changed=False)
        reason = ask.reason or f"rejected by {call.caller.user}"
        rejected = end(writing, memory, "archived", call.now, reason, call.change("reject"))
    return Reviewed(memory=rejected, changed=True)


def _refuse_settled(memory: Memory, writing: Writing) -> None:
    """Conflict, unless the memory was turned down already."""
    if memory.is_live:
        raise Conflict(
            f"Memory {memory.id} is {memory.status} and waits for no review. "
            "Retire it if it is no longer true, or forget it."
        )
    if writing.versions(memory.id)[-1].change != "reject":
        raise Conflict(
            f"Memory {memory.id} was retired already ({memory.status}); there is nothing to turn down."
        )
