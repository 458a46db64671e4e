"""Nothing relevant means nothing: what each hit's relevance says, what lies below the floor, and what passes it."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.errors import Invalid

NOTES = (
    "Deploys are frozen on Fridays after noon.",
    "Revenue is net of refunds: use orders.amount_net.",
    "The staging database is rebuilt every night at two.",
    "Ann prefers charts with a dark background.",
    "orders.is_returned holds 0, 1 or NULL; NULL means not returned.",
    "The EMEA region includes Turkey since 2024.",
    "Invoices are sent by the billing service, not by the shop.",
    "The nightly load is late when the warehouse is resized.",
    "Customer ids above nine million come from the old shop.",
    "Alerts of the search cluster go to the platform team.",
)
ANSWERED = {
    "may I deploy on a Friday?": 1,
    "is revenue before or after refunds?": 2,
    "when is staging rebuilt?": 3,
    "which colours does Ann like in plots?": 4,
    "what does NULL in is_returned mean?": 5,
    "is Turkey part of EMEA?": 6,
    "who sends invoices?": 7,
    "why is the nightly load late?": 8,
    "where do large customer ids come from?": 9,
    "who gets alerts about search?": 10,
}
UNRELATED = (
    "How do penguins survive the winter?",
    "What is the capital of Mongolia?",
    "Who composed the Moonlight Sonata?",
    "How many legs does a spider have?",
    "When did the Roman Empire fall?",
    "What is a good recipe for sourdough bread?",
    "How tall is Mount Kilimanjaro?",
    "Which vitamins are in spinach?",
    "Who won the World Cup in 1998?",
    "How do I tune a guitar?",
    "What causes tides?",
    "Is a tomato a fruit?",
    "Why do cats purr?",
    "What language do they speak in Brazil?",
    "How does photosynthesis work?",
    "What is the best way to clean a cast iron pan?",
    "penguin habitat",
    "zeppelin",
    "zzzqqq",
    "What is my favourite ice cream flavour?",
)


@pytest.fixture(scope="module")
def notes() -> Iterator[OnRecord]:
    """Asked for by a test without an embedder first, it would have none for the others."""
    with connect(":memory:", embedder="e5") as door:
        for note in NOTES:
            door.remember(note)
        yield door


@pytest.mark.parametrize("question", UNRELATED)
def test_a_question_that_nothing_here_bears_on_finds_nothing(notes: OnRecord, question: str) -> None:
    answer = notes.recall(question)
    assert answer.hits == ()
    assert answer.looked_at == len(NOTES)
    assert answer.best_relevance < 0.1
    assert answer.why_nothing().startswith("Nothing found: none of the 10 memories here is relevant to this.")
    assert not notes.search(question).memories


@pytest.mark.parametrize(("question", "id"), ANSWERED.items())
def test_what_answers_a_question_is_far_more_relevant_than_the_rest(
    notes: OnRecord, question: str, id: int
) -> None:
    first, *others = notes.recall(question).hits
    assert first.memory.id == str(id)
    assert first.relevance > 0.4
    assert all(hit.relevance < first.relevance / 2 for hit in others)


@given(question=st.sampled_from([*ANSWERED, *UNRELATED]), least=st.floats(0, 1))
def test_no_hit_is_below_the_relevance_that_was_asked_for(
    notes: OnRecord, question: str, least: float
) -> None:
    asked = notes.recall(question, min_relevance=least).hits
    assert all(least <= hit.relevance <= 1 for hit in asked)
    everything = notes.recall(question, min_relevance=0).hits
    assert [hit.memory.id for hit in asked] == [hit.memory.id for hit in everything][: len(asked)]


def test_with_no_floor_everything_that_scores_comes_back(notes: OnRecord) -> None:
    found = notes.recall("How do penguins survive the winter?", min_relevance=0).hits
    assert found
    assert all(hit.score > 0 for hit in found)


@pytest.mark.parametrize("recipe", ["auto", "graduated", "rrf", "plain_rrf"])
def test_what_lies_far_behind_the_best_and_shares_no_word_with_the_question_is_no_hit(
    notes: OnRecord, recipe: str
) -> None:
    for question, answer in ANSWERED.items():
        hits = notes.recall(question, recipe=recipe).hits
        assert hits[0].memory.id == f"{answer}"
        assert len(hits) <= 2
        assert len(notes.recall(question, recipe=recipe, min_relevance=0).hits) >= len(hits)
    question = next(iter(ANSWERED))
    assert len(notes.recall(question, recipe=recipe, min_relevance=0).hits) > 2


def test_an_identifier_passes_the_floor_whatever_else_is_asked(notes: OnRecord) -> None:
    question = "Penguins, volcanoes, orchestras, amount_net, sourdough bread and the moons of Jupiter?"
    assert [hit.memory.id for hit in notes.recall(question).hits][:1] == ["2"]


def test_a_rare_word_passes_the_floor_and_a_common_word_alone_does_not(notes: OnRecord) -> None:
    assert [hit.memory.id for hit in notes.recall("What about Turkey?").hits][:1] == ["6"]
    assert not notes.recall("Which songs did the choir sing at the opera house last night?").hits


def test_what_the_asker_names_is_told_whatever_the_question_says(notes: OnRecord) -> None:
    with connect(":memory:") as door:
        door.remember("Counted in cents.", entities=["shop.orders.amount"])
        assert door.recall("zeppelin", entities=["shop.orders.amount"]).hits


@pytest.mark.parametrize("least", [-0.1, 1.5, "much"])
def test_a_relevance_that_is_no_share_is_refused(notes: OnRecord, least: Any) -> None:
    with pytest.raises(Invalid, match="min_relevance"):
        notes.recall("deploys", min_relevance=least)


def test_an_empty_store_says_that_it_is_empty() -> None:
    with connect(":memory:") as door:
        assert door.recall("deploys").why_nothing() == "Nothing found: there are no memories here yet."


def test_without_an_embedder_words_alone_have_a_relevance(words_alone: None) -> None:
    with connect(":memory:") as door:
        for note in NOTES:
            door.remember(note)
        assert [hit.memory.id for hit in door.recall("Turkey").hits] == ["6"]
        assert all(0 < hit.relevance <= 1 for hit in door.recall("nightly load").hits)


THINGS = ("orders", "customers", "invoices", "refunds", "products", "suppliers", "shipments", "warehouses")


@pytest.mark.parametrize("times", [1, 6])
def test_memories_that_are_all_alike_answer_their_own_questions_and_no_others(times: int) -> None:
    with connect(":memory:") as door:
        for number in range(times):
            for thing in THINGS:
                of = f"of region {number}" if number else "of the company"
                door.remember(
                    f"Table {thing}: all {thing} {of}, with columns id, name, status and created_at."
                )
        assert "shipments" in door.recall("where do I find what was shipped?").hits[0].memory.content
        assert "suppliers" in door.recall("who supplies us?").hits[0].memory.content
        for question in (
            "Who composed the Moonlight Sonata?",
            "Why do cats purr?",
            "How do I tune a guitar?",
        ):
            assert not door.recall(question).hits
