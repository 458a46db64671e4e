"""WHAT does a memory look like in a file? Its entry: the fields that differ from their defaults, in a fixed order.

The names are those that people know from such files: `learning` is what it says, `description` when to recall it.
When a memory last changed is in the history.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from onrecord.errors import Fault
from onrecord.model import ids, rules
from onrecord.model.limits import DEFAULT_CONFIDENCE, DEFAULT_KIND, DEFAULT_SCOPE, DIMENSION_OF, GLOBAL_TENANT
from onrecord.model.memory import Memory, derive_title
from onrecord.model.record import RECORD_RULES, invariant_faults
from onrecord.model.shapes import Faults, Object
from onrecord.model.wire import to_json, write_instant

#: The tenant of entries that name none.
DEFAULT_TENANT: Final = "default"
#: The user for changes by hand, since the file does not say who made them.
FILE: Final = "file"

#: The format of an entry; those of 1 differ only in that their ids are numbers.
FORMAT: Final = 2
_FORMATS: Final = (1, FORMAT)

#: The id of a new entry that a person added; the store gives it one.
_NO_ID: Final = ""

Shape = Literal["text", "texts", "json", "flag", "number"]

TIMES: Final = frozenset({"created_at", "updated_at", "valid_from", "valid_to", "verified_at", "approved_at"})
_RULES: Final[dict[str, rules.Rule]] = dict(RECORD_RULES) | dict.fromkeys(TIMES, rules.INSTANT)
_NAMES: Final = {"learning": "content", "description": "hint"}
#: What comes first in an entry.
_HEAD: Final[dict[str, Shape]] = {
    "version": "number",
    "id": "text",
    "tenant": "text",
    "learning": "text",
    "description": "text",
    "entities": "texts",
    "query": "json",
}
_REST: Final = [
    each.name for each in fields(Memory) if each.name not in {*_HEAD, *_NAMES.values(), "place", "updated_at"}
]


def _shape(rule: rules.Rule) -> Shape:
    match rule:
        case rules.OrNone(inner):
            return _shape(inner)
        case rules.ListOf():
            return "texts"
        case rules.Json():
            return "json"
        case rules.Flag():
            return "flag"
    return "text"


#: Every field of an entry in the order of writing, and what it holds; times come last.
SHAPES: Final[dict[str, Shape]] = _HEAD | {
    name: _shape(_RULES[name]) for name in sorted(_REST, key=TIMES.__contains__)
}
_FIELDS: Final = tuple((name, _NAMES.get(name, name)) for name in SHAPES if name not in ("version", "tenant"))
_DEFAULTS: Final[dict[str, Any]] = {
    "kind": DEFAULT_KIND,
    "confidence": DEFAULT_CONFIDENCE,
    "scope": DEFAULT_SCOPE,
    "owner": FILE,
    "origin": "import",
    "status": "active",
}


class EntryKey(NamedTuple):
    """Which memory: its tenant, and its id as people see it."""

    tenant: str
    id: str


def key_of(memory: Memory) -> EntryKey:
    return EntryKey(memory.tenant, memory.id)


def entry_of(memory: Memory) -> dict[str, Any]:
    """The entry of a memory, as plain values in the order of writing."""
    entry: dict[str, Any] = {"version": FORMAT, "id": memory.id}
    if memory.tenant not in (DEFAULT_TENANT, GLOBAL_TENANT):
        entry["tenant"] = memory.tenant
    return entry | record_of(memory)


def record_of(memory: Memory) -> dict[str, Any]:
    """The same without tenant and id."""
    derived = _derived(memory.kind, memory.hint, memory.content, memory.created_at)
    left_out = _DEFAULTS | derived | {"author": memory.owner}
    return {
        name: _plain(value)
        for name, own in _FIELDS
        if own != "id"
        and (value := getattr(memory, own)) != left_out.get(own)
        and not _is_nothing(own, value)
    }


def _is_nothing(name: str, value: Any) -> bool:
    # A query may be an empty object, and a proposal may have no edits, which is not the same as none.
    return value is None or value is False or (name not in ("query", "edits") and value in ((), {}))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return short_instant(value)
    return to_json(value)


def short_instant(moment: datetime) -> str:
    """A time without superfluous digits."""
    return write_instant(moment).replace(".000000Z", "Z")


def _derived(kind: str, hint: str | None, content: str, created_at: datetime) -> dict[str, Any]:
    """The value of a field unless someone chose another."""
    return {
        "dimension": DIMENSION_OF.get(kind),  # type: ignore[call-overload]
        "title": derive_title(hint, content),
        "valid_from": created_at,
    }


def memory_of(entry: Mapping[str, Any], now: datetime, known: Memory | None = None) -> Memory:
    """The memory that an entry describes, with an empty id if it names none; Faults if the entry breaks a rule.

    `known` supplies what the file leaves open: when the memory was made and last changed.
    """
    clean = _ENTRY(entry)
    named = (*_FIELDS, ("updated_at", "updated_at"))
    values = {own: value for name, own in named if (value := clean.get(name)) not in (None, _NO_ID)}
    memory = _filled(values, identity_of(entry).tenant, now, known)
    faults = [Fault(_SHOWN.get(fault.field, fault.field), fault.message) for fault in _between(memory)]
    if faults:
        raise Faults(faults)
    return memory


def _filled(values: dict[str, Any], tenant: str, now: datetime, known: Memory | None) -> Memory:
    known_times = {} if known is None else {"created_at": known.created_at, "updated_at": known.updated_at}
    values = {"created_at": now} | known_times | _DEFAULTS | values
    derived = _derived(values["kind"], values.get("hint"), values["content"], values["created_at"])
    values = {"id": "", "updated_at": values["created_at"], "author": values["owner"]} | derived | values
    version, place = (1, None) if known is None else (known.version, known.place)
    return Memory(tenant=tenant, version=version, place=place, **values)


def _between(memory: Memory) -> Iterator[Fault]:
    """The rules between fields. A missing id is fine: it will be given later."""
    for fault in invariant_faults(memory):
        if memory.id or fault.field != "scope":
            yield fault


def identity_of(entry: Mapping[str, Any]) -> EntryKey:
    """Which memory an entry describes; without an id if it has none yet. ValueError says what is wrong."""
    id = rules.STORED_ID(entry["id"]) if entry.get("id") not in (None, "") else ""
    is_global = ids.is_global(id) if id else entry.get("scope") == "global"
    home = GLOBAL_TENANT if is_global else DEFAULT_TENANT
    tenant = home if entry.get("tenant") is None else rules.NAME(entry["tenant"])
    if (tenant == GLOBAL_TENANT) != is_global:
        raise ValueError("must not be given: global memories have an id such as global:5, and others do not")
    return EntryKey(tenant, id)


def _id(value: Any) -> str:
    return _NO_ID if value == _NO_ID else rules.STORED_ID(value)


def _format(value: Any) -> Any:
    if value not in _FORMATS:
        raise ValueError(f"is of a format that this OnRecord does not know; it knows {FORMAT}")
    return value


def _entry_faults(clean: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Fault]:
    if given.get("learning") is None:
        yield Fault("learning", "is missing: it holds the text of the memory")
    if "id" in clean or given.get("id") is None:
        try:
            identity_of(given)
        except ValueError as reason:
            yield Fault("tenant", str(reason))


_SHOWN: Final = {own: name for name, own in _NAMES.items()}
_ENTRY: Final = Object(
    "a memory",
    {name: _RULES[own] for name, own in _FIELDS}
    | {"version": _format, "id": _id, "tenant": rules.NAME, "updated_at": rules.INSTANT},
    between=_entry_faults,
    synonyms=_SHOWN,
)
