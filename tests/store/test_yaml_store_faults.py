"""DO the files of a store in YAML survive whatever ends a process, and many processes at once?

Run as a script, this is the process that a test kills.
"""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count, cycle, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

import onrecord
from onrecord import Caller, OnRecord, connect
from onrecord.errors import StoreUnavailable, VersionConflict
from onrecord.model.limits import PERMISSIONS
from onrecord.store.yaml.files import TextFile
from onrecord.testing.builders import everything
from tests.soak import some, tries

ANN = Caller(tenant="default", user="ann", permissions=frozenset(PERMISSIONS), operator=True)
#: What a process that runs this file finds in its environment.
IN_A_PROCESS = {
    "PYTHONPATH": os.pathsep.join(map(str, (Path(onrecord.__file__).parents[1], Path(__file__).parents[2]))),
    "ONRECORD_EMBEDDER": "none",
}
YAML, HISTORY = "memories.yaml", "memories.history.jsonl"
_TIME = re.compile(r"datetime\.datetime\([^()]*\)")

CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "remember": ("remember", {"content": "a new thing", "hint": "a hint", "tags": ["new"]}),
    "supersede": ("remember", {"content": "the third and fourth in one", "supersedes": ["3", "4"]}),
    "revise": ("revise", {"id": "2", "content": "entirely other words", "expected_version": 1}),
    "relate": ("relate", {"source": "3", "relation": "refines", "target": "4"}),
    "forget": ("forget", {"id": "1"}),
    "import": ("import_", {"path": "small.jsonl"}),
}


def fill(door: OnRecord) -> None:
    """A store in which every change has something to change."""
    for number in range(1, 5):
        door.remember(f"the {number}th thing to know", tags=["old"], hint=f"hint{number} of{number}")
    door.remember("refers to the first", id="referring", entities=["memory:1", "memory:42"])
    door.revise("referring", content="still refers to the first")
    door.relate("1", "supports", "2")


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """What a loss of power leaves is written here by hand, and what is killed runs in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, to be copied, and something to import beside it."""
    folder = tmp_path_factory.mktemp("filled")
    with connect(":memory:", caller=ANN) as source:
        for number in range(3):
            source.remember(f"imported {number}", id=f"in{number}", entities=["memory:in0"])
        source.relate("in1", "refines", "in2")
        source.export(str(folder / "small.jsonl"))
    with connect(f"yaml:{folder}", caller=ANN) as door:
        fill(door)
    return folder


def held_in(folder: Path, *, keep_index: bool = True) -> Any:
    """All that a store holds, found by someone who opens it; nothing may be wrong with it."""
    if not keep_index:
        shutil.rmtree(folder / ".onrecord", ignore_errors=True)
    with connect(f"yaml:{folder}", caller=ANN) as door:
        held = everything(door._store)
        assert door.doctor().problems == ()
    left = {path.name for path in folder.iterdir()} - {".onrecord", "small.jsonl"}
    assert left == {YAML, HISTORY}, "what a crash left lying is gone"
    return held


class Forker:
    """A process that has everything loaded, and forks one for each thing to be done."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ONRECORD_")}
        environment |= IN_A_PROCESS | {"ONRECORD_CONFIG": "/nowhere"}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, job: str, **given: Any) -> bool:
        """Whether it came to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([job, given]) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        assert status in (0, signal.SIGKILL), f"it failed with {status}"
        return status == 0

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    forker = Forker()
    yield forker
    forker.close()


#: What is done to the files differs: more is written to both, to the history alone, taken out of both, put there at once.
@pytest.mark.slow
@pytest.mark.parametrize("change", ["supersede", "relate", "forget", "import"])
def test_a_change_that_is_killed_anywhere_happened_whole_or_not_at_all(
    change: str, filled: Path, tmp_path: Path, forker: Forker
) -> None:
    act, given = CHANGES[change]
    before, states, folder = held_in(filled), [], tmp_path / "copy"
    for step in count(1, tries(3, soaking=1)):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(filled, folder)
        survived = forker.run("die_at", folder=str(folder), step=step, act=act, given=given)
        states.append(held_in(folder, keep_index=len(states) % 2 == 0))
        if survived:
            break
    done = without_times(states[-1])
    assert done != without_times(before)
    happened = [without_times(state) == done for state in states]
    for number, state in enumerate(states):
        assert happened[number] or state == before, f"killed at the {number}th of its steps"
    # Once it has happened it stays so, and it can be killed on both sides of that.
    assert happened == sorted(happened)
    assert happened.count(False) > 1
    assert happened.count(True) > 1


def without_times(held: Any) -> str:
    """What a store holds, apart from when: each try was made at a time of its own."""
    return _TIME.sub("then", repr(held))


@contextmanager
def seen_before(folder: Path, change: str) -> Iterator[tuple[dict[str, bytes], dict[str, bytes]]]:
    """The files before and after a change."""
    act, given = CHANGES[change]
    before = files_of(folder)
    with connect(f"yaml:{folder}", caller=ANN) as door:
        getattr(door, act)(**({"path": str(folder / "small.jsonl")} if change == "import" else given))
    yield before, files_of(folder)


@pytest.mark.parametrize("change", ["supersede", "revise", "relate"])
def test_a_history_that_ends_anywhere_within_a_change_ends_before_it(
    change: str, filled: Path, tmp_path: Path
) -> None:
    """As after a loss of power: any part of what was added may be there, with the index or without it."""
    folder, index = tmp_path / "copy", tmp_path / "index"
    shutil.copytree(filled, folder)
    shutil.copytree(filled / ".onrecord", index)
    held = held_in(filled)
    with seen_before(folder, change) as (before, after):
        done = held_in(folder, keep_index=False)
        assert after[HISTORY].startswith(before[HISTORY])
        end = len(after[HISTORY])
        places = some(cuts(before[HISTORY], after[HISTORY]), 7)
        ways = cycle(product((b"", b"\0" * 40), (True, False)))
        for cut, (gap, keep_index) in zip(places, ways, strict=False):
            (folder / YAML).write_bytes(before[YAML])
            written = after[HISTORY][:cut] + (gap if cut < end else b"")
            (folder / HISTORY).write_bytes(written)
            if after[YAML] != before[YAML]:
                (folder / f".{YAML}.new").write_bytes(after[YAML])
            shutil.rmtree(folder / ".onrecord")
            shutil.copytree(index, folder / ".onrecord")
            assert held_in(folder, keep_index=keep_index) == (done if cut == end else held), cut


def cuts(before: bytes, after: bytes) -> list[int]:
    """Nothing and all of what was added, the first and the last letters of it, and each line's middle and its end."""
    begin, end = len(before), len(after)
    places = {begin, begin + 1, *range(end - 4, end + 1)}
    at = begin
    for line in after[begin:].splitlines(keepends=True):
        places |= {at + len(line) // 2, at + len(line) - 1, at + len(line)}
        at += len(line)
    return sorted(places)


@pytest.mark.parametrize("keep_index", [True, False])
def test_what_lay_ready_for_a_change_that_never_happened_is_removed(
    keep_index: bool, filled: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(filled, folder)
    held = held_in(filled)
    for name in (YAML, HISTORY):
        (folder / f".{name}.new").write_bytes(b"- half of an ent")
        assert held_in(folder, keep_index=keep_index) == held


def test_an_edit_after_a_crash_is_not_overwritten_by_what_lay_ready(filled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(filled, folder)
    with seen_before(folder, "revise") as (before, after):
        (folder / f".{YAML}.new").write_bytes(after[YAML])
        (folder / YAML).write_bytes(before[YAML].replace(b"the 3th thing", b"the third thing"))
        with connect(f"yaml:{folder}", caller=ANN) as door:
            assert door.show("3").memory.content == "the third thing to know"
            assert door.show("2").memory.content == "the 2th thing to know"
            assert door.doctor().problems == ()
    assert not (folder / f".{YAML}.new").exists()


@pytest.mark.slow
def test_every_acknowledged_change_outlives_kill_and_none_is_half_done(tmp_path: Path) -> None:
    chance, folder = random.Random(11), tmp_path / "store"
    contents: dict[str, str] = {}
    forgotten: set[str] = set()
    for seed in range(tries(2, soaking=10)):
        process = subprocess.Popen(
            [sys.executable, __file__, "live", str(folder), str(seed)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | IN_A_PROCESS,
        )
        assert process.stdout is not None
        told = [json.loads(process.stdout.readline()) for _ in range(chance.randrange(10, 40))]
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        told += [json.loads(line) for line in process.stdout if line.endswith("\n")]
        process.stdout.close()
        process.wait()
        with connect(f"yaml:{folder}", caller=ANN) as door:
            there = {memory.id: memory.content for memory in door.browse(limit=1000).memories}
            assert door.doctor().problems == ()
        for line in told:
            if line["done"]:
                contents[line["id"]] = line["content"]
                if line["content"] is None:
                    forgotten.add(line["id"])
                    del contents[line["id"]]
        last = told[-1]
        if not last["done"]:
            # What was under way may have happened, and then as a whole.
            assert there.get(last["id"]) in (contents.get(last["id"]), last["content"])
            if last["id"] in there:
                contents[last["id"]] = there[last["id"]]
            else:
                contents.pop(last["id"], None)
        assert there == contents
        assert not forgotten & there.keys()


@pytest.mark.slow
def test_several_processes_and_a_hand_write_one_store_and_nothing_is_lost(tmp_path: Path) -> None:
    folder, turns = tmp_path / "store", tries(3, soaking=20)
    with connect(f"yaml:{folder}", caller=ANN) as door:
        door.remember("count 0", id="counter")
        door.remember("edited 0", id="edited")
        workers = [
            subprocess.Popen(
                [sys.executable, __file__, "share", str(folder), str(number), str(turns)],
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | IN_A_PROCESS,
            )
            for number in range(3)
        ]
        edits = 0
        while any(worker.poll() is None for worker in workers):
            edits += edit_by_hand(folder / YAML, f"edited {edits}", f"edited {edits + 1}")
            assert door.show("counter").memory.content.startswith("count ")
        told = [json.loads(line) for worker in workers for line in worker.communicate()[0].splitlines()]
        assert [worker.returncode for worker in workers] == [0, 0, 0]
        there = {memory.id: memory.content for memory in door.browse(limit=1000).memories}
        saved = {line["id"]: line["content"] for line in told}
        assert len(saved) == 3 * turns, "no id was given twice"
        assert there == saved | {"counter": f"count {3 * turns}", "edited": there["edited"]}
        assert door.doctor().problems == ()
        held = everything(door._store)
    assert held_in(folder, keep_index=False) == held


def edit_by_hand(file: Path, old: str, new: str) -> int:
    """What an editor does that writes with care. If a program came between, the person would be asked; here: gives up."""
    text = file.read_text(encoding="utf-8")
    beside = file.with_name("edited.tmp")
    beside.write_text(text.replace(old, new), encoding="utf-8")
    time.sleep(0.05)
    if file.read_text(encoding="utf-8") != text or old not in text:
        return 0
    # Between this look and the next line a save would be lost, so no one else may write in it.
    import fcntl

    with (file.parent / ".onrecord" / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if file.read_text(encoding="utf-8") != text:
            return 0
        beside.replace(file)
    return 1


def test_threads_of_one_process_share_a_store(tmp_path: Path) -> None:
    with connect(f"yaml:{tmp_path / 'store'}", caller=ANN) as door:

        def work(number: int) -> list[str]:
            ids = []
            for turn in range(5):
                ids.append(door.remember(f"thread {number} turn {turn} word{number}x{turn}").memory.id)
                assert [hit.memory.id for hit in door.recall(f"word{number}x{turn}").hits][:1] == ids[-1:]
            return ids

        with ThreadPoolExecutor(6) as pool:
            given = [id for ids in pool.map(work, range(6)) for id in ids]
        assert len(set(given)) == 30
        assert len(door.browse(limit=100).memories) == 30
        assert door.doctor().problems == ()


def test_a_reader_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    with connect(f"yaml:{tmp_path / 'store'}", caller=ANN) as door:
        door.remember("there before", id="a")
        began, end = threading.Event(), threading.Event()

        def write() -> None:
            with door._store.writing(ANN, door.show("a").memory.created_at):
                began.set()
                end.wait()

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            assert began.wait(300)
            (tmp_path / "store" / YAML).open("a").close()
            os.utime(tmp_path / "store" / YAML)
            with connect(f"yaml:{tmp_path / 'store'}", caller=ANN) as other:
                assert other.show("a").memory.content == "there before"
            assert door.show("a").memory.content == "there before"
            end.set()
            writing.result()


def test_a_lock_that_is_removed_while_it_is_held_lets_nobody_overwrite_another(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with connect(f"yaml:{folder}", caller=ANN) as door, connect(f"yaml:{folder}", caller=ANN) as other:
        like = door.remember("there before", id="a").memory
        with (
            pytest.raises(StoreUnavailable, match=r"lock.*was removed|edited by someone"),
            door._store.writing(ANN, like.created_at) as writing,
        ):
            shutil.rmtree(folder / ".onrecord")
            other.remember("of the other", id="b")
            writing.erase(writing.target("a"), _change(like))
        assert {memory.id for memory in door.browse().memories} == {"a", "b"}
        assert door.doctor().problems == ()


def _change(memory: Any) -> Any:
    from onrecord.model.memory import Change

    return Change("forget", "ann", "person", memory.created_at)


@pytest.mark.parametrize("act", ["remember", "forget"])
def test_a_disk_that_fails_changes_nothing_or_says_that_it_may_have(
    act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "store"
    said = []
    for step in count():
        shutil.rmtree(folder, ignore_errors=True)
        with connect(f"yaml:{folder}", caller=ANN) as door:
            door.remember("kept", id="a")
            before, held = files_of(folder), everything(door._store)
            left = count(step, -1)

            def full(file: int, left: Iterator[int] = left) -> None:
                if next(left) == 0:
                    raise OSError(28, "No space left on device")

            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", full)
                try:
                    getattr(door, act)("a" if act == "forget" else "more")
                except StoreUnavailable as problem:
                    assert "No space left on device" in str(problem)
                    said.append("nothing was changed" in str(problem))
                else:
                    break
            assert (files_of(folder) == before) == said[-1]
            assert (everything(door._store) == held) == said[-1]
            assert door.doctor().problems == ()
    assert said == [True, True, False, False]


def test_a_change_that_the_index_could_not_take_is_made_and_the_index_follows(tmp_path: Path) -> None:
    with connect(f"yaml:{tmp_path / 'store'}", caller=ANN) as door:
        door.remember("kept", id="a")
        told = (tmp_path / "store" / HISTORY).stat().st_size
        failed = []

        def fail(_: Any) -> None:
            if (tmp_path / "store" / HISTORY).stat().st_size > told:
                failed.append(1)
                raise OperationalError("COMMIT", None, sqlite3.OperationalError("disk I/O error"))

        event.listen(Engine, "commit", fail)
        try:
            assert door.remember("made", id="b").memory.id == "b"
        finally:
            event.remove(Engine, "commit", fail)
        assert failed == [1]
        assert [hit.memory.id for hit in door.recall("made", recipe="lexical").hits] == ["b"]
        assert door.doctor().problems == ()


def test_an_index_that_is_damaged_while_it_is_used_is_told_to_be_one(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with connect(f"yaml:{folder}", caller=ANN) as door:
        door.remember("kept", id="a")
    [index] = (folder / ".onrecord").glob("index-*.db")
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        [size] = connection.execute("PRAGMA page_size").fetchone()
        [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'memories'").fetchone()
    content = index.read_bytes()
    index.write_bytes(content[: (page - 1) * size] + b"\xff" * size + content[page * size :])
    with pytest.raises(StoreUnavailable, match=rf"It is derived data: delete {index}"):
        connect(f"yaml:{folder}", caller=ANN).show("a")
    index.unlink()
    with connect(f"yaml:{folder}", caller=ANN) as door:
        assert door.show("a").memory.content == "kept"


def files_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (YAML, HISTORY)}


# What the processes do


def die_at(folder: str, step: int, act: str, given: dict[str, Any]) -> None:
    """Do one thing, and die at the nth step: a statement, a commit, or anything that is done to a file."""
    if "path" in given:
        given["path"] = str(Path(folder) / given["path"])
    with connect(f"yaml:{folder}", caller=ANN) as door:
        door.browse(limit=1)
        left = count(step - 1, -1)

        def die(*_: Any) -> None:
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        statements = count(1)
        # What happens in the index alone is undone as a whole, so not every statement needs a try of its own.
        event.listen(Engine, "before_cursor_execute", lambda *_: next(statements) % 12 or die())
        event.listen(Engine, "commit", die)
        for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink"), (os, "ftruncate")):
            _dying_before(owner, name, die)
        _dying_within_append(die)
        getattr(door, act)(**given)


def _dying_before(owner: Any, name: str, die: Any) -> None:
    original = getattr(owner, name)

    def step(*given: Any, **named: Any) -> Any:
        die()
        return original(*given, **named)

    setattr(owner, name, step)


def _dying_within_append(die: Any) -> None:
    """Half of what is added to the history, and then the rest."""
    original = TextFile.append

    def append(self: TextFile, lines: bytes) -> str:
        size = self.path.stat().st_size
        with self.path.open("ab") as file:
            file.write(lines[: len(lines) // 2])
        die()
        os.truncate(self.path, size)
        digest = original(self, lines)
        die()
        return digest

    TextFile.append = append  # type: ignore[method-assign]


def live(folder: str, seed: str) -> None:
    """Change things for ever, telling before and after each change what it is."""
    chance, mine = random.Random(int(seed)), list[str]()

    def tell(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    with connect(f"yaml:{folder}", caller=ANN) as door:
        for turn in count():
            act = chance.choice(("remember", "revise", "forget", "remember")) if mine else "remember"
            id = f"s{seed}t{turn}" if act == "remember" else mine.pop(chance.randrange(len(mine)))
            content = (
                None
                if act == "forget"
                else f"seed {seed} says at turn {turn}\n" + "line\n" * chance.randrange(9)
            )
            tell(done=False, id=id, content=content)
            if content is None:
                door.forget(id)
            else:
                getattr(door, act)(id=id, content=content)
                mine.append(id)
            tell(done=True, id=id, content=content)


def share(folder: str, number: str, turns: str) -> None:
    """Write beside others, and count together."""
    with connect(f"yaml:{folder}", caller=ANN) as door:
        for turn in range(int(turns)):
            content = f"process {number} was here at turn {turn}"
            saved = patiently(lambda content=content: door.remember(content))  # type: ignore[misc]
            print(json.dumps({"id": saved.memory.id, "content": content}), flush=True)
            patiently(lambda: _count_up(door))


def _count_up(door: OnRecord) -> None:
    while True:
        seen = door.show("counter").memory
        value = int(seen.content.split()[-1]) + 1
        try:
            door.revise("counter", content=f"count {value}", expected_version=seen.version)
            return
        except VersionConflict:
            continue


def patiently(attempt: Any) -> Any:
    """Again, where a hand was in the file at the very same moment: the program is asked to."""
    while True:
        try:
            return attempt()
        except StoreUnavailable as problem:
            if "at this very moment" not in str(problem):
                raise


def main() -> None:
    """Fork a child for every line of standard input, and say how it ended."""
    from tests.new_stores import compile_once

    # What the children do is loaded and compiled here, once for all of them.
    compile_once()
    with TemporaryDirectory() as folder, connect(f"yaml:{folder}", caller=ANN) as door:
        fill(door)
        for act, given in CHANGES.values():
            if act != "import_":
                getattr(door, act)(**given)
    for line in sys.stdin:
        job, given = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                {"die_at": die_at}[job](**given)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        {"live": live, "share": share}[sys.argv[1]](*sys.argv[2:])
    else:
        main()
