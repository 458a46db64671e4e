"""IS every memory marked once, wherever the process that watches is killed?"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.testing.builders import change_names
from onrecord.testing.shop import COLUMN, write_source
from onrecord.testing.upkeep import worked

pytestmark = pytest.mark.usefixtures("words_alone")
_WRITING = "onrecord.store.records.writing:SqlWriting"
_WATCHING = "onrecord.care.watching"
#: Where a look is killed. It marks two memories in each transaction.
KILLED: dict[str, dict[str, Any]] = {
    "before it looks": {"owner": _WATCHING, "name": "look", "nth": 1},
    "within the first transaction": {"owner": _WRITING, "name": "replace", "nth": 2},
    "after the last write of it": {"owner": _WRITING, "name": "replace", "nth": 2, "after": True},
    "between two transactions": {"owner": _WRITING, "name": "replace", "nth": 3},
    "after it has looked": {"owner": _WATCHING, "name": "look", "nth": 1, "after": True},
    "after it has noted that": {
        "owner": "onrecord.store.sql:SqlStore",
        "name": "note_watched",
        "nth": 1,
        "after": True,
    },
}
MEMORIES = [str(number) for number in range(1, 6)]


@pytest.fixture
def watched(shared_db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnRecord]:
    monkeypatch.setenv("ONRECORD_WATCH", "yes")
    with connect(shared_db) as door:
        door.ingest(write_source(tmp_path / "source"))
        for _ in MEMORIES:
            door.remember("Amounts are net.", entities=[COLUMN], alike="keep", dedupe=False)
        yield door


@pytest.mark.parametrize("where", KILLED)
def test_whatever_was_left_is_marked_by_the_next(
    where: str, crew: Any, shared_db: str, watched: OnRecord, tmp_path: Path
) -> None:
    watched.ingest(write_source(tmp_path / "source", columns="id"))
    hand = crew.start("die_watching", db=shared_db, **KILLED[where])
    assert hand.rest() == [], "it was killed"
    # Its lease ends, and the next worker looks.
    watched._clock = lambda: datetime.now(UTC) + timedelta(minutes=2)
    worked(watched)
    assert {watched.show(id).memory.status for id in MEMORIES} == {"stale"}
    assert [change_names(watched, id) for id in MEMORIES] == [["remember", "stale"]] * len(MEMORIES)
    assert watched.doctor().problems == ()
