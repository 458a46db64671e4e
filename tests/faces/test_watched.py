"""DO the faces keep their promises about what is stale, whether it is watched or not?"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord import OnRecord, connect
from onrecord.faces.data_platform import keeping
from onrecord.faces.slayer import calls as slayer
from onrecord.testing.upkeep import worked
from tests.catalog.staleness_table import BASE, CHANGES, ModelFiles
from tests.conftest import Clock

pytestmark = pytest.mark.usefixtures("words_alone")
COLUMN = "shop.orders.amount"


@pytest.fixture
def source(tmp_path: Path) -> ModelFiles:
    return ModelFiles(tmp_path / "source")


@pytest.fixture(params=["watched", "unwatched"])
def is_watched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setenv("ONRECORD_WATCH", "yes" if request.param == "watched" else "no")
    return bool(request.param == "watched")


@pytest.fixture
def door(is_watched: bool, tmp_path: Path, clock: Clock, source: ModelFiles) -> Iterator[OnRecord]:
    with connect(tmp_path / "memory.db", clock=clock) as memory:
        memory.ingest(source.write(BASE))
        clock.tick(days=1)
        slayer.save_memory(memory, learning="Amounts are net of refunds.", linked_entities=[COLUMN], id="net")
        query = {"source_model": "orders", "measures": ["amount:sum"]}
        slayer.save_memory(memory, learning="The sum of all.", linked_entities=query, id="sum")
        yield memory


def found(door: OnRecord) -> list[str]:
    told = slayer.search(door, question="sum of amounts net of refunds")
    return sorted(hit["id"].removeprefix("memory:") for hit in (*told["memories"], *told["example_queries"]))


def test_what_is_gone_is_stripped_or_watched_as_stale(
    is_watched: bool, door: OnRecord, source: ModelFiles, clock: Clock
) -> None:
    asked = door.show("sum").memory.query
    clock.tick(days=1)
    ingested = door.ingest(source.write(CHANGES["a column is removed"].change(BASE)))
    # A stale query is reported, and untouched, either way.
    (stale,) = ingested.stale_queries
    assert stale.startswith("memory:sum: measures[0].formula: 'amount' was not found")
    worked(door)
    net, total = (door.show(id).memory for id in ("net", "sum"))
    assert total.query == asked
    if is_watched:
        assert (ingested.stripped, net.entities, net.status, total.status) == (0, (COLUMN,), "stale", "stale")
        assert found(door) == []
    else:
        assert (ingested.stripped, net.entities, net.status, total.status) == (2, (), "active", "active")
        assert found(door) == ["net", "sum"]
        told = slayer.search(door, question="the sum of all")
        assert any("attached query has stale references" in warning for warning in told["warnings"])


def test_a_source_that_cannot_be_read_for_a_moment_changes_nothing(
    door: OnRecord, source: ModelFiles, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [door.show(id).memory for id in ("net", "sum")]
    os.rename(source.folder, f"{source.folder}-away")
    clock.tick(days=1)
    with pytest.raises(Exception, match="does not exist"):
        door.ingest(str(source.folder))
    worked(door)
    assert [door.show(id).memory for id in ("net", "sum")] == before


def test_review_stale_lists_what_the_watcher_marked_and_an_update_mends_it(
    is_watched: bool, door: OnRecord, source: ModelFiles, clock: Clock
) -> None:
    clock.tick(days=1)
    door.ingest(source.write(CHANGES["a column has another type"].change(BASE)))
    worked(door)
    told = keeping.review_stale(door)
    if not is_watched:
        assert told["message"].startswith("0 stale memories found.")
        return
    assert told["message"] == "2 stale memories found. Use 'update' to revise or 'forget' to archive."
    record = next(each for each in told["records"] if each["id"] == "net")
    reason = "shop.orders.amount was REAL and is TEXT (since 2026-03-03)"
    assert (record["status"], record["stale_reason"]) == ("stale", reason)
    # A look at it is no update of it.
    assert record["updated_at"] == record["created_at"]
    keeping.update(door, id="net", content="Amounts are texts, net of refunds.")
    assert (door.show("net").memory.status, keeping.review_stale(door)["total"]) == ("active", 1)
