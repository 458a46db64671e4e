"""ARE example queries a regression suite? What breaks leaves recall, waits with a proposed rewrite, and comes back."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from onrecord import OnRecord, connect
from onrecord.errors import Forbidden
from onrecord.surfaces.cli import main
from onrecord.testing.builders import Clock
from onrecord.testing.upkeep import worked

from .conftest import Warehouse

QUERY = "SELECT s.name FROM stores s ORDER BY s.name"


def write_models(folder: Path, column: str) -> str:
    models = folder / "models" / "warehouse"
    models.mkdir(parents=True, exist_ok=True)
    (models / "stores.yaml").write_text(
        "name: stores\ndata_source: warehouse\nsql_table: stores\n"
        f"columns:\n- {{name: id, type: INT}}\n- {{name: {column}, type: TEXT}}\n",
        encoding="utf-8",
    )
    return str(folder)


@pytest.fixture
def watched(warehouse: Warehouse, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> OnRecord:
    monkeypatch.setenv("ONRECORD_WATCH", "yes")
    door = connect(tmp_path / "memories.db", clock=clock)
    door.ingest(write_models(tmp_path / "source", "name"))
    return door


def test_a_query_keeps_what_it_returned_and_what_it_reads(watched: OnRecord, warehouse: Warehouse) -> None:
    id = watched.remember("Names of stores", query=QUERY).memory.id
    assert watched.show(id).memory.entities == ("warehouse.stores", "warehouse.stores.name")
    watched.add_check(id, kind="query", connection="warehouse")
    assert watched.check(id).verified == 1
    [check] = watched.show(id).memory.checks
    assert (check.expect.columns, check.expect.types) == (("name",), ("str",))
    assert (check.expect.min_rows, check.expect.max_rows) == (1, 6)
    warehouse.change("insert into stores values (4, 'Rome')")
    assert watched.check(id).healthy
    warehouse.change("delete from stores")
    watched.check(id)
    assert watched.show(id).memory.status == "stale"
    assert watched.recall("names of stores").hits == ()
    warehouse.change("insert into stores values (1, 'Bonn')")
    watched.check(id)
    assert watched.show(id).memory.status == "active"


@pytest.mark.parametrize("looks_first", ["the check", "the watcher"])
def test_a_broken_query_waits_with_a_rewrite_and_comes_back_when_mended(
    watched: OnRecord, warehouse: Warehouse, tmp_path: Path, clock: Clock, looks_first: str
) -> None:
    id = watched.remember("Names of stores", query=QUERY).memory.id
    other = watched.remember("How many stores", query="SELECT count(s.id) AS many FROM stores s").memory.id
    for each in (id, other):
        watched.add_check(each, kind="query", connection="warehouse")
    assert watched.check(queries=True).healthy
    warehouse.change("alter table stores rename column name to label")
    clock.tick(days=1)
    if looks_first == "the check":
        watched.check(all=True)
        assert watched.show(id).memory.status_reason is not None
    clock.tick(hours=2)
    watched.ingest(write_models(tmp_path / "source", "label"))
    if looks_first == "the check":
        done = watched.check(queries=True)
        [broken] = [each for each in done.queries if each.problem]
        assert (broken.memory, broken.rewrite) == (id, "SELECT s.label FROM stores s ORDER BY s.label")
    clock.tick(hours=2)
    worked(watched)
    memory = watched.show(id).memory
    assert (memory.status, memory.check_state) == ("stale", "failed")
    assert "perhaps renamed to warehouse.stores.label" in (memory.status_reason or "")
    assert watched.show(other).memory.status == "active"
    [rename] = watched.renames().renames
    assert rename.memories == (id,)
    [rewrite] = rename.rewrites
    assert (rewrite.memory, rewrite.query) == (id, "SELECT s.label FROM stores s ORDER BY s.label")
    watched.accept_renames()
    mended = watched.show(id).memory
    assert (mended.status, mended.check_state) == ("active", "unchecked")
    assert mended.query == "SELECT s.label FROM stores s ORDER BY s.label"
    assert watched.check(id).healthy
    assert watched.show(id).memory.checks[0].expect.columns == ("label",)


def test_a_query_follows_when_all_its_columns_are_renamed_at_once(
    watched: OnRecord, tmp_path: Path, clock: Clock
) -> None:
    query = "SELECT s.name FROM stores s WHERE s.id > 1 ORDER BY s.name"
    id = watched.remember("Later stores", query=query).memory.id
    model = Path(write_models(tmp_path / "source", "label")) / "models" / "warehouse" / "stores.yaml"
    model.write_text(
        model.read_text(encoding="utf-8").replace("name: id,", "name: number,"), encoding="utf-8"
    )
    clock.tick(days=1)
    watched.ingest(str(tmp_path / "source"))
    worked(watched)
    rewritten = "SELECT s.label FROM stores s WHERE s.number > 1 ORDER BY s.label"
    assert [each.rewrite for each in watched.check(queries=True).queries] == [rewritten]
    assert watched.accept_renames().changed == 1
    memory = watched.show(id).memory
    assert (memory.status, memory.query) == ("active", rewritten)


def test_a_build_is_told_by_an_exit_code_and_a_report(
    watched: OnRecord,
    warehouse: Warehouse,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    id = watched.remember("Names of stores", query=QUERY).memory.id
    watched.add_check(id, kind="query", connection="warehouse")
    watched.check(id)
    watched.remember("No SQL", query="SELECT FROM WHERE (")
    warehouse.change("drop table stores")
    watched.close()

    def said(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as left:
            main(["--db", str(tmp_path / "memories.db"), "check", "--queries", *words])
        return int(left.value.code or 0), capsys.readouterr().out

    code, text = said()
    assert code == 1
    assert "2 example queries: 1 do not fit." in text
    code, report = said("--format", "junit")
    assert code == 1
    suite = ElementTree.fromstring(report)
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "2",
        "skipped": "0",
    }
    assert "no such table: stores" in report


def test_a_claim_that_nobody_checks_says_so_with_what_one_query_says(watched: OnRecord) -> None:
    id = watched.remember("There are many stores.", entities=["stores.name"]).memory.id
    [table] = watched.checks(id).checkable
    assert (table.entity, table.connection, table.rows) == ("warehouse.stores", "warehouse", None)
    assert [each.rows for each in watched.checks(id, observe=True).checkable] == [3]
    agent = watched.as_caller(replace(watched.caller, actor="agent"))
    with pytest.raises(Forbidden):
        agent.checks(id, observe=True)
    watched.add_check(id, connection="warehouse", sql="select count(*) from stores", value="3")
    assert watched.checks(id).checkable == ()
