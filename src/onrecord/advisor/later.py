"""WHICH questions run after the caller has its answer? Deferred work, in order, in a thread of this process.

It holds what was said, in memory only, as turns are: work not done when the process ends is lost.
"""

import logging
from collections.abc import Callable
from queue import Full, Queue
from threading import Lock, Thread
from typing import Final

_LOG: Final = logging.getLogger(__name__)
#: How much may wait: a turn takes some kilobytes.
_MOST: Final = 200

Work = Callable[[], object]


class Later:
    """Does work in its order, in one thread that starts with the first of it."""

    def __init__(self) -> None:
        self._queue: Queue[Work | None] = Queue(_MOST)
        self._thread: Thread | None = None
        self._starting = Lock()

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    def add(self, work: Work) -> bool:
        """Put work off; False if too much waits already."""
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._run, name="onrecord-later", daemon=True)
                self._thread.start()
        try:
            self._queue.put_nowait(work)
        except Full:
            return False
        return True

    def close(self, within_s: float) -> None:
        """End it after what waits, as far as there is time."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(within_s)

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            try:
                work()
            except Exception as problem:
                # Nobody waits for it; the next is done all the same.
                _LOG.error("What was put off failed: %s", type(problem).__name__, exc_info=problem)
