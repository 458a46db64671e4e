"""A language model on the loopback that speaks the protocols of OpenAI, Anthropic and Google and says what a test tells it to.

It replies in text, in JSON or by a tool call, whole or as a stream; it refuses, hangs, breaks off and talks for ever; and it
replays recorded replies. What it was sent is kept.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from tests.wire_formats import format_of, parsed

KEY = "sk-proj-" + "q7Wx" * 10

Body = dict[str, Any]


class Says(NamedTuple):
    """A reply in text."""

    text: str


class Calls(NamedTuple):
    """A reply as the call of the tool that the request offers."""

    arguments: Mapping[str, Any] | str


class Fails(NamedTuple):
    """A refusal."""

    status: int
    message: str = "no"


class Breaks(NamedTuple):
    """The beginning of an answer, after which the connection ends."""

    sent: bytes = b'{"id": "1", "object": "chat.completion", "choices": [{"mess'


class Talks(NamedTuple):
    """An answer of so many bytes."""

    size: int


class Hangs(NamedTuple):
    """No answer until the event is set."""

    until: Event


class Sends(NamedTuple):
    """An answer of any kind, whatever its format should be."""

    content: bytes = b""
    kind: str = "application/json"
    status: int = 200
    location: str | None = None


class Drips(NamedTuple):
    """An answer that comes byte by byte until the event is set, and has no end."""

    until: Event


Reply = Says | Calls | Fails | Breaks | Talks | Hangs | Sends | Drips
Script = Callable[[Body], Reply]


def as_json(value: Any) -> Says:
    return Says(json.dumps(value))


def question_of(body: Body) -> str:
    """The text that the model was shown."""
    return "\n".join(each["content"] for each in body["messages"] if each["role"] == "user")


def task_of(body: Body) -> str:
    """Which task the instructions are those of."""
    told = " ".join(each["content"] for each in body["messages"] if each["role"] != "user")
    known = {
        "help a search engine": "expand",
        "order search results": "rerank",
        "final order": "rerank_fine",
        "file notes": "tag",
        "keep notes consistent": "supersede",
        "worth remembering": "extract",
        "second opinion": "judge",
    }
    return next(task for words, task in known.items() if words in told)


def ids_of(body: Body) -> list[str]:
    """The candidates that the model was shown, in their order."""
    return re.findall(r"^- #(\S+) \(", question_of(body), re.MULTILINE)


def by_task(**scripts: Any) -> Script:
    """A script for each task: a reply, or a function of the request."""

    def script(body: Body) -> Reply:
        chosen = scripts.get(task_of(body), Fails(404, "no script for this task"))
        return chosen(body) if callable(chosen) else chosen

    return script


class Replayed:
    """Recorded replies, by task and by the first text that was shown; a file holds one as a line of JSON."""

    def __init__(self, path: Path) -> None:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        self._replies = {(each["task"], each["about"]): each["reply"] for each in lines}

    def __call__(self, body: Body) -> Reply:
        about = question_of(body).split("\n  | ", 1)[1].split("\n", 1)[0]
        found = self._replies.get((task_of(body), about))
        return Fails(404, "this was not recorded") if found is None else as_json(found)


class ScriptedModel:
    """The server; `script` says what it answers."""

    def __init__(self) -> None:
        self.script: Script = lambda body: Says("hello")
        self.asked: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.busy = self.most_at_once = 0
        self._lock = Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def settings(self, **more: str) -> dict[str, str]:
        """The variables by which a store asks this model."""
        told = {"advisor": "openai:scripted", "advisor_url": self.url, "advisor_key": KEY}
        told |= {"advisor_prices": "openai:scripted=1/4", "advisor_timeout": "20"} | more
        return {f"ONRECORD_{name.upper()}": value for name, value in told.items()}

    def tasks(self) -> list[str]:
        return [task_of(body) for body in self.asked]

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._lock:
            self.busy += 1
            self.most_at_once = max(self.most_at_once, self.busy)
        try:
            yield
        finally:
            with self._lock:
                self.busy -= 1

    def _handler(outer) -> type[BaseHTTPRequestHandler]:  # noqa: C901, N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.format = format_of(self.path)
                if self.format is not None:
                    body = self.format.read(self.path, body)
                with outer._lock:
                    outer.asked.append(body)
                    outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                with outer._at_work():
                    reply = outer.script(body)
                    if isinstance(reply, Hangs):
                        reply.until.wait(60)
                        reply = Fails(503, "it hung")
                    self.answer(body, reply)

            def answer(self, body: Body, reply: Reply) -> None:
                if isinstance(reply, Fails):
                    error = {"error": {"message": reply.message, "type": "some_error", "code": None}}
                    if self.format is not None:
                        error = self.format.error(reply.status, reply.message)
                    return self.send(reply.status, json.dumps(error).encode())
                if isinstance(reply, Breaks):
                    self.send(200, reply.sent, length=len(reply.sent) + 500)
                    self.close_connection = True
                    return None
                if isinstance(reply, Sends):
                    return self.send(reply.status, reply.content, reply.kind, location=reply.location)
                if isinstance(reply, Drips):
                    self.send(200, b" ", length=10**6)
                    while not reply.until.wait(0.02):
                        self.wfile.write(b" ")
                    self.close_connection = True
                    return None
                if isinstance(reply, Talks):
                    return self.send(200, b'{"choices": "' + b"x" * reply.size + b'"}')
                if self.format is not None:
                    is_text = isinstance(reply, Says)
                    told = (
                        self.format.text(body, reply.text)
                        if is_text
                        else self.format.call(body, parsed(reply.arguments))
                    )
                    return self.send(200, json.dumps(told).encode())
                if body.get("stream"):
                    return self.send(200, _stream(body, reply), "text/event-stream")
                return self.send(200, json.dumps(_completion(body, reply)).encode())

            def send(
                self,
                status: int,
                content: bytes,
                kind: str = "application/json",
                length: int | None = None,
                location: str | None = None,
            ) -> None:
                self.send_response(status)
                if location is not None:
                    self.send_header("Location", location)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content) if length is None else length))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Be silent."""

            def handle(self) -> None:
                try:
                    super().handle()
                except (ConnectionError, ValueError):  # who asked has gone
                    self.close_connection = True

        return Handler


def _message(body: Body, reply: Says | Calls) -> dict[str, Any]:
    if isinstance(reply, Says):
        return {"role": "assistant", "content": reply.text}
    told = reply.arguments if isinstance(reply.arguments, str) else json.dumps(reply.arguments)
    name = body["tools"][0]["function"]["name"]
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": told}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def completion(body: Body, reply: Says | Calls, **usage: Any) -> Sends:
    """A reply whose service counts tokens in its own way, or names another model."""
    return Sends(json.dumps(_completion(body, reply) | usage).encode())


def _completion(body: Body, reply: Says | Calls) -> dict[str, Any]:
    message = _message(body, reply)
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_770_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _stream(body: Body, reply: Says | Calls) -> bytes:
    """The same in pieces, as servers send events."""
    message = _message(body, reply)
    if message.get("tool_calls"):
        pieces = [{"tool_calls": [{"index": 0, **message["tool_calls"][0]}]}]
    else:
        pieces = [{"content": part} for part in re.findall(r".{1,8}", message["content"], re.DOTALL)]
    told = [
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_770_000_000,
            "model": body["model"],
            "choices": [{"index": 0, "delta": {"role": "assistant", **piece}, "finish_reason": None}],
        }
        for piece in pieces
    ]
    told.append({**told[-1], "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return b"".join(f"data: {json.dumps(each)}\n\n".encode() for each in told) + b"data: [DONE]\n\n"
