"""CAN anything that is sent to the arbiter face make it fail? It is answered, or refused in its one shape."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..surfaces.conftest import Served
from .test_arbiter_http import ENTRIES, RELATIONS

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["user", "project", "supports", "#1", "1", "\ud83d", "mem:1", "on"]
)
NUMBERS = st.integers(-2, 3) | st.integers() | st.floats()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
FIELDS = (
    "type title content source tags artifact_id conversation_id created_at supersedes_ids auto_tag supersede when "
    "source_id target_id relation path mime_type encoding agent_id"
).split()
BODIES = st.fixed_dictionaries(
    {"type": st.just("user") | VALUES, "title": st.just("a title") | VALUES},
    optional={name: VALUES for name in FIELDS if name not in ("type", "title")},
)
PARAMETERS = (
    "type tag q conversation_id graduated intent expand rerank rerank_fine decay decay_half_life_days decay_floor as_of "
    "since before_updated_at limit source_id target_id relation via"
).split()
POSTED = (
    ENTRIES,
    f"{ENTRIES}/1/invalidate",
    RELATIONS,
    "/v1/conversations",
    "/v1/conversations/1/artifacts",
)
READ = (ENTRIES, RELATIONS, "/v1/memory/graph", "/v1/conversations", "/v1/artifacts/1", "/v1/artifacts/1/raw")


@pytest.fixture(scope="module")
def anyones(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for many requests, whatever they are."""
    served = Served(
        db=str(tmp_path_factory.mktemp("any") / "served.db"), embedder="none", user="ann", worker="no"
    )
    served.client.post("/v1/conversations", json={})
    served.client.post(ENTRIES, json={"type": "user", "title": "kestrel"})
    yield served
    served.stop()


def is_answered(said: Any) -> None:
    assert said.status_code < 500, said.text
    if said.status_code >= 400:
        assert set(said.json()) <= {"error", "existing_id"}
        assert said.json()["error"]


@settings(max_examples=50)
@given(path=st.sampled_from(POSTED), body=BODIES | VALUES)
def test_any_body_is_answered_or_refused(anyones: Served, path: str, body: Any) -> None:
    is_answered(anyones.client.post(path, content=_json(body)))


@settings(max_examples=20)
@given(body=BODIES)
def test_any_patch_is_answered_or_refused(anyones: Served, body: Any) -> None:
    is_answered(anyones.client.patch(f"{ENTRIES}/2", content=_json(body)))


@settings(max_examples=50)
@given(
    path=st.sampled_from(READ),
    query=st.dictionaries(st.sampled_from(PARAMETERS), TEXTS | NUMBERS.map(str), max_size=4),
)
def test_any_query_is_answered_or_refused(anyones: Served, path: str, query: dict[str, str]) -> None:
    told = "&".join(
        f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in query.items()
    )
    is_answered(anyones.client.get(f"{path}?{told}"))


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()
