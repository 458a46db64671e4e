"""WHAT shape has a request or an answer? JSON Schema (2020-12), written from the rules and the types themselves."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from onrecord.model import limits
from onrecord.model.memory import RowPlace
from onrecord.model.request import FieldsOf, Request, request_fields
from onrecord.model.rules import (
    Choice,
    Document,
    Flag,
    Fraction,
    Identifier,
    Integer,
    Json,
    ListOf,
    Number,
    OrNone,
    Reference,
    Rule,
    SystemGrant,
    Text,
    Timestamp,
)
from onrecord.model.shapes import Described, Either, Object, Several
from onrecord.model.unset import Unset

Schema = dict[str, Any]

_DEFINITIONS: Final = "#/$defs/"
_PLAIN: Final[Mapping[Any, Schema]] = {
    Any: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    NoneType: {"type": "null"},
}
# What the rules refuse in every text, in a line, and in a text that must say something.
_STORABLE: Final = r"[^\u0000]"
_IN_A_LINE: Final = r"[^\u0000-\u001F\u007F-\u009F]"
_VISIBLE: Final = r"[^\u0000-\u0020\u007F-\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]"
_ID: Final = r"^#?(global:)?[^:/?#\s\u0000-\u001F\u007F-\u009F]+$"


def input_schema(request: type[Request], *, without: Collection[str] = (), exact: bool = False) -> Schema:
    """The JSON Schema of a request, except some of its fields; `exact` adds the patterns of texts, which are long to
    read.
    """
    asked = [each for each in request_fields(request) if each.name not in without]
    properties = {}
    for each in asked:
        schema_of_field = rule_schema(each.metadata["rule"], exact=exact) | {
            "description": each.metadata["help"]
        }
        if not (each.default in (MISSING, None, ()) or isinstance(each.default, Unset)):
            schema_of_field["default"] = (
                list(each.default) if isinstance(each.default, tuple) else each.default
            )
        properties[each.name] = schema_of_field
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [each.name for each in asked if each.default is MISSING]:
        schema["required"] = required
    return schema


def output_schema(answer: type) -> Schema:
    """The JSON Schema of an answer, complete in itself."""
    definitions = Definitions()
    schema = definitions.object(answer)
    return schema | {"$defs": definitions.known} if definitions.known else schema


def rule_schema(rule: Rule, *, exact: bool = False) -> Schema:
    """The JSON Schema of one field."""
    match rule:
        case OrNone(inner):
            return _or_null(rule_schema(inner, exact=exact))
        case ListOf():
            return _listing(rule, exact)
        case Text():
            return _text(rule, exact)
        case Choice(options, aliases):
            return {"type": "string", "enum": [*options, *(aliases or ())]}
        case Integer(at_least, at_most):
            bounds = {"minimum": at_least, "maximum": at_most}
            return {"type": "integer"} | {name: value for name, value in bounds.items() if value is not None}
        case Json(any_kind=True):
            return {}
        case Json(text_too):
            # A query given as a text must not be empty.
            return {"type": ["object", "string"], "minLength": 1} if text_too else {"type": "object"}
        case Object() | Several() | Either() | Described() | FieldsOf():
            return _whole(rule, exact)
        case Identifier():
            return {"type": ["string", "integer"]} | ({"pattern": _ID, "minimum": 0} if exact else {})
    return dict(_shape_of(type(rule), exact))


def closed_schema(takes: Object) -> Schema:
    """The JSON Schema of an object with these fields and no others."""
    return {**rule_schema(takes), "additionalProperties": False}


@lru_cache
def _shape_of(rule: type, exact: bool) -> Schema:
    name = {"type": "string", "minLength": 1}
    if exact:
        name["pattern"] = _pattern(_IN_A_LINE, says_something=True)
    shapes: dict[type, Schema] = {
        Flag: {"type": "boolean"},
        Fraction: {"type": "number", "minimum": 0, "maximum": 1},
        Number: {"type": "number"},
        Timestamp: {"type": "string", "format": "date-time"},
        Document: {},
        Reference: name | {"maxLength": limits.ENTITY_CHARACTERS},
        SystemGrant: name | {"maxLength": limits.NAME_CHARACTERS},
    }
    return shapes[rule]


def _text(rule: Text, exact: bool) -> Schema:
    schema: Schema = {"type": "string"}
    if rule.at_least:
        schema["minLength"] = rule.at_least
    if most := rule.at_most or rule.at_most_bytes:
        schema["maxLength"] = most
    if exact:
        schema["pattern"] = _pattern(
            _IN_A_LINE if rule.line else _STORABLE, says_something=bool(rule.at_least)
        )
    return schema


def _pattern(allowed: str, *, says_something: bool) -> str:
    return f"^{allowed}*{_VISIBLE}{allowed}*$" if says_something else f"^{allowed}*$"


def _whole(rule: Object | Several | Either | Described | FieldsOf, exact: bool) -> Schema:
    match rule:
        case Object(_, known, needed):
            properties = {name: rule_schema(each, exact=exact) for name, each in known.items()}
            return {"type": "object", "properties": properties, "required": list(needed)}
        case Several(each, at_least, at_most):
            listing: Schema = {"type": "array", "items": rule_schema(each, exact=exact)}
            listing |= {} if at_most is None else {"maxItems": at_most}
            return listing | ({"minItems": at_least} if at_least else {})
        case Either(_, options):
            shapes = [rule_schema(each, exact=exact) for each in options.values()]
            if all(set(each) == {"type"} for each in shapes):
                return {"type": [each["type"] for each in shapes]}
            return {"anyOf": shapes}
        case FieldsOf(request, without):
            return input_schema(request, without=without, exact=exact)
        case Described(inner, help, default):
            described = rule_schema(inner, exact=exact)
            described |= {} if default is None else {"default": default}
            return described | ({"description": help} if help else {})


def _listing(rule: ListOf, exact: bool) -> Schema:
    schema: Schema = {
        "type": "array",
        "items": rule_schema(rule.each, exact=exact),
    }
    if rule.at_most is not None:
        schema["maxItems"] = rule.at_most
    return schema | ({"minItems": rule.at_least} if rule.at_least else {})


def _or_null(schema: Schema) -> Schema:
    if "type" not in schema:
        return schema if not schema else {"anyOf": [schema, {"type": "null"}]}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    nullable = schema | {"type": [*kinds, "null"]}
    return nullable | {"enum": [*schema["enum"], None]} if "enum" in schema else nullable


class Definitions:
    """Collects the schemas of answers by name."""

    def __init__(self, prefix: str = _DEFINITIONS) -> None:
        self._prefix = prefix
        self._types: dict[str, type] = {}
        self.known: dict[str, Schema] = {}

    def refer(self, kind: type) -> Schema:
        """A reference to a dataclass; its schema is added to the definitions."""
        name = kind.__name__
        if self._types.setdefault(name, kind) is not kind:
            raise ValueError(f"Two answer classes are called {name}; give one another name.")
        if name not in self.known:
            # Entered first, since a schema may refer to itself.
            self.known[name] = {}
            self.known[name] = self.object(kind)
        return {"$ref": self._prefix + name}

    def object(self, kind: type) -> Schema:
        """The schema of a dataclass as JSON: with every field, except what a store notes for itself."""
        hints = get_type_hints(kind)
        names = [each.name for each in fields(kind) if not _is_place(hints[each.name])]
        for name in getattr(kind, "DERIVED", ()):
            names.append(name)
            hints[name] = get_type_hints(getattr(kind, name).fget)["return"]
        return {
            "type": "object",
            "description": " ".join((kind.__doc__ or "").split()),
            "properties": {name: self.value(hints[name]) for name in names},
            "required": names,
        }

    def value(self, hint: Any) -> Schema:
        """The schema of a type as JSON."""
        if is_dataclass(hint):
            return self.refer(hint)  # type: ignore[arg-type]
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"type": "string", "enum": list(inner)}
        if origin in (Union, UnionType):
            return self._union(inner)
        if origin is tuple:
            return self._tuple(inner)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            values = self.value(inner[1])
            return {"type": "object"} | ({"additionalProperties": values} if values else {})
        return dict(_PLAIN[hint])

    def _tuple(self, inner: tuple[Any, ...]) -> Schema:
        if inner[1:] == (...,):
            return {"type": "array", "items": self.value(inner[0])}
        items = [self.value(each) for each in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _union(self, members: tuple[Any, ...]) -> Schema:
        shapes = [self.value(each) for each in members if each is not NoneType]
        if len(shapes) == 1:
            schema = shapes[0]
        elif all(set(each) == {"type"} for each in shapes):
            schema = {"type": [each["type"] for each in shapes]}
        else:
            schema = {"anyOf": shapes}
        return _or_null(schema) if NoneType in members else schema


def _is_place(hint: Any) -> bool:
    return RowPlace in get_args(hint)
