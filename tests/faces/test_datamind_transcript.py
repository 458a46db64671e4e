"""WHAT does a session with datamind's tools read like? Some thirty calls, every answer of which is kept beside the test."""

import json
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

__all__ = ["introduce"]
KEPT = Path(__file__).parent / "transcripts" / "datamind.txt"

#: Who asks, which tool, and with what.
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("agent", "memory_list_profiles", {}),
    ("agent", "memory_recall", {"query": "what does ARR mean here"}),
    ("chief", "memory_save", {"content": "Always cite sources.", "scope": "global", "kind": "preference"}),
    ("chief", "memory_save", {"content": "Respond in Chinese.", "scope": "global", "kind": "preference"}),
    ("agent", "memory_save", {"content": "ARR means annual recurring revenue here."}),
    (
        "agent",
        "memory_save",
        {
            "content": "Contracts are reviewed by two partners before signing.",
            "kind": "workflow",
            "metadata": {"source": "handbook"},
        },
    ),
    ("agent", "memory_save", {"content": "We decided to report ARR quarterly.", "kind": "decision"}),
    (
        "agent",
        "memory_save",
        {"content": "In this thread, take the reviewer's perspective on ARR.", "scope": "session"},
    ),
    ("agent", "memory_recall", {"query": "what does ARR mean here"}),
    ("agent", "memory_recall", {"query": "what does ARR mean here", "kinds": ["decision"]}),
    ("agent", "memory_recall", {"query": "ARR", "scope_filter": ["session"]}),
    ("agent", "memory_recall", {"query": "sources", "scope_filter": ["global"]}),
    ("agent", "memory_recall", {"query": "ARR", "scope_filter": ["global"]}),
    ("agent", "memory_recall", {"query": "ARR", "top_k": 1}),
    ("agent", "memory_recall", {"query": "zeppelin"}),
    ("rival", "memory_recall", {"query": "what does ARR mean"}),
    ("rival", "memory_recall", {"query": "what does ARR mean", "profile": "lawfirm-A"}),
    ("rival", "memory_recall", {"query": "cite sources", "profile": "lawfirm-A"}),
    ("rival", "memory_save", {"content": "ARR is wrong.", "profile": "lawfirm-A"}),
    ("rival", "memory_forget", {"item_id": "1", "hard": True}),
    ("rival", "memory_save", {"content": "ARR means average rate of return.", "profile": "saas-B"}),
    ("rival", "memory_recall", {"query": "what does ARR mean"}),
    ("rival", "memory_list_profiles", {}),
    ("colleague", "memory_forget", {"item_id": "1"}),
    ("agent", "memory_save", {"content": "x", "kind": "opinion"}),
    ("agent", "memory_save", {"content": "x", "scope": "everyone"}),
    ("agent", "memory_save", {"content": "x", "scope": "global"}),
    ("colleague", "memory_save", {"content": "x", "scope": "session"}),
    ("agent", "memory_recall", {"query": "ARR", "top_k": 50}),
    ("agent", "memory_forget", {"item_id": "3"}),
    ("agent", "memory_forget", {"item_id": "3"}),
    ("agent", "memory_recall", {"query": "report quarterly"}),
    ("agent", "memory_recall", {"query": "report quarterly", "include_archived": True}),
    ("agent", "memory_forget", {"item_id": "3", "hard": True}),
    ("agent", "memory_recall", {"query": "report quarterly", "include_archived": True}),
    ("chief", "memory_forget", {"item_id": "global:2"}),
    ("agent", "memory_list_profiles", {}),
]


@pytest.mark.golden
def test_a_session_reads_as_it_did(introduce: Callable[[Client], Agent], clock: Clock) -> None:
    with connect(":memory:", clock=clock) as door:
        callers = {
            "agent": Caller(tenant="lawfirm-A", user="ann", actor="agent", conversation="paper-2026"),
            "chief": Caller(tenant="lawfirm-A", user="chief", permissions=frozenset(PERMISSIONS)),
            "colleague": Caller(tenant="lawfirm-A", user="bob", actor="agent"),
            "rival": Caller(tenant="saas-B", user="eve", actor="agent"),
        }
        visits = {
            name: ToolRequest(door.as_caller(caller), chosen(["datamind"]))
            for name, caller in callers.items()
        }
        agents = {
            name: introduce(Client(build_server(lambda context, tool_request=tool_request: tool_request)))
            for name, tool_request in visits.items()
        }
        told = []
        for who, tool, arguments in CALLS:
            clock.tick()
            answer = agents[who].call(tool, **arguments)
            given = json.dumps(arguments, ensure_ascii=False)
            told.append(f"{who}: {tool} {given}\n{_shown(said(answer), failed=bool(answer.is_error))}\n")
    kept.check(KEPT, "\n".join(told), alike=kept.nearly)


def _shown(text: str, *, failed: bool) -> str:
    """An answer with a line for each result, so that a change is seen where it is."""
    if failed:
        return f"  refused: {text}"
    answer = json.loads(text)
    results = answer.pop("results", [])
    lines = [json.dumps(each | {"score": round(each["score"], 3)}, ensure_ascii=False) for each in results]
    return "\n".join(f"  {line}" for line in [json.dumps(answer, ensure_ascii=False), *lines])
