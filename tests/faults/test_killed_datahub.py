"""Is a changeset whole in DataHub, wherever the process that writes it there or takes it back is killed?"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.review.settling import LEFT_AFTER, settle_all
from tests.catalog.datahub_server import TOKEN, Datahub
from tests.datahub import hub

__all__ = ["hub"]

_MODULE = "onrecord.catalog.targets.datahub"
_TARGET = f"{_MODULE}:DatahubTarget"
_ROWS = "onrecord.store.records.changesets:ChangesetRows"
ORDERS = "snowflake_acme_sales.orders"
#: In the order in which they are written: a document, a query and a tag are three mutations or more.
EDITS: list[dict[str, Any]] = [
    {"entity": ORDERS, "field": "description", "value": "Net."},
    {"entity": ORDERS, "field": "documents", "key": "How to read it", "value": "Slowly."},
    {"entity": ORDERS, "field": "queries", "key": "Newest", "value": {"sql": "SELECT 1"}},
    {"entity": ORDERS, "field": "tags", "key": "money", "op": "add"},
]
#: Where an apply is killed, and whether it is then done or undone once it is settled.
APPLYING: dict[str, tuple[dict[str, Any], str]] = {
    "before anything is noted": ({"owner": _TARGET, "name": "write", "nth": 1}, "failed"),
    "noted and not written": ({"owner": _MODULE, "name": "put", "nth": 2}, "failed"),
    "written and not noted what was made": (
        {"owner": _MODULE, "name": "put", "nth": 3, "after": True},
        "failed",
    ),
    "between two fields": ({"owner": _TARGET, "name": "_write", "nth": 3, "after": True}, "failed"),
    "after the last mutation": ({"owner": _MODULE, "name": "put", "nth": 4, "after": True}, "applied"),
    "after all is written": ({"owner": _TARGET, "name": "write", "nth": 1, "after": True}, "applied"),
    "in the transaction that settles it": (
        {"owner": _ROWS, "name": "replace", "nth": 7, "after": True},
        "applied",
    ),
}
ROLLING_BACK: dict[str, dict[str, Any]] = {
    "before the first": {"owner": _TARGET, "name": "restore", "nth": 1},
    "between two": {"owner": _MODULE, "name": "_put_back", "nth": 2, "after": True},
    "after the last": {"owner": _TARGET, "name": "restore", "nth": 1, "after": True},
}


@pytest.fixture
def db_file(tmp_path: Path) -> str:
    """What is kept of a changeset on other databases is the same."""
    return str(tmp_path / "shop.db")


@pytest.fixture
def shop(db_file: str, hub: Datahub) -> Iterator[OnRecord]:
    hub.add("acme.sales.orders", description="Orders.", tags=["urn:li:tag:core"])
    with connect(db_file) as door:
        door.ingest("datahub")
        yield door


def approved(door: OnRecord) -> str:
    id = door.remember("They agreed on it.", edits=EDITS).memory.id
    door.approve(id)
    return id


def seen(hub: Datahub) -> Any:
    [held] = hub.state.datasets.values()
    made = [
        sorted(each["title" if "title" in each else "name"] for each in items.values())
        for items in (hub.state.documents, hub.state.queries)
    ]
    return held["edited"] or None, sorted(held["tags"]), made


def settled(door: OnRecord) -> None:
    settle_all(door._store, datetime.now(UTC) + 2 * LEFT_AFTER, datahub=door._policy.datahub)
    assert door.changesets(states=["applying", "taking_back", "rolling_back"]).total == 0
    assert door.doctor().problems == ()


def killed(crew: Any, db: str, hub: Datahub, act: str, given: dict[str, Any], **where: Any) -> None:
    settings = {"ONRECORD_DATAHUB_URL": hub.url, "ONRECORD_DATAHUB_TOKEN": TOKEN}
    hand = crew.start("die_when", db=db, act=act, given=given, settings=settings, **where)
    assert hand.rest() == [], "it was killed"


@pytest.mark.usefixtures("words_alone")
@pytest.mark.parametrize("where", APPLYING)
def test_an_apply_that_was_killed_is_done_or_undone_in_datahub(
    where: str, crew: Any, db_file: str, shop: OnRecord, hub: Datahub
) -> None:
    place, becomes = APPLYING[where]
    before, id = seen(hub), approved(shop)
    killed(crew, db_file, hub, "apply", {"entity": ORDERS}, **place)
    settled(shop)
    assert [each.state for each in shop.changesets().changesets] == [becomes]
    is_done = becomes == "applied"
    assert (seen(hub) == before) != is_done
    assert [each.id for each in shop.browse(proposal="applied" if is_done else "approved").memories] == [id]
    done = "1" if is_done else shop.apply(ORDERS).changeset.id
    assert seen(hub) == ("Net.", ["urn:li:tag:core", "urn:li:tag:money"], [["How to read it"], ["Newest"]])
    assert shop.roll_back(done).kept == ()
    assert seen(hub) == before


@pytest.mark.usefixtures("words_alone")
@pytest.mark.parametrize("where", ROLLING_BACK)
def test_a_roll_back_that_was_killed_is_finished_in_datahub(
    where: str, crew: Any, db_file: str, shop: OnRecord, hub: Datahub
) -> None:
    before, id = seen(hub), approved(shop)
    done = shop.apply(ORDERS).changeset.id
    killed(crew, db_file, hub, "roll_back", {"id": done, "reason": "wrong"}, **ROLLING_BACK[where])
    settled(shop)
    assert seen(hub) == before
    assert [each.id for each in shop.browse(proposal="pending").memories] == [id]
