"""HOW does SQLite answer what is asked often? Compiled once, and given to the driver without a layer between.

A search in a small store runs in the time that the library takes to hand over six statements.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

DIALECT: Final = sqlite.dialect(paramstyle="qmark")


def fetch(connection: Connection, statement: Select[Any], given: Mapping[str, Any]) -> Sequence[Any]:
    """All rows of a statement that is built once: as many are kept as there are statements."""
    compiled = _compile(statement)
    values = [
        fixed if name not in given else given[name] if write is None else write(given[name])
        for name, fixed, write in compiled.parameters
    ]
    cursor = connection.connection.cursor()
    try:
        cursor.execute(compiled.text, values)
        return cursor.fetchall()
    except sqlite3.Error as problem:
        # What reads the errors knows those of the library.
        raise DBAPIError.instance(compiled.text, None, problem, sqlite3.Error, dialect=DIALECT) from problem


class _Compiled(NamedTuple):
    """The text, and for each of its places the parameter's name, its value if it is fixed, and how it is written."""

    text: str
    parameters: Sequence[tuple[str, Any, Callable[[Any], Any] | None]]


@cache
def _compile(statement: Select[Any]) -> _Compiled:
    compiled: Any = statement.compile(dialect=DIALECT)
    parameters = []
    for name in compiled.positiontup:
        bind = compiled.binds[name]
        write = bind.type.dialect_impl(DIALECT).bind_processor(DIALECT)
        fixed = bind.value if write is None or bind.value is None else write(bind.value)
        parameters.append((name, fixed, write))
    return _Compiled(str(compiled), parameters)
