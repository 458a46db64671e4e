"""DOES everything end? Requests that are half sent, databases that do not answer, a crowd at the door, and the server itself."""

import asyncio
import gzip
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from onrecord import connect
from onrecord.access import fetching
from onrecord.access.fetching import NoAnswer, fetch_json
from onrecord.access.tokens import OidcTokens
from onrecord.app import local_caller
from onrecord.care import lines
from onrecord.config import load
from onrecord.errors import OutcomeUnknown, StoreUnavailable, Unauthenticated
from onrecord.jobs.missing_vectors import do_jobs
from onrecord.jobs.worker import Worker
from onrecord.store.ports.jobs import EMBED
from onrecord.store.postgres import patience
from onrecord.surfaces.rest import transfer
from onrecord.surfaces.rest.lanes import Lane
from onrecord.surfaces.rest.request_runner import RequestRunner
from onrecord.surfaces.serving.connections import HEAD_BYTES
from onrecord.testing.embedder import StubEmbedder
from tests.access.conftest import Site, site
from tests.access.test_tokens import keys_file, token, tokens
from tests.forked import Forked
from tests.surfaces.conftest import Served, Shell, served, shell
from tests.surfaces.test_rest_serving import Process, started

__all__ = ["keys_file", "served", "shell", "site", "started", "tokens"]
Starting = Callable[..., Process]
HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n2\r\n{}\r\n"
#: Ends what hangs; nothing is measured by it.
AT_LAST_S = 120


def line_to(server: Process) -> socket.socket:
    url = httpx2.URL(server.client.base_url)
    return socket.create_connection((str(url.host), url.port or 0), timeout=AT_LAST_S)


def rest_of(line: socket.socket) -> bytes:
    """What comes until the other side ends it."""
    received = b""
    with suppress(ConnectionError):
        while part := line.recv(65_536):
            received += part
    return received


@pytest.fixture
def quick(words_alone: None, started: Starting) -> Process:
    """A server whose patience is short."""
    return started(ONRECORD_REQUEST_TIMEOUT="2")


#: What was sent of a request, and what is said when no more comes.
HALVES: dict[bytes, bytes] = {
    b"": b"",
    **dict.fromkeys(
        (
            b"POST",
            HEAD,
            HEAD + b"Content-Length: 1000\r\nContent-Type: application/json\r\n\r\n{",
            HEAD + b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n3\r\n{",
        ),
        b"HTTP/1.1 408 Request Timeout",
    ),
}


def test_what_is_half_sent_is_not_waited_for_without_end(quick: Process) -> None:
    with ExitStack() as stack:
        lines = [(half, stack.enter_context(line_to(quick))) for half in HALVES for _ in range(20)]
        for half, line in lines:
            line.sendall(half)
        ends = {(half, rest_of(line).split(b"\r\n")[0]) for half, line in lines}
    assert ends == set(HALVES.items())
    assert quick.client.get("/health/live").status_code == 200


def test_what_stands_around_a_body_without_end_is_refused_before_it_is_all_there(
    words_alone: None, started: Starting
) -> None:
    server = started()
    header = b"x" * (8 * HEAD_BYTES)
    # A header at once and in pieces, a trailer, and what is said of a chunk.
    sent = (
        (HEAD + b"X-Long: ", 1),
        (HEAD + b"X-Long: ", 64),
        (CHUNKED + b"0\r\nX-Long: ", 64),
        (CHUNKED + b"2;long", 64),
    )
    for before, pieces in sent:
        with line_to(server) as line:
            with suppress(ConnectionError):
                line.sendall(before)
                for at in range(0, len(header), len(header) // pieces):
                    line.sendall(header[at : at + len(header) // pieces])
                if pieces == 1:
                    line.sendall(b"\r\n\r\n")
            assert b"HTTP/1.1 431" in rest_of(line), before
        assert server.client.get("/health/live").status_code == 200


def test_a_large_body_has_as_long_as_it_comes(words_alone: None, started: Starting) -> None:
    """Larger than any buffer on the way, and a long head before it."""
    server = started()
    assert server.client.post("/v1/workspace/conversations", json={"id": "c"}).status_code == 200
    said = server.client.post(
        "/v1/workspace/artifacts",
        json={"path": "a.txt", "content": "x" * 900_000, "conversation": "c"},
        headers={"X-Long": "x" * (HEAD_BYTES // 2)},
    )
    assert said.status_code == 200, said.text
    again = [server.client.get("/v1/memories").status_code for _ in range(3)]
    assert again == [200, 200, 200]


def test_when_all_connections_are_taken_whoever_has_a_key_still_gets_in(
    shell: Shell, words_alone: None, started: Starting
) -> None:
    key = shell("keys", "create", "--json").json["secret"]
    server = started(ONRECORD_CONNECTIONS="4")
    shown = {"Authorization": f"Bearer {key}"}
    with ExitStack() as stack:
        idle = [stack.enter_context(line_to(server)) for _ in range(12)]
        for line in idle:
            with suppress(ConnectionError):
                line.sendall(HEAD)
        url = server.client.base_url
        answers = [httpx2.get(f"{url}/v1/memories", headers=shown, timeout=AT_LAST_S) for _ in range(8)]
        assert [each.status_code for each in answers] == [200] * 8
    lines = [json.loads(line) for line in server.stop()[1].splitlines() if line.startswith("{")]
    assert [each for each in lines if "All 4 connections are taken" in each.get("said", "")]


def test_a_wrong_key_and_half_a_body_hold_no_connection_that_another_needs(
    shell: Shell, words_alone: None, started: Starting
) -> None:
    shell("keys", "create")
    server = started(ONRECORD_CONNECTIONS="4", ONRECORD_REQUEST_TIMEOUT=str(5 * AT_LAST_S))
    half = (
        HEAD + b"Authorization: Bearer wrong\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    )
    with ExitStack() as stack:
        lines = [stack.enter_context(line_to(server)) for _ in range(12)]
        for line in lines:
            with suppress(ConnectionError):
                line.sendall(half)
        # Long before the end of their time, of which they would be told.
        assert [rest_of(line) for line in lines[:4]] == [b""] * 4


def test_an_answer_that_nobody_reads_is_not_kept_without_end(quick: Process) -> None:
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        url = httpx2.URL(quick.client.base_url)
        line.connect((str(url.host), url.port or 0))
        line.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
        while in_flight(quick) < 2:
            time.sleep(0.01)
        for _ in range(100):
            if in_flight(quick) == 1:
                return
            time.sleep(0.1)
    pytest.fail("it is still being sent")


def in_flight(server: Process) -> float:
    """How many requests are being answered, this one too."""
    return float(server.client.get("/metrics").text.split("\nonrecord_requests_in_flight ")[1].split()[0])


# A database that does not answer


class Pipe:
    """Stands between a program and a PostgreSQL server, and can stop to pass anything on."""

    def __init__(self, dsn: str | None) -> None:
        self._dsn, self._open = dsn, threading.Event()
        self._open.set()
        self._ends: list[socket.socket] = []
        self._dead = set[socket.socket]()
        #: Someone waits for an answer that does not come.
        self.keeps = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        self._open.clear()

    def thaw(self) -> None:
        """Who comes now gets through; what was kept stays so, as on a line that a firewall has forgotten."""
        self._ends = [each for each in self._ends if each.fileno() >= 0]
        self._dead.update(self._ends)
        self._open.set()

    def close(self) -> None:
        for each in (self._listening, *self._ends):
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self._ends.append(near)
                if self._dsn is not None and self._open.is_set():
                    far = _reached(self._dsn)
                    self._ends.append(far)
                    for source, target in ((near, far), (far, near)):
                        threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(65_536):
                if source in self._dead or not self._open.is_set():
                    # Taken and kept: whoever sent it hears nothing any more.
                    self.keeps.set()
                    continue
                target.sendall(part)
            target.close()


def _reached(dsn: str) -> socket.socket:
    told = psycopg.conninfo.conninfo_to_dict(dsn)
    host, port = str(told.get("host") or "localhost"), int(told.get("port") or 5432)
    if host.startswith("/"):
        line = socket.socket(socket.AF_UNIX)
        line.connect(f"{host}/.s.PGSQL.{port}")
        return line
    return socket.create_connection((host, port))


@pytest.fixture
def piped() -> Iterator[Callable[[str | None], Pipe]]:
    made: list[Pipe] = []

    def make(dsn: str | None) -> Pipe:
        made.append(Pipe(dsn))
        return made[-1]

    yield make
    for each in made:
        each.close()


def through(pipe: Pipe, dsn: str) -> str:
    """The same store, reached through the pipe."""
    told = psycopg.conninfo.conninfo_to_dict(dsn)
    user, password = told.get("user") or "postgres", told.get("password")
    who = f"{user}:{password}" if password else user
    options = f"?options={str(told['options']).replace(' ', '%20')}" if told.get("options") else ""
    return f"postgresql://{who}@127.0.0.1:{pipe.port}/{told['dbname']}{options}"


def test_a_database_that_takes_connections_and_says_nothing_is_given_up(
    shell: Shell, piped: Callable[[str | None], Pipe]
) -> None:
    dsn = f"postgresql://nobody@127.0.0.1:{piped(None).port}/none"
    said = shell.process("--db", dsn, "status", ONRECORD_DB_CONNECT_TIMEOUT="2")
    assert (said.code, "cannot be reached" in said.err) == (6, True)


@pytest.fixture
def hasty(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command, which does not wait for long for what follows once its work is done."""
    sooner = (
        "from onrecord.surfaces import forced_exit; from onrecord.surfaces.serving import workers; "
        "forced_exit.AFTERWARDS_S = workers.AFTERWARDS_S = 0.5; "
    )
    command = [*shell.command[:-1], sooner + shell.command[-1]]
    monkeypatch.setattr(shell, "command", command)
    return command


@pytest.mark.usefixtures("words_alone", "hasty")
def test_a_server_whose_database_hangs_says_so_and_ends_when_it_is_told_to(
    postgres_store: str, piped: Callable[[str | None], Pipe], started: Starting
) -> None:
    """One process and two, at once: most of this is waiting."""
    pipe = piped(postgres_store)
    servers = [
        started(
            *words,
            ONRECORD_DB=through(pipe, postgres_store),
            ONRECORD_REQUEST_TIMEOUT="2",
            ONRECORD_SHUTDOWN_TIMEOUT="2",
            ONRECORD_DB_CONNECT_TIMEOUT="2",
        )
        for words in ((), ("--workers", "2"))
    ]
    for server in servers:
        assert server.client.get("/health/ready").status_code == 200
        assert server.client.get("/v1/memories").status_code == 200
    pipe.freeze()
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(said_so_and_ended, servers)) == [True, True]


def said_so_and_ended(server: Process) -> bool:
    # The store is not asked again for a second. Whoever asks without a pause fills the log that nobody reads here.
    while server.client.get("/health/ready").status_code != 503:
        time.sleep(0.1)
    with ThreadPoolExecutor(2) as pool:
        asked = [
            pool.submit(server.client.get, "/v1/memories"),
            pool.submit(server.client.post, "/v1/memories", json={"content": "Tea."}),
        ]
        assert [each.result().status_code for each in asked] == [503, 503]
    assert server.client.get("/health/live").status_code == 200
    server.tell(signal.SIGTERM)
    server._process.wait(timeout=AT_LAST_S)
    return server._process.returncode is not None


def test_a_worker_whose_database_hangs_ends_when_it_is_told_to(
    hasty: list[str], postgres_store: str, piped: Callable[[str | None], Pipe]
) -> None:
    pipe = piped(postgres_store)
    patient = {"ONRECORD_SHUTDOWN_TIMEOUT": "1", "ONRECORD_DB_STATEMENT_TIMEOUT": str(5 * AT_LAST_S)}
    command = [*hasty, "--db", through(pipe, postgres_store), "work"]
    working = Forked(command, stderr=subprocess.PIPE, env=os.environ | patient)
    try:
        assert working.stderr is not None
        assert "Working on" in working.stderr.readline()
        pipe.freeze()
        # It asks every second for what is due.
        assert pipe.keeps.wait(AT_LAST_S)
        working.send_signal(signal.SIGTERM)
        _, told = working.communicate(AT_LAST_S)
        assert working.returncode == 128 + signal.SIGTERM
        assert "Something did not end in time" in told
    finally:
        working.kill()


def test_it_says_whether_it_is_ready_though_every_table_is_held(
    words_alone: None, postgres_store: str, served: Callable[..., Served]
) -> None:
    server = served(db=postgres_store, db_statement_timeout=str(5 * AT_LAST_S))
    with server.connect(server.make_key()) as client, psycopg.connect(postgres_store) as holding:
        # Who asks cannot be found out, so that no more is told than to a stranger.
        holding.execute("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
        said = client.get("/health/ready", timeout=AT_LAST_S)
        assert (said.status_code, said.json()) == (200, {"status": "ready"})
        every = holding.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        for (name,) in every.fetchall():
            holding.execute(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE")
        while (said := client.get("/health/ready", timeout=AT_LAST_S)).status_code == 200:
            # For a second it is not asked again.
            time.sleep(0.1)
        assert (said.status_code, said.json()) == (503, {"status": "unavailable"})
        holding.rollback()
        while client.get("/health/ready", timeout=AT_LAST_S).status_code == 503:
            time.sleep(0.1)


def test_a_line_over_which_nothing_comes_is_left_and_the_next_one_serves(
    words_alone: None,
    postgres_store: str,
    piped: Callable[[str | None], Pipe],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ONRECORD_DB_STATEMENT_TIMEOUT", "1")
    monkeypatch.setenv("ONRECORD_DB_CONNECT_TIMEOUT", "2")
    monkeypatch.setattr(patience, "GRACE_S", 0.0)
    pipe = piped(postgres_store)
    with connect(through(pipe, postgres_store)) as door:
        door.remember("Tea is hot.")
        with ThreadPoolExecutor() as pool:
            for ask in (door.browse, lambda: door.remember("Tea is cold.")):
                pipe.freeze()
                asked = pool.submit(ask)
                with pytest.raises(StoreUnavailable, match="cannot be reached"):
                    asked.result(AT_LAST_S)
                pipe.thaw()
        assert [each.content for each in door.browse().memories] == ["Tea is hot."]


def test_a_statement_has_its_time_and_no_more(postgres_store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONRECORD_DB_STATEMENT_TIMEOUT", "1")
    with connect(postgres_store, embedder="none") as door:
        store = door._store
        for opened in (store._backend.reading, store._backend.writing):  # type: ignore[attr-defined]
            with (
                pytest.raises(StoreUnavailable, match="within 1 seconds"),
                store._explained(),  # type: ignore[attr-defined]
                opened() as connection,
            ):
                connection.exec_driver_sql("SELECT pg_sleep(600)")


# What others send


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
@pytest.mark.parametrize(
    "value",
    ["9999999999", True, False, -1, 0, 10**30, 1e300, float("nan"), float("inf"), [9999999999], {}, ""],
    ids=repr,
)
def test_a_token_whose_times_are_none_opens_nothing(tokens: OidcTokens, name: str, value: Any) -> None:
    assert tokens.caller(token()).tenant
    with pytest.raises(Unauthenticated):
        tokens.caller(token(**{name: value}))


def test_keys_of_an_issuer_are_not_unpacked(site: Site) -> None:
    """A few bytes that are packed may be any number that are not."""
    url = site.says("/keys", gzip.compress(json.dumps({"keys": []}).encode()))
    with httpx2.Client() as client, pytest.raises(NoAnswer, match="not JSON"):
        fetch_json(client, "GET", url)


def test_keys_of_an_issuer_are_read_no_further_than_they_can_be_long(site: Site) -> None:
    url = site.says("/keys", b'"' + b"x" * fetching._ANSWER_BYTES + b'"')
    with httpx2.Client() as client, pytest.raises(NoAnswer, match="longer than"):
        fetch_json(client, "GET", url)


@pytest.mark.parametrize("says_so", [True, False])
def test_an_import_over_the_network_is_kept_no_further_than_it_may_be_long(
    served: Callable[..., Served], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says_so: bool
) -> None:
    monkeypatch.setattr(transfer, "IMPORT_BYTES", 10_000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sent = b"x" * 20_000
    said = served(embedder="none").client.post(
        "/v1/import",
        content=sent if says_so else iter([sent[:5_000]] * 4),
        headers={"Content-Type": "application/jsonl"},
    )
    assert said.status_code == 413
    assert list(tmp_path.glob("onrecord-*")) == []


def test_a_line_of_an_import_that_does_not_end_is_not_read_to_its_end(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_CHARACTERS", 1_000)
    said = shell("import", "-", typed='{"onrecord": 1, "memories": "' + "x" * 2_000)
    assert (said.code, "line 1: is longer than 1,000 characters" in said.err) == (2, True)


@pytest.mark.parametrize("place", ["models/shop/orders.yaml", "target/manifest.json"])
def test_a_source_reads_regular_files_alone(shell: Shell, tmp_path: Path, place: str) -> None:
    pipe = tmp_path / "source" / place
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    said = shell.process("ingest", "source", ONRECORD_EMBEDDER="none")
    assert (said.code, "not a regular file" in said.err) == (2, True)


class Killed(BaseException):
    """What no one catches."""


class Deadly(StubEmbedder):
    """Ends whoever lets it make a vector of a document."""

    def embed_documents(self, texts: Any) -> Any:
        raise Killed


def test_what_a_killed_worker_had_claimed_is_free_within_a_minute(db: str, clock: Any) -> None:
    with connect(db, embedder=StubEmbedder(), clock=clock) as door:
        # Too long to be embedded as it is saved.
        door.remember("word " * 1_500)
        with pytest.raises(Killed):
            Worker(door._store, {EMBED: partial(do_jobs, door._store, Deadly())}, clock).run_once()
        assert door.worker.run_once() is None
        clock.tick(minutes=1)
        assert door.worker.run_once() == (1, ())


# Shares


class Held:
    """Work that waits until it is let go, and is counted."""

    def __init__(self) -> None:
        self.begun, self._go, self._lock = list[str](), threading.Event(), threading.Lock()

    def __call__(self, tenant: str) -> str:
        with self._lock:
            self.begun.append(tenant)
        self._go.wait(AT_LAST_S)
        return tenant

    def let_go(self) -> None:
        self._go.set()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(AT_LAST_S):
        while not is_so():
            await asyncio.sleep(0)


def test_of_the_threads_one_tenant_takes_its_share_and_the_rest_is_for_others() -> None:
    async def run() -> None:
        lane, held = Lane(8, 4), Held()
        greedy = [asyncio.ensure_future(lane.run("a", lambda: held("a"))) for _ in range(50)]
        await until(lambda: len(held.begun) == 4)
        other = asyncio.ensure_future(lane.run("b", lambda: held("b")))
        await until(lambda: "b" in held.begun)
        assert held.begun.count("a") == 4
        held.let_go()
        assert await other == "b"
        assert await asyncio.gather(*greedy) == ["a"] * 50

    asyncio.run(run())


def test_of_those_who_wait_each_tenant_has_its_turn() -> None:
    async def run() -> None:
        lane, first, told = Lane(1, 1), Held(), list[str]()
        begun = asyncio.ensure_future(lane.run("a", lambda: first("a")))
        await until(lambda: first.begun == ["a"])
        waiting = [
            asyncio.ensure_future(lane.run(tenant, lambda tenant=tenant: told.append(tenant)))
            for tenant in ("a", "a", "a", "b", "c")
        ]
        await asyncio.sleep(0)
        first.let_go()
        await asyncio.gather(begun, *waiting)
        assert told == ["a", "b", "c", "a", "a"]

    asyncio.run(run())


def test_whoever_stops_waiting_leaves_the_lane_as_it_was() -> None:
    async def run() -> None:
        lane, held = Lane(2, 1), Held()
        first = asyncio.ensure_future(lane.run("a", lambda: held("a")))
        await until(lambda: held.begun == ["a"])
        waiting = asyncio.ensure_future(lane.run("a", lambda: held("never")))
        await asyncio.sleep(0)
        for each in (waiting, first):
            each.cancel()
        await asyncio.gather(first, waiting, return_exceptions=True)
        # The thread of the first is still at it, and its place is taken until it is done.
        third = asyncio.ensure_future(lane.run("a", lambda: "third"))
        await asyncio.sleep(0)
        assert not third.done()
        held.let_go()
        assert await third == "third"
        assert held.begun == ["a"]

    asyncio.run(run())


def test_whoever_stops_waiting_before_a_thread_is_found_gives_its_place_back() -> None:
    async def run() -> None:
        lane = Lane(1, 1)
        for steps in range(6):
            each = asyncio.ensure_future(lane.run("a", lambda: "never mind"))
            for _ in range(steps):
                await asyncio.sleep(0)
            each.cancel()
            await asyncio.gather(each, return_exceptions=True)
        async with asyncio.timeout(AT_LAST_S):
            assert await lane.run("a", lambda: "next") == "next"

    asyncio.run(run())


@pytest.mark.parametrize(("reads", "error"), [(True, StoreUnavailable), (False, OutcomeUnknown)])
def test_a_write_that_had_no_answer_in_time_is_not_said_to_be_undone(
    served: Callable[..., Any], reads: bool, error: type[Exception]
) -> None:
    parts = served(embedder="none").parts
    runner = RequestRunner(parts.door, parts.store, parts.authenticator, parts.throttle, within_s=0.01)
    held = Held()

    async def run() -> None:
        with pytest.raises(StoreUnavailable, match="no answer within") as told:
            await runner.run(lambda: held("a"), reads=reads)
        assert type(told.value) is error
        held.let_go()

    asyncio.run(run())


def test_whoever_is_not_known_yet_is_answered_in_time_though_the_keys_cannot_be_read(
    words_alone: None, postgres_store: str, served: Callable[..., Served]
) -> None:
    server = served(db=postgres_store, request_timeout="1", db_statement_timeout=str(5 * AT_LAST_S))
    key = server.make_key()
    with psycopg.connect(postgres_store) as holding, server.connect(key) as client:
        holding.execute("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
        # One that reads, one that takes long by nature, one that writes, and one whose body is large.
        with ThreadPoolExecutor(4) as pool:
            asked = [
                pool.submit(client.request, method, path, json=sent, timeout=AT_LAST_S)
                for method, path, sent in (
                    ("GET", "/v1/memories", None),
                    ("GET", "/v1/keys", None),
                    ("POST", "/v1/memories", {"content": "Tea."}),
                    ("POST", "/v1/memories", {"content": "Tea." * 16_000, "hint": " " * 9_000}),
                )
            ]
        said = [each.result().json() for each in asked]
        holding.rollback()
        # Nothing was begun, so that nothing is unknown.
        assert {each["type"] for each in said} == {"urn:onrecord:unavailable"}
        assert client.get("/v1/memories", timeout=AT_LAST_S).status_code == 200


def test_saves_that_wait_for_one_tenant_keep_nobody_else_from_saving(
    words_alone: None, postgres_store: str, served: Callable[..., Served]
) -> None:
    server = served(db=postgres_store)
    keys = {tenant: server.make_key(tenant=tenant) for tenant in ("busy", "other")}
    clients = {tenant: server.connect(key) for tenant, key in keys.items()}
    for client in clients.values():
        assert client.post("/v1/memories", json={"content": "first"}).status_code == 201
    done: list[int] = []
    owner = replace(local_caller(load()), tenant="busy")

    def save(number: int) -> None:
        done.append(clients["busy"].post("/v1/memories", json={"content": f"note {number}"}).status_code)

    with ThreadPoolExecutor(30) as pool:
        with connect(postgres_store, caller=owner) as door, door._store.writing(owner, door._clock()):
            # Whoever saves in this tenant now waits for us.
            waiting: list[Any] = [pool.submit(save, number) for number in range(30)]
            said = [
                clients["other"].post("/v1/memories", json={"content": f"note {number}"}).status_code
                for number in range(20)
            ]
            assert (said, done) == ([201] * 20, [])
        for each in waiting:
            each.result(AT_LAST_S)
    assert done == [201] * 30
    for client in clients.values():
        client.close()
