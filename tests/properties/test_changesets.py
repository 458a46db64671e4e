"""Is applying and rolling back the identity on every field and type, and is no edit of others ever lost?"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.catalog.targets import CurrentValue
from onrecord.catalog.targets.amendments import AmendmentsTarget
from onrecord.errors import Conflict
from onrecord.model.collections import ENTITIES, Home
from onrecord.model.edits import EDITS, Cell, Edit, same_value
from onrecord.model.limits import EDIT_FIELDS
from tests.soak import tries
from tests.stores import empty

from .conftest import KEEPER, START

PLACES: Final = ("shop", "shop.orders", "shop.orders.amount")
TEXTS: Final = ("Net.", "Gross.", "In cents,\nof course: 100 %", "ünï")
#: Values of each field and type.
VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "description": TEXTS,
    "tags": (None,),
    "terms": (None,),
    "links": ("Runbook", "The same"),
    "properties": ("gold", 1, 1.5, True, False, 0, ["a", 1, True]),
    "queries": ({"sql": "SELECT 1"}, {"sql": "SELECT 2", "description": "two"}),
    "documents": TEXTS,
    "incidents": ("Late since Monday.",),
}
KEYS: Final[dict[str, tuple[str | None, ...]]] = dict.fromkeys(VALUES, ("one", "two")) | {
    "description": (None,),
    "links": ("https://wiki.example/a", "http://b.example"),
}
EVERY_CELL: Final = [
    Cell(place, field, key) for place in PLACES for field in EDIT_FIELDS for key in KEYS[field]
]


@st.composite
def edits(draw: st.DrawFn) -> tuple[Edit, ...]:
    """Some edits of one model and its column, each of another cell."""
    cells = draw(
        st.lists(
            st.sampled_from([each for each in EVERY_CELL if each.entity != "shop"]),
            min_size=1,
            max_size=6,
            unique=True,
        )
    )
    return tuple(draw(edits_of(cell)) for cell in cells)


def edits_of(cell: Cell) -> st.SearchStrategy[Edit]:
    names_alone = cell.field in ("tags", "terms")
    values = st.sampled_from(VALUES[cell.field])
    written = values.map(
        lambda value: Edit(**cell._asdict(), op="add" if names_alone else "set", value=value)
    )
    return written | st.just(Edit(**cell._asdict(), op="remove"))


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnRecord]:
    with connect(":memory:", caller=KEEPER, clock=lambda: START, embedder="none") as opened:
        yield opened


class Shop:
    """A store with a catalog of one model, whose source can be written anew."""

    def __init__(self, door: OnRecord, folder: Path) -> None:
        empty(door._store)
        self.door, self._folder = door, folder
        self._number = 0

    def ingest(self, model: str | None, column: str | None, tags: tuple[str, ...]) -> None:
        models = self._folder / "models" / "shop"
        models.mkdir(parents=True, exist_ok=True)
        told = f"{{name: amount, type: number{'' if column is None else f', description: {column!r}'}, tags: {list(tags)}}}"
        described = "" if model is None else f"description: {model!r}\n"
        (models / "orders.yaml").write_text(
            f"name: orders\ndata_source: shop\nsql_table: orders\n{described}columns:\n- {told}\n",
            encoding="utf-8",
        )
        self.door.ingest(str(self._folder))

    def apply(self, proposed: tuple[Edit, ...], entity: str = "shop.orders") -> str:
        self._number += 1
        saved = self.door.remember(f"proposal {self._number}", edits=proposed, dedupe=False).memory.id
        self.door.approve(saved)
        return self.door.apply(entity, memories=[saved]).changeset.id

    def values(self) -> dict[Cell, Any]:
        return {cell: standing.value for cell, standing in self._current_values().items()}

    def _current_values(self) -> Mapping[Cell, CurrentValue]:
        return AmendmentsTarget(self.door._store, KEEPER, START, embeds=False).read(EVERY_CELL)

    def records(self) -> list[Any]:
        """All that the catalog holds and shows, but for when it was written."""
        with self.door._store.archive() as archive:
            told = sorted(archive.memories(Home("acme", ENTITIES)), key=lambda each: each.id)
        kept = [
            (each.id, each.content, each.tags, each.metadata, each.status, each.entities) for each in told
        ]
        return [kept, self._current_values(), self.door.inspect("shop.orders").sections["columns"]]


sources = st.tuples(
    st.none() | st.sampled_from(TEXTS[:2]),
    st.none() | st.sampled_from(TEXTS[:2]),
    st.sampled_from([(), ("one",), ("one", "two")]),
)
SLOW = settings(
    max_examples=tries(10, soaking=100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@SLOW
@given(source=sources, first=st.none() | edits(), second=edits())
def test_to_apply_and_to_roll_back_leaves_everything_as_it_was(
    door: OnRecord, tmp_path: Path, source: Any, first: tuple[Edit, ...] | None, second: tuple[Edit, ...]
) -> None:
    shop = Shop(door, tmp_path)
    shop.ingest(*source)
    begin = shop.records()
    earlier = None if first is None else shop.apply(first)
    before, values = shop.records(), shop.values()
    done = shop.apply(second)
    wanted = values | {edit.cell: edit.after for edit in second}
    assert same_values(shop.values(), wanted)
    assert door.roll_back(done).kept == ()
    assert shop.records() == before
    if earlier is not None:
        door.roll_back(earlier)
    assert shop.records() == begin


@SLOW
@given(source=sources, proposed=edits(), later=st.none() | edits(), anew=st.none() | sources)
@example(
    source=(None, "Net.", ()),
    proposed=(Edit(entity=PLACES[2], field="description", value="Gross."),),
    later=None,
    anew=(None, "In cents.", ()),
)
def test_what_others_changed_in_between_is_never_lost(
    door: OnRecord, tmp_path: Path, source: Any, proposed: Any, later: Any, anew: Any
) -> None:
    shop = Shop(door, tmp_path)
    shop.ingest(*source)
    before = shop.values()
    done = shop.apply(proposed)
    if later is not None:
        shop.apply(later)
    if anew is not None:
        shop.ingest(*anew)
    between = shop.values()
    own = {edit.cell for edit in proposed if not same_value(before[edit.cell], edit.after)}
    try:
        kept = door.roll_back(done).kept
    except Conflict as covered:
        assert "Changeset 2" in str(covered)
        assert later is not None
        assert own & {edit.cell for edit in later}
        assert same_values(shop.values(), between)
        return
    told, after = source_of(anew or source), shop.values()
    for cell, value in after.items():
        if cell not in own:
            assert same_value(value, between[cell]), cell
        elif anew is None and later is None:
            assert same_value(value, before[cell]), cell
        elif later is None or cell not in {edit.cell for edit in later}:
            # What stands there is what the source says by now.
            assert same_value(value, told.get(cell)), cell
    for note in kept:
        assert "source has the same value" in note


def source_of(source: Any) -> dict[Cell, Any]:
    model, column, tags = source
    return {
        Cell(PLACES[1], "description", None): model,
        Cell(PLACES[2], "description", None): column,
        **{Cell(PLACES[2], "tags", tag): True for tag in tags},
    }


def same_values(one: Mapping[Cell, Any], other: Mapping[Cell, Any]) -> bool:
    return one.keys() == other.keys() and all(same_value(one[cell], other[cell]) for cell in one)


def test_every_field_and_type_can_be_rolled_back(door: OnRecord, tmp_path: Path) -> None:
    """Each value of each field, set where there was none, over another, and taken away, on every kind of entity."""
    shop = Shop(door, tmp_path)
    shop.ingest("Orders.", "The amount.", ("one",))
    begin = shop.records()
    for place in PLACES:
        for rounds in range(max(map(len, VALUES.values()))):
            chosen = [
                (field, KEYS[field][0], VALUES[field][rounds % len(VALUES[field])]) for field in EDIT_FIELDS
            ]
            add = {"tags": "add", "terms": "add"}
            given_edits = EDITS(
                [
                    {"entity": place, "field": field, "key": key, "op": add.get(field, "set"), "value": value}
                    for field, key, value in chosen
                ]
            )
            taken = tuple(
                Edit(entity=place, field=edit.field, key=edit.key, op="remove") for edit in given_edits
            )
            written = shop.apply(given_edits, place)
            for edit in given_edits:
                assert same_value(shop.values()[edit.cell], edit.after)
            between = shop.records()
            removed = shop.apply(taken, place)
            assert not any(shop.values()[edit.cell] for edit in taken)
            assert door.roll_back(removed).kept == ()
            assert shop.records() == between
            assert door.roll_back(written).kept == ()
            assert shop.records() == begin
