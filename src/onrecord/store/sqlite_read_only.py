"""HOW is a SQLite file read without changing it? Neither a byte of it nor a file next to it changes.

Only SQLite itself may open and close such a file: any other way would release all locks that this process holds on
it, and the next process to close it would discard the log that this one writes to.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


def connect_read_only(path: Path, timeout: float = 5) -> sqlite3.Connection:
    """A connection that reads everything, including the log, and writes nothing."""
    return _connect(path, "immutable=1" if _is_left_alone(path) else "mode=ro", timeout)


@contextmanager
def opened_read_only(path: Path, timeout: float = 5) -> Iterator[sqlite3.Connection]:
    """The same for the length of a block; raises what SQLite reports against reading the file."""
    with closing(connect_read_only(path, timeout)) as connection:
        refusal = _refusal(connection)
        if refusal is None:
            yield connection
            return
    if refusal.sqlite_errorcode == sqlite3.SQLITE_BUSY:
        raise refusal
    # A writer was interrupted, and only a process that may write can recover the file.
    with closing(_connect(path, "immutable=1", timeout)) as connection:
        yield connection


def table_names(connection: sqlite3.Connection) -> frozenset[str]:
    """The tables of a file, without SQLite's own."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return frozenset(name for (name,) in rows if not name.startswith("sqlite_"))


def is_sqlite(path: Path) -> bool:
    """Whether there is a SQLite file with something in it."""
    try:
        if not path.is_file() or path.stat().st_size == 0:
            return False
        with closing(_connect(path, "immutable=1")) as connection:
            return _refusal(connection) is None
    except (OSError, ValueError):
        return False


def _is_left_alone(path: Path) -> bool:
    """Whether the file is in WAL mode without a log: opening it would create files next to it."""
    if Path(f"{path}-wal").exists():
        return False
    with closing(_connect(path, "mode=ro&nolock=1")) as connection:
        refusal = _refusal(connection)
    # Without locks SQLite cannot open a file in WAL mode.
    return refusal is not None and refusal.sqlite_errorcode == sqlite3.SQLITE_CANTOPEN


def _refusal(connection: sqlite3.Connection) -> sqlite3.DatabaseError | None:
    """What SQLite reports against reading the file; None if nothing."""
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError as problem:
        return problem
    return None


def _connect(path: Path, way: str, timeout: float = 5) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{way}", uri=True, timeout=timeout, isolation_level=None
    )
    # Text that was stored in another encoding is shown as far as it can be.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection
