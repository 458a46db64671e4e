"""WHAT does `eval --own` say of a store? By what people judged there, and compared with an earlier time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord import connect
from onrecord.care.own_questions import compared
from onrecord.model.limits import OWN_QUESTIONS


@pytest.fixture(autouse=True)
def _words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")


def judged(questions: int) -> None:
    """Notes with a word of their own, and questions for them that were judged."""
    with connect("shell.db") as door:
        door.set_tenant(keep_questions=True)
        for number in range(questions):
            right = door.remember(f"gadget{number} costs {number}.", alike="keep").memory.id
            wrong = door.remember(f"price{number} of something else", alike="keep").memory.id
            question = f"what is the price{number} of gadget{number}?"
            door.give_feedback(right, "useful", question)
            door.give_feedback(wrong, "not_useful", question)


def test_judged_questions_are_asked_again_and_what_was_useful_is_right(shell: Callable[..., Any]) -> None:
    judged(OWN_QUESTIONS)
    with connect("shell.db") as door:
        before = door.audit(limit=1).entries
        gone = door.remember("gadget0 is gone.", alike="keep").memory.id
        door.give_feedback(gone, "useful", "what is the price0 of gadget0?")
        door.retire(gone)
    said = shell("eval", "--own", "--json", "own.jsonl")
    assert said.code == 0, said.err
    assert f"{OWN_QUESTIONS} questions with a useful hit, {OWN_QUESTIONS} that were judged" in said.out
    assert "recall@10  100.0 %" in said.out
    assert f"known wrong among the first ten: 100.0 % of {OWN_QUESTIONS}" in said.out
    assert "Hits that are no longer active, or not for you: 1" in said.out
    assert before
    # What is kept for a comparison holds no text of a question.
    assert "gadget" not in Path("own.jsonl").read_text()


def test_a_hit_is_the_one_that_was_judged_though_one_of_its_name_is_ones_own(
    shell: Callable[..., Any],
) -> None:
    judged(OWN_QUESTIONS - 1)
    with connect("shell.db") as door:
        right = door.remember("gadgetlast costs 9.", id="last", alike="keep").memory.id
        door.give_feedback(right, "useful", "what is the price of gadgetlast?")
        door.remember("My own.", id=f"{door.caller.user}::last", scope="user")
    said = shell("eval", "--own")
    assert (said.code, f"{OWN_QUESTIONS} questions with a useful hit" in said.out) == (0, True), said.err


def test_a_change_that_is_worse_beyond_its_interval_fails_and_an_equal_one_does_not(
    shell: Callable[..., Any],
) -> None:
    judged(OWN_QUESTIONS)
    assert shell("eval", "--own", "--json", "own.jsonl").code == 0
    same = shell("eval", "--own", "--against", "own.jsonl")
    assert (same.code, "worse" in same.out) == (0, False)
    assert "recall@10 100.0 → 100.0 % (+0.0, 95 %: +0.0 to +0.0)" in same.out
    # `entity` looks at references alone, of which there are none.
    worse = shell("eval", "--own", "--recipe", "entity", "--json", "other.jsonl")
    assert (worse.code, "worse beyond its interval" in worse.out) == (1, True)
    assert json.loads(Path("other.jsonl").read_text())["differences"][0]["is_worse"] is True


def test_too_little_feedback_says_so_and_stops_nothing(shell: Callable[..., Any]) -> None:
    judged(2)
    said = shell("eval", "--own", "--recipe", "entity")
    assert said.code == 0
    assert f"Too little feedback to measure by: 2 of at least {OWN_QUESTIONS} questions" in said.out


def test_without_kept_questions_it_says_what_to_do(shell: Callable[..., Any]) -> None:
    with connect("shell.db") as door:
        door.give_feedback(door.remember("Revenue is net.").memory.id, "useful", "what is revenue?")
    said = shell("eval", "--own")
    assert said.code == 0
    assert "Questions that were not kept: 1" in said.out
    assert "tenants set --keep-questions" in said.out


@pytest.mark.parametrize(
    "words",
    [
        ("eval",),
        ("eval", "--own", "--data", "."),
        ("eval", "--own", "--through", "search"),
        ("eval", "--own", "zoo"),
    ],
)
def test_what_does_not_go_together_is_refused(shell: Callable[..., Any], words: tuple[str, ...]) -> None:
    assert shell(*words).code == 2


def test_a_file_without_earlier_figures_is_refused(shell: Callable[..., Any]) -> None:
    judged(1)
    for text in ("", "{}", "nonsense", '{"task": "own"}', '{"task": "own", "measures": ["mrr"]}', "[1]"):
        Path("figures.jsonl").write_text(text)
        said = shell("eval", "--own", "--against", "figures.jsonl")
        assert (said.code, "against" in said.err) == (2, True), text


def test_only_questions_that_both_know_are_compared() -> None:
    assert compared({"a": (1.0, 1.0)}, {"b": (0.0, 0.0)}) == ()
    recall, mrr = compared({"a": (1.0, 1.0), "b": (0.0, 0.5)}, {"a": (0.0, 1.0), "c": (1.0, 1.0)})
    assert (recall.before, recall.after, recall.is_worse) == (1.0, 0.0, True)
    assert (mrr.before, mrr.after, mrr.is_worse) == (1.0, 1.0, False)
