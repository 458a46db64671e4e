"""HOW do assistants of the checkstack platform come in? Over HTTP with a key and over a process's streams, in both eras."""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from onrecord import connect
from onrecord.app import open_server_parts
from onrecord.config import load
from onrecord.faces import checkstack
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.serving import application
from tests.forked import relayed
from tests.surfaces.conftest import COMMAND, SOURCE
from tests.surfaces.test_mcp_transports import started

from .. import kept
from .checkstack_people import ERAS, FIVE, THREE, Office, Open, Person, offices, said, someone

JIRA = "recall when filing infra jira tickets"
TRANSCRIPT = Path(__file__).with_name("transcripts") / "checkstack.txt"


class Site:
    """A whole server on a port of this machine, and keys for it."""

    def __init__(self, db: Path) -> None:
        config = load(db=str(db), worker="no")
        self.parts = open_server_parts(config)
        app = application(config, self.parts, log=lambda event, **told: None)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/mcp/checkstack"
        self._server = uvicorn.Server(
            uvicorn.Config(app, log_level="critical", access_log=False, lifespan="on", ws="none")
        )
        self._thread = threading.Thread(target=self._server.run, args=([self._listening],))
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)

    def key(self, user: str, **more: Any) -> str:
        self.parts.authenticator.forget_keys()
        return self.parts.door.create_key(**{"user": user, "actor": "agent"} | more).secret

    def client(self, key: str, *, era: str = "auto", person: Person | None = None, **headers: str) -> Client:
        @asynccontextmanager
        async def transport() -> AsyncIterator[Any]:
            shown = {"Authorization": f"Bearer {key}", **headers}
            async with (
                httpx2.AsyncClient(headers=shown) as http,
                streamable_http_client(self.url, http_client=http) as streams,
            ):
                yield streams

        return Client(transport(), mode=era, elicitation_callback=person)

    def ask(self, key: str, asked: dict[str, Any]) -> Any:
        """What comes of one call of a tool in the newer era, word by word: this client says that it can show forms."""
        about = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        }
        headers = {
            "Authorization": f"Bearer {key}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": str(asked["name"]),
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**asked, "_meta": about}}
        return httpx2.post(self.url, headers=headers, json=body).json()["result"]

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listening.close()


@pytest.fixture
def opened() -> Iterator[Open]:
    yield from offices()


@pytest.fixture
def office(opened: Open, clock: Any) -> Iterator[Office]:
    with connect(
        ":memory:", caller=someone(actor="person", permissions=frozenset(PERMISSIONS)), clock=clock
    ) as door:
        yield opened(door)


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[list[Site]]:
    """Two servers of one store, as behind a balancer."""
    started = [Site(tmp_path / "shared.db") for _ in range(2)]
    yield started
    for each in started:
        each.stop()


@pytest.mark.parametrize("era", ERAS)
def test_over_http_everyone_has_what_is_theirs(sites: list[Site], office: Office, era: str) -> None:
    site = sites[0]
    ann = office.meet(site.client(site.key("ann", systems=["pay"]), era=era))
    bob = office.meet(site.client(site.key("bob"), era=era))
    assert ann.offered == THREE
    ann.save(JIRA, "In OPS.")
    ann.about("pay", "health endpoint", "Check /ready.")
    assert len(ann.found("jira health")) == 2
    assert bob.found("jira health") == []
    robot = office.meet(site.client(site.key("robot", actor="unattended"), era=era))
    assert robot.offered == THREE[:2]
    me = office.meet(site.client(site.key("ann", actor="person"), era=era))
    assert me.offered == FIVE


def test_over_http_a_person_is_asked_by_a_form(sites: list[Site], office: Office) -> None:
    site, person = sites[0], Person("yes")
    ann = office.meet(site.client(site.key("ann"), person=person))
    ann.save(JIRA)
    assert ann.did("deleteMemory", id="1") == {"deleted": True}
    assert [JIRA in each for each in person.asked] == [True]
    ann.save(JIRA)
    person.answer = "no"
    assert ann.did("deleteMemory", id="2")["deleted"] is False
    assert len(ann.found(JIRA)) == 1


def test_a_question_of_one_server_is_answered_at_another(sites: list[Site], office: Office) -> None:
    """The word that goes out with it is signed by the store, and comes back to whichever server is nearest."""
    key = sites[0].key("ann")
    office.meet(sites[0].client(key)).save(JIRA)
    asked = {"name": "ai.deleteMemory", "arguments": {"id": "1"}}
    told = sites[0].ask(key, asked)
    assert told["resultType"] == "input_required"
    yes = {"confirm": {"action": "accept", "content": {"confirm": True}}}
    again = sites[1].ask(key, {**asked, "inputResponses": yes, "requestState": told["requestState"]})
    assert again["structuredContent"] == {"deleted": True}
    # A yes without the question that it belongs to is asked about anew.
    office.meet(sites[0].client(key)).save(JIRA)
    other = {"name": "ai.deleteMemory", "arguments": {"id": "2"}, "inputResponses": yes}
    for state in ({}, {"requestState": told["requestState"]}, {"requestState": "yes"}):
        assert sites[1].ask(key, other | state)["resultType"] == "input_required"


@pytest.mark.parametrize("era", ERAS)
def test_over_http_a_client_that_cannot_ask_deletes_nothing(
    sites: list[Site], office: Office, era: str
) -> None:
    site = sites[0]
    ann = office.meet(site.client(site.key("ann"), era=era))
    ann.save(JIRA)
    told = ann.did("deleteMemory", id="1")
    assert (told["deleted"], "`onrecord forget 1`" in told["note"]) == (False, True)
    assert len(ann.found(JIRA)) == 1


def test_over_http_in_the_older_era_no_one_can_be_asked(sites: list[Site], office: Office) -> None:
    """There a call has one answer, and no way back to the client before it."""
    site, person = sites[0], Person("yes")
    ann = office.meet(site.client(site.key("ann"), era="legacy", person=person))
    ann.save(JIRA)
    assert ann.did("deleteMemory", id="1")["deleted"] is False
    assert (person.asked, len(ann.found(JIRA))) == ([], 1)


def test_what_an_assistant_could_not_delete_a_person_deletes_at_the_command_line(
    sites: list[Site], office: Office, tmp_path: Path
) -> None:
    ann = office.meet(sites[0].client(sites[0].key("ann")))
    ann.save(JIRA)
    assert ann.did("deleteMemory", id="1")["deleted"] is False
    done = subprocess.run(
        relayed(COMMAND[-1], "forget", "1", "--db", str(tmp_path / "shared.db"), "--user", "ann"),
        env=os.environ | {"PYTHONPATH": SOURCE},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ann.found(JIRA) == []


def test_a_system_memory_is_erased_by_its_managers_alone_over_every_way_in(sites: list[Site]) -> None:
    site = sites[0]
    author = site.key("ann", systems=["pay"], actor="person")
    manager = site.key("bob", systems=["pay=manage"], actor="person")
    url = site.url.removesuffix("/mcp/checkstack")
    for number, (path, status) in enumerate(
        [("/v1/memories/", 403), ("/memories/", 403), ("/v1/memory/entries/", 403)], 1
    ):
        body = {"content": f"note {number}", "scope": "system", "system": "pay", "dedupe": False}
        with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {author}"}) as ann:
            assert ann.post("/v1/memories", json=body).json()["memory"]["id"] == str(number)
            assert ann.delete(f"{path}{number}").status_code in (status, 400), path
            assert ann.get(f"/v1/memories/{number}").status_code == 200
        with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {manager}"}) as bob:
            assert bob.delete(f"/v1/memories/{number}").status_code == 200


def test_a_caller_without_identity_is_refused(sites: list[Site]) -> None:
    site = sites[0]
    site.key("ann")
    for headers in ({}, {"Authorization": "Bearer onr_nobody_nothing"}):
        refused = httpx2.post(site.url, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert (refused.status_code, "www-authenticate" in refused.headers) == (401, True)


def test_the_runs_of_a_key_are_told_apart_by_their_header_and_capped(
    sites: list[Site], office: Office
) -> None:
    site = sites[0]
    key = site.key("robot", actor="unattended", systems=["pay"])
    for run in ("monday", "tuesday"):
        robot = office.meet(site.client(key, **{"OnRecord-Run": run}))
        for hint in ("kestrel", "falcon", "osprey"):
            assert "id" in robot.about("pay", f"{hint} on {run}s")
        assert "limit for this run reached (3)" in robot.about("pay", f"eagle on {run}s")["error"]
    ann = office.meet(site.client(site.key("ann", systems=["pay"])))
    assert len(ann.found("kestrel falcon osprey eagle")) == 6


def test_the_conversation_of_a_request_is_where_a_memory_came_from(sites: list[Site], office: Office) -> None:
    site = sites[0]
    key = site.key("ann", actor="person")
    office.meet(site.client(key, **{"OnRecord-Conversation": "talk-7"})).save(JIRA)
    [listed] = office.meet(site.client(key)).did("listMemories")["memories"]
    assert listed["sourceConversationId"] == "talk-7"


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_over_the_streams_of_a_process_a_person_is_asked_in_both_eras(
    tmp_path: Path, office: Office, era: str
) -> None:
    person = Person("yes")
    command = started(tmp_path, "--face", "checkstack")
    ann = office.meet(Client(command, mode=era, elicitation_callback=person))
    assert ann.offered == THREE
    ann.about("pay", JIRA)
    assert ann.did("deleteMemory", id="1") == {"deleted": True}
    assert len(person.asked) == 1
    person.answer = "decline"
    ann.save(JIRA)
    assert ann.did("deleteMemory", id="2")["deleted"] is False


class Minutes:
    """What was said in a session, word by word."""

    def __init__(self, office: Office) -> None:
        self.lines: list[str] = []
        self._office = office

    def seat(self, name: str, *, person: Person | None = None, **who: Any) -> "Seat":
        return Seat(self, name, self._office(person=person, **who), person)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


class Seat:
    """Someone whose calls are written down."""

    def __init__(self, minutes: Minutes, name: str, assistant: Any, person: Person | None) -> None:
        self._lines, self._name, self._assistant, self._person = minutes.lines, name, assistant, person

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        self._lines.append(f"{self._name} > ai.{tool} {json.dumps(arguments, ensure_ascii=False)}")
        result = self._assistant.call(f"ai.{tool}", **arguments)
        if self._person is not None:
            answer = self._person.answer
            self._lines += [f"    asked: {each}\n    said: {answer}" for each in self._person.asked]
            self._person.asked.clear()
        self._lines.append(f"  {'refused: ' if result.is_error else ''}{said(result)}")
        return result.structured_content


@pytest.mark.golden
def test_a_session_reads_as_it_was_reviewed(office: Office, clock: Any) -> None:
    minutes = Minutes(office)
    person = Person("yes")
    chat = minutes.seat("ann's chat", person=person, conversation="talk-1", systems={"pay": "read"})
    plain = minutes.seat("ann's shell", systems={"pay": "read"})
    settings = minutes.seat("ann", actor="person", systems={"pay": "read"})
    bob = minutes.seat("bob's chat", user="bob", systems={"pay": "manage"}, person=Person("yes"))
    robot = minutes.seat("robot", user="robot", actor="unattended", run="night-1", systems={"pay": "read"})

    chat("searchMemory", query="where do infra tickets go?")
    card = {"scope": "user", "recallHint": JIRA, "content": "File infra tickets in project OPS."}
    chat("saveMemory", **card, dryRun=True)
    chat("saveMemory", **card, tags=["jira"])
    clock.tick(minutes=1)
    style = {
        "scope": "user",
        "recallHint": "writing style for replies",
        "content": "Short, British spelling.",
    }
    chat("saveMemory", **style, alwaysInject=True, dryRun=True)
    chat("saveMemory", **style, alwaysInject=True)
    settings("listMemories")
    clock.tick(minutes=1)
    settings("setMemoryAlwaysInject", id="2", alwaysInject=True)
    minutes.lines.append("the preamble of ann's next turn:")
    minutes.lines.append(checkstack.preamble(office.door.as_caller(someone())))
    clock.tick(minutes=1)
    chat("saveMemory", scope="system", recallHint="health endpoint of pay", content="Check /ready.")
    health = {"scope": "system", "systemId": "pay", "recallHint": "health endpoint of the payment service"}
    chat("saveMemory", **health, content="/health says 200 even when the database is down; check /ready.")
    chat("saveMemory", scope="system", systemId="crm", recallHint="crm quirks", content="Slow on Mondays.")
    chat("saveMemory", scope="team", recallHint="", content="x")
    bob("searchMemory", query="payment service health")
    clock.tick(minutes=1)
    bob("saveMemory", **health, content="/health lies; check /ready, or /live behind the proxy.")
    bob("saveMemory", **health, content="ignored", dryRun=True)
    chat("searchMemory", query="health", limit=5)
    chat("searchMemory", query="infra tickets")
    clock.tick(minutes=1)
    chat("saveMemory", scope="user", recallHint=f"{JIRA} for ops", content="File infra tickets in PLATFORM.")
    chat("searchMemory", query="jira")
    bob("searchMemory", query="jira")
    chat("searchMemory", query="zebra")
    chat("searchMemory", query="", limit=99)
    chat("searchMemory", query="x", limit=51)
    secret = {
        "recallHint": "calling the gateway",
        "content": "Use Bearer abcdef1234567890ABCDEF; it is slow.",
    }
    chat("saveMemory", scope="user", **secret, tags=["AKIAIOSFODNN7EXAMPLE", "gateway"])
    chat("searchMemory", query="gateway")
    for hint in ("retries of pay", "timezone of pay reports", "owner on call for pay", "logs of pay"):
        robot("saveMemory", scope="system", systemId="pay", recallHint=hint, content=f"Noted: {hint}.")
    robot("searchMemory", query="timezone")
    clock.tick(minutes=1)
    chat("deleteMemory", id="4", dryRun=True)
    chat("deleteMemory", id="4")
    bob("deleteMemory", id="4")
    bob("deleteMemory", id="1")
    person.answer = "no"
    chat("deleteMemory", id="5")
    plain("deleteMemory", id="5")
    person.answer = "yes"
    chat("deleteMemory", id="5")
    chat("deleteMemory", id="5")
    settings("listMemories", systemId="pay", limit=2)
    kept.check(TRANSCRIPT, minutes.text)
