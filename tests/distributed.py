"""WHERE is a cluster to try against? ONRECORD_TEST_DISTRIBUTED names a database on one, with the extensions citus and vector."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from onrecord.store.postgres import PostgresBackend
from onrecord.store.sql import SqlStore
from tests.schemas import address, new_schema

CLUSTER: Final = os.environ.get("ONRECORD_TEST_DISTRIBUTED")
NO_CLUSTER: Final = (
    "ONRECORD_TEST_DISTRIBUTED names no PostgreSQL cluster with the extensions citus and vector"
)


@contextmanager
def distributed_store() -> Iterator[str]:
    """The address of an empty store that is spread over the servers of the cluster, gone afterwards."""
    assert CLUSTER is not None
    with psycopg.connect(CLUSTER, autocommit=True) as connection, new_schema(connection) as schema:
        dsn = address(CLUSTER, schema)
        store = SqlStore(PostgresBackend(dsn))
        store.distribute()
        store.close()
        yield dsn
