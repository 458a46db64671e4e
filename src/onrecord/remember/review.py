"""WHO approves? A proposal counts once a person has said so; each is one transaction."""

from dataclasses import replace
from datetime import datetime

from onrecord.errors import Conflict
from onrecord.model import ids
from onrecord.model.answers import Reviewed
from onrecord.model.caller import Caller
from onrecord.model.memory import Change, Memory
from onrecord.model.requests import Approve, Reject
from onrecord.remember.save import refuse_retired
from onrecord.remember.supersede import end
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store


def approve(caller: Caller, ask: Approve, store: Store, now: datetime) -> Reviewed:
    """A proposal becomes active; a memory that is active already is vouched for."""
    with store.writing(caller, now, ids.address(ask.id).tenant or caller.tenant) as writing:
        memory = writing.reviewable(ask.id)
        refuse_retired(memory)
        if memory.status != "pending" and memory.approved_by is not None:
            return Reviewed(memory=memory, changed=False)
        approved = replace(
            memory,
            status="active" if memory.status == "pending" else memory.status,
            status_reason=None if memory.status == "pending" else memory.status_reason,
            approved_by=caller.user,
            approved_at=now,
            updated_at=max(now, memory.updated_at),
        )
        saved = writing.replace(memory, approved, _change("approve", caller, now))
    return Reviewed(memory=saved, changed=True)


def reject(caller: Caller, ask: Reject, store: Store, now: datetime) -> Reviewed:
    """A proposal is archived, as having been true at no time that counts."""
    with store.writing(caller, now, ids.address(ask.id).tenant or caller.tenant) as writing:
        memory = writing.reviewable(ask.id)
        if memory.status != "pending":
            _refuse_settled(memory, writing)
            return Reviewed(memory=memory, changed=False)
        reason = ask.reason or f"rejected by {caller.user}"
        rejected = end(writing, memory, "archived", now, reason, _change("reject", caller, now))
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


def _change(name: str, caller: Caller, now: datetime) -> Change:
    return Change(name, caller.user, caller.actor, now)
