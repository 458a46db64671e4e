"""HOW is a value written down? JSON for every answer, and every answer read back without loss."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from onrecord.model.memory import Memory

_PLAIN: Final = frozenset({str, int, float, bool, NoneType})

Read = Callable[[Any], Any]
Answer = TypeVar("Answer")

_INSTANTS: Final = ("created_at", "updated_at", "valid_from")
_MAYBE_INSTANTS: Final = ("valid_to", "verified_at", "approved_at")
_LISTS: Final = ("tags", "entities")
MEMORY_FIELDS: Final = tuple(each.name for each in fields(Memory) if each.name != "place")


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
    """How a dataclass is written; which of its fields are plain already is found out once."""
    names = tuple(each.name for each in fields(kind) if each.name != "place")
    hints = get_type_hints(kind)
    odd = tuple(name for name in names if not _is_plain(hints[name]))

    def write(value: Any) -> dict[str, Any]:
        told = {name: getattr(value, name) for name in names}
        for name in odd:
            told[name] = to_json(told[name])
        return told

    return write


def _is_plain(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_plain, get_args(hint)))
    return hint in _PLAIN or get_origin(hint) is Literal


def memory_from_json(value: Mapping[str, Any], tenant: str | None = None) -> Memory:
    """A memory as `to_json` wrote it, if need be in another tenant; KeyError, TypeError or ValueError if it is not one."""
    known = {name: value[name] for name in MEMORY_FIELDS}
    for name in _INSTANTS:
        known[name] = read_instant(known[name])
    for name in _MAYBE_INSTANTS:
        known[name] = None if known[name] is None else read_instant(known[name])
    for name in _LISTS:
        if not isinstance(known[name], list):
            raise TypeError(f"{name} must be a list")
        known[name] = tuple(known[name])
    known["tenant"] = tenant or known["tenant"]
    return Memory(**known)


def from_json(kind: type[Answer], value: Any) -> Answer:
    """An answer as `to_json` wrote it; KeyError, TypeError or ValueError if it is not one.

    What is not known here is passed over, so that an older reader understands a newer writer.
    """
    return cast(Answer, _reader(cast(Any, kind))(value))


@cache
def _reader(hint: Any) -> Read:
    """How a value of this type is read; found out once for each type."""
    if hint is datetime:
        return read_instant
    if hint is float:
        return _read_number
    if is_dataclass(hint):
        return _object_reader(cast(type, hint))
    origin, inner = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _list_reader(inner)
    if origin in (Union, UnionType):
        return _union_reader(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_reader(_reader(inner[1]))
    return _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _read_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("must be a number")
    return float(value)


def _object_reader(kind: type) -> Read:
    hints = get_type_hints(kind)
    # Where a store keeps a memory is never written down.
    parts = [(each, _reader(hints[each.name])) for each in fields(kind) if each.name != "place"]

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise TypeError(f"{kind.__name__} must be an object")
        return kind(**{each.name: part(value[each.name]) for each, part in parts if _is_there(each, value)})

    return read


def _is_there(each: Field[Any], value: Mapping[str, Any]) -> bool:
    """Whether a field is to be read; one without a default is missed by its reader."""
    return each.name in value or (each.default is MISSING and each.default_factory is MISSING)


def _list_reader(inner: tuple[Any, ...]) -> Read:
    if inner[1:] == (...,):
        each = _reader(inner[0])
        return lambda value: tuple(each(item) for item in _a_list(value))
    several = [_reader(item) for item in inner]
    return lambda value: tuple(read(item) for read, item in zip(several, _a_list(value), strict=True))


def _a_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("must be a list")
    return value


def _union_reader(members: tuple[Any, ...]) -> Read:
    """Of something or nothing, what something says; other alternatives are plain JSON and told apart by themselves."""
    real = [each for each in members if each is not NoneType]
    inner = _reader(real[0]) if len(real) == 1 else _as_it_is
    return lambda value: None if value is None else inner(value)


def _mapping_reader(inner: Read) -> Read:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise TypeError("must be an object")
        return {key: inner(item) for key, item in value.items()}

    return read


def write_instant(moment: datetime) -> str:
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def read_instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is UTC:
        return moment
    # Without a zone it would be taken for the time of whichever machine reads it.
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
