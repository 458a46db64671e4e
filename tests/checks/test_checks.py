"""DOES a memory prove itself, and only as a person lets it? Checks that lie, hang, return too much, write or read files."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals import checked_claims
from onrecord import OnRecord, connect
from onrecord.catalog.sql_text import parse_sql
from onrecord.checks import running
from onrecord.checks.judging import compared
from onrecord.checks.running import CouldNotLook, Result, query_result
from onrecord.checks.statement import refuse
from onrecord.context import frame
from onrecord.errors import Forbidden, Invalid
from onrecord.faces.arbiter.slash import rendering
from onrecord.model.checks import Expectation
from onrecord.model.connections import Connection, read_connections
from onrecord.testing.builders import Clock, change_names
from onrecord.testing.upkeep import worked

from .conftest import Warehouse
from .test_queries import write_models

COUNT = "select count(*) from stores"


def reviewed(door: OnRecord, **check: Any) -> str:
    """A memory with an approved check."""
    memory = door.remember("There are three stores.", dedupe=False, alike="keep").memory
    door.add_check(memory.id, **{"connection": "warehouse", "sql": COUNT, "value": "3", **check})
    return memory.id


def state(door: OnRecord, id: str) -> tuple[str | None, str | None]:
    memory = door.show(id).memory
    return memory.check_state, memory.check_seen


def test_a_claim_is_verified_then_flagged_with_what_was_seen_then_verified_again(
    door: OnRecord, warehouse: Warehouse, clock: Clock
) -> None:
    id = reviewed(door)
    assert state(door, id) == ("unchecked", None)
    assert door.check(id).verified == 1
    updated = door.show(id).memory.updated_at
    warehouse.change("delete from stores where id = 3")
    clock.tick()
    assert not door.check(id).healthy
    assert state(door, id) == ("failed", "it returns 2, not 3")
    door.check(id)
    warehouse.change("insert into stores values (3, 'Oslo')")
    assert door.check(all=True).healthy
    assert state(door, id) == ("verified", None)
    assert change_names(door, id) == ["remember", "add_check", "check", "check", "check"], (
        "one for each change"
    )
    assert door.show(id).memory.updated_at == updated
    assert len(door.checks(id).runs) == 4


def test_what_failed_sinks_and_can_be_refused(door: OnRecord, warehouse: Warehouse) -> None:
    wrong, right = reviewed(door, value="9"), reviewed(door)
    door.remember("There are stores elsewhere.")
    door.check(all=True)
    asked = "how many stores are there?"
    hits = door.recall(asked, min_relevance=0.0).hits
    assert hits[0].memory.id == right
    assert next(hit for hit in hits if hit.memory.id == wrong).why.boosts[-1] == ("failed", 0.5)
    assert [hit.memory.id for hit in door.recall(asked, min_relevance=0.0, only_verified=True).hits] == [
        right
    ]
    assert [hit.id for hit in door.search(asked, min_relevance=0.0, only_verified=True).memories] == [right]
    assert {hit.id: hit.check_state for hit in door.search(asked, min_relevance=0.0).memories}[
        wrong
    ] == "failed"
    assert [memory.id for memory in door.browse(check_states=["failed"]).memories] == [wrong]
    [told] = [each for each in door.status().tenants if each.collection == "memories"]
    assert (told.checks_failed, told.checks_unverifiable, told.checks_waiting) == (1, 0, 0)
    assert 'check failed: "it returns 3, not 9"' in frame.entry_line(door.show(wrong).memory)
    [line] = [
        line for line in rendering.hits(asked, [door.show(wrong).memory], None) if line.startswith("- ")
    ]
    assert 'check failed: "it returns 3, not 9"' in line


def test_a_new_text_has_to_be_checked_again(door: OnRecord, warehouse: Warehouse) -> None:
    id = reviewed(door)
    door.check(id)
    door.revise(id, tags=["shops"])
    assert state(door, id) == ("verified", None)
    door.revise(id, content="There are three shops.")
    assert state(door, id) == ("unchecked", None)


def test_only_a_person_who_reviews_lets_a_check_run(door: OnRecord, warehouse: Warehouse) -> None:
    agent = door.as_caller(replace(door.caller, actor="agent"))
    id = agent.remember("There are three stores.").memory.id
    added = agent.add_check(id, connection="warehouse", sql=COUNT, value="4")
    assert added.waits
    assert agent.add_check(id, connection="warehouse", sql=COUNT, value="4").changed is False
    assert door.check(id).memories == ()
    assert state(door, id) == (None, None)
    for refused in (
        lambda: agent.approve_check(id, 1),
        lambda: agent.check(id, proposed=True),
        lambda: door.as_caller(
            replace(door.caller, permissions=frozenset({"memory.read", "memory.manage"}))
        ).approve_check(id, 1),
    ):
        with pytest.raises(Forbidden):
            refused()
    [told] = door.check(id, proposed=True).memories
    assert [(each.state, each.seen) for each in told.outcomes] == [("failed", "it returns 3, not 4")]
    assert state(door, id) == (None, None), "it is told to the reviewer alone"
    assert door.checks(id).runs == ()
    door.approve(id)
    assert door.show(id).memory.checks[0].approved_by is None, "its text is approved, not its check"
    assert door.approve_check(id, 1).check is not None
    assert door.check(id).failed == 1
    with pytest.raises(Forbidden):
        agent.drop_check(id, 1)


def test_an_approved_check_runs_no_query_that_was_put_in_later(door: OnRecord, warehouse: Warehouse) -> None:
    agent = door.as_caller(replace(door.caller, actor="agent"))
    id = agent.remember("Names of stores", query="select name from stores").memory.id
    door.add_check(id, kind="query", connection="warehouse")
    assert door.check(id).verified == 1
    agent.revise(id, query="select id as other from stores")
    assert agent.check(id).memories == ()
    [check] = door.show(id).memory.checks
    assert (check.approved_by, state(door, id)) == (None, (None, None))
    door.approve_check(id, 1)
    assert door.check(id).verified == 1
    door.revise(id, query="select id from stores")
    assert door.check(id).verified == 1, "whoever may approve it has put it in"


def test_no_check_proves_what_someone_else_says_later(door: OnRecord, warehouse: Warehouse) -> None:
    agent = door.as_caller(replace(door.caller, actor="agent"))
    for change in ({"content": "There are three stores, and nobody pays."}, {"title": "Nobody pays"}):
        id = agent.remember("There are three stores.", dedupe=False, alike="keep").memory.id
        door.add_check(id, connection="warehouse", sql=COUNT, value="3")
        assert door.check(id).verified == 1
        agent.revise(id, tags=["shops"])
        assert state(door, id) == ("verified", None)
        agent.revise(id, **change)
        worked(door)
        assert (state(door, id), door.show(id).memory.checks[0].approved_by) == ((None, None), None)
        door.approve_check(id, 1)
        assert door.check(id).verified == 1


def test_an_export_carries_checks_and_no_address_and_an_agent_brings_none_that_runs(
    door: OnRecord, warehouse: Warehouse, tmp_path: Path
) -> None:
    id = reviewed(door)
    door.check(id)
    door.export(str(tmp_path / "all.jsonl"))
    text = (tmp_path / "all.jsonl").read_text(encoding="utf-8")
    assert COUNT in text
    assert str(warehouse.path) not in text
    with connect(tmp_path / "other.db") as other:
        other.import_(str(tmp_path / "all.jsonl"))
        assert state(other, id) == ("verified", None)
        assert change_names(other, id) == ["remember", "add_check", "check"]
    with connect(tmp_path / "agents.db") as opened:
        agent = opened.as_caller(replace(opened.caller, actor="agent"))
        agent.import_(str(tmp_path / "all.jsonl"))
        [check] = agent.show(id).memory.checks
        assert (check.approved_by, check.state) == (None, "unchecked")
        assert state(agent, id) == (None, None)


@pytest.mark.parametrize(
    "sql",
    [
        "delete from stores",
        "with gone as (delete from stores returning *) select count(*) from gone",
        "select * into stolen from stores",
        "select count(*) from stores; drop table stores",
        "pragma writable_schema = 1",
        "attach 'other.db' as other",
        "vacuum into '/tmp/copy.db'",
        "select readfile('/etc/passwd') from stores",
        "select load_extension('x') from stores",
        "select pg_read_file('/etc/passwd') from stores",
        "select pg_catalog.pg_sleep(9) from stores",
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from 'file.csv'",
        "from 'file.parquet'",
        "select count(*) from stores, \"file.csv\"",
        "select * from stores, generate_series(1, 9)",
        "select usename from pg_user",
        "select random() from stores",
        "select 3",
        "select 3 from stores limit 1",
        "select count(*) from stores for update",
        "select path from duckdb_databases",
        "select file from pragma_database_list",
        "select count(*) from stores tablesample bernoulli(1)",
        "select count(*) from stores where id operator(public.=) 1",
        "copy stores to '/tmp/stores'",
        "select count(*) from stores where id = ?",
        "stores are three",
        "",
        "(" * 5_000 + "select 1",
    ],
)  # fmt: skip
def test_only_one_query_that_reads_tables_may_be_a_check(
    sql: str, door: OnRecord, warehouse: Warehouse
) -> None:
    id = door.remember("There are three stores.").memory.id
    with pytest.raises(Invalid):
        door.add_check(id, connection="warehouse", sql=sql, value="3")
    with pytest.raises(ValueError):
        refuse(sql)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("delete from stores", "not authorized"),
        ("insert into stores values (4, 'Rome')", "not authorized"),
        ("attach ':memory:' as other", "not authorized"),
        ("select load_extension('x')", "not authorized"),
        ("pragma query_only = off", "not authorized"),
        ("with recursive n(i) as (select 1 union all select i + 1 from n) select count(i) from n", "longer than"),
        ("select sum(length(printf('%*c', 900000, 'x'))) from stores a, stores b, stores c", None),
    ],
)  # fmt: skip
def test_the_connection_refuses_it_too_where_the_text_does_not_show_it(
    sql: str, said: str | None, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the look at the text had let it pass."""
    monkeypatch.setattr(running, "refuse", lambda sql, kind: None)
    if said is None:
        assert query_result(_sqlite(warehouse), sql, 1, 60).first == 27 * 900_000
        return
    # Only what never ends is waited for in vain.
    with pytest.raises(CouldNotLook, match=said):
        query_result(_sqlite(warehouse), sql, 1, 1 if said == "longer than" else 60)
    assert warehouse.names == ["Bonn", "Lyon", "Oslo"]


def _sqlite(warehouse: Warehouse) -> Connection:
    return Connection(
        name="warehouse", tenant="default", kind="sqlite", address=f"sqlite:///{warehouse.path}"
    )


def test_a_query_is_read_in_the_words_of_its_database(
    door: OnRecord, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    id = reviewed(door, sql="select count(*) from [stores] indexed by by_id where id > 0")
    warehouse.change("create index by_id on stores (id)")
    assert door.check(id).verified == 1
    monkeypatch.setenv("ONRECORD_CHECK_CONNECTIONS", "warehouse=postgresql://reader@127.0.0.1:1/none")
    with connect(tmp_path / "memories.db") as other:
        other.add_check(
            id, connection="warehouse", sql="select count(*) from stores where name ~ '^B'", value="1"
        )
        with pytest.raises(Invalid, match="pg_sleep"):
            other.add_check(id, connection="warehouse", sql="select pg_sleep(9) from stores", value="1")


def test_nothing_that_the_parser_says_of_a_statement_is_logged(
    door: OnRecord, warehouse: Warehouse, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    id = door.remember("There are three stores.").memory.id
    for sql in ("call login('s3cr3t')", "create user a identified by 's3cr3t'", "explain select 's3cr3t'"):
        with pytest.raises(Invalid):
            door.add_check(id, connection="warehouse", sql=sql, value="3")
        parse_sql(sql)
    assert "s3cr3t" not in caplog.text + "".join(capfd.readouterr())


def test_a_function_that_this_machine_has_not_refutes_nothing(
    door: OnRecord, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "refuse", lambda sql, kind: None)
    with pytest.raises(CouldNotLook, match="no such function"):
        query_result(_sqlite(warehouse), "select of_a_later_version(id) from stores", 1, 9)


def test_a_million_rows_are_counted_no_further_than_they_matter(warehouse: Warehouse) -> None:
    warehouse.change(
        "insert into stores with recursive n(i) as (select 4 union all select i + 1 from n where i < 1000000)"
        " select i, 'Store' from n"
    )
    found = query_result(_sqlite(warehouse), "select id, name from stores", 5, 30)
    assert (found.rows, found.more) == (5, True)


def test_a_process_that_says_anything_else_is_not_believed(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for said in (b"", b"[]", b"{}", b'{"columns": 3}', b'{"rows": "many"}', b"x" * 10):
        monkeypatch.setattr(running, "_said", lambda work, seconds, said=said: (said, -9, False))
        with pytest.raises(CouldNotLook):
            query_result(_sqlite(warehouse), COUNT, 1, 1)


def test_nobody_could_look_is_no_failure(door: OnRecord, warehouse: Warehouse) -> None:
    gone, unknown = reviewed(door, connection="gone"), reviewed(door, connection="nowhere", value="4")
    done = door.check(all=True)
    assert (done.healthy, done.unverifiable) == (True, 2)
    assert state(door, gone) == ("unverifiable", "OSError: there is no such file")
    assert state(door, unknown) == (
        "unverifiable",
        "no connection nowhere is set up here for this tenant",
    )
    broken = reviewed(door, sql="select count(*) from shops")
    door.check(broken)
    assert state(door, broken) == ("failed", "it no longer runs: no such table: shops")


def test_a_worker_leaves_alone_what_only_another_can_look_at(
    door: OnRecord, warehouse: Warehouse, clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    id = reviewed(door)
    worked(door)
    assert state(door, id) == ("verified", None)
    clock.tick(hours=2)
    monkeypatch.setenv("ONRECORD_CHECK_CONNECTIONS", f"files=folder:///{warehouse.files}")
    with connect(tmp_path / "memories.db", clock=clock) as elsewhere:
        worked(elsewhere)
        assert len(door.checks(id).runs) == 1
        [told] = elsewhere.check(id).memories
        assert (told.outcomes[0].state, told.state) == ("unverifiable", "verified")
    assert state(door, id) == ("verified", None)


def test_checks_of_one_memory_are_run_by_whichever_worker_has_their_connection(
    door: OnRecord, warehouse: Warehouse, clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (warehouse.files / "notes").write_text("three stores")
    id = reviewed(door)
    hashed = hashlib.sha256(b"three stores").hexdigest()
    door.add_check(id, kind="file", connection="files", path="notes", sha256=hashed)

    def worker(settings: str) -> list[str]:
        monkeypatch.setenv("ONRECORD_CHECK_CONNECTIONS", settings)
        with connect(tmp_path / "memories.db", clock=clock) as there:
            worked(there)
            return [each.state for each in there.show(id).memory.checks]

    database, files = f"warehouse=sqlite:///{warehouse.path}", f"files=folder:///{warehouse.files}"
    assert worker(database) == ["verified", "unchecked"]
    assert worker(files) == ["verified", "verified"]
    warehouse.change("delete from stores")
    clock.tick(hours=2)
    assert worker(files) == ["verified", "verified"]
    assert worker(database) == ["failed", "verified"]


def test_a_check_of_the_catalog_needs_no_connection_to_be_run_by_a_worker(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONRECORD_CHECK_CONNECTIONS", raising=False)
    with connect(tmp_path / "m.db", clock=clock, embedder="none") as door:
        door.ingest(write_models(tmp_path / "source", "name"))
        id = door.remember("Stores have a city.").memory.id
        door.add_check(id, kind="entity", entity="warehouse.stores.city")
        worked(door)
        assert state(door, id)[0] == "failed"


def test_a_failure_stays_one_while_nobody_can_look(door: OnRecord, warehouse: Warehouse) -> None:
    id = reviewed(door, value="4")
    door.check(id)
    away = warehouse.path.rename(warehouse.path.with_name("away.db"))
    assert [each.state for each in door.check(id).memories[0].outcomes] == ["unverifiable"]
    assert state(door, id) == ("failed", "it returns 3, not 4")
    away.rename(warehouse.path)
    warehouse.change("insert into stores values (4, 'Rome')")
    door.check(id)
    assert state(door, id) == ("verified", None)


@pytest.mark.parametrize("value", ["1e9999999", "inf", "nan", "snan", "9" * 5_000])
def test_a_value_that_is_hardly_a_number_is_just_not_the_same(
    value: str, door: OnRecord, warehouse: Warehouse
) -> None:
    warehouse.change(f"create table odd as select '{value}' as it")
    lies, right = reviewed(door, sql="select it from odd"), reviewed(door)
    door.check(all=True)
    assert (state(door, lies)[0], state(door, right)[0]) == ("failed", "verified")


def test_a_tolerance_is_of_a_number_and_moves_with_its_memory(
    door: OnRecord, warehouse: Warehouse, tmp_path: Path
) -> None:
    id = reviewed(door, value="4", tolerance=1.5)
    assert door.check(id).verified == 1
    for value, tolerance in (("four", 1.0), ("4", -1.0), ("4", float("nan")), ("4", float("inf"))):
        with pytest.raises(Invalid, match="tolerance"):
            door.add_check(id, connection="warehouse", sql=COUNT, value=value, tolerance=tolerance)
    door.export(str(tmp_path / "all.jsonl"))
    with connect(tmp_path / "other.db") as other:
        other.import_(str(tmp_path / "all.jsonl"))
        assert other.show(id).memory.checks == door.show(id).memory.checks


@pytest.mark.parametrize(
    ("expected", "seen"),
    [("true", True), ("False", False), (True, 1), ("1", True), ("two  spaces\n", "two spaces"), ("1.50", "1.5")],
)  # fmt: skip
def test_a_value_is_the_same_however_it_is_written(expected: object, seen: object) -> None:
    result = Result(columns=("it",), types=("any",), rows=1, more=False, first=seen)
    assert compared(Expectation(value=expected), result) == ("verified", None)  # type: ignore[arg-type]


def test_what_a_query_returns_is_kept_only_as_far_as_it_can_be_read_again(
    door: OnRecord, warehouse: Warehouse, tmp_path: Path
) -> None:
    columns = ", ".join(f'id as "{"c" * 250}{at}"' for at in range(210))
    id = door.remember("Wide", query=f'select id as " ", {columns} from stores').memory.id
    door.add_check(id, kind="query", connection="warehouse")
    assert (door.check(id).verified, door.check(id).verified) == (1, 1)
    door.export(str(tmp_path / "all.jsonl"))
    with connect(tmp_path / "other.db") as other:
        other.import_(str(tmp_path / "all.jsonl"))
        assert other.show(id).memory.checks == door.show(id).memory.checks


def test_a_file_of_the_working_folder_is_no_library_of_a_check(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sqlite3", "onrecord", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert query_result(_sqlite(warehouse), COUNT, 1, 9).first == 3


def test_a_machine_that_starts_no_process_could_not_look(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running.sys, "executable", "/nowhere/python")
    with pytest.raises(CouldNotLook, match="no process"):
        query_result(_sqlite(warehouse), COUNT, 1, 9)


def test_a_connection_is_of_one_tenant_and_its_password_is_told_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "postgresql://reader:s3cr3t-pass@127.0.0.1:1/none"
    entries = [f"a={secret}", " acme/b=sqlite:///b.db", "# none", "*/c=folder:///c"]
    found = read_connections("x", entries, "default")
    assert [(each.name, each.tenant, each.kind) for each in found] == [
        ("a", "default", "postgresql"),
        ("b", "acme", "sqlite"),
        ("c", "*", "folder"),
    ]
    assert "s3cr3t" not in repr(found)
    for wrong in ("s3cr3t", "a=mysql://u:s3cr3t@h/d", "a b=sqlite:///s3cr3t"):
        with pytest.raises(Invalid) as refused:
            read_connections("x", [wrong], "default")
        assert "s3cr3t" not in str(refused.value)
    monkeypatch.setenv("ONRECORD_CHECK_CONNECTIONS", f"warehouse={secret}")
    monkeypatch.setenv("ONRECORD_CHECK_TIMEOUT", "3")
    with connect(tmp_path / "m.db", embedder="none") as door:
        id = reviewed(door)
        told = [repr(door.check(id)), repr(door.checks(id)), repr(door.show(id))]
        assert door.show(id).memory.check_state == "unverifiable"
    told.append((tmp_path / "m.db").read_bytes().decode("latin-1"))
    assert not [text for text in told if "s3cr3t" in text or "reader" in text]


def test_an_address_on_a_line_of_a_file_may_hold_commas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "connections"
    kept.write_text("# of several servers\nwarehouse=postgresql://reader:a,b=c@one:1,two:2/shop\n")
    monkeypatch.setenv("ONRECORD_CHECK_CONNECTIONS_FILE", str(kept))
    with connect(tmp_path / "m.db", embedder="none") as door:
        id = door.remember("There are three stores.").memory.id
        assert [(each.name, each.kind) for each in door.checks(id).connections] == [
            ("warehouse", "postgresql")
        ]


def test_a_file_and_its_lines_are_checked_by_their_hash(door: OnRecord, warehouse: Warehouse) -> None:
    path = warehouse.files / "orders.sql"
    path.write_text("select 1\nfrom orders\n", encoding="utf-8")
    os.symlink("/etc/passwd", warehouse.files / "out")
    os.mkfifo(warehouse.files / "pipe")
    line = hashlib.sha256(b"from orders\n").hexdigest()
    of_file = {"kind": "file", "connection": "files", "sql": None, "value": None}
    ids = {
        name: reviewed(door, **of_file, path=name, sha256=line, **lines)
        for name, lines in {
            "orders.sql": {"first_line": 2, "last_line": 2},
            "out": {},
            "../warehouse.db": {},
            "pipe": {},
            "gone.sql": {},
        }.items()
    }
    door.check(all=True)
    states = {name: state(door, id)[0] for name, id in ids.items()}
    assert states == {
        "orders.sql": "verified",
        "out": "unverifiable",
        "../warehouse.db": "unverifiable",
        "pipe": "unverifiable",
        "gone.sql": "failed",
    }
    path.write_text("select 1\nfrom refunds\n", encoding="utf-8")
    door.check(ids["orders.sql"])
    assert state(door, ids["orders.sql"]) == ("failed", "lines 2 to 2 of orders.sql have changed")


def test_every_false_claim_of_fifty_is_flagged_by_one_sweep_and_no_true_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    monkeypatch.setenv("ONRECORD_CHECK_CONNECTIONS", checked_claims.settings(tmp_path))
    measured = checked_claims.measure(tmp_path)
    assert (measured.pop("claims"), measured.pop("changes"), measured.pop("false")) == (50, 10, 25)
    assert measured == {"not verified before": [], "missed": [], "flagged wrongly": []}


def test_no_edit_by_hand_of_a_file_lets_a_check_run(warehouse: Warehouse, tmp_path: Path) -> None:
    file = tmp_path / "kept" / "memories.yaml"
    with connect(f"yaml:{file.parent}") as door:
        agent = door.as_caller(replace(door.caller, actor="agent"))
        id = agent.remember("Three stores.", query="select id from stores").memory.id
        agent.add_check(id, connection="warehouse", sql=COUNT, value="3")
        door.add_check(id, kind="query", connection="warehouse")
        assert door.check(id).verified == 1
        known = door.show(id).memory.checks
    file.write_text(
        file.read_text().replace("learning: Three stores.", "learning: Three stores.\n  tags: [shops]")
    )
    with connect(f"yaml:{file.parent}") as door:
        assert door.show(id).memory.tags == ("shops",)
        assert door.show(id).memory.checks == known
    file.write_text((text := file.read_text()).replace("Three stores.", "Three stores, and nobody pays."))
    with connect(f"yaml:{file.parent}") as door:
        assert [each.approved_by for each in door.show(id).memory.checks] == [None, None]
    file.write_text(text)
    forged = text.replace("approved_by: null", "approved_by: ann").replace(
        "select id from", "select name from"
    )
    assert forged.count("approved_by: ann") == 2
    file.write_text(forged.replace("check_state: verified", "check_state: unchecked"))
    with connect(f"yaml:{file.parent}") as door:
        assert door.show(id).memory.query == "select name from stores"
        assert [each.approved_by for each in door.show(id).memory.checks] == [None, None]
        assert door.check(id).memories == ()
