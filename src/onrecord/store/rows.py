"""HOW is a memory stored in a row? One mapping, for present rows and for versions."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Row, TypeDecorator, type_coerce

from onrecord.errors import StoreUnavailable
from onrecord.model import ids
from onrecord.model.checks import Check
from onrecord.model.edits import Edit
from onrecord.model.memory import Change, Memory, Proposal, Relation, RowPlace, Version, changed_fields
from onrecord.model.wire import from_json, to_json
from onrecord.store.audience import audience_of
from onrecord.store.tables import RECORD, memories, versions
from onrecord.store.timestamps import datetime_of, microseconds_of

_TIMES: Final = ("created_at", "updated_at", "valid_from")
_MAYBE_TIMES: Final = ("valid_to", "verified_at", "approved_at")
_LISTS: Final = ("tags", "entities")

_write_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

AnyRow = Row[*tuple[Any, ...]]
Stored = tuple[Any, ...]


_record: Final = attrgetter(*RECORD)
_TIMES_AT: Final = tuple(map(RECORD.index, _TIMES))
_MAYBE_TIMES_AT: Final = tuple(map(RECORD.index, _MAYBE_TIMES))
_LISTS_AT: Final = tuple(map(RECORD.index, _LISTS))
_METADATA_AT: Final = RECORD.index("metadata")
_QUERY_AT: Final = RECORD.index("query")
_PROPOSES_AT: Final = RECORD.index("proposes")
_EDITS_AT: Final = RECORD.index("edits")
_CHECKS_AT: Final = RECORD.index("checks")
_ALWAYS_AT: Final = RECORD.index("always_inject")
#: How many columns a memory takes: its identity, and the record.
_READ: Final = 5 + len(RECORD)


def record_of(memory: Memory) -> Stored:
    """The columns that present rows and versions share, in order, as the driver takes them."""
    values = list(_record(memory))
    for at in _TIMES_AT:
        values[at] = microseconds_of(values[at])
    for at in _MAYBE_TIMES_AT:
        if values[at] is not None:
            values[at] = microseconds_of(values[at])
    for at in _LISTS_AT:
        values[at] = _write_json(values[at]) if values[at] else "[]"
    values[_METADATA_AT] = _write_json(values[_METADATA_AT]) if values[_METADATA_AT] else "{}"
    if values[_QUERY_AT] is not None:
        values[_QUERY_AT] = _write_json(values[_QUERY_AT])
    if values[_PROPOSES_AT] is not None:
        values[_PROPOSES_AT] = _write_json(to_json(values[_PROPOSES_AT]))
    if values[_EDITS_AT] is not None:
        values[_EDITS_AT] = _write_json(to_json(values[_EDITS_AT]))
    values[_CHECKS_AT] = _write_json(to_json(values[_CHECKS_AT])) if values[_CHECKS_AT] else None
    return tuple(values)


def present_row(memory: Memory, place: RowPlace, collection: int, id: str, record: Stored) -> Stored:
    """A row of `memories`, in the order of its columns."""
    return (
        place.tenant,
        collection,
        place.row,
        id,
        memory.version,
        microseconds_of(place.recorded_at),
        audience_of(memory),
        content_hash(memory.content),
        *record,
    )


def version_row(
    memory: Memory, place: RowPlace, collection: int, change: Change, until: datetime | None, record: Stored
) -> Stored:
    """A row of `versions`, in the order of its columns."""
    return (
        place.tenant,
        collection,
        place.row,
        memory.version,
        microseconds_of(place.recorded_at),
        None if until is None else microseconds_of(until),
        change.name,
        change.by,
        change.origin,
        *record,
    )


def content_hash(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def memory_columns(identity: FromClause, record: FromClause) -> list[ColumnElement[Any]]:
    """The columns that a statement must select first for `read_memory`: today's identity, and the record of the time
    asked about.

    Values come as the driver returns them: converting each through SQLAlchemy costs more than reading the row.
    """
    own = [identity.c.tenant, identity.c.row, identity.c.id, record.c.version, record.c.recorded_at]
    every = own + [record.c[name] for name in RECORD]
    return list(map(as_stored, every))


def as_stored(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column with values as the driver returns them."""
    if isinstance(column.type, TypeDecorator):
        return type_coerce(column, column.type.impl_instance).label(column.name)
    return column


def read_words(stored: str) -> tuple[str, ...]:
    return () if stored == "[]" else tuple(json.loads(stored))


def read_memory(row: Sequence[Any], tenant: str) -> Memory:
    """The memory in a row of this tenant; StoreUnavailable if the row holds values that we never write."""
    try:
        return _read_memory(row, tenant)
    except (ValueError, TypeError, OverflowError) as broken:
        raise damaged(row[2], broken) from broken


def damaged(id: str, broken: Exception) -> StoreUnavailable:
    """The error for a memory whose row holds values that we never write."""
    return StoreUnavailable(
        f"Memory {id} is damaged ({broken}). `onrecord doctor` lists the damage; restore a backup."
    )


def _read_memory(row: Sequence[Any], tenant: str) -> Memory:
    tenant_key, number, id, version, recorded_at, *record = row[:_READ]
    for at in _TIMES_AT:
        record[at] = datetime_of(record[at])
    for at in _MAYBE_TIMES_AT:
        if record[at] is not None:
            record[at] = datetime_of(record[at])
    for at in _LISTS_AT:
        record[at] = read_words(record[at])
    if record[_METADATA_AT] != "{}":
        record[_METADATA_AT] = json.loads(record[_METADATA_AT])
    else:
        record[_METADATA_AT] = {}
    if record[_QUERY_AT] is not None:
        record[_QUERY_AT] = json.loads(record[_QUERY_AT])
    if record[_PROPOSES_AT] is not None:
        record[_PROPOSES_AT] = from_json(Proposal, json.loads(record[_PROPOSES_AT]))
    if record[_EDITS_AT] is not None:
        record[_EDITS_AT] = tuple(from_json(Edit, each) for each in json.loads(record[_EDITS_AT]))
    record[_CHECKS_AT] = (
        tuple(from_json(Check, each) for each in json.loads(record[_CHECKS_AT])) if record[_CHECKS_AT] else ()
    )
    record[_ALWAYS_AT] = bool(record[_ALWAYS_AT])
    return Memory(
        tenant=tenant,
        id=ids.spell(tenant, id),
        version=version,
        place=RowPlace(tenant_key, number, datetime_of(recorded_at)),
        **dict(zip(RECORD, record, strict=True)),
    )


def read_version(row: AnyRow, tenant: str, before: Memory | None) -> Version:
    memory = read_memory(row, tenant)
    assert memory.place is not None
    return Version(
        number=memory.version,
        change=row.change,
        by=row.changed_by,
        origin=row.changed_as,
        at=memory.place.recorded_at,
        until=row.recorded_to,
        memory=memory,
        changed=changed_fields(before, memory) if before else (),
    )


VERSION_COLUMNS: Final = (
    versions.c.change,
    versions.c.changed_by,
    versions.c.changed_as,
    versions.c.recorded_to,
)
PRESENT: Final = memory_columns(memories, memories)
PAST: Final = memory_columns(memories, versions)


def read_relation(row: AnyRow, source: str, target: str) -> Relation:
    """A relation with the ids of its memories, which its row holds as numbers."""
    return Relation(
        id=str(row.id),
        source=source,
        relation=row.relation,
        target=target,
        created_at=row.created_at,
        created_by=row.created_by,
        removed_at=row.removed_at,
        removed_by=row.removed_by,
    )
