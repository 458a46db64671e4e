"""HOW does SQLite answer frequent statements? Through the driver, without SQLAlchemy.

SQLAlchemy takes as long to pass on six statements as a whole search in a small store.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

from onrecord.store.compiled import compiled_for

DIALECT: Final = sqlite.dialect(paramstyle="qmark")


def fetch(connection: Connection, statement: Select[Any], given: Mapping[str, Any]) -> Sequence[Any]:
    """All rows of a statement that is built once."""
    compiled = compiled_for(DIALECT, statement)
    cursor = connection.connection.cursor()
    try:
        cursor.execute(compiled.text, compiled.values(given))
        return cursor.fetchall()
    except sqlite3.Error as problem:
        # Raised as SQLAlchemy raises it, since the callers handle those errors.
        raise DBAPIError.instance(compiled.text, None, problem, sqlite3.Error, dialect=DIALECT) from problem
