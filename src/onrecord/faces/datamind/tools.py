"""WHAT do datamind's tools answer? Plain objects of their shapes."""

from collections.abc import Mapping, Sequence
from typing import Any

from onrecord.faces.datamind import asking
from onrecord.service import OnRecord


def memory_save(
    door: OnRecord,
    content: str,
    scope: str = "profile",
    kind: str = "fact",
    profile: str | None = None,
    session_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    saved = asking.save(door, content, scope, kind, profile, session_id, metadata)
    return {"id": saved.id, "scope": saved.scope, "kind": saved.kind}


def memory_recall(
    door: OnRecord, query: str, scope_filter: Sequence[str] | None = None, **asked: Any
) -> dict[str, Any]:
    # A model that fills in every argument means no filter by an empty one.
    found = asking.recall(door, query, scope_filter=scope_filter or None, **asked)
    return {"query": query, "count": len(found), "results": [each.as_json() for each in found]}


def memory_forget(door: OnRecord, item_id: str, hard: bool = False) -> dict[str, Any]:
    return {"id": str(item_id), "deleted": asking.forget(door, item_id, hard), "hard": hard}


def memory_list_profiles(door: OnRecord) -> dict[str, Any]:
    return {"profiles": asking.list_profiles(door)}


def look(door: OnRecord, profile: str, query: str = "", top_k: int = 10) -> dict[str, Any]:
    """What a web page asks about one profile."""
    found = asking.recall(door, query, top_k, profile=profile)
    return {"profile": profile, "query": query, "results": [each.as_json() for each in found]}
