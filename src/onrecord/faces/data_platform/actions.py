"""WHICH changes to a catalog does the data platform know? Fifteen types, and the edit that each of them is here.

`target` and `detail` mean what they mean there: a column is `column:PATH`; a tag, a term or a property may be given as a
URN; the name of a query is its detail, and that of a document its target.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from onrecord.errors import Fault
from onrecord.model.catalog import FieldUrn, field_of
from onrecord.model.changesets import FieldChange
from onrecord.model.edits import Edit
from onrecord.model.limits import NAME_CHARACTERS

Action = Mapping[str, Any]
#: The fields of a change, but for its type, which has another name in a suggestion.
FIELDS: Final = ("target", "detail", "query_sql", "query_description")
COLUMN: Final = "column:"
QUALITY_ISSUE: Final = "QualityIssue"
#: A prompt is kept as a document of the entity, under a title that begins so.
PROMPT: Final = "prompt: "


def _name(kind: str, text: str) -> str:
    """The plain name of a tag, a term or a property."""
    return text.strip().removeprefix(f"urn:li:{kind}:")


def _described(action: Action) -> list[dict[str, Any]]:
    return [{"field": "description", "value": action["detail"]}]


def _named(field: str, kind: str, op: str) -> Callable[[Action], list[dict[str, Any]]]:
    def edits(action: Action) -> list[dict[str, Any]]:
        given = action["detail"] or ("" if action["target"].startswith(COLUMN) else action["target"])
        return [{"field": field, "op": op, "key": _name(kind, given)}]

    return edits


def _flagged(action: Action) -> list[dict[str, Any]]:
    return [{"field": "tags", "op": "add", "key": QUALITY_ISSUE}]


def _linked(action: Action) -> list[dict[str, Any]]:
    return [{"field": "links", "key": action["target"], "value": action["detail"] or action["target"]}]


def _queried(action: Action) -> list[dict[str, Any]]:
    texts = {"sql": action["query_sql"], "description": action["query_description"]}
    value = {name: text for name, text in texts.items() if text}
    return [{"field": "queries", "op": "add", "key": action["detail"] or action["target"], "value": value}]


def _property(action: Action) -> list[dict[str, Any]]:
    try:
        value = json.loads(action["detail"])
    except ValueError:
        value = action["detail"]
    if isinstance(value, dict) or value is None:
        value = action["detail"]
    return [{"field": "properties", "key": _name("structuredProperty", action["target"]), "value": value}]


def _no_property(action: Action) -> list[dict[str, Any]]:
    return [{"field": "properties", "op": "remove", "key": _name("structuredProperty", action["target"])}]


def _incident(action: Action) -> list[dict[str, Any]]:
    first = (action["target"] or action["detail"]).strip().splitlines()[:1]
    key = "".join(first)[:NAME_CHARACTERS]
    return [{"field": "incidents", "op": "add", "key": key, "value": action["detail"] or action["target"]}]


def _document(op: str, prefix: str = "") -> Callable[[Action], list[dict[str, Any]]]:
    def edits(action: Action) -> list[dict[str, Any]]:
        return [{"field": "documents", "op": op, "key": prefix + action["target"], "value": action["detail"]}]

    return edits


def _renamed(action: Action) -> list[dict[str, Any]]:
    title = action["query_sql"] or action["target"]
    anew = [{"field": "documents", "op": "set", "key": title, "value": action["detail"]}]
    return anew if title == action["target"] else [*_gone("documents")(action), *anew]


def _gone(field: str) -> Callable[[Action], list[dict[str, Any]]]:
    return lambda action: [{"field": field, "op": "remove", "key": action["target"]}]


_EDITS: Final[Mapping[str, Callable[[Action], list[dict[str, Any]]]]] = {
    "update_description": _described,
    "add_tag": _named("tags", "tag", "add"),
    "remove_tag": _named("tags", "tag", "remove"),
    "add_glossary_term": _named("terms", "glossaryTerm", "add"),
    "flag_quality_issue": _flagged,
    "add_documentation": _linked,
    "add_curated_query": _queried,
    "set_structured_property": _property,
    "remove_structured_property": _no_property,
    "raise_incident": _incident,
    "resolve_incident": _gone("incidents"),
    "add_context_document": _document("add"),
    "update_context_document": _renamed,
    "remove_context_document": _gone("documents"),
    "add_prompt": _document("set", PROMPT),
}
TYPES: Final = tuple(_EDITS)
#: What each type cannot do without, beside a type: the field, and what it says.
_NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    "update_description": {"detail": "the description"},
    "add_documentation": {"target": "the address"},
    "add_curated_query": {"query_sql": "the query"},
    "set_structured_property": {"target": "the property", "detail": "its value"},
    "remove_structured_property": {"target": "the property"},
    "raise_incident": {"detail": "what is wrong"},
    "resolve_incident": {"target": "the incident"},
    "add_context_document": {"target": "the title", "detail": "the content"},
    "update_context_document": {"target": "the document", "detail": "the content"},
    "remove_context_document": {"target": "the document"},
    "add_prompt": {"target": "the name of the prompt", "detail": "its content"},
}


def check_actions(actions: Sequence[Action] | None, field: str, kind: str) -> Iterator[Fault]:
    """What is wrong with some changes; `kind` is what their type is called."""
    for place, action in enumerate(actions or ()):
        where, type = f"{field}[{place}]", action.get(kind) or ""
        if type not in _EDITS:
            yield Fault(where, f'invalid {kind} "{type}": must be one of: {", ".join(TYPES)}')
        for name, what in _NEEDED.get(type, {}).items():
            if not str(action.get(name) or "").strip():
                yield Fault(where, f"{name} is required for {type}: {what}")


def edits_of(action: Action, kind: str, urn: str) -> list[dict[str, Any]]:
    """The edits of an entity that a change is."""
    whole: dict[str, Any] = {name: action.get(name) or "" for name in FIELDS}
    entity = urn
    if whole["target"].startswith(COLUMN):
        entity = str(FieldUrn(urn, whole["target"].removeprefix(COLUMN)))
    return [{"entity": entity, **edit} for edit in _EDITS[action[kind]](whole)]


def subject_of(action: Action, urns: Sequence[str]) -> str | None:
    """Which of some entities a suggestion means: the one that it targets, or else the first."""
    return action["target"] if action.get("target") in urns else next(iter(urns), None)


def type_of(edit: Edit) -> str:
    """The type of a change in the platform's words."""
    match edit.field, edit.op:
        case "tags", "add" if edit.key == QUALITY_ISSUE:
            return "flag_quality_issue"
        case "documents", "set" | "add" if str(edit.key).startswith(PROMPT):
            return "add_prompt"
    return _TYPES.get((edit.field, edit.op)) or _TYPES[edit.field, "set"]


_TYPES: Final[Mapping[tuple[str, str], str]] = {
    ("description", "set"): "update_description",
    ("tags", "add"): "add_tag",
    ("tags", "remove"): "remove_tag",
    ("terms", "add"): "add_glossary_term",
    ("terms", "remove"): "remove_glossary_term",
    ("links", "set"): "add_documentation",
    ("queries", "set"): "add_curated_query",
    ("properties", "set"): "set_structured_property",
    ("properties", "remove"): "remove_structured_property",
    ("incidents", "set"): "raise_incident",
    ("incidents", "remove"): "resolve_incident",
    ("documents", "add"): "add_context_document",
    ("documents", "set"): "update_context_document",
    ("documents", "remove"): "remove_context_document",
}


def place_of(change: FieldChange | Any, root: str) -> str:
    """Where a change is, in a few words: `description`, `column:amount tags finance`."""
    edit: Edit = change.edit
    column = edit.entity.removeprefix(f"{root}.") if edit.entity.startswith(f"{root}.") else ""
    if (field := field_of(edit.entity)) is not None and field.model == root:
        column = field.name
    return " ".join(filter(None, (column and COLUMN + column, edit.field, edit.key)))
