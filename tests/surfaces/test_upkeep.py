"""ARE missing vectors made by themselves? After the start of whatever runs beside a store, of memories and entities."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onrecord import connect
from onrecord.model.collections import COLLECTIONS, Home
from tests.forked import Forked, relayed

from .conftest import COMMAND, Shell
from .test_mcp_faces import write_model
from .test_starting import GREETING

ONRECORD = (sys.executable, "-m", "onrecord")


@pytest.fixture
def behind(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A store with a memory and a catalog that were taken in without an embedder; now there is one."""
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    shell("remember", "Orders are in UTC.")
    write_model(tmp_path / "layer", "shop", "orders", "id", "amount")
    shell("ingest", str(tmp_path / "layer"))
    monkeypatch.delenv("ONRECORD_EMBEDDER")
    monkeypatch.delenv("ONRECORD_WORKER")
    return tmp_path / "shell.db"


def missing(db: Path) -> dict[str, int]:
    """How many of each collection have no vectors."""
    with connect(db, embedder="none") as door, door._store.archive() as archive:
        homes = [Home("default", each) for each in COLLECTIONS]
        return {
            home.collection.name: archive.count(home) - sum(each.memories for each in archive.coverage(home))
            for home in homes
        }


def until_none_is_missing(db: Path) -> None:
    for _ in range(1_200):
        if not any(missing(db).values()):
            return
        time.sleep(0.05)
    raise AssertionError(missing(db))


@contextmanager
def running(*words: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        relayed(COMMAND[-1], *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with process:
        try:
            yield process
        finally:
            # It ends with what it is told by.
            assert process.stdin
            process.stdin.close()
            process.wait(timeout=600)


def by_working(db: Path) -> None:
    told = subprocess.run(relayed(COMMAND[-1], "work", "--once"), capture_output=True, text=True, check=True)
    assert told.stdout.count("Made vectors of ") == 2
    assert not any(missing(db).values())


def by_serving(db: Path) -> None:
    serving = Forked([*COMMAND, "serve", "--port", "0"], stderr=subprocess.DEVNULL)
    try:
        until_none_is_missing(db)
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=600)


def by_asking_as_an_agent(db: Path) -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asked = {"name": "memory_search", "arguments": {"question": "orders"}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}
    with running("mcp") as agent:
        assert agent.stdin
        assert agent.stdout
        for message in (GREETING, ready, call):
            agent.stdin.write(json.dumps(message).encode() + b"\n")
        agent.stdin.flush()
        assert [json.loads(agent.stdout.readline())["id"] for _ in range(2)] == [1, 2]
        until_none_is_missing(db)


def by_a_command(db: Path) -> None:
    # It ends with its streams closed, though the process that it leaves behind goes on.
    told = subprocess.run(
        [*ONRECORD, "recall", "orders", "--recipe", "lexical"], capture_output=True, text=True, check=True
    )
    assert "Orders are in UTC." in told.stdout
    until_none_is_missing(db)


@pytest.mark.parametrize("way", [by_working, by_serving, by_asking_as_an_agent, by_a_command])
def test_what_was_taken_in_without_an_embedder_gets_vectors_by_itself(
    behind: Path, way: Callable[[Path], None]
) -> None:
    assert missing(behind) == {"memories": 1, "entities": 4}
    way(behind)


def test_a_process_that_was_left_behind_ends_when_its_store_is_deleted(behind: Path) -> None:
    done = []

    def delete(*what: object) -> None:
        done.append(what)
        behind.unlink(missing_ok=True)

    with connect(behind) as door:
        door.worker.run(threading.Event(), delete, once=True)
    assert len(done) == 1
    assert not behind.exists()


def test_a_command_leaves_no_process_behind_where_nothing_is_missing_or_it_is_not_wanted(
    shell: Shell, behind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[object]()
    monkeypatch.setattr("onrecord.surfaces.cli.background_embedding._start", started.append)
    for unwanted in ({"ONRECORD_WORKER": "no"}, {"ONRECORD_EMBEDDER": "none"}, {"ONRECORD_DB": ":memory:"}):
        with monkeypatch.context() as patch:
            for name, value in unwanted.items():
                patch.setenv(name, value)
            shell("recall", "orders")
    assert started == []
    shell("recall", "orders")
    shell("recall", "orders")
    assert len(started) == 1, "one at a time"
    shell("work", "--once")
    with connect(behind, embedder="none") as door, door._store.jobs() as jobs:
        jobs.withdraw("turn")
    shell("recall", "orders")
    assert len(started) == 1


def test_one_that_is_left_behind_tells_nobody_the_address_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from onrecord.config import load
    from onrecord.surfaces.cli import background_embedding

    told = list[tuple[object, dict[str, str]]]()
    monkeypatch.setattr(subprocess, "Popen", lambda command, **how: told.append((command, how["env"])))
    background_embedding._start(load(db="postgresql://ann:secret@localhost/memory"))
    [(command, environment)] = told
    assert "secret" not in str(command)
    assert "secret" in environment["ONRECORD_DB"]


def test_the_shell_names_what_is_missing_and_the_cure(
    shell: Shell, behind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONRECORD_WORKER", "no")
    told = shell("status").out
    assert "1 have no vectors of e5-small-int8 yet: no worker looks after this store" in told
    assert "`onrecord embed-missing` makes them at once." in told
