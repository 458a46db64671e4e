"""The same advice on every way in: HTTP, the client, MCP, slash commands and the command line; and in the metrics."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord.client import connect
from tests.scripted_model import KEY, Fails, ScriptedModel, as_json, by_task, ids_of
from tests.surfaces.conftest import Served, Shell, shell

__all__ = ["shell"]


@pytest.fixture
def server(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Served]:
    for name, value in model.settings(advisor_calls_per_day="100").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    busy = iter([Fails(429)])
    model.script = by_task(
        expand=as_json({"queries": ["back from Tokyo"]}),
        rerank=lambda body: as_json({"ids": list(reversed(ids_of(body)))}),
        tag=lambda body: next(busy, as_json({"tags": ["travel"]})),
        supersede=as_json({"ids": []}),
        extract=as_json({"facts": ["User lives in Lisbon"]}),
        judge=as_json({"verdict": "new", "ids": [], "why": "Nothing says so yet."}),
    )
    served = Served(db=str(tmp_path / "served.db"), worker="no")
    yield served
    served.stop()


def ask(server: Served, method: str, path: str, **sent: Any) -> Any:
    said = server.client.request(method, path, **sent)
    assert said.status_code < 300, said.text
    return said.json()


def test_advice_is_given_on_every_way_in(server: Served, model: ScriptedModel) -> None:
    entry = {
        "type": "project",
        "title": "Got back from Tokyo",
        "content": "By plane.",
        "auto_tag": "scripted",
    }
    made = ask(server, "POST", "/v1/memory/entries", json=entry)
    assert made["auto_tag"] == {"model": "scripted", "applied": True, "added": ["travel"]}
    ask(
        server,
        "POST",
        "/v1/memory/entries",
        json={"type": "project", "title": "Travel costs", "content": "Paid."},
    )
    query = {"q": "travel in Japan", "expand": "scripted", "rerank": "yes"}
    listed = ask(server, "GET", "/v1/memory/entries", params=query)
    assert listed["expansion"]["queries"] == ["back from Tokyo"]
    assert listed["rerank"] == {"model": "yes", "applied": True}
    saved = ask(server, "POST", "/v1/memories", json={"content": "A note on lunch.", "auto_tag": "yes"})
    assert saved["memory"]["tags"] == ["travel"]
    found = ask(
        server, "POST", "/v1/recall", json={"question": "travel costs", "rerank": "yes", "explain": True}
    )
    [advice] = found["advice"]
    assert (advice["task"], advice["applied"], advice["tokens_in"]) == ("rerank", True, 100)
    assert advice["ms"] > 0
    facts = ask(server, "POST", "/v1/extract", json={"user_turn": "I live in Lisbon.", "scope": "tenant"})[
        "facts"
    ]
    assert [(fact["text"], fact["outcome"]) for fact in facts] == [("User lives in Lisbon", "saved")]
    waiting = ask(server, "POST", "/v1/memories", json={"content": "Lunch is free.", "review": True})[
        "memory"
    ]["id"]
    judged = ask(server, "GET", f"/v1/memories/{waiting}/judgement")
    assert (judged["verdict"], judged["why"]) == ("new", "Nothing says so yet.")
    with connect(server.url) as client:
        assert client.recall("back travel", expand="yes").advice[0].said == ("back from Tokyo",)
    ask(server, "PATCH", "/v1/tenants", json={"advice": ["expand", "tag"]})
    notes = asyncio.run(_by_mcp(server.url))
    assert notes == (["Also searched: 'back from Tokyo'"], ["Tagged by openai:scripted: travel"])
    page = server.client.get("/", params={"question": "back travel"})
    assert (page.status_code, "Also searched: &#39;back from Tokyo&#39;" in page.text) == (200, True)
    status = ask(server, "GET", "/v1/status")
    assert status["advisor"]["models"][0]["model"] == "openai:scripted"
    assert {each["task"] for each in status["advice"][0]["usage"]} >= {
        "tag",
        "expand",
        "rerank",
        "extract",
        "judge",
    }
    metrics = server.client.get("/metrics").text
    assert 'onrecord_advice_calls_total{model="openai:scripted",task="tag"}' in metrics
    for line in (
        'onrecord_advice_repeated_total{model="openai:scripted",task="tag"} 1.0',
        "onrecord_advisor_busy 0.0",
        "onrecord_advisor_places 8.0",
        'onrecord_advisor_paused{model="openai:scripted"} 0.0',
        'onrecord_advisor_limit{of="timeout_s"} 20.0',
        'onrecord_advisor_limit{of="calls_per_day"} 100.0',
    ):
        assert f"\n{line}\n" in metrics, line
    assert (status["advisor"]["timeout_s"], status["advisor"]["calls_per_day"]) == (20.0, 100)
    assert KEY not in metrics + str(server.log) + str(status) + str(found)
    exported = server.folder / "out.jsonl"
    server.parts.door.export(str(exported))
    assert KEY not in exported.read_text()


def test_a_repeated_request_finds_the_facts_of_a_turn_where_they_can_be_erased(
    server: Served, model: ScriptedModel
) -> None:
    """An answer under a key is given again as it was, and after a fact was forgotten neither given nor kept."""
    event = {"session_id": "s-1", "hook_event_name": "AfterAgent", "prompt": "I live in Lisbon, as I said."}
    said = {"conversation": "talk", "content": "Lisbon is nice."}
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "/v1/extract": ("one", {"user_turn": "I live in Lisbon.", "conversation": "one"}),
        "/v1/turns": ("talk", said | {"role": "assistant", "extract": "yes"}),
        "/v1/turns/end": ("s-1", {"event": event, "later": False}),
    }
    ask(server, "POST", "/v1/turns", json=said | {"content": "I live in Lisbon."})
    door = server.parts.door
    for path, (conversation, body) in requests.items():
        first, again = (
            server.client.post(path, json=body, headers={"Idempotency-Key": path}) for _ in range(2)
        )
        assert (again.json(), again.headers["idempotent-replayed"]) == (first.json(), "true"), path
        [fact] = (first.json().get("extracted") or first.json())["facts"]
        assert (fact["text"], fact["outcome"]) == ("User lives in Lisbon", "saved")
        with closing(sqlite3.connect(server.folder / "served.db")) as connection:
            kept = str(connection.execute("SELECT body FROM idempotency").fetchall())
        assert "Lisbon" not in kept, path
        door.as_caller(door.caller.inside(conversation)).forget(fact["id"])
        gone = server.client.post(path, json=body, headers={"Idempotency-Key": path})
        assert (gone.status_code, "Lisbon" in gone.text) == (404, False)


def test_a_repeated_save_tells_what_its_advisor_ended(server: Served, model: ScriptedModel) -> None:
    old = ask(server, "POST", "/v1/memory/entries", json={"type": "project", "title": "Launch in May"})
    model.script = by_task(supersede=lambda body: as_json({"ids": ids_of(body)}))
    entry = {"type": "project", "title": "Launch in June", "supersede": "scripted"}
    memory = {"content": "Launch in July", "kind": "project", "auto_supersede": "yes"}
    for path, body in (("/v1/memory/entries", entry), ("/v1/memories", memory)):
        first, again = (
            server.client.post(path, json=body, headers={"Idempotency-Key": path}) for _ in range(2)
        )
        assert (again.json(), again.headers["idempotent-replayed"]) == (first.json(), "true"), path
    assert first.json()["superseded"] == [str(old["id"] + 1)]


#: How each other way of speaking to the server asks for what it knows.
ASKED_BY: dict[str, tuple[str, dict[str, Any]]] = {
    "slayer": ("search", {"question": "Lisbon"}),
    "datamind": ("memory_recall", {"query": "Lisbon"}),
    "checkstack": ("ai.searchMemory", {"query": "Lisbon"}),
    "data_platform": ("memory_recall", {"query": "Lisbon"}),
}


def test_the_facts_that_the_end_of_a_turn_leaves_are_known_to_every_face(
    server: Served, model: ScriptedModel
) -> None:
    """One hook for all: whichever face a host speaks, it hands its turns over at the same address."""
    # Checkstack knows what is one user's and what is a system's.
    for scope in ("user", "tenant"):
        prompt = f"I live in Lisbon, which is for each {scope} to know."
        event = {"session_id": "s-1", "hook_event_name": "AfterAgent", "prompt": prompt}
        body = {"event": event, "scope": scope, "later": False}
        [fact] = ask(server, "POST", "/v1/turns/end", json=body)["facts"]
        assert (fact["text"], fact["outcome"]) == ("User lives in Lisbon", "saved")
    entries = ask(server, "GET", "/v1/memory/entries", params={"q": "Lisbon"})["entries"]
    assert "User lives in Lisbon" in [each["title"] for each in entries]
    assert asyncio.run(_asked_by_each(server.url)) == dict.fromkeys(ASKED_BY, True)


async def _asked_by_each(url: str) -> dict[str, bool]:
    told = {}
    for face, (tool, arguments) in ASKED_BY.items():
        async with Client(f"{url}/mcp/{face}") as session:
            found = await session.call_tool(tool, arguments)
        told[face] = "User lives in Lisbon" in str(found.structured_content or found.content)
    return told


async def _by_mcp(url: str) -> tuple[list[str], list[str]]:
    async with Client(f"{url}/mcp") as session:
        found = await session.call_tool("memory_search", {"question": "travel by plane"})
        saved = await session.call_tool("memory_save", {"content": "Trains are slow."})
    assert found.structured_content is not None
    assert saved.structured_content is not None
    told = [note for note in found.structured_content["notes"] if "earched" in note]
    return told, [note for note in saved.structured_content["notes"] if "Tagged" in note]


def test_a_shell_tells_what_was_asked_and_what_it_took(
    shell: Shell, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model.settings().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    model.script = by_task(tag=as_json({"tags": ["lunch"]}), expand=as_json({"queries": ["noon meal"]}))
    saved = shell("remember", "Lunch is at noon.", "--auto-tag", "yes").out
    assert "Tagged by openai:scripted: lunch (" in saved
    assert " ms, 100 + 20 tokens, $0.00018)" in saved
    assert "Also searched: 'noon meal' (" in shell("recall", "lunch", "--expand", "yes", "--explain").out
    told = shell("status").out
    assert "Advisor: openai:scripted; 0 of 8 places are in use, 20 s for a call." in told
    assert "Asked today by tenant default: 2 calls, $0.00036." in told
    assert "advise" in shell("audit").out
    assert KEY not in shell("config").out + told
