"""HOW do agents come in? Over the streams of a process and over HTTP, with a key, in both eras of the protocol."""

import json
import os
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from onrecord import OnRecord, connect
from onrecord.access.identity import Authenticator
from onrecord.access.throttle import Throttle
from onrecord.model.limits import PERMISSIONS, TENANT_PERMISSIONS
from onrecord.surfaces.mcp.http import mcp_app
from onrecord.surfaces.rest.request_runner import RequestRunner, RequestState
from tests.faces.checkstack_people import Person
from tests.forked import relayed

from .conftest import COMMAND, SOURCE, Shell
from .test_mcp import ERAS, NATIVE, Agent, caller, introduce, said

__all__ = ["introduce"]
ISSUER = "https://login.example.com"
MODERN = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
}
LIST_TOOLS = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
Meet = Callable[[Client], Agent]


class Site:
    """A server of this protocol alone on a port of this machine, and keys for it."""

    def __init__(self, url: str, door: OnRecord) -> None:
        self.url, self._door = url, door

    def key(self, **more: Any) -> str:
        return self._door.create_key(**{"tenant": "acme", "user": "ann", **more}).secret

    def client(
        self,
        path: str = "/mcp",
        *,
        mode: str = "auto",
        key: str | None = None,
        person: Person | None = None,
        **headers: str,
    ) -> Client:
        shown = headers | ({"Authorization": f"Bearer {key}"} if key else {})

        @asynccontextmanager
        async def transport() -> AsyncIterator[Any]:
            async with (
                httpx2.AsyncClient(headers=shown) as http,
                streamable_http_client(self.url + path, http_client=http) as streams,
            ):
                yield streams

        return Client(transport(), mode=mode, elicitation_callback=person)

    def post(
        self, path: str = "/mcp", *, headers: Mapping[str, str] | None = None, content: Any = None
    ) -> httpx2.Response:
        body = content if isinstance(content, bytes) else json.dumps(content or LIST_TOOLS).encode()
        return httpx2.post(self.url + path, headers=MODERN | dict(headers or {}), content=body)


def noting(app: Any) -> Any:
    """What the whole server does before anyone else sees a request: it gets a name."""

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["onrecord.request"] = RequestState(request=uuid.uuid4().hex)
        await app(scope, receive, send)

    return noted


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    file = tmp_path_factory.mktemp("site") / "site.db"
    who = caller(permissions=frozenset(PERMISSIONS), actor="person", operator=True, systems={"*": "manage"})
    with connect(file, caller=who, embedder="none") as door:
        authenticator = Authenticator(door._store)
        host = RequestRunner(
            door, door._store, authenticator, Throttle(None, of_key=authenticator.per_minute)
        )
        app = noting(mcp_app(host, issuer=ISSUER))
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="on"))
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
            [socket] = server.servers[0].sockets
            yield Site(f"http://127.0.0.1:{socket.getsockname()[1]}", door)
        finally:
            server.should_exit = True
            thread.join()


def started(folder: Path, *words: str, anew: bool = False) -> StdioServerParameters:
    """The installed command, as a host would start it; `anew` with all that it loads."""
    environment = {name: os.environ[name] for name in os.environ if name.startswith("ONRECORD_")}
    environment |= {"ONRECORD_DB": str(folder / "stdio.db"), "PYTHONPATH": SOURCE}
    program, *rest = [*COMMAND, "mcp", *words] if anew else relayed(COMMAND[-1], "mcp", *words)
    return StdioServerParameters(command=program, args=rest, env=environment, cwd=folder)


def whole_life(agent: Agent) -> None:
    """Everything once: tools, resources, prompts, and an error that helps."""
    assert agent.tools == NATIVE
    word = uuid.uuid4().hex
    saved = agent.did("memory_save", content=f"The word is {word}.", title="The word")
    [hit] = agent.did("memory_search", question=word)["memories"]
    assert hit["id"] == saved["id"]
    assert word in said(agent.call("memory_search", question=word))
    assert word in said(agent.call("memory_context", question=word))
    assert word in agent.read(f"memory://entry/{saved['id']}")
    assert "kind: must be one of" in agent.refused("memory_save", content="x", kind="rumour")
    assert agent.ask(agent.client.get_prompt, "remember", {"what": word}).messages
    assert agent.did("memory_forget", id=saved["id"])["erased"] is False
    assert agent.did("memory_update", action="retire", id=saved["id"])["changed"] == []


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_comes_in_over_the_streams_of_a_process(tmp_path: Path, introduce: Meet, era: str) -> None:
    agent = introduce(Client(started(tmp_path), mode=era))
    whole_life(agent)
    assert (agent.client.protocol_version == "2026-07-28") is (era == "auto")
    agent.did("memory_save", content="Left by an agent.")
    with connect(tmp_path / "stdio.db") as door:
        assert [memory.origin for memory in door.browse().memories] == ["agent"]


@pytest.mark.parametrize("era", ERAS)
def test_over_the_streams_of_a_process_a_person_is_asked_before_an_agent_erases(
    tmp_path: Path, introduce: Meet, era: str
) -> None:
    person = Person("no")
    agent = introduce(Client(started(tmp_path), mode=era, elicitation_callback=person))
    agent.did("memory_save", content="Left by an agent.")
    assert agent.did("memory_forget", id="1")["erased"] is False
    person.answer = "yes"
    assert agent.did("memory_forget", id="1")["erased"] is True
    assert len(person.asked) == 2


def test_faces_and_a_run_are_chosen_on_the_command_line(tmp_path: Path, introduce: Meet) -> None:
    words = ("--face", "native,slayer", "--run", "nightly")
    agent = introduce(Client(started(tmp_path, *words)))
    offered = agent.tools
    assert "save_memory" in offered
    assert "memory_save" in offered
    assert {"memory_forget", "forget_memory", "delete_model"}.isdisjoint(offered)


def test_an_unknown_face_ends_the_command_before_it_begins(shell: Shell) -> None:
    told = shell("mcp", "--face", "nativ")
    assert told.code == 2
    assert "'nativ' is not a face; there are native, full, slayer" in told.err
    assert told.out == ""
    assert "both have a tool search" in shell("mcp", "--face", "full", "--face", "slayer").err


def test_a_store_that_cannot_be_opened_yet_is_asked_for_again(tmp_path: Path, introduce: Meet) -> None:
    (tmp_path / "stdio.db").write_text("This is no database.")
    agent = introduce(Client(started(tmp_path)))
    with pytest.raises(MCPError, match="cannot be used right now") as refused:
        agent.ask(agent.client.list_tools)
    assert str(tmp_path) not in str(refused.value)
    (tmp_path / "stdio.db").unlink()
    assert agent.did("memory_save", content="The store is back.")["outcome"] == "created"


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_comes_in_over_http_with_a_key(site: Site, introduce: Meet, era: str) -> None:
    agent = introduce(site.client(mode=era, key=site.key()))
    whole_life(agent)
    assert (agent.client.protocol_version == "2026-07-28") is (era == "auto")


def test_over_http_a_person_is_asked_before_an_agent_erases(site: Site, introduce: Meet) -> None:
    person, key = Person("no"), site.key(actor="agent")
    agent = introduce(site.client(key=key, person=person))
    id = agent.did("memory_save", content=f"Left by an agent: {uuid.uuid4().hex}.")["id"]
    assert agent.did("memory_forget", id=id)["erased"] is False
    person.answer = "yes"
    assert agent.did("memory_forget", id=id)["erased"] is True
    assert len(person.asked) == 2


@pytest.mark.parametrize("era", ERAS)
def test_the_path_chooses_the_faces(site: Site, introduce: Meet, era: str) -> None:
    key = site.key(permissions=list(PERMISSIONS))
    slayer = introduce(site.client("/mcp/slayer", mode=era, key=key)).tools
    assert slayer[0] == "save_memory"
    assert introduce(site.client("/mcp/native+slayer", mode=era, key=key)).tools == NATIVE + slayer
    assert "keys" not in introduce(site.client("/mcp/full", mode=era, key=key)).tools


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/mcp/nativ", "is not a face; there are native, full, slayer"),
        ("/mcp/full+slayer", "full and slayer both have a tool search"),
        ("/mcp/..%2Fslayer", "is not a face"),
    ],
)
def test_a_path_that_names_no_faces_is_not_found(site: Site, path: str, words: str) -> None:
    answer = site.post(path, headers={"authorization": f"Bearer {site.key()}"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer onr_abcdefgh_0123456789012345678901234567890123456789012"},
        {"authorization": "Basic YTpi"},
        {"authorization": "Bearer eyJhbGciOiJub25lIn0.e30."},
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/slayer", "/mcp/nowhere"])
def test_whoever_has_no_key_is_told_where_tokens_come_from(
    site: Site, headers: dict[str, str], path: str
) -> None:
    answer = site.post(path, headers=headers)
    assert answer.status_code == 401
    where = f"{site.url}/.well-known/oauth-protected-resource{path}"
    assert f'resource_metadata="{where}"' in answer.headers["www-authenticate"]
    told = httpx2.get(where).json()
    assert told["resource"] == site.url + path
    assert told["authorization_servers"] == [ISSUER]
    assert set(told["scopes_supported"]) == set(TENANT_PERMISSIONS)


def test_a_key_in_the_query_string_is_none(site: Site) -> None:
    key = site.key()
    for name in ("key", "token", "access_token", "authorization"):
        assert site.post(f"/mcp?{name}={key}").status_code == 401


def test_the_metadata_of_the_whole_speaks_of_the_native_face(site: Site) -> None:
    told = httpx2.get(f"{site.url}/.well-known/oauth-protected-resource").json()
    assert told["resource"] == f"{site.url}/mcp"
    assert httpx2.get(f"{site.url}/.well-known/oauth-protected-resource/v1").status_code == 404


@pytest.mark.parametrize("era", ERAS)
def test_another_tenant_sees_nothing_over_http(site: Site, introduce: Meet, era: str) -> None:
    word = uuid.uuid4().hex
    here = introduce(site.client(mode=era, key=site.key(tenant=f"here-{era}")))
    id = here.did("memory_save", content=f"Ours is {word}.")["id"]
    there = introduce(site.client(mode=era, key=site.key(tenant=f"there-{era}")))
    assert there.did("memory_search", question=word)["memories"] == []
    unknown = there.refused("memory_get", id="404404").replace("404404", id)
    assert there.refused("memory_get", id=id) == unknown
    assert there.refused("memory_forget", id=id) == there.refused("memory_forget", id="404404").replace(
        "404404", id
    )
    assert here.did("memory_get", id=id)["memory"]["content"] == f"Ours is {word}."


@pytest.mark.parametrize("era", ERAS)
def test_a_key_is_offered_what_its_permissions_allow(site: Site, introduce: Meet, era: str) -> None:
    reader = introduce(site.client(mode=era, key=site.key(permissions=["memory.read"])))
    assert reader.tools == NATIVE[:3]
    with pytest.raises(MCPError, match="Unknown tool"):
        reader.call("memory_save", content="x")
    run = introduce(site.client(mode=era, key=site.key(actor="unattended")))
    assert run.tools == NATIVE[:5]


def test_a_revoked_key_opens_nothing(site: Site) -> None:
    made = site._door.create_key(tenant="acme", user="ann")
    site._door.revoke_key(made.key.id)
    assert site.post(headers={"authorization": f"Bearer {made.secret}"}).status_code == 401


def test_a_key_that_asks_too_often_is_told_when_to_come_back(site: Site) -> None:
    shown = {"authorization": f"Bearer {site.key(per_minute=1)}"}
    assert site.post(headers=shown).status_code == 200
    answer = site.post(headers=shown)
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0


def test_an_unattended_run_saves_three_times_by_whatever_name(site: Site, introduce: Meet) -> None:
    key = site.key(actor="unattended", tenant="nights")
    native = introduce(site.client(key=key, **{"OnRecord-Run": "n1"}))
    for number in range(2):
        native.did("memory_save", content=f"Finding number {number} of the night.")
    assert "kind" in native.refused("memory_save", content="x", kind="rumour")
    other = introduce(site.client("/mcp/full", key=key, **{"OnRecord-Run": "n1"}))
    other.did("remember", content="A third finding, by another tool.")
    assert "3" in native.refused("memory_save", content="One more than that.")
    assert "3" in other.refused("remember", content="And another one.")


def test_the_header_says_the_conversation_and_a_model_cannot_leave_it(site: Site, introduce: Meet) -> None:
    agent = introduce(site.client(key=site.key(), **{"OnRecord-Conversation": "c7"}))
    word = uuid.uuid4().hex
    agent.did("memory_save", content=f"Only here: {word}.", scope="session")
    assert agent.did("memory_search", question=word)["memories"]
    assert "conversation" in agent.refused("memory_search", question=word, conversation="c8")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1.evil.example:80"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"origin": "http://localhost:3000"}, 403),
    ],
)
def test_a_page_from_elsewhere_gets_nowhere(site: Site, headers: dict[str, str], status: int) -> None:
    shown = {"authorization": f"Bearer {site.key()}"} | headers
    assert site.post(headers=shown).status_code == status


@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18"])
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b"x" * (2 * 1024 * 1024)],
    ids=["empty", "cut", "list", "null", "deep-lists", "deep-objects", "no-text", "large"],
)
def test_a_body_that_is_none_is_the_senders_fault(site: Site, version: str, content: bytes) -> None:
    headers = {"authorization": f"Bearer {site.key()}", "mcp-protocol-version": version}
    answer = site.post(headers=headers, content=content or b" ")
    assert 400 <= answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text


def test_there_is_no_stream_to_wait_on(site: Site) -> None:
    answer = httpx2.get(f"{site.url}/mcp", headers=MODERN | {"authorization": f"Bearer {site.key()}"})
    assert answer.status_code == 405
