"""A shell for the tests of the evaluation: the command line as a person calls it, in an empty folder."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from onrecord.surfaces.cli import main


class Said(NamedTuple):
    """What a command printed, and the code it left with."""

    code: int
    out: str
    err: str


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Said]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONRECORD_DB", "shell.db")

    def call(*words: str) -> Said:
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            main(words)
        return Said(int(left.value.code or 0), out.getvalue(), err.getvalue())

    return call
