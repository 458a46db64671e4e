"""WHAT is the agent told before it begins? Every part in its order, within its tokens."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.context.legend import MEANING, legend
from onrecord.context.parts import ContextBlock, ContextGiven, ContextPiece, ContextSection, fitted
from onrecord.errors import Forbidden, Invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import CONTEXT_PARTS, KINDS
from onrecord.testing.embedder import StubEmbedder
from onrecord.text.tokens import count_tokens
from tests.context.conftest import Doors, inside


@pytest.fixture
def talking(door: Doors) -> OnRecord:
    """Someone in a conversation, with something for every part."""
    ann = door(conversation="talk")
    ann.remember("Write British.", always_inject=True, conversation=None)
    ann.remember("Refunds take 14 days.", kind="decision", title="Refunds")
    ann.note_turn("How long do refunds take?")
    return ann


def parts_of(given: ContextGiven) -> list[str]:
    return [block.part for block in given.blocks]


def test_all_parts_come_in_their_order(talking: OnRecord) -> None:
    told = talking.context("how long do refunds take")
    assert parts_of(told) == list(CONTEXT_PARTS)
    assert told.text == "\n\n".join(block.text for block in told.blocks)
    assert told.tokens == count_tokens(told.text)
    assert told.left_out == 0
    memories = told.blocks[-1]
    assert memories.memories == ("2",)
    assert inside(memories.text)[-1] == "  | Refunds take 14 days."


def test_each_memory_has_its_cost_and_what_does_not_fit_is_named(talking: OnRecord) -> None:
    parts = ["always", "memories"]
    whole = talking.context("how long do refunds take", parts=parts)
    always, hits = whole.blocks
    assert (len(always.costs), len(hits.costs)) == (1, 1)
    assert 0 < always.costs[0] < always.tokens
    tight = talking.context("how long do refunds take", parts=parts, max_tokens=whole.tokens - 1)
    left = [(piece.part, piece.memory, piece.tokens) for piece in tight.pieces_left_out]
    assert left == [("memories", "2", hits.costs[0])]
    assert (whole.left_out, tight.left_out) == (0, 1)


def test_an_admin_sees_what_the_agent_of_another_gets(door: Doors) -> None:
    door(user="eve").remember("Eve likes short answers.", scope="user", always_inject=True)
    admin = door(permissions=frozenset({"memory.admin"}))
    admin.remember("Only billing reads this.", scope="system", system="billing", always_inject=True)
    assert "short answers" not in admin.context().text
    assert "short answers" in admin.context(for_user="eve").text
    assert "Only billing" not in admin.context(for_user="eve").text
    assert "Only billing" in admin.context(for_systems=["billing"]).text
    with pytest.raises(Forbidden):
        door().context(for_user="eve")


def test_only_what_is_asked_for_is_told_and_always_in_the_same_order(talking: OnRecord) -> None:
    assert parts_of(talking.context(parts=["turns", "legend"])) == ["legend", "turns"]


def test_without_a_question_and_a_conversation_those_parts_are_left_out(door: Doors) -> None:
    told = door().context()
    assert parts_of(told) == ["legend"]
    assert told.degraded == ()


def test_a_part_that_was_asked_for_and_cannot_be_told_is_named(door: Doors) -> None:
    told = door().context(parts=["memories", "turns"])
    assert told.degraded == ("turns: no conversation was named", "memories: no question was asked")


def test_what_recall_had_to_do_without_is_said(words_alone: None, talking: OnRecord) -> None:
    assert talking.context("refunds").degraded == ("semantic: no embedder is configured",)


def test_what_is_told_in_every_turn_is_not_told_twice(talking: OnRecord) -> None:
    told = talking.context("should I write British, or how are refunds written?")
    assert [id for block in told.blocks if block.part == "memories" for id in block.memories] == ["2"]
    assert told.text.count("Write British.") == 1


def test_the_same_store_gives_the_same_bytes(talking: OnRecord) -> None:
    assert talking.context("refunds") == talking.context("refunds")


def test_an_unknown_part_is_refused(ann: OnRecord) -> None:
    with pytest.raises(Invalid, match="parts"):
        ann.context(parts=["everything"])


def test_whoever_may_not_read_is_told_nothing(door: Doors) -> None:
    with pytest.raises(Forbidden):
        door(permissions=frozenset({"memory.manage"})).context()


def test_the_legend_explains_every_kind() -> None:
    assert list(MEANING) == list(KINDS)
    assert all(f"\n- {kind}: " in legend() for kind in KINDS)


def test_the_turns_are_told_oldest_first_and_without_a_hole(door: Doors) -> None:
    ann = door(conversation="talk")
    for content in ("first", "long " * 400, "third", "fourth"):
        ann.note_turn(content)
    told = ann.context(parts=["turns"], max_tokens=300)
    assert inside(told.text) == ["- user: third", "- user: fourth"]
    assert told.left_out == 2


def test_a_long_part_leaves_room_for_the_next(door: Doors) -> None:
    ann = door(conversation="talk")
    ann.remember("Write British.", always_inject=True, conversation=None)
    for number in range(15):
        ann.note_turn(f"{number} " + "hello " * 60)
    ann.remember("Refunds take 14 days.")
    told = ann.context("refunds", max_tokens=1_200)
    assert parts_of(told) == list(CONTEXT_PARTS)
    assert told.left_out > 0


def test_what_holds_in_every_turn_is_crowded_out_by_nothing_else(door: Doors) -> None:
    ann, agent = door(conversation="talk"), door(conversation="talk", actor="agent")
    for number in range(12):
        ann.remember(f"Rule {number}: " + "habit " * 40, always_inject=True, dedupe=False, conversation=None)

    def told() -> ContextBlock:
        blocks = ann.context("refunds", max_tokens=1_200).blocks
        return next(block for block in blocks if block.part == "always")

    before = told()
    assert len(before.memories) == 12
    for number in range(12):
        agent.remember(f"Refunds of {number} days. " + "more " * 40, dedupe=False)
        agent.note_turn("hello " * 60)
    assert told() == before


@pytest.mark.parametrize("most", [250, 300, 400])
def test_where_there_is_little_room_what_holds_in_every_turn_comes_first(ann: OnRecord, most: int) -> None:
    for number in range(25):
        ann.remember(f"Habit {number}: write British.", always_inject=True, dedupe=False)
    ann.remember("Refunds take 14 days.")
    told = ann.context("refunds", max_tokens=most)
    assert "always" in parts_of(told)


def test_what_one_part_leaves_over_goes_to_those_that_need_more(ann: OnRecord) -> None:
    ann.remember("habit " * 400, always_inject=True)
    told = ann.context("a habit", max_tokens=1_200)
    assert told.left_out == 0


@pytest.mark.parametrize("most", [0, 1, 60])
def test_where_there_is_no_room_everything_is_left_out(talking: OnRecord, most: int) -> None:
    told = talking.context("refunds", max_tokens=most)
    assert (told.text, told.tokens, told.blocks) == ("", 0, ())
    assert told.left_out == 5


SIZED = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40),
    st.builds(lambda size, letter: letter * size, st.integers(1, 6_000), st.sampled_from("a\n<日\u202e`")),
).filter(str.strip)


@settings(max_examples=25)
@given(
    always=st.lists(SIZED, max_size=4),
    pinned=st.lists(SIZED, max_size=4),
    turns=st.lists(SIZED, max_size=4),
    most=st.one_of(st.integers(0, 400), st.integers(0, 6_000)),
)
def test_whatever_the_store_holds_the_whole_fits(
    always: list[str], pinned: list[str], turns: list[str], most: int
) -> None:
    caller = Caller(tenant="acme", user="ann", conversation="talk")
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    # Which memories are near says nothing here of what fits, and long texts that nobody saw before take long to embed.
    with connect(":memory:", caller=caller, clock=lambda: moment, embedder=StubEmbedder()) as door:
        for content in always:
            door.remember(content, always_inject=True, dedupe=False, conversation=None)
        for content in pinned:
            door.remember(content, dedupe=False)
        for content in turns:
            door.note_turn(content)
        told = door.context("a letter", max_tokens=most)
        everything = door.context("a letter", max_tokens=1_000_000)
    assert told.tokens == count_tokens(told.text) <= most
    assert everything.left_out == 0
    assert told.left_out + _pieces(told) == _pieces(everything)


def _pieces(told: ContextGiven) -> int:
    """How many things were told; turns by their bullets."""
    return sum(
        len(block.memories) or (1 if block.part == "legend" else _bullets(block.text))
        for block in told.blocks
    )


def _bullets(text: str) -> int:
    return sum(line.startswith("- user:") for line in inside(text))


@given(
    sizes=st.lists(st.lists(st.integers(0, 200), max_size=6), max_size=4),
    shells=st.lists(st.integers(0, 50), min_size=4, max_size=4),
    is_run=st.booleans(),
    most=st.integers(0, 300),
)
def test_no_sizes_pass_the_bound(sizes: list[list[int]], shells: list[int], is_run: bool, most: int) -> None:
    def part(at: int, pieces: list[int]) -> ContextSection:
        return ContextSection(
            name=CONTEXT_PARTS[at],
            pieces=[ContextPiece(text="x" * size) for size in pieces],
            render=lambda texts: "s" * shells[at] + f"{len(texts)}" + "\n".join(texts),
            is_run=is_run,
        )

    told = fitted([part(at, pieces) for at, pieces in enumerate(sizes)], most)
    assert told.tokens == count_tokens(told.text) <= most


def test_every_part_is_offered_what_the_others_leave(talking: OnRecord) -> None:
    whole = talking.context("refunds", max_tokens=100_000)
    # One token for each piece and shell is lost to rounding.
    assert talking.context("refunds", max_tokens=whole.tokens + 40).left_out == 0


def test_a_context_can_be_given_by_the_async_door_too() -> None:
    import asyncio

    from onrecord.aio import AsyncOnRecord

    async def asked() -> Any:
        with connect(":memory:") as door:
            return await AsyncOnRecord(door).context(parts=["legend"])

    assert asyncio.run(asked()).text == legend()
