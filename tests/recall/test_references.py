"""What a memory is about: the more precisely, the better; and a question may call a thing by its name."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onrecord import OnRecord
from onrecord.text.analyzer import STOP_TERMS
from onrecord.text.names import names_of

from .conftest import Ground, ids

Empty = Callable[..., OnRecord]


def about(recalled: Any) -> list[str]:
    return ids(recalled.hits)


class TestPrecision:
    """Of two memories that are about a thing, the one that is about little else."""

    @pytest.mark.parametrize("recipe", ["entity", "auto"])
    def test_a_memory_about_one_thing_comes_before_one_about_fifty(self, empty: Empty, recipe: str) -> None:
        door = empty()
        many = ["shop.orders", *(f"shop.table{number}" for number in range(49))]
        door.remember("a note on tables", id="fifty", entities=many, dedupe=False)
        door.remember("a note on tables", id="one", entities=["shop.orders"], dedupe=False)
        assert about(door.recall("tables", entities=["shop.orders"], recipe=recipe)) == ["one", "fifty"]

    @given(sizes=st.lists(st.integers(1, 60), min_size=2, max_size=5, unique=True))
    def test_the_fewer_other_things_the_better(self, ground: Ground, sizes: list[int]) -> None:
        door = ground.empty()
        for size in sizes:
            things = ["shop.orders", *(f"shop.table{number}" for number in range(size - 1))]
            door.remember("a note on tables", id=str(size), entities=things, dedupe=False)
        told = about(door.recall("", entities=["shop.orders"], recipe="entity"))
        assert told == sorted(map(str, sizes), key=int)

    def test_a_memory_about_both_things_comes_before_one_about_either(self, empty: Empty) -> None:
        door = empty()
        for id, things in {"either": ["a.b"], "or": ["c.d"], "both": ["a.b", "c.d"]}.items():
            door.remember("a note on tables", id=id, entities=things, dedupe=False)
        assert about(door.recall("", entities=["a.b", "c.d"], recipe="entity"))[0] == "both"

    def test_what_is_about_something_else_is_not_found_by_it(self, empty: Empty) -> None:
        door = empty()
        door.remember("a note on tables", entities=["shop.orders_old", "shop.order"])
        assert about(door.recall("", entities=["shop.orders"], recipe="entity")) == []


class TestNames:
    """A question that mentions a name asks for what is called so."""

    @pytest.mark.parametrize(
        ("reference", "question"),
        [
            ("thing:Oslo", "what do we know of oslo?"),
            ("thing:Oslo", "OSLO"),
            ("thing:New York office", "who works in the New York office today"),
            ("thing:São Paulo", "sao paulo"),
            ("thing:The Hague", "what is in The Hague?"),
            ("thing:Plan A", "did plan A work"),
            ("shop.orders.amount", "is the amount net?"),
            ("shop.orders.amount", "what is orders.amount"),
        ],
    )
    def test_a_name_in_the_question_finds_what_is_about_it(
        self, empty: Empty, reference: str, question: str
    ) -> None:
        door = empty()
        door.remember("this text has none of the words", id="about", entities=[reference])
        door.remember("nor has this one", id="other", entities=["thing:Lisbon"])
        assert about(door.recall(question, recipe="entity")) == ["about"]
        parts = {hit.memory.id: hit.why.parts for hit in door.recall(question).hits}
        assert "references" in {part.channel for part in parts["about"]}

    def test_part_of_a_name_is_not_the_name(self, empty: Empty) -> None:
        door = empty()
        door.remember("this text has none of the words", entities=["thing:New York office"])
        assert about(door.recall("is it new?", recipe="entity")) == []

    def test_the_id_of_a_memory_is_not_a_name(self, empty: Empty) -> None:
        door = empty()
        door.remember("the first", id="ferry")
        door.remember("this text has none of the words", entities=["memory:ferry"])
        assert about(door.recall("ferry", recipe="entity")) == []

    @given(name=st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=3, max_size=20))
    def test_a_thing_is_found_by_the_name_it_was_given(self, ground: Ground, name: str) -> None:
        assume(not STOP_TERMS.issuperset(names_of(f"thing:{name}")))
        door = ground.empty()
        saved = door.remember("this text has none of the words", id="about", entities=[f"thing:{name}"])
        assert about(door.recall(saved.memory.entities[0].removeprefix("thing:"), recipe="entity")) == [
            "about"
        ]
