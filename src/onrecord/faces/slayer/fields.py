"""WHAT do the calls of the semantic layer take and give? Decided here, for its tools, its routes and its commands."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from onrecord.errors import Fault, Invalid

Fields = Mapping[str, Mapping[str, Any]]

#: How many of each list, where that is not said; and of the one list of the later form.
CAPS: Final = {"max_memories": 5, "max_example_queries": 2, "max_entities": 5}
MAX_RESULTS: Final = 10
#: How long a preview may be.
PREVIEW_CHARACTERS: Final = 500
FORMATS: Final = ("markdown", "json")

TEXT: Final = {"type": "string"}
MAYBE_TEXT: Final = {"type": ["string", "null"]}
NAMES: Final = {"type": "array", "items": TEXT}
COUNT: Final = {"type": "integer", "minimum": 0}
_QUERY: Final = {"type": ["object", "null"]}

SAVE: Final[Fields] = {
    "learning": TEXT | {"description": "What was learned."},
    "linked_entities": {
        "anyOf": [NAMES, {"type": "object"}],
        "description": "References such as orders.amount or memory:5, or a SlayerQuery.",
    },
    "id": {"type": ["string", "integer", "null"], "description": "An id of your own."},
    "description": MAYBE_TEXT | {"description": f"A preview of at most {PREVIEW_CHARACTERS} characters."},
}
_ASKED: Final[Fields] = {
    "entities": {"type": ["array", "null"], "items": TEXT, "description": "References that are considered."},
    "query": _QUERY | {"description": "A draft SlayerQuery."},
    "question": MAYBE_TEXT | {"description": "A question in plain words."},
    "datasource": MAYBE_TEXT | {"description": "Only what is about this one."},
}
_APART: Final[Fields] = {
    name: COUNT | {"default": most, "description": "So many of that list."} for name, most in CAPS.items()
}
_ONE_LIST: Final[Fields] = {
    "max_results": {"type": "integer", "description": "One list of all kinds instead, of so many."},
    "compact": {"type": "boolean", "description": "In that list, previews instead of texts."},
    "cypher_filter": MAYBE_TEXT
    | {"description": "In that list, some kinds alone: MATCH (n:Memory:Column) RETURN n.id AS id"},
}
SEARCH: Final[Fields] = {**_ASKED, **_APART, **_ONE_LIST}


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required or properties)}


_SCORED: Final = {"id": TEXT, "score": {"type": "number"}, "text": TEXT}
_MEMORY: Final = {**_SCORED, "matched_entities": NAMES}
SAVED: Final = _object({"memory_id": TEXT, "resolved_entities": NAMES, "warnings": NAMES})
FORGOTTEN: Final = _object({"deleted_id": TEXT})
FOUND: Final = _object(
    {
        "memories": {"type": "array", "items": _object(_MEMORY)},
        "example_queries": {"type": "array", "items": _object({**_MEMORY, "query": _QUERY})},
        "entities": {"type": "array", "items": _object({**_SCORED, "kind": TEXT})},
        "results": {
            "type": "array",
            "items": _object({**_MEMORY, "kind": TEXT, "description": MAYBE_TEXT, "query": _QUERY}),
            "description": "Instead of the three lists, where one was asked for.",
        },
        "resolved_input_entities": NAMES,
        "warnings": NAMES,
    },
    "resolved_input_entities",
    "warnings",
)
DELETED: Final = _object({"deleted": TEXT, "stripped_memories": {"type": "integer"}})
EDITED: Final = _object({"model": TEXT, "removed": NAMES, "stripped_memories": {"type": "integer"}})

_TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}
_CALLED: Final[Mapping[type, str]] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def read(given: Mapping[str, Any], takes: Fields) -> dict[str, Any]:
    """What was given of these fields; null counts as left out, and what is of another type is Invalid.

    The functions of the face take Python values of the right type; what comes over the wire may be anything.
    """
    told = {name: value for name, value in given.items() if value is not None}
    faults = [Fault(name, "is not a field here") for name in told if name not in takes]
    for name in (name for name in takes if name in told):
        kinds = list(_kinds(takes[name]))
        if type(told[name]) not in kinds:
            wanted = " or ".join(_CALLED[kind] for kind in kinds)
            faults.append(Fault(name, f"must be {wanted}; got {type(told[name]).__name__}"))
    if faults:
        raise Invalid(faults)
    return told


def _kinds(schema: Mapping[str, Any]) -> Iterator[type]:
    for each in schema.get("anyOf", [schema]):
        named = each["type"]
        yield from (_TYPES[name] for name in ([named] if isinstance(named, str) else named) if name in _TYPES)


def id_text(given: object) -> str:
    """An id as a text; a whole number stands for its digits."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise Invalid([Fault("id", f"must be a text or a whole number, not {type(given).__name__}")])
    return str(given)


def check_format(format: object) -> None:
    if format not in FORMATS:
        raise Invalid([Fault("format", f"must be {' or '.join(FORMATS)}; got {format!r}")])


def is_one_list(asked: Mapping[str, Any]) -> bool:
    """Whether a search asks for the later form. Invalid where it caps the lists of the earlier one, too."""
    if not asked.keys() & _ONE_LIST.keys():
        return False
    if apart := [name for name in asked if name in CAPS]:
        told = f"caps a list of its own; with {', '.join(_ONE_LIST)} there is one list"
        raise Invalid([Fault(name, told) for name in apart])
    return True
