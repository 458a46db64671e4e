"""Processes for the fault tests: started in milliseconds, heard line by line, killed without warning."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import onrecord
from onrecord import OnRecord

Line = dict[str, Any]


class Hand:
    """One process at work. What it told before it died can be read after."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._file = line.makefile("rw", encoding="utf-8")
        self.pid: int = self.hear()["pid"]

    def hear(self) -> Line:
        """The next thing it tells; its own failure fails the test with its own trace."""
        told = self._hear()
        assert told is not None, "the process ended before it told anything more"
        return told

    def _hear(self) -> Line | None:
        text = self._file.readline()
        if not text:
            return None
        told: Line = json.loads(text)
        if "failed" in told:
            pytest.fail(f"in process {self.pid}:\n{told['failed']}")
        return told

    def each(self) -> Iterator[Line]:
        """What it tells from now on until it ends. A process whose lines nobody reads waits with the next."""
        return iter(self._hear, None)

    def rest(self) -> list[Line]:
        return list(self.each())

    def go(self) -> None:
        self._file.write("go\n")
        self._file.flush()

    def kill(self) -> None:
        """Kill it as it stands. What it had told and nobody had read can still be heard."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        self.kill()
        self._file.close()
        self._line.close()


class Crew:
    """Forks processes from one that has imported everything."""

    def __init__(self, folder: Path) -> None:
        address = str(folder / "line")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(address)
        self._listening.listen()
        # The package under test, wherever it is imported from, with no settings of the person who runs the test.
        source = os.pathsep.join(map(str, (Path(onrecord.__file__).parents[1], Path(__file__).parents[2])))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ONRECORD_")}
        environment |= {"PYTHONPATH": source, "ONRECORD_CONFIG": str(folder / "none.toml")}
        # Hundreds of processes would load the model; with vectors the faults are those of test_embedding_processes.py.
        environment |= {"ONRECORD_EMBEDDER": "none"}
        self._forker = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "worker.py"), address],
            stdin=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.hands: list[Hand] = []

    def start(self, job: str, **given: Any) -> Hand:
        assert self._forker.stdin is not None
        self._forker.stdin.write(json.dumps([job, given]) + "\n")
        self._forker.stdin.flush()
        line, _ = self._listening.accept()
        self.hands.append(Hand(line))
        return self.hands[-1]

    def dismiss(self) -> None:
        while self.hands:
            self.hands.pop().end()

    def close(self) -> None:
        self.dismiss()
        self._forker.communicate()
        self._listening.close()


@pytest.fixture(scope="session")
def _crew() -> Iterator[Crew]:
    # Not pytest's own folder: the name of a socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="crew"))
    # A process that has given up its rights must still find that there are no settings here.
    folder.chmod(0o755)
    crew = Crew(folder)
    yield crew
    crew.close()
    shutil.rmtree(folder)


@pytest.fixture
def crew(_crew: Crew) -> Iterator[Crew]:
    """Processes that end with the test at the latest."""
    yield _crew
    _crew.dismiss()


@pytest.fixture
def whole(tmp_path: Path) -> Callable[[OnRecord], list[str]]:
    """Everything a store holds, as the lines of an export; the doctor must find nothing wrong with it."""

    def read(door: OnRecord) -> list[str]:
        examined = door.doctor()
        assert examined.problems == ()
        path = tmp_path / "whole.jsonl"
        door.export(str(path), all_tenants=True)
        return path.read_text(encoding="utf-8").splitlines()[1:]

    return read
