"""WHAT can be done with a catalog? List it, look at a model, and remove what is no longer there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, Final, Literal

from onrecord.catalog.amendments import amendments_of, shown_amendments
from onrecord.catalog.editing import names_inside, root_of
from onrecord.catalog.ingest import priority_record
from onrecord.catalog.inspection import INSPECTION_TOKENS, Learning, as_markdown, inspection, within_tokens
from onrecord.catalog.known_names import names_of_parts
from onrecord.catalog.lineage import lineage_of
from onrecord.catalog.lookup import INGEST_FIRST
from onrecord.catalog.record_writing import keep, retire
from onrecord.catalog.records import (
    HIDDEN,
    canonical_of,
    datasource_of,
    entity_of,
    model_of,
    record_id,
    record_of_datasource,
    records_of_model,
)
from onrecord.catalog.references import References, counted_references
from onrecord.catalog.resolution import (
    AmbiguousModel,
    Unresolved,
    missing_datasource,
    near_models,
    resolve,
    resolve_leniently,
    resolve_model,
)
from onrecord.catalog.stored import PRIORITY, StoredCatalog
from onrecord.catalog.targets.unsourced import shown_unsourced
from onrecord.errors import Fault, NotFound, invalid
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.catalog import ENTITY_KINDS, EntityKind, Model
from onrecord.model.collections import ENTITIES, entity_facet
from onrecord.model.memory import Change, Memory
from onrecord.model.request import KNOWN_AT, MAYBE_INSTANT, MAYBE_NAME, Request, ask
from onrecord.model.rules import ListOf, OrNone
from onrecord.model.when import NOW, When
from onrecord.operation import Call, operation
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.records import Reading, Writing


@dataclass(frozen=True, slots=True)
class ListEntities(Request):
    """List what memories can be about, by name: datasources, entities of a kind, or entities inside another."""

    inside: str | None = ask(
        OrNone(rules.Reference()),
        "The datasource or model to look into, such as shop, shop.orders or a URN.",
        None,
        positional=True,
    )
    kind: EntityKind | None = ask(
        OrNone(rules.Choice(ENTITY_KINDS)), f"Only of this kind: {', '.join(ENTITY_KINDS)}.", None
    )
    limit: int = ask(rules.Integer(1, 10_000), "How many at most.", 100)
    skip: int = ask(rules.Integer(0, 1_000_000), "Leave out so many before them.", 0)
    references: bool = ask(
        rules.FLAG, "Also count how often memories that you see refer to each, or to what is in it.", False
    )
    undocumented: bool = ask(rules.FLAG, "Only those to which no memory that you see refers.", False)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Answer):
    """Something that memories can be about, as the catalog knows it; `text` is what searches find it by."""

    canonical: str
    kind: EntityKind
    text: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    hidden: bool = False
    fingerprint: str | None = None
    #: References of active and stale memories to it and to what is in it, and those of stale ones; if asked for.
    references: int | None = None
    stale_references: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntities(Answer):
    """Entities by name; `total` counts those beyond the limit too. If references are counted, `undocumented` says to how many
    entities of all no memory refers.
    """

    entities: tuple[Entity, ...]
    total: int
    undocumented: int | None = None


@dataclass(frozen=True, slots=True)
class Inspect(Request):
    """Look at a model: its columns, measures, joins, what they lead to, and what was learned about it.

    Of an entity that no source has brought, it shows what people promoted.
    """

    model: str = ask(rules.Reference(), "The model, such as orders, shop.orders or a URN.", positional=True)
    data_source: str | None = ask(MAYBE_NAME, "Its datasource, if several have a model of that name.", None)
    sections: Sequence[str] | None = ask(
        OrNone(ListOf(rules.NAME, at_most=50)), "Only these sections; all when left out.", None
    )
    show_sql: bool = ask(rules.FLAG, "Show the SQL behind columns and measures.", False)
    descriptions_max_chars: int | None = ask(
        OrNone(rules.Integer(0, 100_000)), "Cut descriptions to so many characters.", None
    )
    reachable_fields_depth: int = ask(rules.Integer(0, 20), "How many joins to follow.", 5)
    lineage_depth: int = ask(
        rules.Integer(0, 10), "How many steps of lineage to follow, up and down; 0 for none.", 0
    )
    num_rows: int = ask(rules.Integer(0, 100), "How many example values of a column.", 3)
    max_tokens: int = ask(
        rules.Integer(500, 1_000_000),
        "How many tokens it may cost to read; notes say what is left out.",
        INSPECTION_TOKENS,
    )
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFlow(Answer):
    """From a model to one that is made from it."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected(Answer):
    """A model with its parts, where its joins lead, and what was learned about it."""

    model: str
    sections: Mapping[str, Any]
    markdown: str
    #: From which model to which the data flows, if asked for.
    lineage: tuple[DataFlow, ...] = ()


@dataclass(frozen=True, slots=True)
class DropEntity(Request):
    """Remove a datasource, a model or a part of one from the catalog, and from the references of every memory.

    Memories keep their text, even those that lose their last reference.
    """

    entity: str = ask(
        rules.Reference(), "What to remove, such as shop.orders or shop.orders.amount.", positional=True
    )
    kind: Literal["datasource", "model"] | None = ask(
        OrNone(rules.Choice(("datasource", "model"))), "Refuse unless it is of this kind.", None
    )
    data_source: str | None = ask(
        MAYBE_NAME, "The datasource of a model, if several have one of that name.", None
    )
    parts: Sequence[str] | None = ask(
        OrNone(ListOf(rules.NAME, at_most=10_000, at_least=1)),
        "Only these columns, measures or aggregations of the model: all or none of them.",
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedEntity(Answer):
    """What was removed: the entity with those under it, and references in so many memories."""

    entity: str
    kind: EntityKind
    entities: int
    stripped: int


@dataclass(frozen=True, slots=True)
class Prioritise(Request):
    """Say which datasources come first where several have a name; without any, show the order in force."""

    datasources: Sequence[str] = ask(
        ListOf(rules.NAME, at_most=1_000), "The most important first; the others follow by name.", ()
    )
    clear: bool = ask(rules.FLAG, "Drop the order: all go by name again.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.clear and self.datasources:
            yield Fault(
                "clear",
                "removes the order, so it cannot be combined with datasources; leave out one of the two",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prioritised(Answer):
    """The order in which datasources are searched for a name."""

    datasources: tuple[str, ...]


@operation("read", "memory.read", "GET /entities")
def entities(call: Call, ask: ListEntities) -> ListedEntities:
    """The entities of a kind, or those in a datasource or model, by name."""
    when = When(known_at=ask.known_at)
    with call.reading() as reading:
        inside = ask.inside and _looked_into(ask.inside, StoredCatalog(reading, when))
        facet = entity_facet("in", inside) if inside else entity_facet("is", ask.kind or "datasource")
        records = [
            record
            for record in reading.reading_of(ENTITIES).filed_memories(facet, when)
            if record.id != record_id(PRIORITY)
            and (ask.kind is None or entity_of(record)["kind"] == ask.kind)
        ]
        counted = ask.references or ask.undocumented
        counts = counted_references(records, reading, when) if counted else None
    records.sort(key=canonical_of)
    undocumented = (
        None if counts is None else [each for each in records if not counts[canonical_of(each)].all]
    )
    shown = undocumented if ask.undocumented and undocumented is not None else records
    return ListedEntities(
        entities=tuple(_entity(each, counts) for each in shown[ask.skip : ask.skip + ask.limit]),
        total=len(shown),
        undocumented=None if undocumented is None else len(undocumented),
    )


def _looked_into(reference: str, lookup: StoredCatalog) -> str:
    """What to look into. Without a catalog there is nothing in anything."""
    if lookup.is_empty:
        return reference
    try:
        return resolve(reference, lookup).canonical
    except Unresolved as error:
        raise error.at("inside") from None


def _entity(record: Memory, counts: Mapping[str, References] | None) -> Entity:
    known = entity_of(record)
    counted = None if counts is None else counts[canonical_of(record)]
    document = known.get("document", {})
    return Entity(
        canonical=str(known["canonical"]),
        kind=known["kind"],
        text=record.content,
        description=document.get("description"),
        tags=record.tags,
        hidden=record.status == "stale",
        fingerprint=known.get("fingerprint"),
        references=counted and counted.all,
        stale_references=counted and counted.stale,
    )


# How many known models an error lists.
_LISTED_MODELS: Final = 50
#: Fields of the request that are passed on unchanged.
_SHOWN: Final = ("sections", "show_sql", "descriptions_max_chars", "reachable_fields_depth", "num_rows")


@operation("read", "memory.read", "GET /models/{model}")
def inspect(call: Call, ask: Inspect) -> Inspected:
    shown = {name: getattr(ask, name) for name in _SHOWN}
    when = When(known_at=ask.known_at)
    with call.reading() as reading:
        try:
            _, every = inspected(reading, ask.model, when, data_source=ask.data_source, **shown)
        except NotFound:
            # Which changesets were in force at a time, nothing says.
            unsourced = shown_unsourced(root_of(ask.model), reading) if when == NOW else None
            if unsourced is None or ask.data_source is not None:
                raise
            every = unsourced
        flows = lineage_of(every["canonical"], ask.lineage_depth, StoredCatalog(reading, when))
    lineage = tuple(DataFlow(source=source, target=target) for source, target in flows)
    sections = within_tokens(every, ask.max_tokens)
    return Inspected(
        model=every["canonical"], sections=sections, markdown=as_markdown(sections), lineage=lineage
    )


def inspected(
    reading: Reading, model_name: str, when: When = NOW, *, data_source: str | None = None, **shown: Any
) -> tuple[Model, dict[str, Any]]:
    """A model with what was learned about it: memories without a query, about it or one of its parts."""
    lookup = StoredCatalog(reading, when)
    model = named_model(lookup, model_name, data_source)
    names = dict.fromkeys((*names_of_parts(model), *names_inside(model.canonical, reading)))
    memories = _memories_about(list(names), reading, when)
    memories.sort(key=lambda memory: (memory.created_at, memory.place))
    meant = {
        name: resolve_leniently([name], lookup).canonicals
        for name in dict.fromkeys(name for each in memories for name in each.entities)
        if name in names
    }
    learnings = [
        Learning(
            id=each.id,
            text=each.content,
            author=each.author,
            tier=each.tier,
            entities=tuple(chain.from_iterable(meant.get(name, ()) for name in each.entities)),
        )
        for each in memories
    ]
    record = lookup.record(model.canonical)
    assert record is not None
    promoted = shown_amendments(model_of(record), amendments_of(record))
    return model, inspection(model, learnings, lookup, promoted=promoted, **shown)


def _memories_about(names: Sequence[str], reading: Reading, when: When) -> list[Memory]:
    """The memories without a query about one of these."""
    if when.known_at is None:
        about = reading.index.about(list(names), most=max(reading.size, 1))
        matches = reading.eligible(sorted(about.holders))
        return [memory for memory in reading.read(list(matches.values())) if memory.query is None]
    # What was written about them then may be about something else by now, so no index leads to it.
    most = max(reading.size, 1)
    then = MemoryFilter(entities=names, has_query=False, known_at=when.known_at, limit=most)
    return reading.browse(then)[0]


def named_model(lookup: StoredCatalog, name: str, data_source: str | None = None) -> Model:
    """The model of that name; NotFound lists the models that exist."""
    model = None
    if data_source is not None:
        if data_source not in lookup.datasources():
            raise _no_datasource(data_source, lookup)
        model = lookup.model(data_source, name.removeprefix(data_source + "."))
    if model is None:
        try:
            model = resolve_model(name, lookup)
        except AmbiguousModel:
            if data_source is None:
                raise
        except Unresolved:
            pass
    if model is not None and data_source not in (None, model.datasource):
        model = None
    if model is None:
        known = lookup.model_names()
        if not known:
            raise NotFound(f"Model {name!r} not found: {INGEST_FIRST}.")
        shown = f"{', '.join(known[:_LISTED_MODELS])}{' …' if len(known) > _LISTED_MODELS else ''}"
        raise NotFound(f"Model {name!r} not found.{near_models(name, lookup)} Available models: {shown}")
    return model


def _no_datasource(name: str, lookup: StoredCatalog) -> NotFound:
    return NotFound(f"Datasource {missing_datasource(name, lookup.datasources())}")


@operation("destroy", "memory.admin", "DELETE /entities/{entity}")
def drop_entity(call: Call, ask: DropEntity) -> DroppedEntity:
    """Remove the entity, everything under it, and every reference to them, in one transaction."""
    with call.writing() as writing:
        lookup = StoredCatalog(writing)
        meant = _meant(ask, lookup)
        canonical, kind = str(entity_of(meant)["canonical"]), entity_of(meant)["kind"]
        change = call.change("drop")
        if ask.parts is not None:
            gone = _parts(lookup, canonical, ask.parts)
        else:
            gone = [meant, *_under(writing.writing_of(ENTITIES), meant)]
        retire(writing, gone, change)
        names = [str(entity_of(each)["canonical"]) for each in gone]
        if entity_of(gone[0])["kind"] not in ("datasource", "model", "system"):
            _without_parts(writing, lookup, names, change)
        elif kind == "model":
            _rewrite_datasource(writing, lookup, canonical.partition(".")[0], change)
        lost = writing.strip([canonical] if gone[0] is meant else names, change)
        writing.note("drop_entity", ask.entity)
        dropped = DroppedEntity(entity=canonical, kind=kind, entities=len(gone), stripped=len(lost))
        return call.done(writing, dropped)


def _meant(ask: DropEntity, lookup: StoredCatalog) -> Memory:
    """The record of the entity to remove; an error if there is none."""
    if ask.kind == "model" or ask.parts is not None:
        canonical = named_model(lookup, ask.entity, ask.data_source).canonical
    elif ask.kind == "datasource":
        canonical = lookup.canonical_of(ask.entity) or ask.entity
        if canonical not in lookup.datasources():
            raise _no_datasource(ask.entity, lookup)
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
    """What lies inside an entity, at any depth."""
    if entity_of(record)["kind"] not in ("datasource", "model"):
        return []
    inside = records.filed_memories(entity_facet("in", str(entity_of(record)["canonical"])))
    return [*inside, *(below for each in inside for below in _under(records, each))]


def _without_parts(
    writing: Writing, lookup: StoredCatalog, canonicals: Sequence[str], change: Change
) -> None:
    """The model's record without the removed parts, since it repeats their records."""
    datasource, name, _ = canonicals[0].split(".", 2)
    record = lookup.record(f"{datasource}.{name}")
    assert record is not None
    model = model_of(record)
    gone = {canonical.removeprefix(model.canonical + ".") for canonical in canonicals}
    kept = replace(model, parts=tuple(part for part in model.parts if part.name not in gone))
    # Without its fingerprint, so that the next ingest reads it again.
    keep(writing, next(records_of_model(kept, "", amendments_of(record))), change)


def _rewrite_datasource(writing: Writing, lookup: StoredCatalog, name: str, change: Change) -> None:
    """Rewrite the text of a datasource, which searches find by the names of its models."""
    record = lookup.record(name)
    if record is not None and entity_of(record)["kind"] == "datasource":
        inside = writing.reading_of(ENTITIES).filed_memories(entity_facet("in", name))
        seen = [str(entity_of(each)["name"]) for each in inside if each.status_reason != HIDDEN]
        origin = str(entity_of(record).get("origin", ""))
        rewritten_record = record_of_datasource(datasource_of(record), seen, origin, amendments_of(record))
        keep(writing, rewritten_record, change)


@operation("write", "memory.admin", "PUT /priority")
def prioritise(call: Call, ask: Prioritise) -> Prioritised:
    """Set which datasources come first where several have a name; without any, show the present order."""
    if not ask.datasources and not ask.clear:
        with call.reading() as reading:
            return Prioritised(datasources=StoredCatalog(reading).priority())
    with call.writing() as writing:
        known = set(StoredCatalog(writing).datasources())
        if unknown := [name for name in ask.datasources if name not in known]:
            raise invalid(
                "datasources",
                f"are not known: {', '.join(unknown)}; there are {', '.join(sorted(known)) or 'none'}",
            )
        change = call.change("prioritise")
        keep(writing, priority_record(ask.datasources), change)
        writing.note("prioritise")
        return call.done(writing, Prioritised(datasources=tuple(ask.datasources)))
