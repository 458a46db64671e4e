"""Fixtures of the tests of access: a small web site on this machine, and a timer that moves only when told to."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest


class Timer:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds

    def tick(self, seconds: float) -> None:
        self.seconds += seconds


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked has left without reading on: that is not worth a word."""


class Site:
    """A web site: what it answers by path, as a status and a body, and what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.asked: list[tuple[str, Any]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

            def _answer(self, sent: Any) -> None:
                site.asked.append((self.path, sent))
                status, body = site.answers.get(self.path, (404, b"nothing here"))
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def says(self, path: str, body: Any, status: int = 200) -> str:
        """Let a path answer this, as JSON unless it is bytes; gives its address."""
        self.answers[path] = (status, body if isinstance(body, bytes) else json.dumps(body).encode())
        return self.url + path

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Site()
    yield running
    running.close()


@pytest.fixture
def timer() -> Timer:
    return Timer()
