"""An answer explains itself to the last digit, and the same question on the same store is answered the same."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onrecord
from onrecord import OnRecord, connect
from onrecord.errors import Invalid
from onrecord.model.wire import to_json
from onrecord.recall.hits import Hit, ScorePart
from onrecord.recall.recall import LAYERS, Recalled
from onrecord.recall.recipes import RECIPES
from onrecord.testing.embedder import StubEmbedder

from .conftest import ANN, NOW, WORDS, Ground, days

Empty = Callable[..., OnRecord]

sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
#: Memories that differ in all that a rank may depend on.
memories = st.lists(
    st.fixed_dictionaries(
        {"content": sentences},
        optional={
            "kind": st.sampled_from(["decision", "preference", "reference"]),
            "tags": st.just(["blue"]),
            "entities": st.lists(st.sampled_from(WORDS).map("thing:{}".format), max_size=3),
            "conversation": st.sampled_from(["here", "there"]),
            "valid_from": st.integers(0, 500).map(lambda age: NOW - days(age)),
            "verified_at": st.just(NOW),
            "query": st.just("SELECT 1"),
            "hint": sentences,
        },
    ),
    max_size=8,
)
asks = st.fixed_dictionaries(
    {"question": sentences, "recipe": st.sampled_from(sorted(RECIPES))},
    optional={
        "limit": st.integers(1, 5),
        "kinds": st.just(["decision"]),
        "tags": st.just(["blue"]),
        "entities": st.just(["thing:ferry"]),
        "decay": st.booleans(),
        "query_limit": st.integers(0, 3),
        "times": st.sampled_from(["soft", "hard", "off"]),
    },
)


class TestReasons:
    """Why a hit stands where it stands."""

    @given(saved=memories, ask=asks)
    def test_a_score_is_the_sum_of_its_parts_times_its_boosts(
        self, ground: Ground, saved: list[dict[str, Any]], ask: dict[str, Any]
    ) -> None:
        answer = filled(ground.empty(conversation="here"), saved).recall(**ask)
        for hit in told(answer):
            shares = sum(part.share for part in hit.why.parts)
            assert hit.score == pytest.approx(
                shares * prod(dict(hit.why.boosts).values()), rel=1e-9, abs=1e-9
            )
            assert len({name for name, _ in hit.why.boosts}) == len(hit.why.boosts)
            assert hit.why.parts
        for hits in (answer.hits, answer.queries):
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    @given(saved=memories, ask=asks)
    def test_ranks_in_a_channel_follow_the_scores_there(
        self, ground: Ground, saved: list[dict[str, Any]], ask: dict[str, Any]
    ) -> None:
        answer = filled(ground.empty(conversation="here"), saved).recall(**ask)
        for listed in by_channel(told(answer)).values():
            ranks = [part.rank for part in listed]
            assert min(ranks) >= 1
            assert len(set(ranks)) == len(ranks)
            assert [part.score for part in listed] == sorted((part.score for part in listed), reverse=True)

    @given(saved=memories, ask=asks)
    def test_to_explain_changes_no_hit_and_tells_of_every_layer(
        self, ground: Ground, saved: list[dict[str, Any]], ask: dict[str, Any]
    ) -> None:
        door = filled(ground.empty(conversation="here"), saved)
        plain, explained = door.recall(**ask), door.recall(**ask, explain=True)
        assert replace(explained, trace=()) == plain
        expected = [layer.__name__ for layer in LAYERS]
        assert [note.name for note in explained.trace] == [
            name for name in expected if name not in RECIPES[ask["recipe"]].without
        ]


class TestSameAgain:
    """Nothing hangs on chance, on a cache, or on the order of a set."""

    @given(saved=memories, ask=asks)
    def test_the_same_question_is_answered_the_same_in_every_byte(
        self, ground: Ground, saved: list[dict[str, Any]], ask: dict[str, Any]
    ) -> None:
        door = filled(ground.empty(conversation="here"), saved)
        first = written(door.recall(**ask))
        door.recall(" ".join(WORDS))
        assert written(door.recall(**ask)) == first

    def test_a_store_that_was_closed_answers_the_same(self, shared_db: str) -> None:
        with connect(shared_db, caller=ANN, clock=lambda: NOW, embedder=StubEmbedder()) as door:
            first = answers(varied(door))
        with connect(shared_db, caller=ANN, clock=lambda: NOW, embedder=StubEmbedder()) as door:
            assert answers(door) == first

    def test_two_processes_with_other_hashes_answer_the_same(self, tmp_path: Path) -> None:
        path = tmp_path / "store.db"
        with connect(path, caller=ANN, clock=lambda: NOW, embedder="none") as door:
            first = answers(varied(door))
        assert first.count('"score"') > 10
        for seed in ("1", "2"):
            assert asked_elsewhere(path, seed) == first


class TestRecipes:
    """Ways of searching, by name."""

    @pytest.mark.parametrize("recipe", sorted(RECIPES))
    def test_an_answer_names_its_recipe_and_the_channels_that_were_asked(
        self, empty: Empty, recipe: str
    ) -> None:
        answer = varied(empty()).recall("ferry harbour", recipe=recipe)
        assert answer.ranking == recipe
        assert answer.hits
        assert set(answer.channels) <= set(RECIPES[recipe].weights)

    def test_an_unknown_recipe_is_refused_with_the_names_of_the_others(self, empty: Empty) -> None:
        with pytest.raises(Invalid) as refused:
            empty().recall("ferry", recipe="speling")
        (fault,) = refused.value.faults
        assert fault.field == "recipe"
        assert "speling" in fault.message
        for name in RECIPES:
            assert name in fault.message

    def test_a_question_that_matches_nothing_finds_nothing(self, empty: Empty) -> None:
        door = empty()
        for recipe in RECIPES:
            assert door.recall("ferry", recipe=recipe).hits == ()
        door.remember("the ferry leaves at nine")
        assert door.recall("zyzzyva", recipe="lexical").hits == ()
        assert door.recall("zyzzyva", recipe="entity").hits == ()


def filled(door: OnRecord, saved: list[dict[str, Any]]) -> OnRecord:
    for each in saved:
        door.remember(**each, dedupe=False)
    return door


def varied(door: OnRecord) -> OnRecord:
    """Memories of which many are equal by one signal or another."""
    for number in range(24):
        word, other = WORDS[number % len(WORDS)], WORDS[number * 5 % len(WORDS)]
        door.remember(
            f"{word} {other} {word if number % 3 else other}",
            id=f"m{number}",
            tags=["blue"] if number % 4 == 0 else [],
            entities=[f"thing:{other}"] if number % 2 else [],
            verified_at=NOW if number % 5 == 0 else None,
            dedupe=False,
        )
    return door


QUESTIONS = (
    "ferry",
    "ferry harbour ledger",
    "pepper quarry saddle thimble orchard",
    "what do I prefer: ferry",
)


def answers(door: OnRecord) -> str:
    """What a store says to some questions, in every way of searching."""
    return "\n".join(
        written(door.recall(question, recipe=recipe, tags=["blue"]))
        for question in QUESTIONS
        for recipe in sorted(RECIPES)
    )


def written(answer: Recalled) -> str:
    return json.dumps(to_json(answer), sort_keys=True)


def asked_elsewhere(path: Path, seed: str) -> str:
    """The same answers from a process in which sets have another order."""
    here = Path(__file__)
    source = Path(onrecord.__file__).parent.parent
    program = (
        f"import sys; sys.path[:0] = [{str(here.parents[2])!r}, {str(source)!r}]\n"
        "from onrecord import connect\n"
        "from tests.recall.test_explanation import ANN, NOW, answers\n"
        "with connect(sys.argv[1], caller=ANN, clock=lambda: NOW, embedder='none') as door:\n"
        "    print(answers(door))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return done.stdout.removesuffix("\n")


def told(answer: Recalled) -> list[Hit]:
    return [*answer.hits, *answer.queries]


def by_channel(hits: list[Hit]) -> dict[str, list[ScorePart]]:
    """What each channel says of the hits, in the order of its ranks."""
    parts = defaultdict(list)
    for hit in hits:
        for part in hit.why.parts:
            parts[part.channel].append(part)
    return {channel: sorted(listed, key=lambda part: part.rank) for channel, listed in parts.items()}
