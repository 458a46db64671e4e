"""Is a changeset whole wherever the process that applies it or rolls it back is killed?"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.review.settling import LEFT_AFTER, settle_all
from onrecord.testing.shop import ENTITY, approved, described, shown, write_source

_ROWS = "onrecord.store.records.changesets:ChangesetRows"
_RECORDS = "onrecord.catalog.targets.amendments"
_TARGET = "onrecord.catalog.targets.amendments:AmendmentsTarget"
#: Where an apply is killed, and whether it is then done or undone once it is settled; None if it never began.
APPLYING: dict[str, tuple[dict[str, Any], str | None]] = {
    "in the transaction that writes it down": (
        {"owner": _ROWS, "name": "begin", "nth": 1, "after": True},
        None,
    ),
    "before its values": ({"owner": _TARGET, "name": "write", "nth": 1}, "failed"),
    "between two records": ({"owner": _RECORDS, "name": "rewritten", "nth": 2}, "failed"),
    "after its last record": ({"owner": _RECORDS, "name": "rewritten", "nth": 2, "after": True}, "failed"),
    "after its values": ({"owner": _TARGET, "name": "write", "nth": 1, "after": True}, "applied"),
    "in the transaction that settles it": (
        {"owner": _ROWS, "name": "replace", "nth": 1, "after": True},
        "applied",
    ),
    "after it is settled": (
        {"owner": "onrecord.service:OnRecord", "name": "_perform", "nth": 1, "after": True},
        "applied",
    ),
}
#: Where a roll-back is killed.
ROLLING_BACK: dict[str, dict[str, Any]] = {
    "before its values": {"owner": _TARGET, "name": "restore", "nth": 1},
    "between two records": {"owner": _RECORDS, "name": "rewritten", "nth": 2},
    "after its values": {"owner": _TARGET, "name": "restore", "nth": 1, "after": True},
    "in the transaction that settles it": {"owner": _ROWS, "name": "replace", "nth": 2, "after": True},
}
EDITS = [
    described(),
    {"entity": ENTITY, "field": "tags", "key": "money", "op": "add"},
    {"entity": ENTITY, "field": "documents", "key": "How to read it", "value": "Slowly."},
]


@pytest.fixture
def shop(shared_db: str, tmp_path: Path) -> Any:
    with connect(shared_db) as door:
        door.ingest(write_source(tmp_path / "source"))
        yield door


def settled(door: OnRecord) -> None:
    """A worker comes by, long after the process is gone."""
    settle_all(door._store, datetime.now(UTC) + 2 * LEFT_AFTER)
    assert door.changesets(states=["applying", "taking_back", "rolling_back"]).total == 0
    assert door.doctor().problems == ()


@pytest.mark.usefixtures("words_alone")
@pytest.mark.parametrize("where", APPLYING)
def test_an_apply_that_was_killed_is_done_or_undone_and_can_be_done_again(
    where: str, crew: Any, shared_db: str, shop: OnRecord
) -> None:
    killed, becomes = APPLYING[where]
    before, id = shown(shop), approved(shop, *EDITS)
    hand = crew.start("die_when", db=shared_db, act="apply", given={"entity": ENTITY}, **killed)
    assert hand.rest() == [], "it was killed"
    settled(shop)
    assert [each.state for each in shop.changesets().changesets] == ([becomes] if becomes else [])
    is_done = becomes == "applied"
    assert (shown(shop) != before) == is_done
    assert [each.id for each in shop.browse(proposal="applied" if is_done else "approved").memories] == [id]
    done = "1" if is_done else shop.apply(ENTITY).changeset.id
    assert len(shown(shop)["promoted"]) == len(EDITS)
    assert shop.roll_back(done).kept == ()
    assert shown(shop) == before


@pytest.mark.usefixtures("words_alone")
@pytest.mark.parametrize("where", ROLLING_BACK)
def test_a_roll_back_that_was_killed_is_finished(
    where: str, crew: Any, shared_db: str, shop: OnRecord
) -> None:
    before, id = shown(shop), approved(shop, *EDITS)
    done = shop.apply(ENTITY).changeset.id
    hand = crew.start(
        "die_when",
        db=shared_db,
        act="roll_back",
        given={"id": done, "reason": "wrong"},
        **ROLLING_BACK[where],
    )
    assert hand.rest() == [], "it was killed"
    settled(shop)
    assert shown(shop) == before
    assert [each.id for each in shop.browse(proposal="pending").memories] == [id]
    assert "wrong" in (shop.show(id).memory.status_reason or "")
