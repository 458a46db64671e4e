"""WHAT does a process of a fault test do? Run as a script, this forks a child for each job it is given.

A fork of a process that has imported everything is ready in milliseconds. A child tells what it did over a
socket of its own, after the call has returned: that line is the acknowledgement, and it outlives the child.
"""

import json
import os
import pkgutil
import random
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from embedding_worker import JOBS as EMBEDDING_JOBS
from stopping import stop_before

from onrecord import Caller, OnRecord, connect
from onrecord.care import watching
from onrecord.errors import NotFound, OnRecordError, StoreUnavailable, VersionConflict
from onrecord.model.limits import PERMISSIONS
from onrecord.store.postgres import PostgresBackend
from tests.new_stores import compile_once, statements

ANN = Caller(
    tenant="default", user="ann", permissions=frozenset(PERMISSIONS), systems={"*": "manage"}, operator=True
)
NOBODY = 65534


class Parent:
    """The test that waits for what this process has to tell."""

    def __init__(self, line: socket.socket) -> None:
        self._file = line.makefile("rw", encoding="utf-8")

    def tell(self, **what: Any) -> None:
        self._file.write(json.dumps(what) + "\n")
        self._file.flush()

    def wait(self) -> None:
        """Until the test says go on; a test that is gone ends its processes."""
        if not self._file.readline():
            os._exit(1)

    def gate(self) -> None:
        self.tell(ready=True)
        self.wait()


def open_it(parent: Parent, db: str) -> None:
    """Open a store when told to, and use it once."""
    parent.gate()
    with connect(db, caller=ANN) as memory:
        parent.tell(id=memory.remember(f"process {os.getpid()} was here").memory.id)


def share(parent: Parent, db: str, number: int, seconds: float) -> None:
    """Write and read beside others, turn after turn, until the time is up."""
    with connect(db, caller=ANN) as memory:
        parent.gate()
        end = time.monotonic() + seconds
        for turn in count():
            _note(parent, memory, f"w{number}n{turn}", forget=turn % 5 == 4)
            saved = memory.remember(f"fact {turn} is known to everyone")
            parent.tell(fact=turn, id=saved.memory.id)
            _count_up(parent, memory)
            memory.browse(limit=5)
            if time.monotonic() > end:
                return


def _note(parent: Parent, memory: OnRecord, word: str, *, forget: bool) -> None:
    """A save is found at once by the one who made it, by its id and by its words, and replaced or erased as asked."""
    content = f"{word} says how deep the queue is"
    first = memory.remember(content).memory.id
    parent.tell(saved=first, content=content)
    assert memory.show(first).memory.content == content
    assert [hit.memory.id for hit in memory.recall(word).hits] == [first]
    if forget:
        memory.forget(first)
        parent.tell(forgotten=first)
    else:
        content = f"{word} says that the queue is empty"
        saved = memory.remember(content, supersedes=[first])
        parent.tell(saved=saved.memory.id, content=content, superseded=first)


def _count_up(parent: Parent, memory: OnRecord) -> None:
    """One step of a counter that everyone moves: whoever read an old value must read again."""
    for tries in count(1):
        seen = memory.show("counter").memory
        value = int(seen.content.split()[-1]) + 1
        try:
            memory.revise("counter", content=f"count {value}", expected_version=seen.version)
        except VersionConflict:
            continue
        parent.tell(counted=value, tries=tries)
        return


def live(parent: Parent, db: str, seed: int) -> None:
    """Change things for ever, telling before and after each change what it is."""
    chance = random.Random(seed)
    mine: list[str] = []
    with connect(db, caller=ANN) as memory:
        parent.tell(ready=True)
        for turn in count():
            act = chance.choice(("remember", "supersede", "forget", "revise")) if mine else "remember"
            id = None if act == "remember" else mine.pop(chance.randrange(len(mine)))
            word = f"r{seed}t{turn}"
            content = f"{word} is {' '.join(f'{word}x{each}' for each in range(chance.randrange(40)))}"
            parent.tell(doing=act, id=id, word=word, content=content)
            new = _change(memory, act, id, content)
            parent.tell(did=act, id=id, new=new, content=content)
            if new:
                mine.append(new)


def _change(memory: OnRecord, act: str, id: str | None, content: str) -> str | None:
    if act == "forget":
        memory.forget(str(id))
        return None
    if act == "revise":
        return memory.revise(str(id), content=content).memory.id
    # References and tags, so that there is more than one table to leave behind half done.
    return memory.remember(
        content,
        tags=["kept"],
        entities=["memory:anchor"],
        supersedes=[str(id)] if act == "supersede" else [],
    ).memory.id


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(
    parent: Parent, db: str, statement: int | None, act: str, given: dict[str, Any], talk: str | None = None
) -> None:
    """Do one thing, if wanted from inside a talk, and die just before its nth statement; commits count as statements.

    If none is named, die just before the first commit of something written.
    """
    if act == "migrate":
        stop_before(statement, die)
        connect(db, caller=ANN).close()
    else:
        with connect(db, caller=ANN.inside(talk)) as memory:
            memory.browse(limit=1)
            stop_before(statement, die)
            getattr(memory, act)(**given)
    parent.tell(survived=True)


def die_in(parent: Parent, db: str, owner: str, name: str) -> None:
    """Open a store, and die where something is called: the module or class that it is in, and its name."""
    setattr(pkgutil.resolve_name(owner), name, die)
    connect(db, caller=ANN)
    parent.tell(survived=True)


def die_when(
    parent: Parent,
    db: str,
    act: str,
    given: dict[str, Any],
    settings: dict[str, str] | None = None,
    **when: Any,
) -> None:
    """Do one thing, and die just before or just after the nth call of something: where it is, and its name."""
    os.environ.update(settings or {})
    with connect(db, caller=ANN) as memory:
        _die_at(**when)
        getattr(memory, act)(**given)
    parent.tell(survived=True)


def die_watching(parent: Parent, db: str, **when: Any) -> None:
    """Do what a worker that watches does, and die in the same way."""
    os.environ["ONRECORD_WATCH"] = "yes"
    # So that a few memories take several transactions.
    watching._WRITTEN_AT_ONCE = 2
    with connect(db, caller=ANN) as memory:
        _die_at(**when)
        worker = memory.worker
        worker.begin()
        while worker.run_once() is not None:
            pass
    parent.tell(survived=True)


def die_checking(parent: Parent, db: str, settings: dict[str, str], **when: Any) -> None:
    """Do what a worker that runs checks does, and die in the same way."""
    os.environ.update(settings)
    with connect(db, caller=ANN) as memory:
        _die_at(**when)
        worker = memory.worker
        worker.begin()
        while worker.run_once() is not None:
            pass
    parent.tell(survived=True)


def _die_at(owner: str, name: str, nth: int, after: bool = False) -> None:
    place = pkgutil.resolve_name(owner)
    called, calls = getattr(place, name), count(1)

    def call(*told: Any, **named: Any) -> Any:
        is_last = next(calls) == nth
        if is_last and not after:
            die()
        said = called(*told, **named)
        if is_last:
            die()
        return said

    setattr(place, name, call)


def take_in(parent: Parent, db: str, path: str) -> None:
    """Import a file, telling of each batch."""
    with connect(
        db, caller=ANN, progress=lambda what, done, total: parent.tell(what=what, done=done)
    ) as memory:
        parent.tell(ready=True)
        parent.tell(added=memory.import_(path).added)


def reindex(parent: Parent, db: str) -> None:
    with connect(db, caller=ANN) as memory:
        parent.tell(ready=True)
        parent.tell(indexed=memory.reindex().memories)


def write_on(parent: Parent, db: str) -> None:
    """Save one memory after another for ever."""
    with connect(db, caller=ANN) as memory:
        for turn in count():
            saved = memory.remember(f"line {turn} of a long story", hint=f"chapter{turn} verse{turn}")
            parent.tell(id=saved.memory.id)


def small_files(parent: Parent, db: str) -> None:
    """Meet a limit on the size of files as one meets a full disk, and then get rid of it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with connect(db, caller=ANN) as memory:
        memory.remember("kept before the disk was full", id="before")
        memory.remember("to be forgotten", id="doomed", entities=["memory:before"])
        largest = max(path.stat().st_size for path in Path(db).parent.iterdir())
        unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 400_000, unlimited[1]))
        _fill(parent, memory)
        _meet_full_disk(parent, memory, Path(db).parent)
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        parent.tell(after=memory.remember("kept after there was room").memory.id)


def _fill(parent: Parent, memory: OnRecord) -> None:
    for turn in count():
        text = " ".join(f"word{turn}x{each}" for each in range(500))
        try:
            parent.tell(id=memory.remember(text).memory.id)
        except OnRecordError as problem:
            parent.tell(error=str(problem), kind=type(problem).__name__)
            return


def _meet_full_disk(parent: Parent, memory: OnRecord, folder: Path) -> None:
    """Every kind of change is refused in words, and every kind of reading still works."""
    long = " ".join(f"more{each}" for each in range(5_000))
    for act, given in (
        ("remember", {"content": long, "supersedes": ["before"]}),
        ("revise", {"id": "before", "content": long}),
        ("reindex", {}),
        ("backup", {"path": str(folder / "copy.db")}),
        ("export", {"path": str(folder / "copy.jsonl")}),
    ):
        try:
            getattr(memory, act)(**given)
            parent.tell(act=act, kind=None, error="")
        except OnRecordError as problem:
            parent.tell(act=act, kind=type(problem).__name__, error=str(problem))
    found = [hit.memory.id for hit in memory.recall("kept before disk full").hits]
    parent.tell(shown=memory.show("before").memory.content, found=found, healthy=memory.doctor().healthy)


def unprivileged(parent: Parent, db: str) -> None:
    """Use a store as someone for whom a read-only file is one: root may write anywhere."""
    with connect(":memory:", caller=ANN) as memory:
        memory.remember("whatever is loaded late is loaded before the rights are gone")
    if os.geteuid() == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        except OSError as problem:
            parent.tell(cannot=str(problem))
            return
    try:
        memory = connect(db, caller=ANN)
    except OnRecordError as problem:
        parent.tell(opened=False, kind=type(problem).__name__, error=str(problem))
        return
    with memory:
        parent.tell(opened=True)
        parent.tell(contents=sorted(each.content for each in memory.browse().memories))
        parent.tell(found=[hit.memory.id for hit in memory.recall("kept").hits])
        parent.tell(healthy=memory.doctor().healthy)
        try:
            memory.remember("not to be kept")
            parent.tell(kind=None, error="")
        except OnRecordError as problem:
            parent.tell(kind=type(problem).__name__, error=str(problem))
        parent.gate()
        parent.tell(contents=sorted(each.content for each in memory.browse().memories))


def cut_off(parent: Parent, db: str) -> None:
    """Wait in the middle of a save until the database ends the connection, then go on."""
    with connect(db, caller=ANN) as memory:
        memory.browse()
        parent.gate()
        try:
            memory.remember("lost on the way", id="lost")
            parent.tell(kind=None)
        except StoreUnavailable as problem:
            parent.tell(kind="StoreUnavailable", error=str(problem))
        parent.wait()
        try:
            memory.show("lost")
        except NotFound:
            parent.tell(id=memory.remember("arrived at last", id="arrived").memory.id)


def close_in_use(parent: Parent, db: str) -> None:
    """Close a store while sixteen threads are at work in it."""
    memory = connect(db, caller=ANN)
    begun = threading.Barrier(16 + 1)

    def work(number: int) -> int:
        memory.remember(f"thread {number} begins")
        begun.wait()
        with suppress(StoreUnavailable):
            for turn in range(8):
                memory.remember(f"thread {number} writes {turn}")
                memory.recall(f"thread {number}")
        return 1

    with ThreadPoolExecutor(16) as pool:
        working = [pool.submit(work, number) for number in range(16)]
        begun.wait()
        memory.close()
        parent.tell(closed=True)
        parent.tell(ended=sum(each.result() for each in working))


JOBS = (
    open_it,
    share,
    live,
    die_at,
    die_in,
    die_when,
    die_watching,
    die_checking,
    take_in,
    reindex,
    write_on,
    small_files,
    unprivileged,
    cut_off,
    close_in_use,
    *EMBEDDING_JOBS,
)


def main(address: str) -> None:
    """Fork a child for every line of standard input: the name of a job and what it is given."""
    # What is loaded late is loaded and compiled here, once for all children.
    compile_once()
    statements(PostgresBackend("postgresql://nowhere/none"))
    with connect(":memory:", caller=ANN) as memory:
        memory.remember("whatever a save needs")
        memory.recall("whatever a question needs")
        memory.doctor()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    jobs = {job.__name__: job for job in JOBS}
    for line in sys.stdin:
        name, given = json.loads(line)
        if os.fork() == 0:
            _work(address, jobs[name], given)


def _work(address: str, job: Any, given: dict[str, Any]) -> None:
    # The line that commands come in on belongs to the one who forks.
    os.close(0)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        parent = Parent(line)
        parent.tell(pid=os.getpid())
        try:
            job(parent, **given)
        except BaseException:
            parent.tell(failed=traceback.format_exc())
        finally:
            os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
