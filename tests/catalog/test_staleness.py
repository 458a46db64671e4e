"""DOES a memory go stale exactly when what it is about has changed, whatever source tells it?"""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.catalog.renamed_columns import renamed_columns
from onrecord.catalog.staleness import reason_of, staleness
from onrecord.model.catalog import Model, Part
from onrecord.model.limits import REASON_CHARACTERS
from onrecord.model.memory import Memory
from onrecord.testing.shop import approved, described
from onrecord.testing.upkeep import worked
from tests.catalog.staleness_table import (
    ADAPTERS,
    BASE,
    CHANGES,
    MEMORIES,
    Adapter,
    DatahubDatasets,
    DbtManifest,
    ModelFiles,
    PostgresDatabase,
    unsaid,
)
from tests.conftest import Clock

pytestmark = pytest.mark.usefixtures("words_alone")


@pytest.fixture(params=[*ADAPTERS, "DataHub"])
def adapter(request: pytest.FixtureRequest, tmp_path: Path) -> Adapter:
    if request.param == "DataHub":
        return DatahubDatasets(request.getfixturevalue("hub"))
    return ADAPTERS[request.param](tmp_path / "source")


@pytest.fixture
def door(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnRecord]:
    monkeypatch.setenv("ONRECORD_WATCH", "yes")
    with connect(tmp_path / "memory.db", clock=clock) as memory:
        yield memory


def stale(door: OnRecord) -> dict[str, str]:
    """The memories that are stale, and why."""
    found = door.browse(statuses=["stale"], limit=100).memories
    return {memory.content: memory.status_reason or "" for memory in found}


@pytest.mark.parametrize("change", CHANGES)
def test_of_eight_kinds_of_memory_those_go_stale_that_a_change_concerns(
    change: str, adapter: Adapter, door: OnRecord, clock: Clock
) -> None:
    told = CHANGES[change]
    expected = set() if unsaid(change, adapter) else set(told.stale)
    door.ingest(adapter.write(BASE))
    clock.tick(days=1)
    for kind, given in MEMORIES.items():
        door.remember(kind, alike="keep", **given)
    source = adapter.write(told.change(BASE))
    impact = door.impact(source)
    foretold = {each.title: each.reason for each in (*impact.memories, *impact.example_queries)}
    assert (set(foretold), impact.total, impact.healthy) == (expected, len(expected), not expected)
    assert stale(door) == {}
    clock.tick(days=1)
    door.ingest(source)
    day = f"{clock.now:%Y-%m-%d}"
    worked(door)
    found = stale(door)
    assert set(found) == expected
    for kind, reason in found.items():
        assert told.reason in reason, kind
        assert f"since {day}" in reason, kind
        assert foretold[kind] == reason.replace(f" (since {day})", "")
    # What is written from now on is about what is there now.
    if "the model" in expected and change != "the model is gone":
        door.remember("after", entities=["shop.orders"], alike="keep")
    clock.tick(days=1)
    worked(door)
    assert set(stale(door)) == expected
    door.ingest(adapter.write(BASE))
    worked(door)
    # For what was written meanwhile this is a change like any other.
    assert set(stale(door)) <= {"after"}


#: Those of which PostgreSQL tells in its own way: other names of types, tables without files, comments.
ASKED_OF_POSTGRES = (
    "a column is renamed",
    "a column has another type",
    "the columns are in another order",
    "the model is gone",
    "it is described anew",
)


@pytest.mark.parametrize("change", ASKED_OF_POSTGRES)
def test_a_postgres_database_tells_the_same(
    change: str, postgres_dsn: str, door: OnRecord, clock: Clock
) -> None:
    database = PostgresDatabase(postgres_dsn)
    known = {"datasource": "shop"}
    door.ingest(database.write(BASE), **known)
    clock.tick(days=1)
    for kind, given in MEMORIES.items():
        door.remember(kind, alike="keep", **given)
    source = database.write(CHANGES[change].change(BASE))
    impact = door.impact(source, **known)
    foretold = {each.title: each.reason for each in (*impact.memories, *impact.example_queries)}
    clock.tick(days=1)
    door.ingest(source, **known)
    worked(door)
    day = f" (since {clock.now:%Y-%m-%d})"
    assert set(foretold) == CHANGES[change].stale
    assert {kind: reason.replace(day, "") for kind, reason in stale(door).items()} == foretold
    door.ingest(database.write(BASE), **known)
    worked(door)
    assert stale(door) == {}


def test_the_table_has_twelve_changes_and_eight_kinds_of_memory() -> None:
    assert (len(CHANGES), len(MEMORIES)) == (12, 8)


def test_the_watcher_reads_its_sources_again_and_one_that_fails_says_nothing(
    adapter: Adapter, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = adapter.write(BASE)
    monkeypatch.setenv("ONRECORD_WATCH", "yes")
    monkeypatch.setenv("ONRECORD_SOURCES", f"{tmp_path / 'other.db'},{source}")
    (tmp_path / "other.db").write_bytes(b"not a database")
    with connect(tmp_path / "memory.db", clock=clock) as door:
        door.ingest(source)
        door.remember("The amount is net.", entities=["shop.orders.amount"])
        worker = door.worker
        worker.begin()
        adapter.fail()
        # For an hour it cannot be read.
        for _ in range(12):
            while worker.run_once():
                pass
            clock.tick(minutes=5)
        assert stale(door) == {}
        assert door.show("1").memory.version == 1
        (failed,) = door.status().failures
        assert (failed.name, failed.attempts > 1) == ("watch", True)
        assert "other.db" in failed.error
        adapter.mend()
        adapter.write(
            {"customers": BASE["customers"], "orders": CHANGES["a column is removed"].change(BASE)["orders"]}
        )
        clock.tick(hours=1)
        while worker.run_once():
            pass
        assert stale(door) == {
            "The amount is net.": f"shop.orders.amount is gone (since {clock.now:%Y-%m-%d})"
        }
        assert [each.by for each in door.history("1").versions] == ["ann", "watcher"]
        entries = [entry for entry in door.audit().entries if entry.operation == "ingest"]
        # Reading again what has not changed leaves no line.
        assert [entry.user for entry in entries] == ["watcher", "ann"]


def test_what_was_imported_is_looked_at_whenever_it_changed(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ModelFiles(tmp_path / "source")
    with connect(tmp_path / "unwatched.db", clock=clock) as elsewhere:
        elsewhere.ingest(source.write(BASE))
        clock.tick(days=1)
        elsewhere.remember("The amount is net.", entities=["shop.orders.amount"])
        clock.tick(days=1)
        elsewhere.ingest(source.write(CHANGES["a column has another type"].change(BASE)))
        elsewhere.export(str(tmp_path / "export.jsonl"), all_tenants=True)
    clock.tick(days=9)
    monkeypatch.setenv("ONRECORD_WATCH", "yes")
    with connect(tmp_path / "watched.db", clock=clock) as door:
        door.remember("Something else.", id="other")
        worked(door)
        door.import_(str(tmp_path / "export.jsonl"), keep_tenants=True)
        clock.tick(hours=1)
        worked(door)
        assert stale(door) == {
            "The amount is net.": "shop.orders.amount was REAL and is TEXT (since 2026-03-03)"
        }


def memory(*entities: str, **more: Any) -> Memory:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    said: dict[str, Any] = {
        "tenant": "t",
        "id": "1",
        "kind": "fact",
        "dimension": "knowledge",
        "title": "x",
        "content": "x",
        "confidence": "high",
        "scope": "tenant",
        "owner": "ann",
        "author": "ann",
        "origin": "person",
        "created_at": at,
        "updated_at": at,
        "valid_from": at,
        "status": "active",
        "entities": entities,
    }
    return Memory(**said | more)


def model(*parts: Part, **more: Any) -> HeldCatalog:
    return HeldCatalog(models=(Model(datasource="shop", name="orders", parts=parts, **more),))


def whats(told: Memory, then: HeldCatalog, now: HeldCatalog) -> list[str]:
    return [finding.what for finding in staleness(told, then, now)]


def test_what_a_catalog_does_not_know_says_nothing() -> None:
    typed, untyped = Part(name="amount", type="INT"), Part(name="amount")
    about = memory(
        "shop.orders.amount", "shop.orders", "thing:lamp", "memory:7", "urn:li:dataset:x", "unknown.a.b"
    )
    for then, now in (
        (model(typed), model(untyped)),
        (model(untyped), model(typed)),
        (HeldCatalog(), model(typed)),
        (HeldCatalog(), HeldCatalog()),
        (model(), model(typed)),
        (model(typed, state="deprecated"), model(typed, state="deprecated")),
        # A view that cannot be read at the moment is listed without columns.
        (model(typed), model()),
    ):
        assert whats(about, then, now) == []


def test_systems_datasources_and_parts_of_another_kind_are_told_too() -> None:
    then = HeldCatalog(more_datasources=("shop",), systems=frozenset({"crm"}))
    assert whats(memory("system:crm", "shop"), then, HeldCatalog()) == ["system:crm is gone", "shop is gone"]
    key, measure = Part(name="id"), Part(name="amount", kind="measure")
    assert whats(
        memory("shop.orders.amount"), model(key, Part(name="amount", type="INT")), model(key, measure)
    ) == ["shop.orders.amount was INT and is a measure"]


def test_a_reason_names_a_few_columns_and_is_never_too_long() -> None:
    many = [Part(name=f"a_column_with_a_long_name_{number}" * 3, type="INT") for number in range(60)]
    other = [replace(part, type="TEXT") for part in many[:30]]
    findings = staleness(memory("shop.orders"), model(*many), model(*other))
    assert len(findings) == 1 + 5 + 1
    assert "and 25 more" in findings[0].what
    assert findings[-1].what == "25 more columns of shop.orders have another type"
    assert len(reason_of(findings, lambda finding: None)) == REASON_CHARACTERS


def test_of_columns_that_vanished_the_likeliest_is_proposed_and_never_two() -> None:
    def named(*names: str, **more: Any) -> Model:
        return Model(
            datasource="s", name="m", parts=tuple(Part(name=name, type="INT", **more) for name in names)
        )

    def renamed(was: Model, now: Model) -> dict[str, str]:
        return {old: found.to for old, found in renamed_columns(was, now).items()}

    assert renamed(named("a", "b"), named("a", "c")) == {"b": "c"}
    # By their places, however many; and by content, wherever they stand.
    assert renamed(named("a", "b", "c"), named("x", "y", "z")) == {"a": "x", "b": "y", "c": "z"}
    moved = Part(name="net", type="INT", description="Net of refunds.")
    was = replace(named("a", "b"), parts=(replace(moved, name="old"), *named("a", "b").parts))
    now = replace(named("a", "b"), parts=(*named("a", "b", "c").parts, moved))
    assert renamed(was, now) == {"old": "net"}
    # Two that are as likely are nobody's guess, nor is another type in the same place.
    assert renamed(named("a", "b", "c"), named("a", "x", "c", "y", "z")) == {"b": "x"}
    assert renamed(named("a", "b", "c", "d"), named("b", "d", "x", "y")) == {}
    text = replace(named("a"), parts=(Part(name="a", type="INT"), Part(name="x", type="TEXT")))
    assert renamed(named("a", "b"), text) == {}


def test_a_manifest_without_the_list_of_the_database_does_not_say_that_columns_are_gone(
    door: OnRecord, clock: Clock, tmp_path: Path
) -> None:
    dbt = DbtManifest(tmp_path / "dbt")
    door.ingest(dbt.write(BASE))
    clock.tick(days=1)
    for kind, given in MEMORIES.items():
        door.remember(kind, alike="keep", **given)

    def undescribed() -> str:
        path = Path(dbt.write(BASE))
        told = json.loads(path.read_text())
        told["nodes"]["model.shop.orders"]["columns"].pop("amount")
        path.write_text(json.dumps(told))
        (dbt.folder / "catalog.json").unlink()
        return str(path)

    source = undescribed()
    # The column is in no file, but nobody has looked into the database.
    assert door.impact(source).healthy
    clock.tick(days=1)
    door.ingest(source)
    worked(door)
    assert stale(door) == {}
    door.ingest(dbt.write(BASE))
    worked(door)
    assert stale(door) == {}


def test_promoted_values_of_a_renamed_column_are_named_and_stay_where_they_can_be_taken_back(
    door: OnRecord, clock: Clock, tmp_path: Path
) -> None:
    source = ModelFiles(tmp_path / "source")
    door.ingest(source.write(BASE))
    clock.tick(days=1)
    door.remember("Amounts are net.", entities=["shop.orders.amount"], id="a")
    approved(door, described())
    changeset = door.apply("shop.orders").changeset
    clock.tick(days=1)
    door.ingest(source.write(CHANGES["a column is renamed"].change(BASE)))
    worked(door)
    accepted = door.accept_renames()
    assert [(each.entity, each.field, each.to) for each in accepted.left] == [
        ("shop.orders.amount", "description", "shop.orders.total")
    ]
    assert door.show("a").memory.entities == ("shop.orders.total",)
    approved(door, described(entity="shop.orders.total"))
    assert door.apply("shop.orders").changeset != changeset
