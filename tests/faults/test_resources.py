"""Does the library give back what it takes, stay off the network, and bear many threads at once?"""

import asyncio
import gc
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect, connect_async
from onrecord.errors import StoreUnavailable
from tests.soak import tries

OPENINGS = tries(6, soaking=50)
THREADS = 16
TURNS = tries(3, soaking=12)


countable = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")


@countable
def test_many_openings_leave_no_file_and_no_thread_behind(db: str) -> None:
    open_and_use(db)
    gc.collect()
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(OPENINGS):
        open_and_use(db)
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before


def open_and_use(db: str) -> None:
    with connect(db) as door:
        door.remember("used")
        door.recall("used")


@countable
def test_a_failed_opening_leaves_no_file_behind(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("not a database at all, but long enough to look like one " * 100)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(OPENINGS):
        with pytest.raises(StoreUnavailable, match="not a SQLite database"):
            connect(path)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_nothing_asks_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **_: Any) -> None:
        raise AssertionError(f"asked the network: {arguments}")

    real = socket.socket.connect

    def connect_locally(line: socket.socket, address: Any) -> None:
        if line.family != socket.AF_UNIX:
            refuse(address)
        real(line, address)

    monkeypatch.setattr(socket.socket, "connect", connect_locally)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket.socket, "sendto", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with connect(tmp_path / "store.db", embedder="e5") as door:
        first = door.remember("the cache lives in the basement", hint="where the cache is").memory
        new = door.remember("the cache lives upstairs", supersedes=[first.id]).memory
        assert [hit.memory.id for hit in door.recall("where is the cache?").hits] == [new.id]
        door.export(str(tmp_path / "out.jsonl"))
        door.backup(str(tmp_path / "copy.db"))
        door.reindex()
        assert door.doctor().problems == ()


def test_sixteen_threads_share_one_door_and_nothing_is_lost(db: str) -> None:
    start = threading.Barrier(THREADS)
    with connect(db) as door:
        door.remember("count 0", id="counter")
        with ThreadPoolExecutor(THREADS) as pool:
            saved = [
                id
                for ids in pool.map(lambda number: take_turns(door, number, start), range(THREADS))
                for id in ids
            ]
        assert len(saved) == len(set(saved)) == THREADS * TURNS
        contents = {door.show(id).memory.content for id in saved}
        assert contents == {
            f"t{number}n{turn} was here" for number in range(THREADS) for turn in range(TURNS)
        }
        facts = [hit.memory.content for hit in door.recall("everyone", limit=50, recipe="lexical").hits]
        assert sorted(facts) == sorted(f"fact {turn} that everyone knows" for turn in range(TURNS))
        assert door.doctor().problems == ()


def take_turns(door: OnRecord, number: int, start: threading.Barrier) -> list[str]:
    start.wait()
    saved = []
    for turn in range(TURNS):
        word = f"t{number}n{turn}"
        saved.append(door.remember(f"{word} was here").memory.id)
        door.remember(f"fact {turn} that everyone knows")
        assert [hit.memory.id for hit in door.recall(word, recipe="lexical").hits] == saved[-1:]
        assert door.browse(limit=3).memories
    return saved


def test_fifty_operations_at_once_from_an_async_program(db: str) -> None:
    async def work() -> None:
        async with connect_async(db) as door:
            saved = await asyncio.gather(*(door.remember(f"note {number}") for number in range(25)))
            ids = [each.memory.id for each in saved]
            assert sorted(ids, key=int) == [str(number) for number in range(1, 26)]
            mixed = await asyncio.gather(
                *(door.show(id) for id in ids[:10]),
                *(door.recall(f"note {number}") for number in range(10)),
                *(door.remember(f"fresh {number}") for number in range(20)),
                *(door.revise(id, content=f"revised {id}") for id in ids[15:]),
            )
            assert len(mixed) == 50
            examined = await door.doctor()
            assert (examined.problems, examined.memories) == ((), 45)

    asyncio.run(work())


def test_closing_a_store_that_threads_still_use_crashes_nothing_and_keeps_nobody_waiting(
    db: str, crew: Any
) -> None:
    # In a process of its own, for a crash there could not be told.
    assert crew.start("close_in_use", db=db).rest() == [{"closed": True}, {"ended": THREADS}]
