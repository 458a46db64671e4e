"""HOW does a server begin and end? The real command, in a process of its own."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

ANNOUNCED = re.compile(r"Listening on (http://\S+) ")


class Process:
    """`recollect serve`, as a person starts it."""

    def __init__(self, command: list[str], *words: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [*command, "serve", "--port", "0", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        assert self._process.stdout is not None
        self.said = self._process.stdout.readline()
        found = ANNOUNCED.search(self.said)
        assert found, (self.said, self._process.stderr and self._process.stderr.read())
        self.client = httpx2.Client(base_url=found[1], timeout=60)
        self._wait()

    def _wait(self) -> None:
        for _ in range(600):
            try:
                if self.client.get("/health/live").status_code == 200:
                    return
            except httpx2.TransportError:
                time.sleep(0.05)
        raise AssertionError("it did not come up")

    def tell(self, number: int) -> None:
        self._process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Tell it to stop: the code it left with, and what it wrote."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        _, err = self._process.communicate(timeout=60)
        self.client.close()
        return self._process.returncode, err


Starting = Callable[..., Process]


@pytest.fixture
def started(shell: Any) -> Iterator[Starting]:
    running: list[Process] = []

    def start(*words: str, **environment: str) -> Process:
        running.append(Process(shell.command, *words, **environment))
        return running[-1]

    yield start
    for each in running:
        each.stop(signal.SIGKILL)


def test_it_says_where_it_listens_and_which_store(started: Starting) -> None:
    server = started()
    assert "the store is shell.db" in server.said
    assert "127.0.0.1" in server.said
    said = server.client.post("/v1/memories", json={"content": "Deploys are frozen."})
    assert said.status_code == 201
    code, err = server.stop()
    assert code == 0
    lines = [json.loads(line) for line in err.splitlines()]
    assert {"route": "/v1/memories", "status": 201, "user": "ann"}.items() <= lines[-1].items()
    assert "Deploys" not in err


def test_it_finishes_what_it_has_begun(started: Starting) -> None:
    server = started()
    # A request that is under way when the signal comes.
    line = httpx2.Client(base_url=server.client.base_url, timeout=60)

    def slowly() -> Iterator[bytes]:
        yield b'{"content": "Half '
        server.tell(signal.SIGTERM)
        time.sleep(0.5)
        yield b'and half."}'

    said = line.post("/v1/memories", content=slowly(), headers={"Content-Type": "application/json"})
    assert said.status_code == 201
    line.close()
    assert server.stop()[0] == 0


@pytest.mark.slow
def test_several_processes_serve_one_store_and_count_together(started: Starting) -> None:
    server = started("--workers", "2", "--no-worker")
    ids = set()

    def send(number: int) -> None:
        with httpx2.Client(base_url=server.client.base_url, timeout=60) as client:
            said = client.post("/v1/memories", json={"content": f"Note {number}.", "dedupe": False})
            ids.add(said.json()["memory"]["id"])

    threads = [threading.Thread(target=send, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 20
    figures = server.client.get("/metrics").text
    assert 'recollect_requests_total{method="POST",route="/v1/memories",status="201"} 20.0' in figures
    assert server.stop()[0] == 0


def test_it_does_not_listen_elsewhere_without_keys(shell: Any) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "memory.example"):
        said = shell("serve", "--host", host, "--port", "0")
        assert said.code == 2
        assert "recollect keys create" in said.err


def test_with_a_key_it_listens_elsewhere_and_lets_nobody_in_without(shell: Any, started: Starting) -> None:
    key = shell("--json", "keys", "create").json["secret"]
    server = started("--host", "0.0.0.0")
    server.client.base_url = f"http://127.0.0.1:{httpx2.URL(server.client.base_url).port}"
    assert server.client.get("/v1/memories").status_code == 401
    said = server.client.get("/v1/memories", headers={"Authorization": f"Bearer {key}"})
    assert said.status_code == 200


def test_what_cannot_be_is_said_before_it_starts(shell: Any) -> None:
    assert "port: must be a whole number" in shell("serve", "--port", "many").err
    assert shell("serve", "--port", "70000").code == 2
    assert "'moon' is not a face; there are native" in shell("serve", "--face", "moon", "--port", "0").err
    assert "a store in memory is of one process" in shell("serve", "--db", ":memory:", "--workers", "2").err


def test_a_port_that_is_taken_is_said_plainly(shell: Any, started: Starting) -> None:
    server = started()
    port = str(httpx2.URL(server.client.base_url).port)
    said = shell("serve", "--port", port)
    assert said.code == 6
    assert f"port {port}" in said.err


class TestSources:
    def test_without_any_it_does_not_start(self, shell: Any) -> None:
        said = shell("serve", "--port", "0", "--ingest-on-startup")
        assert said.code == 2
        assert "RECOLLECT_SOURCES" in said.err

    def test_one_that_cannot_be_read_keeps_it_from_starting(
        self, shell: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RECOLLECT_SOURCES", "nowhere/models")
        said = shell("serve", "--port", "0", "--ingest-on-startup")
        assert said.code != 0
        assert "nowhere/models" in said.err

    def test_they_are_read_first_and_no_others_over_the_network(
        self, shell: Any, started: Starting, tmp_path: Any
    ) -> None:
        import sqlite3

        with sqlite3.connect(tmp_path / "shop.db") as database:
            database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL)")
        database.close()
        server = started("--ingest-on-startup", RECOLLECT_SOURCES="shop.db")
        told = server.client.get("/v1/entities", params={"kind": "model"}).json()
        assert [each["canonical"] for each in told["entities"]] == ["shop.orders"]
        assert server.client.post("/v1/ingest", json={"path": "shop.db"}).status_code == 200
        assert server.client.post("/v1/ingest", json={"path": "shell.db"}).status_code == 403
