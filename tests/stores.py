"""ON which stores do the suites run? A class for each, to inherit beside a suite: one store for all of its tests."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import Select, Table, select

from onrecord.store.postgres import PostgresBackend
from onrecord.store.sql import SqlStore
from onrecord.store.sqlite import SqliteBackend
from onrecord.store.tables import audit, metadata, store_facts, tenants
from tests.one_tenant import UNRECORDED, Recording
from tests.schemas import address, new_schema

_ONE_BY_ONE = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"


def empty(store: SqlStore) -> None:
    """As it was when it was made, at a fraction of the cost of another."""
    deletions = [f"DELETE FROM {name}" for name in metadata.tables if name != store_facts.name]
    deletions.append(f"DELETE FROM {store_facts.name} WHERE name = 'watched'")
    with store._backend.writing() as connection:
        connection.execution_options(**{UNRECORDED: True})
        if connection.dialect.name == "postgresql":
            # Where tables are spread over servers, some of these may not follow the others on several connections.
            deletions = ["; ".join([_ONE_BY_ONE, *deletions])]
        for deletion in deletions:
            connection.exec_driver_sql(deletion)
    # The next test's tenants have the same keys, and their vectors the same stamps.
    if isinstance(store._backend, SqliteBackend):
        store._backend._vectors.clear()


def every_row(store: SqlStore) -> dict[str, list[str]]:
    with store._backend.reading() as connection:
        connection.execution_options(**{UNRECORDED: True})
        return {
            name: sorted(map(repr, connection.execute(_rows(table))))
            for name, table in metadata.tables.items()
            # A tenant gets its number before it saves, in a transaction of its own; a name alone holds nothing.
            if table is not tenants
        }


def _rows(table: Table) -> Select[Any]:
    return select(table).where(table.c.outcome != "refused") if table is audit else select(table)


class Emptied:
    """One store for all tests of a class, emptied after each."""

    @pytest.fixture
    def store(self, shared: SqlStore) -> Iterator[SqlStore]:
        yield shared
        empty(shared)

    @pytest.fixture
    def contents(self, store: SqlStore) -> Callable[[], Any]:
        """Every row of every table but the audit of refusals, for comparing before and after."""
        return lambda: every_row(store)


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
    """Whatever its tests have the database told must name one tenant: that is looked at when they are done."""

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, postgres_server: str) -> Iterator[SqlStore]:
        with (
            psycopg.connect(postgres_server, autocommit=True) as connection,
            new_schema(connection) as schema,
        ):
            backend = PostgresBackend(address(postgres_server, schema))
            store, recording = SqlStore(backend), Recording()
            with recording.of(backend._writer):
                yield store
            store.close()
        faults = recording.faults()
        assert not faults, "\n".join(faults)
