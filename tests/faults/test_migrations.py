"""Do the tables come to be once, whoever opens first, and are they what the code believes they are?"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from onrecord import OnRecord, connect
from onrecord.errors import Forbidden, NotFound, StoreUnavailable
from onrecord.model.caller import Caller
from onrecord.model.limits import PERMISSIONS
from onrecord.store import migrations
from onrecord.store.postgres import vectors
from onrecord.store.tables import metadata
from onrecord.testing.embedder import StubEmbedder
from tests.new_stores import REPEATING, Repeating

from ..former_name.conftest import former, former_postgres, former_sqlite

__all__ = ["former", "former_postgres", "former_sqlite"]

#: Tables of the whole store, which belong to no tenant.
OF_THE_STORE = {"tenants", "store_facts", "onrecord_version"}
#: What a worker looks for among all tenants, and what is asked before anyone is known.
ACROSS_TENANTS = {
    ("jobs", "jobs_due"): "due_at",
    ("api_keys", "api_keys_key"): "hash",
    ("sign_ins", "sign_ins_key"): "hash",
}


@pytest.fixture
def by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new store is made by the steps themselves, as an older one always is."""
    monkeypatch.setattr(migrations, "_upgrade", REPEATING.upgrade)


@pytest.fixture
def postgres_store(postgres_dsn: str) -> str:
    """A schema without tables: how they come to be is the question here."""
    return postgres_dsn


@pytest.fixture
def engine(shared_db: str) -> Iterator[sa.Engine]:
    """A way into the database past our own code."""
    url = shared_db.replace("postgresql:", "postgresql+psycopg:")
    made = sa.create_engine(url if url != shared_db else f"sqlite:///{shared_db}")
    yield made
    made.dispose()


@pytest.mark.parametrize("processes", [2, 8])
def test_processes_that_open_a_new_store_at_once_all_find_one_schema(
    processes: int, crew: Any, shared_db: str
) -> None:
    hands = [crew.start("open_it", db=shared_db) for _ in range(processes)]
    for hand in hands:
        hand.hear()
    for hand in hands:
        hand.go()
    told = [line["id"] for hand in hands for line in hand.rest()]
    assert sorted(told, key=int) == [str(number) for number in range(1, processes + 1)]
    with connect(shared_db) as door:
        examined = door.doctor()
        assert (examined.problems, examined.memories) == ((), processes)


@pytest.mark.usefixtures("by_steps")
def test_the_tables_equal_the_sum_of_migrations(shared_db: str, engine: sa.Engine) -> None:
    connect(shared_db).close()
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "version_table": migrations.VERSION_TABLE,
            },
        )
        assert compare_metadata(context, metadata) == []


@pytest.mark.usefixtures("by_steps")
def test_keys_indexes_and_storage_are_those_that_the_tables_declare(
    shared_db: str, engine: sa.Engine
) -> None:
    connect(shared_db).close()
    with engine.begin() as connection:
        migrated = structure(connection)
        tables = sa.MetaData()
        tables.reflect(connection)
        tables.drop_all(connection)
        metadata.create_all(connection)
        declared = structure(connection)
    assert migrated.pop("onrecord_version")
    assert migrated == declared


@pytest.mark.usefixtures("by_steps")
def test_a_store_that_the_tests_make_quickly_is_made_like_any_other(
    shared_db: str, engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(shared_db).close()
    with engine.begin() as connection:
        by_steps = content(connection)
    quickly = Repeating(REPEATING.upgrade)
    monkeypatch.setattr(migrations, "_upgrade", quickly)
    for _ in ("by steps, heard", "as heard"):
        with engine.begin() as connection:
            tables = sa.MetaData()
            tables.reflect(connection)
            tables.drop_all(connection)
        connect(shared_db).close()
        # From here on, nothing but what was heard.
        monkeypatch.setattr(quickly, "upgrade", None)
    with engine.begin() as connection:
        assert content(connection) == by_steps


#: How PostgreSQL keeps a table and its columns, which no declaration says.
_KEPT = """
SELECT relname, relkind, relpersistence, reloptions, attname, attstorage, attcompression
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = CAST(current_schema() AS regnamespace) AND attnum > 0 AND NOT attisdropped ORDER BY 1, 5
"""


def content(connection: sa.Connection) -> tuple[dict[str, Any], list[Any]]:
    """How the tables are made and kept, and what a new store holds."""
    asked = [f"SELECT * FROM {name} ORDER BY 1" for name in ("store_facts", "onrecord_version")]
    asked += [_KEPT] if connection.dialect.name == "postgresql" else []
    return structure(connection), [list(connection.execute(sa.text(each))) for each in asked]


def structure(connection: sa.Connection) -> dict[str, Any]:
    """Columns, keys, indexes and how a table is kept, asked of the database's own catalog."""
    names = sa.inspect(connection).get_table_names()
    read = sqlite_structure if connection.dialect.name == "sqlite" else postgres_structure
    return {name: read(connection, name) for name in names}


def sqlite_structure(connection: sa.Connection, table: str) -> dict[str, Any]:
    def rows(statement: str, **given: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in connection.execute(sa.text(statement), given)]

    indexes = rows(
        'SELECT name, "unique", origin, partial FROM pragma_index_list(:table) ORDER BY name', table=table
    )
    return {
        "columns": rows(
            'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(:table)', table=table
        ),
        "indexes": indexes,
        "index columns": {
            name: rows(
                'SELECT seqno, name, "desc", coll, key FROM pragma_index_xinfo(:index)', index=str(name)
            )
            for name, *_ in indexes
        },
        "partial": rows(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = :table AND type = 'index' ORDER BY name",
            table=table,
        ),
        "without rowid": rows("SELECT wr FROM pragma_table_list(:table)", table=table),
    }


def postgres_structure(connection: sa.Connection, table: str) -> dict[str, Any]:
    def rows(statement: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in connection.execute(sa.text(statement), {"table": table})]

    return {
        "columns": rows(
            "SELECT attname, format_type(atttypid, atttypmod), attnotnull, attidentity, "
            "pg_get_expr(adbin, adrelid) FROM pg_attribute LEFT JOIN pg_attrdef ON attrelid = adrelid "
            "AND attnum = adnum WHERE attrelid = CAST(:table AS regclass) AND attnum > 0 AND NOT attisdropped "
            "ORDER BY attnum"
        ),
        "constraints": rows(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE conrelid = CAST(:table AS regclass) ORDER BY conname"
        ),
        "indexes": rows(
            "SELECT indexname, indexdef FROM pg_indexes "
            "WHERE schemaname = current_schema() AND tablename = :table ORDER BY indexname"
        ),
    }


def test_the_tenant_leads_every_key_and_index_in_postgres(postgres_dsn: str) -> None:
    connect(postgres_dsn).close()
    with psycopg.connect(postgres_dsn) as connection:
        found = connection.execute(
            """
            SELECT tables.relname, indexes.relname, attname
            FROM pg_index
            JOIN pg_class AS tables ON tables.oid = indrelid
            JOIN pg_class AS indexes ON indexes.oid = indexrelid
            JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
            WHERE tables.relnamespace = CAST(current_schema() AS regnamespace)
            """
        ).fetchall()
    leading = {(table, index): column for table, index, column in found if table not in OF_THE_STORE}
    assert {table for table, _ in leading} == metadata.tables.keys() - OF_THE_STORE
    assert {name: column for name, column in leading.items() if column != "tenant"} == ACROSS_TENANTS


def test_the_code_knows_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [migrations.HEAD]
    newest = max(Path(migrations.__file__).parent.glob("versions/[0-9]*.py"))
    assert newest.name.startswith(f"{migrations.HEAD}_")


def test_processes_that_open_an_old_store_at_once_all_find_the_new_schema(
    crew: Any, former: Callable[[str], str], kind: str
) -> None:
    db = former(kind)
    hands = [crew.start("open_it", db=db) for _ in range(4)]
    for hand in hands:
        hand.hear()
    for hand in hands:
        hand.go()
    assert sorted(line["id"] for hand in hands for line in hand.rest()) == ["6", "7", "8", "9"]
    with connect(db) as door:
        assert door.doctor().problems == ()


def test_an_old_store_with_a_damaged_row_opens_and_is_told_of(
    former: Callable[[str], str], kind: str
) -> None:
    db = former(kind)
    _damage(db, kind, "2")
    with connect(db) as door:
        told = door.doctor().problems
        assert {"index version", "database"} <= {each.check for each in told}
        assert any("Memory 2 is damaged" in each.detail for each in told)
        for ask in (lambda: door.recall("returned", recipe="lexical"), lambda: door.show("2")):
            with pytest.raises(StoreUnavailable, match=r"Memory 2 is damaged .* restore a backup"):
                ask()
        assert door.show("kb.deploys").memory.id == "kb.deploys"


def _damage(db: str, kind: str, id: str) -> None:
    url = db.replace("postgresql:", "postgresql+psycopg:") if kind == "postgres" else f"sqlite:///{db}"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE memories SET tags = '{broken' WHERE id = :id"), {"id": id})
    engine.dispose()


@pytest.mark.usefixtures("by_steps")
def test_an_old_store_has_the_tables_of_a_new_one(
    former: Callable[[str], str], kind: str, shared_db: str, engine: sa.Engine
) -> None:
    if shared_db.startswith("postgresql:") != (kind == "postgres"):
        pytest.skip("the other database is compared with its own")
    connect(shared_db).close()
    old = former(kind)
    connect(old).close()
    url = old.replace("postgresql:", "postgresql+psycopg:") if kind == "postgres" else f"sqlite:///{old}"
    migrated = sa.create_engine(url)
    with engine.connect() as new, migrated.connect() as here:
        want, have = structure(new), structure(here)
    migrated.dispose()
    for name in ("onrecord_version", "sqlite_sequence"):
        want.pop(name, None), have.pop(name, None)
    assert _without_schema(have) == _without_schema(want)


#: What step 18 adds.
_BEFORE_CHECKS = (
    "DROP TABLE check_runs",
    "DROP INDEX memories_checked",
    *(
        f"ALTER TABLE {table} DROP COLUMN {column}"
        for table in ("memories", "versions")
        for column in ("checks", "check_state")
    ),
)
#: What step 17 adds.
_BEFORE_FEEDBACK = (
    *_BEFORE_CHECKS,
    "DROP TABLE feedback",
    "ALTER TABLE tenant_settings DROP COLUMN keep_questions",
)
#: What step 16 adds.
_BEFORE_SIGN_INS = (*_BEFORE_FEEDBACK, "DROP TABLE sign_ins", "DROP TABLE persons_questions")
#: What step 15 adds.
_BEFORE_WAITING = (*_BEFORE_SIGN_INS, "DROP TABLE waiting_turns")
#: What step 14 adds.
_BEFORE_ADVICE = (
    *_BEFORE_WAITING,
    "DROP TABLE advice_usage",
    "ALTER TABLE tenant_settings DROP COLUMN advice",
)
#: What step 11 adds.
_BEFORE_CREATED = (*_BEFORE_ADVICE, "DROP INDEX memories_created")
#: What step 10 adds.
_BEFORE_NUMBERED = (*_BEFORE_CREATED, "ALTER TABLE conversations DROP COLUMN numbered")
#: What step 9 adds.
_BEFORE_CHANGESETS = (
    *_BEFORE_NUMBERED,
    "DROP TABLE changesets",
    *(
        f"ALTER TABLE {table} DROP COLUMN {column}"
        for table in ("memories", "versions")
        for column in ("edits", "changeset")
    ),
)
_NAMED_BY_ONE = 'tenant INTEGER NOT NULL, "row" BIGINT NOT NULL, id TEXT NOT NULL, agent TEXT, title TEXT, '
#: The tables of step 7 that step 8 changes, with what they held: whoever named a conversation was in it.
_BEFORE_OWN_IDS = tuple(
    f"UPDATE memories SET id = replace(id, '{user}::', '')" for user in ("ann", "bob", "carol", "dora", "eve")
)
_BEFORE_MEMBERS = (
    *_BEFORE_OWN_IDS,
    *_BEFORE_CHANGESETS,
    "CREATE TABLE conversations_7 AS SELECT * FROM conversations",
    "DROP TABLE conversations",
    f"CREATE TABLE conversations ({_NAMED_BY_ONE} created_at BIGINT NOT NULL, created_by TEXT NOT NULL, "
    'CONSTRAINT conversations_key PRIMARY KEY (tenant, "row"), CONSTRAINT conversations_id UNIQUE (tenant, id))',
    "INSERT INTO conversations SELECT * FROM conversations_7",
    "DROP TABLE conversations_7",
    "DROP TABLE conversation_members",
    "DROP TABLE agent_users",
    *(f"ALTER TABLE {name} DROP COLUMN conversation_by" for name in ("memories", "versions")),
    *(
        f"UPDATE {name} SET audience = replace(audience, 'c:{owner}\n', 'c:')"
        for owner in ("ann", "carol", "dora")
        for name in (
            "memories",
            "postings",
            "terms",
            "facets",
            "audience_counts",
            "vectors",
            "audience_vectors",
        )
    ),
    *(f"UPDATE facets SET facet = replace(facet, 'c:{owner}\n', 'c:')" for owner in ("ann", "carol", "dora")),
    "UPDATE onrecord_version SET version_num = '0007'",
)
#: The tables of step 6 that step 7 writes anew, with what they held.
_BEFORE_AUDIENCES = (
    *_BEFORE_MEMBERS,
    "CREATE TABLE terms_6 AS SELECT tenant, collection, term, sum(documents) AS documents FROM terms GROUP BY 1, 2, 3",
    'CREATE TABLE facets_6 AS SELECT tenant, collection, facet, "row" FROM facets',
    "DROP TABLE terms",
    "DROP TABLE facets",
    "DROP TABLE audience_counts",
    "DROP TABLE audience_vectors",
    "CREATE TABLE terms (tenant INTEGER NOT NULL, collection SMALLINT NOT NULL, term TEXT NOT NULL, documents INTEGER NOT NULL, "
    "CONSTRAINT terms_key PRIMARY KEY (tenant, collection, term))",
    'CREATE TABLE facets (tenant INTEGER NOT NULL, collection SMALLINT NOT NULL, facet TEXT NOT NULL, "row" BIGINT NOT NULL, '
    'CONSTRAINT facets_key PRIMARY KEY (tenant, collection, facet, "row"))',
    "INSERT INTO terms SELECT * FROM terms_6",
    "INSERT INTO facets SELECT * FROM facets_6",
    "DROP TABLE terms_6",
    "DROP TABLE facets_6",
    "UPDATE onrecord_version SET version_num = '0006'",
)


def test_what_an_older_store_counted_for_all_is_counted_for_each_audience(
    shared_db: str, engine: sa.Engine
) -> None:
    """Without deriving the index anew, which is still of the same version."""
    room = {"tags": ["birds"], "entities": ["shop.orders"]}
    with connect(shared_db, embedder=StubEmbedder()) as door:
        door.remember("kestrel hawks nest here", scope="user", **room)
        door.remember("kestrel hawks fly", scope="tenant", **room)
        door.remember("a long story of hawks " * 40, scope="system", system="crm")
        hits = door.recall("kestrel").hits
    with engine.begin() as connection:
        for statement in _BEFORE_AUDIENCES:
            connection.exec_driver_sql(statement)
    with connect(shared_db, embedder=StubEmbedder()) as door:
        assert door.doctor().problems == ()
        assert door.recall("kestrel").hits == hits


def test_an_older_store_with_a_vector_of_another_length_opens_and_is_told_of(
    shared_db: str, engine: sa.Engine
) -> None:
    with connect(shared_db, embedder=StubEmbedder()) as door:
        for text in ("kestrel hawks", "a kestrel flies", "an owl"):
            door.remember(text)
    cut = "'[1,2,3]'" if shared_db.startswith("postgresql:") else "substr(vector, 1, 10)"
    with engine.begin() as connection:
        first = connection.exec_driver_sql('SELECT min("row") FROM vectors').scalar_one()
        connection.exec_driver_sql(f'UPDATE vectors SET vector = {cut} WHERE "row" = {first}')
        for statement in _BEFORE_AUDIENCES:
            connection.exec_driver_sql(statement)
    with connect(shared_db, embedder=StubEmbedder()) as door:
        assert "vectors" in {each.check for each in door.doctor().problems}
        door.forget("1")
        # A member, of whose audiences the sums are asked, and not that of the whole.
        member = door.as_caller(Caller(tenant=door.caller.tenant, user="bob"))
        assert [hit.memory.id for hit in member.recall("kestrel", recipe="semantic").hits] == ["2"]
        door.reindex()
        assert door.doctor().problems == ()


def test_those_who_worked_in_a_conversation_of_an_older_store_are_its_members(
    shared_db: str, engine: sa.Engine
) -> None:
    def session_of(root: OnRecord, user: str) -> set[str]:
        inside = root.as_caller(Caller(tenant="acme", user=user, conversation="~ann/talk"))
        listed = {each.id for each in inside.browse(scopes=["session"]).memories}
        assert {hit.memory.id for hit in inside.recall("kestrel", scopes=["session"]).hits} == listed
        return listed

    caller = Caller(tenant="acme", user="root", permissions=frozenset(PERMISSIONS), operator=True)
    opened: dict[str, Any] = {"caller": caller, "embedder": StubEmbedder()}
    with connect(shared_db, **opened) as root:
        ann, bob, carol = (
            root.as_caller(Caller(tenant="acme", user=name, conversation=talk))
            for name, talk in (("ann", "talk"), ("bob", "~ann/talk"), ("carol", "~ann/talk"))
        )
        ann.remember("kestrel plan", id="a", scope="session", always_inject=True)
        for name in ("bob", "carol"):
            ann.share_conversation("talk", name)
        bob.remember("kestrel flies", id="b", scope="session")
        agent = ann.as_caller(replace(ann.caller, actor="agent"))
        assert agent.revise("a", content="kestrel proposal").proposal is not None
        carol.write_artifact("a.txt", "x")
        _say_in(root, "dora", "7", "dora", "eve")
        _say_in(root, "carol", "gone", "now", "before")
        eve = root.as_caller(Caller(tenant="acme", user="eve", conversation="~carol/gone"))
        # As when she deleted a conversation of that name, before there was this one.
        eve.retire("before", reason="its conversation was deleted")
        eve.remember("a note of her own", id="pin", scope="user", conversation="talk")
        ann.set_agent("scout", limit=3)
        for first, second, agent in ((ann, bob, "notes"), (bob, ann, "both")):
            first.append_scratchpad("x", agent=agent)
            root.share_agent(agent, second.caller.user)
            second.append_scratchpad("y", agent=agent)
        ann.set_agent("both", limit=4)
        bob.set_agent("both", limit=5)
        ann.append_scratchpad("x", agent="nobodys")
        root.remember("for everyone", id="global:g")
    with engine.begin() as connection:
        # Nobody has registered it.
        connection.exec_driver_sql("DELETE FROM conversations WHERE id = '7'")
        connection.exec_driver_sql("DELETE FROM numbers WHERE name = 'conversation'")
        connection.exec_driver_sql("DELETE FROM audit WHERE subject = 'nobodys'")
        for name in ("memories", "versions"):
            connection.exec_driver_sql(
                f"UPDATE {name} SET conversation = 'talk' WHERE conversation IS NULL AND scope = 'global'"
            )
        for statement in _BEFORE_MEMBERS:
            connection.exec_driver_sql(statement)
    with connect(shared_db, **opened) as root:
        assert root.doctor().problems == ()
        assert [session_of(root, name) for name in ("ann", "bob", "carol", "dora")] == [
            {"ann::a", "bob::b"},
            {"ann::a", "bob::b"},
            {"ann::a", "bob::b"},
            set(),
        ]
        talk = root.show_conversation("~ann/talk").conversation
        assert (talk.created_by, talk.members) == ("ann", ("bob", "carol"))
        # To name a conversation is not to be in it, nor to have been in another of that name.
        assert root.show("eve::pin").memory.conversation_by is None
        assert root.show_conversation("~carol/gone").conversation.members == ()
        carol = root.as_caller(Caller(tenant="acme", user="carol", conversation="gone"))
        ever = carol.browse(scopes=["session"], statuses=["active", "archived"]).memories
        assert [each.id for each in ever] == ["carol::now"]
        over = root.show("eve::before").memory
        assert (over.scope, over.owner, over.conversation) == ("user", "eve", None)
        # What every tenant sees tells no name of a conversation.
        assert root.show("global:g").memory.conversation is None
        made = root.show_conversation("~dora/7").conversation
        assert (made.created_by, made.members, root.show("eve::eve").memory.conversation_by) == (
            "dora",
            ("eve",),
            "dora",
        )
        assert (made.numbered, talk.numbered) == (True, False)
        assert root.register_conversation().conversation.id == "8"
        assert root.show_agent("scout").users == ("ann",)
        dora = root.as_caller(Caller(tenant="acme", user="dora"))
        with pytest.raises(Forbidden):
            dora.show_agent("scout")
        # The audit tells who wrote to it, and who set it before.
        with pytest.raises(Forbidden):
            dora.read_scratchpad("notes")
        assert [root.show_agent(each).users for each in ("notes", "both")] == [("ann", "bob"), ("bob", "ann")]
        # Nobody knows whose it is: it is an admin's to share.
        with pytest.raises(Forbidden):
            dora.append_scratchpad("y", agent="nobodys")
        assert root.share_agent("nobodys", "ann").users == ("root", "ann")


def _say_in(root: OnRecord, owner: str, talk: str, first: str, second: str) -> None:
    """What two people say to each other: whoever began a conversation, and eve."""
    began = root.as_caller(Caller(tenant="acme", user=owner, conversation=talk))
    began.remember(f"{first} said in {talk}", id=first, scope="session")
    began.share_conversation(talk, "eve")
    eve = root.as_caller(Caller(tenant="acme", user="eve", conversation=f"~{owner}/{talk}"))
    eve.remember(f"{second} said in {talk}", id=second, scope="session", always_inject=True)


def _without_schema(told: dict[str, Any]) -> dict[str, str]:
    return {name: re.sub(r"test_[0-9a-f]{32}", "", repr(each)) for name, each in told.items()}


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.usefixtures("by_steps")
def test_where_vectors_cannot_be_kept_is_said_with_what_to_do(
    postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_INSTALLED", sa.text("SELECT 'nowhere' WHERE false"))
    monkeypatch.setattr(vectors, "_AVAILABLE", sa.text("SELECT 0"))
    with pytest.raises(StoreUnavailable, match=r"has no pgvector.*nothing was changed.*Install"):
        connect(postgres_dsn)
    with psycopg.connect(postgres_dsn) as connection:
        assert connection.execute("SELECT to_regclass('memories')").fetchone() == (None,)


@pytest.mark.usefixtures("by_steps")
def test_a_connection_that_does_not_look_where_pgvector_lies_is_told(postgres_dsn: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"lies in the schema public.*search_path"):
        connect(postgres_dsn.replace("%2Cpublic", ""))
    with connect(postgres_dsn) as door:
        assert door.remember("now it does").memory.id == "1"


def test_two_stores_in_one_database_do_not_take_the_vectors_from_each_other(
    postgres_server: str, postgres_dsn: str
) -> None:
    schema = re.search(r"test_\w+", postgres_dsn)
    assert schema is not None
    other = postgres_dsn.replace(schema[0], "another_store")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA another_store")
        try:
            for dsn in (other, postgres_dsn):
                with connect(dsn, embedder=StubEmbedder()) as door:
                    door.remember("kestrel")
        finally:
            connection.execute("DROP SCHEMA another_store CASCADE")
    with connect(postgres_dsn, embedder=StubEmbedder()) as door:
        assert len(door.recall("kestrel", recipe="semantic").hits) == 1


def test_opening_a_store_that_is_up_to_date_takes_no_write_lock_and_changes_no_byte(tmp_path: Path) -> None:
    db = tmp_path / "store.db"
    with connect(db) as door:
        door.remember("kept", id="kept")
    before = db.read_bytes(), db.stat().st_mtime_ns
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with connect(db) as door:
            assert door.show("kept").memory.content == "kept"
            assert [hit.memory.id for hit in door.recall("kept").hits] == ["kept"]
            assert door.doctor().problems == ()
    assert (db.read_bytes(), db.stat().st_mtime_ns) == before


def test_opening_a_store_that_is_up_to_date_writes_nothing_to_postgres(postgres_dsn: str) -> None:
    connect(postgres_dsn).close()
    with psycopg.connect(postgres_dsn) as other:
        # Nobody else may write to any of these until this transaction ends.
        for table in metadata.tables:
            other.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
        with connect(postgres_dsn) as door:
            assert door.recall("anything").hits == ()


def test_a_store_of_a_newer_version_is_refused_and_left_alone(shared_db: str, engine: sa.Engine) -> None:
    with connect(shared_db) as door:
        door.remember("from the future")
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE onrecord_version SET version_num = '9999'"))
    engine.dispose()
    before = Path(shared_db).read_bytes() if Path(shared_db).exists() else None
    with pytest.raises(
        StoreUnavailable, match=r"newer OnRecord .*9999.*Update OnRecord.*nothing was changed"
    ):
        connect(shared_db)
    assert (Path(shared_db).read_bytes() if before else None) == before
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT version_num FROM onrecord_version")).scalar_one() == "9999"


def test_a_newer_store_is_refused_at_once_though_another_process_writes_to_it(tmp_path: Path) -> None:
    db = tmp_path / "store.db"
    connect(db).close()
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("UPDATE onrecord_version SET version_num = '9999'")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="newer OnRecord"):
            connect(db)


@pytest.mark.usefixtures("by_steps")
def test_a_store_is_not_built_over_tables_of_another_program(shared_db: str, engine: sa.Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE memories (note TEXT)"))
        connection.execute(sa.text("INSERT INTO memories VALUES ('of someone else')"))
    with pytest.raises(
        StoreUnavailable, match=r"tables of another program \(memories\).*nothing was changed"
    ):
        connect(shared_db)
    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["memories"]
        assert connection.execute(sa.text("SELECT note FROM memories")).scalar_one() == "of someone else"


def test_a_schema_may_be_shared_with_others_but_a_file_may_not(shared_db: str, engine: sa.Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE alembic_version (version_num TEXT)"))
        connection.execute(sa.text("INSERT INTO alembic_version VALUES ('theirs')"))
    if engine.dialect.name == "sqlite":
        with pytest.raises(StoreUnavailable, match="tables of another program"):
            connect(shared_db)
    else:
        with connect(shared_db) as door:
            assert door.remember("beside others").memory.id == "1"


def _many(door: OnRecord, folder: Path, number: int) -> None:
    """Memories of one user under ids that they chose, through an export, which is the quick way in."""
    door.export(str(folder / "one.jsonl"))
    head, tenant, *lines = (folder / "one.jsonl").read_text().splitlines()
    model = next(line for line in lines if '"kestrel plan"' in line)
    with (folder / "many.jsonl").open("w") as file:
        print(head, tenant, sep="\n", file=file)
        for each in range(number):
            told = json.loads(model)
            told["id"] = told["versions"][0]["memory"]["id"] = f"many.{each}"
            told["versions"][0]["memory"]["entities"] = [f"memory:many.{each - 1}"]
            print(json.dumps(told), file=file)
    assert door.import_(str(folder / "many.jsonl")).added == number


def _before_own_ids(engine: sa.Engine) -> None:
    """What was saved, as step 16 had it: without anyone's name in front."""
    with engine.begin() as connection:
        for owner in ("ann~0020x", "nightly"):
            for name in ("memories", "versions"):
                connection.exec_driver_sql(
                    f"UPDATE {name} SET entities = replace(entities, '{owner}::', ''), "
                    f"proposes = replace(proposes, '{owner}::', ''), "
                    f"status_reason = replace(status_reason, '{owner}::', '')"
                )
            connection.exec_driver_sql(f"UPDATE memories SET id = replace(id, '{owner}::', '')")
            for name, column in (("audit", "subject"), ("feedback", "memory"), ("check_runs", "memory")):
                connection.exec_driver_sql(f"UPDATE {name} SET {column} = replace({column}, '{owner}::', '')")
            connection.exec_driver_sql(f"UPDATE idempotency SET body = replace(body, '{owner}::', '')")
        connection.exec_driver_sql(
            'INSERT INTO changesets (tenant, id, entity, target, state, changes, memories, "by", at, updated_at) '
            "SELECT tenant, 1, 'db.t', 'catalog', 'applied', '[]', '[\"plan\"]', 'ann x', 0, 0 FROM memories WHERE id = 'plan'"
        )
        connection.exec_driver_sql("UPDATE onrecord_version SET version_num = '0018'")
        connection.exec_driver_sql("UPDATE store_facts SET value = 'earlier' WHERE name = 'index'")


def _refuse_changesets(engine: sa.Engine) -> Callable[[], None]:
    """Let the database refuse what the step writes near its end; returns what lets it again."""
    made = ["CREATE TRIGGER stop BEFORE UPDATE ON changesets BEGIN SELECT RAISE(ABORT, 'stopped'); END"]
    gone = ["DROP TRIGGER stop"]
    if engine.dialect.name == "postgresql":
        made = [
            "CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$",
            "CREATE TRIGGER stop BEFORE UPDATE ON changesets FOR EACH ROW EXECUTE FUNCTION stop()",
        ]
        gone = ["DROP TRIGGER stop ON changesets", "DROP FUNCTION stop()"]

    def run(statements: list[str]) -> None:
        with engine.begin() as connection:
            for each in statements:
                connection.exec_driver_sql(each)

    run(made)
    return lambda: run(gone)


def _told_of(engine: sa.Engine) -> list[Any]:
    with engine.begin() as connection:
        wanted = "SELECT id, entities, proposes FROM memories ORDER BY id"
        return [tuple(row) for row in connection.exec_driver_sql(wanted)]


def test_what_few_see_in_an_older_store_has_its_owners_id(
    shared_db: str, engine: sa.Engine, tmp_path: Path
) -> None:
    """Each id still means the same memory to whoever sees it, also after an upgrade that broke off, and in a large store."""
    many = 1_200
    caller = Caller(tenant="acme", user="root", permissions=frozenset(PERMISSIONS), operator=True)
    opened: dict[str, Any] = {"caller": caller, "embedder": StubEmbedder()}
    of_ann = {"user": "ann x", "personas": frozenset({"chef"})}
    with connect(shared_db, **opened) as root:
        ann, bob = (root.as_caller(Caller(tenant="acme", **of)) for of in (of_ann, {"user": "bob"}))
        ann.remember("kestrel plan", id="plan", scope="user")
        _many(root, tmp_path, many)
        ann.remember("kestrel, shown once", id="shown")
        ann.remember("kestrel, hidden now", id="shown", scope="user")
        number = ann.remember("kestrel number", scope="user").memory.id
        drawn = ann.remember("kestrel drawn", id=uuid4().hex, scope="user").memory.id
        ann.remember(
            "kestrel instead", id="new", scope="user", supersedes=["shown"], entities=["memory:plan"]
        )
        ann.relate("new", "supports", "plan")
        ann.give_feedback("plan", "useful", "what is the plan?")
        root.add_check("ann~0020x::plan", kind="entity", entity="kestrel.plans")
        root.check("ann~0020x::plan")
        ann.remember("kestrel recipe", id="recipe", scope="persona", persona="chef")
        bob.remember("kestrel of bob", id="bobs", entities=["memory:plan"])
        nightly = root.as_caller(Caller(tenant="acme", user="nightly", actor="unattended", run="r"))
        nightly.remember("kestrel proposal", id="wish")
        agent = ann.as_caller(replace(ann.caller, actor="agent"))
        proposal = agent.revise("plan", content="kestrel plan, bettered").proposal
        assert proposal is not None
    _before_own_ids(engine)
    before = _told_of(engine)
    let_again = _refuse_changesets(engine)
    with pytest.raises(StoreUnavailable):
        connect(shared_db, **opened)
    assert _told_of(engine) == before
    let_again()
    for _ in range(2):
        with connect(shared_db, **opened) as root:
            assert root.doctor().problems == ()
        own = {f"ann~0020x::{name}" for name in ("plan", "new", "recipe")} | {"nightly::wish"}
        own |= {f"ann~0020x::many.{each}" for each in range(many)}
        now = _told_of(engine)
        assert {id for id, *_ in now} == own | {"shown", number, drawn, "bobs", proposal.id}
        with engine.begin() as connection:
            # The step is taken again, over what it has done already.
            connection.exec_driver_sql("UPDATE onrecord_version SET version_num = '0018'")
    with connect(shared_db, **opened) as root:
        ann, bob = (root.as_caller(Caller(tenant="acme", **of)) for of in (of_ann, {"user": "bob"}))
        chef = root.as_caller(Caller(tenant="acme", user="carol", personas=frozenset({"chef"})))
        assert ann.show("plan").memory.content == "kestrel plan"
        assert ann.show("many.1199").memory.entities == ("memory:ann~0020x::many.1198",)
        assert ann.show("new").memory.entities == ("memory:ann~0020x::plan",)
        assert [each.id for each in ann.browse(entities=["memory:plan"]).memories] == ["ann~0020x::new"]
        assert ann.show("shown").memory.status_reason == "superseded by ann~0020x::new"
        assert [edge.memory.id for edge in ann.neighbours("plan").edges] == ["ann~0020x::new"]
        # Those who see another's memory still find it by the id that they know.
        assert chef.show("recipe").memory.id == "ann~0020x::recipe"
        assert root.show("wish").memory.id == "nightly::wish"
        assert root.changesets("1").changesets[0].memories == ("ann~0020x::plan",)
        with pytest.raises(NotFound):
            bob.show("recipe")
        # What another wrote tells them no more than before.
        assert bob.show("bobs").memory.entities == ("memory:plan",)
        assert bob.remember("kestrel of all", id="plan").outcome == "created"
        # What was said of hers, and what came of its checks, is not about his.
        assert [each.memory for each in ann.feedback(id="ann~0020x::plan").feedback] == ["ann~0020x::plan"]
        assert (len(ann.checks("ann~0020x::plan").runs), bob.checks("plan").runs) == (1, ())
        assert root.approve(proposal.id).memory.id == "ann~0020x::plan"
        subjects = {entry.subject for entry in root.audit(limit=99).entries}
        assert subjects >= {"ann~0020x::plan", "nightly::wish"}
