"""WHAT did people promote, besides the source's values? Amendments, kept in the record of an entity.

The record of a model or datasource holds what its source says, and next to it the amendments of it and its parts.
They are merged when the record is rendered, so an ingest does not wipe them. An amendment is dropped when the source
has the same value; when the source has a new value, the amendment stays and is shown for review.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.catalog import Datasource, Model, Part
from onrecord.model.edits import EDIT, Cell, reading, same_value
from onrecord.model.limits import EDIT_FIELDS, EditField
from onrecord.model.memory import Memory
from onrecord.model.rules import Choice, Json, OrNone
from onrecord.model.shapes import Object, faults_at
from onrecord.model.wire import from_json

Described = TypeVar("Described", Model, Datasource)
#: Under this name the record of an entity keeps its amendments.
AMENDMENTS: Final = "amendments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A promoted value, None if it was removed; and the source's value at the time of the promotion."""

    entity: str
    field: EditField
    key: str | None = None
    value: Any = None
    source: Any = None
    changeset: str
    approved_by: str | None = None
    at: datetime

    @property
    def cell(self) -> Cell:
        return Cell(self.entity, self.field, self.key)


def _faults(clean: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with its value by the rules of an edit."""
    if "entity" in clean and "field" in clean:
        cell = Cell(clean["entity"], clean["field"], clean.get("key"))
        try:
            EDIT(reading(cell, clean.get("value")))
        except ValueError as reason:
            yield from faults_at("", reason)


#: An amendment that comes from outside.
AMENDMENT: Final = Object(
    "a promoted value",
    {
        "entity": rules.Reference(),
        "field": Choice(limits.EDIT_FIELDS),
        "key": OrNone(rules.NAME),
        "value": OrNone(Json(any_kind=True)),
        "source": OrNone(Json(any_kind=True)),
        "changeset": rules.STORED_ID,
        "approved_by": OrNone(rules.NAME),
        "at": rules.INSTANT,
    },
    needed=("entity", "field", "changeset", "at"),
    build=Amendment,
    between=_faults,
)


def amendments_of(record: Memory) -> tuple[Amendment, ...]:
    """The amendments that the record of a model or datasource keeps."""
    known = record.metadata.get("entity", {}).get(AMENDMENTS, ())
    return tuple(from_json(Amendment, each) for each in known)


def in_order(amendments: Iterable[Amendment]) -> tuple[Amendment, ...]:
    """Sorted by place, so that the same amendments always render the same, whichever came first."""
    return tuple(
        sorted(amendments, key=lambda each: (each.entity, EDIT_FIELDS.index(each.field), each.key or ""))
    )


def amended(described: Described, amendments: Iterable[Amendment]) -> Described:
    """A model, with its parts, or a datasource, as people have amended it."""
    by_entity: dict[str, list[Amendment]] = {}
    for each in amendments:
        by_entity.setdefault(each.entity, []).append(each)
    if not by_entity:
        return described
    changes = _changes(described, by_entity.get(described.canonical, ()))
    if isinstance(described, Model):
        changes["parts"] = tuple(
            replace(part, **_changes(part, by_entity.get(f"{described.canonical}.{part.name}", ())))
            for part in described.parts
        )
    return replace(described, **changes)


def _changes(described: Model | Part | Datasource, amendments: Iterable[Amendment]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    tags = dict.fromkeys(described.tags)
    for each in amendments:
        if each.field == "description":
            changes["description"] = each.value
        elif each.field == "tags" and each.key is not None:
            tags |= {each.key: None} if each.value else {}
            if not each.value:
                tags.pop(each.key, None)
    return changes | {"tags": tuple(tags)}


def source_value(described: Model | Datasource, cell: Cell) -> Any:
    """The source's value at a place; None in fields that no source has. Raises KeyError if the part is missing."""
    entity: Model | Part | Datasource | None = described
    if cell.entity != described.canonical:
        part = cell.entity.removeprefix(f"{described.canonical}.")
        entity = described.part(part) if isinstance(described, Model) else None
    if entity is None:
        raise KeyError(cell.entity)
    if cell.field == "description":
        return entity.description
    return True if cell.field == "tags" and cell.key in entity.tags else None


def not_in_source(described: Model | Datasource, amendments: Iterable[Amendment]) -> tuple[Amendment, ...]:
    """The amendments without those whose value the source has itself by now. Those of parts that are gone stay: a part may
    come back.
    """
    return tuple(each for each in amendments if not _source_agrees(described, each))


def _source_agrees(described: Model | Datasource, amendment: Amendment) -> bool:
    try:
        return same_value(source_value(described, amendment.cell), amendment.value)
    except KeyError:
        return False


def said_anew(
    described: Model | Datasource, amendments: Iterable[Amendment]
) -> Iterator[tuple[Amendment, Any]]:
    """The amendments whose source has another value than when they were promoted, and that value."""
    for each in amendments:
        try:
            now = source_value(described, each.cell)
        except KeyError:
            continue
        if not same_value(now, each.source):
            yield each, now


def shown_amendments(described: Model | Datasource, amendments: Sequence[Amendment]) -> list[dict[str, Any]]:
    """The amendments as people see them: the value, who approved it, and what the source said then, or says if that is
    new.
    """
    anew = {each.cell: now for each, now in said_anew(described, amendments)}
    return [shown_amendment(each) | _source_of(each, anew) for each in amendments]


def _source_of(each: Amendment, anew: Mapping[Cell, Any]) -> dict[str, Any]:
    if each.cell in anew:
        return {"source_says": anew[each.cell]}
    return {} if each.source is None else {"source_said": each.source}


def shown_amendment(each: Amendment) -> dict[str, Any]:
    """An amendment as people see it: the value, who approved it, and by which changeset."""
    known: Mapping[str, Any] = {
        "entity": each.entity,
        "field": each.field,
        "key": each.key,
        "value": each.value,
        "approved_by": each.approved_by,
        "changeset": each.changeset,
    }
    return {name: value for name, value in known.items() if value is not None or name == "value"}
