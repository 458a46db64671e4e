"""HOW does a worker run beside what a process is there for? In a thread that ends with it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from onrecord.service import OnRecord

#: How long the worker has to finish its job; another worker takes over the rest.
_ENDS_S: Final = 3.0


@contextmanager
def working_beside(door: OnRecord, *, gently: bool = False, after_s: float = 0.0) -> Iterator[None]:
    """A worker while the block runs, which begins after so many seconds."""
    stop = threading.Event()

    def work() -> None:
        if not stop.wait(after_s):
            door.worker.run(stop, gently=gently)

    thread = threading.Thread(target=work, name="onrecord-worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_ENDS_S)
