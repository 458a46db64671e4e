"""IS the same kept once? Near-identical captures converge, by the built-in embedder, and the chain can be followed."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client

from onrecord import Caller, OnRecord, connect
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from tests.surfaces.test_mcp import Agent, introduce

from .data_platform_people import (
    ANN,
    BOB,
    CHIEF,
    apply_knowledge,
    capture,
    error,
    ids,
    listed,
    recall,
    remember,
    urn,
)

__all__ = ["introduce"]

THRICE = (
    "The orders table holds amounts net of refunds.",
    "Please note that the orders table holds amounts net of refunds!",
    "Orders table holds amounts net of refunds",
)


@pytest.fixture(scope="module")
def store() -> Iterator[OnRecord]:
    with connect(":memory:") as door:
        yield door


@pytest.fixture
def someone(store: OnRecord, introduce: Callable[[Client], Agent]) -> Any:
    """Whoever is named, in a tenant of this test's own."""
    tenant = uuid4().hex

    def connected(user: str = ANN, **who: Any) -> Agent:
        caller = Caller(**{"tenant": tenant, "user": user, "actor": "agent"} | who)
        tool_request = ToolRequest(store.as_caller(caller), chosen(["data_platform"]))
        return introduce(Client(build_server(lambda context: tool_request)))

    return connected


def all_of(someone: Agent) -> dict[str, list[dict[str, Any]]]:
    return {status: listed(someone, filter_status=status) for status in ("active", "superseded")}


def test_three_near_identical_insights_converge_to_one(someone: Any) -> None:
    ann = someone()
    made = [capture(ann, text, entity_urns=[urn("orders")]) for text in THRICE]
    kept = all_of(ann)
    assert ids(kept["active"]) == made[2:]
    assert ids(kept["superseded"]) == made[1::-1]
    assert [each["metadata"]["superseded_by"] for each in kept["superseded"]] == made[:0:-1]
    assert kept["active"][0]["metadata"]["supersedes"] == [made[1]], "never what was superseded before"
    chief = someone(CHIEF, permissions=frozenset(PERMISSIONS), actor="person")
    assert apply_knowledge(chief, "bulk_review")["total_pending"] == 1
    apply_knowledge(chief, "approve", insight_ids=made[2:])
    apply_knowledge(chief, "reject", insight_ids=made[2:])
    assert apply_knowledge(chief, "bulk_review")["total_pending"] == 0, "the others do not come back"


#: As people capture one fact: article, capital, final mark, contraction, kind of dash, an opening.
CAPTURED = (
    (
        "The orders table excludes test stores 9001-9099.",
        "Orders table excludes test stores 9001–9099",
        "please note that the orders table excludes test stores 9001-9099",
    ),
    (
        "Revenue in the finance mart isn't adjusted for returns.",
        "Revenue in finance mart is not adjusted for returns",
        "revenue in the finance mart is not adjusted for returns.",
    ),
    (
        "We don't use the legacy_orders view for the web shop.",
        "we do not use `legacy_orders` view for the web shop",
        "We do NOT use the legacy_orders view for the web shop!",
    ),
)


@pytest.mark.parametrize("texts", CAPTURED, ids=lambda texts: texts[1])
def test_captures_of_one_fact_by_several_hands_leave_one_active_record(
    someone: Any, texts: tuple[str, ...]
) -> None:
    ann = someone()
    made = [capture(ann, text, entity_urns=[urn("orders")]) for text in texts]
    kept = all_of(ann)
    assert (ids(kept["active"]), ids(kept["superseded"])) == (made[2:], made[1::-1])


def test_three_near_identical_memories_converge_to_one_and_recall_shows_the_chain(someone: Any) -> None:
    ann = someone()
    told = [ann.did("memory_manage", command="remember", content=text) for text in THRICE]
    made = [each["id"] for each in told]
    assert ["superseded_ids" in each for each in told] == [False, True, True]
    assert told[2]["superseded_ids"] == [made[1]]
    [hit] = recall(ann, "amounts net of refunds")["memories"]
    assert (hit["Record"]["id"], hit["Record"]["metadata"]) == (made[2], {"supersedes": [made[1]]})
    refused = error(ann, command="update", id=made[0], content="The amounts are gross of refunds.")
    assert refused == f"memory {made[0]} is superseded by {made[1]}: update {made[1]} instead"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Loyalty points expire after two years.", "After two years loyalty points are lost."),
        ("The backup of the ledger is encrypted.", "We encrypt the ledger's backup."),
        ("Discounts above 20 % need approval.", "Discounts above 10 % need approval."),
        ("The first three columns are keys.", "The first two columns are keys."),
    ],
)
def test_what_is_only_similar_is_only_suggested(someone: Any, one: str, other: str) -> None:
    ann = someone()
    first = remember(ann, one)
    told = ann.did("memory_manage", command="remember", content=other)
    assert "superseded_ids" not in told
    [near] = told["similar"]
    assert (near["id"], 0.75 <= near["similarity"] <= 0.9) == (first, True)
    assert len(listed(ann)) == 2


@pytest.mark.parametrize(
    ("one", "other", "more"),
    [
        (THRICE[0], THRICE[1], {"entity_urns": [urn("returns")]}),
        (THRICE[0], "The orders table holds the amounts net of all refunds.", {}),
        ("Stores 9001-9099 are for training.", "Stores 8001-8099 are for training.", {}),
        ("The sales_daily table refreshes at two.", "The sales_weekly table refreshes at two.", {}),
        ("Refunds are included in the amount.", "Refunds are not included in the amount.", {}),
    ],
)
def test_another_entity_number_name_or_the_opposite_is_never_superseded(
    someone: Any, one: str, other: str, more: dict[str, Any]
) -> None:
    ann = someone()
    remember(ann, one, entity_urns=[urn("orders")])
    remember(ann, other, **{"entity_urns": [urn("orders")]} | more)
    assert len(listed(ann)) == 2


def test_what_someone_else_said_or_a_person_approved_stays(someone: Any) -> None:
    ann, bob = someone(), someone(BOB)
    remember(ann, THRICE[0])
    remember(bob, THRICE[1])
    assert len(listed(ann)) == 2
    chief = someone(CHIEF, permissions=frozenset(PERMISSIONS), actor="person")
    id = capture(ann, "Weekly figures are taken on Sunday evenings.")
    apply_knowledge(chief, "approve", insight_ids=[id])
    again = capture(ann, "The weekly figures are taken on Sunday evenings.")
    assert {id, again} <= set(ids(listed(ann)))
