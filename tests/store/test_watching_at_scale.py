"""DOES a look cost what has changed, however much is remembered? Statements counted; 100,000 memories in a soak."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from onrecord import OnRecord, connect
from onrecord.care.watching import watch
from onrecord.model.collections import Home
from onrecord.store.ports.archive import MemoryHistory
from onrecord.testing.upkeep import worked
from tests.catalog.staleness_table import ModelFiles, Table, table
from tests.conftest import Clock
from tests.soak import tries

pytestmark = pytest.mark.usefixtures("words_alone")
TABLES, CHANGED = 100, 50
MEMORIES = tries(2_000, soaking=100_000)


@contextmanager
def counted() -> Iterator[list[str]]:
    """Every statement that SQLite runs, by whichever way it was told."""
    said: list[str] = []

    def trace(connection: Any, *more: Any) -> None:
        connection.set_trace_callback(said.append)

    event.listen(Pool, "checkout", trace)
    try:
        yield said
    finally:
        event.remove(Pool, "checkout", trace)


def schema(*, changed: bool) -> dict[str, Table]:
    """Half of the tables lose a column by the change."""
    return {
        f"t{number}": table("id:INT" if changed and number < CHANGED else "id:INT amount:REAL")
        for number in range(TABLES)
    }


def fill(door: OnRecord, memories: int) -> None:
    """So many memories about the tables that do not change, as if each had been saved."""
    (version,) = door.history(
        door.remember("Amounts are net.", entities=["shop.t99.amount"]).memory.id
    ).versions
    home = Home(door.caller.tenant)
    for start in range(0, memories, 5_000):
        some = [
            replace(
                version.memory,
                id=f"m{number}",
                title=f"Memory {number}",
                content=f"Memory {number} of t{CHANGED + number % CHANGED}.",
                entities=(f"shop.t{CHANGED + number % CHANGED}.amount",),
            )
            for number in range(start, min(start + 5_000, memories))
        ]
        with door._store.restoring(home) as restoring:
            restoring.restore([MemoryHistory(each.id, (replace(version, memory=each),)) for each in some])


def look(tmp_path: Path, clock: Clock, memories: int) -> tuple[int, int]:
    """How many statements the look takes at fifty changed tables, and how many memories it marks."""
    source = ModelFiles(tmp_path / f"source-{memories}")
    with connect(tmp_path / f"{memories}.db", clock=clock) as door:
        door.ingest(source.write(schema(changed=False)))
        clock.tick(hours=2)
        for number in range(CHANGED):
            door.remember(
                f"About t{number}.", entities=[f"shop.t{number}.amount"], alike="keep", dedupe=False
            )
        fill(door, memories)
        worked(door)
        clock.tick(hours=2)
        door.ingest(source.write(schema(changed=True)))
        with counted() as statements:
            watch(door._store, door._embedders, door._policy, clock.now)
        marked = door.tally("status", statuses=["stale"]).groups[0].memories
        # It looks a little further back than it last did; after that nothing has changed.
        for _ in range(2):
            clock.tick(hours=2)
            with counted() as idle:
                watch(door._store, door._embedders, door._policy, clock.now)
        assert len(idle) < 20, idle
        return len(statements), marked


def test_the_statements_of_a_look_do_not_grow_with_what_is_remembered(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ONRECORD_WATCH", "yes")
    few, many = look(tmp_path, clock, 100), look(tmp_path, clock, MEMORIES)
    with capsys.disabled():
        if MEMORIES > 2_000:
            print(f"\n{few[0]} statements at 100 memories, {many[0]} at {MEMORIES}; {many[1]} marked")
    assert few == many
    assert many[1] == CHANGED
