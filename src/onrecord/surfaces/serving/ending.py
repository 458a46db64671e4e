"""WHEN has a server ended? When it has finished its requests, and in any case soon after the time limit.

A thread that waits for an unresponsive database cannot be ended from within this process, and everything that waits
for that thread would wait with it.
"""

import logging
import os
import signal
import sys
import threading
from types import FrameType
from typing import Final

import uvicorn

#: For what follows once nothing is answered any more: the worker stops and the store is closed.
_AFTERWARDS_S: Final = 5
_log: Final = logging.getLogger("onrecord.serving")


class EndingServer(uvicorn.Server):
    """A server that ends when it is told to, even if something hangs."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            within = (self.config.timeout_graceful_shutdown or 0) + _AFTERWARDS_S
            last_word = threading.Timer(within, _end)
            last_word.daemon = True
            last_word.start()
        super().handle_exit(sig, frame)


def _end() -> None:
    """End the process. Nothing is lost: committed work is in the store, and an open transaction never counted."""
    _log.error(
        "Something did not end in time (a database that does not answer?); the process ends without it."
    )
    sys.stderr.flush()
    os._exit(128 + signal.SIGTERM)
