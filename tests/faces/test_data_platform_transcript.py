"""WHAT does a session with the data platform's tools read like? Some thirty calls, every answer of which is kept beside the
test.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord import Caller, connect
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from tests import kept
from tests.conftest import Clock
from tests.surfaces.test_mcp import Agent, introduce, said

from ..catalog.test_ingest import a_manifest, made_from
from .data_platform_people import ANN, BOB, CHIEF, NET, ORDERS, PII, SEASONS, STORES, urn

__all__ = ["introduce"]
KEPT = Path(__file__).parent / "transcripts" / "data_platform.txt"
#: An id of this face, and how the transcript calls the first, the second and so on.
_ID = re.compile(r"\b[0-9a-f]{32}\b")

TAG = {"change_type": "add_tag", "target": "", "detail": "finance"}
DESCRIBE = {"change_type": "update_description", "target": "column:amount", "detail": "Net of refunds."}
SUGGESTED = [{"action_type": "update_description", "target": "column:amount", "detail": "Net of refunds."}]

#: Who asks, which tool, and with what; `id-1` is the first id that was told.
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("agent", "memory_manage", {}),
    ("agent", "memory_manage", {"command": "learn"}),
    ("agent", "memory_manage", {"command": "remember", "content": SEASONS}),
    ("agent", "memory_manage", {"command": "remember", "content": STORES, "category": "data_quality", "entity_urns": [urn("stores")]}),
    ("agent", "memory_manage", {"command": "remember", "content": PII, "dimension": "entity", "entity_urns": [ORDERS, urn("nowhere")]}),
    ("agent", "memory_manage", {"command": "remember", "content": "short"}),
    ("agent", "memory_manage", {"command": "remember", "content": SEASONS, "dimension": "purple"}),
    ("agent", "memory_manage", {"command": "remember", "contents": SEASONS}),
    ("agent", "memory_recall", {"query": "selling seasons"}),
    ("agent", "memory_recall", {"query": "customer_id", "strategy": "lexical"}),
    ("agent", "memory_recall", {"query": "", "strategy": "graph", "entity_urns": [urn("raw")]}),
    ("agent", "memory_recall", {"query": "x", "strategy": "best"}),
    ("agent", "memory_recall", {"query": "zeppelin"}),
    ("colleague", "memory_manage", {"command": "update", "id": "id-1", "content": STORES}),
    ("agent", "memory_manage", {"command": "update", "id": "id-1", "confidence": "high"}),
    ("agent", "memory_manage", {"command": "forget", "id": "id-2"}),
    ("agent", "memory_manage", {"command": "list", "filter_status": "archived"}),
    ("agent", "memory_manage", {"command": "review_stale"}),
    ("agent", "capture_insight", {"category": "correction", "insight_text": NET, "entity_urns": [ORDERS], "suggested_actions": SUGGESTED}),
    ("agent", "capture_insight", {"category": "general", "insight_text": NET}),
    ("agent", "capture_insight", {"category": "usage_guidance", "insight_text": "Join orders to raw by id.", "thread_ids": ["t-9"]}),
    ("agent", "recall_insight", {"query": "refunds"}),
    ("colleague", "memory_recall", {"query": "net of refunds"}),
    ("agent", "apply_knowledge", {"action": "bulk_review"}),
    ("chief", "apply_knowledge", {"action": "bulk_review"}),
    ("chief", "apply_knowledge", {"action": "review", "entity_urn": ORDERS}),
    ("chief", "apply_knowledge", {"action": "apply", "entity_urn": ORDERS, "insight_ids": ["id-4"], "changes": [TAG], "confirm": True}),
    ("robot", "apply_knowledge", {"action": "approve", "insight_ids": ["id-4"]}),
    ("chief", "apply_knowledge", {"action": "approve", "insight_ids": ["id-4", "none"], "review_notes": "I asked finance."}),
    ("chief", "apply_knowledge", {"action": "reject", "insight_ids": ["id-5"], "review_notes": "There is no id."}),
    ("chief", "apply_knowledge", {"action": "synthesize", "entity_urn": ORDERS}),
    ("chief", "apply_knowledge", {"action": "apply", "entity_urn": ORDERS, "insight_ids": ["id-4"], "changes": [TAG, DESCRIBE]}),
    ("chief", "apply_knowledge", {"action": "apply", "entity_urn": ORDERS, "insight_ids": ["id-4"], "changes": [TAG, DESCRIBE], "confirm": True}),
    ("agent", "recall_insight", {"query": "refunds"}),
    ("chief", "apply_knowledge", {"action": "list_changesets", "entity_urn": ORDERS}),
    ("chief", "apply_knowledge", {"action": "rollback", "changeset_id": "1", "entity_urn": urn("raw"), "confirm": True}),
    ("chief", "apply_knowledge", {"action": "rollback", "changeset_id": "1", "confirm": True}),
    ("chief", "apply_knowledge", {"action": "rollback", "changeset_id": "1", "confirm": True}),
    ("agent", "memory_recall", {"query": "net of refunds", "include_stale": True}),
]  # fmt: skip


@pytest.mark.golden
def test_a_session_reads_as_it_did(
    introduce: Callable[[Client], Agent], clock: Clock, tmp_path: Path
) -> None:
    everything = frozenset(PERMISSIONS)
    callers = {
        "agent": Caller(tenant="acme", user=ANN, actor="agent", conversation="session-1"),
        "colleague": Caller(tenant="acme", user=BOB, actor="agent"),
        "chief": Caller(tenant="acme", user=CHIEF, permissions=everything),
        "robot": Caller(tenant="acme", user=CHIEF, permissions=everything, actor="agent", key="k1"),
    }
    with connect(":memory:", caller=callers["chief"], clock=clock) as door:
        door.ingest(str(a_manifest(tmp_path / "manifest.json", raw={}, orders=made_from("raw"))))
        visits = {
            name: ToolRequest(door.as_caller(caller), chosen(["data_platform"]))
            for name, caller in callers.items()
        }
        agents = {
            name: introduce(Client(build_server(lambda context, tool_request=tool_request: tool_request)))
            for name, tool_request in visits.items()
        }
        told, names = [], _Names()
        for who, tool, arguments in CALLS:
            clock.tick()
            answer = _answer(agents[who], tool, names.real(arguments))
            told.append(f"{who}: {tool} {json.dumps(arguments, ensure_ascii=False)}\n{names.plain(answer)}\n")
    kept.check(KEPT, "\n".join(told), alike=kept.nearly)


class _Names:
    """Ids are random, so they are called by their order."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def plain(self, text: str) -> str:
        return _ID.sub(lambda found: self._known.setdefault(found[0], f"id-{len(self._known) + 1}"), text)

    def real(self, arguments: dict[str, Any]) -> dict[str, Any]:
        written = json.dumps(arguments)
        for id, name in self._known.items():
            written = written.replace(f'"{name}"', f'"{id}"')
        given: dict[str, Any] = json.loads(written)
        return given


def _answer(agent: Agent, tool: str, arguments: dict[str, Any]) -> str:
    """An answer with a line for each thing in it, so that a change is seen where it is."""
    try:
        result = agent.call(tool, **arguments)
    except Exception as problem:
        return f"  refused: {problem}"
    if result.is_error:
        return f"  refused: {said(result)}"
    told = json.loads(said(result))
    several = {
        name: told.pop(name) for name in list(told) if isinstance(told[name], list) and name != "errors"
    }
    told.pop("notice", None)
    lines = [json.dumps(_rounded(told), ensure_ascii=False)]
    lines += [
        f"  {name}: {json.dumps(_rounded(each), ensure_ascii=False)}"
        for name, all in several.items()
        for each in all
    ]
    return "\n".join(f"  {line}" for line in lines)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return round(value, 3) if isinstance(value, float) else value
