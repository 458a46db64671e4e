"""WHAT can be done with a catalog? Look through it, look at a model, and take out what is no longer there."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from onrecord.catalog.ingest import keep, priority_record, retire
from onrecord.catalog.inspection import Learning, inspection
from onrecord.catalog.records import (
    HIDDEN,
    entity_of,
    record_id,
    record_of_datasource,
    records_of_model,
)
from onrecord.catalog.resolution import AmbiguousModel, Unresolved, resolve, resolve_model
from onrecord.catalog.stored import PRIORITY, StoredCatalog
from onrecord.errors import Fault, Invalid, NotFound
from onrecord.model.answers import DroppedEntity, Entity, ListedEntities, Prioritised
from onrecord.model.caller import Caller
from onrecord.model.catalog import Model, canonicals_of
from onrecord.model.collections import ENTITIES, entity_facet
from onrecord.model.memory import Change, Memory
from onrecord.model.requests import DropEntity, ListEntities, Prioritise
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.store import Store


def entities(reading: Reading, ask: ListEntities) -> ListedEntities:
    """Those of a kind, or those in a datasource or model, by name."""
    records = reading.reading_of(ENTITIES)
    facet = entity_facet("in", ask.inside) if ask.inside else entity_facet("is", ask.kind or "datasource")
    found = [
        _entity(record)
        for record in records.filed_memories(facet)
        if record.id != record_id(PRIORITY) and (ask.kind is None or entity_of(record)["kind"] == ask.kind)
    ]
    found.sort(key=lambda each: each.canonical)
    return ListedEntities(entities=tuple(found[: ask.limit]), total=len(found))


def _entity(record: Memory) -> Entity:
    known = entity_of(record)
    document = known.get("document", {})
    return Entity(
        canonical=str(known["canonical"]),
        kind=known["kind"],
        text=record.content,
        description=document.get("description"),
        tags=record.tags,
        hidden=record.status == "stale",
        fingerprint=known.get("fingerprint"),
    )


def inspected(
    reading: Reading, model_name: str, *, data_source: str | None = None, **shown: Any
) -> tuple[Model, dict[str, Any]]:
    """A model with what was learned about it: memories without a query, about it or one of its parts."""
    lookup = StoredCatalog(reading)
    model = named_model(lookup, model_name, data_source)
    about = reading.index.about(list(canonicals_of(model)), most=max(reading.size, 1))
    matches = reading.eligible(sorted(about.holders))
    memories = [memory for memory in reading.read(list(matches.values())) if memory.query is None]
    memories.sort(key=lambda memory: (memory.created_at, memory.place))
    learnings = [Learning(id=each.id, text=each.content, entities=each.entities) for each in memories]
    return model, inspection(model, learnings, lookup, **shown)


def named_model(lookup: StoredCatalog, name: str, data_source: str | None = None) -> Model:
    """The model of that name, or NotFound with those that there are."""
    model = None
    if data_source is not None:
        model = lookup.model(data_source, name.removeprefix(data_source + "."))
    else:
        try:
            model = resolve_model(name, lookup)
        except AmbiguousModel:
            raise
        except Unresolved:
            model = None
    if model is None:
        known = [f"{home}.{each}" for home in lookup.datasources() for each in lookup.models(home)]
        shown = ", ".join(known[:50]) or "none; ingest a source first"
        raise NotFound(
            f"Model {name!r} not found. Available models: {shown}{' …' if len(known) > 50 else ''}"
        )
    return model


def drop(store: Store, caller: Caller, ask: DropEntity, now: datetime) -> DroppedEntity:
    """One transaction: what is meant with all that lies under it, and every reference to them."""
    with store.writing(caller, now) as writing:
        lookup = StoredCatalog(writing)
        meant = _meant(ask, lookup)
        canonical, kind = str(entity_of(meant)["canonical"]), entity_of(meant)["kind"]
        change = Change("drop", caller.user, caller.actor, now)
        if ask.parts is not None:
            gone = _parts(lookup, canonical, ask.parts)
        else:
            gone = [meant, *_under(writing.writing_of(ENTITIES), meant)]
        retire(writing, gone, change)
        names = [str(entity_of(each)["canonical"]) for each in gone]
        if entity_of(gone[0])["kind"] not in ("datasource", "model", "system"):
            _without_parts(writing, lookup, names, change)
        elif kind == "model":
            _tell_datasource(writing, lookup, canonical.partition(".")[0], change)
        stripped = writing.strip([canonical] if gone[0] is meant else names, change)
        writing.note("drop_entity", ask.entity)
    return DroppedEntity(entity=canonical, kind=kind, entities=len(gone), stripped=stripped)


def _meant(ask: DropEntity, lookup: StoredCatalog) -> Memory:
    """The record of what is to be taken out, or an error before anything is."""
    if ask.kind == "model" or ask.parts is not None:
        canonical = named_model(lookup, ask.entity, ask.data_source).canonical
    elif ask.kind == "datasource":
        canonical = ask.entity
        if canonical not in lookup.datasources():
            known = ", ".join(lookup.datasources()) or "none"
            raise NotFound(f"Datasource {canonical!r} not found. Known datasources: {known}")
    else:
        canonical = ask.entity if lookup.record(ask.entity) else resolve(ask.entity, lookup).canonical
    record = lookup.record(canonical)
    if record is None:
        raise NotFound(f"No entity {canonical} in the catalog. See what there is with `onrecord entities`.")
    return record


def _parts(lookup: StoredCatalog, model: str, names: Sequence[str]) -> list[Memory]:
    found = {name: lookup.record(f"{model}.{name}") for name in names}
    if missing := [name for name, record in found.items() if record is None]:
        raise NotFound(
            f"Model {model} has no column, measure or aggregation {', '.join(map(repr, missing))}; nothing was removed."
        )
    return [record for record in found.values() if record is not None]


def _under(records: Reading, record: Memory) -> list[Memory]:
    """What lies inside, and inside of that."""
    if entity_of(record)["kind"] not in ("datasource", "model"):
        return []
    inside = records.filed_memories(entity_facet("in", str(entity_of(record)["canonical"])))
    return [*inside, *(below for each in inside for below in _under(records, each))]


def _without_parts(
    writing: Writing, lookup: StoredCatalog, canonicals: Sequence[str], change: Change
) -> None:
    """The record of the model says the same as those of its parts."""
    datasource, name, _ = canonicals[0].split(".", 2)
    model = lookup.model(datasource, name)
    assert model is not None
    gone = {canonical.removeprefix(model.canonical + ".") for canonical in canonicals}
    kept = replace(model, parts=tuple(part for part in model.parts if part.name not in gone))
    # Without its fingerprint: the next ingest looks at it again.
    keep(writing, next(records_of_model(kept, "")), change)


def _tell_datasource(writing: Writing, lookup: StoredCatalog, name: str, change: Change) -> None:
    """A datasource is found by the names of its models."""
    datasource, record = lookup.datasource(name), lookup.record(name)
    if datasource is not None and record is not None:
        inside = writing.reading_of(ENTITIES).filed_memories(entity_facet("in", name))
        seen = [str(entity_of(each)["name"]) for each in inside if each.status_reason != HIDDEN]
        origin = str(entity_of(record).get("origin", ""))
        keep(writing, record_of_datasource(datasource, seen, origin), change)


def prioritise(store: Store, caller: Caller, ask: Prioritise, now: datetime) -> Prioritised:
    """Which datasources come first where a name is in several; unless told otherwise, those that do already."""
    if not ask.datasources and not ask.clear:
        with store.reading(caller, now) as reading:
            return Prioritised(datasources=StoredCatalog(reading).priority())
    with store.writing(caller, now) as writing:
        known = set(StoredCatalog(writing).datasources())
        if unknown := [name for name in ask.datasources if name not in known]:
            raise Invalid(
                [
                    Fault(
                        "datasources",
                        f"are not known: {', '.join(unknown)}; there are {', '.join(sorted(known)) or 'none'}",
                    )
                ]
            )
        change = Change("prioritise", caller.user, caller.actor, now)
        keep(writing, priority_record(ask.datasources), change)
        writing.note("prioritise")
    return Prioritised(datasources=tuple(ask.datasources))
