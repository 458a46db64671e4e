"""WHAT is noted of things that are done as a whole? One line each, without the addresses that they came from."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord
from onrecord.errors import Conflict, Forbidden


def told(door: OnRecord) -> list[tuple[str, str | None, str]]:
    return [(entry.operation, entry.subject, entry.outcome) for entry in reversed(door.audit().entries)]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    models = tmp_path / "shop" / "models" / "shop"
    models.mkdir(parents=True)
    text = "{version: 6, name: orders, data_source: shop, sql_table: orders, columns: [{name: amount}]}"
    (models / "orders.yaml").write_text(text)
    return tmp_path / "shop"


def test_a_catalog_is_noted_as_a_whole_and_not_entity_by_entity(memory: OnRecord, shop: Path) -> None:
    memory.ingest(str(shop), dry_run=True)
    memory.ingest(str(shop))
    memory.remember("amounts are gross", entities=["orders.amount"], id="k")
    memory.prioritise(datasources=["shop"])
    memory.drop_entity("shop.orders")
    assert told(memory) == [
        ("ingest", None, "done"),
        ("remember", "k", "done"),
        ("prioritise", None, "done"),
        ("drop", "shop.orders", "done"),
        ("drop_entity", "shop.orders", "done"),
    ]
    assert str(shop) not in str(memory.audit())


class WithoutLedger:
    """A store whose process ends before it can note anything in a transaction of its own."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        assert name != "ledger"
        return getattr(self._store, name)


def test_what_changes_a_catalog_in_one_transaction_is_noted_in_the_same(
    memory: OnRecord, shop: Path, clock: Any
) -> None:
    memory.ingest(str(shop))
    store: Any = WithoutLedger(memory._store)
    door = OnRecord(store, memory.caller, clock=clock)
    door.prioritise(datasources=["shop"])
    door.drop_entity("shop.orders")
    assert told(memory)[1:] == [("prioritise", None, "done"), ("drop_entity", "shop.orders", "done")]


def test_an_import_is_one_line(memory: OnRecord, tmp_path: Path, opened: Callable[[str], OnRecord]) -> None:
    for number in range(3):
        memory.remember(f"note {number}")
    memory.export(str(tmp_path / "out.jsonl"))
    other = opened(":memory:")
    other.import_(str(tmp_path / "out.jsonl"))
    assert told(other) == [("import_", None, "done")]


def test_every_refusal_of_a_door_is_noted_and_what_merely_fails_is_not(memory: OnRecord) -> None:
    memory.remember("note", id="k")
    bob = memory.as_caller(
        replace(
            memory.caller, user="bob", permissions=frozenset({"memory.read", "memory.manage"}), operator=False
        )
    )
    robot = bob.as_caller(replace(bob.caller, actor="unattended"))
    for attempt in (
        lambda: bob.doctor(),
        lambda: bob.revise("k", content="changed"),
        lambda: robot.forget("k"),
        lambda: memory.as_caller(replace(memory.caller, operator=False)).backup("copy.db"),
    ):
        with pytest.raises(Forbidden):
            attempt()
    memory.retire("k")
    with pytest.raises(Conflict):
        memory.revise("k", content="too late")
    assert told(memory)[1:] == [
        ("doctor", None, "refused"),
        ("revise", None, "refused"),
        ("forget", None, "refused"),
        ("backup", None, "refused"),
        ("retire", "k", "done"),
    ]
