"""ON which stores do the suites run? A class for each, to inherit beside a suite: one store for all of its tests."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from recollect.store.postgres import PostgresBackend
from recollect.store.sql import SqlStore
from recollect.store.sqlite import SqliteBackend
from recollect.store.tables import metadata, store_facts


def empty(store: SqlStore) -> None:
    """As it was when it was made, at a fraction of the cost of another."""
    with store._backend.writing() as connection:
        for table in metadata.tables.values():
            if table is not store_facts:
                connection.execute(table.delete())
    # The next test's tenants have the same keys, and their vectors the same stamps.
    if isinstance(store._backend, SqliteBackend):
        store._backend._vectors.clear()


class Emptied:
    """One store for all tests of a class, emptied after each."""

    @pytest.fixture
    def store(self, shared: SqlStore) -> Iterator[SqlStore]:
        yield shared
        empty(shared)


class InMemory(Emptied):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls) -> Iterator[SqlStore]:
        store = SqlStore(SqliteBackend(None))
        yield store
        store.close()


class InAFile(Emptied):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
        store = SqlStore(SqliteBackend(tmp_path_factory.mktemp("suite") / "store.db"))
        yield store
        store.close()


class OnPostgres(Emptied):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, postgres_server: str) -> Iterator[SqlStore]:
        schema = f"suite_{uuid.uuid4().hex}"
        separator = "&" if "?" in postgres_server else "?"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"')
            store = SqlStore(
                PostgresBackend(f"{postgres_server}{separator}options=-csearch_path%3D{schema}%2Cpublic")
            )
            yield store
            store.close()
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
