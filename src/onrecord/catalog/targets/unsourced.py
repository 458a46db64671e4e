"""HOW is a value promoted of an entity that no source has yet? It stays in its changesets until a source has the entity.

An entity that was never ingested has no record in the catalog, so no search, list or count can take it for a table.
Its promoted values are those that changesets have written and not taken back. When an ingest brings the entity, the
changesets get the entity's name in the catalog, and their values become amendments of its record.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from onrecord.catalog.amendments import Amendment, amendments_of, in_order, shown_amendment
from onrecord.catalog.editing import root_of
from onrecord.catalog.resolution import Ambiguous, Unresolved, resolve
from onrecord.catalog.stored import StoredCatalog
from onrecord.catalog.targets import CurrentValue, Moved
from onrecord.catalog.targets.amendments import NAME as AMENDMENTS
from onrecord.catalog.targets.amendments import AmendmentsTarget
from onrecord.model.caller import Caller
from onrecord.model.catalog import MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX, URN_PREFIX, field_of
from onrecord.model.changesets import UNSETTLED, Changeset, FieldChange
from onrecord.model.edits import Cell, same_value
from onrecord.model.limits import TENANT_PERMISSIONS, Unknown
from onrecord.model.wire import to_json
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.store import Store

#: The name of this target, and the state of what it holds values of.
NAME: Final = "unsourced"
_HINT: Final = (
    "Read it in first (`onrecord ingest`), or use unknown=keep to promote values before a source has it."
)
_NO_NAME: Final = (MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX)


def root_meant(entity: str, reading: Reading, lookup: StoredCatalog, unknown: Unknown) -> str:
    """The model or datasource that edits of an entity are about. Unresolved if the catalog does not know it, unless it is
    to be kept as given, or values of it were promoted so before.
    """
    try:
        return root_of(resolve(entity, lookup).canonical)
    except Ambiguous:
        raise
    except Unresolved as problem:
        root = root_of(entity)
        if lookup.had_source(root) or root.startswith(_NO_NAME):
            raise
        if unknown == "keep" or promoted_of(root, reading):
            return root
        raise Unresolved(entity, f"{problem.reason} {_HINT}", field="entity") from None


def is_unsourced(root: str, lookup: StoredCatalog) -> bool:
    """Whether no source has brought an entity yet, though its name is one that a source could bring."""
    return not root.startswith(_NO_NAME) and not lookup.had_source(root)


def _has_source(name: str, lookup: StoredCatalog) -> bool:
    try:
        return bool(resolve(name, lookup).canonical)
    except Unresolved:
        return lookup.had_source(name)


def promoted_of(root: str, reading: Reading, without: str = "") -> dict[Cell, Amendment]:
    """The promoted values of an entity that no source has, by place; without those of one changeset."""
    return _promoted(each for each in reading.changesets.of_entity(root) if each.id != without)


def _promoted(changesets: Iterable[Changeset]) -> dict[Cell, Amendment]:
    """What changesets, the oldest first, have written and not taken back."""
    promoted: dict[Cell, Amendment] = {}
    for changeset in changesets:
        if changeset.target == NAME and changeset.state in ("applied", *UNSETTLED):
            promoted |= {
                each.edit.cell: _amendment(changeset, each) for each in changeset.changes if each.written
            }
    return promoted


def _amendment(changeset: Changeset, change: FieldChange) -> Amendment:
    return Amendment(
        **change.edit.cell._asdict(),
        value=change.after,
        changeset=changeset.id,
        approved_by=change.approved_by,
        at=changeset.at,
    )


class UnsourcedTarget:
    """Promoted values of entities that no source has. A changeset marks all its values as written at once."""

    name = NAME

    def __init__(self, store: Store, caller: Caller, now: datetime) -> None:
        self._store = store
        self._caller = replace(caller, permissions=frozenset(TENANT_PERMISSIONS))
        self._now = now

    def read(self, cells: Iterable[Cell]) -> dict[Cell, CurrentValue]:
        wanted = list(cells)
        with self._store.reading(self._caller, self._now) as reading:
            held = {root: promoted_of(root, reading) for root in {root_of(cell.entity) for cell in wanted}}
        return {cell: _current_value(held[root_of(cell.entity)], cell) for cell in wanted}

    def obstacle(self, change: FieldChange) -> str | None:
        return None

    def write(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        with self._store.writing(self._caller, self._now) as writing:
            held = writing.changesets.one(changeset.id)
            if held is None or held.state != "applying":
                raise Moved(f"another process has finished changeset {changeset.id} meanwhile")
            if _has_source(changeset.entity, StoredCatalog(writing)):
                raise Moved(f"a source now has {changeset.entity}")
            now = promoted_of(changeset.entity, writing, without=changeset.id)
            if moved := [why for each in changes if (why := _moved(now, each)) is not None]:
                raise Moved("; ".join(moved))
            self._mark(writing, held, changes, written=True)
        return {}

    def _mark(
        self, writing: Writing, held: Changeset, changes: Sequence[FieldChange], *, written: bool
    ) -> None:
        cells = {each.edit.cell for each in changes}
        marked = (
            replace(each, written=written) if each.edit.cell in cells else each for each in held.changes
        )
        updated_at = max(self._now, held.updated_at)
        writing.changesets.replace(replace(held, changes=tuple(marked), updated_at=updated_at))

    def written(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[Cell]:
        cells = {each.edit.cell for each in changes}
        with self._store.reading(self._caller, self._now) as reading:
            held = reading.changesets.one(changeset.id)
        if held is None or held.state != changeset.state:
            return frozenset()
        return {each.edit.cell for each in held.changes if each.written} & cells

    def covered_by(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[str]:
        with self._store.reading(self._caller, self._now) as reading:
            now = promoted_of(changeset.entity, reading)
        current = filter(None, (now.get(each.edit.cell) for each in changes))
        return {each.changeset for each in current if int(each.changeset) > int(changeset.id)}

    def restore(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        with self._store.writing(self._caller, self._now) as writing:
            held = writing.changesets.one(changeset.id)
            if held is not None and held.state in ("taking_back", "rolling_back"):
                self._mark(writing, held, changes, written=False)
        return {}


def _current_value(promoted: Mapping[Cell, Amendment], cell: Cell) -> CurrentValue:
    held = promoted.get(cell)
    return CurrentValue(None) if held is None else CurrentValue(held.value, to_json(held))


def _moved(now: Mapping[Cell, Amendment], change: FieldChange) -> str | None:
    cell = change.edit.cell
    current = _current_value(now, cell)
    if same_value((current.value, current.under), (change.before, change.under)):
        return None
    by = f" by changeset {now[cell].changeset}" if cell in now else ""
    return f"{' '.join(filter(None, cell))} was changed since{by}"


def shown_unsourced(name: str, reading: Reading) -> dict[str, Any] | None:
    """The promoted values of an entity that no source has, as an inspection shows them; None if nothing."""
    promoted = in_order(promoted_of(name, reading).values())
    if not promoted:
        return None
    own = [each for each in promoted if each.entity == name and each.value is not None]
    described = [each.value for each in own if each.field == "description"]
    tags = [each.key for each in own if each.field == "tags"]
    fields = {"description": described[0] if described else None, "tags": tags}
    return {
        "canonical": name,
        "state": NAME,
        **{field: value for field, value in fields.items() if value},
        "promoted": list(map(shown_amendment, promoted)),
        "notes": [f"No source has brought {name} yet; this is what people promoted of it."],
    }


def move_to_sources(store: Store, caller: Caller, now: datetime, *, embeds: bool) -> None:
    """Move the promoted values of entities that a source has brought since to their records, and give these entities their
    catalog names in the changesets, so that they are listed and rolled back like any other.
    """
    caller = replace(caller, permissions=frozenset(TENANT_PERMISSIONS))
    with store.reading(caller, now) as reading:
        if not _brought(reading):
            return
    target = AmendmentsTarget(store, caller, now, embeds=embeds)
    with store.writing(caller, now) as writing:
        for root, changesets in _brought(writing).items():
            _move(writing, target, root, changesets)


def _brought(reading: Reading) -> dict[str, list[Changeset]]:
    """The applied changesets of entities that were named as given and now have a record, by the name of that record."""
    lookup = StoredCatalog(reading)
    found: dict[str, list[Changeset]] = {}
    for changeset in reading.changesets.applied_under(NAME, URN_PREFIX):
        try:
            root = root_of(resolve(changeset.entity, lookup).canonical)
        except Unresolved:
            continue
        if lookup.is_editable(root):
            found.setdefault(root, []).append(changeset)
    return found


def _move(writing: Writing, target: AmendmentsTarget, root: str, changesets: Sequence[Changeset]) -> None:
    lookup = StoredCatalog(writing)
    record = lookup.record(root)
    amended_before = {} if record is None else {each.cell: each for each in amendments_of(record)}
    anew = []
    for changeset in changesets:
        moved = _renamed(changeset, root, lookup)
        moved = replace(moved, changes=tuple(_over(each, moved.id, amended_before) for each in moved.changes))
        amended_before |= _promoted([moved])
        anew.append(moved)
    target.adopt(writing, root, _promoted(anew))
    for each in anew:
        writing.changesets.replace(replace(each, target=AMENDMENTS) if each.target == NAME else each)


def _over(change: FieldChange, id: str, amended_before: Mapping[Cell, Amendment]) -> FieldChange:
    """A change that knows what was promoted before by another name of the thing, and comes back when it is taken back."""
    before = amended_before.get(change.edit.cell)
    if change.under is not None or before is None or int(before.changeset) > int(id):
        return change
    return replace(change, under=to_json(before))


def _renamed(changeset: Changeset, root: str, lookup: StoredCatalog) -> Changeset:
    names = {each.edit.entity: each.edit.entity for each in changeset.changes}
    names |= {name: _name_in(root, name, changeset.entity, lookup) for name in names}
    changes = tuple(
        replace(
            each,
            edit=replace(each.edit, entity=names[each.edit.entity]),
            under=None if each.under is None else {**each.under, **dict(_called(each.under, names))},
        )
        for each in changeset.changes
    )
    return replace(changeset, entity=root, changes=changes)


def _called(under: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if "entity" in under:
        yield "entity", names.get(str(under["entity"]), str(under["entity"]))


def _name_in(root: str, name: str, given: str, lookup: StoredCatalog) -> str:
    """The catalog's name of an entity or a part of it; a part that the source lacks may come later."""
    try:
        return resolve(name, lookup).canonical
    except Unresolved:
        field = field_of(name)
        return f"{root}.{field.name if field else name.removeprefix(f'{given}.')}"
