"""Does what people agreed on reach DataHub whole, can it be taken back, and is no edit of others ever lost?"""

import json
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from onrecord import OnRecord
from onrecord.catalog.targets import datahub as target
from onrecord.errors import CatalogUnavailable, Conflict
from onrecord.operation import StorePolicy
from onrecord.review.settling import LEFT_AFTER, settle_all
from onrecord.testing.shop import write_source
from tests.datahub import shown
from tests.soak import some

from .datahub_server import Datahub

ORDERS = "snowflake_acme_sales.orders"
AMOUNT = f"{ORDERS}.amount"
WIKI = "https://wiki.example/orders"
#: One edit of each kind, and where it is possible of a dataset and of a column.
EVERY_EDIT: list[dict[str, Any]] = [
    {"entity": ORDERS, "field": "description", "value": "Net of refunds."},
    {"entity": AMOUNT, "field": "description", "value": "In cents."},
    {"entity": ORDERS, "field": "tags", "op": "add", "key": "money"},
    {"entity": ORDERS, "field": "tags", "op": "add", "key": "urn:li:tag:core"},
    {"entity": ORDERS, "field": "tags", "op": "remove", "key": "old"},
    {"entity": AMOUNT, "field": "tags", "op": "add", "key": "money"},
    {"entity": ORDERS, "field": "terms", "op": "add", "key": "Sales.Order"},
    {"entity": AMOUNT, "field": "terms", "op": "add", "key": "Revenue"},
    {"entity": ORDERS, "field": "links", "key": WIKI, "value": "Runbook"},
    {"entity": ORDERS, "field": "properties", "key": "tier", "value": ["gold", 1, True]},
    {"entity": AMOUNT, "field": "properties", "key": "scale", "value": 2},
    {
        "entity": ORDERS,
        "field": "queries",
        "key": "Newest",
        "value": {"sql": "SELECT 1", "description": "one"},
    },
    {"entity": ORDERS, "field": "documents", "key": "How to read it", "value": "Slowly.\nünï"},
    {"entity": ORDERS, "field": "incidents", "key": "Late", "value": "Since Monday."},
    {"entity": AMOUNT, "field": "incidents", "key": "Wrong", "value": "Since Tuesday."},
]
CHANGES = "^(update|batch|create|add|remove|upsert|raise|delete)"


@pytest.fixture
def orders(hub: Datahub, shop: OnRecord) -> dict[str, Any]:
    """A dataset that was ingested: what DataHub keeps of it."""
    urn = hub.add(
        "acme.sales.orders",
        description="Orders.",
        tags=["urn:li:tag:old"],
        fields={"id": "NUMBER", "amount": {"type": "FLOAT", "description": "The amount."}},
    )
    hub.state.tags |= {"urn:li:tag:old": "old", "urn:li:tag:core": "Core"}
    shop.ingest("datahub")
    hub.requests.clear()
    return hub.state.datasets[urn]


def approved(shop: OnRecord, *edits: dict[str, Any]) -> str:
    """The id of a new proposal that a person has approved. What was rejected before is not proposed again."""
    id = shop.remember(f"They agreed on it, {uuid4()}.", edits=list(edits), alike="keep").memory.id
    shop.approve(id)
    return id


def applied(shop: OnRecord, *edits: dict[str, Any]) -> Any:
    return shop.apply(ORDERS, memories=[approved(shop, *edits)]).changeset


def described(value: str, entity: str = ORDERS) -> dict[str, Any]:
    return {"entity": entity, "field": "description", "value": value}


def test_every_kind_of_change_is_written_and_taken_back(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    before = shown(hub.state)
    proposal = approved(shop, *EVERY_EDIT)
    plan = shop.plan(ORDERS)
    assert plan.target == "datahub"
    assert [each.conflict for each in plan.changes] == [None] * len(EVERY_EDIT)
    assert not [each for each in hub.requests if each.startswith(("update", "create", "batch"))], (
        "a plan writes nothing"
    )
    hub.requests.clear()
    done = shop.apply(ORDERS, mark=plan.mark).changeset
    assert (done.state, done.target) == ("applied", "datahub")
    assert {each.note for each in done.changes} == {None}
    assert orders["edited"] == "Net of refunds."
    assert orders["description"] == "Orders.", "what was ingested stays beside it"
    assert set(orders["tags"]) == {"urn:li:tag:money", "urn:li:tag:core"}
    assert orders["terms"] == ["urn:li:glossaryTerm:Sales.Order"]
    assert orders["edits"]["amount"] == {
        "description": "In cents.",
        "tags": ["urn:li:tag:money"],
        "terms": ["urn:li:glossaryTerm:Revenue"],
    }
    assert orders["links"] == [(WIKI, "Runbook")]
    assert [list(each.values()) for each in hub.state.values.values()] == [[["gold", "1", "true"]], [[2.0]]]
    [query], [document] = hub.state.queries.values(), hub.state.documents.values()
    assert (query["name"], query["sql"], query["description"]) == ("Newest", "SELECT 1", "one")
    assert (document["title"], document["text"]) == ("How to read it", "Slowly.\nünï")
    assert [each["title"] for each in hub.state.incidents.values()] == ["Late", "Wrong"]
    changing = [each for each in hub.requests if each.startswith(("update", "batch", "upsert"))]
    assert sorted(changing) == sorted(
        [
            *("batchAddTags", "batchAddTags", "batchRemoveTags", "batchAddTerms", "batchAddTerms"),
            *(
                "updateDescription",
                "updateDescription",
                "upsertStructuredProperties",
                "upsertStructuredProperties",
            ),
        ]
    ), "one for each field of an entity"
    assert [each for each in hub.requests if each.startswith("createTag")] == ["createTag"], (
        "only what is missing"
    )
    assert shop.browse(proposal="applied").memories[0].id == proposal
    rolled = shop.roll_back(done.id, reason="wrong")
    assert rolled.kept == ()
    assert shown(hub.state) == before
    assert shop.browse(proposal="pending").memories[0].id == proposal
    # Over something, and taken away.
    first = applied(shop, *[each for each in EVERY_EDIT if each.get("op") != "remove"])
    between = shown(hub.state)
    anew = [
        {"entity": ORDERS, "field": "description", "value": "Gross."},
        {"entity": ORDERS, "field": "links", "key": WIKI, "value": "Handbook"},
        {"entity": ORDERS, "field": "properties", "key": "tier", "value": "silver"},
        {"entity": ORDERS, "field": "queries", "key": "Newest", "value": {"sql": "SELECT 2"}},
        {"entity": ORDERS, "field": "documents", "key": "How to read it", "value": "Quickly."},
        {"entity": ORDERS, "field": "incidents", "key": "Late", "value": "Since Friday."},
    ]
    taken = [
        {"entity": each["entity"], "field": each["field"], "key": each.get("key"), "op": "remove"}
        for each in EVERY_EDIT
        if each["field"] != "description" and each.get("op") != "remove"
    ]
    for edits in (anew, taken):
        second = applied(shop, *edits)
        assert shown(hub.state) != between
        assert shop.roll_back(second.id).kept == ()
        assert shown(hub.state) == between
    assert shop.roll_back(first.id).kept == ()
    assert shown(hub.state) == before


def test_what_shows_up_late_is_waited_for_and_said(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "SHOWN_WITHIN_S", 60)
    hub.lag = 2
    done = applied(shop, described("Net."))
    assert done.changes[0].note is None
    assert hub.requests.count("entity") == 5, "planned, compared, and looked at until it showed"
    hub.calm()
    monkeypatch.setattr(target, "SHOWN_WITHIN_S", 0)
    hub.lag = 999
    done = applied(shop, described("Gross."))
    assert done.state == "applied"
    assert done.changes[0].note == target.UNSEEN
    assert orders["edited"] == "Gross."
    hub.calm()
    assert shop.roll_back(done.id).kept == ()
    assert orders["edited"] == "Net."


def test_what_others_edit_in_between_is_named_and_never_lost(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    edits = [described("Net."), {"entity": ORDERS, "field": "tags", "op": "add", "key": "money"}]
    id = approved(shop, *edits)
    hub.state.tags["urn:li:tag:money"] = "money"
    # Someone adds the very tag after the description was written: it is theirs.
    hub.meanwhile(lambda: orders["tags"].append("urn:li:tag:money"), "^entity$", nth=3)
    with pytest.raises(Conflict, match=f"{ORDERS} tags money was changed since in DataHub"):
        shop.apply(ORDERS)
    assert orders["tags"] == ["urn:li:tag:old", "urn:li:tag:money"]
    assert not orders["edited"], "what was written is taken back"
    [failed] = shop.changesets().changesets
    assert failed.state == "failed"
    assert not any(each.written for each in failed.changes)
    assert shop.browse(proposal="approved").memories[0].id == id
    hub.calm()
    # Someone edits what was planned, before it is written.
    orders["tags"].remove("urn:li:tag:money")
    mark = shop.plan(ORDERS).mark
    orders["edited"] = "Gross, says Eve."
    with pytest.raises(Conflict, match="has changed since"):
        shop.apply(ORDERS, mark=mark)
    orders["edited"] = None
    hub.meanwhile(lambda: orders.update(edited="Gross, says Eve."), "^entity$", nth=2)
    with pytest.raises(Conflict, match="description was changed since in DataHub"):
        shop.apply(ORDERS)
    assert orders["edited"] == "Gross, says Eve."
    hub.calm()
    # Someone edits after it was applied.
    orders["edited"] = None
    done = shop.apply(ORDERS).changeset
    orders["edited"] = "Gross, says Eve."
    rolled = shop.roll_back(done.id)
    assert rolled.kept == (f"{ORDERS} description was changed since in DataHub",)
    assert orders["edited"] == "Gross, says Eve."
    assert "urn:li:tag:money" not in orders["tags"]


def test_what_cannot_be_read_is_never_taken_for_empty(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    approved(shop, *EVERY_EDIT)
    before = deepcopy(hub.state)
    whole: dict[str, Any] = {"urn": "x", "exists": True, "status": None}
    bodies: list[Any] = [
        {"data": {"entity": None}},
        {"data": {}},
        {"data": {"entity": {**whole, "exists": None}}},
        {"data": {"entity": {**whole, "tags": []}}},
        {"data": {"entity": {**whole, "tags": {"tags": [{"tag": None}]}}}},
        {"data": {"entity": {**whole, "incidents": None}}},
        {"data": {"entity": {**whole, "incidents": {"total": 5_000, "incidents": []}}}},
        {"data": {"entity": {**whole, "properties": "?"}}},
        {"data": {"entity": whole, "listQueries": None}, "errors": [{"message": "the index is down"}]},
    ]
    for body in bodies:
        # Both what is planned on, and what is compared with before it is written.
        for nth in (1, 3):
            hub.answer(json.dumps(body).encode(), "^entity$", nth=nth, times=99 if nth > 1 else 1)
            # What came half is told as changed, if it was read at all.
            with pytest.raises(CatalogUnavailable if nth == 1 else (CatalogUnavailable, Conflict)):
                shop.apply(ORDERS)
            hub.calm()
            settle_all(shop._store, shop._clock() + 2 * LEFT_AFTER, datahub=shop._policy.datahub)
            assert shown(hub.state) == shown(before)
    orders["broken"] = True
    with pytest.raises(CatalogUnavailable, match="refused: an aspect"):
        shop.plan(ORDERS)


def test_a_failure_at_any_call_leaves_all_or_nothing(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    before = shown(hub.state)
    edits = [each for each in EVERY_EDIT if each["field"] != "incidents" or each["entity"] == ORDERS]
    done = applied(shop, *edits)
    after = shown(hub.state)
    changing = len(
        [
            each
            for each in hub.requests
            if each.startswith(("update", "batch", "create", "add", "upsert", "raise"))
        ]
    )
    shop.roll_back(done.id)
    for number in some(range(1, changing + 1), 5):
        for is_done in (False, True):
            hub.fail(500, CHANGES, nth=number, done=is_done)
            proposal = approved(shop, *edits)
            try:
                result = shop.apply(ORDERS, memories=[proposal]).changeset
                assert shown(hub.state) == after
                hub.calm()
                shop.roll_back(result.id)
            except CatalogUnavailable as problem:
                assert "Nothing was applied" in str(problem)
                shop.reject(proposal)
            assert shown(hub.state) == before, (number, is_done)
            hub.calm()


def test_half_of_a_batch_is_taken_back(hub: Datahub, shop: OnRecord, orders: dict[str, Any]) -> None:
    before = shown(hub.state)
    hub.half = "tags"
    id = approved(
        shop, *[{"entity": ORDERS, "field": "tags", "op": "add", "key": key} for key in ("a", "b", "c")]
    )
    with pytest.raises(
        CatalogUnavailable, match=r"Nothing was applied.*the connection to the store was lost"
    ):
        shop.apply(ORDERS)
    assert shown(hub.state) == before
    hub.half = None
    shop.apply(ORDERS, memories=[id])
    assert len(orders["tags"]) == 4


def test_what_cannot_be_taken_back_now_is_as_soon_as_datahub_answers(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    before = shown(hub.state)
    edits = [described("Net."), {"entity": ORDERS, "field": "tags", "op": "add", "key": "money"}]
    id = approved(shop, *edits)
    hub.fail(500, "batchAddTags", times=999)
    hub.fail(500, "^entity$", nth=4, times=999)
    with pytest.raises(
        CatalogUnavailable, match="Changeset 1 is partly written, and will be undone as soon as"
    ):
        shop.apply(ORDERS)
    assert orders["edited"] == "Net."
    [left] = shop.changesets().changesets
    assert left.state == "taking_back"
    later = shop._clock() + 2 * LEFT_AFTER
    assert settle_all(shop._store, later, datahub=shop._policy.datahub) == (), "it still does not answer"
    assert settle_all(shop._store, later) == (), "nor does a worker know where it is"
    hub.calm()
    assert settle_all(shop._store, later, datahub=shop._policy.datahub) == ("1",)
    assert shown(hub.state) == before
    done = shop.apply(ORDERS, memories=[id]).changeset
    hub.fail(500, "updateDescription", times=999)
    with pytest.raises(CatalogUnavailable, match="Changeset 2 will be rolled back as soon as possible"):
        shop.roll_back(done.id)
    hub.calm()
    assert settle_all(shop._store, later + timedelta(minutes=1), datahub=shop._policy.datahub) == ("2",)
    assert shown(hub.state) == before
    assert shop.changesets("2").changesets[0].state == "rolled_back"


def test_what_datahub_cannot_take_is_said_in_the_plan(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    orders["fields"]["amount"]["tags"] = ["urn:li:tag:pii"]
    hub.state.properties["urn:li:structuredProperty:size"] = {"valueType": "urn:li:dataType:datahub.number"}
    shop.ingest("datahub")
    refused: list[tuple[dict[str, Any], str]] = [
        (
            {"entity": ORDERS, "field": "description", "op": "remove"},
            "ingests this description from its source",
        ),
        (
            {"entity": AMOUNT, "field": "tags", "op": "remove", "key": "pii"},
            "ingests this tag from its source",
        ),
        (
            {"entity": AMOUNT, "field": "links", "key": WIKI, "value": "x"},
            "has links of a dataset, and none of a column",
        ),
        (
            {"entity": AMOUNT, "field": "queries", "key": "x", "value": {"sql": "x"}},
            "queries of a dataset, and none of a",
        ),
        (
            {"entity": AMOUNT, "field": "documents", "key": "x", "value": "x"},
            "documents of a dataset, and none of a",
        ),
        (
            {"entity": ORDERS, "field": "properties", "key": "size", "value": "big"},
            "has numbers in this property",
        ),
        (
            {"entity": AMOUNT, "field": "properties", "key": "size", "value": [1, 2]},
            "has one value in this property",
        ),
    ]
    approved(shop, *[edit for edit, _ in refused])
    told = [each.conflict or "" for each in shop.plan(ORDERS).changes]
    assert not [(said, why) for (_, why), said in zip(refused, told, strict=True) if why not in said]
    before = shown(hub.state)
    with pytest.raises(Conflict, match="Nothing was applied"):
        shop.apply(ORDERS)
    assert shown(hub.state) == before
    del hub.state.datasets[next(iter(hub.state.datasets))]
    assert "not an entity of the catalog that can be edited" in (shop.plan(ORDERS).changes[0].conflict or "")


def test_each_changeset_goes_back_to_where_it_was_written(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any], tmp_path: Path
) -> None:
    shop.ingest(write_source(tmp_path / "source"))
    beside = shop.apply("shop.orders", memories=[approved(shop, described("Net.", "shop.orders"))]).changeset
    assert beside.target == "amendments", "DataHub does not know it"
    first, second = applied(shop, described("Net.")), applied(shop, described("Gross."))
    with pytest.raises(Conflict, match=f"Changeset {second.id} has changed the same values since"):
        shop.roll_back(first.id)
    elsewhere = shop.as_caller(shop.caller, StorePolicy())
    with pytest.raises(CatalogUnavailable, match="no DataHub is configured here"):
        elsewhere.roll_back(second.id)
    assert elsewhere.plan(ORDERS).target == "amendments"
    assert elsewhere.roll_back(beside.id).kept == ()
    for each in (second, first):
        assert shop.roll_back(each.id).kept == ()
    assert not orders["edited"]
    del hub.state.datasets[next(iter(hub.state.datasets))]


def test_a_token_that_may_read_and_not_write_changes_nothing(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    before = shown(hub.state)
    approved(shop, *EVERY_EDIT)
    hub.fail(403, CHANGES, times=999)
    with pytest.raises(CatalogUnavailable, match="does not allow this token to do that"):
        shop.apply(ORDERS)
    hub.calm()
    denied = b'{"data": {"x": null}, "errors": [{"message": "Unauthorized to perform this action."}]}'
    hub.answer(denied, CHANGES, times=999)
    with pytest.raises(CatalogUnavailable, match="refused: Unauthorized to perform this action"):
        shop.apply(ORDERS)
    hub.calm()
    hub.answer(b'{"data": {"updateDescription": false, "createDocument": null}}', CHANGES, times=999)
    with pytest.raises(CatalogUnavailable, match="was not done"):
        shop.apply(ORDERS)
    assert shown(hub.state) == before


def test_the_catalog_here_shows_what_was_written_and_what_was_taken_back(
    hub: Datahub, shop: OnRecord, orders: dict[str, Any]
) -> None:
    def seen() -> Any:
        sections = shop.inspect(ORDERS).sections
        return sections["description"], set(sections["tags"]), sections["columns"][1]["description"]

    done = applied(shop, *EVERY_EDIT)
    assert seen() == ("Net of refunds.", {"money", "core"}, "In cents.")
    told = shop.ingest("datahub")
    assert (told.changed.models, told.changed.columns) == (0, 0), "an ingest finds it as it is"
    shop.roll_back(done.id)
    assert seen() == ("Orders.", {"old"}, "The amount.")
    # What else has changed there, and what cannot be read, waits for the next ingest.
    orders["fields"]["tax"] = {"type": "FLOAT"}
    applied(shop, described("Gross."))
    assert seen()[0] == "Orders."
    assert shop.ingest("datahub").added.columns == 1
    assert seen()[0] == "Gross."
    hub.fail(500, "^entities$", times=99)
    assert applied(shop, described("Net.")).state == "applied"
    assert seen()[0] == "Gross."
