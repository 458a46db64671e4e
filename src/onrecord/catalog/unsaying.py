"""HOW do the words of an erased proposal leave the catalog? From changesets, and from every version of its records.

What is applied must be rolled back first: the catalog would still show it. Then no present record holds these words,
but old versions of the records do, and changesets, as previous values. Old versions are rendered again without them.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from onrecord.catalog.amendments import amendments_of
from onrecord.catalog.editing import root_of
from onrecord.catalog.records import Record, fields_of, record_id, records_with
from onrecord.errors import Conflict
from onrecord.model.changesets import UNSETTLED, Changeset, FieldChange
from onrecord.model.collections import ENTITIES
from onrecord.model.edits import Cell
from onrecord.model.memory import Memory, Version
from onrecord.store.ports.records import Writing

#: The fields of a record that its amendments show in.
_TOLD: Final = ("content", "tags", "metadata")


class Promoted(NamedTuple):
    """A value that a changeset wrote at a place."""

    changeset: str
    cell: Cell


def unsay(writing: Writing, memory: Memory) -> None:
    """Take what a memory proposed out of changesets and of the catalog's past; Conflict if it is applied."""
    if memory.edits is None:
        return
    naming = writing.changesets.naming(memory.id)
    for each in naming:
        _refuse_applied(memory, each)
    # What others proposed too is theirs as well.
    own = {
        Promoted(each.id, change.edit.cell)
        for each in naming
        for change in each.changes
        if change.memories == (memory.id,)
    }
    for each in naming:
        writing.changesets.replace(_without_memory(each, memory.id))
    for root in sorted({root_of(each.cell.entity) for each in own}):
        for changeset in writing.changesets.of_entity(root):
            cleared = _without_befores(changeset, own)
            if cleared != changeset:
                writing.changesets.replace(cleared)
        _clear_past(writing.writing_of(ENTITIES), root, own)


def _refuse_applied(memory: Memory, changeset: Changeset) -> None:
    if changeset.state in UNSETTLED:
        raise Conflict(
            f"Changeset {changeset.id}, which memory {memory.id} is part of, is being applied or rolled back. Try again in "
            "a minute."
        )
    if changeset.state == "applied":
        raise Conflict(
            f"What memory {memory.id} proposes is applied (changeset {changeset.id}), and the catalog would go on saying it. "
            f"Roll changeset {changeset.id} back first, or let a reviewer do so; then forget it."
        )


def _without_memory(changeset: Changeset, id: str) -> Changeset:
    """A changeset without the changes that one memory alone proposed, and without its name."""
    others = (
        replace(each, memories=tuple(other for other in each.memories if other != id))
        for each in changeset.changes
        if each.memories != (id,)
    )
    # Why it failed names what was to be written.
    why = None if changeset.state == "failed" else changeset.ended_reason
    memories = tuple(each for each in changeset.memories if each != id)
    return replace(changeset, changes=tuple(others), memories=memories, ended_reason=why)


def _without_befores(changeset: Changeset, gone: Set[Promoted]) -> Changeset:
    """A later changeset without these values among its previous values."""
    return replace(changeset, changes=tuple(_without_before(each, gone) for each in changeset.changes))


def _without_before(change: FieldChange, gone: Set[Promoted]) -> FieldChange:
    under = change.under
    if under is None or Promoted(str(under.get("changeset")), change.edit.cell) not in gone:
        return change
    return replace(change, before=None, under=None)


def _clear_past(catalog: Writing, root: str, gone: Set[Promoted]) -> None:
    """Render the old versions of an entity and its parts again, without these values."""
    if not catalog.size or catalog.memory(record_id(root)) is None:
        return
    told = [_telling(each, gone) for each in catalog.versions(record_id(root))]
    for name in sorted({root} | {each.cell.entity for each in gone}):
        record = catalog.memory(record_id(name))
        if record is not None:
            old = catalog.versions(record.id)[:-1]
            catalog.redact(
                record, {each.number: clean for each in old if (clean := _clean(name, each, told))}
            )


class _Telling(NamedTuple):
    """The records of an entity and its parts since a time: as they were, and without the erased values. Both are empty
    if it had none of these.
    """

    at: datetime
    before: Mapping[str, Record] = {}
    after: Mapping[str, Record] = {}


def _telling(version: Version, gone: Set[Promoted]) -> _Telling:
    every = amendments_of(version.memory)
    kept = [each for each in every if Promoted(each.changeset, each.cell) not in gone]
    if len(kept) == len(every):
        return _Telling(version.at)
    return _Telling(version.at, records_with(version.memory, every), records_with(version.memory, kept))


def _clean(name: str, version: Version, told: Sequence[_Telling]) -> Memory | None:
    """An old version without the erased values; None if it had none."""
    until = [each for each in reversed(told) if each.at <= version.at]
    # A part that is gone says what it said before. One whose words are of an earlier release was told with its model.
    said = (
        each for each in until if name in each.before and each.before[name].text == version.memory.content
    )
    telling = next(said, until[0] if until else None)
    if telling is None or name not in telling.after:
        return None
    fields = fields_of(telling.after[name])
    clean = replace(version.memory, **{each: fields[each] for each in _TOLD})
    return None if clean == version.memory else clean
