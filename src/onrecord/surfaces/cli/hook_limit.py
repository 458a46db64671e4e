"""HOW long may a hook hold up its host? No longer than it was given, counted from its start: then a second process goes on
alone.

The host waits for this process, which loads nothing and only passes on what the other one prints. Whatever that one does
takes as long as it takes, also to load, and to read what a host does not finish writing.
"""

import json
import os
import selectors
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_OPTION: Final = "--within"


def seconds_in(arguments: Sequence[str]) -> float | None:
    """What an option of the hook says; None without it, or if it is none that counts, as the command will say."""
    for at, word in enumerate(arguments):
        name, _, value = word.partition("=")
        if name == _OPTION:
            try:
                return float(value or arguments[at + 1])
            except (ValueError, IndexError):
                return None
    return None


def hold_up(seconds: float) -> None:
    """Return in a copy of this process, whose standard output leads to this one; this one passes it on and ends in time.

    Where a process cannot be copied, the work is done here, however long it takes.
    """
    if not hasattr(os, "fork"):
        return
    ends = time.monotonic() + seconds - _age_s()
    reads, writes = os.pipe()
    if os.fork() == 0:
        os.close(reads)
        os.setsid()
        os.dup2(writes, 1)
        os.close(writes)
        # The host waits until its streams are closed; the event is still read from the first.
        _lead_nowhere(2)
        return
    os.close(writes)
    late = message(
        f"no answer within {seconds:g} s; the turn goes on without memory, and what is to be kept follows"
    )
    sys.stdout.write(_read(reads, ends, late))
    sys.stdout.flush()
    os._exit(0)


def let_go() -> None:
    """Say that everything was printed: nobody waits for what is still done."""
    sys.stdout.flush()
    if hasattr(os, "fork"):
        _lead_nowhere(1)


def message(text: str) -> str:
    """Said to the person: the agent would take it for something to do."""
    return json.dumps({"systemMessage": f"OnRecord: {text}"}, ensure_ascii=False) + "\n"


def _lead_nowhere(stream: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, stream)
    os.close(nowhere)


def _age_s() -> float:
    """How long this process runs already, as far as the system tells."""
    try:
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK"), 0.0)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def _read(reads: int, ends: float, late: str) -> str:
    """All that the other process prints, or `late` if it is not done in time, or ended without a word for the host."""
    parts: list[bytes] = []
    with selectors.DefaultSelector() as waiting, os.fdopen(reads, "rb", buffering=0) as said:
        waiting.register(said, selectors.EVENT_READ)
        while (left := ends - time.monotonic()) > 0 and waiting.select(left):
            if not (part := said.read(65_536)):
                return b"".join(parts).decode("utf-8", "replace")
            parts.append(part)
    return late
