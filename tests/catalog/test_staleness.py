"""DOES a memory go stale exactly when what it is about has changed, whatever source tells it?"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord import OnRecord, connect
from onrecord.testing.upkeep import worked
from tests.catalog.staleness_table import ADAPTERS, BASE, CHANGES, MEMORIES, Adapter, unsaid
from tests.conftest import Clock

pytestmark = pytest.mark.usefixtures("words_alone")


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest, tmp_path: Path) -> Adapter:
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
        os.rename(source, f"{source}.away")
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
        os.rename(f"{source}.away", source)
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
