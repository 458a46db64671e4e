"""Does everything that a server acknowledged outlive its end, and do readers get on while writers cannot?"""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from onrecord import connect
from tests.forked import Forked

COMMAND = [sys.executable, "-c", "from onrecord.surfaces.cli import main; main()"]
ANNOUNCED = re.compile(r"Listening on http://[^:]+:(\d+)")
CLIENTS = 6
#: How much each has saved when the server is ended.
SAVES = 8


class Server:
    """`onrecord serve` in a process of its own."""

    def __init__(self, db: Path) -> None:
        self._process = Forked([*COMMAND, "serve", "--db", str(db), "--port", "0"], stderr=subprocess.DEVNULL)
        found = ANNOUNCED.search(self._process.stdout.readline())
        assert found
        self.port = int(found[1])

    def end(self, number: int) -> int:
        if self._process.poll() is None:
            self._process.send_signal(number)
        code = self._process.wait(600)
        self._process.stdout.close()
        return code


class Client:
    """Saves and asks, one after another, until the server ends the connection."""

    def __init__(self, port: int, number: int) -> None:
        self.kept: dict[str, str] = {}
        self.statuses: set[int] = set()
        self._port, self._number = port, number
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def join(self) -> None:
        self._thread.join(600)
        assert not self._thread.is_alive()

    def _work(self) -> None:
        line = HTTPConnection("127.0.0.1", self._port, timeout=600)
        for turn in count():
            content = f"Client {self._number} saw thing {turn}."
            told = self._ask(line, "/v1/memories", {"content": content})
            if told is None:
                break
            self.kept[told["memory"]["id"]] = content
            if self._ask(line, "/v1/recall", {"question": "thing"}) is None:
                break
        line.close()

    def _ask(self, line: HTTPConnection, path: str, told: Any) -> Any:
        """The answer, or None if there was none."""
        try:
            line.request("POST", path, json.dumps(told), {"Content-Type": "application/json"})
            answer = line.getresponse()
            self.statuses.add(answer.status)
            return json.loads(answer.read())
        except (OSError, HTTPException):
            return None


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def server(store: Path) -> Iterator[Server]:
    started = Server(store)
    yield started
    started.end(signal.SIGKILL)


def loaded(server: Server) -> list[Client]:
    clients = [Client(server.port, number) for number in range(CLIENTS)]
    while any(len(client.kept) < SAVES for client in clients):
        time.sleep(0.01)
    return clients


def is_all_there(store: Path, clients: list[Client]) -> bool:
    """Through a server that was started again, and by the doctor."""
    again = Server(store)
    line = HTTPConnection("127.0.0.1", again.port, timeout=600)
    found: dict[str, str] = {}
    for id in [id for client in clients for id in client.kept]:
        line.request("GET", f"/v1/memories/{id}")
        found[id] = json.loads(line.getresponse().read())["memory"]["content"]
    line.close()
    again.end(signal.SIGTERM)
    with connect(store) as door:
        assert door.doctor().problems == ()
    return found == {id: content for client in clients for id, content in client.kept.items()} != {}


@pytest.mark.slow
def test_what_a_server_acknowledged_outlives_its_being_killed_under_load(store: Path, server: Server) -> None:
    clients = loaded(server)
    server.end(signal.SIGKILL)
    for client in clients:
        client.join()
    assert {status for client in clients for status in client.statuses} == {200, 201}
    assert is_all_there(store, clients)


@pytest.mark.slow
def test_a_server_told_to_stop_under_load_answers_what_it_has_accepted(store: Path, server: Server) -> None:
    clients = loaded(server)
    assert server.end(signal.SIGTERM) == 0
    for client in clients:
        client.join()
    assert {status for client in clients for status in client.statuses} == {200, 201}
    # A connection may be closed between two requests; what was done was also answered.
    with connect(store) as door:
        assert door.doctor().memories == sum(len(client.kept) for client in clients)
    assert is_all_there(store, clients)


def test_those_who_read_are_answered_while_every_writer_waits_for_the_file(
    store: Path, server: Server
) -> None:
    told = json.dumps({"content": "Waits for its turn."})
    kind = {"Content-Type": "application/json"}
    waiting = [HTTPConnection("127.0.0.1", server.port, timeout=600) for _ in range(4)]
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for line in waiting:
            line.request("POST", "/v1/memories", told, kind)
        time.sleep(0.2)
        reader = HTTPConnection("127.0.0.1", server.port, timeout=600)
        reader.request("POST", "/v1/recall", json.dumps({"question": "turn"}), kind)
        assert reader.getresponse().status == 200
        reader.close()
        other.execute("ROLLBACK")
    for line in waiting:
        assert line.getresponse().status in (200, 201)
        line.close()
