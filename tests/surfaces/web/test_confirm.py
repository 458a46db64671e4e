"""WHAT do agents ask of people through a link? They call tools over MCP; a person opens the page that the answer names."""

import json
import re
from collections.abc import Callable, Iterator
from copy import copy
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import httpx2
import pytest

from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.test_sign_in import enter

LINK = re.compile(r"http://[0-9.:]+(/confirm/[A-Za-z0-9_-]{32})")
FIELD = re.compile(r'name="(form_token|shown)" value="([0-9a-f]+)"')


def call(client: httpx2.Client, tool: str, face: str = "native", **arguments: Any) -> dict[str, Any]:
    """What an agent gets that cannot show its person a form."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": meta},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "Mcp-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    said = client.post(f"/mcp/{face}", json=message, headers=headers).json()
    told: dict[str, Any] = said["result"]["structuredContent"]
    return told


def link_in(told: dict[str, Any]) -> str:
    """The path of the page that an answer names."""
    found = LINK.search(json.dumps(told))
    assert found, told
    return found[1]


def answer(client: httpx2.Client, link: str, said: str, page: str | None = None) -> httpx2.Response:
    """Press a button on the card."""
    fields = dict(FIELD.findall(page or client.get(link).text))
    return client.post(link, data={"act": said, **fields})


@pytest.fixture
def people(server: Served) -> Iterator[dict[str, httpx2.Client]]:
    """Ann's agent, who asks, and Ann, Bob and a stranger of another tenant, who signed in."""
    robot = server.connect(server.make_key(user="ann", actor="agent", label="robot"))
    found = {"robot": robot}
    for name, more in (("ann", {}), ("bob", {}), ("eve", {"tenant": "beta"})):
        key = server.make_key(user=name, actor="person", **more)
        found[name] = server.connect()
        enter(found[name], key)
    yield found
    for each in found.values():
        each.close()


def test_a_person_decides_about_a_deletion_by_the_link_in_the_answer(
    server: Served, people: dict[str, httpx2.Client]
) -> None:
    saved = call(people["robot"], "memory_save", content="The gateway drops <b>idle</b> lines.", scope="user")
    told = call(people["robot"], "memory_forget", id=saved["id"])
    assert told["erased"] is False
    link = link_in(told)
    card = people["ann"].get(link).text
    assert "Erase memory #1 for good" in unescape(card)
    assert "<b>idle</b>" not in card
    assert "agent of" in card
    # An agent's own yes does not count, another tenant knows of nothing, and Bob may not see what is Ann's.
    assert [people[name].get(link).status_code for name in ("robot", "eve", "bob")] == [403, 404, 404]
    page = people["ann"].get(link).text
    for name in ("robot", "eve", "bob"):
        assert answer(people[name], link, "yes", page).status_code in (403, 404)
    assert server.parts.door.show("1").memory.id == "1"
    done = answer(people["ann"], link, "yes")
    assert (done.status_code, "#1 is erased" in done.text) == (200, True)
    again = people["ann"].get(link)
    assert (again.status_code, "agreed to already" in again.text) == (409, True)
    audit = [(line.operation, line.user, line.subject) for line in server.parts.door.audit(limit=3).entries]
    assert ("agree", "ann", "memory_forget") in audit


def test_a_link_is_about_the_memory_that_the_agent_meant(
    server: Served, people: dict[str, httpx2.Client]
) -> None:
    """Not about one of the same name that whoever opens it keeps."""
    for name in ("ann", "bob"):
        kept = {"content": f"The plan of {name}.", "id": "kb.plan", "scope": "user"}
        with server.connect(server.make_key(user=name, actor="agent")) as agent:
            assert agent.post("/v1/memories", json=kept).status_code == 201
    link = link_in(call(people["robot"], "memory_forget", id="kb.plan"))
    assert people["bob"].get(link).status_code == 404
    assert "The plan of ann." in people["ann"].get(link).text
    assert answer(people["ann"], link, "yes").status_code == 200
    assert [each.id for each in server.parts.door.browse().memories] == ["bob::kb.plan"]


def test_no_drops_it_and_a_changed_memory_is_shown_again(
    server: Served, people: dict[str, httpx2.Client]
) -> None:
    call(people["robot"], "memory_save", content="The gateway drops idle lines.")
    codes = [server.parts.door.ask_person("memory_forget", {"id": "1"}) for _ in range(2)]
    first, second = (f"/confirm/{code}" for code in codes)
    page = people["ann"].get(first).text
    server.parts.door.revise("1", title="The gateway keeps idle lines.", content="It keeps them.")
    said = answer(people["ann"], first, "yes", page)
    assert (said.status_code, "has changed since" in said.text) == (409, True)
    assert "keeps idle lines" in said.text
    assert "You said no" in answer(people["ann"], second, "no").text
    assert people["ann"].get(second).status_code == 409
    assert server.parts.door.show("1").memory.status == "active"


def test_a_link_expires(server: Served, people: dict[str, httpx2.Client]) -> None:
    robot = copy(server.parts.door)
    robot._clock = lambda: datetime.now(UTC) - timedelta(hours=1)
    code = robot.ask_person("memory_forget", {"id": "1"})
    said = people["ann"].get(f"/confirm/{code}")
    assert (said.status_code, "has expired" in said.text) == (409, True)


def test_in_the_words_of_checkstack(server: Served, people: dict[str, httpx2.Client]) -> None:
    robot = people["robot"]
    asked = {"scope": "user", "recallHint": "how to write", "content": "Be short.", "alwaysInject": True}
    saved = call(robot, "ai.saveMemory", "checkstack", **asked)
    link = link_in(saved)
    assert server.parts.door.context(parts=["always"]).text == ""
    assert "Always apply memory 1 of your own" in people["ann"].get(link).text
    assert people["bob"].get(link).status_code == 404
    answer(people["ann"], link, "yes")
    assert server.parts.door.show("1").memory.approved_by == "ann"
    deleted = call(robot, "ai.deleteMemory", "checkstack", id="1")
    assert deleted["deleted"] is False
    answer(people["ann"], link_in(deleted), "yes")
    assert server.parts.door.browse().memories == ()


def test_at_the_machine_the_owner_answers_in_a_browser(server: Served, window: Callable[..., Window]) -> None:
    saved = call(server.client, "memory_save", content="The gateway drops idle lines.")
    mine = window(server)
    page = mine.open(link_in(call(server.client, "memory_forget", id=saved["id"])))
    page.get_by_role("button", name="Yes, do it").click()
    page.get_by_text("is erased").wait_for()
    assert server.parts.door.browse().memories == ()
    assert mine.problems == []
