"""DOES the doctor see every kind of damage, and does a new index heal what is derived? Planted by raw SQL."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest
from sqlalchemy import text

from onrecord import OnRecord, connect
from onrecord.errors import StoreUnavailable
from onrecord.model.limits import STATUSES
from onrecord.store.postgres import PostgresBackend
from onrecord.store.sql import SqlStore
from onrecord.store.sqlite import SqliteBackend
from onrecord.store.tables import metadata
from onrecord.testing.archive import live_a_little
from onrecord.testing.builders import Clock, administrator, everything, holdings
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from tests.schemas import address, new_schema
from tests.soak import SOAKING

Wound = Callable[[str], None]


DATABASES = ("sqlite-file", "postgres")


def wounds(damages: Mapping[str, tuple[str, str]]) -> pytest.MarkDecorator:
    """Every damage in a file; on PostgreSQL, in a soak, every one too, and else the first of each check.

    The statements that find and heal it are the same on both; what a check asks of PostgreSQL is asked there once.
    """
    firsts = {check: name for name, (check, _) in reversed(damages.items())}
    there = damages if SOAKING else firsts.values()
    cases = [("sqlite-file", name) for name in damages] + [("postgres", name) for name in there]
    return pytest.mark.parametrize(("lived", "name"), cases, indirect=["lived"])


@pytest.fixture(scope="module")
def living(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], OnRecord]]:
    """A store with a past in each database: made once, in whatever order the tests ask for them."""
    made: dict[str, OnRecord] = {}
    with ExitStack() as closing:

        def live(database: str) -> OnRecord:
            if database not in made:
                made[database] = closing.enter_context(
                    _lived(request, database, tmp_path_factory.mktemp("doctor"))
                )
            return made[database]

        yield live


@pytest.fixture(params=DATABASES)
def lived(request: pytest.FixtureRequest, living: Callable[[str], OnRecord]) -> OnRecord:
    return living(request.param)


@contextmanager
def _lived(request: pytest.FixtureRequest, database: str, folder: Path) -> Iterator[OnRecord]:
    with _backend(request, database, folder) as backend:
        clock = Clock()
        root = OnRecord(
            SqlStore(backend), administrator(), clock=clock, embedders=StubEmbedders(StubEmbedder())
        )
        live_a_little(root, clock)
        root.embed_missing(all_tenants=True)
        assert root.doctor().healthy
        # Every row before anything is damaged, kept by the database itself.
        with backend.writing() as connection:
            for name in metadata.tables:
                connection.exec_driver_sql(f"CREATE TABLE kept_{name} AS SELECT * FROM {name}")
        yield root
        root.close()


@contextmanager
def _backend(
    request: pytest.FixtureRequest, database: str, folder: Path
) -> Iterator[SqliteBackend | PostgresBackend]:
    if database == "sqlite-file":
        yield SqliteBackend(folder / "store.db")
        return
    server = request.getfixturevalue("postgres_server")
    with psycopg.connect(server, autocommit=True) as connection, new_schema(connection) as schema:
        yield PostgresBackend(address(server, schema))


@pytest.fixture
def root(lived: OnRecord) -> Iterator[OnRecord]:
    """The store as it was, for each test: emptied of every damage and filled again."""
    yield lived
    with lived._store._backend.writing() as connection:
        for name in [table.name for table in metadata.sorted_tables]:
            connection.exec_driver_sql(f"DELETE FROM {name}")
            connection.exec_driver_sql(f"INSERT INTO {name} SELECT * FROM kept_{name}")
    if isinstance(lived._store._backend, SqliteBackend):
        # Vectors get their stamps again.
        lived._store._backend._vectors.clear()


@pytest.fixture
def wound(lived: OnRecord) -> Wound:
    """Run a statement past the store, as a careless hand or a bad disk would."""

    def run(statement: str) -> None:
        with lived._store._backend.writing() as connection:
            assert connection.execute(text(statement)).rowcount > 0, statement

    return run


_OF = "tenant = (SELECT key FROM tenants WHERE name = 'acme')"
_ROW = f'{_OF} AND "row" = (SELECT "row" FROM memories WHERE {_OF} AND id = \'5\')'

#: What is derived: the check that sees it, and the damage.
DERIVED = {
    "a posting is missing": ("index", f"DELETE FROM postings WHERE {_ROW} AND term = 'kestrel'"),
    "every posting is missing": ("index", f"DELETE FROM postings WHERE {_ROW}"),
    "a posting is heavier": ("index", f"UPDATE postings SET weight = weight + 1 WHERE {_ROW} AND term = 'kestrel'"),
    "a posting is of a longer text": ("index", f"UPDATE postings SET length = length + 1 WHERE {_ROW} AND term = 'kestrel'"),
    "a posting is for other eyes": ("index", f"UPDATE postings SET audience = 'u:eve' WHERE {_ROW} AND term = 'kestrel'"),
    "a posting is of another word": ("index", f"UPDATE postings SET term = 'falcon' WHERE {_ROW} AND term = 'kestrel'"),
    "a posting has lost its places": ("index", f"UPDATE postings SET positions = substr(positions, 1, 0) WHERE {_ROW} AND term = 'kestrel'"),
    "a posting is of no memory": ("index", f"UPDATE postings SET \"row\" = 4242 WHERE {_ROW} AND term = 'kestrel'"),
    "a facet is missing": ("index", f"DELETE FROM facets WHERE {_OF} AND facet = 'ref:thing:x'"),
    "a facet is of another tag": ("index", f"UPDATE facets SET facet = 'tag:other' WHERE {_OF} AND facet = 'tag:c'"),
    "a facet is of no memory": ("index", f"UPDATE facets SET \"row\" = 4242 WHERE {_OF} AND facet = 'tag:c'"),
    "a term is miscounted": ("statistics", f"UPDATE terms SET documents = documents + 1 WHERE {_OF} AND term = 'kestrel'"),
    "a term is missing": ("statistics", f"DELETE FROM terms WHERE {_OF} AND term = 'kestrel'"),
    "a term is of no memory": ("statistics", "INSERT INTO terms (tenant, collection, term, audience, documents) SELECT key, 1, 'stray', 't', 1 FROM tenants WHERE name = 'acme'"),
    "a term is counted for other eyes": ("statistics", f"UPDATE terms SET audience = 'u:eve' WHERE {_OF} AND term = 'kestrel' AND audience = 't'"),
    "a facet is for other eyes": ("index", f"UPDATE facets SET audience = 'u:eve' WHERE {_OF} AND facet = 'tag:c'"),
    "an audience is miscounted": ("statistics", f"UPDATE audience_counts SET documents = documents + 1 WHERE {_OF} AND audience = 't'"),
    "its words are miscounted": ("statistics", f"UPDATE audience_counts SET words = words - 1 WHERE {_OF} AND audience = 't'"),
    "its facets are miscounted": ("statistics", f"UPDATE audience_counts SET facets = facets + 1 WHERE {_OF} AND audience = 't'"),
    "an audience is missing": ("statistics", f"DELETE FROM audience_counts WHERE {_OF} AND audience = 't'"),
    "an audience is of no memory": ("statistics", f"UPDATE audience_counts SET audience = 'u:eve' WHERE {_OF} AND audience = 't'"),
    "the memories are miscounted": ("statistics", f"UPDATE counters SET documents = documents + 1 WHERE {_OF}"),
    "the words are miscounted": ("statistics", f"UPDATE counters SET words = words - 1 WHERE {_OF}"),
    "a row is for other eyes": ("row", f"UPDATE memories SET audience = 'u:eve' WHERE {_ROW}"),
    "a row has another hash": ("row", f"UPDATE memories SET content_hash = 'x' WHERE {_ROW}"),
    "the next id was given before": ("counters", f"UPDATE counters SET last_id = '4' WHERE {_OF}"),
    "the next row was given before": ("counters", f"UPDATE counters SET last_row = 1 WHERE {_OF}"),
    "the next edge was given before": ("counters", f"UPDATE counters SET last_relation = 0 WHERE {_OF}"),
    "feedback is on no memory": ("feedback", "INSERT INTO feedback (tenant, number, memory, \"user\", digest, verdict, origin, at) SELECT key, 4242, '4242', 'ann', 'x', 'useful', 'person', 0 FROM tenants WHERE name = 'acme'"),
    "the index is of another version": ("index version", "UPDATE store_facts SET value = '0' WHERE name = 'index'"),
    "the index is of no version": ("index version", "DELETE FROM store_facts WHERE name = 'index'"),
}  # fmt: skip

#: What is not derived: nothing but a backup brings it back.
LOST = {
    "a window ends before it begins": ("window", f"UPDATE memories SET status = 'archived', valid_to = valid_from - 1 WHERE {_ROW}"),
    "a live memory has an end": ("window", f"UPDATE memories SET valid_to = valid_from + 1 WHERE {_ROW}"),
    "a retired memory has no end": ("window", f"UPDATE memories SET valid_to = NULL WHERE {_OF} AND id = 'ann::kb.2'"),
    "a persona memory has no persona": ("window", f"UPDATE memories SET persona = NULL WHERE {_OF} AND id = 'ann::kb.2'"),
    "a version is missing": ("versions", f"DELETE FROM versions WHERE {_OF} AND version = 1 AND content LIKE 'kestrel 1%'"),
    "every version is missing": ("versions", f"DELETE FROM versions WHERE {_ROW}"),
    "versions do not join in time": ("versions", f"UPDATE versions SET recorded_to = recorded_to + 1 WHERE {_OF} AND version = 1 AND content LIKE 'kestrel 1%'"),
    "the last version is closed": ("versions", f"UPDATE versions SET recorded_to = recorded_at + 1 WHERE {_ROW}"),
    "a row differs from its version": ("versions", f"UPDATE memories SET title = 'changed by hand' WHERE {_ROW}"),
    "a row is of another version": ("versions", f"UPDATE memories SET version = version + 1 WHERE {_ROW}"),
    "a row was recorded at another time": ("versions", f"UPDATE memories SET recorded_at = recorded_at + 1 WHERE {_ROW}"),
    "a version is of no memory": ("orphans", f"UPDATE versions SET \"row\" = 4242 WHERE {_ROW}"),
    "an edge leads nowhere": ("orphans", f"UPDATE relations SET target = 4242 WHERE {_OF} AND id = 1"),
    "an edge comes from nowhere": ("orphans", f"UPDATE relations SET source = 4242 WHERE {_OF} AND id = 1"),
    "a memory is of no tenant": ("orphans", f"UPDATE memories SET tenant = 4242 WHERE {_ROW}"),
    "a version is of no tenant": ("orphans", f"UPDATE versions SET tenant = 4242 WHERE {_ROW}"),
    "an edge is of no tenant": ("orphans", f"UPDATE relations SET tenant = 4242 WHERE {_OF} AND id = 1"),
    "a vector is of no tenant": ("orphans", f"UPDATE vectors SET tenant = 4242 WHERE {_ROW}"),
    "a job is of no tenant": ("orphans", "INSERT INTO jobs (tenant, collection, name, subject, attempts, due_at) VALUES (4242, 1, 'embed', 0, 0, 0)"),
    "a term is of no tenant": ("orphans", f"UPDATE terms SET tenant = 4242 WHERE {_OF} AND term = 'kestrel'"),
}  # fmt: skip


_CUT = "UPDATE vectors SET vector = {} WHERE " + _ROW
#: Vectors that do not fit: they are dropped, and can be made again. Where the databases differ, each has its own damage.
WRONG_VECTORS = {
    "of another text": f"UPDATE vectors SET text_hash = 'x' WHERE {_ROW}",
    "belong to no memory": f'UPDATE vectors SET "row" = 4242 WHERE {_ROW}',
    "not numbered 0": f"UPDATE vectors SET passage = passage + 1 WHERE {_ROW}",
    "belong to no model": f"UPDATE vectors SET model = 4242 WHERE {_ROW}",
    "dimensions, not 32": {
        "sqlite": _CUT.format("substr(vector, 1, 9)"),
        "postgresql": _CUT.format("'[1,0]'"),
    },
    "a length of": {"sqlite": _CUT.format("zeroblob(128)"), "postgresql": _CUT.format("vector + vector")},
}

#: Where vectors are right and what is said of them is not.
MISCOUNTS = {
    "vectors are visible to other users": (
        "vectors and vector counts",
        f"UPDATE vectors SET audience = 'u:eve' WHERE {_ROW}",
    ),
    "too many are counted": ("vector counts", f"UPDATE embedded SET memories = memories + 1 WHERE {_OF}"),
    "a change goes unseen": ("vector counts", f"UPDATE embedded SET stamp = 0 WHERE {_OF}"),
    "passages are miscounted": ("vector counts", f"UPDATE embedded SET passages = passages - 1 WHERE {_OF}"),
    "the sum is another": (
        "vector counts",
        f"UPDATE embedded SET total = substr(total, 1, 8) WHERE {_OF}",
    ),
    "too many are counted for some eyes": (
        "vector counts",
        f"UPDATE audience_vectors SET memories = memories + 1 WHERE {_OF} AND audience = 't'",
    ),
    "the sum for some eyes is another": (
        "vector counts",
        f"UPDATE audience_vectors SET total = substr(total, 1, 8) WHERE {_OF} AND audience = 't'",
    ),
    "they are not counted for some eyes": (
        "vector counts",
        f"DELETE FROM audience_vectors WHERE {_OF} AND audience = 't'",
    ),
    "a job is about nothing": (
        "jobs",
        "INSERT INTO jobs (tenant, collection, name, subject, attempts, due_at) "
        "SELECT key, 1, 'embed', 4242, 0, 0 FROM tenants WHERE name = 'acme'",
    ),
}


@pytest.mark.parametrize("name", WRONG_VECTORS)
def test_vectors_that_do_not_fit_are_found_dropped_and_made_again(
    root: OnRecord, wound: Wound, name: str
) -> None:
    damage = WRONG_VECTORS[name]
    if isinstance(damage, dict):
        with root._store._backend.reading() as connection:
            dialect = connection.dialect.name
        damage = damage[dialect]
    hits = root.recall("kestrel revised heir", recipe="semantic", limit=50).hits
    wound(damage)
    found = [problem for problem in root.doctor().problems if problem.check == "vectors"]
    assert any(name.split(", not")[0] in problem.detail for problem in found), found
    assert {problem.cure for problem in found} == {"run `onrecord reindex`, then `onrecord embed-missing`"}
    root.reindex()
    assert root.doctor().problems == ()
    assert "semantic: 1 of" in root.recall("kestrel").degraded[0]
    assert root.embed_missing().embedded == 1
    assert root.doctor().problems == ()
    assert root.recall("kestrel revised heir", recipe="semantic", limit=50).hits == hits


@wounds(MISCOUNTS)
def test_what_is_said_of_vectors_is_healed_and_none_is_made_again(
    root: OnRecord, wound: Wound, name: str
) -> None:
    check, damage = MISCOUNTS[name]
    hits = root.recall("kestrel revised heir", recipe="semantic", limit=50).hits
    wound(damage)
    found = root.doctor().problems
    assert {problem.check for problem in found} == set(check.split(" and "))
    assert {problem.cure for problem in found} == {"run `onrecord reindex`"}
    root.reindex()
    assert root.doctor().problems == ()
    assert root.embed_missing().embedded == 0
    assert root.recall("kestrel revised heir", recipe="semantic", limit=50).hits == hits


@pytest.mark.parametrize("damaged", [b"\0\0", np.full(32, np.nan, np.float32).tobytes()])
def test_a_search_that_meets_a_damaged_vector_says_what_to_do(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "damaged.db"
    with connect(path, embedder=StubEmbedder()) as door:
        door.remember("kestrel")
        gone = door.remember("owl").memory.id
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vectors SET vector = ?", [damaged])
    with connect(path, embedder=StubEmbedder()) as door:
        assert door.forget(gone).id == gone
        with pytest.raises(StoreUnavailable, match=r"onrecord doctor.*onrecord reindex.*embed-missing"):
            door.recall("kestrel")
        assert {problem.check for problem in door.doctor().problems} >= {"vectors"}
        door.reindex()
        assert door.embed_missing().embedded == 1
        assert [hit.memory.content for hit in door.recall("kestrel", recipe="semantic").hits] == ["kestrel"]


@wounds(DERIVED)
def test_what_is_derived_is_found_damaged_and_healed(root: OnRecord, wound: Wound, name: str) -> None:
    check, damage = DERIVED[name]
    before, hits = holdings(root._store), root.recall("kestrel revised heir").hits
    listed = root.browse(statuses=list(STATUSES)).memories
    wound(damage)
    found = root.doctor()
    assert not found.healthy
    assert check in {problem.check for problem in found.problems}
    assert all(problem.cure == "run `onrecord reindex`" for problem in found.problems)
    root.reindex()
    assert root.doctor().problems == ()
    assert holdings(root._store) == before
    assert root.recall("kestrel revised heir").hits == hits
    assert root.browse(statuses=list(STATUSES)).memories == listed
    added = root.remember("the next one").memory.id
    assert int(added) >= 92
    assert root.relate(added, "supports", "ann::1").created


@wounds(LOST)
def test_what_is_lost_is_found_and_a_new_index_does_not_pretend_to_heal_it(
    root: OnRecord, wound: Wound, name: str
) -> None:
    check, damage = LOST[name]
    wound(damage)
    found = [problem for problem in root.doctor().problems if problem.check == check]
    assert found
    assert all("restore" in problem.cure for problem in found)
    root.reindex()
    assert check in {problem.check for problem in root.doctor().problems}


def test_a_problem_says_where_it_is(root: OnRecord, wound: Wound) -> None:
    wound(f"DELETE FROM postings WHERE {_ROW}")
    (problem,) = root.doctor().problems
    assert problem.where == "acme/5"
    assert "postings" in problem.detail


def test_only_the_damaged_tenant_is_named(root: OnRecord, wound: Wound) -> None:
    root.as_caller(administrator("eve", tenant="beta")).remember("healthy")
    wound(f"UPDATE counters SET words = words + 1 WHERE {_OF}")
    assert {problem.where.split("/")[0] for problem in root.doctor().problems} == {"acme"}


def test_looking_changes_nothing(root: OnRecord, wound: Wound) -> None:
    wound(f"DELETE FROM postings WHERE {_ROW}")
    before = everything(root._store)
    assert root.doctor() == root.doctor()
    assert everything(root._store) == before
