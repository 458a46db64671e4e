"""DOES the semantic layer's vocabulary hold wherever it is spoken? In Python, before a server, over HTTP, by tools and at a shell."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client

from onrecord import OnRecord, connect
from onrecord.faces import slayer
from onrecord.faces.slayer import SlayerClient
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from onrecord.text.tokens import count_tokens

from ..surfaces.conftest import Served
from ..surfaces.conftest import Shell as Command
from ..surfaces.test_mcp import Agent, introduce, said
from .conftest import Model, ids, model, shop, write_models

__all__ = ["introduce"]
QUERY = {"source_model": "orders", "dimensions": ["status"]}


class Refused(Exception):
    """What was wrong, in the words of the surface."""


class Everywhere:
    """One store with the shop in it, and every way to speak to it."""

    def __init__(self, server: Served, agent: Agent, shell: Command) -> None:
        self.door: OnRecord = server.parts.door
        self._server, self._agent, self.shell = server, agent, shell

    def ask(self, way: str, name: str, /, **given: Any) -> Any:
        answer: Any = getattr(self, f"_{way}")(name, **given)
        return answer

    def _python(self, name: str, /, **given: Any) -> Any:
        try:
            return getattr(slayer, name)(self.door, **given)
        except ValueError as problem:
            raise Refused(str(problem)) from None

    def _client(self, name: str, /, **given: Any) -> Any:
        async def talk() -> Any:
            client = SlayerClient(self._server.url)
            try:
                return await getattr(client, name)(**given)
            finally:
                await client.close()

        try:
            return asyncio.run(talk())
        except ValueError as problem:
            raise Refused(str(problem)) from None

    def _tool(self, name: str, /, **given: Any) -> Any:
        result = self._agent.call(name, **given)
        if said(result).startswith("Error: "):
            raise Refused(said(result))
        return result.structured_content if result.structured_content is not None else said(result)

    def _http(self, name: str, /, **given: Any) -> Any:
        path = {"save_memory": "/memories", "search": "/search"}[name]
        answer = self._server.client.post(path, json=given)
        if not answer.is_success:
            raise Refused(answer.json()["detail"])
        return answer.json()

    def _command(self, name: str, /, **given: Any) -> Any:
        words = {
            "save_memory": ["memory", "save"],
            "search": ["search"],
            "inspect_model": ["inspect", given.pop("model_name", "")],
            "ingest_datasource_models": ["ingest", given.pop("path", "")],
        }[name]
        for option, value in given.items():
            if value is True:
                words.append(f"--{option.replace('_', '-')}")
            elif option == "linked_entities":
                words += ["--entities", ",".join(value)]
            else:
                words += [f"--{option.replace('_', '-')}", str(value)]
        spoken = self.shell("slayer", *words, "--json")
        if spoken.code:
            raise Refused(spoken.err)
        return spoken.json


@pytest.fixture
def everywhere(
    tmp_path: Path, introduce: Callable[[Client], Agent], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Everywhere]:
    """The shop and its people, in a store that has notes on both."""
    people = model("mydb", "Employees", "EmployeeId LastName ReportsTo HireDate")
    models = write_models(tmp_path / "layer", [*shop(), people], priority=["mydb", "other"])
    monkeypatch.setenv("ONRECORD_DB", str(tmp_path / "served.db"))
    server = Served(worker="no", faces="native,slayer", sources=str(models))
    door = server.parts.door
    door.ingest(str(models))
    for id, text, reference in (
        ("rep", "NULL here means that the person is at the top of the hierarchy", "Employees.ReportsTo"),
        ("paid", "'open' and 'paid' are the usual ones; treat NULL as open", "orders.status"),
        ("cents", "stored in cents", "invoices.amount"),
    ):
        slayer.save_memory(door, text, [reference], id=id)
    if door.status().embedder is not None:
        door.embed_missing()
    tools = ToolRequest(door, chosen(["slayer"]))
    yield Everywhere(server, introduce(Client(build_server(lambda context: tools))), Command(monkeypatch))
    server.stop()


WAYS = ["python", "client", "tool", "http", "command"]
everywhere_spoken = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(params=["built-in", "none"])
def embedder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "none":
        monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    return str(request.param)


def test_a_note_is_found_by_every_word_of_what_it_is_about(embedder: str, everywhere: Everywhere) -> None:
    for way in WAYS:
        for question, first in (("employee", "rep"), ("orders", "paid"), ("invoice", "cents")):
            assert ids(everywhere.ask(way, "search", question=question)["memories"]) == [first], (
                way,
                question,
            )


def test_who_asks_for_a_customer_finds_the_column_that_names_one(
    embedder: str, everywhere: Everywhere
) -> None:
    for way in WAYS:
        found = ids(everywhere.ask(way, "search", question="customer")["entities"])
        assert {"mydb.customers", "mydb.orders.customer_id"} <= set(found), way
        for question in ("customer_id", "what is customer_id?", "orders.customer_id"):
            named = ids(everywhere.ask(way, "search", question=question)["entities"])
            assert named[0] == "mydb.orders.customer_id", (way, question)


def test_every_way_tells_whose_word_a_note_is(everywhere: Everywhere) -> None:
    agent = everywhere.door.as_caller(replace(everywhere.door.caller, actor="agent"))
    slayer.save_memory(agent, "grouped by the week", ["regions.name"], id="week")
    slayer.save_memory(agent, "all of them", {"source_model": "regions"}, id="all")
    slayer.save_memory(everywhere.door, "of 2024", ["regions.name"], id="year")
    whose = {"week": ("ann", "agent"), "all": ("ann", "agent"), "year": ("ann", "person")}
    for way in WAYS:
        found = (
            everywhere.ask(way, "search", entities=["regions", "regions.name"])
            if way != "command"
            else (everywhere.ask(way, "search", entities="regions,regions.name"))
        )
        hits = [*found["memories"], *found["example_queries"]]
        assert {hit["id"]: (hit["author"], hit["tier"]) for hit in hits} == whose, way
        if way != "http":
            told = everywhere.ask(way, "inspect_model", model_name="regions", format="json")["learnings"]
            assert {each["id"]: each["tier"] for each in told} == {"week": "agent", "year": "person"}, way
    text = everywhere.shell("slayer", "search", "--entity", "regions.name").out
    assert "  M week (score=0.0164, by an agent)\n" in text
    assert ", by a person)\n    of 2024" in text


def test_a_misspelt_datasource_comes_with_the_one_that_is_near(everywhere: Everywhere) -> None:
    for way in WAYS:
        with pytest.raises(Refused, match=r"'mydbb' .*Did you mean 'mydb'\?"):
            everywhere.ask(way, "save_memory", learning="a note", linked_entities=["mydbb.orders.amount"])
        with pytest.raises(
            Refused, match=r"'mydbb' not found; known: \[mydb, other\]; did you mean 'mydb'\?"
        ):
            everywhere.ask(way, "search", question="orders", datasource="mydbb")
        if way != "http":
            with pytest.raises(Refused, match=r"Datasource 'othr' not found; .*did you mean 'other'\?"):
                everywhere.ask(way, "inspect_model", model_name="orders", data_source="othr")
    for name, given in (
        ("models_summary", {"datasource_name": "othr"}),
        ("delete_datasource", {"name": "othr"}),
    ):
        with pytest.raises(Refused, match=r"Datasource 'othr' not found; .*did you mean 'other'\?"):
            everywhere.ask("tool", name, **given)


def test_a_cap_above_the_most_is_told(everywhere: Everywhere) -> None:
    for way in WAYS:
        found = everywhere.ask(way, "search", question="cents", max_memories=201, max_entities=200)
        (warning,) = found["warnings"]
        assert warning.startswith("max_memories: ")
        assert "200" in warning
        name = "search_flat" if way in ("python", "client") else "search"
        flat = everywhere.ask(way, name, question="cents", max_results=999)
        assert any(warning.startswith("max_results: ") for warning in flat["warnings"])


def test_an_unknown_model_comes_with_those_that_are_near(everywhere: Everywhere) -> None:
    for way in WAYS:
        for reference in ("ordrs", "ordrs.amount", "mydb.ordrs", "employee.ReportsTo"):
            with pytest.raises(Refused, match=r"Did you mean 'mydb\.(orders|Employees)'"):
                everywhere.ask(way, "save_memory", learning="a note", linked_entities=[reference])


def test_a_name_that_is_not_the_catalogs_is_not_kept(everywhere: Everywhere) -> None:
    before = everywhere.door.status()
    for way in WAYS:
        for reference in ("thing:Oslo", " thing:Oslo"):
            with pytest.raises(Refused, match="thing:Oslo"):
                everywhere.ask(
                    way, "save_memory", learning="a note", linked_entities=["orders.id", reference]
                )
        assert everywhere.door.status().tenants == before.tenants


@everywhere_spoken
def test_ids_go_on_past_one_that_was_retired(everywhere: Everywhere, way: str) -> None:
    def save(**more: Any) -> str:
        saved = everywhere.ask(way, "save_memory", learning="a note", linked_entities=["orders.id"], **more)
        return str(saved["memory_id"])

    assert save(id="41") == "41"
    everywhere.door.retire("41")
    assert [save(), save()] == ["42", "43"]
    assert save(id="99") == "99"
    everywhere.door.retire("99")
    slayer.forget_memory(everywhere.door, "43")
    # Neither a retired id nor a forgotten one is given to another.
    assert [save(), save(id="44")] == ["100", "44"]


def test_a_look_at_a_model_stays_within_its_tokens(everywhere: Everywhere, tmp_path: Path) -> None:
    names = " ".join(f"column_with_a_long_name_{number}" for number in range(2_000))
    wide = model("mydb", "wide", names, description="Many. " * 3_000)
    everywhere.door.ingest(str(write_models(tmp_path / "layer", [wide])))
    for way, asked in product(("python", "client", "tool", "command"), ({}, {"max_tokens": 1_000})):
        told = everywhere.ask(way, "inspect_model", model_name="wide", format="json", **asked)
        assert count_tokens(json.dumps(told, ensure_ascii=False)) <= asked.get("max_tokens", 8_000)
        (cut_text, cut_columns) = told["notes"]
        assert cut_text.startswith("description is cut")
        shown = len(told["columns"])
        assert cut_columns.startswith(f"{2_000 - shown} of 2000 columns are left out")
        assert "max_tokens" in cut_columns
    more = everywhere.ask("client", "inspect_model", model_name="wide", format="json", max_tokens=200_000)
    assert len(more["columns"]) == 2_000
    assert more["notes"] == []


@pytest.mark.parametrize("way", ["python", "client", "tool", "command"])
def test_an_ingest_names_what_is_gone_and_what_notes_lost_by_it(
    everywhere: Everywhere, tmp_path: Path, way: str
) -> None:
    slayer.save_memory(everywhere.door, "both", ["regions.name", "orders.amount", "orders.id"], id="both")
    layer = tmp_path / "layer" / "models" / "mydb"
    (layer / "regions.yaml").unlink()
    held = yaml.safe_load((layer / "orders.yaml").read_text())
    held["columns"] = [each for each in held["columns"] if each["name"] not in ("amount", "status")]
    held["measures"] = []
    (layer / "orders.yaml").write_text(yaml.safe_dump(held))
    path = str(tmp_path / "layer")
    gone = ["mydb.orders.amount", "mydb.orders.aov", "mydb.orders.status", "mydb.regions"]
    lost = {"both": ["mydb.regions.name", "mydb.orders.amount"], "paid": ["mydb.orders.status"]}
    for dry_run in (True, False):
        told = everywhere.ask(
            way, "ingest_datasource_models", path=path, **({"dry_run": True} if dry_run else {})
        )
        assert told["gone_entities"] == gone
        assert {each["memory"]: each["entities"] for each in told["lost"]} == lost
        assert told["stripped"] == 2
        assert ("mydb.orders.status" in everywhere.door.show("paid").memory.entities) is dry_run
    assert everywhere.door.show("both").memory.entities == ("mydb.orders.id",)


@pytest.mark.parametrize("way", ["python", "client", "tool"])
class TestModels:
    def test_they_are_listed(self, everywhere: Everywhere, way: str) -> None:
        told = everywhere.ask(way, "list_datasources")["datasources"]
        assert [(each["name"], each["models"]) for each in told] == [("mydb", 5), ("other", 2)]
        summary = everywhere.ask(way, "models_summary", datasource_name="other", format="json")
        assert [each["name"] for each in summary["models"]] == ["other.mydb", "other.users"]
        assert "`mydb.Employees`" in everywhere.ask(way, "models_summary")
        assert "columns: id, name" in everywhere.ask(way, "models_summary", compact=False)
        with pytest.raises(Refused, match=r"'nope' not found; known: \[mydb, other\]"):
            everywhere.ask(way, "models_summary", datasource_name="nope")

    def test_parts_are_taken_out_by_what_they_are(self, everywhere: Everywhere, way: str) -> None:
        slayer.save_memory(
            everywhere.door, "of all", ["orders.aov", "orders.weighted_score", "orders.id"], id="all"
        )
        told = everywhere.ask(
            way,
            "edit_model",
            model_name="orders",
            remove={"columns": ["status"], "measures": ["aov"], "aggregations": ["weighted_score"]},
        )
        assert told == {
            "model": "mydb.orders",
            "removed": ["mydb.orders.status", "mydb.orders.aov", "mydb.orders.weighted_score"],
            "stripped_memories": 2,
        }
        assert everywhere.door.show("all").memory.entities == ("mydb.orders.id",)

    def test_what_cannot_be_taken_out_takes_nothing(self, everywhere: Everywhere, way: str) -> None:
        for remove, named in (
            ({"columns": ["id"], "measures": ["amount"]}, "'amount' is a column"),
            ({"columns": ["no_such"]}, "no_such"),
            ({"columns": ["id"], "joins": ["customers"]}, "joins"),
            ({"columns": []}, "remove.columns"),
            ({}, "remove"),
        ):
            with pytest.raises(Refused, match=named):
                everywhere.ask(way, "edit_model", model_name="orders", remove=remove)
            assert everywhere.door.entities("mydb.orders").total == 7


def test_errors_in_python_are_value_errors_and_ours(everywhere: Everywhere) -> None:
    for name, given in (
        ("save_memory", {"learning": "", "linked_entities": ["orders"]}),
        ("save_memory", {"learning": "x", "linked_entities": []}),
        ("save_memory", {"learning": "x", "linked_entities": ["nope"]}),
        ("save_memory", {"learning": "x", "linked_entities": ["amount"]}),
        ("save_memory", {"learning": "x", "linked_entities": ["orders"], "id": "a b"}),
        ("forget_memory", {"identifier": "99"}),
        ("search", {"max_memories": -1}),
        ("search", {"datasource": "nope"}),
        ("search_flat", {"max_results": 0}),
        ("inspect_model", {"model_name": "nope"}),
        ("inspect_model", {"model_name": "orders", "format": "html"}),
        ("models_summary", {"datasource_name": "nope"}),
        ("ingest_datasource_models", {"path": ""}),
        ("delete_model", {"name": "nope"}),
        ("delete_datasource", {"name": "nope"}),
        ("edit_model", {"model_name": "nope", "remove": {"columns": ["id"]}}),
        ("edit_model_remove", {"name": "orders", "remove": []}),
    ):
        with pytest.raises(ValueError) as at_hand:
            getattr(slayer, name)(everywhere.door, **given)
        with pytest.raises(Refused) as over_http:
            everywhere.ask("client", name, **given)
        assert str(over_http.value) == str(at_hand.value)


def test_an_empty_catalog_says_what_to_do_first(everywhere: Everywhere) -> None:
    for datasource in ("mydb", "other"):
        slayer.delete_datasource(everywhere.door, datasource)
    for way in WAYS:
        with pytest.raises(Refused, match="ingest a source first"):
            everywhere.ask(way, "save_memory", learning="a note", linked_entities=["orders"])
        with pytest.raises(Refused, match="ingest a source first"):
            everywhere.ask(way, "search", datasource="mydb")
        if way != "http":
            with pytest.raises(Refused, match="ingest a source first"):
                everywhere.ask(way, "inspect_model", model_name="orders")


class TestAtAShell:
    @pytest.fixture
    def shell(self, everywhere: Everywhere) -> Command:
        return everywhere.shell

    def test_references_are_given_one_by_one_and_found_in_plain_text(self, shell: Command) -> None:
        told = shell("slayer", "search", "--entity", "orders.status", "--entity", "invoices.amount")
        assert told.code == 0
        lines = told.out.splitlines()
        assert lines[0] == "Resolved input entities: mydb.orders.status, mydb.invoices.amount"
        assert lines[1] == "Memories (2):"
        assert lines[2].startswith("  M paid (score=0.0")
        assert lines[3] == "    'open' and 'paid' are the usual ones; treat NULL as open"
        assert (
            told.out
            == shell(
                "slayer", "search", "--entities", "orders.status,invoices.amount", "--format", "text"
            ).out
        )
        listed = shell("slayer", "search", "--entity", "orders.status", "--format", "json").json
        assert ids(listed["memories"]) == ["paid"]

    def test_one_list_shows_what_each_is(self, shell: Command) -> None:
        shell(
            "slayer",
            "memory",
            "save",
            "--learning",
            "by status",
            "--query",
            json.dumps(QUERY),
            "--id",
            "example",
        )
        out = shell("slayer", "search", "--entity", "orders.status", "--max-results", "9").out
        assert "Results (" in out
        assert {"  M paid", "  Q example", "  [column] mydb.orders.status"} <= {
            line.partition(" (score")[0] for line in out.splitlines()
        }

    def test_a_preview_can_be_given_and_the_whole_be_asked_for(self, shell: Command) -> None:
        words = ("--learning", "a long story", "--entities", "orders.id", "--description", "in short")
        assert shell("slayer", "memory", "save", *words).code == 0
        assert "    in short" in shell("slayer", "search", "--entity", "orders.id", "--max-results", "1").out
        assert (
            "    a long story"
            in shell("slayer", "search", "--entity", "orders.id", "--max-results", "9", "--verbose").out
        )

    def test_a_model_is_looked_at(self, shell: Command) -> None:
        told = shell(
            "slayer", "inspect", "orders", "--type", "model", "--section", "columns", "--section", "learnings"
        )
        assert "## Columns (5)" in told.out
        assert "- **Mpaid** (`mydb.orders.status`; by a person)" in told.out
        assert "## Joins" not in told.out
        assert shell("slayer", "inspect", "orders", "--format", "json").json["name"] == "orders"
        assert shell("slayer", "inspect", "ordrs").code == 1

    def test_models_are_listed_and_deleted(self, shell: Command, everywhere: Everywhere) -> None:
        assert "mydb.orders" in shell("slayer", "models", "list").out.splitlines()
        assert shell("slayer", "datasources", "list").out.splitlines() == ["mydb", "other"]
        assert shell("slayer", "models", "delete", "regions").out.startswith(
            "Deleted mydb.regions; 0 memories"
        )
        assert shell("slayer", "delete", "invoices").out.startswith("Deleted mydb.invoices; 1 ")
        assert shell("slayer", "datasources", "delete", "other").code == 0
        assert shell("slayer", "delete", "mydb", "--type", "datasource").code == 0
        assert everywhere.door.entities().total == 0
        assert shell("slayer", "models", "delete", "orders").code == 1

    def test_an_ingest_tells_what_is_gone(self, shell: Command, tmp_path: Path) -> None:
        (tmp_path / "layer" / "models" / "mydb" / "invoices.yaml").unlink()
        for words, lost in ((["--dry-run"], "would lose"), ([], "lost")):
            out = shell("slayer", "ingest", str(tmp_path / "layer"), *words).out
            assert "gone: mydb.invoices" in out.splitlines()
            assert f"#cents {lost} mydb.invoices.amount" in out.splitlines()


def slayer_store(path: Path, models: list[Model], memories: list[dict[str, Any]]) -> Path:
    """A store in the tables and the JSON that the semantic layer itself writes."""
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE models (data_source TEXT NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL,
                                 PRIMARY KEY (data_source, name));
            CREATE TABLE datasources (name TEXT PRIMARY KEY, data TEXT NOT NULL);
            CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE memories (id TEXT PRIMARY KEY, data TEXT NOT NULL);
            CREATE TABLE memory_entities (memory_id TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
                                          entity TEXT NOT NULL, PRIMARY KEY (memory_id, entity));
            """
        )
        for each in models:
            row = (each["data_source"], each["name"], json.dumps(each))
            database.execute("INSERT INTO models VALUES (?, ?, ?)", row)
        reached = {"version": 2, "type": "postgres", "username": "reader", "password": "hunter2hunter2"}
        for name in {each["data_source"] for each in models}:
            row = (name, json.dumps({**reached, "name": name, "description": f"All of {name}."}))
            database.execute("INSERT INTO datasources VALUES (?, ?)", row)
        database.execute("INSERT INTO settings VALUES ('datasource_priority', '[\"mydb\", \"other\"]')")
        for each in memories:
            database.execute("INSERT INTO memories VALUES (?, ?)", (each["id"], json.dumps(each)))
    database.close()
    return path


def held(id: str, learning: str, *entities: str, **more: Any) -> dict[str, Any]:
    return {
        "version": 2,
        "id": id,
        "learning": learning,
        "entities": list(entities),
        "created_at": "2025-04-01T08:30:00+00:00",
        **more,
    }


class TestTakingOver:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Path:
        models = [{**each, "version": 7} for each in shop()]
        models[0]["columns"][2] |= {"sampled_values": ["open", "paid"], "distinct_count": 2}
        notes = [
            held("1", "mind the example", "mydb.orders.status", "memory:kb.paid"),
            held("kb.paid", "paid orders", "mydb.orders", query={"version": 3, **QUERY}, description="paid"),
            held("3", "about what is gone", "mydb.gone.x", "mydb.orders.id"),
            held("4", "with an old query", "mydb.orders", query={"source_model": "gone"}),
        ]
        return slayer_store(tmp_path / "slayer.db", models, notes)

    def check(self, door: OnRecord, warnings: list[str]) -> None:
        first = door.show("1").memory
        assert first.entities == ("mydb.orders.status", "memory:kb.paid")
        assert first.created_at.isoformat() == "2025-04-01T08:30:00+00:00"
        assert door.show("kb.paid").memory.query is not None
        assert door.show("kb.paid").memory.hint == "paid"
        assert door.show("3").memory.entities == ("mydb.orders.id",)
        assert door.show("4").memory.query is None
        assert [warning.partition(":")[0] for warning in warnings] == ["memory 3", "memory 4"]
        assert slayer.save_memory(door, "next", ["orders.id"])["memory_id"] == "5"
        assert "hunter2" not in json.dumps([each.text for each in door.entities().entities])
        assert "`open`, `paid`" in slayer.inspect_model(door, "orders")

    def test_models_and_notes_come_with_their_ids_and_times(self, store: Path) -> None:
        with connect(":memory:") as door:
            told = slayer.import_store(door, store)
            assert told["memories"] == 4
            assert told["ingested"]["added"]["models"] == 6
            self.check(door, told["warnings"])

    def test_a_second_time_changes_nothing(self, store: Path) -> None:
        with connect(":memory:") as door:
            slayer.import_store(door, store)
            before = [replace(memory) for memory in door.browse(limit=9).memories]
            again = slayer.import_store(door, store)
            assert again["ingested"]["added"]["models"] == 0
            after = door.browse(limit=9).memories
            assert {each.id: each.created_at for each in after} == {
                each.id: each.created_at for each in before
            }

    def test_it_is_done_at_a_shell(self, store: Path, everywhere: Everywhere, tmp_path: Path) -> None:
        new = str(tmp_path / "new.db")
        told = everywhere.shell("--db", new, "slayer", "import", str(store))
        assert told.out.startswith("Took over 4 memories; 6 models are new.\nWarning: memory 3: ")
        with connect(new) as door:
            self.check(door, [line.removeprefix("Warning: ") for line in told.out.splitlines()[1:]])

    def test_an_ingest_takes_its_models_alone_and_says_so(self, store: Path) -> None:
        with connect(":memory:") as door:
            told = door.ingest(str(store))
            assert (told.source, told.added.models) == ("model store", 6)
            assert told.notes[0].startswith("It also holds 4 memories, which an ingest leaves there;")
            assert door.prioritise().datasources == ("mydb", "other")
            assert door.browse().memories == ()

    def test_a_row_that_cannot_be_understood_takes_nothing_over(self, store: Path) -> None:
        with sqlite3.connect(store) as database:
            row = ("bad", json.dumps({"id": "bad", "entities": ["mydb.orders"]}))
            database.execute("INSERT INTO memories VALUES (?, ?)", row)
        database.close()
        with connect(":memory:") as door:
            with pytest.raises(ValueError, match=r"memory 'bad': learning: is missing"):
                slayer.import_store(door, store)
            assert door.entities().total == 0

    def test_what_is_no_such_store_is_refused(self, tmp_path: Path) -> None:
        with sqlite3.connect(tmp_path / "plain.db") as database:
            database.execute("CREATE TABLE models (id INTEGER, colour TEXT)")
        database.close()
        with connect(":memory:") as door:
            with pytest.raises(ValueError, match="not a SQLite store of slayer"):
                slayer.import_store(door, tmp_path / "plain.db")
            assert door.ingest(str(tmp_path / "plain.db")).source == "database"
