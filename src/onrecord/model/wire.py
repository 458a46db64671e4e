"""HOW is a value written down? JSON for every answer, and every answer read back without loss."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from onrecord.model.rules import INSTANT, Number, OrNone, Rule, anything
from onrecord.model.shapes import MapOf, Object, Several

_PLAIN: Final = frozenset({str, int, float, bool, NoneType})

Answer = TypeVar("Answer")


def to_json(value: Any) -> Any:
    """Plain JSON values: times in ISO 8601 with Z, tuples as lists, dataclasses as objects."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is datetime:
        return write_instant(value)
    if kind is tuple or kind is list:
        return [to_json(item) for item in value]
    if is_dataclass(kind):
        return _writer(kind)(value)
    if isinstance(value, datetime):
        return write_instant(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return value


@cache
def _writer(kind: type) -> Callable[[Any], dict[str, Any]]:
    """A function that writes a dataclass. Which of its fields are plain already is found out once."""
    names = tuple(each.name for each in fields(kind) if each.name != "place")
    hints = get_type_hints(kind)
    odd = tuple(name for name in names if not _is_plain(hints[name]))
    # Derived from the fields: written, and not read back.
    names += getattr(kind, "DERIVED", ())

    def write(value: Any) -> dict[str, Any]:
        written = {name: getattr(value, name) for name in names}
        for name in odd:
            written[name] = to_json(written[name])
        return written

    return write


def _is_plain(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_plain, get_args(hint)))
    return hint in _PLAIN or get_origin(hint) is Literal


def from_json(kind: type[Answer], value: Any) -> Answer:
    """Read an answer that `to_json` wrote; ValueError if it is not one.

    Unknown fields are ignored, so that an older reader understands a newer writer.
    """
    return cast(Answer, shape_of(cast(Any, kind))(value))


@cache
def shape_of(kind: type) -> Object:
    """How to read a dataclass, worked out once for each."""
    hints = get_type_hints(kind)
    # Where a store keeps a memory is never written down.
    known = [each for each in fields(kind) if each.name != "place"]
    return Object(
        kind.__name__,
        {each.name: _rule_of(hints[each.name]) for each in known},
        needed=tuple(
            each.name for each in known if each.default is MISSING and each.default_factory is MISSING
        ),
        build=kind,
        passes_over=True,
    )


def _rule_of(hint: Any) -> Rule:
    if hint is datetime:
        return INSTANT
    if hint is float:
        return Number()
    if is_dataclass(hint):
        return shape_of(cast(type, hint))
    origin, inner = get_origin(hint), get_args(hint)
    if origin is tuple:
        return Several(_rule_of(inner[0])) if inner[1:] == (...,) else _row(tuple(map(_rule_of, inner)))
    if origin in (Union, UnionType):
        return _alternatives(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return MapOf("an object", anything, _rule_of(inner[1]))
    return anything


def _row(rules: tuple[Rule, ...]) -> Rule:
    def read(value: Any) -> tuple[Any, ...]:
        return tuple(rule(item) for rule, item in zip(rules, Several(anything)(value), strict=True))

    return read


def _alternatives(members: tuple[Any, ...]) -> Rule:
    """Of `X | None` the rule of X. Other unions are plain JSON, whose values show their type."""
    real = [each for each in members if each is not NoneType]
    inner = _rule_of(real[0]) if len(real) == 1 else anything
    return OrNone(inner) if NoneType in members else inner


def write_instant(moment: datetime) -> str:
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
