"""WHICH shapes do programs of the arbiter runtime send and get? JSON schemas, built from the limits and lists
that we check.
"""

from collections.abc import Mapping
from typing import Any, Final

from onrecord.faces.arbiter.fields import CONTENT_BYTES, SOURCE_BYTES, TAG_BYTES, TAGS, TITLE_BYTES, TYPES
from onrecord.model.limits import RELATIONS, TIERS
from onrecord.model.rules import Integer, Number
from onrecord.model.shapes import Described
from onrecord.surfaces.rest.declared import TEXT, JsonSchema, Parameter, object_schema, schema_named

#: A number if it is one. A caller may choose the id of a memory, and may choose a text.
ID: Final = {"type": ["integer", "string"]}
_MAYBE_ID: Final = {"type": ["integer", "string", "null"]}
_NUMBER: Final = {"type": "integer"}
_SECONDS: Final = {"type": "integer", "description": "Seconds since 1970."}
_MAYBE_SECONDS: Final = {"type": ["integer", "null"], "description": "Seconds since 1970."}
_YES: Final = {"type": "boolean"}
_TYPE: Final = {"type": "string", "enum": list(TYPES)}
_MODEL: Final = {
    "type": ["string", "null"],
    "description": "The model of an advisor; yes for the default model.",
}
_SENT_MOMENT: Final = {
    "type": ["number", "null"],
    "minimum": 0,
    "description": "Seconds since 1970, or milliseconds if above 10\N{SUPERSCRIPT ONE}\N{SUPERSCRIPT TWO}; 0 is now.",
}


def sent(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """A request body with these fields; other fields in it are ignored."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def list_of(name: str, shape: JsonSchema, **more: JsonSchema) -> dict[str, Any]:
    return object_schema({name: {"type": "array", "items": shape}, "count": _NUMBER, **more})


def _text(most: int, least: int = 0) -> dict[str, Any]:
    return {
        "type": "string",
        "minLength": least,
        "maxLength": most,
        "description": f"At most {most:,} bytes.",
    }


_FIELDS: Final = {
    "type": _TYPE,
    "title": _text(TITLE_BYTES, 1),
    "content": _text(CONTENT_BYTES),
    "source": _text(SOURCE_BYTES) | {"type": ["string", "null"]},
    "tags": {"type": "array", "items": _text(TAG_BYTES, 1), "maxItems": TAGS},
    "artifact_id": {"type": ["integer", "null"], "minimum": 0, "description": "0 and null mean no file."},
}
NEW_ENTRY: Final = sent(
    {
        **_FIELDS,
        "conversation_id": _MAYBE_ID
        | {"description": "The conversation that it is pinned to; 0 and null mean none."},
        "created_at": _SENT_MOMENT,
        "supersedes_ids": {
            "type": ["array", "null"],
            "items": ID,
            "description": "Entries that it ends.",
        },
        "auto_tag": _MODEL,
        "supersede": _MODEL,
    },
    "type",
    "title",
)
CHANGED_ENTRY: Final = sent(_FIELDS) | {"additionalProperties": False}
INVALIDATION: Final = sent({"when": _SENT_MOMENT})
NEW_RELATION: Final = sent(
    {"source_id": ID, "target_id": ID, "relation": {"type": "string", "enum": list(RELATIONS)}},
    "source_id",
    "target_id",
    "relation",
)
NEW_CONVERSATION: Final = sent(
    {
        "title": {"type": ["string", "null"], "maxLength": TITLE_BYTES},
        "agent_id": {"type": ["string", "null"]},
    }
)
NEW_ARTIFACT: Final = sent(
    {
        "path": TEXT | {"description": "Relative, with forward slashes."},
        "content": TEXT,
        "mime_type": {"type": ["string", "null"]},
        "encoding": {"type": ["string", "null"], "enum": ["utf-8", "base64", "", None]},
    },
    "path",
    "content",
)

_SWITCH: Final = {"type": ["boolean", "null"]}
AGENT: Final = sent(
    {
        "name": {"type": ["string", "null"]},
        "advisor": {
            "type": ["object", "null"],
            "description": "Its `model` does what the memory block turns on.",
        },
        "memory": sent(
            {
                "intent_routing": _SWITCH,
                "search_expand": _SWITCH,
                "auto_tag": _SWITCH,
                "auto_supersede": _SWITCH,
                "age_decay": _SWITCH | {"description": "On unless it is turned off."},
                "age_half_life_days": {"type": ["integer", "null"], "minimum": 1},
                "age_floor": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            }
        )
        | {"type": ["object", "null"], "additionalProperties": False},
    }
)
AGENT_SET: Final = object_schema({"agent": AGENT, "updated_at": _MAYBE_SECONDS, "note": TEXT}, "note")

_ARTIFACT: Final = object_schema(
    {
        "id": ID,
        "conversation_id": ID,
        "path": TEXT,
        "sha256": TEXT,
        "mime_type": TEXT,
        "size": _NUMBER,
        "created_at": _SECONDS,
        "updated_at": _SECONDS,
    }
)
_ADVICE: Final = {
    "type": "object",
    "description": "What an advisor did, or a note that says why it did nothing.",
}
_ENTRY: Final = object_schema(
    {
        "id": ID,
        "tenant_id": ID,
        "type": _TYPE,
        "title": TEXT,
        "content": TEXT,
        "source": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "artifact_id": _MAYBE_ID,
        "created_at": _SECONDS,
        "updated_at": _SECONDS,
        "valid_from": _SECONDS,
        "valid_to": _MAYBE_SECONDS,
        "conversation_id": _MAYBE_ID,
        "author": TEXT | {"description": "Who wrote the content."},
        "tier": {"type": "string", "enum": list(TIERS), "description": "As what the author wrote it."},
        "artifact": schema_named("ArbiterArtifact"),
        "supersedes_manual": object_schema(
            {"requested": {"type": "array", "items": ID}, "invalidated": {"type": "array", "items": ID}}
        ),
        "auto_tag": _ADVICE,
        "supersede": _ADVICE,
    },
    "artifact",
    "supersedes_manual",
    "auto_tag",
    "supersede",
)
_RELATION: Final = object_schema(
    {
        "id": ID,
        "tenant_id": ID,
        "source_id": ID,
        "target_id": ID,
        "relation": {"type": "string", "enum": list(RELATIONS)},
        "created_at": _SECONDS,
    }
)
_CONVERSATION: Final = object_schema(
    {
        "id": ID,
        "tenant_id": ID,
        "title": TEXT,
        "agent_id": TEXT,
        "created_at": _SECONDS,
        "updated_at": _SECONDS,
    }
)
SCHEMAS: Final = {
    "ArbiterArtifact": _ARTIFACT,
    "ArbiterConversation": _CONVERSATION,
    "ArbiterEntry": _ENTRY,
    "ArbiterRelation": _RELATION,
}
ARTIFACT, CONVERSATION, ENTRY, RELATION = map(schema_named, SCHEMAS)
ENTRIES: Final = list_of("entries", ENTRY)
ENTRIES["properties"] |= {"rerank": _ADVICE, "expansion": _ADVICE}
GRAPH: Final = object_schema(
    {
        "tenant_id": ID,
        "entries": {"type": "array", "items": ENTRY},
        "relations": {"type": "array", "items": RELATION},
    }
)
_PAD_KIND: Final = {"type": "string", "enum": ["agent", "shared"]}
SCRATCHPADS: Final = list_of(
    "entries", object_schema({"kind": _PAD_KIND, "agent_id": TEXT, "size": _NUMBER}), tenant_id=ID
)
SCRATCHPAD: Final = object_schema(
    {"agent_id": TEXT, "kind": _PAD_KIND, "exists": _YES, "size": _NUMBER, "content": TEXT}
)
ARTIFACTS: Final = list_of("artifacts", ARTIFACT, bytes_used=_NUMBER)
ARTIFACTS["properties"] |= {"tenant_id": ID, "conversation_id": ID}
WRITTEN: Final = object_schema({"artifact": ARTIFACT, "created": _YES, "conversation_used_bytes": _NUMBER})
DELETED: Final = object_schema({"deleted": _YES})
INVALIDATED: Final = object_schema(
    {
        "invalidated": _YES,
        "id": ID,
        "valid_to": _SECONDS,
        "note": TEXT | {"description": "Said where the end that was asked for lies before the beginning."},
    },
    "valid_to",
    "note",
)
ERROR: Final = object_schema({"error": TEXT, "existing_id": ID}, "existing_id")


def number(name: str, description: str) -> Parameter:
    return Parameter(name, description, Number())


def page(usual: int, most: int) -> Parameter:
    description = f"How many, {usual} by default; more than {most} count as {most}, and an invalid number counts as {usual}."
    return Parameter("limit", description, Described(Integer(1, most), default=usual))
