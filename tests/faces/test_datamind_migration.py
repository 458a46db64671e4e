"""DO the memories of an older datamind come over? Every row, once, and the old tables go only then."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Forbidden, StoreUnavailable
from onrecord.faces.datamind import OnRecordMemoryStore, migrate, migrate_storage, open_memory
from onrecord.store import legacy_tables
from onrecord.testing.embedder import StubEmbedder
from tests.surfaces.conftest import Served
from tests.surfaces.test_mcp import Agent, introduce

from .datamind_command import speaking_datamind

__all__ = ["introduce"]

V1 = "CREATE TABLE memory (id TEXT PRIMARY KEY, namespace TEXT, content TEXT, metadata TEXT, embedding BLOB, created_at REAL)"
V2 = """CREATE TABLE memory_v2 (id TEXT PRIMARY KEY, scope TEXT, profile TEXT, session_id TEXT, kind TEXT, status TEXT,
content TEXT, metadata TEXT, embedding BLOB, created_at REAL)"""
NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
T0 = NOON.timestamp()

Older = Callable[..., Path]


def v1(
    id: Any = "a1", namespace: Any = "lawfirm-A", content: Any = "tea is matcha", **more: Any
) -> dict[str, Any]:
    return {"id": id, "namespace": namespace, "content": content, "created_at": T0} | more


def v2(id: Any = "b1", scope: Any = "profile", content: Any = "tea is matcha", **more: Any) -> dict[str, Any]:
    usual = {"profile": "lawfirm-A" if scope == "profile" else None, "kind": "fact", "status": "active"}
    return {"id": id, "scope": scope, "content": content, "created_at": T0} | usual | more


def write(
    path: Path, old: Sequence[dict[str, Any]] | None = None, new: Sequence[dict[str, Any]] | None = None
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, schema, rows in (("memory", V1, old), ("memory_v2", V2, new)):
            if rows is None:
                continue
            connection.execute(schema)
            for row in rows:
                names = ", ".join(row)
                marks = ", ".join("?" for _ in row)
                connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))
    return path


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found if name.startswith("memory") and name != "memories"}


@pytest.fixture
def older(tmp_path: Path) -> Older:
    return lambda old=None, new=None: write(tmp_path / "storage" / "lawfirm-A" / "memory.db", old, new)


@pytest.fixture
def door(db: str) -> Iterator[OnRecord]:
    with connect(db) as door:
        yield door


@pytest.fixture
def quick() -> Iterator[OnRecord]:
    with connect(":memory:") as door:
        yield door


def inside(door: OnRecord, profile: str) -> list[Any]:
    """Every memory of a profile and for everyone, whatever its status."""
    there = door.as_caller(
        Caller(tenant=profile, user="ann", permissions=frozenset({"memory.read", "memory.admin"}))
    )
    statuses = ["active", "archived", "stale", "pending"]
    return sorted(there.browse(statuses=statuses, limit=1_000).memories, key=lambda memory: memory.id)


class TestTheOldestTable:
    def test_every_row_comes_over_as_its_namespaces_own(self, door: OnRecord, older: Older) -> None:
        file = older([v1(metadata=json.dumps({"page": 3})), v1("a2", "saas-B", "tea is off")])
        told = migrate(door, file, "lawfirm-A")
        assert (told.taken, told.warnings) == (2, ())
        [memory] = inside(door, "lawfirm-A")
        assert (memory.id, memory.tenant, memory.scope, memory.kind) == ("a1", "lawfirm-A", "tenant", "fact")
        assert (memory.content, memory.metadata, memory.created_at) == ("tea is matcha", {"page": 3}, NOON)
        assert [memory.content for memory in inside(door, "saas-B")] == ["tea is off"]

    def test_the_old_table_is_dropped_only_then(self, quick: OnRecord, older: Older) -> None:
        file = older([v1()])
        assert tables(file) == {"memory"}
        migrate(quick, file, "lawfirm-A")
        assert tables(file) == set()

    def test_a_second_time_adds_nothing(self, door: OnRecord, older: Older) -> None:
        file = older([v1()])
        migrate(door, file, "lawfirm-A")
        assert migrate(door, file, "lawfirm-A").taken == 0
        assert len(inside(door, "lawfirm-A")) == 1

    def test_an_empty_table_is_dropped(self, quick: OnRecord, older: Older) -> None:
        file = older([], [])
        assert migrate(quick, file, "lawfirm-A").taken == 0
        assert tables(file) == set()

    def test_whole_numbers_as_ids_are_kept_and_new_ones_come_after_them(
        self, quick: OnRecord, tmp_path: Path
    ) -> None:
        file = tmp_path / "numbers.db"
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE memory (id INTEGER PRIMARY KEY, namespace TEXT, content TEXT)")
            connection.execute("INSERT INTO memory VALUES (7, 'default', 'tea')")
        told = migrate(quick, file, "default")
        assert told.taken == 1
        assert "1970" in told.warnings[0]
        assert quick.show("7").memory.content == "tea"
        assert quick.remember("coffee").memory.id == "8"


class TestTheLaterTable:
    def test_scope_profile_session_kind_status_metadata_and_time_are_kept(
        self, door: OnRecord, older: Older
    ) -> None:
        file = older(
            new=[
                v2("g", "global", "reply in Chinese", kind="preference"),
                v2("p", metadata='{"by": "ann"}', kind="decision"),
                v2("s", "session", "tea in this thread", session_id="paper-2026", kind="summary"),
                v2("x", content="tea was green", status="archived"),
            ]
        )
        told = migrate(door, file, "lawfirm-A")
        assert (told.taken, told.warnings) == (4, ())
        there = {memory.id: memory for memory in inside(door, "lawfirm-A")}
        assert set(there) == {"global:g", "p", "s", "x"}
        assert {memory.created_at for memory in there.values()} == {NOON}
        assert (there["global:g"].scope, there["global:g"].kind) == ("global", "preference")
        assert (there["p"].scope, there["p"].kind, there["p"].metadata) == (
            "tenant",
            "decision",
            {"by": "ann"},
        )
        assert (there["s"].scope, there["s"].conversation) == ("session", "paper-2026")
        assert (there["x"].status, there["x"].valid_to) == ("archived", NOON)
        assert tables(file) == set()

    def test_the_older_table_is_left_alone_where_the_later_has_rows(
        self, quick: OnRecord, older: Older
    ) -> None:
        file = older([v1("a1", content="from the oldest")], [v2("b1")])
        for _ in range(3):
            told = migrate(quick, file, "lawfirm-A")
            assert "memory" in tables(file)
        assert [memory.id for memory in inside(quick, "lawfirm-A")] == ["b1"]
        assert told.taken == 0
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("SELECT content FROM memory").fetchall() == [("from the oldest",)]

    def test_an_empty_older_table_goes_with_the_later_one(self, quick: OnRecord, older: Older) -> None:
        file = older([], [v2()])
        migrate(quick, file, "lawfirm-A")
        assert tables(file) == set()
        assert len(inside(quick, "lawfirm-A")) == 1

    def test_the_older_table_is_taken_where_the_later_one_is_empty(
        self, quick: OnRecord, older: Older
    ) -> None:
        file = older([v1()], [])
        assert migrate(quick, file, "lawfirm-A").taken == 1
        assert tables(file) == set()


class TestOddRows:
    def test_an_unknown_kind_becomes_a_fact_and_is_told(self, quick: OnRecord, older: Older) -> None:
        told = migrate(quick, older(new=[v2(kind="opinion"), v2("b2", content="coffee")]), "lawfirm-A")
        poison, sound = inside(quick, "lawfirm-A")
        assert (poison.kind, poison.metadata) == ("fact", {"_legacy_kind": "opinion"})
        assert sound.metadata == {}
        assert told.warnings == (
            "Row b1 was of the kind 'opinion', which does not exist here; it is a fact now",
        )
        there = quick.as_caller(Caller(tenant="lawfirm-A", user="ann"))
        assert [hit.memory.id for hit in there.recall("tea").hits] == ["b1"]

    def test_a_scope_that_is_not_known_keeps_to_the_profile(self, quick: OnRecord, older: Older) -> None:
        told = migrate(quick, older(new=[v2(scope="team", profile=None)]), "lawfirm-A")
        [memory] = inside(quick, "lawfirm-A")
        assert (memory.scope, memory.metadata) == ("tenant", {"_legacy_scope": "team"})
        assert "'team'" in told.warnings[0]

    def test_a_session_without_a_name_is_seen_by_nobody_but_kept(self, quick: OnRecord, older: Older) -> None:
        migrate(quick, older(new=[v2(scope="session", session_id=None)]), "lawfirm-A")
        [memory] = inside(quick, "lawfirm-A")
        assert memory.scope == "session"

    @pytest.mark.parametrize("name", ["global", "catalog:x", " padded ", "two\nlines", "x" * 300])
    def test_a_profile_that_can_be_no_name_here_stays_apart_from_all_others(
        self, quick: OnRecord, older: Older, name: str
    ) -> None:
        told = migrate(quick, older([v1(namespace=name)]), "lawfirm-A")
        assert told.taken == 1
        assert inside(quick, "lawfirm-A") == []
        [tenant] = [each for each in quick.list_tenants().tenants if each.name.startswith("profile-")]
        assert tenant.name in told.warnings[0]
        assert [memory.content for memory in inside(quick, tenant.name)] == ["tea is matcha"]

    def test_a_row_of_no_profile_is_of_the_files_own(self, quick: OnRecord, older: Older) -> None:
        migrate(quick, older([v1(namespace=None)]), "lawfirm-A")
        assert len(inside(quick, "lawfirm-A")) == 1

    def test_an_empty_content_is_kept_as_such(self, quick: OnRecord, older: Older) -> None:
        told = migrate(quick, older(new=[v2(content="", metadata='{"a": 1}')]), "lawfirm-A")
        [memory] = inside(quick, "lawfirm-A")
        assert (memory.content, memory.metadata) == ("(empty)", {"a": 1})
        assert "is empty" in told.warnings[0]

    def test_a_text_that_is_too_long_comes_in_parts(self, quick: OnRecord, older: Older) -> None:
        text = "".join(f"höher {number} " for number in range(12_000))
        told = migrate(quick, older(new=[v2(content=text)]), "lawfirm-A")
        parts = inside(quick, "lawfirm-A")
        assert [memory.id for memory in parts] == ["b1", "b1-part-2", "b1-part-3"]
        assert "".join(memory.content for memory in parts) == text
        assert "3 parts" in told.warnings[0]

    def test_an_id_that_can_be_none_here_is_kept_in_the_metadata(self, quick: OnRecord, older: Older) -> None:
        migrate(quick, older(new=[v2("a/b")]), "lawfirm-A")
        [memory] = inside(quick, "lawfirm-A")
        assert memory.metadata == {"_legacy_id": "a/b"}

    @pytest.mark.parametrize(
        ("row", "told"),
        [
            ({"metadata": "{not json"}, "metadata that cannot be read"),
            ({"content": "tea \x00 is matcha"}, "a NUL character"),
            ({"content": b"tea \xff is matcha"}, "cannot be stored as text"),
        ],
    )
    def test_what_cannot_be_taken_whole_leaves_the_old_table_under_another_name(
        self, quick: OnRecord, older: Older, row: dict[str, Any], told: str
    ) -> None:
        file = older(new=[v2(**row), v2("b2", content="coffee")])
        migrated = migrate(quick, file, "lawfirm-A")
        assert told in " ".join(migrated.warnings)
        assert [memory.id for memory in inside(quick, "lawfirm-A")] == ["b1", "b2"]
        assert tables(file) == {"memory_v2_migrated"}
        assert migrate(quick, file, "lawfirm-A").taken == 0
        assert tables(file) == {"memory_v2_migrated"}

    def test_metadata_that_is_no_object_is_kept_under_a_name(self, quick: OnRecord, older: Older) -> None:
        migrate(quick, older(new=[v2(metadata="[1, 2]"), v2("b2", metadata="null")]), "lawfirm-A")
        assert [memory.metadata for memory in inside(quick, "lawfirm-A")] == [
            {"_legacy_metadata": [1, 2]},
            {},
        ]

    def test_secrets_do_not_come_over(self, quick: OnRecord, older: Older) -> None:
        secret = "AKIA" + "IOSFODNN7EXAMPLQ"
        migrate(quick, older(new=[v2(content=f"the key is {secret}")]), "lawfirm-A")
        [memory] = inside(quick, "lawfirm-A")
        assert secret not in memory.content

    def test_an_id_that_holds_something_else_here_gets_another(self, quick: OnRecord, older: Older) -> None:
        there = quick.as_caller(Caller(tenant="lawfirm-A", user="ann"))
        there.remember("what was here", id="b1")
        file = older(new=[v2()])
        assert migrate(quick, file, "lawfirm-A").taken == 1
        texts = {memory.content: memory.id for memory in inside(quick, "lawfirm-A")}
        assert texts["what was here"] == "b1"
        assert texts["tea is matcha"].startswith("b1-")

    def test_what_came_over_earlier_and_was_changed_since_is_left_as_it_is(
        self, quick: OnRecord, older: Older, tmp_path: Path
    ) -> None:
        migrate(quick, older(new=[v2()]), "lawfirm-A")
        there = quick.as_caller(Caller(tenant="lawfirm-A", user="ann"))
        there.revise("b1", content="tea is sencha")
        assert migrate(quick, write(tmp_path / "again.db", new=[v2()]), "lawfirm-A").taken == 0
        assert [memory.content for memory in inside(quick, "lawfirm-A")] == ["tea is sencha"]

    @settings(max_examples=25)
    @given(
        rows=st.lists(
            st.fixed_dictionaries(
                {
                    "scope": st.sampled_from(["global", "profile", "session", "team", None]),
                    "profile": st.none() | st.text(max_size=8),
                    "session_id": st.none() | st.text(max_size=8),
                    "kind": st.none() | st.sampled_from(["fact", "skill", "opinion"]),
                    "status": st.sampled_from(["active", "archived", None]),
                    "content": st.none() | st.text(max_size=30) | st.binary(max_size=8),
                    "metadata": st.none() | st.text(max_size=10) | st.just('{"a": 1}'),
                    "created_at": st.none()
                    | st.floats()
                    | st.text(max_size=5)
                    | st.integers(-(2**62), 2**62),
                }
            ),
            max_size=4,
        )
    )
    def test_whatever_is_in_a_row_nothing_is_lost(
        self, rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        file = tmp_path_factory.mktemp("odd") / "memory.db"
        write(file, new=[row | {"id": str(number)} for number, row in enumerate(rows)])
        with connect(":memory:") as door:
            told = migrate(door, file, "lawfirm-A")
            assert told.taken == len(rows) or "memory_v2_migrated" in tables(file)
            assert migrate(door, file, "lawfirm-A").taken == 0


class TestFirstOpen:
    def test_a_store_in_the_old_file_itself_takes_its_rows_over(self, older: Older) -> None:
        file = older([v1(), v1("a2", "saas-B", "tea is off")])
        for expected in (2, 0):
            store = OnRecordMemoryStore(file, profile="lawfirm-A")
            assert sum(each.taken for each in store.migrated) == expected
            assert asyncio.run(store.list_profiles()) == ["lawfirm-A", "saas-B"]
            [item] = asyncio.run(store.recall("tea", profile="lawfirm-A"))
            assert (item.id, item.content, item.created_at) == ("a1", "tea is matcha", str(T0))
            store.close()
        assert tables(file) == set()

    def test_a_server_on_the_old_file_takes_its_rows_over(self, older: Older) -> None:
        file = older([v1()])
        served = Served(db=str(file), worker="no", tenant="lawfirm-A")
        told = served.client.get("/api/memory/lawfirm-A", params={"query": "tea"}).json()
        assert [each["content"] for each in told["results"]] == ["tea is matcha"]
        served.stop()

    def test_a_server_for_one_agent_on_the_old_file_takes_its_rows_over(
        self, older: Older, introduce: Callable[[Client], Agent]
    ) -> None:
        """`onrecord mcp --face datamind` on the very file, as a host starts it, twice."""
        file = older([v1(), v1("a2", "saas-B", "tea is off")])
        for _ in range(2):
            agent = introduce(Client(speaking_datamind(file, ONRECORD_TENANT="lawfirm-A")))
            [item] = agent.did("memory_recall", query="tea")["results"]
            assert (item["id"], item["content"]) == ("a1", "tea is matcha")
        assert tables(file) == set()

    def test_a_file_with_other_tables_is_no_place_for_a_store(self, older: Older) -> None:
        file = older([v1()])
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE invoices (id INTEGER)")
        with pytest.raises(StoreUnavailable, match="invoices"):
            OnRecordMemoryStore(file)
        assert tables(file) == {"memory"}

    def test_the_files_of_all_profiles_come_into_one_store(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write(tmp_path / "storage" / "A" / "memory.db", new=[v2("g", "global", "cite sources")])
        write(tmp_path / "storage" / "B" / "memory.db", new=[v2("p", profile="B")])
        (tmp_path / "storage" / "C").mkdir()
        memory = open_memory(profile="B")
        found = asyncio.run(memory.recall("cite sources about tea"))
        assert {item.content for item in found} == {"cite sources", "tea is matcha"}
        assert isinstance(memory.store, OnRecordMemoryStore)
        memory.store.close()

    def test_sessions_of_a_profiles_file_stay_with_that_profile(
        self, quick: OnRecord, tmp_path: Path
    ) -> None:
        write(tmp_path / "A" / "memory.db", new=[v2("s", "session", session_id="s1")])
        [told] = migrate_storage(quick, tmp_path)
        assert told.taken == 1
        [memory] = inside(quick, "A")
        assert (memory.tenant, memory.conversation) == ("A", "s1")

    def test_their_vectors_are_made_anew(self, older: Older, tmp_path: Path) -> None:
        with connect(tmp_path / "s.db", embedder=StubEmbedder()) as door:
            migrate(door, older(new=[v2(embedding=b"of another model")]), "lawfirm-A")
            while door.worker.run_once():
                pass
            there = door.as_caller(Caller(tenant="lawfirm-A", user="ann"))
            assert there.recall("tea").degraded == ()

    def test_only_whoever_runs_the_store_takes_a_file_over(self, quick: OnRecord, older: Older) -> None:
        file = older(new=[v2()])
        with pytest.raises(Forbidden):
            migrate(quick.as_caller(Caller(tenant="lawfirm-A", user="ann")), file, "lawfirm-A")
        assert tables(file) == {"memory_v2"}

    def test_rows_that_come_while_others_are_taken_over_are_taken_too(
        self, quick: OnRecord, older: Older, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = older(new=[v2()])
        first = legacy_tables.read(file)
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(
                "INSERT INTO memory_v2 (id, scope, profile, content) VALUES ('b2', 'profile', 'x', 'late')"
            )
        answers = iter([first])
        read = legacy_tables.read
        monkeypatch.setattr(legacy_tables, "read", lambda path: next(answers, None) or read(path))
        assert migrate(quick, file, "lawfirm-A").taken == 2
        assert [memory.content for memory in inside(quick, "x")] == ["late"]

    def test_two_who_open_it_at_once_take_each_row_once(self, older: Older, tmp_path: Path) -> None:
        file = older(new=[v2(f"b{number}") for number in range(50)])
        db = tmp_path / "s.db"
        connect(db).close()

        def take(_: int) -> int:
            with connect(db) as door:
                return migrate(door, file, "lawfirm-A").taken

        with ThreadPoolExecutor(2) as pool:
            assert sum(pool.map(take, range(2))) == 50
        with connect(db) as door:
            assert len(inside(door, "lawfirm-A")) == 50

    def test_a_table_of_that_name_which_is_anothers_is_left_alone(
        self, quick: OnRecord, tmp_path: Path
    ) -> None:
        file = tmp_path / "other.db"
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE memory (address INTEGER, bytes BLOB)")
        assert migrate(quick, file, "A").taken == 0
        assert tables(file) == {"memory"}

    def test_a_file_that_is_no_database_has_nothing_to_take_over(
        self, quick: OnRecord, tmp_path: Path
    ) -> None:
        (tmp_path / "notes.txt").write_text("tea")
        assert migrate(quick, tmp_path / "notes.txt", "A").taken == 0
        with pytest.raises(StoreUnavailable, match="nowhere"):
            migrate(quick, tmp_path / "nowhere", "A")
