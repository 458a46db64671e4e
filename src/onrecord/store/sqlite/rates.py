"""HOW do processes count requests together? In a SQLite file of its own, whose rows mean nothing after a minute."""

import sqlite3
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

from onrecord import private_files
from onrecord.errors import StoreUnavailable
from onrecord.model.rates import MINUTE_S, left_after_request

_BUSY_S: Final = 5.0
#: Nothing waits for the disk. A killed process damages nothing, and a crash of the machine may lose the counts.
_SETTINGS: Final = ("journal_mode=WAL", "synchronous=OFF", "temp_store=MEMORY")
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS rates (who TEXT PRIMARY KEY, rest REAL NOT NULL, at REAL NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS rates_at ON rates (at)",
)


class SharedBuckets:
    """The buckets of all processes on this machine that use the same file. Threads may share it."""

    def __init__(self, path: Path, timer: Callable[[], float] = time.time) -> None:
        self._path, self._timer, self._lock = path, timer, Lock()
        try:
            private_files.make_folder(path.parent)
            private_files.make_file(path)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            for setting in _SETTINGS:
                self._connection.execute(f"PRAGMA {setting}")
            for statement in _TABLE:
                self._connection.execute(statement)
        except (OSError, sqlite3.Error) as problem:
            raise self._unusable(problem) from None

    def take(self, who: tuple[str, ...], limit: int) -> float:
        name = sha256("\0".join(who).encode("utf-8", "surrogatepass")).hexdigest()
        try:
            with self._lock:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    return self._taken(name, limit)
                finally:
                    self._connection.execute("COMMIT")
        except sqlite3.Error as problem:
            raise self._unusable(problem) from None

    def _taken(self, name: str, limit: int) -> float:
        now = self._timer()
        row = self._connection.execute("SELECT rest, at FROM rates WHERE who = ?", (name,)).fetchone()
        left = left_after_request(row, now, limit)
        if left >= 0:
            self._connection.execute("INSERT OR REPLACE INTO rates VALUES (?, ?, ?)", (name, left, now))
        if row is None:
            # A bucket is full again after a minute, so its row is no longer needed.
            self._connection.execute("DELETE FROM rates WHERE at < ?", (now - MINUTE_S,))
        return left

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _unusable(self, problem: Exception) -> StoreUnavailable:
        return StoreUnavailable(f"Requests cannot be counted in {self._path} (see rates_file): {problem}.")
