"""WHAT is in a SQLite file of another program? Its tables and their rows, read without changing a byte of it."""

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onrecord.errors import StoreUnavailable
from onrecord.store.sqlite_read_only import opened_read_only, table_names


def columns_of(path: Path) -> Mapping[str, frozenset[str]]:
    """The columns of each table; empty if this is no SQLite file."""
    try:
        with opened_read_only(path) as connection:
            return {
                name: frozenset(row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(name)})"))
                for name in sorted(table_names(connection))
            }
    except sqlite3.DatabaseError as problem:
        if problem.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            return {}
        raise _unusable(path, problem) from None


def rows_of(path: Path, table: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a table, in the order in which they were written."""
    try:
        with opened_read_only(path) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode(errors="replace")
            for row in connection.execute(f"SELECT * FROM {_quoted(table)} ORDER BY rowid"):
                yield dict(row)
    except sqlite3.DatabaseError as problem:
        raise _unusable(path, problem) from None


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _unusable(path: Path, problem: sqlite3.DatabaseError) -> StoreUnavailable:
    return StoreUnavailable(f"{path} cannot be used: {problem}.")
