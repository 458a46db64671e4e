"""WHAT may a caller see of a changeset? The promoted values, and the values of the proposals that the caller sees.

Once applied, an approved value is visible to the whole tenant. One that was never applied is visible to reviewers and
to callers who see its proposal.
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
    """A changeset without the values that its caller may not see; `seen` are the proposals that the caller sees."""
    changes = tuple(_seen_changes(caller, changeset, seen))
    memories = tuple(id for id in changeset.memories if id in seen)
    visible = replace(changeset, changes=changes, memories=memories)
    if len(changes) == len(changeset.changes):
        return visible
    # The reasons for applying and for failing may name values: only callers who see all values get them.
    return replace(visible, reason=None, ended_reason=None)


def _seen_changes(caller: Caller, changeset: Changeset, seen: Set[str]) -> Iterator[FieldChange]:
    was_public = changeset.state in ("applied", "rolling_back", "rolled_back")
    for change in changeset.changes:
        own = tuple(id for id in change.memories if id in seen)
        if was_public or own or "memory.review" in caller.permissions:
            yield replace(change, memories=own)


def require_person(caller: Caller) -> None:
    """Raise Forbidden unless a person calls: only people apply and roll back what people approved."""
    if caller.actor != "person":
        raise Forbidden("Only a person may apply or roll back changes: use the key of a person.")
