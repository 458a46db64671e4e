"""HOW are thousands of new stores made quickly? The first by its migrations, the rest by what came of these.

Most of the time of a new store goes into working out what to say to the database, which is the same each time, and into
changing tables that were made a moment before: only the last form of each is made.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlalchemy import Connection, create_engine, create_mock_engine, event, inspect

from onrecord.store import migrations, sql
from onrecord.store.backend import Backend
from onrecord.store.postgres import backend as postgres_backend
from onrecord.store.prepared import Statements
from onrecord.store.sqlite import backend as sqlite_backend
from onrecord.store.tables import VERSION_TABLE, metadata

Upgrade = Callable[[Connection], None]
Statement = tuple[str, Any]


class Repeating:
    """Migrates an empty database by what the first of its kind was told; any other one by the steps themselves."""

    def __init__(self, upgrade: Upgrade) -> None:
        self.upgrade = upgrade
        self._told: dict[str, list[Statement]] = {}

    def __call__(self, connection: Connection) -> None:
        database = connection.dialect.name
        if inspect(connection).get_table_names():
            self.upgrade(connection)
        elif database not in self._told:
            with _heard(connection) as told:
                self.upgrade(connection)
            self._told[database] = (
                _last_form(connection) if database == "sqlite" else _as_declared(connection, told)
            )
        else:
            # Past the library, whose own part in this takes longer than the database's.
            cursor = connection.connection.cursor()
            for statement, values in self._told[database]:
                cursor.execute(statement, values)
            cursor.close()


def _last_form(connection: Connection) -> list[Statement]:
    """What makes an empty database of SQLite what this one is."""
    made = connection.exec_driver_sql(
        "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' "
        "ORDER BY type != 'table', rowid"
    ).all()
    statements: list[Statement] = [(each.sql, ()) for each in made]
    return statements + _rows(connection, [each.name for each in made if each.type == "table"], "?")


def _as_declared(connection: Connection, told: list[Statement]) -> list[Statement]:
    """What makes an empty schema of PostgreSQL what this one is: the tables as they are declared, and what they hold."""
    declared: list[Statement] = [each for each in told if f"CREATE TABLE {VERSION_TABLE}" in each[0]]
    # What no declaration says, of those tables that are still there as they were made.
    kept = {each[0]: each for each in told if "SET STORAGE" in each[0]}
    heard = create_mock_engine(
        connection.engine.url,
        lambda made, *_, **__: declared.append((str(made.compile(dialect=heard.dialect)), ())),
    )
    metadata.create_all(heard, checkfirst=False)
    return [*declared, *kept.values(), *_rows(connection, [VERSION_TABLE, *metadata.tables], "%s")]


def _rows(connection: Connection, tables: list[str], value: str) -> list[Statement]:
    """What puts the same rows into these tables."""
    return [
        (f"INSERT INTO {table} VALUES ({', '.join([value] * len(row))})", tuple(row))
        for table in tables
        for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
    ]


@contextmanager
def _heard(connection: Connection) -> Iterator[list[Statement]]:
    """What the connection is told to change meanwhile."""
    told: list[Statement] = []

    def hear(_: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        assert not many, "a step that writes many rows at once cannot be repeated as one statement"
        if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA")):
            told.append((statement, values or ()))

    event.listen(connection, "before_cursor_execute", hear)
    try:
        yield told
    finally:
        event.remove(connection, "before_cursor_execute", hear)


REPEATING = Repeating(migrations._upgrade)
_STATEMENTS: dict[type[Backend], Statements] = {}


def statements(backend: Backend) -> Statements:
    """The statements of one kind of database, compiled for the first store there; they hold nothing of a store."""
    if type(backend) not in _STATEMENTS:
        _STATEMENTS[type(backend)] = Statements(backend)
    return _STATEMENTS[type(backend)]


class Compiled(dict[Any, Any]):
    """What the library compiled, by what was asked alone: all stores of one kind of database ask in the same words."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__(key[1:], compiled)


def compile_once(put: Callable[[Any, str, Any], None] = setattr) -> None:
    """From now on a process compiles a statement for the first of its stores alone, and its forks find it done.

    Each store would otherwise compile all that it says for itself.
    """
    put(sql, "Statements", statements)
    for backend in (sqlite_backend, postgres_backend):
        put(
            backend,
            "create_engine",
            partial(create_engine, execution_options={"compiled_cache": Compiled()}),
        )
