"""In a conversation the answer stands beside the question."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import pytest

from onrecord import OnRecord
from onrecord.recall.hits import Hit
from onrecord.recall.recipes import RECIPES

recall_module = import_module("onrecord.recall.recall")

Empty = Callable[..., OnRecord]


def said(door: OnRecord, *turns: str, conversation: str = "talk") -> None:
    for turn in turns:
        door.remember(turn, conversation=conversation, dedupe=False, alike="keep")


def told(door: OnRecord, question: str, **ask: object) -> list[Hit]:
    return list(door.recall(question, min_relevance=0, **ask).hits)  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", ["?", "\uff1f", "\u061f"])
def test_the_turn_after_a_question_comes_before_one_after_a_statement(empty: Empty, mark: str) -> None:
    door = empty()
    said(door, "Ann: Which ferry did you take to the island" + mark, "Ben: The blue one.")
    said(door, "Ann: We took the ferry to the island.", "Cleo: The blue one.", conversation="other")
    hits = told(door, "Which ferry went to the island?")
    places = {hit.memory.content: place for place, hit in enumerate(hits)}
    assert places["Ben: The blue one."] < places["Cleo: The blue one."]


def test_an_answer_that_shares_nothing_with_the_question_is_found(
    empty: Empty, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = empty()
    for number in range(60):
        said(door, f"Ann: the ferry and the island, part {number}", conversation=f"other {number}")
    said(door, "Ann: Which ferry did you take to the island?", "Ben: Turquoise.")

    def channels() -> set[str]:
        hits = told(door, "Which ferry did they take to the island?")
        return {
            part.channel for hit in hits if hit.memory.content == "Ben: Turquoise." for part in hit.why.parts
        }

    assert {"neighbour", "tokens"} <= channels()
    # Where nothing else is compared by tokens, it is not either.
    plain = replace(RECIPES["auto"], without=frozenset({"rerank"}))
    monkeypatch.setattr(recall_module, "recipe_named", lambda name: plain)
    assert "tokens" not in channels()


def test_a_turn_that_ends_by_asking_is_lowered(empty: Empty) -> None:
    door = empty()
    said(door, "Ann: What a ferry? Blue!", conversation="one")
    said(door, "Ann: What a ferry? Blue?", conversation="two")
    hits = {hit.memory.content: dict(hit.why.boosts) for hit in told(door, "What a blue ferry")}
    assert "asks" not in hits["Ann: What a ferry? Blue!"]
    assert hits["Ann: What a ferry? Blue?"]["asks"] < 1


def test_a_note_that_asks_is_lowered_in_no_way(empty: Empty) -> None:
    door = empty()
    door.remember("What a ferry? Blue?")
    (hit,) = told(door, "What a blue ferry")
    assert "asks" not in dict(hit.why.boosts)
