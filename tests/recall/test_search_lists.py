"""A search by subject ranks as a recall does; its lists are ordered apart, and a cap cuts one of them."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.errors import Invalid
from onrecord.recall.datasources import ELSEWHERE, lower_other_datasources
from onrecord.recall.draft import RecallTools
from onrecord.recall.fusion import fuse
from onrecord.recall.recipes import RECIPES
from onrecord.store.ports.index import Found

from .conftest import ANN, NOW, WORDS, Ground, a_draft, a_match

CAPS = ("max_memories", "max_example_queries", "max_entities")
WIDE = dict.fromkeys(CAPS, 200)
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
#: Whether it is an example, and what it says.
saved = st.lists(st.tuples(st.booleans(), sentences), min_size=1, max_size=10)


def fill(door: OnRecord, texts: list[tuple[bool, str]]) -> OnRecord:
    for number, (is_example, text) in enumerate(texts):
        query: dict[str, Any] = {"query": f"select {number}"} if is_example else {}
        door.remember(text, entities=[f"shop.{text.split()[0]}"], dedupe=False, **query)
    return door


def lists(door: OnRecord, **asked: Any) -> list[list[tuple[str, float]]]:
    found = door.search(**asked)
    told = (found.memories, found.example_queries, found.entities)
    return [[(hit.id, hit.score) for hit in each] for each in told]


@settings(max_examples=30)
@given(
    texts=saved,
    question=sentences,
    caps=st.tuples(*[st.integers(0, 9)] * 3),
    recipe=st.sampled_from(sorted(RECIPES)),
)
def test_a_cap_cuts_its_own_list_and_changes_nothing_else(
    ground: Ground, texts: list[tuple[bool, str]], question: str, caps: tuple[int, int, int], recipe: str
) -> None:
    door = fill(ground.empty(), texts)
    asked = {"question": question, "entities": ["shop.ferry"], "recipe": recipe}
    cut = lists(door, **asked, **dict(zip(CAPS, caps, strict=True)))
    whole = lists(door, **asked, **WIDE)
    assert cut == [each[:most] for each, most in zip(whole, caps, strict=True)]


@settings(max_examples=30)
@given(texts=st.lists(sentences, min_size=1, max_size=10), question=sentences)
def test_notes_are_found_in_the_order_and_with_the_scores_of_a_recall(
    ground: Ground, texts: list[str], question: str
) -> None:
    door = ground.empty()
    for text in texts:
        door.remember(text, dedupe=False)
    recalled = door.recall(question, limit=100, intent=False, times="off")
    (notes, _, _) = lists(door, question=question, **WIDE)
    assert notes == [(hit.memory.id, hit.score) for hit in recalled.hits]


@pytest.fixture(scope="module")
def by_words() -> Iterator[Ground]:
    with connect(":memory:", clock=lambda: NOW, embedder="none", caller=ANN) as door:
        yield Ground(door)


@settings(max_examples=30)
@given(texts=saved, question=sentences)
def test_plain_reciprocal_ranks_add_up_to_the_last_digit(
    by_words: Ground, texts: list[tuple[bool, str]], question: str
) -> None:
    """Each list of each channel by itself, k = 60, every channel with the same say."""
    door = fill(by_words.empty(), texts)
    given = ["shop.ferry", "shop.ledger"]
    words = lists(door, question=question, recipe="plain_rrf", min_relevance=0, **WIDE)
    things = lists(door, entities=given, recipe="plain_rrf", min_relevance=0, **WIDE)
    both = lists(door, question=question, entities=given, recipe="plain_rrf", min_relevance=0, **WIDE)
    for by_word, about, found in zip(words, things, both, strict=True):
        scores: dict[str, float] = {}
        for ranking in (by_word, about):
            assert [score for _, score in ranking] == [1 / (61 + place) for place in range(len(ranking))]
            for id, score in ranking:
                scores[id] = scores.get(id, 0.0) + score
        assert dict(found) == scores
        assert [score for _, score in found] == sorted(scores.values(), reverse=True)


def test_without_words_in_common_a_recipe_by_words_finds_nothing(ground: Ground) -> None:
    door = fill(ground.empty(), [(False, "ferry"), (True, "harbour")])
    assert lists(door, question="quarry", recipe="lexical") == [[], [], []]
    with pytest.raises(Invalid, match="recipe"):
        door.search("ferry", recipe="soup")


def test_what_lies_where_the_best_lie_comes_before_its_namesake_elsewhere() -> None:
    names = ("office.drivers", "races.laps", "races.circuits", "races.drivers")
    matches = {(1, row): a_match((1, row), entities=(name,)) for row, name in enumerate(names)}
    found = [Found(key, score) for key, score in zip(matches, (0.9, 1.0, 0.8, 0.85), strict=True)]
    draft = fuse(a_draft({"lexical": found}, weights={"lexical": 1.0}, matches=matches), RecallTools())
    lowered = lower_other_datasources(draft, RecallTools())
    assert [names[row] for _, row in lowered.ranked()] == [
        *("races.laps", "races.drivers", "races.circuits", "office.drivers")
    ]
    assert lowered.boosts.keys() == {(1, 0)}
    assert ELSEWHERE < dict(lowered.boosts[1, 0])["datasource"] < 1


def test_what_belongs_to_no_datasource_is_neither_raised_nor_lowered(ground: Ground) -> None:
    door = ground.empty()
    for name in ("laps", "drivers"):
        door.remember(f"the ferry of {name}", entities=[f"races.{name}"])
    door.remember("the ferry of drivers", id="elsewhere", entities=["office.drivers"], alike="keep")
    door.remember("the ferry at nine", id="nowhere", entities=["thing:ferry"])
    boosts = {hit.memory.id: dict(hit.why.boosts) for hit in door.recall("ferry", min_relevance=0).hits}
    assert {id for id, factors in boosts.items() if "datasource" in factors} == {"elsewhere"}


def test_where_nothing_was_found_no_datasource_is_lowered() -> None:
    draft = a_draft({}, weights={"lexical": 1.0})
    assert lower_other_datasources(draft, RecallTools()) == draft
