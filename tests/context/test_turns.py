"""WHAT was just said? The last turns of each conversation, apart from every other."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import OnRecord
from onrecord.context.turns import ClearTurns, ListTurns, NoteTurn
from onrecord.errors import Forbidden, Invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import PERMISSIONS, TURNS
from onrecord.turn_buffer import Turn, TurnBuffer
from tests.context.conftest import Doors

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN = Caller(tenant="acme", user="ann", conversation="talk")


def note(turns: TurnBuffer, *contents: str, caller: Caller = ANN) -> None:
    for content in contents:
        said = Turn(role="user", content=content, at=NOON)
        turns.add(caller.tenant, caller.conversation or "", said)


def listed(turns: TurnBuffer, caller: Caller = ANN, limit: int | None = None) -> list[str]:
    return [turn.content for turn in turns.last(caller.tenant, caller.conversation or "", limit)]


def test_a_window_of_three_keeps_the_last_three() -> None:
    turns = TurnBuffer(window=3)
    note(turns, "one", "two", "three", "four", "five")
    assert listed(turns) == ["three", "four", "five"]
    assert listed(turns, limit=2) == ["four", "five"]
    assert turns.clear("acme", "talk") == 3
    assert listed(turns) == []
    assert turns.clear("acme", "talk") == 0


def test_a_turn_keeps_who_said_it_and_when(ann: OnRecord, clock: Any) -> None:
    assert ann.note_turn("hello", conversation="talk").turns == 1
    clock.tick()
    noted = ann.note_turn("hi", role="assistant", conversation="talk")
    assert (noted.conversation, noted.turns) == ("talk", 2)
    first, second = ann.turns(conversation="talk").turns
    assert (first.role, second.role) == ("user", "assistant")
    assert second.at == clock.now


def test_twenty_turns_are_kept(ann: OnRecord) -> None:
    for number in range(25):
        ann.note_turn(f"turn {number}", conversation="talk")
    assert [turn.content for turn in ann.turns(conversation="talk").turns] == [
        f"turn {number}" for number in range(25 - TURNS, 25)
    ]


def test_the_conversation_of_the_caller_is_used_where_none_is_named(door: Doors) -> None:
    door(conversation="talk").note_turn("hello")
    assert door().turns(conversation="talk").turns[0].content == "hello"


@pytest.mark.parametrize("ask", [NoteTurn("hello"), ListTurns(), ClearTurns()])
def test_without_a_conversation_nothing_is_kept_or_told(ann: OnRecord, ask: Any) -> None:
    method = {NoteTurn: ann.note_turn, ListTurns: ann.turns, ClearTurns: ann.clear_turns}[type(ask)]
    with pytest.raises(Invalid, match="conversation: is required"):
        method(ask)


def test_tenants_and_conversations_are_kept_apart(door: Doors) -> None:
    door().note_turn("hello", conversation="talk")
    assert door(tenant="beta").turns(conversation="talk").turns == ()
    assert door().turns(conversation="other").turns == ()
    assert door(tenant="beta").clear_turns(conversation="talk").cleared == 0
    assert len(door().turns(conversation="talk").turns) == 1


def test_names_that_would_run_together_are_kept_apart() -> None:
    turns = TurnBuffer()
    note(turns, "hello", caller=Caller(tenant="a", user="ann", conversation="b:c"))
    assert listed(turns, Caller(tenant="a:b", user="ann", conversation="c")) == []


def test_members_of_a_conversation_share_its_turns(door: Doors) -> None:
    ann, bob = door("ann", conversation="talk"), door("bob", conversation="~ann/talk")
    ann.note_turn("hello")
    assert bob.turns().turns == ()
    ann.share_conversation("talk", "bob")
    assert len(bob.turns().turns) == 1
    bob.note_turn("hello yourself")
    assert len(ann.turns().turns) == 2
    ann.unshare_conversation("talk", "bob")
    assert bob.turns().turns == ()
    assert bob.clear_turns().cleared == 0
    assert len(ann.turns().turns) == 2


@pytest.mark.parametrize("actor", ["agent", "unattended"])
def test_a_turn_of_role_system_is_a_persons_or_the_hosts(door: Doors, actor: str) -> None:
    agent = door("ann", conversation="talk", actor=actor)
    with pytest.raises(Forbidden, match="Turns of role system are a person's or the host's"):
        agent.note_turn("obey", role="system")
    door("ann", conversation="talk", actor=actor, operator=True).note_turn("the host's", role="system")
    door("ann", conversation="talk").note_turn("a person's", role="system")
    assert [turn.content for turn in agent.turns().turns] == ["the host's", "a person's"]


def test_whoever_speaks_in_one_conversation_cannot_name_another(door: Doors) -> None:
    door("ann", conversation="talk").note_turn("hello")
    for bound in (
        door("bob", conversation="other"),
        door("root", conversation="other", permissions=PERMISSIONS),
    ):
        for call in (bound.turns, bound.clear_turns, bound.context):
            with pytest.raises(Invalid, match="conversation: is not the conversation that this caller is in"):
                call(conversation="~ann/talk")
    admin = door("root", permissions=PERMISSIONS)
    assert [len(admin.turns(conversation=name).turns) for name in ("talk", "~ann/talk")] == [0, 1]


def test_the_conversation_not_used_for_longest_goes() -> None:
    turns = TurnBuffer(conversations=2)
    first, second, third = (ANN.inside(name) for name in ("first", "second", "third"))
    note(turns, "a", caller=first)
    note(turns, "b", caller=second)
    assert listed(turns, first) == ["a"]
    note(turns, "c", caller=third)
    assert (listed(turns, first), listed(turns, second), listed(turns, third)) == (["a"], [], ["c"])


def test_looking_at_conversations_that_are_not_there_pushes_none_out() -> None:
    turns = TurnBuffer(conversations=2)
    note(turns, "a")
    for number in range(5):
        assert listed(turns, ANN.inside(f"ghost {number}")) == []
        turns.clear("acme", f"ghost {number}")
    assert listed(turns) == ["a"]


def test_what_all_hold_together_is_bounded() -> None:
    turns = TurnBuffer(held_bytes=100)
    note(turns, "x" * 60)
    note(turns, "y" * 60, caller=ANN.inside("other"))
    assert listed(turns) == []
    assert listed(turns, ANN.inside("other")) == ["y" * 60]
    turns.clear("acme", "other")
    note(turns, "z" * 60)
    note(turns, "w" * 30, caller=ANN.inside("other"))
    assert listed(turns) == ["z" * 60]


def test_secrets_are_taken_out_before_a_turn_is_kept(ann: OnRecord) -> None:
    ann.note_turn("my key is AKIAIOSFODNN7EXAMPLE, keep it", conversation="talk")
    (turn,) = ann.turns(conversation="talk").turns
    assert "AKIAIOSFODNN7EXAMPLE" not in turn.content
    assert turn.content.endswith("keep it")


def test_many_threads_lose_nothing_and_hold_nothing_up() -> None:
    turns = TurnBuffer(window=10_000)

    def speak(number: int) -> None:
        caller = ANN.inside(f"talk {number % 3}")
        for _ in range(200):
            note(turns, f"from {number}", caller=caller)
            listed(turns, caller)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(speak, range(6)))
    assert [len(listed(turns, ANN.inside(f"talk {number}"))) for number in range(3)] == [400] * 3


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.text(max_size=3)), max_size=60))
def test_turns_behave_as_a_plain_list_would(said: Sequence[tuple[str, str]]) -> None:
    turns, model = TurnBuffer(window=3, conversations=2), dict[str, list[str]]()
    for name, content in said:
        note(turns, content, caller=ANN.inside(name))
        model[name] = [*model.pop(name, []), content][-3:]
        while len(model) > 2:
            del model[next(iter(model))]
    # In the order in which they were used, since looking is using.
    for name in [*model, *(set("abcd") - set(model))]:
        assert listed(turns, ANN.inside(name)) == model.get(name, [])


def test_what_is_deleted_leaves_no_turns(ann: OnRecord) -> None:
    kept = ann.register_conversation(title="Plans").conversation.id
    gone = ann.register_conversation(title="Gossip").conversation.id
    for conversation in (kept, gone):
        ann.note_turn("quagga", conversation=conversation)
    ann.delete_conversation(gone)
    assert [len(ann.turns(conversation=each).turns) for each in (kept, gone)] == [1, 0]


@pytest.mark.parametrize("looks", [(), ("first",), ("second",), ("first", "second")])
def test_what_was_said_before_a_conversation_began_is_told_to_no_one_who_is_let_in(
    door: Doors, clock: Any, looks: Sequence[str]
) -> None:
    """Whether this process has looked at the first conversation or at the second, which another process began."""
    ann, carol = door("ann"), door("carol", conversation="~ann/talk")
    elsewhere = ann.as_caller(ann.caller)
    elsewhere._turns = TurnBuffer()
    ann.note_turn("quagga", conversation="talk")
    clock.tick()
    elsewhere.register_conversation("talk")
    if "first" in looks:
        assert len(ann.turns(conversation="talk").turns) == 1
    elsewhere.delete_conversation("talk")
    clock.tick()
    elsewhere.register_conversation("talk")
    elsewhere.share_conversation("talk", "carol")
    if "second" in looks:
        # Whoever said it finds it again, unless it was said in the first.
        assert len(ann.turns(conversation="talk").turns) == ("first" not in looks)
    assert carol.turns().turns == ()
    assert "quagga" not in carol.context(parts=["turns"]).text
    assert carol.note_turn("hello").turns == 1
    assert carol.clear_turns().cleared == 1
    assert ann.turns(conversation="talk").turns == ()


def test_dropping_a_tenants_turns_leaves_those_of_others() -> None:
    turns = TurnBuffer()
    elsewhere = Caller(tenant="beta", user="ann", conversation="talk")
    note(turns, "one", "two")
    note(turns, "theirs", caller=elsewhere)
    turns.clear("acme", "another")
    assert listed(turns) == ["one", "two"]
    turns.clear_tenant("acme")
    assert (listed(turns), listed(turns, elsewhere)) == ([], ["theirs"])
    assert turns._held == len("theirs") + len("{}")
