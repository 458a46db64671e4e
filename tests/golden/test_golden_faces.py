"""DOES every face say what it said? Sessions in the words of other systems, through every way in that they know.

The sessions of arbiter, checkstack and datamind's tools are kept beside the tests of these faces; here is the rest.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.app import local_caller
from onrecord.config import load
from onrecord.faces import slayer
from onrecord.faces.datamind import open_memory
from onrecord.model.limits import PERMISSIONS
from tests.conftest import Clock
from tests.faces.conftest import shop, write_models
from tests.surfaces.conftest import Served, Shell
from tests.surfaces.test_mcp import Agent

from .conftest import Transcript
from .test_golden_surfaces import Http, said_by

pytestmark = pytest.mark.golden
JSON = {"Content-Type": "application/json"}
PAID = {"source_model": "orders", "measures": [{"formula": "amount:sum"}], "filters": ["status = 'paid'"]}
ONLY_COLUMNS = "MATCH (n:Column) RETURN n.id AS id"

#: What a user of the semantic layer calls, with what.
SESSION: tuple[tuple[str, dict[str, Any]], ...] = (
    ("save_memory", {"learning": "Amounts are in cents.", "linked_entities": ["orders.amount"]}),
    (
        "save_memory",
        {"learning": "Orders hold returns too.", "linked_entities": ["orders", "orders.amount:sum"]},
    ),
    (
        "save_memory",
        {
            "learning": "Paid revenue",
            "linked_entities": PAID,
            "id": "kb.paid",
            "description": "What was paid for.",
        },
    ),
    (
        "save_memory",
        {"learning": "Regions are sales regions.", "linked_entities": ["regions.name"], "id": 42},
    ),
    ("save_memory", {"learning": "The password=Xk29fLq81vTz opens it.", "linked_entities": ["users"]}),
    ("save_memory", {"learning": "Replaced.", "linked_entities": ["regions"], "id": 42}),
    ("save_memory", {"learning": "A note.", "linked_entities": []}),
    ("save_memory", {"learning": " ", "linked_entities": ["orders"]}),
    ("save_memory", {"learning": "A note.", "linked_entities": ["amount"]}),
    ("save_memory", {"learning": "A note.", "linked_entities": ["nowhere"]}),
    ("save_memory", {"learning": "A note.", "linked_entities": ["orders"], "id": "a:b"}),
    ("save_memory", {"learning": "A note.", "linked_entities": {"source_model": "orders", "colour": "red"}}),
    ("search", {}),
    ("search", {"question": "cents"}),
    ("search", {"entities": ["orders.amount", "nothing"], "max_entities": 2}),
    ("search", {"query": PAID, "max_memories": 1}),
    ("search", {"question": "regions", "datasource": "mydb", "max_example_queries": 0}),
    ("search", {"datasource": "nowhere"}),
    ("search", {"max_memories": -1}),
    ("search_flat", {"question": "paid revenue", "max_results": 5}),
    ("search_flat", {"question": "amount", "max_results": 3, "compact": False}),
    ("search_flat", {"entities": ["orders.amount"], "cypher_filter": ONLY_COLUMNS}),
    ("search_flat", {"entities": ["memory:42"], "max_results": 2}),
    ("search_flat", {"cypher_filter": "MATCH (n) DELETE n"}),
    ("search_flat", {"max_results": 0}),
    ("inspect_model", {"model_name": "orders"}),
    (
        "inspect_model",
        {"model_name": "orders", "format": "json", "show_sql": True, "sections": ["measures", "joins"]},
    ),
    ("inspect_model", {"model_name": "nowhere"}),
    ("forget_memory", {"identifier": "kb.paid"}),
    ("forget_memory", {"identifier": "kb.paid"}),
    ("forget_memory", {"identifier": "a:b"}),
    ("list_datasources", {}),
    ("models_summary", {"datasource_name": "mydb"}),
    ("edit_model", {"model_name": "orders", "remove": {"columns": ["status"]}}),
    ("edit_model", {"model_name": "orders", "remove": {"columns": ["nowhere"]}}),
    ("delete_model", {"name": "regions"}),
    ("delete_model", {"name": "regions"}),
    ("delete_datasource", {"name": "other"}),
    ("search", {"question": "regions"}),
)
#: What some of these are called as tools.
TOOLS = {"search_flat": "search"}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return write_models(tmp_path / "layer", shop(), priority=["mydb", "other"])


@pytest.fixture
def store(tmp_path: Path, models: Path, clock: Clock) -> Path:
    """A store that has read the shop."""
    path = tmp_path / "faces.db"
    with connect(path) as door:
        door.ingest(str(models))
    return path


@pytest.fixture
def door(store: Path) -> Iterator[OnRecord]:
    with connect(store) as door:
        yield door


def _named(name: str, given: dict[str, Any]) -> str:
    return f"{name} {json.dumps(given, ensure_ascii=False)}"


def test_slayer_in_python(door: OnRecord, clock: Clock) -> None:
    transcript = Transcript()
    for name, given in SESSION:
        clock.tick(minutes=1)
        transcript.call(
            _named(name, given), lambda name=name, given=given: getattr(slayer, name)(door, **given)
        )
    transcript.check("faces/slayer.python.txt")


def test_slayer_by_its_tools(door: OnRecord, clock: Clock, agents: Callable[[OnRecord, str], Agent]) -> None:
    transcript, agent = Transcript(), agents(door, "slayer")
    for name, given in SESSION:
        clock.tick(minutes=1)
        fields = {"id" if field == "identifier" else field: value for field, value in given.items()}
        tool = TOOLS.get(name, name)
        transcript.note(_named(tool, fields), *said_by(agent.call(tool, **fields)))
    transcript.check("faces/slayer.mcp.txt")


def test_slayer_over_http(store: Path, clock: Clock, served: Callable[..., Served]) -> None:
    transcript = Transcript()
    http = Http(served(db=str(store)).client, transcript)
    for name, given in SESSION:
        clock.tick(minutes=1)
        if name == "save_memory":
            http.send("POST", "/memories", JSON, json.dumps(given).encode())
        elif name.startswith("search"):
            http.send("POST", "/search", JSON, json.dumps(given).encode())
        elif name == "forget_memory":
            http.send("DELETE", f"/memories/{given['identifier']}")
    transcript.check("faces/slayer.rest.txt")


def test_slayer_at_a_shell(store: Path, clock: Clock, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = Transcript()
    monkeypatch.setenv("ONRECORD_DB", str(store))
    for name, given in SESSION:
        clock.tick(minutes=1)
        words = list(_words(name, given))
        if words:
            came = shell("slayer", *words)
            transcript.note(f"$ onrecord slayer {' '.join(words)}", f"{came.out}{came.err}[{came.code}]")
    transcript.check("faces/slayer.shell.txt")


def _words(name: str, given: dict[str, Any]) -> Iterator[str]:
    """The same as a person types it, where there is a command."""
    if name == "forget_memory":
        yield from ("memory", "forget", given["identifier"])
        return
    if name not in ("save_memory", "search", "search_flat"):
        return
    yield from ("memory", "save") if name == "save_memory" else ("search",)
    for field, value in given.items():
        if field == "compact":
            yield "--compact" if value else "--no-compact"
        elif isinstance(value, dict):
            yield from ("--query", json.dumps(value))
        elif isinstance(value, list):
            yield from ("--entities", ",".join(value))
        else:
            yield from (f"--{field.replace('_', '-')}", str(value))


def test_datamind_over_http(tmp_path: Path, clock: Clock, served: Callable[..., Served]) -> None:
    db = tmp_path / "datamind.db"
    with connect(db) as door:
        for content, kind, scope in (
            ("ARR means annual recurring revenue here.", "fact", "tenant"),
            ("We decided to report ARR quarterly.", "decision", "tenant"),
            ("Always cite sources.", "preference", "global"),
            ("Contracts are reviewed by two partners.", "workflow", "tenant"),
        ):
            clock.tick(minutes=1)
            door.remember(content, kind=kind, scope=scope)
        profile = door.caller.tenant
    transcript = Transcript()
    http = Http(served(db=str(db)).client, transcript)
    for path in (
        profile,
        f"{profile}?query=what+does+ARR+mean",
        f"{profile}?query=sources&top_k=1",
        f"{profile}?query=zeppelin",
        f"{profile}?top_k=many",
        f"{profile}?colour=red",
        "someone-else?query=ARR",
    ):
        http.send("GET", f"/api/memory/{path}")
    transcript.check("faces/datamind.rest.txt")


def test_datamind_in_python(tmp_path: Path, clock: Clock) -> None:
    transcript = Transcript(folder=str(tmp_path))
    service = open_memory(storage=tmp_path / "datamind.db")
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("save", {"content": "ARR means annual recurring revenue here.", "profile": "lawfirm-A"}),
        ("save", {"content": "Always cite sources.", "scope": "global", "kind": "preference"}),
        (
            "save",
            {
                "content": "Take the reviewer's side.",
                "scope": "session",
                "session_id": "s1",
                "profile": "lawfirm-A",
            },
        ),
        ("save", {"content": "x", "kind": "opinion", "profile": "lawfirm-A"}),
        ("recall", {"query": "what does ARR mean", "profile": "lawfirm-A"}),
        ("recall", {"query": "reviewer", "profile": "lawfirm-A", "session_id": "s1"}),
        ("recall", {"query": "ARR", "profile": "saas-B"}),
        ("recall", {"query": "cite sources", "profile": "saas-B"}),
        ("list_profiles", {}),
        ("forget", {"item_id": "{first}"}),
        ("forget", {"item_id": "{first}"}),
        ("forget", {"item_id": "nowhere"}),
        ("list_profiles", {}),
    )
    first: list[str] = []

    def call(name: str, given: dict[str, Any]) -> str:
        fields = {"item_id": first[0]} if given.get("item_id") == "{first}" else given
        came = asyncio.run(getattr(service, name)(**fields))
        if name == "save":
            first.append(came)
        return repr(came)

    for name, given in calls:
        clock.tick(minutes=1)
        transcript.call(_named(name, given), lambda name=name, given=given: call(name, given))
    transcript.check("faces/datamind.python.txt")


@pytest.mark.parametrize("face", ["native", "full", "slayer", "datamind", "checkstack", "data_platform"])
def test_the_tools_of_a_face_are_described_as_they_were(
    face: str, clock: Clock, agents: Callable[[OnRecord, str], Agent]
) -> None:
    transcript = Transcript()
    with connect(":memory:", caller=local_caller(load())) as door:
        for who, caller in (
            (
                "everyone who may do all",
                Caller(tenant="acme", user="ann", permissions=frozenset(PERMISSIONS)),
            ),
            ("an agent", Caller(tenant="acme", user="ann", actor="agent")),
            ("a run that nobody watches", Caller(tenant="acme", user="ann", actor="unattended", run="night")),
        ):
            listed = (
                agents(door.as_caller(caller), face)
                .listed()
                .model_dump(mode="json", by_alias=True, exclude_none=True)
            )
            names = [tool["name"] for tool in listed["tools"]]
            transcript.note(who, listed if who.startswith("everyone") else ", ".join(names))
    transcript.check(f"schemas/tools.{face}.txt")
