"""HOW is the record of an entity written? As a new record or its next version; a retired entity keeps its history."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from onrecord.catalog.records import GONE, Record, fields_of, record_id
from onrecord.errors import Conflict
from onrecord.model.collections import ENTITIES
from onrecord.model.memory import Change, Memory, Version
from onrecord.store.ports.archive import MemoryHistory
from onrecord.store.ports.records import Writing


def retire(writing: Writing, records: Iterable[Memory], change: Change) -> None:
    """Retire entities; their history stays."""
    for record in records:
        valid_to = max(change.at, record.valid_from)
        gone: dict[str, Any] = {"status": "archived", "status_reason": GONE, "valid_to": valid_to}
        replace_record(writing.writing_of(ENTITIES), record, gone, change)


def replace_record(catalog: Writing, known: Memory, changes: Mapping[str, Any], change: Change) -> None:
    """The next version of a record; Conflict if someone else has written one since it was read."""
    if catalog.target(known.id).version != known.version:
        raise overtaken()
    catalog.replace(known, replace(known, **changes, updated_at=change.at), change)


def overtaken() -> Conflict:
    return Conflict("The catalog was changed during this ingest. Ingest again.")


def keep(writing: Writing, record: Record, change: Change) -> None:
    """Store one entity as the source describes it, inside a larger transaction."""
    catalog = writing.writing_of(ENTITIES)
    known = catalog.memory(record_id(record.canonical))
    if known is None:
        catalog.add(_memory(record, "", change), change)
    else:
        catalog.replace(known, replace(known, **fields_of(record), updated_at=change.at), change)


def rewritten(catalog: Writing, record: Record, change: Change) -> Memory | None:
    """Update the record of an entity inside a larger transaction; None if nothing changes. A retired record stays
    retired.
    """
    known = catalog.target(record_id(record.canonical))
    fields = fields_of(record)
    if not known.is_live:
        fields |= {name: getattr(known, name) for name in ("status", "status_reason", "valid_to")}
    if all(getattr(known, name) == value for name, value in fields.items()):
        return None
    return catalog.replace(known, replace(known, **fields, updated_at=change.at), change)


def _memory(record: Record, tenant: str, change: Change) -> Memory:
    return Memory(
        tenant=tenant,
        id=record_id(record.canonical),
        confidence="high",
        scope="tenant",
        owner=change.by,
        author=change.by,
        origin="import",
        created_at=change.at,
        updated_at=change.at,
        valid_from=change.at,
        **fields_of(record),
    )


def first_history(record: Record, tenant: str, change: Change) -> MemoryHistory:
    """A new entity with its first version, as an ingest brings in very many."""
    memory = _memory(record, tenant, change)
    version = Version(
        number=1,
        change=change.name,
        by=change.by,
        origin=change.origin,
        at=change.at,
        until=None,
        memory=memory,
    )
    return MemoryHistory(memory.id, (version,))
