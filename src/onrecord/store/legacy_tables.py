"""WHAT did an older program leave in a SQLite file? Its tables `memory` and `memory_v2`, which are read whole and
then removed.

No table is removed before its rows are kept elsewhere: the caller of `take_away` says which rows it has read.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import Inspector

from onrecord.errors import StoreUnavailable
from onrecord.store.sqlite_read_only import opened_read_only, table_names

_TIMEOUT_S: Final = 60
#: The columns by which such a table is recognised.
_COLUMNS: Final[Mapping[str, frozenset[str]]] = {
    "memory": frozenset({"id", "namespace", "content"}),
    "memory_v2": frozenset({"id", "scope", "content"}),
}
#: Added to the name of a table that stays after its rows were moved.
KEPT: Final = "_migrated"

Row = Mapping[str, Any]


class FoundTables(NamedTuple):
    """The rows of each such table, and the names of all tables of the file."""

    rows: Mapping[str, Sequence[Row]]
    names: frozenset[str]


def known(inspector: Inspector) -> set[str]:
    """The legacy tables of a database, which a store may share, since their rows will move there."""
    names = set(inspector.get_table_names())
    return {
        name
        for name, needed in _COLUMNS.items()
        if name in names and needed <= {column["name"] for column in inspector.get_columns(name)}
    }


def known_in(connection: sqlite3.Connection) -> set[str]:
    """The same for a file that is only looked at."""
    names = table_names(connection)
    return {
        name
        for name, needed in _COLUMNS.items()
        if name in names and needed <= {row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')}
    }


def read(path: Path) -> FoundTables:
    """The tables; none if the file is not a SQLite file, or if nothing could be removed from it."""
    try:
        path.stat()
    except OSError as problem:
        raise StoreUnavailable(f"{path} cannot be read: {problem.strerror or problem}.") from None
    if not os.access(path, os.W_OK):
        return FoundTables({}, frozenset())
    try:
        with opened_read_only(path, _TIMEOUT_S) as connection:
            connection.row_factory = sqlite3.Row
            return _found(connection)
    except sqlite3.DatabaseError as problem:
        if problem.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            return FoundTables({}, frozenset())
        raise StoreUnavailable(f"{path} cannot be used: {problem}.") from None


def take_away(path: Path, read_before: FoundTables, dropped: Sequence[str], renamed: Sequence[str]) -> bool:
    """Drop some tables and rename others, all or none; False and no change if rows have been added or changed since."""
    with _connected(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        now = _found(connection)
        if now.rows != read_before.rows:
            connection.execute("ROLLBACK")
            return False
        for name in dropped:
            connection.execute(f'DROP TABLE "{name}"')
        for name in renamed:
            connection.execute(f'ALTER TABLE "{name}" RENAME TO "{_free_name(name, now.names)}"')
        connection.execute("COMMIT")
    return True


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        uri = path.absolute().as_uri() + "?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=_TIMEOUT_S, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            # A text that is not UTF-8 is read with replacement characters.
            connection.text_factory = lambda raw: raw.decode(errors="replace")
            yield connection
    except sqlite3.Error as problem:
        raise StoreUnavailable(f"{path} cannot be used: {problem}.") from None


def _found(connection: sqlite3.Connection) -> FoundTables:
    names = table_names(connection)
    rows = {
        name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid')]
        for name in sorted(known_in(connection))
    }
    return FoundTables(rows, names)


def _free_name(name: str, taken: frozenset[str]) -> str:
    free, number = name + KEPT, 2
    while free in taken:
        free, number = f"{name}{KEPT}_{number}", number + 1
    return free
