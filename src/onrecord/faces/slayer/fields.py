"""WHAT do the calls of the semantic layer take and give? These fields, in its tools, routes and commands alike."""

from collections.abc import Mapping
from typing import Any, Final

from onrecord.errors import Fault, Invalid
from onrecord.model.limits import TIERS
from onrecord.model.rules import FLAG, Choice, Integer, Json, Number, OrNone, Rule, Text
from onrecord.model.shapes import Described, Either, Object, Several

Fields = Mapping[str, Rule]

#: How many hits each list holds by default; MAX_RESULTS is that of the single list of the later form.
CAPS: Final = {"max_memories": 5, "max_example_queries": 2, "max_entities": 5}
MAX_RESULTS: Final = 10
#: The greatest length of a preview.
PREVIEW_CHARACTERS: Final = 500

TEXT: Final = Text()
MAYBE_TEXT: Final = OrNone(TEXT)
NAMES: Final = Several(TEXT)
MAYBE_NAMES: Final = OrNone(NAMES)
COUNT: Final = Integer(0)
FORMAT: Final = Choice(("markdown", "json"))
#: A whole number is taken as its digits.
PLAIN_ID: Final = Either("a text or a whole number", {str: TEXT, int: Integer()})
LEARNING: Final = Text(at_least=1)
PREVIEW: Final = OrNone(Text(at_most=PREVIEW_CHARACTERS))
LINKED: Final = Either(
    "a list of references, or a query as an object",
    {list | tuple: Several(TEXT, at_least=1), Mapping: Json()},
)
MOST_RESULTS: Final = Integer(1)
#: Which parts of a model to remove, by kind.
REMOVE: Final = Object(
    "what is removed",
    {
        kind: Described(Several(TEXT, at_least=1), "Their names.")
        for kind in ("columns", "measures", "aggregations")
    },
    between=lambda given, _asked: () if given else [Fault("", "must name at least one part")],
)
_QUERY: Final = OrNone(Json())

SAVE: Final[Fields] = {
    "learning": Described(LEARNING, "What was learned."),
    "linked_entities": Described(LINKED, "References such as orders.amount or memory:5, or a SlayerQuery."),
    "id": Described(OrNone(PLAIN_ID), "An id of your own."),
    "description": Described(PREVIEW, f"A preview of at most {PREVIEW_CHARACTERS} characters."),
}
_ASKED: Final[Fields] = {
    "entities": Described(MAYBE_NAMES, "References to search by."),
    "query": Described(_QUERY, "A draft SlayerQuery."),
    "question": Described(MAYBE_TEXT, "A question in plain words."),
    "datasource": Described(MAYBE_TEXT, "Search only what is about this datasource."),
}
_APART: Final[Fields] = {
    name: Described(COUNT, "The most entries of that list.", default=most) for name, most in CAPS.items()
}
_ONE_LIST: Final[Fields] = {
    "max_results": Described(
        MOST_RESULTS, "Return one list of all kinds with at most this many hits, in place of three lists."
    ),
    "compact": Described(FLAG, "With max_results: previews in place of texts."),
    "cypher_filter": Described(
        MAYBE_TEXT, "With max_results: only some kinds, as in MATCH (n:Memory:Column) RETURN n.id AS id"
    ),
}
SEARCH: Final[Fields] = {**_ASKED, **_APART, **_ONE_LIST}


def _answer(fields: Fields, *needed: str) -> Object:
    return Object("an answer", fields, needed=needed or tuple(fields))


_SCORED: Final[Fields] = {"id": TEXT, "score": Number(), "text": TEXT}
#: Who wrote the text of a memory, and as what.
_WHOSE: Final[Fields] = {"author": TEXT, "tier": Choice(TIERS)}
_MEMORY: Final[Fields] = {**_SCORED, "matched_entities": NAMES, **_WHOSE}
SAVED: Final = _answer({"memory_id": TEXT, "resolved_entities": NAMES, "warnings": NAMES})
FORGOTTEN: Final = _answer({"deleted_id": MAYBE_TEXT, "warnings": NAMES}, "deleted_id")
FOUND: Final = _answer(
    {
        "memories": Several(_answer(_MEMORY)),
        "example_queries": Several(_answer({**_MEMORY, "query": _QUERY})),
        "entities": Several(_answer({**_SCORED, "kind": TEXT})),
        "results": Described(
            Several(
                _answer(
                    {
                        **_MEMORY,
                        # An entity has no author.
                        **{name: OrNone(rule) for name, rule in _WHOSE.items()},
                        "kind": TEXT,
                        "description": MAYBE_TEXT,
                        "query": _QUERY,
                    }
                )
            ),
            "In place of the three lists, if max_results was given.",
        ),
        "resolved_input_entities": NAMES,
        "warnings": NAMES,
    },
    "resolved_input_entities",
    "warnings",
)
DELETED: Final = _answer({"deleted": TEXT, "stripped_memories": Integer()})
DATASOURCES: Final = _answer(
    {"datasources": Several(_answer({"name": TEXT, "description": MAYBE_TEXT, "models": Integer()}))}
)
EDITED: Final = _answer({"model": TEXT, "removed": NAMES, "stripped_memories": Integer()})


def is_one_list(asked: Mapping[str, Any]) -> bool:
    """Whether a search asks for the later form. Invalid if it also caps the lists of the earlier form."""
    if not asked.keys() & _ONE_LIST.keys():
        return False
    if apart := [name for name in asked if name in CAPS]:
        reason = f"caps a list of its own; with {', '.join(_ONE_LIST)} there is one list"
        raise Invalid([Fault(name, reason) for name in apart])
    return True
