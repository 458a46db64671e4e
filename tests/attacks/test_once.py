"""IS it done once? A server is killed between the commit and the answer, and a line to the database is cut at COMMIT."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from onrecord import OnRecord, connect
from onrecord.errors import OutcomeUnknown, StoreUnavailable
from onrecord.store.postgres import backend as postgres_backend
from tests.forked import Forked

pytestmark = pytest.mark.usefixtures(
    "words_alone"
)  # What is asked here is asked of the store; no model need be loaded.

#: The command, which kills itself after the first transaction that ends while a file lies there. Whether a commit was
#: done it does not ask for long.
FATAL = """
import os, signal
from contextlib import contextmanager
from onrecord.store.postgres import backend
from onrecord.store.sql import SqlStore

backend._ASK_FOR_S = 0.2

real = SqlStore.writing

@contextmanager
def writing(self, *given, **named):
    with real(self, *given, **named) as opened:
        yield opened
    if os.path.exists(os.environ["TEST_FATAL"]):
        os.kill(os.getpid(), signal.SIGKILL)

SqlStore.writing = writing
from onrecord.surfaces.cli import main
main()
"""


class Server:
    """`onrecord serve` in a process of its own."""

    def __init__(self, db: str, fatal: Path) -> None:
        self.process = Forked(
            [sys.executable, "-c", FATAL, "serve", "--db", db, "--port", "0"],
            stderr=subprocess.DEVNULL,
            env=os.environ | {"TEST_FATAL": str(fatal)},
        )
        found = re.search(r"Listening on http://[^:]+:(\d+)", self.process.stdout.readline())
        assert found
        self.port = int(found[1])

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None) -> tuple[int, Any, bool]:
        """Status and answer, and whether it was given again."""
        line = HTTPConnection("127.0.0.1", self.port, timeout=600)
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
        with closing(line):
            line.request(method, path, None if body is None else json.dumps(body), headers)
            came = line.getresponse()
            return came.status, json.loads(came.read()), came.headers["idempotent-replayed"] == "true"

    def end(self) -> int:
        self.process.kill()
        self.process.stdout.close()
        return self.process.wait(600)


@pytest.fixture
def serve(db: str, tmp_path: Path) -> Iterator[Callable[[], Server]]:
    started: list[Server] = []

    def start() -> Server:
        started.append(Server(db, tmp_path / "fatal"))
        return started[-1]

    yield start
    for each in started:
        each.end()


class Write(NamedTuple):
    """A write, and how much of what it makes is there before and after it."""

    method: str
    path: str
    body: Any
    count: Callable[[OnRecord], int]
    before: int
    after: int


def memories(door: OnRecord) -> int:
    return len(door.browse().memories)


#: One of each sort, in the order in which they are made.
WRITES = [
    Write("POST", "/v1/memories", {"content": "Once.", "dedupe": False}, memories, 2, 3),
    Write(
        "PATCH", "/v1/memories/1", {"content": "Changed."}, lambda door: len(door.history("1").versions), 1, 2
    ),
    Write(
        "PUT",
        "/v1/memories/1/relations/supports/two",
        None,
        lambda door: len(door.relations().relations),
        0,
        1,
    ),
    Write("DELETE", "/v1/memories/two", None, memories, 3, 2),
    Write(
        "POST",
        "/v1/workspace/scratchpads/scout",
        {"content": "Once."},
        lambda door: door.read_scratchpad("scout").content.count("Once."),
        0,
        1,
    ),
    # In the words of others.
    Write(
        "POST",
        "/v1/memory/entries",
        {"type": "learning", "title": "Once", "content": "Once.", "supersedes_ids": [1]},
        lambda door: len(door.browse(statuses=["active", "superseded"]).memories),
        2,
        3,
    ),
    Write("POST", "/memories", {"learning": "Once.", "linked_entities": ["memory:3"]}, memories, 2, 3),
]


def test_who_asks_again_after_the_server_was_killed_gets_the_first_answer_and_no_second_row(
    serve: Callable[[], Server], db: str, tmp_path: Path
) -> None:
    """The server that is asked again is the one that the next write kills."""
    server, fatal = serve(), tmp_path / "fatal"
    server.ask("POST", "/v1/memories", {"content": "One."})
    server.ask("POST", "/v1/memories", {"content": "Two.", "id": "two"})
    with connect(db) as door:
        for number, write in enumerate(WRITES):
            ask = (write.method, write.path, write.body, f"key {number}")
            assert write.count(door) == write.before
            fatal.touch()
            with suppress(OSError, HTTPException):
                pytest.fail(f"It was answered: {server.ask(*ask)}")
            assert server.end() == -signal.SIGKILL
            fatal.unlink()
            assert write.count(door) == write.after
            server = serve()
            told = [server.ask(*ask) for _ in range(2)]
            assert told[0] == told[1]
            assert (told[0][0] in (200, 201), told[0][2]) == (True, True)
            assert write.count(door) == write.after
        assert door.doctor().problems == ()


class Cutting:
    """Stands between a store and its PostgreSQL server, and cuts the line at the COMMIT of a save when it is told to."""

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        given = parse_qs(parts.query)
        self._socket = f"{given['host'][0]}/.s.PGSQL.{given.get('port', ['5432'])[0]}"
        self.cut: Literal["before", "after"] | None = None
        self.stays_down = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        port = self._listening.getsockname()[1]
        options = "&".join(f"{name}={value}" for name, value in _others(parts.query))
        self.dsn = f"postgresql://{parts.username or 'postgres'}@127.0.0.1:{port}{parts.path}?{options}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self.stays_down:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._socket)
            self._threads += [
                threading.Thread(target=self._ask, args=(client, server)),
                threading.Thread(target=self._answer, args=(client, server)),
            ]
            for thread in self._threads[-2:]:
                thread.start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        has_saved = False
        with suppress(OSError):
            while part := client.recv(65_536):
                has_saved |= b"INSERT INTO memories" in part
                if self.cut is not None and has_saved and b"COMMIT\0" in part:
                    if self.cut == "after":
                        # Nobody passes the answer on: the one thread that could is told to end first.
                        client.shutdown(socket.SHUT_WR)
                        server.sendall(part)
                    self.cut = None
                    break
                server.sendall(part)
        _end(client)
        server.shutdown(socket.SHUT_WR) if server.fileno() >= 0 else None

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while part := server.recv(65_536):
                with suppress(OSError):
                    client.sendall(part)
        _end(client)
        server.close()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(600)


def _others(query: str) -> list[tuple[str, str]]:
    pairs = [pair.split("=", 1) for pair in query.split("&")]
    return [(name, value) for name, value in pairs if name not in ("host", "port")]


def _end(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()


@pytest.fixture
def cutting(postgres_store: str) -> Iterator[Cutting]:
    between = Cutting(postgres_store)
    yield between
    between.close()


def contents(db: str) -> list[str]:
    with connect(db) as door:
        return [memory.content for memory in door.browse().memories]


def test_a_save_whose_commit_was_done_but_not_heard_of_is_answered_as_done(
    cutting: Cutting, postgres_store: str
) -> None:
    with connect(cutting.dsn) as door:
        door.remember("Before.")
        cutting.cut = "after"
        assert door.remember("Kept.").outcome == "created"
        assert cutting.cut is None
    assert contents(postgres_store) == ["Kept.", "Before."]


def test_a_save_whose_commit_never_came_says_that_nothing_was_changed(
    cutting: Cutting, postgres_store: str
) -> None:
    with connect(cutting.dsn) as door:
        door.remember("Before.")
        cutting.cut = "before"
        with pytest.raises(StoreUnavailable, match="nothing was changed") as lost:
            door.remember("Lost.")
        assert not isinstance(lost.value, OutcomeUnknown)
    assert contents(postgres_store) == ["Before."]


@pytest.mark.parametrize("cut", ["before", "after"])
def test_where_nobody_can_say_what_became_of_a_commit_nobody_says_that_nothing_was_changed(
    cutting: Cutting, monkeypatch: pytest.MonkeyPatch, cut: Literal["before", "after"]
) -> None:
    monkeypatch.setattr(postgres_backend, "_ASK_FOR_S", 0.2)
    with connect(cutting.dsn) as door:
        door.remember("Before.")
        cutting.cut, cutting.stays_down = cut, True
        with pytest.raises(OutcomeUnknown, match="it is unknown whether") as lost:
            door.remember("Perhaps.")
    assert "nothing was changed" not in str(lost.value).lower()


def test_an_outcome_that_is_not_known_is_told_so_over_http_and_asked_again_under_its_key(
    cutting: Cutting, postgres_store: str, tmp_path: Path
) -> None:
    server = Server(cutting.dsn, tmp_path / "fatal")
    try:
        ask = ("POST", "/v1/memories", {"content": "Once.", "dedupe": False}, "the key")
        cutting.cut, cutting.stays_down = "after", True
        status, told, _ = server.ask(*ask)
        assert (status, told["type"]) == (503, "urn:onrecord:outcome-unknown")
        assert "nothing was changed" not in told["detail"]
        cutting.stays_down = False
        status, told, repeated = server.ask(*ask)
        assert (status, told["memory"]["content"], repeated) == (201, "Once.", True)
    finally:
        server.end()
    assert contents(postgres_store) == ["Once."]
