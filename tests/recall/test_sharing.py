"""Places are shared out fairly: each circle and each bucket gets what it was promised, within the words one can take."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import OnRecord
from onrecord.model.limits import SCOPES
from onrecord.recall.draft import RecallDraft, RecallTools, ScorePiece
from onrecord.recall.sharing import CIRCLE, share, share_places, tokens_of_hits
from onrecord.store.ports.index import Key

from .conftest import WORDS, Ground, a_draft, a_match, ids

CIRCLES = ("conversation", "tenant", "global")
Ranked = list[tuple[int, str]]

#: Memories in their order, each of a circle.
rankings = st.lists(st.sampled_from(CIRCLES), max_size=20).map(lambda circles: list(enumerate(circles)))
budgets = st.fixed_dictionaries({circle: st.integers(0, 6) for circle in CIRCLES})
limits = st.integers(1, 24)


def shared(ranked: Ranked, limit: int, promised: Mapping[str, int]) -> Ranked:
    return share(ranked, lambda each: each[1], limit, promised)


def of(circle: str, ranked: Ranked) -> Ranked:
    return [each for each in ranked if each[1] == circle]


class TestCircles:
    """A conversation, a tenant and the world."""

    def test_every_scope_belongs_to_a_circle_that_has_places(self) -> None:
        assert {CIRCLE[scope] for scope in SCOPES} == set(CIRCLES)

    @given(ranked=rankings, limit=limits, promised=budgets)
    def test_the_order_stays_and_no_one_is_told_twice_or_beyond_the_limit(
        self, ranked: Ranked, limit: int, promised: Mapping[str, int]
    ) -> None:
        told = shared(ranked, limit, promised)
        assert told == [each for each in ranked if each in told]
        assert len(set(told)) == len(told) <= limit

    @given(ranked=rankings, limit=limits, promised=budgets)
    def test_no_place_stays_empty_while_someone_waits(
        self, ranked: Ranked, limit: int, promised: Mapping[str, int]
    ) -> None:
        assert len(shared(ranked, limit, promised)) == min(limit, len(ranked))

    @given(ranked=rankings, more=st.integers(0, 6), promised=budgets)
    def test_each_circle_gets_its_places_where_there_are_enough_for_all(
        self, ranked: Ranked, more: int, promised: Mapping[str, int]
    ) -> None:
        told = shared(ranked, sum(promised.values()) + more, promised)
        for circle in CIRCLES:
            assert len(of(circle, told)) >= min(promised[circle], len(of(circle, ranked)))

    @given(ranked=rankings, limit=limits, promised=budgets)
    def test_of_each_circle_the_best_are_told(
        self, ranked: Ranked, limit: int, promised: Mapping[str, int]
    ) -> None:
        told = shared(ranked, limit, promised)
        for circle in CIRCLES:
            mine = of(circle, told)
            assert mine == of(circle, ranked)[: len(mine)]

    def test_no_places_at_all_are_no_error(self, ground: Ground) -> None:
        door = ground.empty()
        door.remember("how many left on the ferry", query="SELECT count(*) FROM ferry")
        answer = door.recall("ferry", query_limit=0, conversation_places=0, tenant_places=0, global_places=0)
        assert (answer.hits, answer.queries) == ((), ())

    @given(ranked=rankings, limit=limits)
    def test_without_promises_the_best_are_told(self, ranked: Ranked, limit: int) -> None:
        assert shared(ranked, limit, dict.fromkeys(CIRCLES, 0)) == ranked[:limit]


class TestCrowds:
    """However many match better, who was promised a place has it."""

    CROWD = 150

    def crowded(self, ground: Ground, crowd: dict[str, Any], few: dict[str, Any]) -> OnRecord:
        door = ground.empty(conversation="here")
        for number in range(self.CROWD):
            door.remember(f"ferry ferry x{number}", **{"conversation": None, **crowd})
        door.remember("a long story of orchards and quarries in which a ferry is named once", **few)
        return door

    @pytest.mark.parametrize("recipe", ["lexical", "semantic", "auto"])
    def test_many_example_queries_do_not_crowd_out_a_learning(self, ground: Ground, recipe: str) -> None:
        door = self.crowded(ground, {"query": "SELECT 1"}, {"id": "learning"})
        assert ids(door.recall("ferry", recipe=recipe, query_limit=3, min_relevance=0).hits) == ["learning"]

    @pytest.mark.parametrize("recipe", ["lexical", "semantic", "auto"])
    def test_many_of_the_tenant_do_not_crowd_out_this_conversation(self, ground: Ground, recipe: str) -> None:
        door = self.crowded(ground, {}, {"id": "own", "scope": "session"})
        assert "ann::own" in ids(door.recall("ferry", recipe=recipe, min_relevance=0).hits)


#: Scores of learnings and of example queries, in the order in which they were saved.
memories = st.lists(st.tuples(st.booleans(), st.integers(0, 100)), max_size=16)


class TestBuckets:
    """Learnings and example queries, where they are asked for apart."""

    @given(saved=memories, limit=st.integers(1, 8), query_limit=st.integers(0, 8))
    def test_neither_knows_of_the_other(
        self, saved: list[tuple[bool, int]], limit: int, query_limit: int
    ) -> None:
        together = parted(saved, limit, query_limit)
        learnings = parted([each if not each[0] else None for each in saved], limit, query_limit)
        queries = parted([each if each[0] else None for each in saved], limit, query_limit)
        assert (together.chosen, together.queries) == (learnings.chosen, queries.queries)
        assert (learnings.queries, queries.chosen) == ((), ())

    @given(
        saved=memories,
        limit=st.integers(1, 8),
        query_limits=st.tuples(st.integers(0, 8), st.integers(0, 8)),
    )
    def test_how_many_example_queries_are_wanted_changes_no_learning(
        self, saved: list[tuple[bool, int]], limit: int, query_limits: tuple[int, int]
    ) -> None:
        one, other = (parted(saved, limit, query_limit) for query_limit in query_limits)
        assert one.chosen == other.chosen
        assert len(one.queries) <= query_limits[0]

    def test_the_answer_has_a_list_for_each(self, ground: Ground) -> None:
        door = ground.empty()
        door.remember("the ferry leaves at nine", id="learning")
        door.remember("how many left on the ferry", id="query", query="SELECT count(*) FROM ferry")
        together, apart = door.recall("ferry"), door.recall("ferry", query_limit=5)
        assert (sorted(ids(together.hits)), together.queries) == (["learning", "query"], ())
        assert (ids(apart.hits), ids(apart.queries)) == (["learning"], ["query"])
        none = door.recall("ferry", query_limit=0)
        assert (ids(none.hits), none.queries) == (["learning"], ())


def parted(saved: Sequence[tuple[bool, int] | None], limit: int, query_limit: int) -> RecallDraft:
    """What is chosen of some memories; None stands for one that is not there."""
    here: dict[Key, tuple[bool, int]] = {(1, row): each for row, each in enumerate(saved) if each is not None}
    draft = a_draft(
        {},
        weights={},
        matches={key: a_match(key, has_query=has_query) for key, (has_query, _) in here.items()},
        limit=limit,
        query_limit=query_limit,
    )
    parts = {key: (ScorePiece("lexical", 1, score, score),) for key, (_, score) in here.items()}
    return share_places(replace(draft, parts=parts), RecallTools())


texts = st.lists(
    st.tuples(
        st.sampled_from(WORDS[:3]),
        st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=60),
    ),
    max_size=6,
)


class TestTokens:
    """What the hits cost to read."""

    @given(saved=texts, most=st.integers(0, 120), query_limit=st.none() | st.integers(0, 3))
    def test_the_budget_is_never_exceeded_and_nothing_that_fits_is_left_out(
        self, ground: Ground, saved: list[tuple[str, str]], most: int, query_limit: int | None
    ) -> None:
        door = ground.empty()
        for at, (word, text) in enumerate(saved):
            door.remember(f"{word} {text}", id=str(at), query="SELECT 1" if at % 3 == 0 else None)
        ask: dict[str, Any] = {"query_limit": query_limit}
        everything = door.recall(" ".join(WORDS[:3]), **ask)
        answer = door.recall(" ".join(WORDS[:3]), max_tokens=most, **ask)
        told = [*answer.hits, *answer.queries]
        assert answer.tokens == sum(tokens_of_hits(hit.memory) for hit in told) <= most
        for hit in (*everything.hits, *everything.queries):
            if hit not in told:
                assert answer.tokens + tokens_of_hits(hit.memory) > most
        assert told == [hit for hit in (*everything.hits, *everything.queries) if hit in told]
