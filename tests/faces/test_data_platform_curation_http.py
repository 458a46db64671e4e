"""WHICH routes curate knowledge and look after vectors? Those of an admin over all of it, and of a person over their own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from onrecord import Caller, OnRecord
from onrecord.faces.data_platform.routes import HTTP
from onrecord.model.limits import PERMISSIONS
from onrecord.operation import StorePolicy
from tests.surfaces.conftest import Served

from ..catalog.test_ingest import a_manifest
from .data_platform_people import ANN, BOB, CHIEF, NET, ORDERS, PII, SEASONS, STORES, urn
from .test_data_platform_http import ADMIN, PORTAL, ids, refused

INSIGHTS, CHANGESETS = f"{ADMIN}/knowledge/insights", f"{ADMIN}/knowledge/changesets"
MINE = f"{PORTAL}/knowledge/insights"
JOBS = f"{ADMIN}/index-jobs"
TAG = {"change_type": "add_tag", "target": "", "detail": "finance"}


class House:
    """A server whose catalog knows the orders; each test works in a tenant of its own."""

    def __init__(self, server: Served, manifest: Path) -> None:
        self.server, self.manifest, self._count = server, manifest, 0
        self._open: list[httpx2.Client] = []

    def tenant(self) -> "Tenant":
        self._count += 1
        return Tenant(self, f"tenant{self._count}")

    def connect(self, tenant: str, **who: Any) -> httpx2.Client:
        self.server.parts.authenticator.forget_keys()
        client = self.server.connect(self.door(tenant).create_key(**who).secret)
        self._open.append(client)
        return client

    def door(self, tenant: str) -> OnRecord:
        """The door of whoever runs the server, in a tenant."""
        owner = Caller(tenant=tenant, user="host", permissions=frozenset(PERMISSIONS), operator=True)
        return self.server.parts.door.as_caller(owner, StorePolicy())

    def close(self) -> None:
        for client in self._open:
            client.close()
        self.server.stop()


class Tenant:
    def __init__(self, house: House, name: str) -> None:
        self.house, self.name = house, name
        self.chief = house.connect(name, user=CHIEF, permissions=list(PERMISSIONS[:4]), actor="person")
        self.ann, self.bob = house.connect(name, user=ANN), house.connect(name, user=BOB)
        house.door(name).ingest(str(house.manifest))

    def tool(self, client: httpx2.Client, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool of the face over HTTP, as its clients do."""
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        told = client.post(
            "/mcp/data_platform",
            json=body,
            headers={"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"},
        )
        result = told.json()["result"]
        assert not result.get("isError"), result
        answer: dict[str, Any] = result["structuredContent"]
        return answer

    def capture(self, client: httpx2.Client, text: str, category: str = "correction", **more: Any) -> str:
        given = {"category": category, "insight_text": text, "entity_urns": [ORDERS]} | more
        return str(self.tool(client, "capture_insight", **given)["insight_id"])

    def move(self, id: str, status: str, **more: Any) -> httpx2.Response:
        return self.chief.put(f"{INSIGHTS}/{id}/status", json={"status": status, **more})

    def apply(self, id: str, *changes: dict[str, str]) -> str:
        given = {
            "entity_urn": ORDERS,
            "insight_ids": [id],
            "changes": list(changes or (TAG,)),
            "confirm": True,
        }
        return str(self.tool(self.chief, "apply_knowledge", action="apply", **given)["changeset_id"])


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("platform")
    manifest = a_manifest(folder / "manifest.json", orders={}, customers={})
    house = House(Served(db=str(folder / "store.db"), worker="no", embedder="none"), manifest)
    yield house
    house.close()


@pytest.fixture
def tenant(house: House) -> Tenant:
    return house.tenant()


def test_there_are_twenty_five_routes() -> None:
    assert len(HTTP.routes) == 25


def test_an_admin_lists_insights_by_their_exact_state_page_by_page(tenant: Tenant) -> None:
    texts = (NET, PII, SEASONS, STORES)
    made = [tenant.capture(tenant.ann, text, confidence="high") for text in texts]
    bobs = tenant.capture(
        tenant.bob, "Bob noticed late loads.", "data_quality", entity_urns=[urn("customers")]
    )
    assert tenant.move(made[0], "approved").json() == {"status": "updated"}
    tenant.move(made[1], "rejected", review_notes="Not so.")

    def listed(**asked: Any) -> list[str]:
        return ids(tenant.chief.get(INSIGHTS, params=asked))

    assert listed() == [bobs, *made[::-1]]
    assert listed(status="pending") == [bobs, made[3], made[2]]
    assert (listed(status="approved"), listed(status="rejected")) == ([made[0]], [made[1]])
    assert listed(category="data_quality") == listed(captured_by=BOB) == [bobs]
    assert listed(entity_urn=urn("customers"), confidence="medium") == [bobs]
    assert listed(source="enrichment_gap") == listed(since="2999-01-01T00:00:00Z") == []
    page = tenant.chief.get(INSIGHTS, params={"status": "pending", "page": 2, "per_page": 2})
    assert ids(page) == [made[2]]
    assert {name: page.json()[name] for name in ("total", "page", "per_page")} == {
        "total": 3,
        "page": 2,
        "per_page": 2,
    }
    assert "must be one of: pending" in refused(tenant.chief.get(INSIGHTS, params={"status": "active"}), 400)
    stats = tenant.chief.get(f"{INSIGHTS}/stats").json()
    assert stats == {
        "total_pending": 3,
        "by_category": {"correction": 4, "data_quality": 1},
        "by_confidence": {"high": 4, "medium": 1},
        "by_status": {"pending": 3, "approved": 1, "rejected": 1},
    }
    assert tenant.chief.get(f"{INSIGHTS}/stats", params={"status": "approved"}).json()["by_category"] == {
        "correction": 1
    }


def test_one_insight_is_read_changed_and_moved(tenant: Tenant) -> None:
    id = tenant.capture(tenant.ann, NET)
    one = f"{INSIGHTS}/{id}"
    told = tenant.chief.put(one, json={"insight_text": "The amount is gross.", "category": "data_quality"})
    assert (told.status_code, told.json()) == (200, {"status": "updated"})
    insight = tenant.chief.get(one).json()
    assert (insight["insight_text"], insight["category"], insight["captured_by"], insight["status"]) == (
        *("The amount is gross.", "data_quality"),
        *(ANN, "pending"),
    )
    assert "at least 10 bytes" in refused(tenant.chief.put(one, json={"insight_text": "short"}), 400)
    assert "must be one of: correction" in refused(tenant.chief.put(one, json={"category": "general"}), 400)
    assert "is not a field of a change" in refused(tenant.chief.put(one, json={"content": NET}), 400)
    assert "must be 'approved' or 'rejected'" in refused(tenant.move(id, "applied"), 400)
    assert tenant.move(id, "approved", review_notes="Seen.").status_code == 200
    told = refused(tenant.move(id, "approved"), 409)
    assert told == 'invalid status transition from "approved" to "approved"'
    assert tenant.chief.get(one).json()["review_notes"] == "Seen."
    tenant.apply(id)
    assert "cannot edit an insight that is applied" in refused(
        tenant.chief.put(one, json={"category": "correction"}), 409
    )
    assert "applied" in refused(tenant.move(id, "rejected"), 409)
    for path in (f"{INSIGHTS}/{'0' * 32}", f"{INSIGHTS}/no%20id"):
        assert refused(tenant.chief.get(path), 404) == "insight not found"
        assert refused(tenant.chief.put(path, json={}), 404) == "insight not found"
        assert (
            refused(tenant.chief.put(f"{path}/status", json={"status": "approved"}), 404)
            == "insight not found"
        )


def test_changesets_are_listed_read_and_rolled_back(tenant: Tenant) -> None:
    id = tenant.capture(tenant.ann, NET)
    tenant.move(id, "approved")
    first = tenant.apply(id, {"change_type": "update_description", "target": "", "detail": "Orders."})
    other = tenant.capture(tenant.ann, STORES)
    tenant.move(other, "approved")
    second = tenant.apply(other)
    assert ids(tenant.chief.get(CHANGESETS)) == [second, first]
    told = tenant.chief.get(f"{CHANGESETS}/{first}").json()
    assert {name: told[name] for name in told if name != "created_at"} == {
        "id": first,
        "target_urn": ORDERS,
        "change_type": "update_description",
        "applied_by": CHIEF,
        "approved_by": CHIEF,
        "source_insight_ids": [id],
        "rolled_back": False,
        "state": "applied",
        "previous_value": {"description": None},
        "new_value": {"description": "Orders."},
    }
    done = tenant.chief.post(f"{CHANGESETS}/{first}/rollback")
    assert done.json() == {
        "changeset_id": first,
        "target_urn": ORDERS,
        "reverted_changes": ["update_description: description"],
        "insights_rolled_back": 1,
        "rolled_back_by": CHIEF,
    }
    assert "already been rolled back" in refused(tenant.chief.post(f"{CHANGESETS}/{first}/rollback"), 409)
    assert ids(tenant.chief.get(CHANGESETS, params={"rolled_back": "true"})) == [first]
    assert ids(tenant.chief.get(CHANGESETS, params={"rolled_back": "false", "applied_by": CHIEF})) == [second]
    assert ids(tenant.chief.get(CHANGESETS, params={"applied_by": ANN})) == []
    assert ids(tenant.chief.get(CHANGESETS, params={"entity_urn": ORDERS, "per_page": 1})) == [second]
    assert ids(tenant.chief.get(CHANGESETS, params={"since": "2999-01-01T00:00:00Z"})) == []
    assert refused(tenant.chief.get(f"{CHANGESETS}/99"), 404) == "changeset not found: 99"
    assert tenant.chief.post(f"{CHANGESETS}/99/rollback").status_code == 404


def test_a_person_lists_counts_and_searches_their_own_alone(tenant: Tenant) -> None:
    made = [tenant.capture(tenant.ann, text) for text in (NET, PII)]
    bobs = tenant.capture(tenant.bob, "The refunds of May came late.")
    tenant.move(made[1], "rejected")
    mine = tenant.ann.get(MINE, params={"limit": 1, "offset": 1})
    assert (ids(mine), mine.json()["total"]) == ([made[0]], 2)
    assert {name: mine.json()[name] for name in ("limit", "offset")} == {"limit": 1, "offset": 1}
    assert ids(tenant.ann.get(MINE, params={"status": "rejected"})) == [made[1]]
    assert tenant.ann.get(f"{MINE}/stats").json()["by_status"] == {"pending": 1, "rejected": 1}
    assert tenant.chief.get(f"{MINE}/stats").json()["total_pending"] == 0, "an admin's own"
    assert "captured_by" in refused(tenant.ann.get(MINE, params={"captured_by": BOB}), 400)
    found = tenant.ann.get(f"{MINE}/search", params={"q": "refunds"})
    assert ids(found) == [made[0]]
    assert 0 < found.json()["data"][0]["score"] <= 1
    assert ids(tenant.bob.get(f"{MINE}/search", params={"q": "refunds"})) == [bobs]
    assert ids(tenant.chief.get(f"{MINE}/search", params={"q": "refunds"})) == []
    assert ids(tenant.ann.get(f"{MINE}/search", params={"q": "customer_id", "status": "rejected"})) == [
        made[1]
    ]
    assert "'q' is required" in refused(tenant.ann.get(f"{MINE}/search"), 400)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("GET", f"{INSIGHTS}{rest}") for rest in ("", "/stats", "/1")),
        *(("PUT", f"{INSIGHTS}/1{rest}") for rest in ("", "/status")),
        *(("GET", f"{CHANGESETS}{rest}") for rest in ("", "/1")),
        ("POST", f"{CHANGESETS}/1/rollback"),
        *(("GET", f"{JOBS}{rest}") for rest in ("", "/jobs", "/failures")),
        *(("POST", f"{JOBS}/{rest}") for rest in ("reindex", "dismiss")),
    ],
)
def test_the_routes_of_an_admin_are_for_admins(house: House, tenant: Tenant, method: str, path: str) -> None:
    body = (
        {}
        if method == "GET"
        else {"json": {"kind": "memory"} if "index-jobs" in path else {"status": "approved"}}
    )
    if path.endswith("/1"):
        body = {} if method == "GET" else {"json": {"category": "correction"}}
    refused(tenant.ann.request(method, path, **body), 403)
    refused(house.server.client.request(method, path, **body), 401)


def test_an_agents_key_approves_and_rolls_back_nothing(house: House, tenant: Tenant) -> None:
    id = tenant.capture(tenant.ann, NET)
    robot = house.connect(tenant.name, user=CHIEF, permissions=list(PERMISSIONS[:4]))
    refused(robot.put(f"{INSIGHTS}/{id}/status", json={"status": "approved"}), 403)
    tenant.move(id, "approved")
    changeset = tenant.apply(id)
    refused(robot.post(f"{CHANGESETS}/{changeset}/rollback"), 403)
    assert tenant.chief.get(f"{INSIGHTS}/{id}").json()["status"] == "applied"


def test_without_an_embedder_there_is_nothing_to_index(tenant: Tenant) -> None:
    assert tenant.chief.get(f"{JOBS}/jobs").json() == {"jobs": []}
    assert tenant.chief.get(f"{JOBS}/failures", params={"kind": "memory"}).json() == {"failures": []}
    assert "not available" in refused(tenant.chief.post(f"{JOBS}/reindex", json={"kind": "memory"}), 409)
    assert tenant.chief.post(f"{JOBS}/dismiss", json={"kind": "memory", "source_id": "embed"}).json() == {
        "status": "resolved",
        "resolved": 0,
    }
    for path in ("reindex", "dismiss"):
        assert "kind: is missing" in refused(tenant.chief.post(f"{JOBS}/{path}", json={}), 400)
        assert "there is memory" in refused(tenant.chief.post(f"{JOBS}/{path}", json={"kind": "tools"}), 404)
    assert "must be one of: pending" in refused(tenant.chief.get(f"{JOBS}/jobs", params={"status": "x"}), 400)


def test_every_route_is_described(house: House) -> None:
    told = json.loads(house.server.client.get("/openapi.json").text)
    for route in HTTP.routes:
        assert route.method.lower() in told["paths"][route.path]
