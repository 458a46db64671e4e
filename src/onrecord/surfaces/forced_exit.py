"""HOW does a process stop in time? By force, if a thread still waits for something that hangs.

A thread that waits for an unresponsive database cannot be ended from within this process, and everything that waits
for that thread would wait with it.
"""

import logging
import os
import signal
import sys
import threading
from typing import Final

from onrecord.config import Config, read_number

#: For what follows once the work is done: the worker stops and the store is closed.
AFTERWARDS_S: Final = 5
_log: Final = logging.getLogger("onrecord.serving")


def shutdown_timeout(config: Config) -> int:
    return read_number("shutdown_timeout", config.shutdown_timeout, 1, 86_400)


def end_within(seconds: float) -> None:
    """End this process after so many seconds and a few more, unless it has ended by then."""
    timer = threading.Timer(seconds + AFTERWARDS_S, _end)
    timer.daemon = True
    timer.start()


def _end() -> None:
    """End the process. Nothing is lost: committed work is in the store, and an open transaction never counted."""
    _log.error(
        "Something did not end in time (a database that does not answer?); the process ends without it."
    )
    sys.stderr.flush()
    os._exit(128 + signal.SIGTERM)
