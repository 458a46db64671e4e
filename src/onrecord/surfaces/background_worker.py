"""HOW does a server run a worker as well? In a thread that ends with the process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from onrecord.service import OnRecord

#: How long the worker has to finish its job; another worker takes over the rest.
_ENDS_S: Final = 3.0


@contextmanager
def background_worker(door: OnRecord, *, gently: bool = False, after_s: float = 0.0) -> Iterator[None]:
    """Run a worker while the block runs; it begins after so many seconds."""
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
