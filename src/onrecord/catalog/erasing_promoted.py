"""HOW are the values of an erased proposal removed from the catalog? From changesets, and from every version of its records.

A changeset that is applied must be rolled back first, since the catalog would still show it. Then no present record holds the values,
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

#: The fields of a record that show its amendments.
_RENDERED_FIELDS: Final = ("content", "tags", "metadata")


class Promoted(NamedTuple):
    """A value that a changeset wrote at a place."""

    changeset: str
    cell: Cell


def erase_proposed_values(writing: Writing, memory: Memory) -> None:
    """Remove what a memory proposed from changesets and from the catalog's past; Conflict if it is applied."""
    if memory.edits is None:
        return
    naming = writing.changesets.naming(memory.id)
    for each in naming:
        _refuse_applied(memory, each)
    # A value that others proposed too stays.
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
            f"The changes that memory {memory.id} proposes are applied (changeset {changeset.id}), so the catalog would still show them. "
            f"Roll changeset {changeset.id} back first, or let a reviewer do so; then forget it."
        )


def _without_memory(changeset: Changeset, id: str) -> Changeset:
    """A changeset without the changes that one memory alone proposed, and without its name."""
    others = (
        replace(each, memories=tuple(other for other in each.memories if other != id))
        for each in changeset.changes
        if each.memories != (id,)
    )
    # The reason of a failure quotes the values that were to be written.
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
    states = [_root_state(each, gone) for each in catalog.versions(record_id(root))]
    for name in sorted({root} | {each.cell.entity for each in gone}):
        record = catalog.memory(record_id(name))
        if record is not None:
            old = catalog.versions(record.id)[:-1]
            catalog.redact(
                record, {each.number: clean for each in old if (clean := _clean(name, each, states))}
            )


class _RootState(NamedTuple):
    """The records of an entity and its parts since a time: as they were, and without the erased values. Both are empty
    if it had none of these.
    """

    at: datetime
    before: Mapping[str, Record] = {}
    after: Mapping[str, Record] = {}


def _root_state(version: Version, gone: Set[Promoted]) -> _RootState:
    every = amendments_of(version.memory)
    kept = [each for each in every if Promoted(each.changeset, each.cell) not in gone]
    if len(kept) == len(every):
        return _RootState(version.at)
    return _RootState(version.at, records_with(version.memory, every), records_with(version.memory, kept))


def _clean(name: str, version: Version, states: Sequence[_RootState]) -> Memory | None:
    """An old version without the erased values; None if it had none."""
    until = [each for each in reversed(states) if each.at <= version.at]
    # A part that is gone keeps its last text. The text of an earlier release was rendered together with the model.
    rendered_so = (
        each for each in until if name in each.before and each.before[name].text == version.memory.content
    )
    state = next(rendered_so, until[0] if until else None)
    if state is None or name not in state.after:
        return None
    fields = fields_of(state.after[name])
    clean = replace(version.memory, **{each: fields[each] for each in _RENDERED_FIELDS})
    return None if clean == version.memory else clean
