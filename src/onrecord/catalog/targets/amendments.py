"""HOW is a value promoted without another system? As an amendment in the catalog of the store itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from onrecord.catalog.amendments import Amendment, amendments_of, in_order, said_anew, source_value
from onrecord.catalog.editing import root_of
from onrecord.catalog.record_writing import rewritten
from onrecord.catalog.records import (
    HIDDEN,
    Record,
    datasource_of,
    entity_of,
    model_of,
    record_id,
    record_of_datasource,
    records_with,
)
from onrecord.catalog.targets import CurrentValue, Moved
from onrecord.model.caller import Caller
from onrecord.model.catalog import Datasource, Model
from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.collections import ENTITIES, entity_facet
from onrecord.model.edits import Cell, same_value
from onrecord.model.limits import TENANT_PERMISSIONS
from onrecord.model.memory import Change, Memory
from onrecord.model.wire import from_json, to_json
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.store import Store

NAME: Final = "amendments"


class AmendmentsTarget:
    """Promoted values next to the sources' own. Those of one changeset are in one record, and are written together.

    The caller's right to promote is checked before this: the records of the catalog belong to the user who ingested them.
    """

    name = NAME

    def __init__(self, store: Store, caller: Caller, now: datetime, *, embeds: bool) -> None:
        self._store = store
        self._caller = replace(caller, permissions=frozenset(TENANT_PERMISSIONS))
        self._now = now
        self._embeds = embeds

    def read(self, cells: Iterable[Cell]) -> dict[Cell, CurrentValue]:
        wanted = list(cells)
        with self._store.reading(self._caller, self._now) as reading:
            catalog = reading.reading_of(ENTITIES)
            roots = {name: _root(catalog, name) for name in {root_of(cell.entity) for cell in wanted}}
        values = {cell: _current_value(roots[root_of(cell.entity)], cell) for cell in wanted}
        return {cell: value for cell, value in values.items() if value is not None}

    def obstacle(self, change: FieldChange) -> str | None:
        return None

    def write(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        with self._store.writing(self._caller, self._now) as writing:
            if _state(writing, changeset.id) != "applying":
                raise Moved(f"another process has finished changeset {changeset.id} meanwhile")
            catalog = writing.writing_of(ENTITIES)
            root = _root(catalog, changeset.entity)
            missing = [
                each
                for each in changes
                if not _is_written(_current_value(root, each.edit.cell), changeset, each)
            ]
            if moved := [why for each in missing if (why := _moved(root, each)) is not None]:
                raise Moved("; ".join(moved))
            if root is not None and missing:
                anew = {each.edit.cell: self._amendment(root, changeset, each) for each in missing}
                self._put(catalog, root, anew, "apply")
        return {}

    def _amendment(self, root: "_Root", changeset: Changeset, change: FieldChange) -> Amendment:
        return Amendment(
            **change.edit.cell._asdict(),
            value=change.after,
            source=source_value(root.described, change.edit.cell),
            changeset=changeset.id,
            approved_by=change.approved_by,
            at=self._now,
        )

    def written(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[Cell]:
        now = self.read(each.edit.cell for each in changes)
        return {each.edit.cell for each in changes if _is_written(now.get(each.edit.cell), changeset, each)}

    def covered_by(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[str]:
        with self._store.reading(self._caller, self._now) as reading:
            root = _root(reading.reading_of(ENTITIES), changeset.entity)
        now = [(each, root and root.promoted.get(each.edit.cell)) for each in changes]
        return {
            held.changeset
            for each, held in now
            if held and held.changeset != changeset.id and not same_value(to_json(held), each.under)
        }

    def restore(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        kept: dict[Cell, str] = {}
        with self._store.writing(self._caller, self._now) as writing:
            catalog = writing.writing_of(ENTITIES)
            root = _root(catalog, changeset.entity)
            if root is None or _state(writing, changeset.id) not in ("taking_back", "rolling_back"):
                return kept
            back: list[FieldChange] = []
            for change in changes:
                try:
                    if _is_to_restore(root, changeset, change):
                        back.append(change)
                except Moved as moved:
                    kept[change.edit.cell] = str(moved)
            if back:
                self._put(catalog, root, _befores(writing, back), "roll_back")
        return kept

    def adopt(self, writing: Writing, entity: str, amendments: Mapping[Cell, Amendment]) -> None:
        """Adopt values promoted before a source had the entity, unless a later changeset's is there."""
        catalog = writing.writing_of(ENTITIES)
        root = _root(catalog, entity)
        assert root is not None
        promoted = root.promoted
        anew: dict[Cell, Amendment | None] = {
            cell: each
            for cell, each in amendments.items()
            if cell not in promoted or int(promoted[cell].changeset) < int(each.changeset)
        }
        if anew:
            self._put(catalog, root, anew, "ingest")

    def _put(self, catalog: Writing, root: "_Root", anew: Mapping[Cell, Amendment | None], name: str) -> None:
        """Write or remove the amendments of some places, and update the records of these entities and of the root."""
        amendments = in_order(filter(None, {**root.promoted, **anew}.values()))
        change = Change(name, self._caller.user, self._caller.actor, self._now)
        described, known = root.described, entity_of(root.record)
        if isinstance(described, Datasource):
            inside = catalog.filed_memories(entity_facet("in", described.canonical))
            seen = [str(entity_of(each)["name"]) for each in inside if each.status_reason != HIDDEN]
            records = [record_of_datasource(described, seen, str(known.get("origin", "")), amendments)]
        else:
            places = {described.canonical, *(cell.entity for cell in anew)}
            records = list(_records(catalog, root, places, amendments))
        for record in records:
            saved = rewritten(catalog, record, change)
            if saved is not None and saved.is_live and self._embeds:
                catalog.embed(saved, None, ())


def _records(
    catalog: Reading, root: "_Root", places: Set[str], amendments: Sequence[Amendment]
) -> Iterator[Record]:
    """The records of some parts of a model, and of itself; a part that is gone is as the model last had it."""
    every = records_with(root.record, amendments)
    yield from (each for name, each in every.items() if name in places)
    missing = set(places) - every.keys()
    for version in reversed(catalog.versions(root.record.id)) if missing else ():
        every = records_with(version.memory, amendments)
        yield from (every[name] for name in sorted(missing & every.keys()))
        missing -= every.keys()


class _Root(NamedTuple):
    """The record of a model or datasource, also of one that is gone; what its source says, and what was promoted."""

    record: Memory
    described: Model | Datasource
    promoted: dict[Cell, Amendment]


def _root(catalog: Reading, canonical: str) -> _Root | None:
    record = catalog.memory(record_id(canonical)) if catalog.size else None
    if record is None or entity_of(record)["kind"] not in ("datasource", "model"):
        return None
    described = model_of(record) if entity_of(record)["kind"] == "model" else datasource_of(record)
    return _Root(record, described, {each.cell: each for each in amendments_of(record)})


def _state(reading: Reading, changeset: str) -> str | None:
    held = reading.changesets.one(changeset)
    return None if held is None else held.state


def _befores(reading: Reading, changes: Sequence[FieldChange]) -> dict[Cell, Amendment | None]:
    """The promoted value at each place before a change, without values that have been rolled back since."""
    known = {
        each.edit.cell: None if each.under is None else from_json(Amendment, each.under) for each in changes
    }
    changesets = {each.changeset for each in known.values() if each is not None}
    ended = {id for id in changesets if _state(reading, id) == "rolled_back"}
    return {cell: None if each is None or each.changeset in ended else each for cell, each in known.items()}


def _current_value(root: _Root | None, cell: Cell) -> CurrentValue | None:
    """The value at a place: the amendment if there is one, else the source's; None if the place is gone."""
    if root is None or not root.record.is_live:
        return None
    try:
        from_source = source_value(root.described, cell)
    except KeyError:
        return None
    return _promoted(root, cell) or CurrentValue(from_source)


def _promoted(root: _Root, cell: Cell) -> CurrentValue | None:
    """The promoted value at a place, even if the place is gone: it may come back."""
    held = root.promoted.get(cell)
    if held is None:
        return None
    return CurrentValue(held.value, to_json(held), any(said_anew(root.described, [held])))


def _is_written(now: CurrentValue | None, changeset: Changeset, change: FieldChange) -> bool:
    """Whether the new value is there, and is ours or the source's own."""
    if now is None or not same_value(now.value, change.after):
        return False
    return _changeset_in(now) in (None, changeset.id) and not same_value(now.under, change.under)


def _is_to_restore(root: _Root, changeset: Changeset, change: FieldChange) -> bool:
    """Whether our new value is still there; raises Moved if it is someone else's."""
    cell = change.edit.cell
    now = _promoted(root, cell) or _current_value(root, cell)
    if now is None or (now.under is None and not same_value(now.value, change.after)):
        # Our value is no longer there, so the source's is visible.
        return False
    if same_value(now.under, change.under):
        if now.under is None:
            raise Moved(f"{_named(cell)}: the source has the same value by now")
        return False
    if not _is_written(now, changeset, change):
        raise Moved(_changed_since(cell, now))
    return True


def _changeset_in(now: CurrentValue) -> str | None:
    under: Mapping[str, Any] | None = now.under
    return None if under is None else under["changeset"]


def _moved(root: _Root | None, change: FieldChange) -> str | None:
    """An error text if a place no longer has its old value, else None."""
    cell = change.edit.cell
    now = _current_value(root, cell)
    if now is None:
        return f"{_named(cell)}: the catalog no longer has {cell.entity}"
    if same_value((now.value, now.under), (change.before, change.under)):
        return None
    return _changed_since(cell, now)


def _changed_since(cell: Cell, now: CurrentValue) -> str:
    by = _changeset_in(now)
    return f"{_named(cell)} was changed since" + (f" by changeset {by}" if by else " at its source")


def _named(cell: Cell) -> str:
    return " ".join(filter(None, cell))
