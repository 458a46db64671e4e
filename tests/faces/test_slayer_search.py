"""WHAT does a search of the semantic layer give back? Notes, example queries and entities, each list by itself."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Invalid
from onrecord.faces import slayer
from onrecord.testing.embedder import StubEmbedder
from tests.soak import tries

from .conftest import Ground, ids, model, shop, write_models

AMOUNT = "mydb.orders.amount"
PAID = {"source_model": "orders", "measures": ["amount:sum"], "filters": ["status = 'paid'"]}
COLUMNS = ("orders.id", "orders.amount", "orders.status", "customers.name", "regions.name", "users.name")


def note(door: OnRecord, text: str, *references: str, id: str | None = None) -> str:
    return str(slayer.save_memory(door, text, list(references), id=id)["memory_id"])


def example(door: OnRecord, text: str, id: str | None = None, **query: Any) -> str:
    return str(slayer.save_memory(door, text, {"source_model": "orders", **query}, id=id)["memory_id"])


def told(door: OnRecord, **asked: Any) -> dict[str, list[str]]:
    found = slayer.search(door, **asked)
    return {name: ids(found[name]) for name in ("memories", "example_queries", "entities")}


class TestShapes:
    def test_each_list_has_its_own_fields(self, quick: OnRecord) -> None:
        note(quick, "amounts are net of refunds", "orders.amount")
        example(quick, "total paid amounts", **{k: v for k, v in PAID.items() if k != "source_model"})
        found = slayer.search(quick, entities=["orders.amount"], question="amounts")
        assert set(found) == {
            *("memories", "example_queries", "entities", "resolved_input_entities", "warnings"),
        }
        (memory,), (query,) = found["memories"], found["example_queries"]
        assert set(memory) == {"id", "score", "text", "matched_entities", "author", "tier"}
        assert set(query) == {*memory, "query"}
        assert query["query"]["source_model"] == "orders"
        assert memory["text"] == "amounts are net of refunds"
        assert memory["matched_entities"] == [AMOUNT]
        assert found["resolved_input_entities"] == [AMOUNT]
        for entity in found["entities"]:
            assert set(entity) == {"id", "kind", "score", "text"}
            assert entity["kind"] in ("datasource", "model", "column", "measure", "aggregation")

    def test_notes_and_examples_never_stand_in_each_others_list(self, quick: OnRecord) -> None:
        notes = [note(quick, "about amounts", "orders.amount") for _ in range(3)]
        examples = [example(quick, "about amounts", measures=["amount:sum"]) for _ in range(3)]
        for asked in ({"entities": [AMOUNT]}, {"question": "amounts"}, {}):
            found = told(quick, **asked)  # type: ignore[arg-type]
            assert set(found["memories"]) == set(notes)
            assert set(found["example_queries"]) < set(examples)

    def test_by_default_there_are_five_notes_two_examples_and_five_entities(self, quick: OnRecord) -> None:
        for _ in range(7):
            note(quick, "the orders", "mydb.orders")
            example(quick, "the orders")
        found = told(quick, entities=["mydb.orders"], question="orders id name")
        assert [len(each) for each in found.values()] == [5, 2, 5]


class TestByEntities:
    """Each reference is a word, and a memory is the better the more precise it is."""

    def test_a_precise_note_comes_before_one_about_fifty_things(
        self, memory: OnRecord, tmp_path: Path
    ) -> None:
        wide = model("mydb", "wide", " ".join(f"c{number}" for number in range(50)))
        memory.ingest(str(write_models(tmp_path / "layer", [*shop(), wide])))
        others = [f"wide.c{number}" for number in range(50)]
        note(memory, "b", "orders.amount", *others, id="b")
        note(memory, "a", "orders.amount", id="a")
        assert told(memory, entities=["orders.amount"])["memories"] == ["a", "b"]

    def test_a_note_about_both_things_comes_first(self, quick: OnRecord) -> None:
        note(quick, "one", "orders.amount", id="one")
        note(quick, "other", "orders.status", id="other")
        note(quick, "both", "orders.amount", "orders.status", id="both")
        found = slayer.search(quick, entities=["orders.amount", "orders.status"])["memories"]
        assert ids(found)[0] == "both"
        assert found[0]["matched_entities"] == [AMOUNT, "mydb.orders.status"]

    def test_in_a_small_store_a_common_reference_still_counts_for_a_note(self, quick: OnRecord) -> None:
        for number in range(4):
            note(quick, "a note", "orders.amount", id=f"n{number}")
        assert len(told(quick, entities=["orders.amount"])["memories"]) == 4

    def test_only_what_is_about_one_of_them_is_found(self, quick: OnRecord) -> None:
        note(quick, "the amount of orders", "orders.status")
        note(quick, "untagged words", "mydb.orders")
        found = slayer.search(quick, entities=["orders.amount"])
        assert (found["memories"], found["entities"]) == ([], [])

    def test_the_entities_of_a_draft_count_as_given(self, quick: OnRecord) -> None:
        here = note(quick, "paid means settled", "orders.status")
        there = example(quick, "all paid ones", filters=["status = 'paid'"])
        found = slayer.search(quick, query=PAID)
        assert (ids(found["memories"]), ids(found["example_queries"])) == ([here], [there])
        assert found["resolved_input_entities"] == ["mydb.orders", AMOUNT, "mydb.orders.status"]
        both = slayer.search(quick, query=PAID, entities=["users", "orders.amount:sum"])
        assert both["resolved_input_entities"] == [
            *("other.users", AMOUNT, "mydb.orders", "mydb.orders.status"),
        ]

    def test_a_linked_note_is_found_by_its_link(self, quick: OnRecord) -> None:
        first = note(quick, "first", "orders.id")
        second = note(quick, "second", f"memory:{first}")
        assert told(quick, entities=[f"memory:{first}"])["memories"] == [second]


class TestLenience:
    """What is not understood is told, and the rest of the search goes on."""

    @pytest.mark.parametrize(
        "unknown", ["memory:nonexistent", "nonexistent_thing", "mydb.no_such", "amount", "*:count", "x y"]
    )
    def test_an_unknown_reference_is_dropped_with_a_warning(self, quick: OnRecord, unknown: str) -> None:
        here = note(quick, "a note", "orders.status")
        found = slayer.search(quick, entities=[unknown, "orders.status"])
        assert ids(found["memories"]) == [here]
        assert found["resolved_input_entities"] == ["mydb.orders.status"]
        (warning,) = found["warnings"]
        assert "dropped" in warning
        assert unknown.removeprefix("memory:") in warning

    def test_where_every_reference_is_dropped_nothing_is_found(self, quick: OnRecord) -> None:
        note(quick, "a note", "orders.status")
        found = slayer.search(quick, entities=["nonexistent_thing"])
        assert (found["memories"], found["resolved_input_entities"]) == ([], [])
        assert len(found["warnings"]) == 1

    @pytest.mark.parametrize(
        "draft",
        [
            {"source_model": "orders", "filters": ["no_such > 1"]},
            {"source_model": "no_such"},
            {"nonsense": 1},
            {},
        ],
    )
    def test_a_draft_that_cannot_be_read_is_dropped_with_one_warning(
        self, quick: OnRecord, draft: dict[str, Any]
    ) -> None:
        here = note(quick, "a note", "orders.status")
        found = slayer.search(quick, query=draft, entities=["orders.status"])
        assert ids(found["memories"]) == [here]
        (warning,) = found["warnings"]
        assert warning.startswith("query input dropped:")
        assert slayer.search(quick, query=draft)["memories"] == []

    @pytest.mark.parametrize("item", [7, None, True])
    def test_a_reference_that_is_no_text_is_refused(self, quick: OnRecord, item: Any) -> None:
        with pytest.raises(Invalid, match="entities"):
            slayer.search(quick, entities=["orders", item])

    @pytest.mark.parametrize("cap", ["max_memories", "max_example_queries", "max_entities"])
    @pytest.mark.parametrize("most", [-1, -7])
    def test_a_cap_below_zero_is_refused_by_name_and_value(
        self, quick: OnRecord, cap: str, most: int
    ) -> None:
        with pytest.raises(Invalid, match=rf"{cap}.*{most}"):
            slayer.search(quick, **{cap: most})  # type: ignore[arg-type]

    @pytest.mark.parametrize("name", ["max_memories", "max_example_queries", "max_entities"])
    @pytest.mark.parametrize("cap", [201, 10_000, 10**30])
    def test_a_cap_may_be_as_high_as_one_likes(self, quick: OnRecord, name: str, cap: int) -> None:
        note(quick, "orders", "orders.id")
        example(quick, "orders")
        lowest = slayer.search(
            quick, question="orders", max_memories=9, max_example_queries=9, max_entities=9
        )
        found = slayer.search(
            quick,
            question="orders",
            **{"max_memories": 9, "max_example_queries": 9, "max_entities": 9, name: cap},
        )
        assert (found["memories"], found["example_queries"]) == (
            lowest["memories"],
            lowest["example_queries"],
        )
        assert found["entities"][:9] == lowest["entities"]

    def test_a_cap_of_zero_empties_a_list(self, quick: OnRecord) -> None:
        note(quick, "a note on orders", "orders.status")
        caps = {"max_memories": 0, "max_example_queries": 0, "max_entities": 0}
        found = told(quick, question="orders", entities=["orders.status"], **caps)
        assert found == {"memories": [], "example_queries": [], "entities": []}
        assert told(quick, **caps) == found


@pytest.fixture(scope="module")
def asked_anything(ground: Ground) -> OnRecord:
    door = ground.empty()
    note(door, "refunds are booked a month later", "invoices.amount", id="here")
    return door


class TestByQuestion:
    def test_words_find_notes_examples_and_entities(self, quick: OnRecord) -> None:
        here = note(quick, "refunds are booked a month later", "invoices.amount")
        there = example(quick, "refunds by status", dimensions=["status"])
        found = told(quick, question="when are refunds booked?")
        assert found["memories"] == [here]
        assert found["example_queries"] == [there]

    def test_entities_of_every_kind_are_found_by_their_names(self, quick: OnRecord) -> None:
        found = slayer.search(quick, question="mydb orders aov weighted_score status", max_entities=50)
        kinds = {hit["id"]: hit["kind"] for hit in found["entities"]}
        assert kinds["mydb"] == "datasource"
        assert kinds["mydb.orders"] == "model"
        assert kinds["mydb.orders.status"] == "column"
        assert kinds["mydb.orders.aov"] == "measure"
        assert kinds["mydb.orders.weighted_score"] == "aggregation"

    @pytest.mark.parametrize(
        "canonical", ["mydb.orders.amount", "mydb.invoices.amount", "mydb.customers.region_id", "other.users"]
    )
    def test_a_canonical_name_finds_the_entity_first(self, quick: OnRecord, canonical: str) -> None:
        assert told(quick, question=f"what is {canonical}?")["entities"][0] == canonical

    @pytest.mark.parametrize("question", ["customer", "order dates", "region"])
    def test_names_are_found_by_their_words_and_stems(self, quick: OnRecord, question: str) -> None:
        assert told(quick, question=question)["entities"]

    def test_a_note_is_found_by_the_names_of_its_tags(self, quick: OnRecord) -> None:
        here = note(quick, "never trust this one", "orders.customer_id")
        assert told(quick, question="what about customer_id?")["memories"] == [here]

    def test_what_is_about_it_comes_before_what_only_sounds_like_it(self, quick: OnRecord) -> None:
        """Also notes whose own words mean nothing of the kind, so that no vector is near."""
        about = {
            "orders.ordered_at": "in {0,1,NULL}; treat NULL as not returned",
            "orders.status": "'open' and 'paid' are the usual ones",
            "orders.amount": "net of tax, in euro",
            "orders.aov": "use only for full months",
        }
        others = {
            "regions.name": "aisle, rack, level",
            "users.name": "includes bonuses",
            "regions.id": "negative while a count is under way",
            "customers.name": "set by sales by hand, often out of date",
            "invoices.amount": "stored in cents",
        }
        saved = {reference: note(quick, text, reference) for reference, text in (others | about).items()}
        for question in ("orders", "what about orders?"):
            found = ids(slayer.search(quick, question=question)["memories"])
            assert set(found[:4]) == {saved[reference] for reference in about}

    def test_a_preview_is_searched_too(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "a note", ["orders.id"], id="a", description="mind the surcharge")
        assert told(quick, question="surcharge")["memories"] == ["a"]

    def test_what_is_hidden_is_never_found(self, memory: OnRecord, tmp_path: Path) -> None:
        models = [
            model("mydb", "orders", "visible secretive"),
            model("mydb", "clandestine", "id", hidden=True),
        ]
        models[0]["columns"][1]["hidden"] = True
        memory.ingest(str(write_models(tmp_path / "layer", models)))
        assert told(memory, question="visible")["entities"][0] == "mydb.orders.visible"
        for hidden in ("secretive", "clandestine", "mydb.orders.secretive"):
            found = told(memory, question=hidden, max_entities=50)["entities"]
            assert not [name for name in found if hidden.rpartition(".")[2] in name]
        assert told(memory, question="secretive clandestine")["entities"] == []

    def test_what_is_only_in_meta_is_never_found(self, memory: OnRecord, tmp_path: Path) -> None:
        models = [model("mydb", "orders", "id", meta={"owner": "zebulon"}, description="all purchases")]
        memory.ingest(str(write_models(tmp_path / "layer", models)))
        assert told(memory, question="zebulon")["entities"] == []
        assert told(memory, question="purchases")["entities"] == ["mydb.orders"]

    @pytest.mark.parametrize(
        "question",
        [
            "refunds:",
            "refunds: booked",
            'the "refunds',
            "refunds' ledger",
            "(refunds",
            "refunds) AND (",
            "title:refunds^2~",
            "refunds OR",
            "+refunds -later",
            "[refunds TO",
            "refunds \\",
            "NOT refunds *",
            "{refunds}",
        ],
    )
    def test_marks_in_a_question_lose_none_of_its_words(self, quick: OnRecord, question: str) -> None:
        here = note(quick, "refunds are booked a month later", "invoices.amount")
        assert told(quick, question=question)["memories"] == [here]

    @pytest.mark.parametrize("question", ["?!", "::", '"', "(((", "…", "-", "*:*"])
    def test_a_question_of_marks_alone_does_no_harm(self, quick: OnRecord, question: str) -> None:
        note(quick, "refunds are booked a month later", "invoices.amount")
        found = slayer.search(quick, question=question)
        assert found["warnings"] == []
        assert found["memories"] == []

    @pytest.mark.usefixtures("words_alone")  # with vectors, what is unrelated comes too
    def test_a_question_of_words_that_nobody_wrote_finds_nothing(self, quick: OnRecord) -> None:
        note(quick, "refunds are booked a month later", "invoices.amount")
        assert told(quick, question="' OR 1=1")["memories"] == []

    @settings(max_examples=tries(15, soaking=200))
    @given(question=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
    def test_no_question_does_harm(self, asked_anything: OnRecord, question: str) -> None:
        assert set(told(asked_anything, question=f"{question} refunds")["memories"]) <= {"here"}
        # Among many words that nobody wrote, the one that is met is no longer what the question is about.
        found = asked_anything.search(f"{question} refunds", min_relevance=0)
        assert [hit.id for hit in found.memories] == ["here"]

    def test_an_empty_list_of_entities_leaves_the_question_alone(self, quick: OnRecord) -> None:
        here = note(quick, "refunds are booked a month later", "invoices.amount")
        found = slayer.search(quick, entities=[], question="refunds")
        assert ids(found["memories"]) == [here]
        assert found["warnings"] == []

    def test_both_channels_together_come_before_either(self, quick: OnRecord) -> None:
        note(quick, "refunds are booked later", "customers.name", id="words")
        note(quick, "something else", "orders.amount", id="tag")
        note(quick, "refunds of orders", "orders.amount", id="both")
        found = told(quick, question="refunds", entities=["orders.amount"])["memories"]
        assert found[0] == "both"
        assert set(found) == {"words", "tag", "both"}

    def test_without_an_embedder_the_answer_says_so(self, words_alone: None, quick: OnRecord) -> None:
        assert slayer.search(quick, question="refunds")["warnings"] == [
            "embedding channel skipped: no embedder is configured."
        ]
        assert slayer.search(quick, entities=["mydb.orders"])["warnings"] == []

    def test_ties_go_to_what_was_saved_first(self, quick: OnRecord) -> None:
        saved = [note(quick, "the very same words", "orders.id") for _ in range(5)]
        for _ in range(3):
            assert told(quick, question="same words")["memories"] == saved
            assert told(quick, entities=["orders.id"])["memories"] == saved


class TestRecency:
    def test_with_nothing_given_the_newest_of_each_kind_come_back(self, quick: OnRecord, clock: Any) -> None:
        notes, examples = [], []
        for _ in range(4):
            clock.tick(minutes=1)
            notes.append(note(quick, "a note", "orders.id"))
            clock.tick(minutes=1)
            examples.append(example(quick, "an example"))
        found = slayer.search(quick, max_memories=3)
        assert ids(found["memories"]) == notes[:0:-1]
        assert ids(found["example_queries"]) == examples[:1:-1]
        assert (found["entities"], found["resolved_input_entities"]) == ([], [])
        (warning,) = found["warnings"]
        assert "no entities, query, or question supplied" in warning

    @pytest.mark.parametrize("nothing", [{"question": "  \n"}, {"entities": []}, {"question": ""}])
    def test_what_is_empty_counts_as_not_given(self, quick: OnRecord, nothing: dict[str, Any]) -> None:
        here = note(quick, "a note", "orders.id")
        found = slayer.search(quick, **nothing)
        assert ids(found["memories"]) == [here]
        assert len(found["warnings"]) == 1

    def test_saving_again_makes_a_note_no_newer(self, quick: OnRecord, clock: Any) -> None:
        note(quick, "first", "orders.id", id="old")
        clock.tick(days=1)
        note(quick, "second", "orders.id", id="new")
        clock.tick(days=1)
        note(quick, "first, in other words", "orders.id", id="old")
        assert told(quick)["memories"] == ["new", "old"]

    def test_the_newest_are_found_among_very_many(self, quick: OnRecord, clock: Any) -> None:
        for number in range(230):
            clock.tick()
            note(quick, "a note", "orders.id", id=f"n{number}")
        clock.tick()
        example(quick, "the only example", id="rare")
        for number in range(205):
            clock.tick()
            note(quick, "in other words", "orders.id", id=f"n{number}")
        assert told(quick, max_memories=2) == {
            "memories": ["n229", "n228"],
            "example_queries": ["rare"],
            "entities": [],
        }


class TestDatasource:
    """Who asks about one datasource gets nothing of another, in any list."""

    @pytest.fixture
    def two(self, memory: OnRecord, tmp_path: Path) -> OnRecord:
        models = [
            model("prod", "orders", "id amount"),
            model("prod_v2", "orders", "id amount"),
            model("prod", "items", "id price"),
        ]
        memory.ingest(str(write_models(tmp_path / "layer", models, priority=["prod"])))
        note(memory, "amounts here", "prod.orders.amount", id="here")
        note(memory, "amounts there", "prod_v2.orders.amount", id="there")
        note(memory, "amounts in both", "prod.orders.amount", "prod_v2.orders.amount", id="both")
        note(memory, "amounts of all kinds", "prod", id="root")
        slayer.save_memory(memory, "amounts once", ["prod.items.price"], id="bare")
        slayer.edit_model_remove(memory, "items", ["price"])
        return memory

    @pytest.mark.parametrize(
        "asked", [{"question": "amounts"}, {}, {"entities": ["prod.orders.amount", "prod_v2.orders.amount"]}]
    )
    def test_only_notes_rooted_there_are_found(self, two: OnRecord, asked: dict[str, Any]) -> None:
        by_tag = "entities" in asked
        here = {"here", "both"} | (set() if by_tag else {"root"})
        assert set(told(two, datasource="prod", **asked)["memories"]) == here
        assert set(told(two, datasource="prod_v2", **asked)["memories"]) == {"there", "both"}

    def test_an_untagged_note_drops_out(self, two: OnRecord) -> None:
        assert two.show("bare").memory.entities == ()
        assert "bare" in told(two, question="amounts")["memories"]
        assert "bare" not in told(two, question="amounts", datasource="prod")["memories"]

    def test_only_entities_of_it_are_found(self, two: OnRecord) -> None:
        found = told(two, question="prod orders amount", datasource="prod", max_entities=50)["entities"]
        assert {name.partition(".")[0] for name in found} == {"prod"}

    @pytest.mark.parametrize("datasource", ["no_such", "pro", "prod.orders", "PROD"])
    def test_an_unknown_one_is_refused_before_anything_else(self, two: OnRecord, datasource: str) -> None:
        with pytest.raises(Invalid) as problem:
            slayer.search(two, datasource=datasource, entities=["nonexistent_thing"], question="amounts")
        for word in ("datasource", datasource, "prod", "prod_v2"):
            assert word in str(problem.value)

    def test_how_rare_a_thing_is_counts_within_it(self, quick: OnRecord, tmp_path: Path) -> None:
        models = [model("prod", "t", "often usual rare"), model("elsewhere", "t", "x")]
        quick.ingest(str(write_models(tmp_path / "layer", models)))
        for number in range(9):
            note(quick, "a note", "prod.t.often", "prod.t.usual", id=f"often{number}")
        note(quick, "a note", "prod.t.rare", id="rare")
        for number in range(200):
            note(quick, "a note", "elsewhere.t.x", id=f"x{number}")
        three = ["prod.t.often", "prod.t.usual", "prod.t.rare"]
        # Among so many others two things that nine are about say more than one; among these ten they say little.
        assert told(quick, entities=three)["memories"][0] == "often0"
        assert told(quick, entities=three, datasource="prod")["memories"][0] == "rare"

    def test_it_is_filled_however_many_others_are_better(self, quick: OnRecord) -> None:
        for number in range(260):
            note(quick, "refunds refunds refunds", "users.name", id=f"o{number}")
        note(quick, "a long note in which there is a word on refunds at last", "orders.id", id="mine")
        assert told(quick, question="refunds", datasource="mydb")["memories"] == ["mine"]


class TestCaps:
    """A cap cuts its own list, and changes nothing else."""

    @settings(max_examples=tries(15, soaking=200))
    @given(
        notes=st.lists(st.sampled_from(COLUMNS), max_size=8),
        examples=st.lists(st.sampled_from(["status", "amount", "id"]), max_size=6),
        caps=st.tuples(*[st.integers(0, 9)] * 3),
        question=st.sampled_from([None, "orders status", "name of the customers"]),
        entities=st.lists(st.sampled_from(COLUMNS), max_size=2),
    )
    def test_no_cap_changes_the_members_or_the_order_of_another_list(
        self,
        ground: Ground,
        notes: list[str],
        examples: list[str],
        caps: tuple[int, int, int],
        question: str | None,
        entities: list[str],
    ) -> None:
        door = ground.empty()
        for column in notes:
            note(door, f"a note on {column}", column)
        for column in examples:
            example(door, f"an example of {column}", dimensions=[column])
        asked: dict[str, Any] = {"question": question, "entities": entities}
        whole = told(door, **asked, max_memories=200, max_example_queries=200, max_entities=200)
        names = ("max_memories", "max_example_queries", "max_entities")
        cut = told(door, **asked, **dict(zip(names, caps, strict=True)))
        for (name, full), most in zip(whole.items(), caps, strict=True):
            assert cut[name] == full[:most]

    def test_scores_do_not_depend_on_them_either(self, quick: OnRecord) -> None:
        for number in range(6):
            note(quick, f"orders {number}", "mydb.orders")
            example(quick, f"orders {number}")
        wide = slayer.search(quick, question="orders", max_memories=6, max_entities=50)
        narrow = slayer.search(quick, question="orders", max_memories=2, max_entities=1)
        assert narrow["memories"] == wide["memories"][:2]
        assert narrow["entities"] == wide["entities"][:1]
        assert narrow["example_queries"] == wide["example_queries"]


class TestStaleTags:
    """What a note is about may be gone; it then counts for nothing, and nothing is written."""

    @pytest.fixture
    def stale(self, memory: OnRecord, models: Path) -> OnRecord:
        """Notes that were saved before there was a catalog, with tags that it does not have."""
        gone = [f"gone.t{number}.c" for number in range(40)]
        memory.remember("a note", id="stale", entities=["mydb.orders.amount", *gone], dedupe=False)
        memory.remember("a note", id="pair", entities=["mydb.orders.amount", "mydb.orders.id"], dedupe=False)
        memory.remember("only what is gone", id="lost", entities=gone[:1], dedupe=False)
        memory.ingest(str(models))
        return memory

    def test_they_do_not_make_a_note_less_precise(self, stale: OnRecord) -> None:
        assert told(stale, entities=["orders.amount"])["memories"] == ["stale", "pair"]

    @pytest.mark.usefixtures("words_alone")  # by its meaning, any note may come
    def test_their_words_bring_no_note(self, stale: OnRecord) -> None:
        assert told(stale, question="t7")["memories"] == []
        assert set(told(stale, question="orders")["memories"]) == {"stale", "pair"}

    def test_they_are_not_shown(self, stale: OnRecord) -> None:
        found = slayer.search(stale, entities=["orders.amount", "gone.t0.c"])
        assert {hit["id"]: hit["matched_entities"] for hit in found["memories"]} == {
            "stale": [AMOUNT],
            "pair": [AMOUNT],
        }
        assert found["resolved_input_entities"] == [AMOUNT]

    def test_where_all_are_stale_none_counts(self, stale: OnRecord) -> None:
        assert told(stale, entities=["gone.t0.c"])["memories"] == []
        # The note is still there for its words.
        assert told(stale, question="gone")["memories"][0] == "lost"

    def test_a_catalog_that_lost_everything_still_says_that_tags_are_stale(self, quick: OnRecord) -> None:
        note(quick, "a note", "users.name", id="n")
        slayer.delete_datasource(quick, "other")
        slayer.delete_datasource(quick, "mydb")
        assert told(quick, entities=["other.users.name"])["memories"] == []
        assert quick.show("n").memory.entities == ()

    def test_nothing_is_written_back(self, stale: OnRecord) -> None:
        before = stale.show("stale").memory
        slayer.search(stale, entities=["orders.amount"], question="note")
        assert stale.show("stale").memory == before

    @pytest.mark.parametrize("asked", [{"question": "paid"}, {"entities": ["mydb.orders"]}, {}])
    def test_an_example_with_a_broken_query_is_shown_as_it_is_with_a_warning(
        self, quick: OnRecord, asked: dict[str, Any]
    ) -> None:
        id = example(quick, "paid ones", dimensions=["status"])
        before = quick.show(id).memory.query
        slayer.edit_model_remove(quick, "orders", ["status"])
        found = slayer.search(quick, **asked)
        (hit,) = found["example_queries"]
        assert hit["query"] == before
        (warning,) = [each for each in found["warnings"] if "stale" in each]
        assert f"memory:{id}" in warning
        assert "status" in warning

    def test_an_example_that_is_not_shown_is_not_warned_of(self, quick: OnRecord) -> None:
        example(quick, "an example", dimensions=["amount"])
        slayer.edit_model_remove(quick, "orders", ["amount"])
        found = slayer.search(quick, max_example_queries=0)
        assert not [each for each in found["warnings"] if "stale" in each]


class TestNobodyIsPreferred:
    """A search ranks alike for everyone: no conversation, no check and no circle raises a memory."""

    def test_the_conversation_of_the_caller_raises_nothing(self, quick: OnRecord) -> None:
        note(quick, "refunds of orders", "orders.id", id="first")
        inside = quick.as_caller(quick.caller.inside("here"))
        note(inside, "refunds of orders", "orders.id", id="mine")
        for asked in ({"question": "refunds"}, {"entities": ["orders.id"]}):
            assert told(inside, **asked)["memories"] == ["first", "mine"]  # type: ignore[arg-type]

    def test_a_note_that_was_checked_is_not_raised(self, quick: OnRecord, clock: Any) -> None:
        note(quick, "refunds of orders", "orders.id", id="first")
        note(quick, "refunds of orders", "orders.id", id="checked")
        quick.revise("checked", verified_at=clock())
        assert told(quick, question="refunds")["memories"] == ["first", "checked"]

    def test_a_private_note_of_another_is_never_found(self, quick: OnRecord) -> None:
        saved = quick.remember("refunds of orders", id="mine", scope="user", entities=["orders.id"])
        mine = saved.memory.id
        bob = quick.as_caller(Caller(tenant=quick.caller.tenant, user="bob"))
        for asked in ({"question": "refunds"}, {"entities": ["orders.id"]}, {}):
            assert told(bob, **asked)["memories"] == []  # type: ignore[arg-type]
            assert told(quick, **asked)["memories"] == [mine]  # type: ignore[arg-type]
        assert slayer.forget_memory(quick, mine) == {"deleted_id": mine}


class TestForEveryone:
    def test_a_global_note_is_found_and_forgotten_under_its_full_id(self, quick: OnRecord) -> None:
        here = note(quick, "refunds of orders", "orders.id")
        there = quick.remember("refunds everywhere", scope="global", entities=["mydb.orders.id"]).memory.id
        for asked in ({"question": "refunds"}, {"entities": ["orders.id"]}, {}):
            assert set(told(quick, **asked)["memories"]) == {here, there}  # type: ignore[arg-type]
        assert all(hit["kind"] for hit in slayer.search(quick, question="refunds orders")["entities"])
        assert slayer.forget_memory(quick, there) == {"deleted_id": there}


class TestWithoutCatalog:
    """Where nothing was read there is nothing to compare with: other doors take references as they are given."""

    def test_a_note_is_found_by_what_it_was_saved_with(self, memory: OnRecord) -> None:
        here = memory.remember("a note", entities=["shop.orders"]).memory.id
        found = slayer.search(memory, entities=["shop.orders"])
        assert (ids(found["memories"]), found["warnings"]) == ([here], [])
        assert found["memories"][0]["matched_entities"] == ["shop.orders"]
        assert told(memory, question="orders") == {"memories": [here], "example_queries": [], "entities": []}

    def test_no_datasource_is_known(self, memory: OnRecord) -> None:
        with pytest.raises(Invalid, match="datasource"):
            slayer.search(memory, datasource="shop")


class TestMeaning:
    @pytest.fixture
    def embedding(self, models: Path) -> Any:
        with connect(":memory:", embedder=StubEmbedder()) as door:
            door.ingest(str(models))
            door.embed_missing()
            yield door

    def test_vectors_are_a_channel_of_their_own(self, embedding: OnRecord) -> None:
        note(embedding, "refunds are booked later", "orders.amount", id="near")
        note(embedding, "customers in the north", "customers.name", id="far")
        found = slayer.search(embedding, question="refunds are booked")
        assert ids(found["memories"])[0] == "near"
        assert found["warnings"] == []
        assert found["entities"]

    def test_the_datasource_holds_there_too(self, embedding: OnRecord) -> None:
        note(embedding, "refunds are booked later", "users.name", id="there")
        note(embedding, "refunds in the north", "customers.name", id="here")
        assert told(embedding, question="refunds", datasource="mydb")["memories"] == ["here"]

    def test_what_has_no_vectors_yet_is_told(self, models: Path) -> None:
        with connect(":memory:", embedder=StubEmbedder()) as door:
            door.ingest(str(models))
            (warning,) = slayer.search(door, question="orders")["warnings"]
            assert "have no vectors yet" in warning


class TestOneList:
    """The later form of a search: one list of all kinds, with previews."""

    def test_all_kinds_stand_in_one_list_best_first(self, quick: OnRecord) -> None:
        note(quick, "orders have an amount\n\nand more", "orders.amount", id="note")
        example(quick, "amount of orders", id="example", measures=["amount:sum"])
        found = slayer.search_flat(quick, question="amount of orders", max_results=50)
        assert {hit["kind"] for hit in found["results"]} >= {"memory", "column"}
        scores = [hit["score"] for hit in found["results"]]
        assert scores == sorted(scores, reverse=True)
        by_id = {hit["id"]: hit for hit in found["results"]}
        assert by_id["note"]["description"] == "orders have an amount"
        assert by_id["example"]["query"]["source_model"] == "orders"
        assert {hit["text"] for hit in found["results"]} == {""}

    def test_not_compact_the_texts_are_there(self, quick: OnRecord) -> None:
        note(quick, "orders have an amount", "orders.amount")
        found = slayer.search_flat(quick, entities=["orders.amount"], compact=False)
        by_kind = {hit["kind"]: hit["text"] for hit in found["results"]}
        assert by_kind["memory"] == "orders have an amount"
        assert by_kind["column"].startswith(AMOUNT)

    @pytest.mark.parametrize(
        ("reference", "kind"),
        [
            ("mydb", "datasource"),
            ("mydb.orders", "model"),
            (AMOUNT, "column"),
            ("mydb.orders.aov", "measure"),
            ("mydb.orders.weighted_score", "aggregation"),
        ],
    )
    def test_an_entity_that_is_named_is_found_itself(
        self, quick: OnRecord, reference: str, kind: str
    ) -> None:
        (hit,) = slayer.search_flat(quick, entities=[reference], compact=False)["results"]
        assert (hit["id"], hit["kind"], hit["matched_entities"]) == (reference, kind, [reference])
        assert hit["text"].startswith(reference)
        assert hit["score"] > 0
        # The form of three lists leaves it out: whoever named it knows it.
        assert slayer.search(quick, entities=[reference])["entities"] == []

    def test_an_entity_that_is_named_and_asked_for_comes_first_and_once(self, quick: OnRecord) -> None:
        found = slayer.search_flat(quick, entities=["invoices.amount"], question="amount", max_results=50)
        names = ids(found["results"])
        assert names[0] == "mydb.invoices.amount"
        assert len(names) == len(set(names))
        assert AMOUNT in names

    def test_the_entities_of_a_draft_are_named_too(self, quick: OnRecord) -> None:
        found = slayer.search_flat(quick, query=PAID)
        assert set(ids(found["results"])) == {"mydb.orders", AMOUNT, "mydb.orders.status"}

    def test_a_memory_that_is_named_is_found_itself_before_those_that_link_to_it(
        self, quick: OnRecord
    ) -> None:
        note(quick, "the rule", "orders.id", id="rule")
        note(quick, "an exception to it", "memory:rule", id="exception")
        found = slayer.search_flat(quick, entities=["memory:rule"], compact=False)
        by_id = {hit["id"]: hit for hit in found["results"]}
        assert set(by_id) == {"rule", "exception"}
        assert by_id["rule"]["matched_entities"] == ["memory:rule"]
        assert by_id["rule"]["text"] == "the rule"
        assert ids(slayer.search(quick, entities=["memory:rule"])["memories"]) == ["exception"]

    def test_an_example_that_is_named_keeps_its_query(self, quick: OnRecord) -> None:
        example(quick, "orders by status", id="example", dimensions=["status"])
        (hit,) = slayer.search_flat(quick, entities=["memory:example"])["results"]
        assert hit["query"]["source_model"] == "orders"
        assert hit["description"] == "orders by status"

    def test_what_is_named_must_lie_in_the_datasource(self, quick: OnRecord) -> None:
        note(quick, "a note", "users.name", id="there")
        asked = ["mydb.orders", "other.users", "memory:there"]
        assert set(ids(slayer.search_flat(quick, entities=asked, datasource="other")["results"])) == {
            *("other.users", "there")
        }

    def test_what_is_hidden_is_not_found_though_it_is_named(self, memory: OnRecord, tmp_path: Path) -> None:
        models = [model("mydb", "orders", "id", hidden=True)]
        memory.ingest(str(write_models(tmp_path / "layer", models)))
        found = slayer.search_flat(memory, entities=["mydb.orders"])
        assert found["resolved_input_entities"] == ["mydb.orders"]
        assert found["results"] == []

    def test_without_a_catalog_a_name_finds_the_notes_alone(self) -> None:
        with connect(":memory:", embedder="none") as bare:
            bare.remember("a note", entities=["orders"])
            assert ids(slayer.search_flat(bare, entities=["orders"])["results"]) == ["1"]

    @pytest.mark.parametrize(
        ("labels", "kinds"),
        [
            (":Memory", {"memory"}),
            (":Column", {"column"}),
            (":Memory:Column", {"memory", "column"}),
            (":Model:Measure:Datasource:Aggregation", {"model", "measure", "datasource", "aggregation"}),
        ],
    )
    def test_labels_keep_their_kinds(self, quick: OnRecord, labels: str, kinds: set[str]) -> None:
        note(quick, "amount of orders", "orders.amount")
        asked = "mydb orders amount aov weighted_score"
        form = f"MATCH (n{labels}) RETURN n.id AS id"
        found = slayer.search_flat(quick, question=asked, cypher_filter=form, max_results=100)["results"]
        assert {hit["kind"] for hit in found} == kinds

    def test_kinds_are_kept_before_the_list_is_cut(self, quick: OnRecord) -> None:
        for _ in range(5):
            note(quick, "customers customers customers", "customers.name")
        every = slayer.search_flat(quick, question="customers", max_results=100)["results"]
        form = "match (m : Column) return m.id as id;"
        (first,) = slayer.search_flat(quick, question="customers", cypher_filter=form, max_results=1)[
            "results"
        ]
        assert every[0]["kind"] != "column"
        assert first["id"] == next(hit["id"] for hit in every if hit["kind"] == "column")

    @pytest.mark.parametrize(
        ("form", "told"),
        [
            ("", "MATCH"),
            ("MATCH (n) RETURN n.id AS id", "MATCH (n:Memory:Column) RETURN n.id AS id"),
            ("MATCH (n:Memory) RETURN m.id AS id", "RETURN m.id"),
            ("MATCH (n:Memory) RETURN n.id", "labels alone"),
            ("MATCH (n:Memory) WHERE n.id = '1' RETURN n.id AS id", "WHERE"),
            ("MATCH (n:Memory)-[:ABOUT]->(m:Column) RETURN n.id AS id", "ABOUT"),
            ("MATCH (n:Memory:Table) RETURN n.id AS id", "'Table'"),
            ("MATCH (n:memory) RETURN n.id AS id", "'memory'"),
        ],
    )
    def test_any_other_filter_is_refused(self, quick: OnRecord, form: str, told: str) -> None:
        with pytest.raises(Invalid) as problem:
            slayer.search_flat(quick, question="orders", cypher_filter=form)
        assert "cypher_filter" in str(problem.value)
        assert told in str(problem.value)

    @settings(max_examples=tries(15, soaking=200))
    @given(st.text() | st.text("MATCH (n:emory)RUid.AS;"))
    def test_no_filter_does_harm(self, ground: Ground, form: str) -> None:
        try:
            slayer.search_flat(ground.first, question="orders", cypher_filter=form)
        except Invalid as problem:
            assert "cypher_filter" in str(problem)

    @pytest.mark.parametrize("most", [0, -3])
    def test_it_must_be_allowed_one_result(self, quick: OnRecord, most: int) -> None:
        with pytest.raises(Invalid, match=rf"max_results.*{most}"):
            slayer.search_flat(quick, max_results=most)


def test_who_asks_for_a_name_finds_what_is_called_so_before_what_is_called_alike(quick: OnRecord) -> None:
    """`customers.id` is read as customer id, too."""
    for question in ("customer_id", "what is customer_id?", "orders.customer_id"):
        assert told(quick, question=question)["entities"][0] == "mydb.orders.customer_id"


def test_a_memory_that_is_not_there_is_dropped_with_a_warning_also_without_a_catalog() -> None:
    with connect(":memory:", embedder="none") as bare:
        bare.remember("amounts are net", id="1")
        note(bare, "see the note on amounts", "memory:1")
        found = slayer.search(bare, entities=["memory:absent", "memory:1"])
        assert found["resolved_input_entities"] == ["memory:1"]
        assert [each["text"] for each in found["memories"]] == ["see the note on amounts"]
        assert any("memory:absent" in warning for warning in found["warnings"])
