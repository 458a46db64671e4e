"""WHERE in PostgreSQL does a test keep its store? In a schema that is made once, and emptied after each test.

To make the tables and to drop them again costs the server more than what most tests do with them.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from onrecord.store.postgres import PostgresBackend
from onrecord.store.sql import SqlStore

#: What a schema holds, and who may do what with it; whatever a test has changed of that goes with its schema.
_SHAPE: Final = """
SELECT array_agg(part::text ORDER BY part::text) FROM (
    SELECT (relname, relkind, relnatts, relchecks, relhastriggers, relacl, reloptions, relrowsecurity)::text AS part
    FROM pg_class WHERE relnamespace = %(schema)s::regnamespace
    UNION ALL SELECT (proname, proacl)::text FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace
    UNION ALL SELECT (nspname, nspacl)::text FROM pg_namespace WHERE oid = %(schema)s::regnamespace
    UNION ALL SELECT version_num FROM {schema}.onrecord_version
) AS parts
"""
_WRITTEN: Final = """
SELECT relname FROM pg_class
WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
    AND relname NOT IN ('onrecord_version', 'store_facts')
"""


def address(server: str, schema: str) -> str:
    """The server's address, for whoever works in this schema."""
    return f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{schema}%2Cpublic"


def _drop(connection: psycopg.Connection, schema: str) -> None:
    """A server that a test leaves behind may still be reading: of two that wait for each other the database ends one."""
    for last in (False,) * 9 + (True,):
        try:
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
            return
        except psycopg.errors.DeadlockDetected:
            if last:
                raise


@contextmanager
def new_schema(connection: psycopg.Connection) -> Iterator[str]:
    """An empty schema, gone afterwards."""
    schema = f"test_{uuid.uuid4().hex}"
    connection.execute(f'CREATE SCHEMA "{schema}"')
    yield schema
    _drop(connection, schema)


class Schemas:
    """Lends schemas that hold an empty store."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._connection = psycopg.connect(server, autocommit=True)
        self._free: list[str] = []
        self._shape: list[str] = []
        self._facts: list[tuple[str, str]] = []

    @contextmanager
    def lent(self) -> Iterator[str]:
        """The address of an empty store."""
        schema = self._free.pop() if self._free else self._made()
        yield address(self._server, schema)
        if self._seen(schema) == self._shape:
            self._empty(schema)
            self._free.append(schema)
        else:
            self._connection.execute(f'DROP SCHEMA "{schema}" CASCADE')

    def close(self) -> None:
        for schema in self._free:
            self._connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
        self._connection.close()

    def _made(self) -> str:
        schema = f"lent_{uuid.uuid4().hex}"
        self._connection.execute(f'CREATE SCHEMA "{schema}"')
        SqlStore(PostgresBackend(address(self._server, schema))).close()
        self._shape = self._seen(schema)
        self._facts = self._facts_of(schema)
        return schema

    def _seen(self, schema: str) -> list[str]:
        """The shape of a schema; of one that a test has taken apart there is none."""
        try:
            seen = self._connection.execute(_SHAPE.format(schema=schema), {"schema": schema}).fetchone()
        except psycopg.errors.UndefinedTable:
            return []
        assert seen is not None
        return [part.replace(schema, "") for part in seen[0]]

    def _empty(self, schema: str) -> None:
        """As it was, also in what the server believes of how much is there."""
        written = [name for (name,) in self._connection.execute(_WRITTEN, {"schema": schema})]
        if written:
            names = ", ".join(f"{schema}.{name}" for name in written)
            self._connection.execute(f"TRUNCATE {names} RESTART IDENTITY")
        if self._facts_of(schema) != self._facts:
            self._connection.execute(f"DELETE FROM {schema}.store_facts")
            with self._connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {schema}.store_facts VALUES (%s, %s)", self._facts)

    def _facts_of(self, schema: str) -> list[tuple[str, str]]:
        return self._connection.execute(
            f"SELECT name, value FROM {schema}.store_facts ORDER BY name"
        ).fetchall()
