"""HOW is a value promoted without another system? As an amendment in the catalog of the store itself."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from onrecord.catalog.amendments import Amendment, amendments_of, in_order, source_value
from onrecord.catalog.editing import root_of
from onrecord.catalog.ingest import rewritten
from onrecord.catalog.records import (
    HIDDEN,
    datasource_of,
    entity_of,
    model_of,
    record_id,
    record_of_datasource,
    records_of_model,
)
from onrecord.catalog.targets import Moved, Standing
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
    """Promoted values beside what the sources say, one transaction for each.

    Who may promote is checked before: the records of the catalog belong to whoever ingested them.
    """

    name = NAME

    def __init__(self, store: Store, caller: Caller, now: datetime, *, embeds: bool) -> None:
        self._store = store
        self._caller = replace(caller, permissions=frozenset(TENANT_PERMISSIONS))
        self._now = now
        self._embeds = embeds

    def read(self, cells: Iterable[Cell]) -> dict[Cell, Standing]:
        with self._store.reading(self._caller, self._now) as reading:
            catalog = reading.reading_of(ENTITIES)
            told = {cell: _standing(catalog, cell) for cell in cells}
        return {cell: standing for cell, standing in told.items() if standing is not None}

    def write(self, changeset: Changeset, change: FieldChange) -> None:
        with self._store.writing(self._caller, self._now) as writing:
            held = writing.changesets.one(changeset.id)
            if held is None or held.state != "applying":
                raise Moved(f"changeset {changeset.id} was settled meanwhile")
            catalog, cell = writing.writing_of(ENTITIES), change.edit.cell
            now = _standing(catalog, cell)
            if _is_written(now, changeset, change):
                return
            if now is None or not same_value((now.value, now.under), (change.before, change.under)):
                raise _moved(cell, now)
            amendment = Amendment(
                entity=cell.entity,
                field=cell.field,
                key=cell.key,
                value=change.after,
                source=source_value(_told(_root(catalog, cell)), cell),
                changeset=changeset.id,
                approved_by=change.approved_by,
                at=self._now,
            )
            self._put(catalog, cell, amendment, "apply")

    def stands(self, changeset: Changeset, change: FieldChange) -> bool:
        standing = self.read([change.edit.cell]).get(change.edit.cell)
        return _is_written(standing, changeset, change)

    def covered_by(self, changeset: Changeset, change: FieldChange) -> str | None:
        now = self.read([change.edit.cell]).get(change.edit.cell)
        if now is None or same_value(now.under, change.under):
            return None
        by = _changeset_in(now)
        return None if by == changeset.id else by

    def restore(self, changeset: Changeset, change: FieldChange) -> None:
        with self._store.writing(self._caller, self._now) as writing:
            catalog, cell = writing.writing_of(ENTITIES), change.edit.cell
            now = _standing(catalog, cell)
            if now is None or (now.under is None and not same_value(now.value, change.after)):
                # Nothing of ours stands there any more, so the source shows through.
                return
            if same_value(now.under, change.under):
                if now.under is None:
                    raise Moved(f"{_named(cell)}: the source says so itself by now")
                return
            if not _is_written(now, changeset, change):
                raise _moved(cell, now)
            under = None if change.under is None else from_json(Amendment, change.under)
            self._put(catalog, cell, under, "roll_back")

    def _put(self, catalog: Writing, cell: Cell, amendment: Amendment | None, name: str) -> None:
        """Write the amendment of a place, or none, and tell it in the records of the entity and of what it is part of."""
        root = _root(catalog, cell)
        others = tuple(each for each in amendments_of(root) if each.cell != cell)
        amendments = in_order(others if amendment is None else (*others, amendment))
        change = Change(name, self._caller.user, self._caller.actor, self._now)
        told = _told(root)
        if isinstance(told, Datasource):
            inside = catalog.filed_memories(entity_facet("in", told.canonical))
            seen = [str(entity_of(each)["name"]) for each in inside if each.status_reason != HIDDEN]
            records = [record_of_datasource(told, seen, str(entity_of(root).get("origin", "")), amendments)]
        else:
            fingerprint = str(entity_of(root).get("fingerprint", ""))
            every = records_of_model(told, fingerprint, amendments)
            records = [each for each in every if each.canonical in (told.canonical, cell.entity)]
        for record in records:
            saved = rewritten(catalog, record, change)
            if saved is not None and self._embeds:
                catalog.embed(saved, None, ())


def _standing(catalog: Reading, cell: Cell) -> Standing | None:
    """What stands at a place: the amendment if there is one, else what the source says; None if it is not there."""
    root = _record(catalog, root_of(cell.entity))
    if root is None:
        return None
    try:
        said = source_value(_told(root), cell)
    except KeyError:
        return None
    for each in amendments_of(root):
        if each.cell == cell:
            return Standing(each.value, to_json(each))
    return Standing(said)


def _record(catalog: Reading, canonical: str) -> Memory | None:
    record = catalog.memory(record_id(canonical)) if catalog.size else None
    known = record is not None and record.is_live and entity_of(record)["kind"] in ("datasource", "model")
    return record if known else None


def _root(catalog: Reading, cell: Cell) -> Memory:
    root = _record(catalog, root_of(cell.entity))
    assert root is not None, "its place was read in this transaction"
    return root


def _told(root: Memory) -> Model | Datasource:
    return model_of(root) if entity_of(root)["kind"] == "model" else datasource_of(root)


def _is_written(now: Standing | None, changeset: Changeset, change: FieldChange) -> bool:
    """Whether the new value stands there and is ours, or what the source says itself."""
    if now is None or not same_value(now.value, change.after):
        return False
    return _changeset_in(now) in (None, changeset.id) and not same_value(now.under, change.under)


def _changeset_in(now: Standing) -> str | None:
    under: Mapping[str, Any] | None = now.under
    return None if under is None else under["changeset"]


def _moved(cell: Cell, now: Standing | None) -> Moved:
    if now is None:
        return Moved(f"{_named(cell)}: the catalog no longer has {cell.entity}")
    by = _changeset_in(now)
    return Moved(
        f"{_named(cell)} was changed since" + (f" by changeset {by}" if by else " at its source"), by
    )


def _named(cell: Cell) -> str:
    return " ".join(filter(None, cell))
