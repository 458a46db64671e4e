"""WHAT else is known of a turn? What came with it, and which conversations have any."""

from datetime import UTC, datetime

import pytest

from onrecord import OnRecord
from onrecord.context.turns import Turns
from onrecord.errors import Invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import MOST_TURNS
from onrecord.model.requests import ClearTurns, NoteTurn

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN = Caller(tenant="acme", user="ann")
EVE = Caller(tenant="umbrella", user="eve")


def test_a_turn_keeps_its_metadata_without_the_secrets_in_it(ann: OnRecord) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    ann.note_turn("hello", conversation="talk", metadata={"tokens": 3, "deep": {"key": secret}})
    ann.note_turn("hi", conversation="talk")
    first, second = ann.turns(conversation="talk").turns
    assert first.metadata["tokens"] == 3
    assert secret not in str(first.metadata)
    assert second.metadata == {}


def test_metadata_that_is_no_object_is_refused(ann: OnRecord) -> None:
    with pytest.raises(Invalid, match="metadata: must be a JSON object"):
        ann.note_turn("hello", conversation="talk", metadata="x")  # type: ignore[arg-type]


def test_the_conversations_of_a_tenant_are_told_to_that_tenant_alone() -> None:
    turns = Turns()
    for caller, name in ((ANN, "one"), (EVE, "hers"), (ANN, "two"), (ANN, "one")):
        turns.note(caller, NoteTurn("x", conversation=name), NOON)
    assert turns.sessions(ANN) == ("two", "one")
    assert turns.sessions(EVE) == ("hers",)
    turns.clear(ANN, ClearTurns(conversation="one"))
    assert turns.sessions(ANN) == ("two",)


def test_metadata_counts_for_what_is_held() -> None:
    turns = Turns(held_bytes=1_000)
    turns.note(ANN, NoteTurn("x", conversation="one", metadata={"a": "y" * 900}), NOON)
    turns.note(ANN, NoteTurn("x", conversation="two", metadata={"a": "y" * 900}), NOON)
    assert turns.sessions(ANN) == ("two",)


def test_more_turns_can_be_asked_for_than_are_kept_by_default(ann: OnRecord) -> None:
    assert ann.turns(conversation="talk", limit=MOST_TURNS).turns == ()
    with pytest.raises(Invalid, match="limit"):
        ann.turns(conversation="talk", limit=MOST_TURNS + 1)


def test_a_tenant_that_opens_many_conversations_costs_no_other_its_turns() -> None:
    turns = Turns(sessions=10)
    turns.note(ANN, NoteTurn("x", conversation="ours"), NOON)
    for number in range(100):
        turns.note(EVE, NoteTurn("x", conversation=f"hers {number}"), NOON)
    assert turns.sessions(ANN) == ("ours",)
    assert turns.sessions(EVE) == tuple(f"hers {number}" for number in range(91, 100))


def test_a_tenant_that_says_much_costs_no_other_its_turns() -> None:
    turns = Turns(held_bytes=1_000)
    turns.note(ANN, NoteTurn("x", conversation="ours"), NOON)
    for number in range(5):
        turns.note(EVE, NoteTurn("x" * 600, conversation=f"hers {number}"), NOON)
    assert turns.sessions(ANN) == ("ours",)
    assert turns.sessions(EVE) == ("hers 4",)
