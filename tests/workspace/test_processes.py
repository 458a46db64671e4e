"""DO the caps hold across processes, and does one that is killed leave nothing half done?"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import onrecord
from onrecord import OnRecord, connect
from onrecord.testing.workspace import MARK_BYTES
from tests.forked import relayed
from tests.soak import tries

WORKER = f"import runpy; runpy.run_path({str(Path(__file__).parent / 'workspace_worker.py')!r}, run_name='__main__')"
PROCESSES = 4
#: Caps that several processes reach soon.
OF_CONVERSATION, OF_PAD = 1_000, 2_000


@pytest.fixture(params=["sqlite-file", "postgres", "yaml"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store that several processes can open, once for each back end."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_store"))
    return str(tmp_path / "store.db") if request.param == "sqlite-file" else f"yaml:{tmp_path / 'store'}"


@pytest.fixture
def start(address: str) -> Iterator[Any]:
    """Start processes that end with the test at the latest."""
    started: list[subprocess.Popen[str]] = []
    places = (Path(onrecord.__file__).parents[1], Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))}

    def begin(job: str, given: int = 0) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                relayed(WORKER, address, str(OF_CONVERSATION), str(OF_PAD), job, str(given)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def dead_at(forker: subprocess.Popen[str], statement: int) -> str:
    """What a process told that was to die there: how many statements there were, or nothing if it died."""
    assert forker.stdin is not None
    assert forker.stdout is not None
    print(statement, file=forker.stdin, flush=True)
    told = forker.stdout.readline()
    assert told, "it failed"
    return told.strip()


def test_processes_that_write_at_once_fill_the_caps_and_never_pass_them(address: str, start: Any) -> None:
    connect(address).close()
    told = start("fill", PROCESSES).communicate()[0].splitlines()
    assert len(told) == PROCESSES
    files, notes = (sum(each) for each in zip(*(map(int, line.split()) for line in told), strict=True))
    note = MARK_BYTES + len("process 0 turn 000")
    assert (files, notes) == (OF_CONVERSATION // 37, OF_PAD // note)
    with connect(address) as door:
        assert door.artifacts(conversation="talk").bytes == files * 37
        assert len({each.id for each in door.artifacts().artifacts}) == files
        assert door.read_scratchpad("scout").size == notes * note
        assert door.doctor().problems == ()


def converse(door: OnRecord) -> None:
    """A conversation with something of all that a deletion changes."""
    inside = door.as_caller(door.caller.inside("talk"))
    for number in range(2):
        inside.write_artifact(f"{number}.txt", "kept")
        inside.remember(f"the {number}th linked note", artifact=str(number + 1))
    inside.remember("for this talk alone", scope="session")


def test_a_deletion_killed_before_any_of_its_statements_is_not_there_at_all(address: str, start: Any) -> None:
    with connect(address) as door:
        converse(door)
        before = state(door)
    forker = start("fork")
    ready(forker)
    # Some of its statements; in a soak every fifth.
    for statement in count(1, tries(15, soaking=5)):
        survived = dead_at(forker, statement)
        with connect(address) as door:
            assert door.doctor().problems == ()
            now = state(door)
        if survived:
            break
        if now != before and address.startswith("yaml:"):
            # Its text files were written already; what becomes of that is told next.
            return
        assert now == before, f"killed at statement {statement}"
    assert statement > 5, "it must have been killed in its middle"
    assert now != before
    assert now[0] == now[1] == []


@pytest.mark.parametrize("address", ["yaml"], indirect=True)
def test_a_deletion_killed_after_the_text_files_were_written_is_finished_by_doing_it_again(
    address: str, start: Any
) -> None:
    """Text files and a database cannot be written in one: what goes last is what can be deleted again."""
    folder = Path(address.removeprefix("yaml:"))
    with connect(address) as door:
        converse(door)
        before = state(door)
    shutil.copytree(folder, folder.with_name("kept"))
    forker = start("fork")
    ready(forker)
    last = int(dead_at(forker, 0))
    with connect(address) as door:
        done = state(door)
    shutil.rmtree(folder)
    folder.with_name("kept").rename(folder)
    assert dead_at(forker, last) == ""
    with connect(address) as door:
        assert state(door) == (*before[:2], done[2])
        assert door.doctor().problems == ()
        door.delete_conversation("talk")
        assert state(door) == done


def state(door: OnRecord) -> tuple[list[str], list[Any], list[Any]]:
    """All that a deletion changes."""
    return (
        [each.id for each in door.conversations().conversations],
        [(each.id, each.path, door.read_artifact(each.id).content) for each in door.artifacts().artifacts],
        [
            (each.id, each.version, each.artifact, each.conversation)
            for each in door.browse(statuses=["active", "archived"]).memories
        ],
    )
