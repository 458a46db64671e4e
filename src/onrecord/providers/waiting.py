"""HOW does synchronous code wait for async work? On one event loop in a thread of its own, for the whole process.

Connections belong to the loop that opened them. With one loop all threads share them, and an async program may call
in too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")
_starting = Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}  # by process: a fork inherits the loop but not its thread


def wait_for(work: Coroutine[Any, Any, _Answer], timeout_s: float) -> _Answer:
    """The result of the work, or TimeoutError; then the work is cancelled."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result(timeout_s)
    except BaseException:
        future.cancel()
        raise


def begin(work: Coroutine[Any, Any, object]) -> None:
    """Start the work without waiting for it; it must not fail."""
    asyncio.run_coroutine_threadsafe(work, _loop())


def _loop() -> asyncio.AbstractEventLoop:
    with _starting:
        if os.getpid() not in _loops:
            loop = asyncio.new_event_loop()
            Thread(target=loop.run_forever, name="onrecord-waiting", daemon=True).start()
            _loops[os.getpid()] = loop
        return _loops[os.getpid()]
