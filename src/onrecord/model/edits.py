"""WHAT does a memory propose to change in the catalog? Edits, each of one value of one entity.

`key` says which value of a field with several: the tag, the term, the address of a link, the name of a property, the
title of a query or document, the name of an incident. A description has none. A column is an entity of its own.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.limits import EditField, EditOp
from onrecord.model.rules import Choice, Json, OrNone, Reference, Rule, Text
from onrecord.model.shapes import Either, Object, Several, faults_at
from onrecord.model.unseen import is_unseen
from onrecord.model.wire import to_json

_KEY: Final = Text(at_least=1, at_most=limits.NAME_CHARACTERS, line=True, strip=True)
_TEXT: Final = Text(at_least=1, at_most_bytes=limits.EDIT_BYTES)
_LINK: Final = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)
_NEW_LINE: Final = re.compile(r"\r\n|\r|\n")
_SCALAR: Final[Mapping[Any, Rule]] = {
    str: _TEXT,
    bool: rules.FLAG,
    int: rules.Integer(),
    float: rules.Number(),
}
#: What the value of each field is; a tag or a term is there or not, and has none.
_VALUES: Final[Mapping[str, Rule]] = {
    "description": _TEXT,
    "links": Text(at_least=1, at_most=limits.TITLE_CHARACTERS, line=True),
    "properties": Either(
        "a text, a number, true or false, or a list of these",
        {**_SCALAR, list: Several(Either("a text, a number, true or false", _SCALAR), at_least=1)},
    ),
    "queries": Object("a query", {"sql": _TEXT, "description": _TEXT}, needed=("sql",)),
    "documents": _TEXT,
    "incidents": _TEXT,
}
_NAMES_ALONE: Final = frozenset({"tags", "terms"})


class Cell(NamedTuple):
    """The place of a value: its entity, field and key."""

    entity: str
    field: EditField
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change to one value of one entity: set it, add it where there is none, or remove it."""

    entity: str
    field: EditField
    key: str | None = None
    op: EditOp = "set"
    value: Any = None

    @property
    def cell(self) -> Cell:
        return Cell(self.entity, self.field, self.key)

    @property
    def after(self) -> Any:
        """The value afterwards; None for nothing, and true for a tag or a term."""
        if self.op == "remove":
            return None
        return True if self.field in _NAMES_ALONE else self.value


def reading(cell: Cell, value: Any) -> dict[str, Any]:
    """The edit that puts a value, as JSON, at a place; None takes it away."""
    names_alone = cell.field in _NAMES_ALONE
    op = "remove" if value is None else "add" if names_alone else "set"
    return {**cell._asdict(), "op": op, "value": None if names_alone and value is True else value}


def same_value(one: Any, other: Any) -> bool:
    """Whether two values are the same as JSON; to Python, true is 1."""
    return one is other or json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _faults(clean: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Fault]:
    field, op = clean.get("field"), clean.get("op", "set")
    if field is None:
        return
    yield from _key_faults(field, clean.get("key"))
    if field in _NAMES_ALONE and op == "set":
        yield Fault("op", f"of {field} is add or remove")
    value = given.get("value")
    if op == "remove" or field in _NAMES_ALONE:
        if value is not None:
            what = "what is removed" if op == "remove" else field
            yield Fault("value", f"must be left out: the key alone identifies {what}")
    elif value is None:
        yield Fault("value", "is missing")
    else:
        try:
            _VALUES[field](to_json(value))
        except ValueError as reason:
            yield from faults_at("value", reason)
    for name in ("key", "value"):
        if found := next(_unseen_in(given.get(name)), None):
            problem = "holds an invisible character; a promoted value may hold none"
            yield Fault(name, f"{problem} ({found!a})")


def _key_faults(field: str, key: str | None) -> Iterator[Fault]:
    if field == "description":
        if key is not None:
            yield Fault("key", "must be left out: a description has no key; name a column as the entity")
    elif key is None:
        yield Fault("key", f"is missing: it says which of the {field}")
    elif field == "links" and not _LINK.fullmatch(key):
        yield Fault("key", "must be the address of the link, with http:// or https://")


def _unseen_in(value: Any) -> Iterator[str]:
    """The invisible characters of a value."""
    if isinstance(value, str):
        if not (value.isascii() and value.isprintable()):
            for line in _NEW_LINE.split(value):
                yield from (line[at] for at in range(len(line)) if is_unseen(line, at))
    elif isinstance(value, Mapping):
        for item in value.items():
            yield from _unseen_in(item)
    elif isinstance(value, Iterable):
        for each in value:
            yield from _unseen_in(each)


class _ReadEdit(Object):
    """An edit, given as a JSON object or as an `Edit`."""

    __slots__ = ()

    def __call__(self, value: Any, /) -> Any:
        return Object.__call__(self, to_json(value) if isinstance(value, Edit) else value)


EDIT: Final = _ReadEdit(
    "an edit",
    {
        "entity": Reference(),
        "field": Choice(limits.EDIT_FIELDS),
        "key": OrNone(_KEY),
        "op": Choice(limits.EDIT_OPS),
        "value": OrNone(Json(any_kind=True)),
    },
    needed=("entity", "field"),
    build=Edit,
    between=_faults,
)
EDITS: Final = Several(EDIT, at_most=limits.EDITS)
