"""DO all three databases do what every store must? The whole suite on a SQLite file, in memory and on PostgreSQL."""

import uuid
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from recollect.store.postgres import PostgresBackend
from recollect.store.sql import SqlStore
from recollect.store.sqlite import SqliteBackend
from recollect.store.tables import metadata, store_facts
from recollect.testing.store import StoreConformance


class Emptied:
    """One store for all tests of a class, emptied after each: a new one would cost more than most tests."""

    @pytest.fixture
    def store(self, shared: SqlStore) -> Iterator[SqlStore]:
        yield shared
        with shared._backend.writing() as connection:
            for table in metadata.tables.values():
                if table is not store_facts:
                    connection.execute(table.delete())
        # The next test's tenants have the same keys, and their vectors the same stamps.
        if isinstance(shared._backend, SqliteBackend):
            shared._backend._vectors.clear()


class TestSqliteMemory(Emptied, StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls) -> Iterator[SqlStore]:
        store = SqlStore(SqliteBackend(None))
        yield store
        store.close()


class TestSqliteFile(Emptied, StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
        store = SqlStore(SqliteBackend(tmp_path_factory.mktemp("conformance") / "store.db"))
        yield store
        store.close()


class TestPostgres(Emptied, StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, postgres_server: str) -> Iterator[SqlStore]:
        schema = f"conformance_{uuid.uuid4().hex}"
        separator = "&" if "?" in postgres_server else "?"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"')
            store = SqlStore(
                PostgresBackend(f"{postgres_server}{separator}options=-csearch_path%3D{schema}%2Cpublic")
            )
            yield store
            store.close()
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE')


def test_no_two_suites_share_the_name_of_a_test_or_a_fixture() -> None:
    """Else inheriting both would silently drop one."""
    names = Counter(
        name for suite in StoreConformance.__bases__ for name in vars(suite) if not name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
    assert sum(name.startswith("test_") for name in names) > 150
