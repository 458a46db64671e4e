"""A shell for the tests of the surfaces: the command line as a person or a program calls it."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recollect
from recollect.surfaces.cli import main

#: How the installed command starts, without needing it to be installed.
COMMAND = [sys.executable, "-c", "from recollect.surfaces.cli import main; main()"]
SOURCE = str(Path(recollect.__file__).parents[1])


class Said(NamedTuple):
    """What a command printed, and the code it left with."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Calls the command line in this process, which is quick; `process` starts a real one."""

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

    def process(self, *words: str | bytes, typed: bytes = b"", **environment: str) -> Said:
        done = subprocess.run(
            [*COMMAND, *words], input=typed, capture_output=True, check=False, env=os.environ | environment
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace"))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    """A shell in an empty folder, with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECOLLECT_DB", "shell.db")
    # A process started from there finds the package even if ours was found by a relative path.
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    return Shell(monkeypatch)


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """The same, with three memories and an edge."""
    shell("remember", "Revenue is net of refunds.", "--kind", "decision", "--tag", "finance")
    shell("remember", "NULL in orders.is_returned means not returned.", "--kind", "learning")
    shell("remember", "Deploys are frozen on Fridays.", "--id", "policy.deploys")
    shell("relate", "1", "supports", "2")
    return shell
