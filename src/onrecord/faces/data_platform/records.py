"""HOW does the data platform write a memory down? As a record, under the names that its programs know."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from onrecord.care.reassigning import FORMER_OWNER
from onrecord.model.catalog import field_of
from onrecord.model.findings import Background
from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.model.wire import write_instant

_TEXT: Final = {"type": "string"}
#: The shape of a record.
RECORD: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("id", "created_at", "updated_at", "created_by", "persona", "dimension"), _TEXT),
        **dict.fromkeys(("content", "category", "confidence", "source"), _TEXT),
        "entity_urns": {"type": "array", "items": _TEXT},
        "related_columns": {"type": "array", "items": {"type": "object"}},
        "metadata": {"type": "object"},
        **dict.fromkeys(("status", "stale_reason", "last_verified"), _TEXT),
        "embedding_model": {**_TEXT, "description": "The model that made its vector."},
        "embedding_text_hash": {**_TEXT, "description": "The SHA-256 of its content, in hex digits."},
    },
    "required": [
        *("id", "created_at", "updated_at", "created_by", "persona", "dimension", "content", "category"),
        *("confidence", "source", "entity_urns", "related_columns", "metadata", "status"),
    ],
}


#: Where the metadata of a memory keeps what an insight has and other records have not.
COLUMNS: Final = "related_columns"
ACTIONS: Final = "suggested_actions"
THREADS: Final = "thread_ids"
#: The derived values in the metadata of a record; what is stored under these names is not shown.
DERIVED: Final = frozenset({"insight_status", "superseded_by", "supersedes", "legacy_created_by"})


def shown_status(status: Status) -> str:
    """The status in the platform's words: what waits for a review is active there, and its metadata says so."""
    return "active" if status == "pending" else status


def record_of(memory: Memory, background: Background) -> dict[str, Any]:
    """The record of a memory. It names the embedding model and the hash of the text only if there is a vector."""
    record = {
        "id": memory.id,
        "created_at": write_instant(memory.created_at),
        "updated_at": write_instant(memory.updated_at),
        "created_by": memory.owner,
        "persona": memory.persona or "",
        "dimension": memory.dimension,
        "content": memory.content,
        "category": memory.category or "",
        "confidence": memory.confidence,
        "source": memory.source or "",
        "entity_urns": urns_of(memory, background),
        "related_columns": list(memory.metadata.get(COLUMNS, ())),
        "metadata": _metadata(memory, background),
        "status": shown_status(memory.status),
    }
    if memory.status == "stale":
        record["stale_reason"] = memory.status_reason or ""
    if memory.verified_at is not None:
        record["last_verified"] = write_instant(memory.verified_at)
    if background.embedded_by is not None:
        record["embedding_model"] = background.embedded_by
        record["embedding_text_hash"] = sha256(memory.content.encode()).hexdigest()
    return record


def urns_of(memory: Memory, background: Background) -> list[str]:
    """What a memory is about, without columns that only its suggestions name."""
    edited = {each.entity for each in memory.edits or ()}
    named = ((name, background.urns.get(name, name)) for name in memory.entities)
    return [urn for name, urn in named if not (name in edited and field_of(urn))]


def insight_status_of(memory: Memory, background: Background) -> str | None:
    """The state of what waits, or was proposed, in the platform's words."""
    return background.proposal or ("pending" if memory.status == "pending" else None)


def without_derived(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata without the derived values, which records show and nobody can set."""
    return {name: value for name, value in metadata.items() if name not in DERIVED}


def _metadata(memory: Memory, background: Background) -> dict[str, Any]:
    fields = {
        name: value
        for name, value in without_derived(memory.metadata).items()
        if name not in (COLUMNS, FORMER_OWNER)
    }
    derived = {
        "insight_status": insight_status_of(memory, background),
        "superseded_by": background.superseded_by,
        "supersedes": list(background.supersedes) or None,
        "legacy_created_by": memory.metadata.get(FORMER_OWNER),
    }
    return fields | {name: value for name, value in derived.items() if value is not None}
