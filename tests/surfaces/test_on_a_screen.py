"""WHAT does a person see who waits at a terminal? A bar and tables that fit, and a file gets what goes into a file."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

from .conftest import SOURCE

BAR = """
import threading, time
from onrecord.surfaces.cli.progress_bar import shown_after
with shown_after(0, "waiting here") as report:
    while any(isinstance(each, threading.Timer) for each in threading.enumerate()):
        time.sleep(0.01)
    report("counting", 3, 4)
    print("what is printed")
"""
TABLE = """
from onrecord.surfaces.cli.parts import TextTable
from onrecord.surfaces.cli.render import _show_table
_show_table(TextTable(("id", "title"), [("an-id-that-is-" + "long" * 20, "A title")]))
"""


def seen(code: str, *, out: Path | None = None, columns: int = 60, **environment: str) -> str:
    """What a terminal is told by a program, whose standard output may be a file."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    file = theirs if out is None else os.open(out, os.O_WRONLY | os.O_CREAT)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=theirs,
        stdout=file,
        stderr=theirs,
        env=known | {"TERM": "xterm-256color", "PYTHONPATH": SOURCE} | environment,
    ):
        os.close(theirs)
        told = b""
        try:
            while part := os.read(ours, 65_536):
                told += part
        except OSError:
            pass  # The other end is closed.
    os.close(ours)
    return told.decode()


def test_whoever_waits_sees_how_far_it_is_and_a_file_gets_what_is_printed(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    told = seen(BAR, out=file)
    assert "waiting here" in told
    assert re.search(r"counting.*3/4", told)
    assert file.read_text() == "what is printed\n"
    assert "what is printed" in seen(BAR)


def test_no_colour_is_shown_to_whoever_wants_none() -> None:
    colour = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|38|9[0-7])[;m]")
    assert colour.search(seen(BAR))
    assert not colour.search(seen(BAR, NO_COLOR="1"))


def test_a_table_fits_and_shows_an_id_in_full() -> None:
    told = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", seen(TABLE, columns=40)).replace("\r", "")
    assert max(map(len, told.splitlines())) <= 40
    assert "an-id-that-is-" + "long" * 20 in re.sub(r"[^a-z-]", "", re.sub(r"(?<=\S)  +\S.*", "", told))
