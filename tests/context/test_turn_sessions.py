"""WHAT else is known of a turn? What came with it, and which conversations have any."""

from datetime import UTC, datetime

import pytest

from onrecord import OnRecord
from onrecord.errors import Invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import MOST_TURNS
from onrecord.turn_buffer import Turn, TurnBuffer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN = Caller(tenant="acme", user="ann")
EVE = Caller(tenant="umbrella", user="eve")


def say(
    turns: TurnBuffer, caller: Caller, conversation: str, content: str, metadata: dict[str, str] | None = None
) -> None:
    turns.add(
        caller.tenant, conversation, Turn(role="user", content=content, at=NOON, metadata=metadata or {})
    )


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
    turns = TurnBuffer()
    for caller, name in ((ANN, "one"), (EVE, "hers"), (ANN, "two"), (ANN, "one")):
        say(turns, caller, name, "x")
    assert turns.conversations(ANN.tenant) == ("two", "one")
    assert turns.conversations(EVE.tenant) == ("hers",)
    turns.clear(ANN.tenant, "one")
    assert turns.conversations(ANN.tenant) == ("two",)


def test_metadata_counts_for_what_is_held() -> None:
    turns = TurnBuffer(held_bytes=1_000)
    say(turns, ANN, "one", "x", metadata={"a": "y" * 900})
    say(turns, ANN, "two", "x", metadata={"a": "y" * 900})
    assert turns.conversations(ANN.tenant) == ("two",)


def test_more_turns_can_be_asked_for_than_are_kept_by_default(ann: OnRecord) -> None:
    assert ann.turns(conversation="talk", limit=MOST_TURNS).turns == ()
    with pytest.raises(Invalid, match="limit"):
        ann.turns(conversation="talk", limit=MOST_TURNS + 1)


def test_a_tenant_that_opens_many_conversations_costs_no_other_its_turns() -> None:
    turns = TurnBuffer(conversations=10)
    say(turns, ANN, "ours", "x")
    for number in range(100):
        say(turns, EVE, f"hers {number}", "x")
    assert turns.conversations(ANN.tenant) == ("ours",)
    assert turns.conversations(EVE.tenant) == tuple(f"hers {number}" for number in range(91, 100))


def test_a_tenant_that_says_much_costs_no_other_its_turns() -> None:
    turns = TurnBuffer(held_bytes=1_000)
    say(turns, ANN, "ours", "x")
    for number in range(5):
        say(turns, EVE, f"hers {number}", "x" * 600)
    assert turns.conversations(ANN.tenant) == ("ours",)
    assert turns.conversations(EVE.tenant) == ("hers 4",)
