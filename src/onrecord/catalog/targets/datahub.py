"""HOW is a value promoted into DataHub? One field of one entity after the other, each compared first and noted before.

DataHub does not say who wrote a value. So the changeset notes each value before it is written: any other is someone
else's, even an equal one, and is never taken back.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from onrecord.catalog.datahub import NAME
from onrecord.catalog.datahub.client import DatahubClient
from onrecord.catalog.datahub.current_values import (
    COLUMN_FIELDS,
    Place,
    Wanted,
    current_values,
    has_place,
    is_same,
    place_in,
)
from onrecord.catalog.datahub.datasets import DatasetReader, model_from
from onrecord.catalog.datahub.properties import Property
from onrecord.catalog.datahub.urns import DATASET, urn_of
from onrecord.catalog.datahub.writing import ITEMS, Put, new_item, prepare, put
from onrecord.catalog.editing import root_of
from onrecord.catalog.stored import StoredCatalog
from onrecord.catalog.targets import CurrentValue, Moved
from onrecord.catalog.targets.refreshing import refresh_records
from onrecord.errors import CatalogUnavailable
from onrecord.model.caller import Caller
from onrecord.model.catalog import Model, field_of
from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.edits import Cell
from onrecord.model.limits import BROWSE_LIMIT, TENANT_PERMISSIONS
from onrecord.model.service_address import ServiceAddress
from onrecord.store.ports.filters import ChangesetFilter
from onrecord.store.ports.store import Store

UNSEEN: Final = "written, not yet visible in DataHub"
#: How long to look for what was written, in seconds, and how long to wait before the first second look.
SHOWN_WITHIN_S: float = 5.0
FIRST_LOOK_S: float = 0.05
_TRIES: Final = 2


class DatahubTarget:
    """Values in DataHub itself, where all its users see them; our catalog reads them from there."""

    name = NAME

    def __init__(
        self, store: Store, caller: Caller, now: datetime, address: ServiceAddress, *, embeds: bool = False
    ) -> None:
        self._store = store
        self._caller = replace(caller, permissions=frozenset(TENANT_PERMISSIONS))
        self._begun, self._started = now, time.monotonic()
        self._address = address
        self._embeds = embeds

    @property
    def _now(self) -> datetime:
        """The time of the call plus the time that has passed: a slow changeset must not count as abandoned."""
        return self._begun + timedelta(seconds=time.monotonic() - self._started)

    def read(self, cells: Iterable[Cell]) -> dict[Cell, CurrentValue]:
        wanted = list(cells)
        roots = {root_of(cell.entity) for cell in wanted}
        models = self._known([root for root in roots if "." in root and not root.startswith(DATASET)])
        # What was not read in is named by its URN.
        datasets = [root for root in sorted(roots) if root.startswith(DATASET)]
        if not models and not datasets:
            return {}
        with DatahubClient(self._address) as client:
            if datasets:
                models_read = (model_from(each, {}) for each in DatasetReader(client).read(datasets))
                models |= {model.aliases[0]: model for model in models_read}
            return current_values(client, list(_placed(wanted, models)))

    def _known(self, roots: Sequence[str]) -> dict[str, Model]:
        """The models of the catalog here that DataHub has too."""
        with self._store.reading(self._caller, self._now) as reading:
            lookup = StoredCatalog(reading)
            found = {root: lookup.model(*root.split(".", 1)) for root in roots}
        return {root: model for root, model in found.items() if model is not None and urn_of(model)}

    def obstacle(self, change: FieldChange) -> str | None:
        under, cell = change.under or {}, change.edit.cell
        if cell.field not in COLUMN_FIELDS and cell.entity != root_of(cell.entity):
            return f"DataHub has {cell.field} of a dataset, and none of a column"
        if change.after is None and under.get("ingested"):
            return f"DataHub ingests this {cell.field.removesuffix('s')} from its source: remove it there"
        if cell.field == "properties" and change.after is not None and "type" in under:
            return Property(under["type"], under["several"]).obstacle(change.after)
        return None

    def write(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        with DatahubClient(self._address) as client:
            for group in _groups(changes):
                self._write(client, changeset.id, group)
            written = self._noted(changeset.id, {each.edit.cell for each in changes})
            shown = _looked(client, written, lambda now: all(_shows(now, each) for each in written))
            self._refresh(client, written)
        return {each.edit.cell: UNSEEN for each in written if not _shows(shown, each)}

    def _write(self, client: DatahubClient, id: str, group: Sequence[FieldChange]) -> None:
        """Write the values of one field of one entity, if the old ones are still there."""
        cells = {each.edit.cell for each in group}
        noted = {each.edit.cell for each in self._noted(id, cells)}
        for number in range(1, _TRIES + 1):
            now = current_values(client, [_wanted(each) for each in group])
            puts = [each for each in group if not (each.edit.cell in noted and _shows(now, each))]
            if moved := [why for each in puts if (why := _moved(now, each)) is not None]:
                raise Moved("; ".join(moved))
            if not puts:
                return
            ready = [_put(each, each.after, now[each.edit.cell]) for each in puts]
            prepare(client, ready)
            # From here to the end of the mutation it takes less time than after which a changeset counts as left.
            self._note(id, {each.cell: each.made for each in ready})
            noted |= {each.cell for each in ready}
            try:
                if made := put(client, ready):
                    self._note(id, {ready[0].cell: made})
                return
            except CatalogUnavailable:
                # It may have been done: look again. What is made new would be made twice, so it is not tried again.
                if number == _TRIES or group[0].edit.field in ITEMS:
                    raise

    def _refresh(self, client: DatahubClient, changes: Sequence[FieldChange]) -> None:
        """Refresh our catalog from DataHub; if DataHub cannot be read now, the next ingest does it."""
        reader = DatasetReader(client)
        for dataset in {place_in(each.under).dataset for each in changes}:
            with suppress(CatalogUnavailable):
                for dataset_read in reader.read([dataset]):
                    refresh_records(
                        self._store,
                        self._caller,
                        self._now,
                        model_from(dataset_read, {}),
                        embeds=self._embeds,
                    )

    def _note(self, id: str, made: Mapping[Cell, str | None]) -> None:
        """Note that values are about to be written, and what was made for them. Moved if the changeset was settled."""
        with self._store.writing(self._caller, self._now) as writing:
            held = writing.changesets.one(id)
            if held is None or held.state != "applying":
                raise Moved(f"another process has finished changeset {id} meanwhile")
            changes = tuple(
                replace(each, written=True, under=_under(each, made[each.edit.cell]))
                if each.edit.cell in made
                else each
                for each in held.changes
            )
            writing.changesets.replace(
                replace(held, changes=changes, updated_at=max(self._now, held.updated_at))
            )

    def _noted(self, id: str, cells: Set[Cell], states: Sequence[str] = ("applying",)) -> list[FieldChange]:
        """The changes at some places that were written, or were about to be, while the changeset is in such a state."""
        with self._store.reading(self._caller, self._now) as reading:
            held = reading.changesets.one(id)
        if held is None or held.state not in states:
            return []
        return [
            each
            for each in held.changes
            if each.written and each.edit.cell in cells and has_place(each.under)
        ]

    def written(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[Cell]:
        noted = self._noted(changeset.id, {each.edit.cell for each in changes}, (changeset.state,))
        if not noted:
            return frozenset()
        with DatahubClient(self._address) as client:
            now = current_values(client, [_wanted(each) for each in noted])
        return {each.edit.cell for each in noted if _shows(now, each)}

    def covered_by(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[str]:
        cells = {each.edit.cell for each in changes}
        covering, skip = set[str](), 0
        while True:
            with self._store.reading(self._caller, self._now) as reading:
                ask = ChangesetFilter(
                    entity=changeset.entity, states=("applied",), limit=BROWSE_LIMIT, skip=skip
                )
                page, total = reading.changesets.page(ask)
            later = [each for each in page if int(each.id) > int(changeset.id) and each.target == NAME]
            covering.update(
                each.id
                for each in later
                for change in each.changes
                if change.written and change.edit.cell in cells
            )
            skip += len(page)
            if len(later) < len(page) or skip >= total:
                return covering

    def restore(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        cells = {each.edit.cell for each in changes}
        kept: dict[Cell, str] = {}
        if ours := self._noted(changeset.id, cells, ("taking_back", "rolling_back")):
            with DatahubClient(self._address) as client:
                for group in _groups(ours):
                    kept |= _put_back(client, group)
                self._refresh(client, ours)
        return kept


def _placed(cells: Sequence[Cell], models: Mapping[str, Model]) -> Iterator[Wanted]:
    """The cells of datasets and of their columns, with their places; others are unknown there."""
    for cell in cells:
        root = root_of(cell.entity)
        model = models.get(root)
        if model is None or (dataset := urn_of(model)) is None:
            continue
        if cell.entity == root:
            yield Wanted(cell, Place(dataset))
            continue
        field = field_of(cell.entity)
        part = model.part(field.name if field else cell.entity.removeprefix(f"{root}."))
        if part is not None and part.kind == "column":
            yield Wanted(cell, Place(dataset, part.details.get("field_path", part.name)))


def _groups(changes: Sequence[FieldChange]) -> Iterator[list[FieldChange]]:
    """The changes by entity, field and whether they take something away, since one mutation writes those; of queries and
    the like one at a time.
    """

    def together(change: FieldChange) -> tuple[str, str, bool]:
        return change.edit.entity, change.edit.field, change.after is None

    for (_, field, _), group in groupby(sorted(changes, key=together), key=together):
        if field in ITEMS or field == "links":
            yield from ([each] for each in group)
        else:
            yield list(group)


def _put_back(client: DatahubClient, group: Sequence[FieldChange]) -> dict[Cell, str]:
    """Restore the values of one field of one entity where ours are still there; returns why not elsewhere."""
    # What was written may not show yet, and what does not show cannot be taken back.
    now = _looked(client, group, lambda seen: not any(_is_before(seen, each) for each in group))
    kept, puts = {}, []
    for each in group:
        cell = each.edit.cell
        if cell not in now:
            kept[cell] = f"{_named(cell)}: DataHub no longer has it"
        elif _shows(now, each):
            puts.append(_put(each, _before(each), now[cell]))
        elif not _is_before(now, each):
            kept[cell] = f"{_named(cell)} was changed since in DataHub"
    if puts:
        prepare(client, puts)
        put(client, puts)
    return kept


def _looked(
    client: DatahubClient,
    changes: Sequence[FieldChange],
    is_settled: Callable[[Mapping[Cell, CurrentValue]], bool],
) -> dict[Cell, CurrentValue]:
    """The values at some places, read again until they are as expected or time is up."""
    deadline, pause = time.monotonic() + SHOWN_WITHIN_S, FIRST_LOOK_S
    while True:
        now = current_values(client, [_wanted(each) for each in changes])
        if is_settled(now) or time.monotonic() + pause > deadline:
            return now
        time.sleep(pause)
        pause *= 2


def _wanted(change: FieldChange) -> Wanted:
    under: Mapping[str, Any] = change.under or {}
    return Wanted(change.edit.cell, place_in(under), under.get("made") or under.get("item"))


def _under(change: FieldChange, made: str | None) -> Mapping[str, Any]:
    return {**(change.under or {}), **({"made": made} if made else {})}


def _put(change: FieldChange, value: Any, now: CurrentValue) -> Put:
    made_put = Put(change.edit.cell, place_in(change.under), value, now)
    return made_put._replace(made=new_item(made_put))


def _before(change: FieldChange) -> Any:
    """The value to write to restore the old one: an ingested description shows again by itself."""
    if change.edit.field == "description" and not (change.under or {}).get("edited"):
        return None
    return change.before


def _shows(now: Mapping[Cell, CurrentValue], change: FieldChange) -> bool:
    held = now.get(change.edit.cell)
    return held is not None and is_same(change.edit.cell, held.value, change.after, held.under)


def _is_before(now: Mapping[Cell, CurrentValue], change: FieldChange) -> bool:
    held = now.get(change.edit.cell)
    return held is not None and is_same(change.edit.cell, held.value, change.before, held.under)


def _moved(now: Mapping[Cell, CurrentValue], change: FieldChange) -> str | None:
    cell = change.edit.cell
    if cell not in now:
        return f"{_named(cell)}: DataHub no longer has it"
    return None if _is_before(now, change) else f"{_named(cell)} was changed since in DataHub"


def _named(cell: Cell) -> str:
    return " ".join(filter(None, cell))
