"""HOW does a session of the arbiter runtime read from beginning to end? Its calls and all that was answered, kept in a file."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .. import kept
from ..surfaces.conftest import Served

KEPT = Path(__file__).with_name("transcripts") / "arbiter_http.txt"
ENTRIES, RELATIONS, TALKS = "/v1/memory/entries", "/v1/memory/relations", "/v1/conversations"
NOW = re.compile(r'("(?:created_at|updated_at|valid_from|valid_to)": )(\d{10})\b')
MARK = re.compile(r"<!-- [\d: -]+ -->")
#: A day in spring 2026: all that the session is told of the past is from then.
THEN = 1_777_000_000

Call = tuple[str, str, dict[str, Any] | None]
SESSION: tuple[Call, ...] = (
    ("GET", "/v1/memory", None),
    ("POST", TALKS, {"title": "Q3 observability", "agent_id": "index"}),
    ("POST", TALKS, {"title": "Another", "agent_id": "research"}),
    (
        "POST",
        f"{TALKS}/1/artifacts",
        {"path": "notes\\pricing.md", "content": "# Pricing\n130 a month", "mime_type": "text/markdown"},
    ),
    (
        "POST",
        ENTRIES,
        {
            "type": "reference",
            "title": "Honeycomb pricing page",
            "content": "130 a month for the team plan.",
            "source": "https://example.com/pricing",
            "tags": ["pricing"],
            "artifact_id": 1,
            "conversation_id": 1,
            "created_at": THEN,
        },
    ),
    (
        "POST",
        ENTRIES,
        {
            "type": "project",
            "title": "Q3 observability rollout",
            "content": "Choose a vendor by June.",
            "created_at": (THEN + 60) * 1000,
            "auto_tag": "some-model",
        },
    ),
    (
        "POST",
        ENTRIES,
        {
            "type": "learning",
            "title": "Honeycomb suits small teams",
            "content": "Traces first, few people.",
            "created_at": THEN + 120,
        },
    ),
    ("POST", ENTRIES, {"type": "note", "title": "No such type"}),
    ("POST", ENTRIES, {"type": "user", "title": ""}),
    ("POST", RELATIONS, {"source_id": 1, "target_id": 3, "relation": "supports"}),
    ("POST", RELATIONS, {"source_id": "#3", "target_id": "#2", "relation": "refines"}),
    ("POST", RELATIONS, {"source_id": 1, "target_id": 3, "relation": "supports"}),
    ("POST", RELATIONS, {"source_id": 1, "target_id": 1, "relation": "supports"}),
    ("GET", f"{ENTRIES}?type=project,learning", None),
    ("GET", f"{ENTRIES}?q=honeycomb+pricing&limit=2", None),
    ("GET", f"{ENTRIES}?q=what+is+honeycomb&conversation_id=2&graduated=true&expand=m&rerank=m", None),
    ("GET", f"{ENTRIES}?q=honeycomb&conversation_id=9", None),
    ("GET", f"{ENTRIES}/1", None),
    ("GET", f"{TALKS}/2/artifacts/1", None),
    ("GET", f"{TALKS}/2/artifacts/1?via=mem:1", None),
    ("GET", f"{TALKS}/2/artifacts/1/raw?via=mem:1", None),
    ("PATCH", f"{ENTRIES}/1", {"tags": ["pricing", "vendor"], "title": "Honeycomb pricing"}),
    ("POST", ENTRIES, {"type": "learning", "title": "One for both", "supersedes_ids": [1, 77]}),
    (
        "POST",
        ENTRIES,
        {
            "type": "learning",
            "title": "Honeycomb at 130 suits small teams",
            "content": "Traces first; 130 a month.",
            "supersedes_ids": [1, 3],
            "created_at": THEN + 600,
        },
    ),
    ("GET", ENTRIES, None),
    ("GET", f"{ENTRIES}?as_of={THEN + 599}", None),
    ("GET", f"{ENTRIES}/3", None),
    ("PATCH", f"{ENTRIES}/3", {"title": "Too late"}),
    ("GET", f"{RELATIONS}?source_id=4", None),
    ("GET", "/v1/memory/graph?type=learning,project", None),
    ("POST", f"{ENTRIES}/2/invalidate", {"when": THEN + 900}),
    ("POST", f"{ENTRIES}/2/invalidate", {}),
    ("DELETE", f"{RELATIONS}/2", None),
    ("DELETE", f"{ENTRIES}/2", None),
    ("DELETE", f"{TALKS}/1", None),
    ("GET", f"{ENTRIES}?as_of={THEN + 300}", None),
    ("GET", "/v1/memory/index", None),
    ("GET", "/v1/memory/..%2Findex", None),
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    served = Served(db=str(tmp_path / "served.db"), worker="no")
    yield served
    served.stop()


def told(server: Served, call: Call) -> str:
    method, path, body = call
    said = server.client.request(method, path, json=body)
    sent = "" if body is None else " " + json.dumps(body, ensure_ascii=False)
    is_json = said.headers["content-type"] == "application/json"
    answer = json.dumps(said.json(), indent=2, ensure_ascii=False) if is_json else said.text
    return (
        f"> {method} {path}{sent}\n{said.status_code}\n{NOW.sub(_steady, MARK.sub('<!-- … -->', answer))}\n"
    )


def _steady(found: re.Match[str]) -> str:
    """Times of the session as they are; those of today differ from run to run."""
    return found.group() if THEN <= int(found[2]) <= THEN + 1_000 else found[1] + "…"


@pytest.mark.golden
def test_a_session_reads_as_it_did_when_it_was_reviewed(server: Served) -> None:
    whole = "\n".join(told(server, call) for call in SESSION)
    kept.check(KEPT, whole)
