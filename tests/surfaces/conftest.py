"""A shell and a server for the tests of the surfaces: as a person or a program meets them."""

import contextlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import uvicorn

import onrecord
from onrecord.app import open_server_parts
from onrecord.config import load
from onrecord.operation import StorePolicy
from onrecord.surfaces.cli import main
from onrecord.surfaces.serving import application
from onrecord.surfaces.serving.connections import server_settings
from tests.forked import relayed

#: How the installed command starts, without needing it to be installed.
COMMAND = [sys.executable, "-c", "from onrecord.surfaces.cli import main; main()"]
SOURCE = str(Path(onrecord.__file__).parents[1])


class Said(NamedTuple):
    """What a command printed, and the code it left with."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Calls the command line in this process, which is quick; `process` in another, and `anew` with all that it loads."""

    command = COMMAND

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, *words: str, typed: str = "") -> Said:
        out, err = io.StringIO(), io.StringIO()
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            main(words)
        return Said(int(left.value.code or 0), out.getvalue(), err.getvalue())

    def process(
        self, *words: str | bytes, typed: bytes = b"", anew: bool = False, **environment: str
    ) -> Said:
        command = [*COMMAND] if anew else relayed(COMMAND[-1])
        done = subprocess.run(
            [*command, *words], input=typed, capture_output=True, check=False, env=os.environ | environment
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace"))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    """A shell in an empty folder, with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONRECORD_DB", "shell.db")
    # A process started from there finds the package even if ours was found by a relative path.
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    return Shell(monkeypatch)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], None]], None]:
    """Fill the folder one is in: by what is given the first time, and later by a copy of what came of that."""
    kept = tmp_path_factory.mktemp("once")

    def fill(name: str, by: Callable[[], None]) -> None:
        if (kept / name).exists():
            shutil.copytree(kept / name, Path.cwd(), dirs_exist_ok=True)
        else:
            by()
            shutil.copytree(Path.cwd(), kept / name)

    return fill


@pytest.fixture
def filled(shell: Shell, once: Callable[[str, Callable[[], None]], None]) -> Shell:
    """The same, with three memories and an edge."""
    once("filled", lambda: _fill(shell))
    return shell


def _fill(shell: Shell) -> None:
    shell("remember", "Revenue is net of refunds.", "--kind", "decision", "--tag", "finance")
    shell("remember", "NULL in orders.is_returned means not returned.", "--kind", "learning")
    shell("remember", "Deploys are frozen on Fridays.", "--id", "policy.deploys")
    shell("relate", "1", "supports", "2")


class Served:
    """A real server on this machine, in a thread of its own: `client` speaks to it, `log` is what it has written."""

    def __init__(self, **settings: str | None) -> None:
        self.config = load(**settings)
        self.folder = Path(self.config.db).parent
        self.parts = open_server_parts(self.config)
        self.log: list[dict[str, Any]] = []
        app = application(self.config, self.parts, log=lambda event, **told: self.log.append(told))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = uvicorn.Server(
            uvicorn.Config(app, **server_settings(self.config) | {"log_level": "critical"})
        )
        self._thread = threading.Thread(target=self._server.run, args=([self._listening],))
        self._thread.start()
        self.client = self.connect()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)

    def connect(self, key: str | None = None, **headers: str) -> httpx2.Client:
        """Another client, with a key and headers of its own."""
        carried = headers | ({"Authorization": f"Bearer {key}"} if key else {})
        return httpx2.Client(base_url=self.url, headers=carried, timeout=600)

    def make_key(self, **fields: Any) -> str:
        """The secret of a new key, made at the machine."""
        self.parts.authenticator.forget_keys()
        return self.parts.door.as_caller(self.parts.door.caller, StorePolicy()).create_key(**fields).secret

    def send(self, raw: bytes) -> bytes:
        """What comes back for the very bytes given, until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as line:
            line.sendall(raw)
            received = b""
            while part := line.recv(65_536):
                received += part
            return received

    def stop(self) -> None:
        # A line that is still open would be waited for.
        self.client.close()
        self._server.should_exit = True
        self._thread.join()
        self._listening.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start servers on an empty store; they are stopped when the test ends."""
    started: list[Served] = []

    def start(**settings: str | None) -> Served:
        started.append(Served(**{"db": str(tmp_path / "served.db"), "worker": "no"} | settings))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture
def server(served: Callable[..., Served]) -> Served:
    """A server on an empty store, as it is configured when nothing is."""
    return served()


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for many requests, whatever they are."""
    server = Served(
        db=str(tmp_path_factory.mktemp("fuzzed") / "served.db"), embedder="none", user="ann", worker="no"
    )
    server.parts.door.remember("Revenue is net of refunds.")
    yield server
    server.stop()
