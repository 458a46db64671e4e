"""HOW do memories reach an agent beside the answers of a data platform's tools? As one more block, by the platform's rules.

Looked at are answers of its own tools that did not fail, and of these the texts that are a JSON object. What they mention
is what begins like a URN. Our own middleware (`onrecord.surfaces.mcp.enriching`) looks at more.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from onrecord.catalog.mentions import DATAHUB, Texts
from onrecord.context.attaching import Attached
from onrecord.context.frame import CAUTION, data
from onrecord.faces.data_platform.fields import MOST_BYTES
from onrecord.model.limits import DOCUMENT_CHARACTERS
from onrecord.model.memory import Memory
from onrecord.model.wire import write_instant
from onrecord.service import OnRecord
from onrecord.surfaces.attach_lookup import KEY, AnyDoor
from onrecord.surfaces.mcp.enriching import AttachingMiddleware, Context
from onrecord.surfaces.mcp.tools import NOTICE

#: How the names of the tools begin whose answers are enriched.
PREFIXES: Final = ("trino_", "datahub_", "s3_")
ATTACHED: Final = 5
#: What the block may cost to read: room for the longest record, and never so much that it crowds out the answer.
TOKENS: Final = 2_000
_SHORTEST, _LONGEST = 11, 499
_MOST_URNS: Final = 1_000
#: A text of JSON is read whole or not at all, up to so many times what is read of others.
_MOST_CHARACTERS: Final = 10 * DOCUMENT_CHARACTERS


def enrich(
    door: AnyDoor | Callable[[Context], AnyDoor],
    *,
    prefixes: Collection[str] = PREFIXES,
    limit: int = ATTACHED,
    deadline_s: float = 0.2,
) -> AttachingMiddleware:
    """Middleware for `Server.middleware`: memories about the URNs in an answer, as a `memory_context` block after it.

    `door` is a door to the store, or returns the door of the caller of a request. A store that fails, or does not answer
    within `deadline_s`, leaves the answer as it was.
    """
    return AttachingMiddleware(door, deadline_s, _JsonObjects(tuple(prefixes), limit), lambda context: None)


def memory_context(door: OnRecord, urns: Sequence[str], limit: int = ATTACHED) -> list[dict[str, Any]]:
    """What is known of some entities: the newest of each, in their order. An error of the store is raised: there is never
    a part of an answer.
    """
    return _records(door.attach(list(urns), limit=limit, max_tokens=TOKENS, again=True).memories)


class _JsonObjects:
    """JSON objects in the answers of some tools, in the shape that the platform uses."""

    def __init__(self, prefixes: tuple[str, ...], limit: int) -> None:
        self._prefixes, self._limit = prefixes, limit

    def asked(self, call: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any] | None:
        name = str(call.get("name") or "")
        if result.get("isError") or not name.startswith(self._prefixes):
            return None
        urns = list(dict.fromkeys(urn for block in result["content"] for urn in _urns_in(block)))
        if not urns:
            return None
        return {"answer": urns[:_MOST_URNS], "limit": self._limit, "max_tokens": TOKENS, "again": True}

    def rendered(self, attached: Attached) -> Any:
        if not attached.memories:
            return None
        block: dict[str, Any] = {NOTICE: CAUTION, KEY: _records(attached.memories)}
        # Those that the limit allows, but that did not fit into the tokens.
        left = attached.omitted[: self._limit - len(attached.memories)]
        if left:
            block["omitted"] = [{"id": id, "reference": f"mcp:memory:{id}"} for id in left]
        return block


def _urns_in(block: Mapping[str, Any]) -> Iterator[str]:
    """The URNs in a text that is a JSON object, in their order."""
    text = block.get("text")
    if not isinstance(text, str) or not text.lstrip().startswith("{") or len(text) > _MOST_CHARACTERS:
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    for each in Texts(value):
        if each.startswith(DATAHUB) and _SHORTEST <= len(each) <= _LONGEST:
            yield each


def _records(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    records = [
        {
            "id": each.id,
            "content": _cut(each.content),
            "dimension": each.dimension,
            "category": each.category or "",
            "confidence": each.confidence,
            "created_at": write_instant(each.created_at),
        }
        for each in memories
    ]
    return [data(each) for each in records]


def _cut(content: str) -> str:
    """The content; of a memory of another face, which may be longer, the beginning."""
    raw = content.encode()
    return content if len(raw) <= MOST_BYTES else raw[:MOST_BYTES].decode(errors="ignore") + "…"
