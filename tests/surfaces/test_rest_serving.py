"""HOW does a server begin and end? The real command, in a process of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest

from onrecord.config import load
from onrecord.errors import StoreUnavailable
from onrecord.surfaces.serving import _waits_for_others
from onrecord.surfaces.serving.workers import Workers
from tests.forked import Forked

from .conftest import COMMAND, SOURCE

ANNOUNCED = re.compile(r"Listening on (http://\S+) ")


class Process:
    """`onrecord serve`, as a person starts it; `anew` as the first program after a machine has started."""

    def __init__(
        self,
        command: list[str],
        *words: str,
        anew: bool = False,
        log: int = subprocess.PIPE,
        **environment: str,
    ) -> None:
        command, env = [*command, "serve", "--port", "0", *words], os.environ | environment
        self._process: Any = (
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=env)
            if anew
            else Forked(command, stderr=log, env=env)
        )
        self.said = self._process.stdout.readline()
        found = ANNOUNCED.search(self.said)
        assert found, (self.said, self._process.stderr and self._process.stderr.read())
        self.client = httpx2.Client(base_url=found[1], timeout=600)
        self._wait()

    def _wait(self) -> None:
        for _ in range(12_000):
            try:
                if self.client.get("/health/live").status_code == 200:
                    return
            except httpx2.TransportError:
                time.sleep(0.05)
        raise AssertionError("it did not come up")

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, number: int) -> None:
        self._process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Tell it to stop: the code it left with, and what it wrote."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        _, err = self._process.communicate(timeout=600)
        self.client.close()
        return self._process.returncode, err


Starting = Callable[..., Process]


@pytest.fixture
def started(shell: Any) -> Iterator[Starting]:
    running: list[Process] = []

    def start(*words: str, **how: Any) -> Process:
        running.append(Process(shell.command, *words, **how))
        return running[-1]

    yield start
    for each in running:
        each.stop(signal.SIGKILL)


def test_it_says_where_it_listens_and_which_store(started: Starting) -> None:
    server = started(anew=True)
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
    line = httpx2.Client(base_url=server.client.base_url, timeout=600)

    def slowly() -> Iterator[bytes]:
        yield b'{"content": "Half '
        server.tell(signal.SIGTERM)
        time.sleep(0.5)
        yield b'and half."}'

    said = line.post("/v1/memories", content=slowly(), headers={"Content-Type": "application/json"})
    assert said.status_code == 201
    line.close()
    assert server.stop()[0] == 0


class Several:
    """A server of two processes, seen from outside: who they are, and who holds which connection."""

    def __init__(self, server: Process) -> None:
        self.server = server
        self.url = httpx2.URL(server.client.base_url)

    def workers(self) -> list[int]:
        found = Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children").read_text().split()
        return [int(pid) for pid in found if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]

    def held(self) -> list[int]:
        """How many connections each worker holds."""
        port = f":{self.url.port:04X}"
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        open_here = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(port) and row[3] == "01"}
        return [len(open_here.intersection(_open_files(pid))) for pid in self.workers()]

    def ask(self) -> list[HTTPConnection]:
        """So many connections, each with a question under way, that it does not happen that one worker has all."""
        lines = [HTTPConnection(str(self.url.host), self.url.port, timeout=600) for _ in range(32)]
        for line in lines:
            line.request("GET", "/health/live")
        return lines

    def under_way(self) -> int:
        """How many requests are being answered, this one among them."""
        return self._counted("onrecord_requests_in_flight")

    def saves(self) -> int:
        """How many memories they have made, all together."""
        return self._counted('onrecord_requests_total{method="POST",route="/v1/memories",status="201"}')

    def _counted(self, name: str) -> int:
        said = httpx2.get(self.url.join("/metrics"), timeout=600).text
        found = re.search(rf"^{re.escape(name)} ([\d.]+)$", said, re.M)
        return int(float(found[1])) if found else 0

    def wait_for_another(self, than: int) -> None:
        _until(lambda: len({*self.workers()} - {than}) == 2, lambda: "none follows")

    def refuses(self) -> bool:
        try:
            socket.create_connection((str(self.url.host), self.url.port), timeout=600).close()
        except ConnectionRefusedError:
            return True
        return False


def _open_files(pid: int) -> set[str]:
    found = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(os.readlink(each))
    return found


def _until(happened: Callable[[], bool], otherwise: Callable[[], str]) -> None:
    for _ in range(12_000):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError(otherwise())


def _answered(lines: list[HTTPConnection]) -> bool:
    return {line.getresponse().read() for line in lines} == {b'{"status": "live"}'}


def _close(lines: list[HTTPConnection]) -> None:
    for line in lines:
        line.close()


@pytest.mark.slow
@pytest.mark.usefixtures(
    "words_alone"
)  # Who takes which connection does not depend on a model that each would load.
@pytest.mark.skipif(sys.platform != "linux", reason="who holds which connection is read from /proc")
class TestSeveral:
    @pytest.fixture(scope="class")
    @classmethod
    def several(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
        """One server, whose processes are killed and followed by others; it ends well all the same."""
        folder = tmp_path_factory.mktemp("several")
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("ONRECORD_")]:
                patch.delenv(name)
            server = Process(
                COMMAND,
                *("--workers", "2", "--no-worker"),
                # A log that nobody reads would fill up.
                log=subprocess.DEVNULL,
                ONRECORD_CONFIG=str(folder / "no-config.toml"),
                ONRECORD_DB=str(folder / "several.db"),
                ONRECORD_EMBEDDER="none",
                PYTHONPATH=SOURCE,
            )
        yield Several(server)
        assert server.stop()[0] == 0

    def test_all_of_them_take_connections_serve_one_store_and_count_together(
        self, several: Several, shell: Any
    ) -> None:
        before, lines = several.saves(), several.ask()
        assert _answered(lines)
        assert 0 not in several.held()
        for number, line in enumerate(lines):
            note = json.dumps({"content": f"Note {number}.", "dedupe": False})
            line.request("POST", "/v1/memories", note, {"Content-Type": "application/json"})
        ids = {json.loads(line.getresponse().read())["memory"]["id"] for line in lines}
        assert len(ids) == len(lines)
        _close(lines)
        assert several.saves() == before + len(lines)
        # Another server does not join them.
        said = shell("serve", "--workers", "2", "--port", str(several.url.port))
        assert said.code == 6
        assert f"port {several.url.port}" in said.err

    def test_what_one_caller_may_ask_is_counted_together_and_they_end_when_nobody_is_left_to_tell_them(
        self, started: Starting
    ) -> None:
        several = Several(started("--workers", "2", "--no-worker", ONRECORD_REQUESTS_PER_MINUTE="1"))
        lines = several.ask()
        assert _answered(lines)
        assert 0 not in several.held()
        statuses = []
        for line in lines:
            line.request("GET", "/v1/memories")
            answer = line.getresponse()
            answer.read()
            statuses.append(answer.status)
        _close(lines)
        assert (statuses.count(200), statuses.count(429)) == (1, 31)
        several.server.client.close()
        several.server.tell(signal.SIGKILL)
        _until(several.refuses, lambda: "they still listen")

    def test_what_one_that_is_killed_had_begun_is_under_way_no_more(self, several: Several) -> None:
        halves = several.ask()
        assert _answered(halves)
        for half in halves:
            half.putrequest("POST", "/v1/memories")
            half.putheader("Content-Type", "application/json")
            half.putheader("Content-Length", "100")
            half.endheaders(b'{"content": ')
        _until(lambda: several.under_way() == 33, lambda: "they have not begun")
        killed, _ = several.workers()
        os.kill(killed, signal.SIGKILL)
        several.wait_for_another(than=killed)
        assert 1 < several.under_way() < 33
        _close(halves)
        _until(lambda: several.under_way() == 1, lambda: "some are counted for ever")

    def test_who_waits_for_one_that_is_killed_is_answered_by_the_one_that_follows(
        self, several: Several
    ) -> None:
        saved = several.server.client.post("/v1/memories", json={"content": "Deploys are frozen."}).json()
        killed, _ = several.workers()
        os.kill(killed, signal.SIGSTOP)
        stopped = Path(f"/proc/{killed}/stat")
        _until(lambda: stopped.read_text().rpartition(")")[2].split()[0] == "T", lambda: "it goes on")
        lines = several.ask()
        os.kill(killed, signal.SIGKILL)
        several.wait_for_another(than=killed)
        assert _answered(lines)
        _close(lines)
        found = httpx2.get(several.url.join(f"/v1/memories/{saved['memory']['id']}"), timeout=600)
        assert found.json()["memory"]["content"] == "Deploys are frozen."


@pytest.mark.slow
@pytest.mark.usefixtures("words_alone")  # Who listens does not depend on a model that each would load.
def test_where_they_cannot_have_a_socket_each_they_serve_with_one_for_all(
    shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("ONRECORD_DB", str(tmp_path / "several.db"))
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    listening = socket.create_server(("127.0.0.1", 0))
    workers = Workers("onrecord.surfaces.serving:from_environment", {"log_level": "error"}, listening, 2)
    url, said = f"http://127.0.0.1:{listening.getsockname()[1]}", []

    def ask() -> None:
        said.extend(httpx2.get(f"{url}/health/ready", timeout=600).json()["status"] for _ in range(8))
        workers.stop()

    workers.run(ready=ask)
    assert said == ["ready"] * 8


def test_processes_that_cannot_begin_are_told_of(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        workers = Workers("onrecord.surfaces.serving:nothing", {"log_level": "error"}, listening, 1)
        with pytest.raises(StoreUnavailable, match="ended while it started"):
            workers.run(ready=lambda: pytest.fail("none of them is ready"))
    assert "nothing" in capfd.readouterr().err


def test_it_does_not_listen_elsewhere_without_keys(shell: Any) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "memory.example"):
        said = shell("serve", "--host", host, "--port", "0")
        assert said.code == 2
        assert "onrecord keys create" in said.err


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
    assert (
        "only one process can use a store in memory"
        in shell("serve", "--db", ":memory:", "--workers", "2").err
    )


def test_a_port_that_is_taken_is_said_plainly(shell: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = shell("serve", "--port", port)
    assert said.code == 6
    assert f"port {port}" in said.err


class TestSources:
    def test_without_any_it_does_not_start(self, shell: Any) -> None:
        said = shell("serve", "--port", "0", "--ingest-on-startup")
        assert said.code == 2
        assert "ONRECORD_SOURCES" in said.err

    def test_one_that_cannot_be_read_keeps_it_from_starting(
        self, shell: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ONRECORD_SOURCES", "nowhere/models")
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
        server = started("--ingest-on-startup", ONRECORD_SOURCES="shop.db")
        told = server.client.get("/v1/entities", params={"kind": "model"}).json()
        assert [each["canonical"] for each in told["entities"]] == ["shop.orders"]
        assert server.client.post("/v1/ingest", json={"path": "shop.db"}).status_code == 200
        assert server.client.post("/v1/ingest", json={"path": "shell.db"}).status_code == 403


@pytest.mark.parametrize(
    ("settings", "waits"),
    [
        ({}, False),
        ({"db": "postgresql://desk/memories"}, True),
        ({"embedder": "openai:text-embedding-3-small"}, True),
        ({"grants": "https://access.example/systems"}, True),
        ({"grants": "grants.toml"}, False),
        ({"oidc_issuer": "https://id.example"}, True),
        ({"oidc_issuer": "https://id.example", "oidc_jwks": "keys.json"}, False),
    ],
)
def test_where_a_question_may_wait_for_somebody_else_others_are_answered_meanwhile(
    settings: dict[str, str], waits: bool
) -> None:
    """One thread is enough only for what this process works out by itself."""
    assert _waits_for_others(load(**settings)) is waits
