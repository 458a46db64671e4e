"""WHAT stops being true with it? The memories that a save names are retired in the same transaction."""

from dataclasses import replace
from datetime import datetime

from onrecord.errors import Conflict, Fault, Invalid, NotFound
from onrecord.model.memory import Change, Memory
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing


def supersede(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """One id that cannot be superseded fails the whole save, and nothing is written."""
    new = draft.ready
    olds = [writing.target(id) for id in draft.ask.supersedes]
    if any(old.id == new.id for old in olds):
        # Nobody held this id until the save was given it as the next number.
        raise NotFound(f"No memory {new.id} that you can see. Check the id, or browse what is there.")
    if olds and new.valid_from > draft.now:
        # Not in the request, but in the memory that was saved onto.
        raise Invalid([Fault("valid_from", "must not be in the future when the memory supersedes others")])
    retired = [old.id for old in olds if not old.is_live]
    if retired:
        raise Conflict(f"Already retired: {', '.join(retired)}. Name only memories that are still live.")
    if any(old.tenant != new.tenant for old in olds):
        raise Invalid(
            [Fault("supersedes", "a global memory can only be superseded by a global one, and the reverse")]
        )
    for old in olds:
        writing.relate(new, "supersedes", old, draft.change("supersede"))
        reason = f"superseded by {new.id}"
        end(writing, old, "superseded", new.valid_from, reason, draft.change("supersede"))
    return replace(draft, superseded=tuple(old.id for old in olds))


def end(
    writing: Writing, memory: Memory, status: str, at: datetime, reason: str | None, change: Change
) -> Memory:
    """Close a memory's window; one that became true later than it ended was never true."""
    ended = replace(
        memory,
        status=status,  # type: ignore[arg-type]
        status_reason=reason,
        valid_to=max(at, memory.valid_from),
        updated_at=max(change.at, memory.updated_at),
    )
    return writing.replace(memory, ended, change)
