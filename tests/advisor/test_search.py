"""What an advisor adds to a search by subject: on each way in, and for each who may ask for it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord import OnRecord
from onrecord.recall.subjects import Searched
from tests.scripted_model import Fails, Says, ScriptedModel, as_json, by_task, ids_of, question_of
from tests.surfaces.conftest import Served, Shell, shell

__all__ = ["shell"]

Open = Callable[..., OnRecord]
MODEL = """
name: trips
sql_table: trips
data_source: shop
columns:
  - {name: destination, type: string, description: Where a journey went}
  - {name: fare, type: number, description: What a journey cost}
"""
QUESTION = "where did people travel?"


@pytest.fixture
def journeys(advised: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OnRecord:
    """Notes, example queries and a catalog; the question shares no word with the note that answers it."""
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    door = advised(advisor_models="rerank_fine=openai:strong")
    (tmp_path / "models" / "shop").mkdir(parents=True)
    (tmp_path / "models" / "shop" / "trips.yaml").write_text(MODEL)
    door.ingest(str(tmp_path))
    door.remember("A journey to Lisbon counts as domestic.", id="journey")
    for number in range(3):
        door.remember(f"People travel cheaply, case {number}.", id=f"case{number}", dedupe=False)
    for number in range(2):
        door.remember(
            f"How people travel, number {number}.",
            id=f"query{number}",
            query=f"SELECT destination FROM trips LIMIT {number + 1}",
            dedupe=False,
        )
    return door


def ids(found: Searched) -> tuple[list[str], list[str]]:
    return [hit.id for hit in found.memories], [hit.id for hit in found.example_queries]


def scripted(model: ScriptedModel) -> None:
    model.script = by_task(
        expand=as_json({"queries": ["journey destination"]}),
        rerank=lambda body: as_json({"ids": list(reversed(ids_of(body)))}),
        rerank_fine=lambda body: as_json({"ids": list(reversed(ids_of(body)))}),
    )


def test_paraphrases_find_notes_and_entities_that_the_question_does_not(
    journeys: OnRecord, model: ScriptedModel
) -> None:
    scripted(model)
    plain = journeys.search(QUESTION)
    assert (plain.advice, "journey" in ids(plain)[0]) == ((), False)
    found = journeys.search(QUESTION, expand="yes")
    assert "journey" in ids(found)[0]
    assert set(ids(plain)[0]) < set(ids(found)[0])
    assert len(found.entities) > len(plain.entities)
    [advice] = found.advice
    assert (advice.task, advice.said, advice.tokens_in) == ("expand", ("journey destination",), 100)
    # A cap cuts its list and changes no order, also of what is joined and put in order.
    whole = journeys.search(QUESTION, expand="yes", rerank="yes")
    cut = journeys.search(QUESTION, expand="yes", rerank="yes", max_memories=2, max_example_queries=1)
    assert (ids(cut)[0], ids(cut)[1]) == (ids(whole)[0][:2], ids(whole)[1][:1])


def test_one_call_puts_all_lists_in_order_and_a_failure_leaves_them(
    journeys: OnRecord, model: ScriptedModel
) -> None:
    scripted(model)
    plain = journeys.search(QUESTION)
    turned = journeys.search(QUESTION, rerank="yes")
    assert ids(turned) == (ids(plain)[0][::-1], ids(plain)[1][::-1])
    assert [hit.score for hit in turned.memories] == sorted(
        (hit.score for hit in turned.memories), reverse=True
    )
    assert len(model.asked) == 1
    assert QUESTION in question_of(model.asked[0])
    twice = journeys.search(QUESTION, rerank="yes", rerank_fine="yes")
    assert (ids(twice), [each.model for each in twice.advice]) == (
        ids(plain),
        ["openai:scripted", "openai:strong"],
    )
    for number, reply in enumerate((Fails(400), Says("no"), as_json({"ids": ["nowhere", 9]})), 1):
        model.script = lambda body, reply=reply: reply
        failed = journeys.search(QUESTION + "?" * number, rerank="yes", expand="yes")
        assert ids(failed) == ids(plain)
        assert [each.applied for each in failed.advice] == [False, False]
        assert all(each.note for each in failed.advice)
    asked = len(model.asked)
    nothing = journeys.search(entities=["shop.trips"], expand="yes", rerank="yes")
    assert ["there is no question" in (each.note or "") for each in nothing.advice] == [True, True]
    assert len(model.asked) == asked


def test_requests_agents_and_tenants_say_what_is_asked(journeys: OnRecord, model: ScriptedModel) -> None:
    scripted(model)

    def asked(question: str, **more: str) -> list[str]:
        return [each.task for each in journeys.search(question, **more).advice]

    journeys.set_agent("scout", expand="yes", limit=3)
    assert asked("people one") == []
    assert asked("people two", agent="scout") == ["expand"]
    assert asked("people three", agent="scout", expand="no", rerank="scripted") == ["rerank"]
    journeys.set_tenant(advice=["expand", "rerank_close"])
    assert asked("people travel four") == ["expand", "rerank"]
    assert journeys.status().advisor.looked_at == 1
    assert asked("people five", expand="no", rerank="no") == []
    journeys.set_tenant(advice=["rerank_fine"])
    assert asked("people six") == ["rerank_fine"]
    assert {each.agent for each in journeys.status().advice[0].usage} == {None, "scout"}


def test_http_mcp_and_the_command_line_ask_and_tell(
    shell: Shell, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in (model.settings() | {"ONRECORD_EMBEDDER": "none"}).items():
        monkeypatch.setenv(name, value)
    model.script = by_task(expand=as_json({"queries": ["journey"]}))
    shell("remember", "A journey to Lisbon counts as domestic.")
    told = shell("search", QUESTION, "--expand", "yes").out
    assert "A journey to Lisbon" in told
    assert "Also searched: 'journey' (" in told
    assert "100 + 20 tokens" in told
    served = Served(db=str(tmp_path / "shell.db"), worker="no")
    try:
        body = {"question": QUESTION, "expand": "scripted"}
        found = served.client.post("/v1/search", json=body).json()
        assert [hit["text"] for hit in found["memories"]] == ["A journey to Lisbon counts as domestic."]
        assert found["advice"][0]["said"] == ["journey"]
        assert asyncio.run(_by_mcp(served.url, body))["advice"][0]["model"] == "openai:scripted"
    finally:
        served.stop()


async def _by_mcp(url: str, body: dict[str, Any]) -> dict[str, Any]:
    async with Client(f"{url}/mcp/full") as session:
        found = await session.call_tool("search", body)
    assert found.structured_content is not None, found
    return found.structured_content
