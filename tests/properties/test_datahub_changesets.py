"""Is applying to DataHub and rolling back the identity on every field and type, and is no edit of others ever lost?"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.catalog.datahub.client import DatahubClient
from onrecord.catalog.datahub.current_values import is_same, place_in
from onrecord.catalog.datahub.writing import Put, put
from onrecord.catalog.targets import CurrentValue
from onrecord.catalog.targets.datahub import DatahubTarget
from onrecord.errors import CatalogUnavailable
from onrecord.model.changesets import FieldChange
from onrecord.model.edits import Cell, Edit, same_value
from onrecord.model.limits import EDIT_FIELDS
from tests.catalog.datahub_server import TOKEN, Datahub, State, serving
from tests.datahub import quick, shown
from tests.soak import tries
from tests.stores import empty

from .conftest import KEEPER, START
from .test_changesets import KEYS, TEXTS, edits_of

PLACES: Final = ("snowflake_acme_sales.orders", "snowflake_acme_sales.orders.amount")
EVERY_CELL: Final = [
    Cell(place, field, key) for place in PLACES for field in EDIT_FIELDS for key in KEYS[field]
]
FEW = settings(
    max_examples=tries(12, soaking=150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
cells = st.lists(st.sampled_from(EVERY_CELL), min_size=1, max_size=6, unique=True)
some_edits = cells.flatmap(lambda chosen: st.tuples(*map(edits_of, chosen)))
sources = st.tuples(
    st.none() | st.sampled_from(TEXTS[:2]),
    st.none() | st.sampled_from(TEXTS[:2]),
    st.sampled_from([(), ("one",), ("one", "two")]),
    st.booleans(),
)


@pytest.fixture(scope="module")
def hub() -> Iterator[Datahub]:
    with pytest.MonkeyPatch.context() as patch, serving(Datahub()) as opened:
        quick(patch)
        patch.setenv("ONRECORD_DATAHUB_URL", opened.url)
        patch.setenv("ONRECORD_DATAHUB_TOKEN", TOKEN)
        yield opened


@pytest.fixture(scope="module")
def door(hub: Datahub) -> Iterator[OnRecord]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONRECORD_DATAHUB_URL", hub.url)
        patch.setenv("ONRECORD_DATAHUB_TOKEN", TOKEN)
        with connect(":memory:", caller=KEEPER, clock=lambda: START, embedder="none") as opened:
            yield opened


class Shop:
    """A DataHub with one dataset, and a store that has ingested it."""

    def __init__(self, door: OnRecord, hub: Datahub, source: Any) -> None:
        empty(door._store)
        self.door, self.hub, self._numbers = door, hub, count(1)
        hub.state = State()
        described, column, tags, is_edited = source
        named = [f"urn:li:tag:{tag}" for tag in tags]
        hub.state.tags = dict.fromkeys(named, "a tag")
        field = {"type": "FLOAT", "description": column, "tags": named[:1]}
        edits = {"amount": {"description": "By people.", "tags": list(named)}} if is_edited else {}
        hub.add(
            "acme.sales.orders",
            description=described,
            tags=list(named),
            fields={"amount": field},
            edits=edits,
        )
        door.ingest("datahub")
        address = door._policy.datahub
        assert address is not None
        self._address = address
        self.target = DatahubTarget(door._store, KEEPER, START, address)

    def possible(self, proposed: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """The edits that DataHub can take: one of each property, since the first decides what a new one takes."""
        first = {edit.key: edit for edit in reversed(proposed) if edit.field == "properties"}
        proposed = tuple(
            edit
            for edit in proposed
            if first.get(edit.key if edit.field == "properties" else None, edit) is edit
        )
        now = self.target.read([edit.cell for edit in proposed])
        return tuple(edit for edit in proposed if edit.cell in now and self._takes(edit, now[edit.cell]))

    def _takes(self, edit: Edit, now: CurrentValue) -> bool:
        change = FieldChange(edit=edit, before=now.value, after=edit.after, under=now.under)
        return self.target.obstacle(change) is None

    def apply(self, proposed: tuple[Edit, ...]) -> str:
        saved = self.door.remember(f"proposal {next(self._numbers)}", edits=proposed, alike="keep").memory.id
        self.door.approve(saved)
        done = self.door.apply(PLACES[0], memories=[saved]).changeset
        assert {each.note for each in done.changes} == {None}
        return done.id

    def values(self) -> Mapping[Cell, CurrentValue]:
        return self.target.read(EVERY_CELL)

    def foreign(self, edit: Edit) -> None:
        """Someone else edits in DataHub."""
        now = self.target.read([edit.cell])[edit.cell]
        with DatahubClient(self._address) as client, suppress(CatalogUnavailable):
            if not same_value(now.value, edit.after):
                put(client, [Put(edit.cell, place_in(now.under), edit.after, now)])


def is_value(cell: Cell, now: Mapping[Cell, CurrentValue], value: Any) -> bool:
    return is_same(cell, now[cell].value, value, now[cell].under)


@FEW
@given(source=sources, first=st.none() | some_edits, second=some_edits)
def test_to_apply_to_datahub_and_to_roll_back_leaves_everything_as_it_was(
    door: OnRecord, hub: Datahub, source: Any, first: tuple[Edit, ...] | None, second: tuple[Edit, ...]
) -> None:
    shop = Shop(door, hub, source)
    begin = shown(hub.state)
    earlier = shop.apply(possible) if first is not None and (possible := shop.possible(first)) else None
    before, values = shown(hub.state), shop.values()
    if proposed := shop.possible(second):
        done = shop.apply(proposed)
        now = shop.values()
        assert all(is_value(edit.cell, now, edit.after) for edit in proposed)
        others = now.keys() - {edit.cell for edit in proposed}
        assert all(is_value(cell, now, values[cell].value) for cell in others)
        assert door.roll_back(done).kept == ()
        assert shown(hub.state) == before
    if earlier is not None:
        assert door.roll_back(earlier).kept == ()
    assert shown(hub.state) == begin


@FEW
@given(source=sources, proposed=some_edits, theirs=some_edits)
def test_what_others_changed_in_datahub_is_never_lost(
    door: OnRecord, hub: Datahub, source: Any, proposed: tuple[Edit, ...], theirs: tuple[Edit, ...]
) -> None:
    shop = Shop(door, hub, source)
    proposed = shop.possible(proposed)
    if not proposed:
        return
    before = shop.values()
    done = shop.apply(proposed)
    for edit in shop.possible(theirs):
        shop.foreign(edit)
    between = shop.values()
    kept = door.roll_back(done).kept
    after = shop.values()
    ours = {edit.cell: edit.after for edit in proposed if not is_value(edit.cell, before, edit.after)}
    for cell in EVERY_CELL:
        if cell not in between:
            continue
        if cell in ours and is_value(cell, between, ours[cell]):
            assert is_value(cell, after, before[cell].value), cell
        else:
            assert is_value(cell, after, between[cell].value), cell
    named = [cell for cell in ours if not is_value(cell, between, ours[cell])]
    lost = [cell for cell in named if not is_value(cell, between, before[cell].value)]
    assert len(kept) == len(lost)
