"""IS every memory marked once, wherever the process that runs checks is killed?"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.testing.builders import change_names
from onrecord.testing.upkeep import worked

pytestmark = pytest.mark.usefixtures("words_alone")
_WRITING = "onrecord.store.records.writing:SqlWriting"
#: Where a sweep is killed. Each memory has a transaction of its own.
KILLED: dict[str, dict[str, Any]] = {
    "before it looks": {"owner": "onrecord.checks.sweeping", "name": "check_all", "nth": 1},
    "while a check runs": {"owner": "onrecord.checks.running", "name": "_said", "nth": 2},
    "within a transaction": {"owner": _WRITING, "name": "replace", "nth": 2, "after": True},
    "before a run is kept": {"owner": _WRITING, "name": "keep_check_run", "nth": 1},
    "after it has looked": {
        "owner": "onrecord.checks.sweeping",
        "name": "sweep",
        "nth": 1,
        "after": True,
    },
}
#: What each claims to be the number of stores: two are right.
CLAIMS = {"1": "3", "2": "4", "3": "3", "4": "5"}


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(tmp_path / "warehouse.db")) as connection, connection:
        connection.executescript("create table stores (id integer); insert into stores values (1), (2), (3)")
    return {"ONRECORD_CHECK_CONNECTIONS": f"warehouse=sqlite:///{tmp_path}/warehouse.db"}


@pytest.fixture
def claiming(shared_db: str, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[OnRecord]:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with connect(shared_db) as door:
        for id, value in CLAIMS.items():
            door.remember(f"There are {value} stores.", id=id, alike="keep", dedupe=False)
            door.add_check(id, connection="warehouse", sql="select count(*) from stores", value=value)
        yield door


@pytest.mark.parametrize("where", KILLED)
def test_whatever_was_left_is_marked_by_the_next(
    where: str, crew: Any, shared_db: str, claiming: OnRecord, settings: dict[str, str]
) -> None:
    hand = crew.start("die_checking", db=shared_db, settings=settings, **KILLED[where])
    assert hand.rest() == [], "it was killed"
    # Its lease ends, and the next worker looks.
    claiming._clock = lambda: datetime.now(UTC) + timedelta(hours=2)
    worked(claiming)
    states = {id: claiming.show(id).memory.check_state for id in CLAIMS}
    assert states == {"1": "verified", "2": "failed", "3": "verified", "4": "failed"}
    assert [change_names(claiming, id) for id in CLAIMS] == [["remember", "add_check", "check"]] * len(CLAIMS)
    assert claiming.doctor().problems == ()
