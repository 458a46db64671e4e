"""WHO may write? The holder of the folder's lock: one at a time, among all processes and threads.

The operating system holds the lock, so it ends with its process, however that ends.
"""

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from onrecord import private_files
from onrecord.errors import StoreUnavailable

if sys.platform == "win32":
    import msvcrt

    def _take(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_TIMEOUT_S: Final = 60
_LOOK_AGAIN_S: Final = (0.0005, 0.004)


class HeldLock:
    """A held lock. Someone may have removed its file, so that another process could take a new one."""

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self._file = file

    def is_in_place(self) -> bool:
        try:
            own, there = os.fstat(self._file), self._path.stat()
        except OSError:
            return False
        return (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino)


class FolderLock:
    """The right to write in one folder."""

    def __init__(self, path: Path, location: str) -> None:
        self._path = path
        self._location = location

    @contextmanager
    def held(self) -> Iterator[HeldLock]:
        """Wait until nobody else holds it."""
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            with self.tried() as held:
                if held is not None:
                    yield held
                    return
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"{self._location} was locked by another process for {_TIMEOUT_S} seconds; "
                    "nothing was changed. Try again."
                )
            time.sleep(random.uniform(*_LOOK_AGAIN_S))

    @contextmanager
    def tried(self) -> Iterator[HeldLock | None]:
        """None if someone holds it now."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            # Someone has just removed the folder that it is in.
            private_files.make_folder(self._path.parent)
            yield None
            return
        except OSError as problem:
            raise StoreUnavailable(
                f"The lock of {self._location} cannot be taken: {problem.strerror or problem}."
            ) from problem
        try:
            held = HeldLock(self._path, file)
            yield held if _is_taken(file) and held.is_in_place() else None
        finally:
            os.close(file)


def _is_taken(file: int) -> bool:
    try:
        _take(file)
    except OSError:
        return False
    return True
