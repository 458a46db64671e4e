"""HOW long may a hook hold up its host? No longer than it was given, counted from its start: then a second process goes on
alone.
"""

import json
import os
import selectors
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn


class HookReply(NamedTuple):
    """What a hook prints, and what is done once that was in time."""

    text: str
    delivered: Callable[[], None] = lambda: None


def within(seconds: float, work: Callable[[], HookReply], late: str) -> str:
    """What `work` returns, or `late` if it takes longer; what was begun is then still completed.

    Where a process cannot be copied, the work is done here, however long it takes.
    """
    if not hasattr(os, "fork"):
        reply = work()
        reply.delivered()
        return reply.text
    ends = time.monotonic() + seconds - _age_s()
    reads, writes = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork() == 0:
        os.close(reads)
        _alone(work, writes)
    os.close(writes)
    return _read(reads, ends, late)


def _age_s() -> float:
    """How long this process runs already, as far as the system tells."""
    try:
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK"), 0.0)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def _alone(work: Callable[[], HookReply], writes: int) -> NoReturn:
    """In the copy: the host waits until its streams are closed, so they are not ours; nor is its end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.setsid()
    try:
        reply = work()
        # Fails if nobody waits for it any more.
        os.write(writes, json.dumps(reply.text).encode())
        reply.delivered()
    except BaseException:
        os._exit(1)
    os._exit(0)


def _read(reads: int, ends: float, late: str) -> str:
    parts: list[bytes] = []
    with selectors.DefaultSelector() as waiting, os.fdopen(reads, "rb", buffering=0) as said:
        waiting.register(said, selectors.EVENT_READ)
        while (left := ends - time.monotonic()) > 0 and waiting.select(left):
            if not (part := said.read(65_536)):
                break
            parts.append(part)
    try:
        return str(json.loads(b"".join(parts)))
    except ValueError:
        return late
