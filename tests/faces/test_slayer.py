"""WHAT does a user of the semantic layer save and forget? Notes about entities, and example queries."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.catalog.queries import read_query
from onrecord.errors import Invalid, NotFound
from onrecord.faces import slayer
from onrecord.model.rules import type_of
from onrecord.testing.embedder import StubEmbedder

from .conftest import Ground, model, write_models

AMOUNT = "mydb.orders.amount"
PAID = {
    "source_model": "orders",
    "measures": [{"formula": "amount:sum"}],
    "filters": ["status = 'paid'"],
}


def saved(door: OnRecord, *references: str) -> dict[str, Any]:
    return slayer.save_memory(door, "a note", list(references))


def resolved(door: OnRecord, *references: str) -> list[str]:
    return list(saved(door, *references)["resolved_entities"])


def of_query(door: OnRecord, **query: Any) -> list[str]:
    told = slayer.save_memory(door, "an example", {"source_model": "orders", **query})
    return list(told["resolved_entities"])


def refused(door: OnRecord, linked: Any, *words: str, **more: Any) -> str:
    """The save fails with these words, and nothing is written."""
    with pytest.raises(Invalid) as told:
        slayer.save_memory(door, "a note", linked, **more)
    for word in words:
        assert word in str(told.value)
    assert door.browse(statuses=["active", "stale", "pending"]).memories == ()
    return str(told.value)


class TestBareNames:
    def test_a_model_wins_over_a_column_of_its_name_and_says_so(self, quick: OnRecord) -> None:
        told = saved(quick, "orders")
        assert told["resolved_entities"] == ["mydb.orders"]
        (warning,) = told["warnings"]
        assert "orders" in warning
        assert "customers" in warning

    def test_the_warning_of_two_references_that_mean_the_same_comes_once(self, quick: OnRecord) -> None:
        told = saved(quick, "orders", " orders ", "mydb.orders")
        assert told["resolved_entities"] == ["mydb.orders"]
        assert len(told["warnings"]) == 1

    def test_a_column_that_one_model_has_is_found_by_its_name(self, quick: OnRecord) -> None:
        assert resolved(quick, "status") == ["mydb.orders.status"]
        assert saved(quick, "status")["warnings"] == []

    def test_a_measure_and_an_aggregation_are_found_by_their_names(self, quick: OnRecord) -> None:
        assert resolved(quick, "aov", "weighted_score") == ["mydb.orders.aov", "mydb.orders.weighted_score"]

    def test_a_column_of_two_models_is_refused_with_the_candidates(self, quick: OnRecord) -> None:
        refused(quick, ["amount"], "'amount'", "invoices", "orders")

    def test_the_first_datasource_in_the_order_decides_about_a_name(self, quick: OnRecord) -> None:
        refused(quick, ["name"], "'name'", "customers", "regions")
        quick.prioritise(datasources=["other"])
        assert resolved(quick, "name") == ["other.users.name"]

    def test_a_name_that_nothing_has_is_quoted(self, quick: OnRecord) -> None:
        refused(quick, ["nonexistent_thing"], "'nonexistent_thing'")

    def test_one_bad_reference_among_good_ones_saves_nothing(self, quick: OnRecord) -> None:
        refused(quick, ["orders.amount", "nonexistent_thing", "status"], "nonexistent_thing")

    def test_a_datasource_wins_over_a_model_of_its_name_and_says_so(self, quick: OnRecord) -> None:
        told = saved(quick, "mydb")
        assert told["resolved_entities"] == ["mydb"]
        assert "both a datasource and a model" in told["warnings"][0]

    def test_a_model_in_two_datasources_needs_one_of_them(self, quick: OnRecord, tmp_path: Path) -> None:
        twice = [model(each, "events", "id kind") for each in ("dsa", "dsb")]
        quick.ingest(str(write_models(tmp_path / "twice", twice)))
        refused(quick, ["events"], "'events'", "dsa", "dsb")
        assert resolved(quick, "dsb.events") == ["dsb.events"]
        quick.prioritise(datasources=["dsb"])
        assert resolved(quick, "events") == ["dsb.events"]

    def test_a_datasource_is_not_refused_for_an_ambiguous_model_of_its_name(
        self, quick: OnRecord, tmp_path: Path
    ) -> None:
        twice = [model(each, "mydb", "id") for each in ("dsa", "dsb")]
        quick.ingest(str(write_models(tmp_path / "twice", twice)))
        quick.prioritise(datasources=[])
        assert resolved(quick, "mydb.orders.amount", "mydb") == [AMOUNT, "mydb"]


class TestDottedNames:
    def test_a_dotted_column_is_taken_literally_without_a_warning(self, quick: OnRecord) -> None:
        told = saved(quick, "customers.orders")
        assert (told["resolved_entities"], told["warnings"]) == (["mydb.customers.orders"], [])

    @pytest.mark.parametrize(
        ("reference", "canonical"),
        [
            ("mydb", "mydb"),
            ("mydb.orders", "mydb.orders"),
            (AMOUNT, AMOUNT),
            ("orders.amount", AMOUNT),
            ("  orders.amount\t", AMOUNT),
            ("other.mydb", "other.mydb"),
            ("other.mydb.id", "other.mydb.id"),
            ("orders.aov", "mydb.orders.aov"),
            ("orders.customers", "mydb.customers"),
            ("orders.customers.regions", "mydb.regions"),
            ("orders.customers.regions.name", "mydb.regions.name"),
            ("mydb.orders.customers.regions.name", "mydb.regions.name"),
            ("orders.customers.orders", "mydb.customers.orders"),
            ("orders.*:count", "mydb.orders"),
            ("mydb.orders.*:count", "mydb.orders"),
        ],
    )
    def test_every_form_comes_to_its_canonical_name(
        self, quick: OnRecord, reference: str, canonical: str
    ) -> None:
        assert resolved(quick, reference) == [canonical]

    @pytest.mark.parametrize(
        "reference",
        [
            "orders.amount:sum",
            "orders.amount:weighted_avg(weight=amount)",
            "orders.amount:corr(other=amount)",
            "mydb.orders.amount:percentile(p=0.5)",
            "orders.amount:weighted_score",
        ],
    )
    def test_an_aggregation_is_stripped(self, quick: OnRecord, reference: str) -> None:
        assert resolved(quick, reference) == [AMOUNT]

    @pytest.mark.parametrize(
        ("reference", "segment"),
        [
            ("mydb.no_such_model", "no_such_model"),
            ("orders.no_such_column", "no_such_column"),
            ("no_such_ds.orders.amount", "no_such_ds"),
            ("orders.regions.name", "regions"),
            ("orders.customers.nowhere.name", "nowhere"),
            ("other.orders", "orders"),
            ("x y", "x y"),
            ("orders..amount", "orders..amount"),
            ("orders.amount; drop", "amount; drop"),
        ],
    )
    def test_the_bad_segment_is_quoted(self, quick: OnRecord, reference: str, segment: str) -> None:
        refused(quick, [reference], segment)

    @pytest.mark.parametrize("reference", ["*:count", "*:sum", "orders.*:sum", "*"])
    def test_rows_can_only_be_counted_and_only_those_of_a_model(
        self, quick: OnRecord, reference: str
    ) -> None:
        refused(quick, [reference], "*:count")

    def test_two_ways_to_write_it_reach_the_same_record(self, quick: OnRecord) -> None:
        saved(quick, "orders.amount:sum")
        found = slayer.search(quick, entities=[AMOUNT])
        assert found["memories"][0]["matched_entities"] == [AMOUNT]

    def test_entities_come_once_in_the_order_in_which_they_were_first_seen(self, quick: OnRecord) -> None:
        told = resolved(quick, "status", "orders.amount:sum", "orders.status", "orders.amount")
        assert told == ["mydb.orders.status", AMOUNT]


class TestLinkedEntities:
    def test_an_empty_list_is_refused(self, quick: OnRecord) -> None:
        refused(quick, [], "linked_entities", "must not be empty")

    @pytest.mark.parametrize("item", [7, None, True, ["orders"], {"a": 1}])
    def test_an_item_that_is_no_text_is_refused(self, quick: OnRecord, item: Any) -> None:
        refused(quick, ["orders", item], "linked_entities", type_of(item))

    @pytest.mark.parametrize("linked", ["orders", None, 7, {"orders"}])
    def test_what_is_neither_a_list_nor_a_query_is_refused(self, quick: OnRecord, linked: Any) -> None:
        refused(quick, linked, "linked_entities", type_of(linked))

    @pytest.mark.parametrize("reference", ["", "   "])
    def test_an_empty_reference_is_refused(self, quick: OnRecord, reference: str) -> None:
        refused(quick, [reference], "empty")

    @pytest.mark.parametrize("learning", ["", " \n\t", None, 7])
    def test_a_note_without_text_is_refused(self, quick: OnRecord, learning: Any) -> None:
        with pytest.raises(Invalid, match="learning"):
            slayer.save_memory(quick, learning, ["orders"])
        assert quick.browse().memories == ()

    def test_a_note_can_link_to_another(self, quick: OnRecord) -> None:
        first = saved(quick, "orders")["memory_id"]
        assert resolved(quick, f"memory:{first}", "orders.amount") == [f"memory:{first}", AMOUNT]

    def test_the_id_of_a_linked_note_may_look_like_an_aggregation(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "a note", ["orders"], id="sum")
        assert resolved(quick, "memory:sum") == ["memory:sum"]

    def test_a_link_to_a_note_that_is_not_there_is_refused(self, quick: OnRecord) -> None:
        refused(quick, ["memory:absent"], "'absent'")

    def test_a_preview_of_at_most_500_characters_can_be_given(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "a note", ["orders"], id="a", description="x" * 500)
        slayer.save_memory(quick, "a note", ["orders"], id="b", description="  \n ")
        assert quick.show("a").memory.hint == "x" * 500
        assert quick.show("b").memory.hint is None
        with pytest.raises(Invalid, match="description"):
            slayer.save_memory(quick, "a note", ["orders"], id="c", description="x" * 501)


class TestQueries:
    def test_counting_rows_is_about_the_model_alone(self, quick: OnRecord) -> None:
        assert of_query(quick, measures=["*:count"]) == ["mydb.orders"]

    def test_the_source_model_is_always_tagged(self, quick: OnRecord) -> None:
        assert of_query(quick) == ["mydb.orders"]

    def test_a_path_along_joins_keeps_only_its_end(self, quick: OnRecord) -> None:
        told = of_query(quick, dimensions=["orders.customers.regions.name"])
        assert told == ["mydb.orders", "mydb.regions.name"]
        assert of_query(quick, dimensions=["customers.regions.name"]) == told

    def test_dimensions_times_measures_and_filters_are_all_walked(self, quick: OnRecord) -> None:
        told = of_query(
            quick,
            dimensions=[{"name": "status"}],
            time_dimensions=[{"dimension": "ordered_at", "granularity": "month"}],
            measures=[{"formula": "amount:sum / *:count"}],
            filters=["customer_id > 3"],
        )
        parts = ["status", "ordered_at", "amount", "customer_id"]
        assert told == ["mydb.orders", *(f"mydb.orders.{part}" for part in parts)]

    def test_a_name_in_a_filter_is_looked_for_on_the_source_model_first(self, quick: OnRecord) -> None:
        told = of_query(quick, filters=["status = 'paid'", "amount > 100"])
        assert told == ["mydb.orders", "mydb.orders.status", AMOUNT]

    @pytest.mark.parametrize(
        ("condition", "parts"),
        [
            ("status = '{status_val}'", ["status"]),
            ("status = {status_val}", ["status"]),
            ("status in ('amount', \"customer_id\")", ["status"]),
            ("amount:sum > 100", ["amount"]),
            ("amount:weighted_avg(weight=amount) > 1", ["amount"]),
            ("coalesce(amount, 0) > 1 and status is not null", ["amount", "status"]),
            ("lower(status) like 'p%' or status between 'a' and 'b'", ["status"]),
        ],
    )
    def test_words_of_the_language_and_literals_say_nothing(
        self, quick: OnRecord, condition: str, parts: list[str]
    ) -> None:
        assert of_query(quick, filters=[condition]) == [
            "mydb.orders",
            *(f"mydb.orders.{part}" for part in parts),
        ]

    def test_a_named_measure_is_opaque(self, quick: OnRecord) -> None:
        assert of_query(quick, measures=["aov"]) == ["mydb.orders", "mydb.orders.aov"]
        assert resolved(quick, "aov") == ["mydb.orders.aov"]

    def test_an_unknown_column_in_a_filter_fails_the_save(self, quick: OnRecord) -> None:
        refused(quick, {"source_model": "orders", "filters": ["no_such > 1"]}, "no_such")

    @pytest.mark.parametrize(
        "part",
        [
            {"dimensions": ["no_such"]},
            {"measures": ["no_such:sum"]},
            {"time_dimensions": [{"dimension": "no_such", "granularity": "day"}]},
        ],
    )
    def test_so_does_an_unknown_name_anywhere_else(self, quick: OnRecord, part: dict[str, Any]) -> None:
        refused(quick, {"source_model": "orders", **part}, "no_such")

    def test_an_unknown_source_model_fails_the_save(self, quick: OnRecord) -> None:
        refused(quick, {"source_model": "no_such"}, "source_model", "no_such")

    @pytest.mark.parametrize(
        ("query", "word"),
        [
            ({}, "source_model"),
            ({"source_model": "orders", "meassures": []}, "meassures"),
            ({"source_model": "orders", "filters": ["row_number() over (partition by id) = 1"]}, "over"),
            ({"source_model": "orders", "name": "a.b"}, "name"),
        ],
    )
    def test_a_query_that_is_none_is_refused(self, quick: OnRecord, query: Any, word: str) -> None:
        assert word in refused(quick, query).lower()

    def test_the_query_is_kept_on_the_memory(self, quick: OnRecord) -> None:
        id = slayer.save_memory(quick, "Total paid revenue", PAID)["memory_id"]
        query = quick.show(id).memory.query
        assert isinstance(query, dict)
        assert read_query(query) == read_query(PAID)
        assert quick.show(id).memory.entities == ("mydb.orders", AMOUNT, "mydb.orders.status")

    def test_a_query_that_was_read_already_is_taken_too(self, quick: OnRecord) -> None:
        told = slayer.save_memory(quick, "Total paid revenue", read_query(PAID))
        assert told["resolved_entities"] == ["mydb.orders", AMOUNT, "mydb.orders.status"]

    def test_what_is_doubtful_in_a_query_is_told_and_does_not_fail_it(self, quick: OnRecord) -> None:
        told = slayer.save_memory(
            quick, "an example", {"source_model": "invoices", "filters": ["status = 'paid'"]}
        )
        assert told["resolved_entities"] == ["mydb.invoices", "mydb.orders.status"]
        assert "status" in told["warnings"][0]

    def test_of_very_many_entities_the_first_are_kept_and_it_says_so(
        self, quick: OnRecord, tmp_path: Path
    ) -> None:
        columns = [f"c{number}" for number in range(300)]
        quick.ingest(str(write_models(tmp_path / "wide", [model("mydb", "wide", " ".join(columns))])))
        told = slayer.save_memory(quick, "an example", {"source_model": "wide", "dimensions": columns})
        assert told["resolved_entities"] == ["mydb.wide", *(f"mydb.wide.{each}" for each in columns[:255])]
        assert "301" in told["warnings"][0]


class TestIds:
    def test_ids_count_up_from_one(self, quick: OnRecord) -> None:
        assert [saved(quick, "orders.id")["memory_id"] for _ in range(3)] == ["1", "2", "3"]

    def test_the_same_note_twice_is_two_notes(self, quick: OnRecord) -> None:
        saved(quick, "orders.id")
        saved(quick, "orders.id")
        assert len(quick.browse().memories) == 2

    @pytest.mark.parametrize(
        "id", ["kb.policy.42", "0", "001", "ünï-✓", "a,b", "a%20b", "-x", "..", "a'b\"c"]
    )
    def test_an_id_of_ones_own_is_kept_as_it_is(self, quick: OnRecord, id: str) -> None:
        assert slayer.save_memory(quick, "a note", ["orders.id"], id=id)["memory_id"] == id
        assert slayer.forget_memory(quick, id) == {"deleted_id": id}

    def test_a_number_is_an_id_too(self, quick: OnRecord) -> None:
        assert slayer.save_memory(quick, "a note", ["orders.id"], id=7)["memory_id"] == "7"
        assert slayer.forget_memory(quick, 7) == {"deleted_id": "7"}

    def test_ids_that_differ_only_in_zeros_or_case_are_different(self, quick: OnRecord) -> None:
        for id in ("0", "001", "1", "a", "A"):
            slayer.save_memory(quick, f"the note {id}", ["orders.id"], id=id)
        for id in ("0", "001", "1", "a", "A"):
            assert quick.show(id).memory.content == f"the note {id}"

    @pytest.mark.parametrize(
        "id",
        ["", "a:b", "a/b", "a?b", "a#b", "#5", "global:5", "a b", " a", "a\tb", "a\nb", "a\x01b", "a\x7fb"],
    )
    def test_an_id_that_cannot_be_one_is_refused(self, quick: OnRecord, id: str) -> None:
        refused(quick, ["orders.id"], "id", id=id)

    @pytest.mark.parametrize("id", [True, False, 1.5, ["1"]])
    def test_an_id_that_is_neither_text_nor_number_is_refused(self, quick: OnRecord, id: Any) -> None:
        refused(quick, ["orders.id"], "id", type_of(id), id=id)
        with pytest.raises(Invalid, match="id"):
            slayer.forget_memory(quick, id)

    def test_the_next_id_comes_after_the_highest_whole_number(self, quick: OnRecord) -> None:
        for id in ("42", "001", "43abc", "zz"):
            slayer.save_memory(quick, "a note", ["orders.id"], id=id)
        assert saved(quick, "orders.id")["memory_id"] == "43"

    def test_ids_go_on_from_the_data_after_the_store_was_closed(self, shared_db: str, models: Path) -> None:
        with connect(shared_db) as first:
            first.ingest(str(models))
            saved(first, "orders.id")
            slayer.save_memory(first, "a note", ["orders.id"], id="7")
        with connect(shared_db) as second:
            assert saved(second, "orders.id")["memory_id"] == "8"

    def test_no_id_is_given_twice_at_the_same_time(self, quick: OnRecord) -> None:
        for _ in range(3):
            saved(quick, "orders.id")
        slayer.forget_memory(quick, "3")
        slayer.forget_memory(quick, "1")
        fresh = [saved(quick, "orders.id")["memory_id"] for _ in range(3)]
        assert len({*fresh, "2"}) == 4
        assert "1" not in fresh

    def test_saves_at_the_same_moment_get_ids_of_their_own(self, shared_db: str, models: Path) -> None:
        with connect(shared_db) as door, ThreadPoolExecutor(4) as pool:
            door.ingest(str(models))
            given = list(pool.map(lambda _: saved(door, "orders.id")["memory_id"], range(12)))
            assert sorted(map(int, given)) == list(range(1, 13))

    @settings(max_examples=25)
    @given(wanted=st.lists(st.sampled_from(["", "1", "2", "5", "007", "x9"]), max_size=6), gone=st.data())
    def test_no_id_ever_collides(self, ground: Ground, wanted: list[str], gone: st.DataObject) -> None:
        door = ground.empty()
        living: dict[str, str] = {}
        for number, id in enumerate(wanted):
            text = f"note {number}"
            told = slayer.save_memory(door, text, ["orders.id"], id=id or None)["memory_id"]
            assert id or told not in living
            living[told] = text
            if living and gone.draw(st.booleans()):
                doomed = gone.draw(st.sampled_from(sorted(living)))
                slayer.forget_memory(door, doomed)
                del living[doomed]
        assert {memory.id: memory.content for memory in door.browse().memories} == living


class TestSavingAgain:
    """Under an id that exists, all that was said is replaced; when it was first said is kept."""

    def test_the_text_and_the_entities_are_replaced(self, quick: OnRecord, clock: Any) -> None:
        slayer.save_memory(quick, "first", ["orders.amount"], id="kb", description="a preview")
        created = quick.show("kb").memory.created_at
        clock.tick(days=3)
        told = slayer.save_memory(quick, "second", ["orders.status"], id="kb")
        memory = quick.show("kb").memory
        assert told["resolved_entities"] == ["mydb.orders.status"]
        assert (memory.content, memory.entities) == ("second", ("mydb.orders.status",))
        assert (memory.created_at, memory.hint) == (created, None)
        assert slayer.search(quick, entities=["orders.amount"])["memories"] == []

    def test_a_note_becomes_an_example_and_a_note_again(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "first", ["customers.name"], id="kb")
        told = slayer.save_memory(quick, "first", PAID, id="kb")
        assert told["resolved_entities"] == ["mydb.orders", AMOUNT, "mydb.orders.status"]
        assert quick.show("kb").memory.query is not None
        told = slayer.save_memory(quick, "first", ["customers.name"], id="kb")
        assert told["resolved_entities"] == ["mydb.customers.name"]
        assert quick.show("kb").memory.query is None

    def test_one_query_takes_the_place_of_another(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "an example", PAID, id="kb")
        slayer.save_memory(quick, "an example", {"source_model": "invoices"}, id="kb")
        assert quick.show("kb").memory.entities == ("mydb.invoices",)

    def test_a_save_that_fails_leaves_what_was_there(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "first", ["orders.amount"], id="kb")
        with pytest.raises(Invalid):
            slayer.save_memory(quick, "second", ["no_such"], id="kb")
        assert quick.show("kb").memory.content == "first"


class TestForgetting:
    def test_a_forgotten_note_is_gone(self, quick: OnRecord) -> None:
        id = saved(quick, "orders.amount")["memory_id"]
        assert slayer.forget_memory(quick, id) == {"deleted_id": id}
        assert slayer.search(quick, entities=["orders.amount"])["memories"] == []
        with pytest.raises(NotFound, match=id):
            slayer.forget_memory(quick, id)

    @pytest.mark.parametrize("id", ["", "a:b", "a/b", "a b", "#1"])
    def test_an_id_that_cannot_be_one_is_refused(self, quick: OnRecord, id: str) -> None:
        saved(quick, "orders.id")
        with pytest.raises(Invalid, match="id"):
            slayer.forget_memory(quick, id)
        assert len(quick.browse().memories) == 1

    def test_references_to_it_go_with_it_and_no_others(self, quick: OnRecord) -> None:
        links = ["4", "42", "400", "4.y"]
        for id in links:
            slayer.save_memory(quick, "a note", ["orders.id"], id=id)
        references = [f"memory:{id}" for id in links]
        slayer.save_memory(quick, "all of them", [*references, AMOUNT], id="all")
        slayer.save_memory(quick, "that alone", ["memory:4"], id="alone")
        slayer.forget_memory(quick, "4")
        assert quick.show("all").memory.entities == ("memory:42", "memory:400", "memory:4.y", AMOUNT)
        assert quick.show("alone").memory.entities == ()
        assert {memory.id for memory in quick.browse().memories} == {"42", "400", "4.y", "all", "alone"}

    def test_an_id_that_is_used_again_has_nothing_of_the_old(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "the old one", ["orders.id"], id="9")
        slayer.save_memory(quick, "about it", ["memory:9"], id="b")
        slayer.forget_memory(quick, "9")
        slayer.save_memory(quick, "the new one", ["orders.id"], id="9")
        assert slayer.search(quick, entities=["memory:9"])["memories"] == []


class TestVectors:
    """What is embedded is the text alone, and at once."""

    @pytest.fixture
    def embedder(self) -> StubEmbedder:
        return StubEmbedder()

    @pytest.fixture
    def embedding(self, models: Path, embedder: StubEmbedder) -> Any:
        with connect(":memory:", embedder=embedder) as door:
            door.ingest(str(models))
            door.embed_missing()
            embedder.texts.clear()
            yield door

    def test_a_new_note_is_found_by_its_meaning_right_away(
        self, embedding: OnRecord, embedder: StubEmbedder
    ) -> None:
        told = slayer.save_memory(embedding, "refunds are booked later", ["orders.amount"])
        assert told["warnings"] == []
        assert embedder.texts == ["refunds are booked later"]
        assert "mydb" not in " ".join(embedder.texts)

    def test_a_failure_to_embed_is_a_warning_and_the_note_is_kept(
        self, embedding: OnRecord, embedder: StubEmbedder
    ) -> None:
        embedder.down = "no key"
        told = slayer.save_memory(embedding, "refunds are booked later", ["orders.amount"])
        assert "no key" in told["warnings"][0]
        assert embedding.show(told["memory_id"]).memory.content == "refunds are booked later"
        found = slayer.search(embedding, question="refunds")
        assert [hit["id"] for hit in found["memories"]] == [told["memory_id"]]
        assert any("embedding channel skipped" in warning for warning in found["warnings"])

    def test_taking_out_entities_embeds_nothing_anew(
        self, embedding: OnRecord, embedder: StubEmbedder
    ) -> None:
        for number in range(3):
            slayer.save_memory(embedding, f"note {number}", ["orders.amount", "orders.status"])
        embedder.texts.clear()
        slayer.edit_model_remove(embedding, "orders", ["amount"])
        slayer.delete_model(embedding, "orders")
        slayer.delete_datasource(embedding, "mydb")
        embedding.worker.run_once()
        assert not [text for text in embedder.texts if text.startswith("note")]

    def test_a_note_that_has_lost_its_entities_is_found_by_word_and_meaning(
        self, embedding: OnRecord
    ) -> None:
        id = slayer.save_memory(embedding, "refunds are booked later", ["orders.amount"])["memory_id"]
        slayer.delete_model(embedding, "orders")
        found = slayer.search(embedding, question="refunds")["memories"]
        assert [hit["id"] for hit in found] == [id]


class TestFolders:
    """Notes may lie beside the models, in one file that people read."""

    def test_a_folder_of_models_holds_its_notes_too(self, models: Path) -> None:
        with connect(models) as door:
            door.ingest(str(models))
            for id in ("a", "A", "1"):
                slayer.save_memory(door, f"the note {id}", ["orders.amount"], id=id)
            slayer.save_memory(door, "Total paid revenue", PAID)
        assert "the note A" in (models / "memories.yaml").read_text(encoding="utf-8")
        with connect(models) as door:
            door.ingest(str(models))
            found = slayer.search(door, entities=["orders.amount"])
            assert [hit["id"] for hit in found["memories"]] == ["a", "A", "1"]
            assert [hit["id"] for hit in found["example_queries"]] == ["2"]
            slayer.delete_model(door, "orders")
            slayer.forget_memory(door, "a")
            assert door.show("A").memory.entities == ()
            assert slayer.search(door, question="note")["memories"][0]["id"] == "A"
