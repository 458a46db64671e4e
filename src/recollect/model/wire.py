"""HOW is a value written down? JSON for every answer, and a memory read back without loss."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Final

from recollect.model.memory import Memory

_INSTANTS: Final = ("created_at", "updated_at", "valid_from")
_MAYBE_INSTANTS: Final = ("valid_to", "verified_at", "approved_at")
_LISTS: Final = ("tags", "entities")
MEMORY_FIELDS: Final = tuple(each.name for each in fields(Memory) if each.name != "place")


def to_json(value: Any) -> Any:
    """Plain JSON values: times in ISO 8601 with Z, tuples as lists, dataclasses as objects."""
    if isinstance(value, Memory):
        return {name: to_json(getattr(value, name)) for name in MEMORY_FIELDS}
    if is_dataclass(value):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, datetime):
        return write_instant(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return value


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


def write_instant(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def read_instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is UTC:
        return moment
    # Without a zone it would be taken for the time of whichever machine reads it.
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
