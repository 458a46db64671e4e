"""IS what the slayer face promises kept to the letter, also where others have tripped?"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from onrecord import OnRecord, connect
from onrecord.errors import Invalid
from onrecord.faces import slayer
from onrecord.model.collections import Home
from onrecord.testing.embedder import StubEmbedder

from .conftest import ids, model, write_models

AMOUNT = "mydb.orders.amount"


class TestTheFormsOfASave:
    def test_a_learning_as_the_documentation_shows_it(self, memory: OnRecord, tmp_path: Path) -> None:
        models = [model("mydb", "orders", "id is_returned")]
        memory.ingest(str(write_models(tmp_path / "layer", models)))
        learning = "orders.is_returned in {0,1,NULL}; treat NULL as not returned"
        told = slayer.save_memory(memory, learning=learning, linked_entities=["orders.is_returned"])
        assert told == {
            "memory_id": "1",
            "resolved_entities": ["mydb.orders.is_returned"],
            "warnings": [],
        }
        assert learning in slayer.inspect_model(memory, "orders")
        found = slayer.search(memory, entities=["orders.is_returned:sum"])
        assert [hit["text"] for hit in found["memories"]] == [learning]
        assert found["example_queries"] == []

    def test_a_query_as_the_documentation_shows_it(self, door: OnRecord) -> None:
        query = {
            "source_model": "orders",
            "measures": [{"formula": "amount:sum"}],
            "filters": ["status = 'paid'"],
        }
        told = slayer.save_memory(door, "Total paid revenue", query)
        assert told["resolved_entities"] == ["mydb.orders", AMOUNT, "mydb.orders.status"]
        found = slayer.search(door, query=query)
        assert found["memories"] == []
        assert ids(found["example_queries"]) == [told["memory_id"]]
        assert found["resolved_input_entities"] == told["resolved_entities"]

    def test_a_custom_aggregation_is_no_entity_of_a_query_and_one_of_its_own_when_named(
        self, quick: OnRecord
    ) -> None:
        query = {"source_model": "orders", "measures": ["amount:weighted_score"]}
        assert slayer.save_memory(quick, "a", query)["resolved_entities"] == ["mydb.orders", AMOUNT]
        told = slayer.save_memory(quick, "b", ["orders.weighted_score"])
        assert told["resolved_entities"] == ["mydb.orders.weighted_score"]

    def test_a_note_on_a_measure_is_not_found_by_the_columns_of_its_formula(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "of the measure", ["orders.aov"])
        assert slayer.search(quick, entities=[AMOUNT])["memories"] == []
        assert ids(slayer.search(quick, entities=["orders.aov"])["memories"]) == ["1"]

    def test_a_number_that_was_forgotten_at_the_end_may_come_back_and_one_in_the_middle_not(
        self, door: OnRecord
    ) -> None:
        for _ in range(3):
            slayer.save_memory(door, "a note", ["orders.id"])
        slayer.forget_memory(door, 2)
        assert slayer.save_memory(door, "a note", ["orders.id"])["memory_id"] == "4"


class TestScores:
    """Every score is a sum of reciprocal ranks, 60 added to each."""

    def test_the_first_by_what_it_is_about_has_one_sixty_first(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "a note", ["orders.amount"])
        (hit,) = slayer.search(quick, entities=[AMOUNT])["memories"]
        assert hit["score"] == pytest.approx(1 / 61)

    def test_the_first_by_subject_words_and_meaning_has_all_three(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "refunds are negative", ["orders.amount"], id="first")
        slayer.save_memory(
            quick, "refunds take their time, as everyone knows", ["orders.amount"], id="second"
        )
        found = slayer.search(quick, entities=[AMOUNT], question="refunds")["memories"]
        assert [(hit["id"], hit["score"]) for hit in found] == [
            ("first", pytest.approx(3 / 61)),
            ("second", pytest.approx(3 / 62)),
        ]

    def test_what_notes_are_about_never_outvotes_what_they_say(self, quick: OnRecord) -> None:
        for number in range(30):
            slayer.save_memory(quick, f"the status of number {number}", ["orders.status", "customers.name"])
        slayer.save_memory(quick, "refunds have the status R", ["orders"], id="wanted")
        slayer.save_memory(quick, "a word about it", ["orders.status"], id="tagged")
        found = slayer.search(quick, question="which status do refunds have", max_memories=100)["memories"]
        assert found[0]["id"] == "wanted"
        # Its tag alone leads to it, after all whose words do.
        assert found[-1]["id"] == "tagged"


class TestEmbedding:
    def test_a_question_that_cannot_be_embedded_is_a_warning_and_words_still_find(self, models: Path) -> None:
        embedder = StubEmbedder()
        with connect(":memory:", embedder=embedder) as door:
            door.ingest(str(models))
            door.embed_missing()
            slayer.save_memory(door, "refunds are negative", ["orders.amount"])
            embedder.down = "the service sleeps"
            found = slayer.search(door, question="refunds")
        assert ids(found["memories"]) == ["1"]
        (warning,) = found["warnings"]
        assert "query embedding failed" in warning
        assert "the service sleeps" in warning

    def test_a_text_that_cannot_be_embedded_holds_up_no_other(self, models: Path, tmp_path: Path) -> None:
        embedder = StubEmbedder()
        embedder.refused = "poison"
        with connect(tmp_path / "notes.db", embedder="none") as door:
            door.ingest(str(models))
            for text in ("refunds are negative", "poison in a note", "amounts are gross"):
                slayer.save_memory(door, text, ["orders.amount"])
        with connect(tmp_path / "notes.db", embedder=embedder) as door:
            assert ["poison" in each for each in door.embed_missing().failures] == [True]
            with door._store.archive() as archive:
                assert [each.memories for each in archive.coverage(Home(door.caller.tenant))] == [2]

    def test_the_marks_of_a_tokenizer_are_plain_text(self, models: Path) -> None:
        with connect(":memory:", embedder="e5") as door:
            door.ingest(str(models))
            text = "<|endoftext|> [SEP] ends a prompt </s> [CLS]"
            assert slayer.save_memory(door, text, ["orders.status"])["warnings"] == []
            found = slayer.search(door, question="what does <|endoftext|> [MASK] end")
            assert [hit["text"] for hit in found["memories"]] == [text]

    def test_a_memory_that_loses_its_number_to_another_leaves_no_vector_behind(self, models: Path) -> None:
        with connect(":memory:", embedder=StubEmbedder()) as door:
            door.ingest(str(models))
            for id in ("4", "42", "400"):
                slayer.save_memory(door, f"the note {id}", ["orders.id"], id=id)
            slayer.forget_memory(door, "4")
            with door._store.archive() as archive:
                assert [each.memories for each in archive.coverage(Home(door.caller.tenant))] == [2]
            slayer.save_memory(door, "something else", ["orders.id"], id="4")
            found = slayer.search(door, question="the note", max_memories=2)["memories"]
            assert set(ids(found)) == {"42", "400"}


class TestFolders:
    """Notes in one file that people read, beside the models."""

    def test_saves_at_the_same_moment_lose_nothing(self, models: Path) -> None:
        with connect(models) as door:
            door.ingest(str(models))
        start = threading.Barrier(3)

        def save(number: int) -> list[str]:
            with connect(models) as door:
                start.wait()
                return [
                    str(slayer.save_memory(door, f"note {number}.{each}", ["orders.id"])["memory_id"])
                    for each in range(3)
                ]

        with ThreadPoolExecutor(3) as pool:
            given = sorted(int(id) for saved in pool.map(save, range(3)) for id in saved)
        assert given == list(range(1, 10))
        with connect(models) as door:
            assert len({memory.content for memory in door.browse().memories}) == 9

    def test_models_are_read_in_and_the_file_holds_the_notes_alone(self, models: Path) -> None:
        with connect(models) as door:
            door.ingest(str(models))
        assert not (models / "memories.yaml").exists()
        with connect(models) as door:
            slayer.save_memory(door, "a note", ["orders.id"])
        assert [each["id"] for each in yaml.safe_load((models / "memories.yaml").read_text())] == ["1"]
        with connect(models) as door:
            assert slayer.save_memory(door, "another", ["orders.amount"])["resolved_entities"] == [AMOUNT]
            assert ids(slayer.search(door, question="amount")["entities"])
            assert door.doctor().problems == ()

    def test_what_an_older_file_holds_of_models_is_taken_out_of_it(self, models: Path) -> None:
        with connect(models) as door:
            door.ingest(str(models))
            slayer.save_memory(door, "a note", ["orders.id"])
        path = models / "memories.yaml"
        record = "- id: mydb.orders\n  tenant: catalog:default\n  learning: An old text.\n# of the note\n"
        path.write_text(record + path.read_text(), encoding="utf-8")
        with connect(models) as door:
            assert "An old text." not in slayer.search(door, question="orders")["entities"][0]["text"]
            slayer.save_memory(door, "another", ["orders.amount"])
        assert [each["id"] for each in yaml.safe_load(path.read_text())] == ["1", "2"]
        assert "# of the note" in path.read_text()

    @pytest.mark.parametrize("style", ["block", "flow"])
    def test_a_note_that_stands_there_under_a_number_and_the_same_text_is_one(
        self, models: Path, style: str
    ) -> None:
        entry = {"learning": "a note", "entities": ["mydb.orders.id"], "created_at": "2026-01-02T00:00:00Z"}
        again = {**entry, "created_at": "2026-02-02T00:00:00Z"}
        other = {**entry, "id": "43", "learning": "another"}
        path = models / "memories.yaml"
        told = yaml.safe_dump(
            [{"id": 42, **entry}, {"id": "42", **again}, other], default_flow_style=style == "flow"
        )
        path.write_text(told, encoding="utf-8")
        with connect(models) as door:
            assert {each.id: each.content for each in door.browse().memories} == {
                "42": "a note",
                "43": "another",
            }
            slayer.forget_memory(door, 42)
        with connect(models) as door:
            assert [each.id for each in door.browse().memories] == ["43"]

    def test_two_that_differ_under_one_number_are_refused_with_their_lines(self, models: Path) -> None:
        path = models / "memories.yaml"
        path.write_text("- id: 42\n  learning: a note\n- id: '42'\n  learning: another\n", encoding="utf-8")
        with pytest.raises(Invalid, match=r"line 3, id: the id 42 is used at line 1"):
            connect(models).browse()
        assert "another" in path.read_text()

    @pytest.mark.parametrize("id", ["true", "False"])
    def test_a_flag_is_no_id(self, models: Path, id: str) -> None:
        path = models / "memories.yaml"
        path.write_text(f"- learning: a note\n  id: {id}\n", encoding="utf-8")
        with pytest.raises(Invalid, match=f"line 2: .*{id}"):
            connect(models).browse()
        path.write_text(f"- learning: a note\n  id: '{id}'\n", encoding="utf-8")
        with connect(models) as door:
            assert door.show(id).memory.content == "a note"

    def test_an_id_that_looks_like_a_path_leads_nowhere(self, models: Path) -> None:
        before = {path for path in models.parent.rglob("*") if models not in path.parents}
        with connect(models) as door:
            door.ingest(str(models))
            for id in ("..", "...", "..%2fsecret", "~", "con"):
                slayer.save_memory(door, f"the note {id}", ["orders.id"], id=id)
            with pytest.raises(Invalid, match="/"):
                slayer.save_memory(door, "out of here", ["orders.id"], id="../secret")
        assert {path for path in models.parent.rglob("*") if models not in path.parents} == before
        with connect(models) as door:
            assert door.show("..").memory.content == "the note .."
            assert len(door.browse().memories) == 5

    @pytest.mark.parametrize(
        "name", ["memories.yaml", "memories.history.jsonl", "./x/../memories.history.jsonl"]
    )
    def test_an_export_never_takes_the_place_of_the_notes_or_of_their_history(
        self, models: Path, name: str
    ) -> None:
        (models / "x").mkdir()
        with connect(models) as door:
            door.ingest(str(models))
            slayer.save_memory(door, "a note", ["orders.id"])
            for leave in (door.export, door.backup):
                with pytest.raises(Invalid, match="the store itself"):
                    leave(str(models / name))
            door.export(str(models / "copy.history.jsonl"))
        with connect(models) as door:
            assert door.show("1").memory.content == "a note"

    def test_a_database_may_be_exported_beside_itself_under_any_other_name(self, tmp_path: Path) -> None:
        with connect(tmp_path / "notes.db") as door:
            door.remember("a note")
            assert door.export(str(tmp_path / "notes.history.jsonl")).memories == 1


class TestInspecting:
    def test_every_note_is_listed_however_many_there_are_and_what_is_beyond_the_tokens_is_counted(
        self, quick: OnRecord, tmp_path: Path
    ) -> None:
        quick.remember("a note", entities=["orders.id"], id="n0")
        quick.export(str(tmp_path / "one.jsonl"))
        # Through an export, which is the quick way in: one note, told again with other ids.
        lines = (tmp_path / "one.jsonl").read_text(encoding="utf-8").splitlines()
        (note,) = [line for line in lines if '"versions"' in line and '"n0"' in line]
        lines += [note.replace('"n0"', f'"n{number}"') for number in range(1, 1_003)]
        (tmp_path / "many.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        quick.import_(str(tmp_path / "many.jsonl"))
        told = slayer.inspect_model(quick, "orders", format="json", max_tokens=1_000_000)
        assert len(told["learnings"]) == 1_003
        told = slayer.inspect_model(quick, "orders", format="json")
        assert f"{1_003 - len(told['learnings'])}" in " ".join(told["notes"]).replace(",", "")

    @pytest.mark.parametrize("form", ["html", "", "JSON"])
    def test_only_two_forms_are_known(self, quick: OnRecord, form: Any) -> None:
        with pytest.raises(Invalid, match="format"):
            slayer.inspect_model(quick, "orders", format=form)

    def test_hidden_models_are_not_offered(self, memory: OnRecord, tmp_path: Path) -> None:
        models = [model("mydb", "orders", "id"), model("mydb", "ledger", "id", hidden=True)]
        memory.ingest(str(write_models(tmp_path / "layer", models)))
        with pytest.raises(Exception, match=r"'no_such' not found.*mydb\.orders") as problem:
            slayer.inspect_model(memory, "no_such")
        assert "ledger" not in str(problem.value)


class TestDatasourcesWithNamesAlike:
    def test_dropping_one_leaves_the_other_with_its_notes(self, memory: OnRecord, tmp_path: Path) -> None:
        models = [model("orders", "lines", "id"), model("orders_archive", "lines", "id")]
        memory.ingest(str(write_models(tmp_path / "layer", models, priority=["orders"])))
        slayer.save_memory(
            memory, "of both", ["orders.lines.id", "orders_archive.lines.id", "orders"], id="n"
        )
        slayer.delete_datasource(memory, "orders")
        assert memory.show("n").memory.entities == ("orders_archive.lines.id",)
        assert slayer.inspect_model(memory, "orders_archive.lines")
