"""DOES the catalog hold what the sources tell, with its history, and do the memories keep what they can?"""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.catalog import ingest as ingesting
from onrecord.catalog import rendering, source_comparison
from onrecord.catalog.ingest import EntityChanges, Ingested
from onrecord.catalog.records import RECORD_VERSION, records_of_model
from onrecord.catalog.resolution import resolve
from onrecord.catalog.stored import PRIORITY, StoredCatalog
from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, OnRecordError, StoreUnavailable
from onrecord.model.catalog import Join, Model, Part
from onrecord.model.collections import ENTITIES, Home
from onrecord.model.limits import PERMISSIONS
from onrecord.model.memory import Memory, Version
from onrecord.store.records.archive import SqlRestoring
from onrecord.store.records.writing import SqlWriting
from onrecord.testing.embedder import StubEmbedder
from tests.conftest import Clock
from tests.databases import BACKENDS

ORDERS = """
name: orders
data_source: shop
sql_table: public.orders
description: One row for each order.
columns:
  - {name: id, type: INT, primary_key: true}
  - {name: amount, type: DOUBLE, description: Gross in euros.}
  - {name: status, type: TEXT}
measures:
  - {name: revenue, formula: "amount:sum"}
"""
CUSTOMERS = """
name: customers
data_source: shop
sql_table: public.customers
columns:
  - {name: id, type: INT}
  - {name: nickname, type: TEXT, hidden: true}
"""
LEDGER = """
name: ledger
data_source: shop
sql_table: public.ledger
hidden: true
columns:
  - {name: booked_quietly, type: DATE}
"""
ARCHIVE = """
name: orders_archive
data_source: shop
sql_table: public.orders_archive
columns:
  - {name: amount, type: DOUBLE}
"""
SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"


class Folder:
    """Model files that a test writes, changes and takes away."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "models").mkdir(parents=True)

    def __str__(self) -> str:
        return str(self.root)

    def write(self, *models: str, datasource: str = "shop") -> "Folder":
        for text in models:
            name = text.split("name: ", 1)[1].split("\n", 1)[0]
            path = self.root / "models" / datasource / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("data_source: shop", f"data_source: {datasource}"))
        return self

    def remove(self, model: str) -> None:
        (self.root / "models" / "shop" / f"{model}.yaml").unlink()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "catalog").write(ORDERS, CUSTOMERS)


def a_manifest(path: Path, **models: dict[str, Any]) -> Path:
    """What dbt writes of some models, as far as it is read."""
    nodes = {
        f"model.shop.{name}": {
            "resource_type": "model",
            "name": name,
            "package_name": "shop",
            "database": "warehouse",
            "schema": "main",
            "config": {"materialized": "table"},
            "columns": {"amount": {"name": "amount"}},
            **told,
        }
        for name, told in models.items()
    }
    metadata = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "project_name": "shop",
        "adapter_type": "duckdb",
    }
    path.write_text(json.dumps({"metadata": metadata, "nodes": nodes, "sources": {}}))
    return path


def made_from(*models: str) -> dict[str, Any]:
    return {"depends_on": {"nodes": [f"model.shop.{name}" for name in models]}}


def a_database(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


@contextmanager
def catalog_of(door: OnRecord) -> Iterator[StoredCatalog]:
    with door._store.reading(door.caller, door._clock()) as reading:
        yield StoredCatalog(reading)


def state_of(door: OnRecord) -> list[tuple[str, tuple[Version, ...]]]:
    """Every record of the catalog with its past."""
    with door._store.archive() as archive:
        tenant = Home(door.caller.tenant, ENTITIES)
        if tenant not in archive.homes():
            return []
        return [(history.id, history.versions) for history in archive.histories(tenant)]


def standing(door: OnRecord) -> dict[str, tuple[Any, ...]]:
    """What the catalog says today, whatever its past."""
    said = ("title", "content", "tags", "entities", "metadata", "status", "status_reason")
    return {
        id: tuple(getattr(versions[-1].memory, field) for field in said)
        for id, versions in state_of(door)
        if versions[-1].memory.is_live
    }


def resolved(door: OnRecord, reference: str) -> str:
    with catalog_of(door) as catalog:
        return resolve(reference, catalog).canonical


def is_there(door: OnRecord, reference: str) -> bool:
    try:
        return bool(resolved(door, reference))
    except Invalid:
        return False


def nothing(answer: Ingested) -> bool:
    return answer.added == answer.changed == answer.gone == EntityChanges()


def entities_of(door: OnRecord, id: str) -> tuple[str, ...]:
    return door.show(id).memory.entities


def drain(door: OnRecord) -> None:
    """Do all that was put off."""
    while door.worker.run_once():
        pass


def healthy(door: OnRecord) -> bool:
    return not door.doctor().problems


# ---- what an ingest does -----------------------------------------------------------------------------------


@pytest.mark.parametrize("db", BACKENDS, indirect=True)
def test_everything_in_a_folder_of_models_is_added_once(memory: OnRecord, folder: Folder) -> None:
    first = memory.ingest(str(folder))
    assert first.added == EntityChanges(datasources=1, models=2, columns=5, measures=1)
    assert (first.changed, first.gone, first.source) == (EntityChanges(), EntityChanges(), "yaml")
    before = state_of(memory)
    assert nothing(memory.ingest(str(folder)))
    assert state_of(memory) == before
    assert healthy(memory)


@pytest.mark.parametrize("db", BACKENDS, indirect=True)
def test_the_catalog_is_as_it_was_known_at_a_time(memory: OnRecord, folder: Folder, clock: Clock) -> None:
    before_all = clock.now
    clock.tick()
    memory.ingest(str(folder))
    clock.tick()
    about = memory.remember("Amounts are gross.", entities=["shop.orders.amount"]).memory.id
    then = clock.now
    clock.tick()
    folder.write(ORDERS.replace("name: amount, type: DOUBLE", "name: amount_net, type: DOUBLE"))
    folder.remove("customers")
    memory.ingest(str(folder))
    models = [memory.entities("shop", kind="model", known_at=at, references=True) for at in (then, None)]
    told = [[(each.canonical, each.references) for each in listed.entities] for listed in models]
    assert told == [[("shop.customers", 0), ("shop.orders", 1)], [("shop.orders", 0)]]
    was, is_now = (memory.inspect("orders", known_at=at).sections for at in (then, None))
    columns = [[part["name"] for part in each["columns"]] for each in (was, is_now)]
    assert ("amount" in columns[0], "amount" in columns[1], "amount_net" in columns[1]) == (True, False, True)
    assert [each["id"] for each in was["learnings"]] == [about]
    assert "learnings" not in is_now
    assert memory.entities(known_at=before_all).total == 0
    with pytest.raises(NotFound):
        memory.inspect("orders", known_at=before_all)
    clock.tick()
    last, first = memory.moments(catalog=True).moments
    changes = memory.diff(first, until=last, catalog=True).memories
    became = {each.id: each.change for each in changes}
    assert (became["shop.customers"], became["shop.orders"]) == ("retired", "revised")
    assert (became["shop.orders.amount"], became["shop.orders.amount_net"]) == ("retired", "added")


def test_a_dry_run_tells_what_would_happen_and_changes_nothing(memory: OnRecord, folder: Folder) -> None:
    dry = memory.ingest(str(folder), dry_run=True)
    assert dry.dry_run
    assert state_of(memory) == []
    real = memory.ingest(str(folder))
    assert (real.added, real.dry_run) == (dry.added, False)
    kept = memory.remember("Amounts are gross", entities=["orders.amount"]).memory.id
    folder.write(ORDERS.replace("  - {name: amount, type: DOUBLE, description: Gross in euros.}\n", ""))
    folder.remove("customers")
    before = state_of(memory)
    would = memory.ingest(str(folder), dry_run=True)
    assert (would.gone, would.changed) == (
        EntityChanges(models=1, columns=3),
        EntityChanges(datasources=1, models=1),
    )
    assert state_of(memory) == before
    assert entities_of(memory, kept) == ("shop.orders.amount",)


def test_only_what_differs_is_counted_and_has_a_new_version(
    memory: OnRecord, folder: Folder, clock: Clock
) -> None:
    memory.ingest(str(folder))
    clock.tick()
    folder.write(
        ORDERS.replace("Gross in euros", "Net in euros") + '  - {name: aov, formula: "amount:avg"}\n'
    )
    answer = memory.ingest(str(folder))
    assert answer.added == EntityChanges(measures=1)
    # The model names its measures, so it says something new as well.
    assert answer.changed == EntityChanges(models=1, columns=1)
    assert answer.gone == EntityChanges()
    numbers = {id: len(versions) for id, versions in state_of(memory)}
    assert numbers.pop("shop.orders") == numbers.pop("shop.orders.amount") == 2
    assert set(numbers.values()) == {1}


def test_an_entity_has_a_history(memory: OnRecord, folder: Folder, clock: Clock) -> None:
    memory.ingest(str(folder))
    first = clock.now
    clock.tick(days=1)
    folder.write(ORDERS.replace("Gross in euros", "Net in euros"))
    memory.ingest(str(folder))
    clock.tick(days=1)
    folder.remove("orders")
    memory.ingest(str(folder))
    versions = dict(state_of(memory))["shop.orders.amount"]
    assert [version.memory.status for version in versions] == ["active", "active", "archived"]
    assert [version.change for version in versions] == ["ingest"] * 3
    assert ["Gross" in version.memory.content for version in versions] == [True, False, False]
    assert (versions[0].at, versions[2].memory.valid_to) == (first, clock.now)


def test_a_part_and_a_model_that_come_back_go_on_with_their_history(
    memory: OnRecord, folder: Folder, clock: Clock
) -> None:
    memory.ingest(str(folder))
    whole = standing(memory)
    folder.write(ORDERS.replace("  - {name: status, type: TEXT}\n", ""))
    folder.remove("customers")
    clock.tick()
    gone = memory.ingest(str(folder)).gone
    assert gone == EntityChanges(models=1, columns=3)
    assert not is_there(memory, "shop.orders.status")
    assert not is_there(memory, "shop.customers")
    folder.write(ORDERS, CUSTOMERS)
    clock.tick()
    back = memory.ingest(str(folder))
    assert back.added == EntityChanges(models=1, columns=3)
    assert back.changed == EntityChanges(datasources=1, models=1)
    assert standing(memory) == whole
    assert [each.number for each in dict(state_of(memory))["shop.customers.id"]] == [1, 2, 3]
    assert nothing(memory.ingest(str(folder)))
    assert healthy(memory)


def test_what_is_hidden_resolves_and_is_never_found(memory: OnRecord, folder: Folder) -> None:
    folder.write(LEDGER)
    memory.ingest(str(folder))
    for reference in ("shop.ledger", "ledger.booked_quietly", "customers.nickname"):
        assert is_there(memory, reference)
    for question in ("ledger", "booked quietly", "nickname"):
        assert memory.search(question=question).entities == ()
    listed = memory.entities(inside="shop").entities
    assert [each.canonical for each in listed if each.hidden] == ["shop.ledger"]
    memory.drop_entity("shop.customers")
    assert memory.search(question="ledger").entities == ()
    folder.write(LEDGER.replace("hidden: true\n", ""))
    memory.ingest(str(folder))
    found = [each.id for each in memory.search(question="booked quietly").entities]
    assert "shop.ledger.booked_quietly" in found


def test_what_is_deprecated_says_so_and_stays(memory: OnRecord, folder: Folder) -> None:
    folder.write(ORDERS + "meta: {deprecated: true}\n")
    memory.ingest(str(folder))
    listed = {each.canonical: each.tags for each in memory.entities(inside="shop").entities}
    assert listed == {"shop.customers": (), "shop.orders": ("deprecated",)}
    with catalog_of(memory) as catalog:
        model = catalog.model("shop", "orders")
    assert model is not None
    assert model.state == "deprecated"
    assert is_there(memory, "orders.amount")


def test_a_model_comes_out_as_it_went_in(memory: OnRecord, folder: Folder) -> None:
    text = ORDERS + "joins:\n  - {target_model: customers, join_pairs: [[id, id]], join_type: inner}\n"
    text += "meta: {owners: [ann, {name: bob}], limit: 0}\nfilters: ['amount > 0']\n"
    folder.write(text)
    told = next(ingesting_source(folder).models({"shop.orders"}))
    memory.ingest(str(folder))
    with catalog_of(memory) as catalog:
        kept = catalog.model("shop", "orders")
    assert kept is not None
    for each in fields(told):
        if each.name != "details":
            assert getattr(kept, each.name) == getattr(told, each.name), each.name
    assert kept.details == json.loads(json.dumps(told.details))


def ingesting_source(folder: Folder) -> Any:
    from onrecord.catalog.sources import open_source

    return open_source(str(folder))


# ---- sample values -------------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as there:
        there.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT)")
        there.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT)")
        there.execute("INSERT INTO orders (status) VALUES ('paid'), ('open')")
        there.execute("INSERT INTO customers (city) VALUES ('Bonn')")
        yield there


def values_of(door: OnRecord, model: str) -> dict[str, str]:
    """The samples that are known of each column; the text by which each is found has them too."""
    found = door.entities(model, kind="column").entities
    return {
        each.canonical.rpartition(".")[2]: each.text.split("values: ")[1].splitlines()[0]
        for each in found
        if "values: " in each.text
    }


def test_samples_that_were_taken_stay_until_they_are_taken_anew(
    memory: OnRecord, shop: sqlite3.Connection, tmp_path: Path
) -> None:
    db = str(tmp_path / "shop.db")
    memory.ingest(db, sample_values=3)
    taken = values_of(memory, "shop.orders")
    assert taken == {"id": "1, 2", "status": "paid, open"}
    for again in ({}, {"sample_values": 3}, {}):
        assert nothing(memory.ingest(db, **again))
        assert values_of(memory, "shop.orders") == taken
    shop.execute("UPDATE orders SET status = 'shipped' WHERE id = 2")
    assert nothing(memory.ingest(db)), "the rows were not looked at"
    answer = memory.ingest(db, sample_values=3)
    assert answer.changed == EntityChanges(models=1, columns=1)
    assert values_of(memory, "shop.orders") == {"id": "1, 2", "status": "paid, shipped"}


def test_a_table_that_changes_keeps_the_samples_of_the_columns_that_stay(
    memory: OnRecord, shop: sqlite3.Connection, tmp_path: Path
) -> None:
    db = str(tmp_path / "shop.db")
    memory.ingest(db, sample_values=3)
    shop.execute("ALTER TABLE orders ADD COLUMN amount REAL")
    shop.execute("ALTER TABLE customers DROP COLUMN city")
    answer = memory.ingest(db)
    assert (answer.added, answer.gone) == (EntityChanges(columns=1), EntityChanges(columns=1))
    assert answer.changed == EntityChanges(models=2)
    assert values_of(memory, "shop.orders") == {"id": "1, 2", "status": "paid, open"}
    assert values_of(memory, "shop.customers") == {"id": "1"}
    assert nothing(memory.ingest(db))


def test_samples_are_gone_once_there_are_none_to_take(
    memory: OnRecord, shop: sqlite3.Connection, tmp_path: Path
) -> None:
    db = str(tmp_path / "shop.db")
    memory.ingest(db, sample_values=3)
    shop.execute("DELETE FROM orders")
    assert memory.ingest(db, sample_values=3).changed == EntityChanges(models=1, columns=2)
    assert values_of(memory, "shop.orders") == {}


def test_samples_that_come_later_are_a_change(
    memory: OnRecord, shop: sqlite3.Connection, tmp_path: Path
) -> None:
    db = str(tmp_path / "shop.db")
    memory.ingest(db)
    assert values_of(memory, "shop.orders") == {}
    assert memory.ingest(db, sample_values=1).changed == EntityChanges(models=2, columns=4)
    assert values_of(memory, "shop.orders") == {"id": "1", "status": "paid"}


# ---- priority, aliases and lineage ---------------------------------------------------------------------------


def test_the_order_of_datasources_comes_from_its_file_or_from_whoever_sets_it(
    memory: OnRecord, folder: Folder
) -> None:
    folder.write(ORDERS, datasource="backup")
    answer = memory.ingest(str(folder))
    with pytest.raises(Invalid, match=r"backup.*shop"):
        resolved(memory, "orders")
    (folder.root / "priority.yaml").write_text("[shop, backup]")
    answer = memory.ingest(str(folder))
    assert nothing(answer), "the order is no entity"
    assert resolved(memory, "orders") == "shop.orders"
    memory.prioritise(datasources=["backup"])
    assert resolved(memory, "orders") == "backup.orders"
    memory.ingest(str(folder))
    assert resolved(memory, "orders") == "shop.orders", "the file has the last word"
    (folder.root / "priority.yaml").unlink()
    memory.prioritise(datasources=["backup"])
    memory.ingest(str(folder))
    assert resolved(memory, "orders") == "backup.orders", "a source that does not say leaves it alone"
    listed = [each.canonical for each in memory.entities(kind="system").entities]
    assert PRIORITY not in listed
    with pytest.raises(Invalid, match="nowhere"):
        memory.prioritise(datasources=["nowhere"])


def test_to_look_at_the_order_does_not_change_it(memory: OnRecord, folder: Folder) -> None:
    folder.write(ORDERS, datasource="backup")
    memory.ingest(str(folder))
    assert memory.prioritise().datasources == ()
    memory.prioritise(datasources=["backup"])
    before = memory.audit().entries
    assert memory.prioritise().datasources == ("backup",)
    assert memory.prioritise(datasources=[]).datasources == ("backup",)
    assert resolved(memory, "orders") == "backup.orders"
    assert memory.audit().entries == before, "nothing was done"
    with pytest.raises(Invalid, match="clear: "):
        memory.prioritise(datasources=["backup"], clear=True)
    assert memory.prioritise(clear=True).datasources == ()
    with pytest.raises(Invalid, match=r"backup.*shop"):
        resolved(memory, "orders")


def test_names_from_elsewhere_lead_to_the_canonical_one(memory: OnRecord, tmp_path: Path) -> None:
    memory.ingest(str(a_manifest(tmp_path / "manifest.json", orders={})))
    urn = "urn:li:dataset:(urn:li:dataPlatform:duckdb,warehouse.main.orders,PROD)"
    assert resolved(memory, urn) == "shop.orders"
    saved = memory.remember("Late orders are counted twice", entities=[urn]).memory
    assert saved.entities == ("shop.orders",)
    with pytest.raises(Invalid):
        resolved(memory, urn.replace("orders", "order"))
    memory.ingest(str(a_manifest(tmp_path / "manifest.json", refunds={})))
    assert not is_there(memory, urn)


def test_lineage_goes_both_ways_and_follows_the_source(memory: OnRecord, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    a_manifest(
        manifest, raw={}, orders=made_from("raw"), daily=made_from("orders"), weekly=made_from("orders")
    )
    answer = memory.ingest(str(manifest))
    assert (answer.source, answer.added.models) == ("dbt", 4)
    with catalog_of(memory) as catalog:
        orders = catalog.model("shop", "orders")
        assert orders is not None
        assert orders.upstream == ("shop.raw",)
        assert catalog.downstream("shop.orders") == ["shop.daily", "shop.weekly"]
        assert catalog.downstream("shop.weekly") == []
    a_manifest(manifest, raw={}, orders=made_from("raw"), daily=made_from("raw"))
    assert memory.ingest(str(manifest)).gone == EntityChanges(models=1, columns=1)
    with catalog_of(memory) as catalog:
        assert catalog.downstream("shop.orders") == []
        assert catalog.downstream("shop.raw") == ["shop.daily", "shop.orders"]
    assert nothing(memory.ingest(str(manifest)))


def test_a_database_is_taken_in_and_followed(memory: OnRecord, tmp_path: Path) -> None:
    path = a_database(tmp_path / "till.db", "CREATE TABLE sales (id INTEGER PRIMARY KEY, pence INTEGER);")
    answer = memory.ingest(str(path))
    assert (answer.source, answer.added) == ("database", EntityChanges(datasources=1, models=1, columns=2))
    before = state_of(memory)
    assert nothing(memory.ingest(str(path)))
    assert state_of(memory) == before
    a_database(path, "ALTER TABLE sales DROP COLUMN pence; CREATE TABLE tills (id INTEGER);")
    later = memory.ingest(str(path))
    assert (later.added, later.gone) == (EntityChanges(models=1, columns=1), EntityChanges(columns=1))
    assert nothing(memory.ingest(str(path)))


def test_several_sources_stand_side_by_side(memory: OnRecord, folder: Folder, tmp_path: Path) -> None:
    memory.ingest(str(folder))
    here = standing(memory)
    memory.ingest(str(a_database(tmp_path / "till.db", "CREATE TABLE sales (id INTEGER);")))
    memory.ingest(str(a_manifest(tmp_path / "manifest.json", raw={})), datasource="warehouse")
    assert here.items() <= standing(memory).items()
    with catalog_of(memory) as catalog:
        assert list(catalog.datasources()) == ["shop", "till", "warehouse"]
    assert nothing(memory.ingest(str(folder)))


# ---- what goes wrong -----------------------------------------------------------------------------------------


def test_broken_yaml_leaves_the_catalog_exactly_as_it_was(memory: OnRecord, folder: Folder) -> None:
    memory.ingest(str(folder))
    before = state_of(memory)
    folder.write(ORDERS.replace("Gross", "Net"), ARCHIVE)
    folder.remove("customers")
    (folder.root / "models" / "shop" / "zones.yaml").write_text("name: zones\ncolumns: [")
    with pytest.raises(Invalid, match=r"zones\.yaml"):
        memory.ingest(str(folder))
    assert state_of(memory) == before


def test_a_source_that_cannot_be_read_leaves_the_catalog_exactly_as_it_was(
    memory: OnRecord, folder: Folder, tmp_path: Path
) -> None:
    memory.ingest(str(folder))
    before = state_of(memory)
    unknown = tmp_path / "manifest.json"
    unknown.write_text(
        '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v99.json"}}'
    )
    for path in (str(unknown), str(tmp_path / "nowhere"), "postgresql://ann@127.0.0.1:9/shop"):
        with pytest.raises(OnRecordError):
            memory.ingest(path)
    assert state_of(memory) == before


@pytest.mark.parametrize("survives", [0, 1, 2, 3, 4])
def test_an_ingest_that_breaks_off_is_made_good_by_the_next(
    memory: OnRecord, folder: Folder, clock: Clock, monkeypatch: pytest.MonkeyPatch, survives: int
) -> None:
    """At whichever batch: a model must never look known while its parts are not."""
    monkeypatch.setattr(ingesting, "_BATCH", 2)
    with connect(":memory:", clock=clock, caller=memory.caller, embedder="none") as whole:
        folder.write(LEDGER)
        whole.ingest(str(folder))
        break_off(monkeypatch, SqlRestoring, "restore", survives)
        with pytest.raises(KeyboardInterrupt):
            memory.ingest(str(folder))
        monkeypatch.undo()
        monkeypatch.setattr(ingesting, "_BATCH", 2)
        memory.ingest(str(folder))
        assert standing(memory) == standing(whole)
        folder.write(
            ORDERS.replace("name: status", "name: state").replace("Gross", "Net"),
            CUSTOMERS.replace("hidden: true", "hidden: false"),
        )
        clock.tick()
        whole.ingest(str(folder))
        break_off(monkeypatch, SqlWriting, "replace", survives)
        with pytest.raises(KeyboardInterrupt):
            memory.ingest(str(folder))
        monkeypatch.undo()
        memory.ingest(str(folder))
        assert standing(memory) == standing(whole)
    assert nothing(memory.ingest(str(folder)))
    assert healthy(memory)


def break_off(monkeypatch: pytest.MonkeyPatch, kind: type[Any], method: str, survives: int) -> None:
    done, real = [0], getattr(kind, method)

    def until_it_breaks(self: Any, *given: Any, **named: Any) -> Any:
        done[0] += 1
        if done[0] > survives:
            raise KeyboardInterrupt
        return real(self, *given, **named)

    monkeypatch.setattr(kind, method, until_it_breaks)


def test_two_ingests_at_once_do_not_write_over_each_other(
    memory: OnRecord, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, others = ingesting._write, [memory]

    def overtaken(*given: Any) -> None:
        if others:
            others.pop().ingest(str(folder))
        real(*given)

    monkeypatch.setattr(ingesting, "_write", overtaken)
    with pytest.raises(Conflict, match="Ingest again"):
        memory.ingest(str(folder))
    folder.write(ORDERS.replace("Gross", "Net"))
    others.append(memory)
    with pytest.raises(Conflict, match="Ingest again"):
        memory.ingest(str(folder))
    monkeypatch.undo()
    assert nothing(memory.ingest(str(folder)))
    assert healthy(memory)


# ---- who sees and changes it -----------------------------------------------------------------------------------


def test_another_tenant_sees_nothing_of_a_catalog(memory: OnRecord, folder: Folder) -> None:
    memory.ingest(str(folder))
    other = memory.as_caller(Caller(tenant="other", user="bob", permissions=frozenset(PERMISSIONS)))
    assert other.search(question="orders amount").entities == ()
    assert other.entities().total == other.entities(inside="shop").total == 0
    assert not is_there(other, "shop.orders")
    with pytest.raises(NotFound):
        other.inspect("orders")
    assert other.ingest(str(folder)).added.models == 2
    folder.remove("orders")
    other.ingest(str(folder))
    assert is_there(memory, "shop.orders")


def test_everyone_in_a_tenant_reads_its_catalog_and_admins_write_it(memory: OnRecord, folder: Folder) -> None:
    memory.ingest(str(folder))
    reader = memory.as_caller(Caller(tenant=memory.caller.tenant, user="bob"))
    assert reader.search(question="gross amount").entities
    assert is_there(reader, "orders.amount")
    with pytest.raises(Forbidden):
        reader.ingest(str(folder))
    with pytest.raises(Forbidden):
        reader.prioritise(datasources=["shop"])


def test_an_admin_may_ingest_unattended(memory: OnRecord, folder: Folder) -> None:
    nightly = memory.as_caller(replace(memory.caller, actor="unattended"))
    nightly.ingest(str(folder))
    folder.write(ORDERS.replace("Gross", "Net"))
    assert nightly.ingest(str(folder)).changed == EntityChanges(models=1, columns=1)
    assert nothing(memory.ingest(str(folder)))


def test_global_memories_stay_out_of_the_catalog(memory: OnRecord, folder: Folder) -> None:
    memory.remember("The amount of an order is gross for everyone", scope="global")
    memory.ingest(str(folder))
    found = memory.search(question="amount of an order")
    assert [each.text for each in found.memories] == ["The amount of an order is gross for everyone"]
    assert found.entities
    assert all(each.id.startswith("shop") for each in found.entities)


def test_how_many_entities_are_wanted_changes_no_order(memory: OnRecord, folder: Folder) -> None:
    said = ("gross amount", "amount gross", "gross", "amount of what is gross, an amount")
    columns = "".join(
        f"  - {{name: c{number}, description: '{said[number % 4]} {'x ' * (number % 7)}'}}\n"
        for number in range(130)
    )
    folder.write(ARCHIVE.replace("  - {name: amount, type: DOUBLE}\n", columns))
    memory.ingest(str(folder))
    every = memory.search(question="gross amount", max_entities=100).entities
    assert len(every) == 100
    for most in (1, 5, 30, 60):
        assert memory.search(question="gross amount", max_entities=most).entities == every[:most]


def test_records_of_the_catalog_are_no_memories(memory: OnRecord, folder: Folder) -> None:
    memory.ingest(str(folder))
    assert memory.browse().memories == ()
    assert memory.recall("orders amount gross").hits == ()
    with pytest.raises(NotFound):
        memory.show("shop.orders")
    assert memory.remember("The first").memory.id == "1"


def test_secrets_are_scrubbed_wherever_a_source_tells_them(memory: OnRecord, folder: Folder) -> None:
    folder.write(
        f"""
name: users
data_source: shop
sql_table: public.users
description: Reached with the token {SECRET} as ever.
tags: ["key {SECRET}"]
filters: ["token = '{SECRET}'"]
meta: {{password: hunter2-and-more, note: "{SECRET}"}}
columns:
  - {{name: password, type: TEXT, sampled: [swordfish, tr0ub4dor]}}
  - {{name: note, type: TEXT, label: "{SECRET}", description: "password is swordfish99", sampled: ["{SECRET}"]}}
  - {{name: tokens, type: INT, sampled: [17, 29]}}
measures:
  - {{name: matching, formula: "sum(case when note = '{SECRET}' then 1 end)"}}
"""
    )
    (folder.root / "datasources").mkdir()
    (folder.root / "datasources" / "shop.yaml").write_text(f"name: shop\ndescription: Opens with {SECRET}\n")
    memory.ingest(str(folder))
    with memory._store.archive() as archive:
        written = "\n".join(map(repr, archive.histories(Home(memory.caller.tenant, ENTITIES))))
    for secret in (SECRET, "hunter2", "swordfish", "tr0ub4dor"):
        assert secret not in written
    assert "Reached with the token [secret:" in written
    assert is_there(memory, "users.password")
    assert is_there(memory, "users.tokens")
    assert nothing(memory.ingest(str(folder)))


# ---- what becomes of memories --------------------------------------------------------------------------------


@pytest.fixture
def told(memory: OnRecord, folder: Folder) -> Callable[..., Memory]:
    """Saves a memory about something in a catalog that is there."""
    memory.ingest(str(folder.write(ARCHIVE)))

    def tell(text: str, *references: str, **more: Any) -> Memory:
        return memory.remember(text, entities=list(references), **more).memory

    return tell


def test_references_to_what_is_gone_are_stripped_and_the_memories_stay(
    memory: OnRecord, folder: Folder, told: Callable[..., Memory]
) -> None:
    only = told("Amounts are gross", "orders.amount")
    both = told("Orders are joined to customers by id", "shop.orders", "shop.customers", "orders.id")
    other = told("The archive is never cleaned", "shop.orders_archive", "orders_archive.amount")
    folder.remove("orders")
    assert memory.ingest(str(folder)).stripped == 2
    assert (entities_of(memory, only.id), entities_of(memory, both.id)) == ((), ("shop.customers",))
    assert entities_of(memory, other.id) == ("shop.orders_archive", "shop.orders_archive.amount")
    assert memory.show(only.id).memory.content == "Amounts are gross"
    assert memory.recall("gross").hits[0].memory.id == only.id
    past = memory.history(only.id).versions
    assert [version.memory.entities for version in past] == [("shop.orders.amount",), ()]
    assert memory.ingest(str(folder)).stripped == 0
    assert healthy(memory)


def test_a_column_that_is_gone_takes_only_its_own_references(
    memory: OnRecord, folder: Folder, told: Callable[..., Memory]
) -> None:
    kept = told("Status is set by hand", "orders.status", "orders.amount", "shop.orders")
    folder.write(ORDERS.replace("  - {name: amount, type: DOUBLE, description: Gross in euros.}\n", ""))
    assert memory.ingest(str(folder)).stripped == 1
    assert entities_of(memory, kept.id) == ("shop.orders.status", "shop.orders")


def test_an_ingest_finds_references_that_are_missing_for_another_reason(
    memory: OnRecord, folder: Folder, clock: Clock
) -> None:
    """Saved before there was a catalog, so nothing was checked."""
    old = memory.remember(
        "Old ones",
        entities=[
            "shop.orders",
            "shop.nowhere",
            "shop.orders.nowhere",
            "shopping.list",
            "thing:till",
            "memory:9",
        ],
    ).memory
    assert memory.ingest(str(folder)).stripped == 1
    # `shopping` is not for this source to know.
    assert entities_of(memory, old.id) == ("shop.orders", "shopping.list", "thing:till")


def test_references_to_memories_are_looked_at_one_by_one(
    memory: OnRecord, folder: Folder, told: Callable[..., Memory]
) -> None:
    told("The other", id="421")
    about = told("About the other", "memory:421", "orders.amount")
    private = memory.as_caller(Caller(tenant=memory.caller.tenant, user="bob"))
    private.remember("Mine", id="bobs", scope="user")
    shared = private.remember("Ours", entities=["memory:bobs"], scope="tenant").memory
    told("To be forgotten", id="42")
    lost = told("About what is forgotten", "memory:42", "memory:421")
    memory.forget("42")
    folder.remove("orders")
    memory.ingest(str(folder))
    assert entities_of(memory, about.id) == entities_of(memory, lost.id) == ("memory:421",)
    assert entities_of(memory, shared.id) == ("memory:bob::bobs",)


def test_a_lookup_that_fails_strips_nothing(
    memory: OnRecord, folder: Folder, told: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    about = told("About another", "memory:" + told("Another").id, "shop.orders")

    def out_of_reach(self: StoredCatalog, id: str) -> bool:
        raise StoreUnavailable

    monkeypatch.setattr(StoredCatalog, "has_memory", out_of_reach)
    assert memory.ingest(str(folder)).stripped == 0
    assert entities_of(memory, about.id) == about.entities
    # What the source itself says is gone needs no lookup.
    folder.remove("orders")
    assert memory.ingest(str(folder)).stripped == 1
    assert entities_of(memory, about.id) == about.entities[:1]


def test_a_strip_calls_no_embedder(db: str, clock: Clock, folder: Folder) -> None:
    embedder = StubEmbedder()
    with connect(db, clock=clock, embedder=embedder) as door:
        door.ingest(str(folder))
        drain(door)
        kept = door.remember("Amounts are gross", entities=["orders.amount"]).memory.id
        assert "Amounts are gross" in embedder.texts
        before = door.recall("gross amounts", recipe="semantic").hits
        folder.write(ORDERS.replace("  - {name: amount, type: DOUBLE, description: Gross in euros.}\n", ""))
        embedder.texts.clear()
        door.ingest(str(folder))
        assert embedder.texts == []
        drain(door)
        # The model is told of anew, since it names its columns; no memory is.
        assert all(text.startswith("shop") for text in embedder.texts)
        after = door.recall("gross amounts", recipe="semantic").hits
        assert entities_of(door, kept) == ()
        assert [(hit.memory.id, hit.score) for hit in after] == [(hit.memory.id, hit.score) for hit in before]


def test_entities_get_vectors_also_where_an_ingest_broke_off(
    db: str, clock: Clock, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(db, clock=clock, embedder=StubEmbedder()) as door:
        monkeypatch.setattr(ingesting, "_BATCH", 2)
        break_off(monkeypatch, SqlRestoring, "restore", 2)
        with pytest.raises(KeyboardInterrupt):
            door.ingest(str(folder))
        monkeypatch.undo()
        drain(door)
        with door._store.archive() as archive:
            (covered,) = archive.coverage(Home(door.caller.tenant, ENTITIES))
        assert covered.memories == 4
        door.ingest(str(folder))
        drain(door)
        assert door.search(question="gross in euros").entities[0].id == "shop.orders.amount"


def test_example_queries_that_no_longer_hold_are_told_and_left_alone(
    memory: OnRecord, folder: Folder, told: Callable[..., Memory]
) -> None:
    query = {
        "source_model": "orders",
        "measures": [{"formula": "amount:sum"}],
        "filters": ["status = 'paid'"],
    }
    example = told("Paid revenue", query=query)
    sql = told("In SQL", query="SELECT amount FROM orders")
    assert "shop.orders.status" in example.entities
    assert memory.ingest(str(folder)).stale_queries == ()
    folder.write(ORDERS.replace("  - {name: status, type: TEXT}\n", ""))
    answer = memory.ingest(str(folder))
    assert len(answer.stale_queries) == 1
    assert answer.stale_queries[0].startswith(f"memory:{example.id}: ")
    assert "status" in answer.stale_queries[0]
    after = memory.show(example.id).memory
    assert after.query == query
    assert "shop.orders.status" not in after.entities
    assert "shop.orders.amount" in after.entities
    assert memory.show(sql.id).memory.query == sql.query
    # It is told again until someone saves it anew.
    assert memory.ingest(str(folder)).stale_queries == answer.stale_queries


def test_a_bare_column_that_is_gone_is_stale_though_another_model_has_one_of_its_name(
    memory: OnRecord, folder: Folder, told: Callable[..., Memory]
) -> None:
    folder.write(ARCHIVE)
    memory.ingest(str(folder))
    # Of two examples only this one ever meant the column of another model.
    elsewhere = told("Names of those who order", query={"source_model": "orders", "dimensions": ["nickname"]})
    example = told("Revenue", query={"source_model": "orders", "measures": ["amount:sum"]})
    assert "shop.customers.nickname" in elsewhere.entities
    assert memory.ingest(str(folder)).stale_queries == ()
    folder.write(ORDERS.replace("  - {name: amount, type: DOUBLE, description: Gross in euros.}\n", ""))
    (stale,) = memory.ingest(str(folder)).stale_queries
    assert stale.startswith(f"memory:{example.id}: ")
    assert "'amount'" in stale
    (warning,) = memory.search(entities=["shop.orders"], max_example_queries=9).warnings
    assert f"memory:{example.id}" in warning


def test_a_datasource_that_is_gone_from_its_folder_is_archived(
    memory: OnRecord, folder: Folder, told: Callable[..., Memory]
) -> None:
    folder.write(ORDERS, datasource="old")
    memory.ingest(str(folder))
    note = told("Of both", "old", "old.orders.amount", "shop.orders.amount")
    shutil.rmtree(folder.root / "models" / "old")
    assert memory.ingest(str(folder), dry_run=True).gone.datasources == 1
    assert is_there(memory, "old.orders")
    answer = memory.ingest(str(folder))
    assert (answer.gone.datasources, answer.gone.models, answer.stripped) == (1, 1, 1)
    assert answer.gone.columns > 0
    assert not is_there(memory, "old")
    assert entities_of(memory, note.id) == ("shop.orders.amount",)
    assert nothing(memory.ingest(str(folder)))
    assert healthy(memory)
    folder.write(CUSTOMERS, datasource="old")
    assert memory.ingest(str(folder)).added.datasources == 1


def test_a_datasource_of_another_source_is_never_gone(
    memory: OnRecord, folder: Folder, tmp_path: Path
) -> None:
    other = Folder(tmp_path / "other").write(CUSTOMERS, datasource="crm")
    database = a_database(tmp_path / "live.db", "CREATE TABLE visits (id INTEGER)")
    memory.ingest(str(folder))
    memory.ingest(str(other))
    memory.ingest(str(database), datasource="first")
    memory.ingest(str(database), datasource="second")
    for source in (folder, other):
        assert nothing(memory.ingest(str(source)))
    assert [each.canonical for each in memory.entities().entities] == ["crm", "first", "second", "shop"]


def test_a_datasource_is_known_by_its_folder_however_that_is_written(
    memory: OnRecord, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(CUSTOMERS, datasource="old")
    memory.ingest(str(folder))
    memory.drop_entity("shop.orders")
    shutil.rmtree(folder.root / "models" / "shop")
    monkeypatch.chdir(folder.root.parent)
    assert memory.ingest(folder.root.name).gone.datasources == 1
    assert [each.canonical for each in memory.entities().entities] == ["old"]


def test_a_changed_renderer_writes_unchanged_models_anew(
    memory: OnRecord, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.ingest(str(folder))
    text = rendering.text_of_part
    monkeypatch.setattr(rendering, "text_of_part", lambda *told: text(*told) + "\nrendered anew")
    assert nothing(memory.ingest(str(folder)))
    monkeypatch.setattr(source_comparison, "RECORD_VERSION", RECORD_VERSION + 1)
    answer = memory.ingest(str(folder))
    assert (answer.added, answer.gone) == (EntityChanges(), EntityChanges())
    assert (answer.changed.models, answer.changed.columns) == (2, 5)
    assert all(each.text.endswith("rendered anew") for each in memory.entities("shop.orders").entities)
    assert nothing(memory.ingest(str(folder)))


def test_another_text_of_an_entity_needs_another_version() -> None:
    """Where this fails, the renderer or the scrubber has changed: raise RECORD_VERSION, and write the new hash here."""
    model = Model(
        datasource="shop",
        name="orders",
        label="Orders",
        description=f"Every order; the key is {SECRET}.",
        tags=("finance",),
        parts=(
            Part(name="amount", type="DOUBLE", details={"format": "0.00", "sampled": f"1, {SECRET}"}),
            Part(name="aov", kind="measure", label="Average", details={"formula": "amount:sum / *:count"}),
            Part(name="score", kind="aggregation", details={"formula": "sum({value})", "params": []}),
            Part(name="secret", hidden=True),
        ),
        joins=(Join(target="customers", pairs=(("customer_id", "id"),)),),
        upstream=("shop.raw",),
        details={"sql_table": "public.orders", "filters": ["amount > 0"], "meta": {"owner": "ann"}},
    )
    said = [(each.canonical, each.text, each.tags, each.document) for each in records_of_model(model, "")]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
    assert (RECORD_VERSION, digest) == (2, "133b07c548f0ab65")


def test_memories_that_were_saved_without_an_embedder_get_their_vectors_after_an_ingest(
    tmp_path: Path, folder: Folder
) -> None:
    with connect(tmp_path / "store.db", embedder="none") as door:
        door.remember("Refunds take two weeks")
    with connect(tmp_path / "store.db", embedder=StubEmbedder()) as door:
        door.ingest(str(folder))
        drain(door)
        with door._store.archive() as archive:
            assert [each.memories for each in archive.coverage(Home(door.caller.tenant))] == [1]


def test_an_unknown_model_is_told_with_those_that_may_be_seen(memory: OnRecord, folder: Folder) -> None:
    folder.write(ARCHIVE.rstrip() + "\nhidden: true\n")
    memory.ingest(str(folder))
    with pytest.raises(NotFound) as problem:
        memory.inspect("no_such")
    assert str(problem.value).endswith("Available models: shop.customers, shop.orders")
    assert memory.inspect("orders_archive").model == "shop.orders_archive"
