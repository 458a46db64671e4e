"""DOES every statement name one tenant? Each that the server is told while every operation is done, and some bad ones.

The suites of every store are looked at in the same way when they run on PostgreSQL.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from onrecord import OnRecord
from onrecord.app import local_caller
from onrecord.config import load
from onrecord.model.limits import PERMISSIONS
from onrecord.store.postgres import PostgresBackend, vectors
from onrecord.store.sql import SqlStore
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from tests.one_tenant import EXEMPT, Recording, check
from tests.surfaces.test_mcp_faces import write_model
from tests.surfaces.test_parity import PROPOSALS, STORY, through_python, told


@pytest.fixture
def recording() -> Recording:
    return Recording()


@pytest.fixture
def door(postgres_store: str, recording: Recording) -> Iterator[OnRecord]:
    backend = PostgresBackend(postgres_store)
    store = SqlStore(backend)
    with recording.of(backend._writer):
        yield OnRecord(store, local_caller(load()), embedders=StubEmbedders(StubEmbedder()))
    store.close()


def test_every_operation_names_one_tenant_in_each_statement(
    door: OnRecord, recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MANY", 0)
    write_model(tmp_path / "layer", "mydb", "orders", "id", "amount", "status")
    write_model(tmp_path / "layer", "other", "users", "id", "name")
    robot = door.as_caller(replace(door.caller, actor="unattended", run="night", operator=False))
    for id, content in PROPOSALS.items():
        robot.remember(content, id=id)
    (tmp_path / "own").mkdir()
    outcomes = told(lambda key: partial(through_python, door), STORY, tmp_path / "own")
    done = {name for (name, _), each in zip(STORY, outcomes, strict=True) if each.error is None}
    assert {name for name, _ in STORY} - done == set()
    beyond_the_story(door)
    assert door._store.rows_of("nobody") == {}

    assert recording.faults() == []
    assert recording.exemptions() == set(EXEMPT), "one is listed that nothing needs, or is told otherwise"


def beyond_the_story(door: OnRecord) -> None:
    """What the story of the surfaces does not come to: the global tenant, the past, workers, indexes of vectors."""
    everyone = door.remember("Everyone knows of refunds.", scope="global").memory.id
    mine = door.remember("Refunds are mine.", entities=[f"memory:{everyone}"], tags=["net"]).memory.id
    door.revise(mine, content="Refunds are ours.", expected_version=1)
    made = door.create_key(label="one", permissions=sorted(PERMISSIONS), saves_per_day=5).key
    keyed = door.as_caller(replace(door.caller, key=made.id, run="day"))
    keyed.remember("Refunds are counted by key.")
    door.worker.begin()
    while door.worker.run_once() is not None:
        pass
    door.embed_missing()
    door.embed_missing()
    door.recall("refunds", explain=True)
    door.recall("refunds", known_at="2100-01-01")
    door.recall("refunds", as_of="2020-01-01")
    door.browse(tags=["net"], known_at="2100-01-01")
    door.forget(everyone)


GOOD = (
    "SELECT memories.id FROM memories WHERE memories.tenant = %(in_tenant)s::INTEGER AND memories.row = 1",
    "SELECT v.id FROM memories AS m JOIN versions AS v ON m.tenant = v.tenant AND m.row = v.row WHERE m.tenant = 3",
    "SELECT 1 FROM facets WHERE facets.tenant = %(a)s AND EXISTS (SELECT * FROM memories WHERE memories.tenant = facets.tenant)",
    "INSERT INTO terms (tenant, term) VALUES (%s, %s) ON CONFLICT (tenant, term) DO UPDATE SET documents = 2",
    "SELECT tenants.key FROM tenants WHERE tenants.name = %(name)s FOR UPDATE",
)
BAD = {
    "SELECT memories.id FROM memories WHERE memories.row = %(row)s": "memories is of no tenant",
    "SELECT memories.id FROM memories WHERE memories.tenant = %(a)s OR memories.row = 1": "memories is of no tenant",
    "SELECT memories.id FROM memories WHERE memories.tenant IN (1, 2)": "memories is of no tenant",
    "SELECT memories.id FROM memories WHERE memories.tenant IS NULL": "memories is of no tenant",
    "SELECT m.id FROM memories AS m JOIN versions AS v ON m.row = v.row WHERE m.tenant = %(a)s": "v is of no tenant",
    "SELECT 1 FROM facets WHERE facets.tenant = %(a)s AND EXISTS (SELECT * FROM memories WHERE memories.row = facets.row)": "memories is of no tenant",
    "SELECT 1 FROM (SELECT jobs.name FROM jobs LIMIT 1) AS some": "jobs is of no tenant",
    "SELECT id FROM memories WHERE tenant = 1 UNION ALL SELECT id FROM memories": "memories is of no tenant",
    "SELECT 1 FROM memories, facets WHERE memories.tenant = 1 AND facets.tenant = 2": "names several tenants",
    "SELECT memories.id FROM memories JOIN tenants ON tenants.key = memories.tenant WHERE memories.tenant = 1": "mixes tenants with what is spread",
    "SELECT id FROM memories WHERE tenant = 1 AND (SELECT version_num FROM onrecord_version) = '1'": "mixes onrecord_version with what is spread",
    "DELETE FROM jobs WHERE jobs.due_at < %(now)s": "jobs is of no tenant",
    "DELETE FROM jobs": "jobs is of no tenant",
    "UPDATE jobs SET attempts = 0 WHERE jobs.name = %(name)s": "jobs is of no tenant",
    "UPDATE memories SET tenant = 2 WHERE memories.tenant = 1": "sets the tenant",
    "INSERT INTO terms (tenant, term) VALUES (1, 'a') ON CONFLICT (tenant, term) DO UPDATE SET tenant = 2": "sets the tenant",
    "INSERT INTO terms (term) VALUES (%s)": "inserts without a tenant",
    "INSERT INTO terms VALUES (%s)": "inserts without a tenant",
    "INSERT INTO audit (tenant, number) VALUES (1, (SELECT max(number) FROM audit WHERE audit.tenant = 1))": "has a query among the values",
    "INSERT INTO versions (tenant, row) SELECT memories.tenant, memories.row FROM memories": "memories is of no tenant",
    "INSERT INTO versions (tenant, row) SELECT 2, memories.row FROM memories WHERE memories.tenant = 1": "inserts for another tenant than it reads",
    "SELECT jobs.name FROM jobs FOR UPDATE SKIP LOCKED": "jobs is of no tenant",
    "SELECT counters.tenant, counters.collection FROM counters FOR UPDATE": "counters is of no tenant",
    "TRUNCATE memories": "is no statement over rows",
}


@pytest.mark.parametrize("sql", GOOD)
def test_what_names_one_tenant_is_let_pass(sql: str) -> None:
    assert check(sql).faults == []


@pytest.mark.parametrize(("sql", "fault"), BAD.items())
def test_what_names_none_or_several_is_found(sql: str, fault: str) -> None:
    assert fault in check(sql).faults


def test_two_names_for_one_tenant_are_told_by_their_values() -> None:
    sql = "SELECT 1 FROM memories, facets WHERE memories.tenant = %(a)s AND facets.tenant = %(b)s"
    assert check(sql, {"a": 1, "b": 1}).faults == []
    assert check(sql, {"a": 1, "b": 2}).faults == ["names several tenants"]


def test_a_save_that_writes_what_all_servers_have_is_found(door: OnRecord, recording: Recording) -> None:
    door.remember("The first save registers the tenant, in a transaction of its own.")
    assert recording.faults() == []
    with door._store._backend.writing() as connection:  # type: ignore[attr-defined]
        connection.exec_driver_sql("UPDATE memories SET title = 'x' WHERE memories.tenant = 1")
        connection.exec_driver_sql("UPDATE tenants SET name = 'x' WHERE tenants.key = 1")
    assert recording.faults() == ["a save writes UPDATE tenants"]
