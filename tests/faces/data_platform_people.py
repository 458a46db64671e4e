"""WHO speaks with the data platform's face? A store, the agents and people of one tenant, and short ways to call its tools."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord import Caller, OnRecord, connect
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from onrecord.testing.embedder import StubEmbedder
from tests.conftest import Clock
from tests.surfaces.test_mcp import Agent, introduce

from ..catalog.test_ingest import a_manifest

__all__ = ["introduce"]
Connect = Callable[..., Agent]

ANN, BOB, CHIEF = "ann@example.com", "bob@example.com", "chief@example.com"
REVIEWER = frozenset({"memory.read", "memory.manage", "memory.review"})
SEASONS = "We have two distinct selling seasons."
STORES = "Test stores 9001-9099 are training environments."
PII = "The customer_id column contains PII."
NET = "The amount is net of refunds; finance said so."


def urn(table: str) -> str:
    return f"urn:li:dataset:(urn:li:dataPlatform:duckdb,warehouse.main.{table},PROD)"


ORDERS = urn("orders")


@pytest.fixture
def stub() -> StubEmbedder:
    return StubEmbedder()


@pytest.fixture
def door(clock: Clock, stub: StubEmbedder) -> Iterator[OnRecord]:
    owner = Caller(tenant="acme", user=CHIEF, permissions=frozenset(PERMISSIONS))
    with connect(":memory:", caller=owner, clock=clock, embedder=stub) as door:
        yield door


@pytest.fixture
def agent(door: OnRecord, introduce: Callable[[Client], Agent]) -> Connect:
    """An agent with these tools, for the person that its request names."""

    def connected(user: str = ANN, mode: str = "auto", asks: Any = None, **who: Any) -> Agent:
        caller = Caller(**{"tenant": "acme", "user": user, "actor": "agent"} | who)
        tool_request = ToolRequest(door.as_caller(caller), chosen(["data_platform"]))
        return introduce(
            Client(build_server(lambda context: tool_request), mode=mode, elicitation_callback=asks)
        )

    return connected


@pytest.fixture
def ann(agent: Connect) -> Agent:
    return agent()


@pytest.fixture
def admin(agent: Connect) -> Agent:
    return agent(CHIEF, permissions=frozenset(PERMISSIONS))


def remember(someone: Agent, content: str = SEASONS, **more: Any) -> str:
    told = someone.did("memory_manage", command="remember", content=content, **more)
    return str(told["id"])


def error(someone: Agent, tool: str = "memory_manage", **arguments: Any) -> str:
    """The text of an error, which is JSON with one key."""
    told = json.loads(someone.refused(tool, **arguments))
    assert list(told) == ["error"]
    return str(told["error"])


def listed(someone: Agent, **filters: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = someone.did("memory_manage", command="list", **filters)["records"]
    return records


def ids(records: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in records]


def recall(someone: Agent, query: str = "", **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = someone.did("memory_recall", query=query, **more)
    assert answer["count"] == len(answer["memories"])
    return answer


def found(answer: dict[str, Any]) -> list[str]:
    return [each["Record"]["id"] for each in answer["memories"]]


def scores(answer: dict[str, Any]) -> list[float]:
    return [each["Score"] for each in answer["memories"]]


@pytest.fixture
def chief(agent: Connect) -> Agent:
    """An admin in person."""
    return agent(CHIEF, permissions=frozenset(PERMISSIONS), actor="person")


@pytest.fixture
def catalog(door: OnRecord, tmp_path: Path) -> OnRecord:
    """The store once its catalog knows the orders and their columns."""
    door.ingest(str(a_manifest(tmp_path / "manifest.json", orders={}, customers={})))
    return door


def capture(someone: Agent, text: str = NET, category: str = "correction", **more: Any) -> str:
    told = someone.did("capture_insight", category=category, insight_text=text, **more)
    return str(told["insight_id"])


def apply_knowledge(someone: Agent, action: str, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = someone.did("apply_knowledge", action=action, **more)
    return told
