"""WHO can speak the words of the semantic layer? An async program through its client, and a person at a shell."""

import asyncio
import inspect
import json
import os
import subprocess
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.errors import Invalid, NotFound
from onrecord.faces import slayer
from onrecord.faces.slayer import SlayerClient
from tests.forked import relayed

from .conftest import Shell

AMOUNT = "mydb.orders.amount"
QUERY = {"source_model": "orders", "measures": [{"formula": "amount:sum"}], "filters": ["status = 'paid'"]}


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


class TestClient:
    def test_it_saves_searches_and_forgets(self, door: OnRecord) -> None:
        async def talk() -> None:
            client = SlayerClient(storage=door)
            saved = await client.save_memory("refunds come late", ["orders.amount"])
            assert saved == {"memory_id": "1", "resolved_entities": [AMOUNT], "warnings": []}
            second = await client.save_memory(
                learning="paid ones", linked_entities=QUERY, id="kb.policy.42", description="a preview"
            )
            assert second["memory_id"] == "kb.policy.42"
            found = await client.search(entities=["orders.amount"], max_memories=1)
            assert [hit["id"] for hit in found["memories"]] == ["1"]
            assert [hit["id"] for hit in found["example_queries"]] == ["kb.policy.42"]
            flat = await client.search_flat(question="refunds", max_results=1)
            assert flat["results"][0]["id"] == "1"
            assert "Learnings (1)" in await client.inspect_model("orders")
            assert await client.forget_memory("kb.policy.42") == {"deleted_id": "kb.policy.42"}
            assert await client.forget_memory(1) == {"deleted_id": "1"}

        run(talk())

    def test_it_opens_a_store_of_its_own(self, models: Path, tmp_path: Path) -> None:
        path = tmp_path / "own.db"
        with connect(path) as door:
            door.ingest(str(models))

        async def talk() -> None:
            client = SlayerClient(storage=path)
            assert (await client.save_memory("a note", ["orders.status"]))["memory_id"] == "1"
            await client.close()

        run(talk())
        with connect(path) as door:
            assert door.show("1").memory.entities == ("mydb.orders.status",)

    def test_models_can_be_taken_out_through_it(self, quick: OnRecord) -> None:
        async def talk() -> None:
            client = SlayerClient(storage=quick)
            await client.save_memory("a note", ["orders.status", "users.name", "regions.name"], id="n")
            await client.edit_model_remove("orders", ["status"])
            await client.delete_model("regions")
            await client.delete_datasource("other")

        run(talk())
        assert quick.show("n").memory.entities == ()

    def test_errors_are_those_of_the_functions(self, quick: OnRecord) -> None:
        client = SlayerClient(storage=quick)
        with pytest.raises(Invalid, match="linked_entities"):
            run(client.save_memory("a note", []))
        with pytest.raises(NotFound, match="99"):
            run(client.forget_memory("99"))
        with pytest.raises(Invalid, match="datasource"):
            run(client.search(datasource="no_such"))

    def test_many_saves_at_once_get_ids_of_their_own(self, quick: OnRecord) -> None:
        async def talk() -> list[Any]:
            client = SlayerClient(storage=quick)
            return await asyncio.gather(*(client.save_memory("a note", ["orders.id"]) for _ in range(10)))

        assert sorted(int(each["memory_id"]) for each in run(talk())) == list(range(1, 11))

    @pytest.mark.parametrize(
        "name", ["save_memory", "forget_memory", "search", "search_flat", "inspect_model", "delete_model"]
    )
    def test_it_takes_what_the_function_takes(self, name: str) -> None:
        function, method = getattr(slayer, name), getattr(SlayerClient, name)
        assert (
            list(inspect.signature(method).parameters)[1:] == list(inspect.signature(function).parameters)[1:]
        )
        assert inspect.iscoroutinefunction(method)


class TestSavingAtAShell:
    def test_it_says_the_id_the_entities_and_the_warnings(self, shell: Shell) -> None:
        said = shell("memory", "save", "--learning", "a note", "--entities", "orders, orders.amount:sum")
        assert said.code == 0
        lines = said.out.splitlines()
        assert lines[:2] == ["Saved memory 1.", f"Resolved entities: mydb.orders, {AMOUNT}"]
        assert lines[2].startswith("Warning: ")
        assert "customers" in lines[2]

    def test_an_id_of_ones_own_can_be_given(self, shell: Shell) -> None:
        said = shell("memory", "save", "--learning", "a note", "--entities", "status", "--id", "kb.policy.42")
        assert said.out.startswith("Saved memory kb.policy.42.\n")

    def test_a_query_comes_as_json_or_from_a_file(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "query.json").write_text(json.dumps(QUERY))
        for given in (json.dumps(QUERY), "@query.json"):
            said = shell("memory", "save", "--learning", "paid ones", "--query", given)
            assert said.code == 0
            assert f"Resolved entities: mydb.orders, {AMOUNT}, mydb.orders.status" in said.out
        found = json.loads(shell("search", "--entities", "orders.status", "--json").out)
        assert len(found["example_queries"]) == 2

    def test_commas_within_brackets_part_nothing(self, shell: Shell) -> None:
        said = shell(
            *("memory", "save", "--learning", "a note"),
            *("--entities", "orders.amount:corr(other=amount, by=id),orders.status"),
        )
        assert f"Resolved entities: {AMOUNT}, mydb.orders.status" in said.out

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ([], ["--entities", "--query"]),
            (["--entities", "status", "--query", "{}"], ["mutually exclusive"]),
            (["--entities", ""], ["linked_entities"]),
            (["--entities", "nonexistent_thing"], ["nonexistent_thing"]),
            (["--entities", "amount"], ["amount", "invoices", "orders"]),
            (["--entities", "status", "--id", "a:b"], ["id", ":"]),
            (["--entities", "status", "--id", ""], ["id", "empty"]),
            (["--query", "{not json"], ["query", "JSON"]),
            (["--query", "@no_such.json"], ["query", "no_such.json"]),
            (["--query", '["orders.status"]'], ["query", "object"]),
            (["--query", '{"source_model": "orders", "filters": ["no_such = 1"]}'], ["no_such"]),
        ],
    )
    def test_what_cannot_be_saved_leaves_with_1_and_a_reason(
        self, shell: Shell, given: list[str], words: list[str]
    ) -> None:
        said = shell("memory", "save", "--learning", "a note", *given)
        assert (said.code, said.out) == (1, "")
        for word in words:
            assert word in said.err
        assert "Traceback" not in said.err
        assert json.loads(shell("search", "--json").out)["memories"] == []

    def test_a_note_without_text_leaves_with_1(self, shell: Shell) -> None:
        said = shell("memory", "save", "--learning", " ", "--entities", "status")
        assert (said.code, "learning" in said.err) == (1, True)


class TestForgettingAtAShell:
    @pytest.mark.parametrize(
        "id", ["1", "kb.policy.42", "-x", "-5", "ünï✓", "a,b", "a%20b", "a'b", "..", "$HOME"]
    )
    def test_it_says_what_it_forgot(self, shell: Shell, id: str) -> None:
        shell("memory", "save", "--learning", "a note", "--entities", "status", "--id", id)
        said = shell("memory", "forget", id)
        assert (said.code, said.out) == (0, f"Forgot memory {id}.\n")
        assert shell("memory", "forget", id).code == 1

    @pytest.mark.parametrize("id", ["99", "", "a b", "a:b"])
    def test_what_is_not_there_leaves_with_1(self, shell: Shell, id: str) -> None:
        said = shell("memory", "forget", id)
        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("Error: ")


class TestTheCommandItself:
    def test_memory_alone_prints_its_usage_and_leaves_with_1(self, shell: Shell) -> None:
        said = shell("memory")
        assert said.code == 1
        assert "Usage:" in said.err
        assert "save" in said.err

    @pytest.mark.parametrize("words", [["memory", "recall"], ["memory", "recall", "x"], ["recall"]])
    def test_there_is_no_recall(self, shell: Shell, words: list[str]) -> None:
        said = shell(*words)
        assert said.code != 0
        assert "recall" in said.err

    def test_the_storage_is_named_before_the_sub_command(
        self, shell: Shell, models: Path, tmp_path: Path
    ) -> None:
        with connect(tmp_path / "elsewhere.db") as door:
            door.ingest(str(models))
        there = ["memory", "--storage", "elsewhere.db"]
        assert shell(*there, "save", "--learning", "a note", "--entities", "status").code == 0
        assert json.loads(shell("search", "--json").out)["memories"] == []
        found = json.loads(shell("search", "--storage", "elsewhere.db", "--json").out)
        assert [hit["id"] for hit in found["memories"]] == ["1"]
        assert shell(*there, "forget", "1").code == 0

    def test_a_search_takes_every_argument_and_prints_json(self, shell: Shell) -> None:
        shell("memory", "save", "--learning", "refunds come late: “mind”", "--entities", "orders.amount")
        said = shell(
            *("search", "--json", "--entities", "orders.amount,no_such", "--query", json.dumps(QUERY)),
            *("--question", 'refunds of orders: "late', "--datasource", "mydb"),
            *("--max-memories", "3", "--max-example-queries", "0", "--max-entities", "1"),
        )
        found = json.loads(said.out)
        assert (said.code, found["memories"][0]["text"]) == (0, "refunds come late: “mind”")
        assert len(found["entities"]) == 1
        assert any("no_such" in warning for warning in found["warnings"])

    def test_a_search_can_give_one_list(self, shell: Shell) -> None:
        shell("memory", "save", "--learning", "refunds come late", "--entities", "orders.amount")
        found = json.loads(shell("search", "--question", "refunds", "--max-results", "1", "--json").out)
        assert [(hit["id"], hit["text"]) for hit in found["results"]] == [("1", "")]

    def test_a_search_can_keep_some_kinds(self, shell: Shell) -> None:
        shell("memory", "save", "--learning", "a note", "--entities", "orders.amount")
        form = "MATCH (n:Memory) RETURN n.id AS id"
        said = shell("search", "--json", "--entities", "orders.amount", "--cypher-filter", form)
        assert [hit["kind"] for hit in json.loads(said.out)["results"]] == ["memory"]
        said = shell("search", "--entities", "orders.amount", "--cypher-filter", "MATCH (n)")
        assert (said.code, "cypher_filter" in said.err) == (1, True)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--datasource", "no_such"], "no_such"),
            (["--max-memories", "-1"], "max_memories"),
            (["--max-results", "0"], "max_results"),
            (["--query", "nonsense"], "query"),
        ],
    )
    def test_a_search_that_is_wrong_leaves_with_1_and_a_reason(
        self, shell: Shell, words: list[str], said: str
    ) -> None:
        answer = shell("search", *words)
        assert answer.code == 1
        assert said in answer.err

    def test_it_works_as_a_process(self, models: Path, tmp_path: Path) -> None:
        environment = os.environ | {"ONRECORD_DB": str(tmp_path / "process.db")}

        def call(*words: str) -> subprocess.CompletedProcess[str]:
            command = relayed("from onrecord.surfaces.cli import main; main()", *words)
            return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

        assert call("ingest", str(models)).returncode == 0
        saved = call("slayer", "memory", "save", "--learning", "late refunds", "--entities", "orders.amount")
        assert saved.stdout == f"Saved memory 1.\nResolved entities: {AMOUNT}\n"
        assert json.loads(call("slayer", "search", "--question", "refunds", "--json").stdout)["memories"]
        assert call("slayer", "memory", "forget", "1").stdout == "Forgot memory 1.\n"
        missing = call("slayer", "memory", "forget", "1")
        assert (missing.returncode, "Traceback" in missing.stderr) == (1, False)
