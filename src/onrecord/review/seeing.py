"""WHAT may a caller see of a changeset? The values that were promoted, and those of its proposals that they see.

An approved value is for the whole tenant once it is applied. What was never applied is for those who see the proposal
that it comes from, and for reviewers.
"""

from collections.abc import Iterator, Set
from dataclasses import replace

from onrecord.errors import Forbidden, NotFound
from onrecord.model.caller import Caller
from onrecord.model.changesets import Changeset, FieldChange
from onrecord.store.ports.records import Reading


def changeset_named(reading: Reading, id: str) -> Changeset:
    found = reading.changesets.one(id)
    if found is None:
        raise NotFound(f"No changeset {id}. `onrecord changesets` lists them.")
    return found


def seen_in(reading: Reading, *changesets: Changeset) -> Set[str]:
    """The proposals of changesets that the caller sees; how many others there are costs nothing."""
    return reading.seen([id for each in changesets for id in each.memories])


def seen_by(caller: Caller, changeset: Changeset, seen: Set[str]) -> Changeset:
    """A changeset without what a caller who sees these of its proposals may not see of it."""
    changes = tuple(_seen_changes(caller, changeset, seen))
    memories = tuple(id for id in changeset.memories if id in seen)
    told = replace(changeset, changes=changes, memories=memories)
    if len(changes) == len(changeset.changes):
        return told
    # Why it was applied speaks of values, and why it failed names them: both are for those who see all of them.
    return replace(told, reason=None, ended_reason=None)


def _seen_changes(caller: Caller, changeset: Changeset, seen: Set[str]) -> Iterator[FieldChange]:
    was_public = changeset.state in ("applied", "rolling_back", "rolled_back")
    for change in changeset.changes:
        own = tuple(id for id in change.memories if id in seen)
        if was_public or own or "memory.review" in caller.permissions:
            yield replace(change, memories=own)


def require_person(caller: Caller) -> None:
    """What people approved is applied and rolled back by people; a model's word does not stand for theirs."""
    if caller.actor != "person":
        raise Forbidden("Only a person may apply or roll back changes: use the key of a person.")
