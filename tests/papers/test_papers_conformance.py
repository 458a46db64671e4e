"""DO all stores keep what lies beside memories alike? The whole suite in memory, in a file, on PostgreSQL and in YAML."""

import os
import uuid
from collections.abc import Iterator

import psycopg
import pytest

from recollect.store.postgres import PostgresBackend
from recollect.store.sql import SqlStore
from recollect.store.sqlite import SqliteBackend
from recollect.store.tables import metadata, store_facts
from recollect.store.yaml import MEMORIES, YamlBackend
from recollect.testing.papers import EveryPaperConformance


class Emptied:
    """One store for all tests of a class, emptied after each."""

    @pytest.fixture
    def store(self, shared: SqlStore) -> Iterator[SqlStore]:
        yield shared
        with shared._backend.writing() as connection:
            for table in metadata.tables.values():
                if table is not store_facts:
                    connection.execute(table.delete())


class TestSqliteMemory(Emptied, EveryPaperConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls) -> Iterator[SqlStore]:
        store = SqlStore(SqliteBackend(None))
        yield store
        store.close()


class TestSqliteFile(Emptied, EveryPaperConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
        store = SqlStore(SqliteBackend(tmp_path_factory.mktemp("papers") / "store.db"))
        yield store
        store.close()


class TestPostgres(Emptied, EveryPaperConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, postgres_server: str) -> Iterator[SqlStore]:
        schema = f"papers_{uuid.uuid4().hex}"
        separator = "&" if "?" in postgres_server else "?"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"')
            store = SqlStore(
                PostgresBackend(f"{postgres_server}{separator}options=-csearch_path%3D{schema}%2Cpublic")
            )
            yield store
            store.close()
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE')


class TestYaml(Emptied, EveryPaperConformance):
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _no_waiting_for_the_disk(cls) -> Iterator[None]:
        """Nothing here asks what a loss of power leaves."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", lambda file: None)
            yield

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
        store = SqlStore(YamlBackend(tmp_path_factory.mktemp("papers") / MEMORIES))
        yield store
        store.close()
