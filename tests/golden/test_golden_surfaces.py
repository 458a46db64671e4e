"""DOES every surface say what it said? The story of the surfaces, word by word as each of them tells it.

Nothing is left out but what is random or takes its time; the clock moves a minute with each call.
"""

import json
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from onrecord import OnRecord, connect
from onrecord.app import local_caller
from onrecord.client.sending import MOVING, prepare
from onrecord.config import load
from onrecord.operation import Operation
from tests.conftest import Clock
from tests.surfaces.conftest import Served, Shell
from tests.surfaces.test_mcp import Agent
from tests.surfaces.test_mcp_faces import OF_PEOPLE, write_model
from tests.surfaces.test_parity import STORY, Act, Outcome, propose, through_python, told, words_of

from .conftest import Transcript

pytestmark = pytest.mark.golden
#: The headers that say something; the others are the same on every reply, and shown once.
NOTABLE = "content-type etag location link retry-after www-authenticate allow idempotent-replayed cache-control".split()


class Stage:
    """An empty store with two proposals in it, a folder of models, and a transcript."""

    def __init__(self, tmp_path: Path, clock: Clock) -> None:
        self.clock, self.folder, self.db = clock, tmp_path / "here", tmp_path / "here" / "store.db"
        self.models = tmp_path / "layer"
        self.folder.mkdir()
        write_model(self.models, "mydb", "orders", "id", "amount", "status")
        write_model(self.models, "other", "users", "id", "name")
        propose(self.db)
        self.transcript = Transcript(models=str(self.models), folder=str(self.folder))

    def door(self) -> OnRecord:
        """As a server knows the owner."""
        return connect(self.db, caller=replace(local_caller(load()), operator=False))

    def play(self, act: Act, name: str, enter: Callable[[str], Act] | None = None) -> None:
        """The whole story; once there is a key, by whoever enters with it."""

        def noting(inner: Act) -> Act:
            def acted(operation: Operation, given: dict[str, Any]) -> Outcome:
                self.clock.tick(minutes=1)
                came = inner(operation, given)
                if operation.name == "create_key" and came.error is None:
                    made = came.answer["key"]
                    self.transcript.own[f"key of {made['label']}"] = made["id"]
                return came

            return acted

        told(lambda key: noting(act if key is None or enter is None else enter(key)), STORY, self.folder)
        self.transcript.check(name)


@pytest.fixture
def stage(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, clock)


def test_through_python(stage: Stage) -> None:
    with stage.door() as door:

        def act(operation: Operation, given: dict[str, Any]) -> Outcome:
            came = through_python(door, operation, given)
            said = came.answer if came.error is None else f"{came.error}: {came.words}"
            stage.transcript.note(f"{operation.name}({_given(given)})", said)
            return came

        stage.play(act, "surfaces/python.txt")


@pytest.mark.parametrize("form", ["text", "json"])
def test_through_a_shell(stage: Stage, shell: Shell, form: str) -> None:
    def act(operation: Operation, given: dict[str, Any]) -> Outcome:
        if operation.command is None:
            return Outcome("")
        words = [
            *operation.command.split(),
            *words_of(operation, given),
            *(["--json"] if form == "json" else []),
        ]
        came = shell("--db", str(stage.db), *words)
        stage.transcript.note(f"$ onrecord {shlex.join(words)}", came.out + came.err + f"[{came.code}]")
        return Outcome("", _newest_key(stage.db) if operation.name == "create_key" else None)

    stage.play(act, f"surfaces/shell.{form}.txt")


def _newest_key(db: Path) -> Any:
    with connect(db) as door:
        newest = max(door.list_keys().keys, key=lambda key: key.created_at)
    return {"key": {"id": newest.id, "label": newest.label}, "secret": ""}


def test_over_http(stage: Stage, served: Callable[..., Served], until: ExitStack) -> None:
    server = served(db=str(stage.db), sources=str(stage.models))
    first = Http(server.client, stage.transcript)

    def enter(key: str) -> Act:
        return first.through(until.enter_context(server.connect(key)))

    stage.play(first.act, "surfaces/rest.txt", enter)


class Http:
    """Sends what the story tells as it goes over the wire, and notes what comes back."""

    def __init__(self, client: httpx2.Client, transcript: Transcript, count: int = 0) -> None:
        self._client, self._transcript, self._count = client, transcript, count

    def through(self, client: httpx2.Client) -> Act:
        return Http(client, self._transcript, self._count).act

    def act(self, operation: Operation, given: dict[str, Any]) -> Outcome:
        if operation.route is None:
            return Outcome("", None, "Forbidden")
        self._count += 1
        file = Path(given["path"]) if operation.name in MOVING else None
        call = prepare(operation, given, file=file)
        headers = dict(call.headers)
        if "Idempotency-Key" in headers:
            headers["Idempotency-Key"] = f"call-{self._count}"
        body = call.body if isinstance(call.body, bytes) else _content(call.body)
        said = self.send(call.method, call.path, headers, body)
        if call.into is not None:
            call.into.write_bytes(said.content)
        return Outcome(
            "",
            said.json() if said.is_success and call.into is None else None,
            None if said.is_success else "refused",
        )

    def send(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> httpx2.Response:
        request = {"X-Request-Id": f"request-{self._count}", **(headers or {})}
        said = self._client.request(method, path, headers=request, content=body)
        sent = (
            body.decode("utf-8", "replace")
            if body and len(body) < 2_000
            else f"({len(body or b'')} bytes)"
            if body
            else ""
        )
        self._transcript.note(
            f"> {method} {path} {sent}".rstrip(), f"{said.status_code} {_headers(said)}", _body(said)
        )
        return said


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _headers(said: httpx2.Response) -> str:
    return "; ".join(f"{name}: {said.headers[name]}" for name in NOTABLE if name in said.headers)


def _body(said: httpx2.Response) -> Any:
    is_json = said.headers.get("content-type", "").endswith("json") and said.content
    return said.json() if is_json else said.text


#: What is sent beside the story: method, path, headers and body.
BESIDE: tuple[tuple[str, str, dict[str, str], bytes], ...] = (
    ("GET", "/nothing", {}, b""),
    ("GET", "/v1", {}, b""),
    ("GET", "/v1/nothing", {}, b""),
    ("GET", "/health/live", {}, b""),
    ("GET", "/health/ready", {}, b""),
    ("OPTIONS", "/v1/memories", {}, b""),
    ("PUT", "/v1/memories", {}, b""),
    ("POST", "/v1/memories", {"Content-Type": "application/json"}, b"{"),
    ("POST", "/v1/memories", {"Content-Type": "application/json"}, b"[]"),
    ("POST", "/v1/memories", {"Content-Type": "text/plain"}, b"tea"),
    ("POST", "/v1/memories", {"Content-Type": "application/json"}, b'{"content": "Tea.", "contnet": 1}'),
    ("POST", "/v1/memories?kind=fact", {"Content-Type": "application/json"}, b'{"content": "Tea."}'),
    ("POST", "/v1/memories", {"Content-Type": "application/json"}, b'{"content": "Tea.", "id": "t"}'),
    (
        "POST",
        "/v1/memories",
        {"Content-Type": "application/json", "Idempotency-Key": "k"},
        b'{"content": "Milk."}',
    ),
    (
        "POST",
        "/v1/memories",
        {"Content-Type": "application/json", "Idempotency-Key": "k"},
        b'{"content": "Milk."}',
    ),
    (
        "POST",
        "/v1/memories",
        {"Content-Type": "application/json", "Idempotency-Key": "k"},
        b'{"content": "Rum."}',
    ),
    ("POST", "/v1/memories", {"Content-Type": "application/json"}, b'{"content": "' + b"x" * 70_000 + b'"}'),
    (
        "POST",
        "/v1/memories",
        {"Content-Type": "application/json"},
        b'{"content": "' + b"x" * 3_000_000 + b'"}',
    ),
    ("GET", "/v1/memories/t", {}, b""),
    ("HEAD", "/v1/memories/t", {}, b""),
    ("GET", "/v1/memories/t", {"If-None-Match": '"1"'}, b""),
    ("GET", "/v1/memories/t", {"If-None-Match": '"2"'}, b""),
    ("PATCH", "/v1/memories/t", {"Content-Type": "application/json", "If-Match": '"7"'}, b'{"title": "T"}'),
    ("PATCH", "/v1/memories/t", {"Content-Type": "application/json", "If-Match": "tea"}, b'{"title": "T"}'),
    ("PATCH", "/v1/memories/t", {"Content-Type": "application/json", "If-Match": '"1"'}, b'{"title": "T"}'),
    (
        "PATCH",
        "/v1/memories/t",
        {"Content-Type": "application/json"},
        b'{"title": "U", "expected_version": 1}',
    ),
    ("GET", "/v1/memories?limit=1", {}, b""),
    ("GET", "/v1/memories?limit=1&limit=2", {}, b""),
    ("GET", "/v1/memories?limit=many", {}, b""),
    ("GET", "/v1/memories?kind=fact", {}, b""),
    ("GET", "/v1/memories/a%2Fb", {}, b""),
    ("DELETE", "/v1/memories/nowhere", {}, b""),
    ("GET", "/v1/memories", {"Authorization": "Bearer nonsense"}, b""),
    ("GET", "/v1/memories", {"Host": "elsewhere.example"}, b""),
    ("GET", "/v1/memories", {"Origin": "https://elsewhere.example"}, b""),
    ("GET", "/v1/memories?limit=1", {"OnRecord-Conversation": "c1"}, b""),
    ("POST", "/v1/import", {"Content-Type": "application/jsonl"}, b"nonsense"),
    ("GET", "/.well-known/oauth-protected-resource", {}, b""),
)


def test_what_else_is_sent_over_http(stage: Stage, served: Callable[..., Served]) -> None:
    server = served(db=str(stage.db))
    stage.transcript.own["port"] = f":{server.port}"
    http = Http(server.client, stage.transcript)
    for method, path, headers, body in BESIDE:
        stage.clock.tick(minutes=1)
        http.send(method, path, headers, body or None)
    plain = server.client.get("/v1/memories/t", headers={"X-Request-Id": "last"})
    random = ("date", "content-length")
    stage.transcript.note(
        "all headers",
        "\n".join(f"{name}: {value}" for name, value in sorted(plain.headers.items()) if name not in random),
    )
    stage.transcript.check("surfaces/rest.beside.txt")


def test_by_the_tools_of_the_full_face(stage: Stage, agents: Callable[[OnRecord, str], Agent]) -> None:
    with stage.door() as door:
        agent = agents(door, "full")

        def act(operation: Operation, given: dict[str, Any]) -> Outcome:
            if operation.name in OF_PEOPLE:
                # No model has it; the person at the machine does it, so that the story goes on.
                return through_python(door, operation, given)
            came = agent.call(operation.name.rstrip("_"), **given)
            stage.transcript.note(f"{operation.name} {_given(given)}", *said_by(came))
            return Outcome("", came.structured_content, "refused" if came.is_error else None)

        stage.play(act, "surfaces/mcp.full.txt")


def said_by(came: Any) -> list[Any]:
    """The text of a tool's answer, and its structure where that says something else."""
    text = "\n".join(getattr(content, "text") for content in came.content)  # noqa: B009
    said: list[Any] = [f"refused: {text}" if came.is_error else text]
    if came.structured_content is not None and _structure(text) != came.structured_content:
        said.append(came.structured_content)
    return said


def _structure(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _given(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


#: Which tool of the native face, or which resource or prompt, with what.
NATIVE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_context", {}),
    ("memory_save", {"content": "Revenue is net of refunds.", "kind": "decision", "tags": ["finance"]}),
    ("memory_save", {"content": "Revenue is net of refunds.", "kind": "decision"}),
    (
        "memory_save",
        {"content": "Amounts are in cents.", "entities": ["orders.amount"], "hint": "unit of amounts"},
    ),
    ("memory_save", {"content": "The token is sk-abcdefghijklmnop1234.", "scope": "user"}),
    (
        "memory_save",
        {"content": "Paid orders", "query": {"source_model": "orders", "filters": ["status = 'paid'"]}},
    ),
    ("memory_save", {"content": "x", "kind": "opinion"}),
    ("memory_save", {"content": "x", "scope": "global"}),
    ("memory_save", {"content": "In this talk we speak of tea.", "scope": "session", "conversation": "c9"}),
    ("memory_save", {"contnet": "x"}),
    ("memory_search", {"question": "what is revenue?"}),
    ("memory_search", {"question": "cents", "entities": ["orders.amount"], "limit": 1}),
    ("memory_search", {"question": "tea", "conversation": "c9"}),
    ("memory_search", {"question": "zeppelin"}),
    ("memory_search", {"question": "revenue", "as_of": "2001-01-01"}),
    ("memory_search", {"question": "revenue", "limit": 0}),
    ("memory_get", {"id": "#1"}),
    ("memory_get", {"id": "99"}),
    (
        "memory_update",
        {"action": "revise", "id": "1", "content": "Revenue is net of returns.", "title": "Revenue"},
    ),
    ("memory_update", {"action": "revise", "id": "1", "content": "Revenue is net of returns."}),
    ("memory_update", {"action": "relate", "id": "1", "relation": "supports", "target": "2"}),
    ("memory_update", {"action": "relate", "id": "1", "relation": "supports", "target": "2"}),
    ("memory_update", {"action": "relate", "id": "1", "relation": "likes", "target": "2"}),
    ("memory_update", {"action": "supersede", "id": "2", "content": "Amounts are in euro."}),
    ("memory_update", {"action": "supersede", "id": "1"}),
    ("memory_update", {"action": "retire", "id": "4", "reason": "over"}),
    ("memory_update", {"action": "retire", "id": "4"}),
    ("memory_update", {"action": "retire", "id": "4", "content": "x"}),
    ("memory_update", {"action": "burn", "id": "1"}),
    ("memory_update", {"action": "revise"}),
    ("memory_get", {"id": "1"}),
    ("memory_context", {"question": "revenue", "max_tokens": 300}),
    ("memory_context", {"question": "revenue", "max_tokens": 5}),
    ("memory_forget", {"id": "1"}),
    ("memory_forget", {"id": "1"}),
)
ADDRESSES = (
    "memory://context",
    "memory://entry/1",
    "memory://entry/99",
    "memory://entity/orders",
    "memory://entity/orders.amount",
    "memory://entity/nothing",
    "memory://elsewhere",
)
PROMPTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("remember", {"what": "Tea is hot."}),
    ("remember", {}),
    ("recall", {"question": "Is tea hot?"}),
    ("review", {}),
    ("review", {"subject": "tea"}),
    ("review", {"topic": "tea"}),
    ("forget", {}),
)


def test_by_the_tools_resources_and_prompts_of_the_native_face(
    stage: Stage, agents: Callable[[OnRecord, str], Agent]
) -> None:
    transcript = stage.transcript
    with stage.door() as door:
        door.ingest(str(stage.models))
        agent = agents(door, "native")
        for tool, given in NATIVE[:-2]:
            stage.clock.tick(minutes=1)
            transcript.note(f"{tool} {_given(given)}", *said_by(agent.call(tool, **given)))
        client: Client = agent.client
        for listed in (client.list_resources, client.list_resource_templates, client.list_prompts):
            transcript.note(listed.__name__, _dumped(agent.ask(listed)))
        for uri in ADDRESSES:
            transcript.call(uri, lambda uri=uri: _dumped(agent.ask(client.read_resource, uri)))
        for name, arguments in PROMPTS:
            transcript.call(
                f"prompt {name} {_given(arguments)}",
                lambda name=name, arguments=arguments: _dumped(agent.ask(client.get_prompt, name, arguments)),
            )
        for tool, given in NATIVE[-2:]:
            transcript.note(f"{tool} {_given(given)}", *said_by(agent.call(tool, **given)))
    transcript.check("surfaces/mcp.native.txt")


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)
