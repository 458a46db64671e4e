"""HOW far is a copy? SQLite copies a file in one step and says nothing meanwhile; the copy's own size does."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

from onrecord.store.ports.store import CopyReport

_LOOK_EVERY_S: Final = 0.5


@contextmanager
def reported(path: Path, total: int, report: CopyReport) -> Iterator[None]:
    """Report every moment how many bytes of how many are in the file at a path, until the block ends."""
    has_ended = Event()

    def look() -> None:
        while not has_ended.wait(_LOOK_EVERY_S):
            with suppress(OSError):
                report(min(path.stat().st_size, total), total)

    watcher = Thread(target=look, name="onrecord-copy", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        has_ended.set()
        watcher.join()
