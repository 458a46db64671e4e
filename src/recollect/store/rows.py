"""HOW does a memory lie in a row? The mapping, written once for the present and for versions."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Row, TypeDecorator, type_coerce

from recollect.errors import StoreUnavailable
from recollect.model import ids
from recollect.model.memory import Change, Memory, Place, Relation, Version, changed_fields
from recollect.store.tables import RECORD, memories, microseconds_of, moment_of, versions
from recollect.store.visibility import audience_of

_TIMES: Final = ("created_at", "updated_at", "valid_from")
_MAYBE_TIMES: Final = ("valid_to", "verified_at", "approved_at")
_LISTS: Final = ("tags", "entities")

_write_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

AnyRow = Row[*tuple[Any, ...]]


def record_of(memory: Memory) -> dict[str, Any]:
    """The columns that a present row and a version share, as the driver takes them."""
    values = {name: getattr(memory, name) for name in RECORD}
    for name in _TIMES:
        values[name] = microseconds_of(values[name])
    for name in _MAYBE_TIMES:
        if values[name] is not None:
            values[name] = microseconds_of(values[name])
    for name in _LISTS:
        values[name] = _write_json(values[name]) if values[name] else "[]"
    values["metadata"] = _write_json(values["metadata"]) if values["metadata"] else "{}"
    if values["query"] is not None:
        values["query"] = _write_json(values["query"])
    return values


def present_row(memory: Memory, place: Place, id: str) -> dict[str, Any]:
    return {**record_of(memory), **identity_row(memory, place, id)}


def identity_row(memory: Memory, place: Place, id: str) -> dict[str, Any]:
    """What a present row holds beside its record."""
    return {
        "tenant": place.tenant,
        "row": place.row,
        "id": id,
        "version": memory.version,
        "recorded_at": microseconds_of(place.recorded_at),
        "audience": audience_of(memory),
        "content_hash": content_hash(memory.content),
    }


def version_row(place: Place, memory: Memory, change: Change, until: datetime | None) -> dict[str, Any]:
    return {
        **record_of(memory),
        "tenant": place.tenant,
        "row": place.row,
        "version": memory.version,
        "recorded_at": microseconds_of(place.recorded_at),
        "recorded_to": None if until is None else microseconds_of(until),
        "change": change.name,
        "changed_by": change.by,
        "changed_as": change.origin,
    }


def content_hash(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def memory_columns(identity: FromClause, record: FromClause) -> list[ColumnElement[Any]]:
    """What a statement must select first for `read_memory`: the identity of today, the record as asked for.

    As the driver gives them: converting each value through the library costs more than reading the row.
    """
    own = [identity.c.tenant, identity.c.row, identity.c.id, record.c.version, record.c.recorded_at]
    every = own + [record.c[name] for name in RECORD]
    return [
        type_coerce(column, column.type.impl_instance).label(column.name)
        if isinstance(column.type, TypeDecorator)
        else column
        for column in every
    ]


def read_memory(row: Sequence[Any], tenant_names: Mapping[int, str]) -> Memory:
    """A memory as a row holds it; StoreUnavailable if the row holds what was never written there."""
    try:
        return _read_memory(row, tenant_names)
    except (ValueError, TypeError, OverflowError) as broken:
        raise StoreUnavailable(
            f"Memory {row[2]} is damaged ({broken}). Run `recollect doctor`, and restore a backup."
        ) from broken


def _read_memory(row: Sequence[Any], tenant_names: Mapping[int, str]) -> Memory:
    tenant_key, number, id, version, recorded_at = row[:5]
    values = dict(zip(RECORD, row[5:], strict=False))
    for name in _TIMES:
        values[name] = moment_of(values[name])
    for name in _MAYBE_TIMES:
        if values[name] is not None:
            values[name] = moment_of(values[name])
    for name in _LISTS:
        values[name] = () if values[name] == "[]" else tuple(json.loads(values[name]))
    values["metadata"] = json.loads(values["metadata"])
    if values["query"] is not None:
        values["query"] = json.loads(values["query"])
    values["always_inject"] = bool(values["always_inject"])
    tenant = tenant_names[tenant_key]
    return Memory(
        tenant=tenant,
        id=ids.spell(tenant, id),
        version=version,
        place=Place(tenant_key, number, moment_of(recorded_at)),
        **values,
    )


def read_version(row: AnyRow, tenant_names: Mapping[int, str], before: Memory | None) -> Version:
    memory = read_memory(row, tenant_names)
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
    """An edge, whose row knows its ends by number, with the ids that people know them by."""
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
