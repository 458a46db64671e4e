"""Age, kind, time, place and a check by someone: each raises or lowers, says so, and hides nothing unless asked to."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import OnRecord
from onrecord.recall.boosts import freshness
from onrecord.recall.hits import Hit
from onrecord.recall.recipes import RECIPES

from .conftest import NOW, Ground, days, ids

Empty = Callable[..., OnRecord]
SEED_TABLE = ((1, 0.9), (2, 0.75), (4, 0.6))
FLOOR = 0.5
MOMENT = timedelta(microseconds=1)
#: A way of searching to which the day of a memory is no word of it.
TIMELESS = "entity"

ages = st.timedeltas(timedelta(0), days(40_000))
half_lives = st.integers(1, 36_500).map(days)
floors = st.floats(0, 1)


class TestAge:
    """What is left of a score, by how old a memory is."""

    @given(half_life=st.integers(31, 36_500).map(days))
    def test_the_steps_are_at_a_month_and_at_one_two_and_four_half_lives(self, half_life: timedelta) -> None:
        assert freshness(days(30), half_life, FLOOR) == 1.0
        assert freshness(days(30) + MOMENT, half_life, FLOOR) == 0.9
        for (times, left), (_, next_left) in zip(SEED_TABLE, (*SEED_TABLE[1:], (0, FLOOR)), strict=True):
            assert freshness(half_life * times, half_life, FLOOR) == left
            assert freshness(half_life * times + MOMENT, half_life, FLOOR) == next_left

    @given(age=ages, half_life=half_lives, floor=floors)
    def test_nothing_falls_below_the_floor_or_rises_above_one(
        self, age: timedelta, half_life: timedelta, floor: float
    ) -> None:
        assert floor <= freshness(age, half_life, floor) <= 1.0

    @given(age=ages, older=ages, half_life=half_lives, floor=floors)
    def test_an_older_memory_never_keeps_more(
        self, age: timedelta, older: timedelta, half_life: timedelta, floor: float
    ) -> None:
        assert freshness(age, half_life, floor) >= freshness(age + older, half_life, floor)

    @given(age=st.timedeltas(-days(400), days(30)), half_life=half_lives, floor=floors)
    def test_the_first_month_and_the_future_keep_all(
        self, age: timedelta, half_life: timedelta, floor: float
    ) -> None:
        assert freshness(age, half_life, floor) == 1.0

    def test_age_counts_only_when_asked_for_and_from_the_time_asked_about(self, empty: Empty) -> None:
        door = empty()
        twins(door, {"id": "old", "valid_from": NOW - days(200)}, {"id": "new", "valid_from": NOW})
        assert found(door, recipe=TIMELESS) == ["old", "new"]
        assert found(door, recipe=TIMELESS, decay=True) == ["new", "old"]
        assert boosts_of(door.recall("ferry", decay=True).hits)["old"] == {"age": 0.6}
        assert boosts_of(door.recall("ferry", decay=True, as_of=NOW - days(180)).hits)["old"] == {}


@pytest.mark.parametrize(
    "recipe", sorted(name for name, each in RECIPES.items() if "boost_verified" not in each.without)
)
class TestEqualOtherwise:
    """Of two memories that say the same, the one with something more to say for it comes first, saved later or not."""

    def test_the_pinned_one_comes_first(self, empty: Empty, recipe: str) -> None:
        door = empty(conversation="here")
        twins(
            door, {"id": "elsewhere", "conversation": "elsewhere"}, {"id": "pinned", "conversation": "here"}
        )
        assert found(door, recipe=recipe) == ["pinned", "elsewhere"]

    def test_the_verified_one_comes_first(self, empty: Empty, recipe: str) -> None:
        door = empty()
        twins(door, {"id": "unverified"}, {"id": "verified", "verified_at": NOW})
        assert found(door, recipe=recipe) == ["verified", "unverified"]

    def test_the_one_of_the_kind_asked_for_comes_first(self, empty: Empty, recipe: str) -> None:
        door = empty()
        twins(door, {"id": "fact"}, {"id": "decision", "kind": "decision"})
        assert found(door, recipe=recipe, kinds=["decision"]) == ["decision", "fact"]

    def test_the_one_saved_first_comes_first_where_nothing_else_differs(
        self, empty: Empty, recipe: str
    ) -> None:
        door = empty()
        twins(door, *({"id": id} for id in ("zebra", "ant", "cow", "bee")))
        assert found(door, recipe=recipe) == ["zebra", "ant", "cow", "bee"]


class TestIntents:
    """Cue words hint at kinds; a caller who names kinds, or wants no hints, is believed."""

    QUESTION = "which ferry do I prefer"

    def test_a_cue_raises_its_kinds(self, empty: Empty) -> None:
        door = two_kinds(empty)
        assert ids(door.recall(self.QUESTION).hits) == ["preference", "decision"]

    def test_the_kinds_that_the_caller_names_take_the_place_of_hints(self, empty: Empty) -> None:
        told = boosts_of(two_kinds(empty).recall(self.QUESTION, kinds=["decision"]).hits)
        assert "kind" in told["decision"]
        assert "kind" not in told["preference"]

    def test_without_intent_no_kind_is_raised(self, empty: Empty) -> None:
        hits = two_kinds(empty).recall(self.QUESTION, intent=False).hits
        assert ids(hits) == ["decision", "preference"]
        assert boosts_of(hits) == {"decision": {}, "preference": {}}

    def test_without_intent_kinds_that_are_named_still_count(self, empty: Empty) -> None:
        told = boosts_of(two_kinds(empty).recall(self.QUESTION, intent=False, kinds=["preference"]).hits)
        assert "kind" in told["preference"]
        assert "kind" not in told["decision"]


class TestTimes:
    """A time in the question raises what became true then; strictly asked, it drops the rest."""

    QUESTION = "ferry in March 2025"
    START, END = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC)

    @given(
        moments=st.lists(
            st.one_of(
                st.datetimes(datetime(2025, 1, 1), datetime(2025, 6, 1), timezones=st.just(UTC)),
                st.sampled_from([START, START - MOMENT, END, END - MOMENT]),
            ),
            min_size=1,
            max_size=5,
        )
    )
    def test_soft_raises_the_inside_and_hard_drops_the_outside(
        self, ground: Ground, moments: list[datetime]
    ) -> None:
        door = ground.empty()
        twins(door, *({"id": str(at), "valid_from": moment} for at, moment in enumerate(moments)))
        inside = [str(at) for at, moment in enumerate(moments) if self.START <= moment < self.END]
        outside = [str(at) for at in range(len(moments)) if str(at) not in inside]
        soft, hard, off = (
            door.recall(self.QUESTION, times=times, recipe=TIMELESS) for times in ("soft", "hard", "off")
        )
        assert ids(soft.hits) == inside + outside
        assert [id for id, boosts in boosts_of(soft.hits).items() if "time" in boosts] == inside
        assert ids(hard.hits) == inside
        assert ids(off.hits) == sorted(inside + outside, key=int)
        assert not any("time" in boosts for boosts in boosts_of(off.hits).values())

    def test_a_strict_question_about_a_time_of_which_there_is_nothing_finds_nothing(
        self, empty: Empty
    ) -> None:
        door = empty()
        twins(door, {"id": "old", "valid_from": self.START - MOMENT}, {"id": "new"})
        assert door.recall(self.QUESTION, times="hard").hits == ()

    def test_a_strict_question_that_names_no_time_drops_nothing(self, empty: Empty) -> None:
        door = empty()
        twins(door, {"id": "old", "valid_from": NOW - days(4_000)}, {"id": "new"})
        assert found(door, times="hard", recipe=TIMELESS) == ["old", "new"]

    def test_words_of_time_are_understood_from_the_time_asked_about(self, empty: Empty) -> None:
        door = empty()
        twins(door, {"id": "old", "valid_from": NOW - days(365)}, {"id": "new", "valid_from": NOW - days(1)})
        assert ids(door.recall("ferry yesterday", times="hard").hits) == ["new"]
        then = NOW - days(364)
        assert ids(door.recall("ferry yesterday", times="hard", as_of=then).hits) == ["old"]


def twins(door: OnRecord, *differences: dict[str, Any]) -> None:
    """Memories that say the same and are about the same, and differ as told."""
    for different in differences:
        usual = {"conversation": None, "entities": ["thing:ferry"], "dedupe": False}
        door.remember("the ferry leaves at nine", **{**usual, **different})


def found(door: OnRecord, **ask: Any) -> list[str]:
    return ids(door.recall("ferry", **ask).hits)


def two_kinds(empty: Empty) -> OnRecord:
    door = empty()
    twins(door, {"id": "decision", "kind": "decision"}, {"id": "preference", "kind": "preference"})
    return door


def boosts_of(hits: tuple[Hit, ...]) -> dict[str, dict[str, float]]:
    return {hit.memory.id: dict(hit.why.boosts) for hit in hits}
