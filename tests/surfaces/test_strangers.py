"""HOW much does a stranger cost? Little: what they send is not read before they are known."""

import json
import socket
from http.client import HTTPResponse
from typing import Any

import pytest

LARGE = 1_000_000
#: Each route that takes a body in words of its own.
TAKING = ("/v1/memories", "/v1/import", "/v1/slash", "/v1/memory/entries")


def head(path: str, length: int, key: str = "", *, more: str = "") -> bytes:
    shown = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"{f'Content-Length: {length}' if length else 'Transfer-Encoding: chunked'}\r\n{shown}{more}\r\n"
    ).encode()


def first_line(line: socket.socket) -> str:
    """Of an answer that is read to its end: it may come in pieces."""
    said = HTTPResponse(line)
    said.begin()
    said.read()
    return f"HTTP/1.1 {said.status} {said.reason}"


@pytest.mark.parametrize("path", TAKING)
@pytest.mark.parametrize("length", [LARGE, 0], ids=["said to be large", "of unknown length"])
def test_a_stranger_is_refused_before_a_large_body_is_read(server: Any, path: str, length: int) -> None:
    server.make_key()
    with socket.create_connection(("127.0.0.1", server.port), timeout=600) as line:
        line.sendall(head(path, length, "onr_abcdefgh_" + "x" * 43))
        # Not one byte of the body was sent.
        assert first_line(line) == "HTTP/1.1 401 Unauthorized"


def test_a_large_body_of_one_who_is_known_is_read_and_counted_once(served: Any) -> None:
    server = served(requests_per_minute="100")
    body = json.dumps({"content": "The plan is long.", "metadata": {"plan": "x" * 60_000}}) + " " * 10_000
    with server.connect(server.make_key()) as client:
        said = client.post("/v1/memories", content=body, headers={"Content-Type": "application/json"})
    assert said.status_code == 201
    assert said.headers["ratelimit-remaining"] == "99"


def test_what_follows_on_the_connection_of_a_stranger_is_a_request_of_its_own(server: Any) -> None:
    key = server.make_key()
    with socket.create_connection(("127.0.0.1", server.port), timeout=600) as line:
        line.sendall(head("/v1/memories", LARGE))
        assert first_line(line) == "HTTP/1.1 401 Unauthorized"
        line.sendall(b"x" * LARGE)
        line.sendall(head("/v1/recall", 20, key) + b'{"question":"plans"}')
        assert first_line(line) == "HTTP/1.1 200 OK"
