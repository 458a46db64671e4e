"""HOW do tests start our command quickly? They fork a process that has already imported what a server needs.

Imports take nine tenths of the time until a server listens. test_starting.py and test_rest_serving.py start the command
without a fork.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from select import select
from typing import IO

_ROOT = str(Path(__file__).parents[1])
_LOAD = (
    f"import sys; sys.path.insert(0, {_ROOT!r}); from tests import forked; "
    "exec(forked.asked(*map(int, sys.argv[1:])))"
)
_RELAY = """
import json, os, socket, sys
name, program, *words = sys.argv[1:]
told, child_told = os.pipe()
line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
line.connect("\\0" + name)
what = {"program": program, "words": words, "env": dict(os.environ), "folder": os.getcwd()}
socket.send_fds(line, [json.dumps(what).encode()], [0, 1, 2, child_told])
for file in (0, 1, child_told):
    os.close(file)
_, status = os.fdopen(told).read().split()
os._exit(os.waitstatus_to_exitcode(int(status)) & 255)
"""
_MESSAGE_BYTES = 200_000


def relayed(program: str, *words: str) -> list[str]:
    """A command for those who start one themselves: a small process, whose streams are those of a fork."""
    return [sys.executable, "-I", "-S", "-c", _RELAY, _Loaded.get().name, program, *words]


class Forked:
    """A process that runs `python -c PROGRAM ARGUMENTS`, with those methods of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        command: list[str],
        *,
        env: Mapping[str, str] = os.environ,
        stderr: int | None = None,
    ) -> None:
        """`stderr` is PIPE to read the errors, DEVNULL to drop them, or None to show them."""
        executable, option, program, *words = command
        assert (executable, option) == (sys.executable, "-c")
        out, child_out = os.pipe()
        err, child_err = os.pipe() if stderr == subprocess.PIPE else (None, _sink(stderr))
        told, child_told = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        _Loaded.get().ask(
            {"program": program, "words": words, "env": dict(env), "folder": os.getcwd()},
            [nothing, child_out, child_err, child_told],
        )
        self.stdout: IO[str] = os.fdopen(out, encoding="utf-8")
        self.stderr: IO[str] | None = None if err is None else os.fdopen(err, encoding="utf-8")
        self._told = os.fdopen(told, encoding="utf-8")
        self._turn = threading.Lock()
        self.returncode: int | None = None
        self.pid = int(self._told.readline())

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            # The process may have ended since.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """The exit code, or None while the process runs."""
        return self.returncode if self._is_told(0) else None

    def wait(self, timeout: float) -> int:
        if not self._is_told(timeout):
            raise subprocess.TimeoutExpired("a forked process", timeout)
        assert self.returncode is not None
        return self.returncode

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait for the end, and return the rest of both outputs."""
        said: dict[str, str] = {}
        readers = [
            threading.Thread(target=lambda name=name, file=file: said.update({name: file.read()}))
            for name, file in (("out", self.stdout), ("err", self.stderr))
            if file is not None and not file.closed
        ]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        for file in (self.stdout, self.stderr):
            if file is not None:
                file.close()
        return said.get("out", ""), said.get("err", "")

    def _is_told(self, timeout: float) -> bool:
        with self._turn:
            if self.returncode is None and select([self._told], [], [], timeout)[0]:
                self.returncode = os.waitstatus_to_exitcode(int(self._told.readline()))
                self._told.close()
            return self.returncode is not None


def _sink(stderr: int | None) -> int:
    return os.open(os.devnull, os.O_WRONLY) if stderr == subprocess.DEVNULL else os.dup(2)


class _Loaded:
    """The process that the others are forked from; each pytest worker has one."""

    def __init__(self) -> None:
        self._line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._turn = threading.Lock()
        #: Where others reach it.
        self.name = f"onrecord-tests-{os.getpid()}"
        with other, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(f"\0{self.name}")
            listening.listen()
            lines = [other.fileno(), listening.fileno()]
            self._process = subprocess.Popen([sys.executable, "-c", _LOAD, *map(str, lines)], pass_fds=lines)
        atexit.register(self._end)

    @staticmethod
    @cache
    def get() -> "_Loaded":
        return _Loaded()

    def ask(self, what: object, files: list[int]) -> None:
        with self._turn:
            socket.send_fds(self._line, [json.dumps(what).encode()], files)
        for file in files:
            os.close(file)

    def _end(self) -> None:
        self._line.close()
        self._process.wait()


# This part runs in the forked processes


def asked(line_number: int, listening_number: int) -> str:
    """Fork a process for each message. In the new process this function returns the program to run; here it never returns."""
    import onrecord.app
    import onrecord.store.postgres
    import onrecord.surfaces.cli.group
    import onrecord.surfaces.mcp.server
    import onrecord.surfaces.serving  # noqa: F401

    sys.path.remove(_ROOT)
    gc.freeze()
    # The processes in between, which wait for the forked ones, are not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    line, listening = socket.socket(fileno=line_number), socket.socket(fileno=listening_number)
    while True:
        message, files = _heard(line, listening)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            line.close()
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            told = files.pop()
            if (child := os.fork()) == 0:
                os.close(told)
                return _become(json.loads(message), files)
            for file in files:
                os.close(file)
            os.write(told, f"{child}\n".encode())
            os.write(told, f"{os.waitpid(child, 0)[1]}\n".encode())
            os._exit(0)
        for file in files:
            os.close(file)


def _heard(line: socket.socket, listening: socket.socket) -> tuple[bytes, list[int]]:
    """What the tests ask for, or a command of theirs that someone has started."""
    if line in select([line, listening], [], [])[0]:
        return socket.recv_fds(line, _MESSAGE_BYTES, 4)[:2]
    with listening.accept()[0] as relay:
        return socket.recv_fds(relay, _MESSAGE_BYTES, 4)[:2]


def _become(what: dict[str, object], files: list[int]) -> str:
    """Take over the streams, the folder, the environment and the arguments; returns the program."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", closefd=False)
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    os.environ.clear()
    os.environ.update(what["env"])  # type: ignore[arg-type]
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [each for each in paths if each and each not in sys.path]
    os.chdir(str(what["folder"]))
    sys.argv = ["-c", *what["words"]]  # type: ignore[misc]
    return str(what["program"])
