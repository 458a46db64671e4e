"""WHAT becomes of notes when models change? They are shown with them, and lose only what is gone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import OnRecord
from onrecord.errors import Invalid, NotFound
from onrecord.faces import slayer
from onrecord.model.limits import TENANT_PERMISSIONS

from .conftest import Ground, model, write_models

AMOUNT = "mydb.orders.amount"


def note(door: OnRecord, text: str, *references: str, id: str | None = None) -> str:
    return str(slayer.save_memory(door, text, list(references), id=id)["memory_id"])


def entities(door: OnRecord, id: str) -> list[str]:
    return list(door.show(id).memory.entities)


def as_json(door: OnRecord, name: str = "orders", **shown: Any) -> dict[str, Any]:
    told = slayer.inspect_model(door, name, format="json", **shown)
    assert isinstance(told, dict)
    return told


class TestLearnings:
    def test_notes_on_the_model_its_columns_and_its_measures_are_shown(self, quick: OnRecord) -> None:
        saved = [
            note(quick, f"about {name}", name)
            for name in ("mydb.orders", "orders.amount", "orders.aov", "orders.weighted_score")
        ]
        note(quick, "about another", "customers.orders")
        told = slayer.inspect_model(quick, "orders")
        assert "## Learnings (4)" in told
        assert f"- **M{saved[1]}** (`{AMOUNT}`; by a person): about orders.amount" in told
        assert [each["id"] for each in as_json(quick)["learnings"]] == saved
        assert as_json(quick)["learnings"][1] == {
            "id": saved[1],
            "learning": "about orders.amount",
            "matched_entities": [AMOUNT],
            "author": "ann",
            "tier": "person",
        }

    def test_a_promoted_description_is_shown_with_who_approved_it(self, quick: OnRecord) -> None:
        root = quick.as_caller(replace(quick.caller, user="rita", permissions=frozenset(TENANT_PERMISSIONS)))
        edit = {"entity": "orders.amount", "field": "description", "value": "Net of refunds, in cents."}
        root.approve(quick.remember("It is net.", edits=[edit]).memory.id)
        root.apply("mydb.orders")
        told = slayer.inspect_model(quick, "orders")
        assert "| Net of refunds, in cents. |" in told
        assert f"- `{AMOUNT}` description (approved by rita, changeset 1): Net of refunds, in cents." in told
        [promoted] = as_json(quick)["promoted"]
        assert (promoted["value"], promoted["approved_by"]) == ("Net of refunds, in cents.", "rita")

    def test_what_was_promoted_of_a_table_that_no_source_has_told_of_makes_it_no_model(
        self, quick: OnRecord
    ) -> None:
        root = quick.as_caller(replace(quick.caller, user="rita", permissions=frozenset(TENANT_PERMISSIONS)))
        models = slayer.models_summary(quick, "mydb", format="json")
        edit = {"entity": "mydb.nowhere", "field": "description", "value": "Net of refunds, in cents."}
        root.apply("mydb.nowhere", edits=[edit], unknown="keep")
        assert root.inspect("mydb.nowhere").sections["state"] == "unsourced"
        for asked in (
            lambda: slayer.inspect_model(quick, "mydb.nowhere"),
            lambda: slayer.edit_model(root, "mydb.nowhere", {"columns": ["amount"]}),
            lambda: note(quick, "about it", "mydb.nowhere"),
        ):
            with pytest.raises((Invalid, NotFound), match="nowhere"):
                asked()
        assert slayer.models_summary(quick, "mydb", format="json") == models

    def test_only_the_references_to_the_model_are_shown_as_matches(self, quick: OnRecord) -> None:
        note(quick, "both", "customers.name", "orders.status", "orders.amount")
        (shown,) = as_json(quick)["learnings"]
        assert shown["matched_entities"] == ["mydb.orders.status", AMOUNT]

    def test_a_memory_with_a_query_is_never_shown(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "an example", {"source_model": "orders", "measures": ["amount:sum"]})
        assert "Learnings" not in slayer.inspect_model(quick, "orders")
        assert "learnings" not in as_json(quick)

    def test_without_a_match_there_is_no_heading(self, quick: OnRecord) -> None:
        note(quick, "about another", "customers.name")
        note(quick, "about the whole", "mydb")
        assert "Learnings" not in slayer.inspect_model(quick, "orders")

    def test_only_the_sections_that_are_asked_for_are_shown(self, quick: OnRecord) -> None:
        note(quick, "about it", "mydb.orders")
        assert "Learnings" not in slayer.inspect_model(quick, "orders", sections=["columns"])
        assert "Learnings" in slayer.inspect_model(quick, "orders", sections=["learnings"])
        assert "## Columns" not in slayer.inspect_model(quick, "orders", sections=["learnings"])

    def test_an_unknown_section_is_a_note_and_shows_nothing(self, quick: OnRecord) -> None:
        note(quick, "about it", "mydb.orders")
        told = as_json(quick, sections=["colums"])
        assert "colums" in told["notes"][0]
        assert not {"columns", "learnings", "joins"} & told.keys()

    def test_an_unknown_model_is_told_with_those_that_there_are(self, quick: OnRecord) -> None:
        with pytest.raises(NotFound) as problem:
            slayer.inspect_model(quick, "no_such")
        for word in ("'no_such'", "mydb.orders", "other.users"):
            assert word in str(problem.value)

    def test_the_datasource_can_be_given(self, quick: OnRecord) -> None:
        assert as_json(quick, "mydb", data_source="other")["canonical"] == "other.mydb"
        with pytest.raises(NotFound):
            slayer.inspect_model(quick, "orders", data_source="other")

    @pytest.mark.parametrize(
        "wrong", [{"format": "html"}, {"reachable_fields_depth": 21}, {"reachable_fields_depth": -1}]
    )
    def test_what_is_out_of_range_is_refused_by_name(self, quick: OnRecord, wrong: dict[str, Any]) -> None:
        with pytest.raises(Invalid, match=next(iter(wrong))):
            slayer.inspect_model(quick, "orders", **wrong)


class TestTakingOut:
    """What is taken out is taken out of every note, by whole names alone; the notes stay."""

    @pytest.fixture
    def kept(self, memory: OnRecord, tmp_path: Path) -> OnRecord:
        models = [
            model("mydb", "orders", "id amount amount_net"),
            model("mydb", "orders_archive", "id amount"),
            model("mydb_old", "orders", "id amount"),
        ]
        memory.ingest(str(write_models(tmp_path / "layer", models, priority=["mydb"])))
        note(
            memory,
            "of all",
            *("mydb", "mydb.orders", AMOUNT, "mydb.orders.amount_net", "mydb.orders_archive.amount"),
            *("mydb_old", "mydb_old.orders.amount"),
            id="all",
        )
        note(memory, "of one", AMOUNT, id="one")
        return memory

    def test_a_model_takes_its_parts_with_it_and_nothing_that_begins_alike(self, kept: OnRecord) -> None:
        told = slayer.delete_model(kept, "orders", data_source="mydb")
        assert told == {"deleted": "mydb.orders", "stripped_memories": 2}
        assert entities(kept, "all") == [
            *("mydb", "mydb.orders_archive.amount", "mydb_old", "mydb_old.orders.amount")
        ]
        with pytest.raises(NotFound):
            slayer.inspect_model(kept, "orders", data_source="mydb")
        assert slayer.search(kept, question="orders amount_net")["entities"][0]["id"] != "mydb.orders"

    def test_a_note_without_entities_is_kept_and_found_by_its_words(self, kept: OnRecord) -> None:
        slayer.delete_model(kept, "mydb.orders")
        assert entities(kept, "one") == []
        found = slayer.search(kept, question="one")["memories"]
        assert found[0]["id"] == "one"

    def test_a_column_takes_only_itself(self, kept: OnRecord) -> None:
        told = slayer.edit_model_remove(kept, "mydb.orders", ["amount"])
        assert told == {"model": "mydb.orders", "removed": [AMOUNT], "stripped_memories": 2}
        assert AMOUNT not in entities(kept, "all")
        assert {"mydb.orders", "mydb.orders.amount_net", "mydb.orders_archive.amount"} <= set(
            entities(kept, "all")
        )
        assert [each["name"] for each in as_json(kept)["columns"]] == ["id", "amount_net"]
        with pytest.raises(Invalid):
            note(kept, "once more", AMOUNT)

    def test_a_datasource_takes_everything_in_it(self, kept: OnRecord) -> None:
        assert slayer.delete_datasource(kept, "mydb")["deleted"] == "mydb"
        assert entities(kept, "all") == ["mydb_old", "mydb_old.orders.amount"]
        assert [each.canonical for each in kept.entities().entities] == ["mydb_old"]
        found = slayer.search(kept, question="mydb orders amount_net archive", max_entities=50)["entities"]
        assert {hit["id"].partition(".")[0] for hit in found} == {"mydb_old"}

    def test_a_measure_and_an_aggregation_can_be_taken_out(self, quick: OnRecord) -> None:
        note(quick, "about both", "orders.aov", "orders.weighted_score", "orders.id", id="n")
        slayer.edit_model_remove(quick, "orders", ["aov", "weighted_score"])
        assert entities(quick, "n") == ["mydb.orders.id"]
        assert as_json(quick)["measures"] == []

    def test_several_parts_go_together_or_not_at_all(self, quick: OnRecord) -> None:
        note(quick, "a note", "orders.amount", "orders.status", id="n")
        with pytest.raises(NotFound, match="no_such"):
            slayer.edit_model_remove(quick, "orders", ["amount", "no_such"])
        assert entities(quick, "n") == [AMOUNT, "mydb.orders.status"]
        assert "amount" in [each["name"] for each in as_json(quick)["columns"]]
        slayer.edit_model_remove(quick, "orders", ["amount", "status", "amount"])
        assert entities(quick, "n") == []
        assert [each["name"] for each in as_json(quick)["columns"]] == ["id", "customer_id", "ordered_at"]

    @pytest.mark.parametrize("nothing", [[], None, "amount"])
    def test_what_is_no_list_of_parts_removes_nothing(self, quick: OnRecord, nothing: Any) -> None:
        with pytest.raises(Invalid, match="remove"):
            slayer.edit_model_remove(quick, "orders", nothing)
        assert len(as_json(quick)["columns"]) == 5

    @pytest.mark.parametrize("name", ["orders", "mydb.orders", "no_such", "status"])
    def test_what_is_no_datasource_is_not_dropped_as_one(self, quick: OnRecord, name: str) -> None:
        note(quick, "a note", "orders.status", id="n")
        with pytest.raises(NotFound, match="mydb"):
            slayer.delete_datasource(quick, name)
        assert entities(quick, "n") == ["mydb.orders.status"]
        assert as_json(quick)["name"] == "orders"

    @pytest.mark.parametrize("name", ["no_such", "orders.status", "status"])
    def test_what_is_no_model_is_not_dropped_as_one(self, quick: OnRecord, name: str) -> None:
        for data_source in (None, "mydb"):
            with pytest.raises(NotFound, match="Available models"):
                slayer.delete_model(quick, name, data_source=data_source)
        assert len(as_json(quick)["columns"]) == 5

    def test_the_model_that_is_called_like_a_datasource_can_be_deleted(self, quick: OnRecord) -> None:
        assert slayer.delete_model(quick, "mydb")["deleted"] == "other.mydb"
        assert as_json(quick)["name"] == "orders"

    def test_what_was_taken_out_comes_back_when_it_is_read_again(self, door: OnRecord, models: Path) -> None:
        slayer.edit_model_remove(door, "orders", ["amount"])
        slayer.delete_model(door, "regions")
        door.ingest(str(models))
        assert slayer.save_memory(door, "a note", ["orders.amount", "regions.name"])["warnings"] == []

    @settings(max_examples=20)
    @given(gone=st.sampled_from(["mydb", "mydb.orders", "mydb.customers", AMOUNT, "other.users.name"]))
    def test_only_what_is_gone_and_what_is_under_it_is_taken(self, ground: Ground, gone: str) -> None:
        door = ground.empty()
        every = [
            "mydb",
            "mydb.orders",
            AMOUNT,
            "mydb.orders.aov",
            "mydb.customers.orders",
            "other.users.name",
        ]
        note(door, "of all", *every, id="all")
        door.drop_entity(gone)
        assert entities(door, "all") == [
            each for each in every if each != gone and not each.startswith(gone + ".")
        ]


class TestReadingAgain:
    """Reading the models once more is a second broom: what is definitively gone is swept out."""

    def test_a_column_that_is_gone_from_its_file_is_stripped(self, door: OnRecord, models: Path) -> None:
        note(door, "a note", "orders.amount", "orders.status", id="n")
        path = models / "models" / "mydb" / "orders.yaml"
        held = yaml.safe_load(path.read_text())
        held["columns"] = [each for each in held["columns"] if each["name"] != "amount"]
        held["measures"] = []
        path.write_text(yaml.safe_dump(held))
        assert door.ingest(str(models)).stripped == 1
        assert entities(door, "n") == ["mydb.orders.status"]

    def test_a_model_whose_file_is_gone_is_stripped(self, door: OnRecord, models: Path) -> None:
        note(door, "a note", "regions.name", "orders.status", id="n")
        (models / "models" / "mydb" / "regions.yaml").unlink()
        door.ingest(str(models))
        assert entities(door, "n") == ["mydb.orders.status"]

    def test_references_from_before_the_catalog_are_swept(self, memory: OnRecord, models: Path) -> None:
        memory.remember("a note", id="n", entities=["mydb.no_such.amount", AMOUNT, "elsewhere.t"])
        memory.remember("another", id="m", entities=["memory:absent", "memory:n"])
        memory.ingest(str(models))
        # Of a datasource that was not read nothing is known.
        assert entities(memory, "n") == [AMOUNT, "elsewhere.t"]
        assert entities(memory, "m") == ["memory:n"]

    def test_a_stale_query_is_told_and_left_alone(self, door: OnRecord, models: Path) -> None:
        query = {"source_model": "orders", "dimensions": ["status"]}
        id = slayer.save_memory(door, "an example", query)["memory_id"]
        before = door.show(id).memory.query
        slayer.edit_model_remove(door, "orders", ["status"])
        path = models / "models" / "mydb" / "orders.yaml"
        held = yaml.safe_load(path.read_text())
        held["columns"] = [each for each in held["columns"] if each["name"] != "status"]
        path.write_text(yaml.safe_dump(held))
        (stale,) = door.ingest(str(models)).stale_queries
        assert stale.startswith(f"memory:{id}")
        assert "status" in stale
        assert door.show(id).memory.query == before

    def test_a_source_that_cannot_be_read_takes_nothing_away(self, door: OnRecord, models: Path) -> None:
        note(door, "a note", "orders.amount", id="n")
        (models / "models" / "mydb" / "orders.yaml").write_text("name: [broken")
        with pytest.raises(Invalid, match=r"orders\.yaml"):
            door.ingest(str(models))
        assert entities(door, "n") == [AMOUNT]
        assert as_json(door)["name"] == "orders"
