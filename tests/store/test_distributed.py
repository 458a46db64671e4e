"""DOES a store on many servers do what every store must? The whole suite, where a cluster is at hand."""

from collections.abc import Iterator

import pytest

from onrecord import connect
from onrecord.store.postgres import PostgresBackend
from onrecord.store.postgres.distributing import BY_TENANT, EVERYWHERE
from onrecord.store.sql import SqlStore
from onrecord.store.tables import VERSION_TABLE
from onrecord.testing.store import StoreConformance
from tests.distributed import CLUSTER, NO_CLUSTER, distributed_store
from tests.stores import Emptied

if CLUSTER is None:
    # Said once, and not for each of its hundreds of tests.
    pytest.skip(NO_CLUSTER, allow_module_level=True)


class OnManyServers(Emptied):
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls) -> Iterator[SqlStore]:
        with distributed_store() as dsn:
            store = SqlStore(PostgresBackend(dsn))
            yield store
            store.close()


class TestOnManyServers(OnManyServers, StoreConformance):
    """On a cluster; the global memories lie where their own tenant lies."""


def test_every_table_is_spread_by_tenant_or_lies_on_every_server() -> None:
    with distributed_store() as dsn:
        backend = PostgresBackend(dsn)
        with backend.reading() as connection:
            told = connection.exec_driver_sql(
                "SELECT relname, partmethod, repmodel, colocationid FROM pg_dist_partition "
                "JOIN pg_class ON pg_class.oid = logicalrelid WHERE relnamespace = current_schema()::regnamespace"
            ).all()
        backend.close()
    assert {name for name, method, _, _ in told if method == "h"} == set(BY_TENANT)
    assert {name for name, _, model, _ in told if model == "t"} == {*EVERYWHERE, VERSION_TABLE}
    assert len({group for _, method, _, group in told if method == "h"}) == 1, "a tenant lies in one place"


def test_a_store_that_is_spread_already_is_left_as_it_is() -> None:
    with distributed_store() as dsn, connect(dsn) as door:
        door.remember("Everyone knows.", scope="global")
        door.remember("Ann knows.")
        store = SqlStore(PostgresBackend(dsn))
        assert store.distribute() == []
        store.close()
        assert {hit.memory.content for hit in door.recall("who knows").hits} == {
            "Everyone knows.",
            "Ann knows.",
        }
        assert door.doctor().problems == ()
