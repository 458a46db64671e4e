"""HOW does the catalog learn what there is? It compares what a source has with what it knows, and stores the
difference.

A model whose fingerprint is known is not read again. Everything is read before anything is written, so a source that
breaks off leaves the catalog as it was. The record of a model, which holds its fingerprint, is written after its
parts, so the next ingest repairs one that broke off. Entities that the source no longer has are retired with their
history and removed from the references of memories, which keep their text. The same holds for a whole datasource, if
the same source listed it before and names its datasources itself.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from onrecord.catalog.amendments import Amendment, amendments_of, said_anew
from onrecord.catalog.record_writing import first_history, overtaken, replace_record, retire
from onrecord.catalog.records import (
    Record,
    canonical_of,
    datasource_in,
    entity_of,
    fields_of,
    model_in,
    record_id,
    record_of_datasource,
    records_of_model,
)
from onrecord.catalog.resolution import probe
from onrecord.catalog.source_comparison import Comparison, compared
from onrecord.catalog.staleness import broken_query
from onrecord.catalog.stored import PRIORITY, StoredCatalog
from onrecord.catalog.targets.unsourced import move_to_sources
from onrecord.errors import Forbidden, OnRecordError
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.catalog import MEMORY_PREFIX, Datasource
from onrecord.model.collections import AMENDED, ENTITIES, Home, entity_facet
from onrecord.model.memory import Change, Memory
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.operation import Call, Progress, operation
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.jobs import EMBED, WATCH
from onrecord.store.ports.records import Reading
from onrecord.store.ports.store import Store

if TYPE_CHECKING:
    from onrecord.catalog.sources import Source


@dataclass(frozen=True, slots=True)
class Ingest(Request):
    """Read what there is into the catalog: from model files, a store of models, a live database, the files that dbt
    writes, or DataHub.

    The kind of source is recognised by looking at it. Ingesting again takes in what has changed; entities that are no
    longer there are retired, and removed from the references of memories, which keep their text. Where memories are
    watched, they go stale instead.
    """

    path: str = ask(
        rules.Text(at_least=1, at_most=4_096),
        "A folder of model files, a manifest.json of dbt or its folder, a SQLite file (a store of models, or any "
        "database), the URL of a database, or `datahub` for the DataHub of the settings.",
        positional=True,
    )
    datasource: str | None = ask(MAYBE_NAME, "The name of the datasource; its own if left out.", None)
    schema: str | None = ask(MAYBE_NAME, "The schema of a database; its default one if left out.", None)
    sample_values: int = ask(
        rules.Integer(0, 100),
        "How many example values to take from each column; left out, earlier ones stay.",
        0,
    )
    dry_run: bool = ask(rules.FLAG, "Say what would change, and change nothing.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChanges(Answer):
    """How many entities of each kind were added, changed and retired."""

    datasources: int = 0
    models: int = 0
    columns: int = 0
    measures: int = 0
    aggregations: int = 0
    systems: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LostReferences(Answer):
    """A memory, and the references that it lost."""

    memory: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested(Answer):
    """What an ingest changed in the catalog and in memories.

    `gone_entities` names what is no longer there; of a model or datasource that is gone, not each part. `stripped`
    counts the memories that lost references to it, and `lost` says which lost what. Both lists hold the first
    thousand. `stale_queries` names memories whose example query no longer fits the catalog; those memories are not
    changed. After a dry run all the rest is what would happen.
    """

    source: str
    location: str
    added: EntityChanges
    changed: EntityChanges
    gone: EntityChanges
    gone_entities: tuple[str, ...] = ()
    stripped: int = 0
    lost: tuple[LostReferences, ...] = ()
    stale_queries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False


_BATCH: Final = 1_000
#: Under this name the details of a datasource say how it was read, if it is watched.
READ_AS: Final = "read_as"
#: How many entities that are gone, and memories that lost references, an answer names.
_MOST_NAMED: Final = 1_000
Item = TypeVar("Item")


@dataclass(slots=True)
class _Plan:
    """What must be written, and the resulting counts."""

    new: list[Record] = field(default_factory=list)
    changed: list[tuple[Memory, Record]] = field(default_factory=list)
    gone: list[Memory] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.new) + len(self.changed) + len(self.gone)

    @property
    def added(self) -> list[Record]:
        """Records that are new, or were gone before."""
        return [*self.new, *(record for known, record in self.changed if not known.is_live)]


@operation("write", "memory.admin", "POST /ingest", begins=True)
def ingest(call: Call, ask: Ingest) -> Ingested:
    from onrecord.catalog.sources import open_source

    source = open_source(
        allowed_source(call, ask.path),
        datasource=ask.datasource,
        schema=ask.schema,
        sample_values=ask.sample_values,
        datahub=call.policy.datahub,
    )
    options = {"datasource": ask.datasource, "schema": ask.schema, "sample_values": ask.sample_values}
    ingested = _ingested(call, source, how_read(call, source, options), ask.dry_run)
    if not ask.dry_run:
        # Not the path: the address of a database may hold its password.
        call.note("ingest", ask.datasource)
    return ingested


def allowed_source(call: Call, path: str) -> str:
    """The path or address to read; Forbidden for one that this server was not set up with: it reads them with its own
    rights, not with those of the caller. An address may be given without its password, as `status` shows it.
    """
    sources = call.policy.sources
    if sources is None:
        return path
    known = {without_password(each): each for each in reversed(sources)} | {each: each for each in sources}
    if path not in known:
        raise Forbidden(
            "Only the sources that this server was set up with (ONRECORD_SOURCES) can be read from here. Others are read at "
            "the machine, by `onrecord ingest` or `onrecord impact`; to `impact`, the SQL of a migration can be sent as `sql`."
        )
    return known[path]


def without_password(source: str) -> str:
    """A path as it is; of an address only where it leads and for whom, since its options may hold a password too."""
    if "://" not in source:
        return source
    parts = urlsplit(source)
    user, at, host = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path}"


def how_read(call: Call, source: "Source", options: Mapping[str, Any]) -> dict[str, Any]:
    """How a source was read, so that the watcher can read it again in the same way; nothing if none is at work."""
    if call.policy.watch is None:
        return {}
    return {"source": source_key(source), **{name: value for name, value in options.items() if value}}


def source_key(source: "Source") -> str:
    """A hash that identifies a source and hides its location."""
    at = source.location
    place = at if "://" in at else str(Path(at).resolve())
    return hashlib.blake2b(f"{source.kind} {place}".encode(), digest_size=12).hexdigest()


def _ingested(call: Call, source: "Source", read_as: Mapping[str, Any], dry_run: bool) -> Ingested:
    store, caller, now = call.store, call.caller, call.now
    beside, plan = taken_in(call, source, read_as, dry_run=dry_run)
    stale = tuple[str, ...]()
    # With a watcher, a memory about what is gone is stale, and still says what it was about.
    cleaned = beside.touched if call.policy.watch is None else []
    lost = _clean_up(store, caller, cleaned, plan.gone, now, dry_run)
    if not dry_run:
        stale = _stale_queries(store, caller, now)
        if call.policy.watch is not None:
            with store.jobs() as jobs:
                jobs.hasten(WATCH, now)
    return Ingested(
        source=source.kind,
        location=source.location,
        added=_counted(plan.added),
        changed=_counted(record for known, record in plan.changed if known.is_live),
        gone=EntityChanges(**Counter(f"{entity_of(record)['kind']}s" for record in plan.gone)),
        gone_entities=tuple(islice(_topmost(map(canonical_of, plan.gone)), _MOST_NAMED)),
        stripped=len(lost),
        lost=tuple(
            LostReferences(memory=id, entities=entities) for id, entities in islice(lost.items(), _MOST_NAMED)
        ),
        stale_queries=stale,
        notes=tuple(_notes(source, plan)),
        dry_run=dry_run,
    )


class Taken(NamedTuple):
    """A source compared with the catalog, and its past or planned writes."""

    beside: Comparison
    plan: _Plan


def taken_in(call: Call, source: "Source", read_as: Mapping[str, Any], *, dry_run: bool = False) -> Taken:
    """Update the catalog from a source; memories are not touched."""
    store, caller, now, progress = call.store, call.caller, call.now, call.progress
    embeds = call.embedders.current is not None
    beside = compared(call, source)
    models = beside.models
    hidden = {name for name, model in beside.known.items() if model.hidden and name not in models}
    hidden |= {name for name, (model, *_) in models.items() if model.hidden}
    priority = source.priority()
    with call.reading() as reading:
        catalog = reading.reading_of(ENTITIES)
        # Read with what is there now, so that a value that was promoted meanwhile is not written over.
        promoted = _promoted(reading)
        homes = [_read_as(each, read_as) for each in beside.datasources]
        others = list(_homes(homes, beside.there - hidden, source.origin or "", promoted))
        if priority is not None:
            others.append(priority_record(priority))
        models = {name: _amended(records, promoted.get(name, ())) for name, records in models.items()}
        plan = _planned(catalog, models, others, beside.gone, beside.vanished)
    if not dry_run:
        if plan.size:
            # Asked for twice: a worker may finish before everything is written, and an ingest may fail halfway.
            _ask_for_vectors(store, Home(caller.tenant, ENTITIES), now, embeds)
            _write(store, caller, plan, now, progress)
            _ask_for_vectors(store, Home(caller.tenant, ENTITIES), now, embeds)
        move_to_sources(store, caller, now, embeds=embeds)
        _ask_for_vectors(store, Home(caller.tenant), now, embeds and _lacks_vectors(store, caller, now))
    return Taken(beside, plan)


def _topmost(names: Iterable[str]) -> Iterator[str]:
    """The names in order, without those that lie inside another of them."""
    every = set(names)
    for name in sorted(every):
        datasource, *rest = name.split(".", 2)
        if not rest or not every & {datasource, *([f"{datasource}.{rest[0]}"] if len(rest) > 1 else [])}:
            yield name


def _promoted(reading: Reading) -> dict[str, tuple[Amendment, ...]]:
    """The promoted values of each entity, also of those that are gone, since they may come back. Values that were rolled
    back do not come back with them.
    """
    catalog = reading.reading_of(ENTITIES)
    found = catalog.filed_memories(AMENDED, gone=True) if catalog.size else ()
    every = {canonical_of(record): amendments_of(record) for record in found}
    changesets = {each.changeset for amendments in every.values() for each in amendments}
    promoting = filter(None, map(reading.changesets.one, changesets))
    ended = {each.id for each in promoting if each.state in ("failed", "rolled_back")}
    return {
        name: tuple(each for each in amendments if each.changeset not in ended)
        for name, amendments in every.items()
    }


def _amended(records: list[Record], amendments: Sequence[Amendment]) -> list[Record]:
    """The records of a model, with what people have promoted of it."""
    if not amendments:
        return records
    return list(records_of_model(model_in(records[0].document), records[0].fingerprint, amendments))


def _notes(source: "Source", plan: _Plan) -> Iterator[str]:
    """The notes of the source, and where it now says something else than what was promoted."""
    yield from source.notes()
    for record in (record for _, record in plan.changed if record.amendments):
        described = (
            datasource_in(record.document) if record.kind == "datasource" else model_in(record.document)
        )
        for each, _ in said_anew(described, record.amendments):
            what = " ".join(filter(None, (each.entity, each.field, each.key)))
            yield f"{what} was promoted, and its source has another value now: see it with `plan`."


def _read_as(datasource: Datasource, read_as: Mapping[str, Any]) -> Datasource:
    return replace(datasource, details={**datasource.details, READ_AS: read_as}) if read_as else datasource


def _homes(
    datasources: Sequence[Datasource],
    models: Iterable[str],
    origin: str,
    promoted: Mapping[str, Sequence[Amendment]],
) -> Iterator[Record]:
    by_home: dict[str, list[str]] = {}
    for name in sorted(models):
        home, _, model_name = name.partition(".")
        by_home.setdefault(home, []).append(model_name)
    for datasource in datasources:
        own = promoted.get(datasource.canonical, ())
        yield record_of_datasource(datasource, by_home.get(datasource.name, []), origin, own)


def _planned(
    catalog: Reading,
    models: Mapping[str, list[Record]],
    others: Iterable[Record],
    gone: Iterable[str],
    vanished: Iterable[str],
) -> _Plan:
    plan = _Plan()
    for name, records in models.items():
        _compare(plan, records, _here(catalog, name, has_parts=True))
    for name in sorted(gone):
        _compare(plan, [], _here(catalog, name, has_parts=True))
    for name in vanished:
        _compare(plan, [], _here(catalog, name))
    for record in others:
        _compare(plan, [record], _here(catalog, record.canonical))
    return plan


def priority_record(datasources: Sequence[str]) -> Record:
    """The tenant's own order of datasources, stored as a record that no search finds."""
    return Record(
        canonical=PRIORITY,
        kind="system",
        name="",
        text="The order of datasources.",
        hidden=True,
        document={"datasources": list(datasources)},
    )


def _compare(plan: _Plan, records: Iterable[Record], here: Mapping[str, Memory]) -> None:
    """Sort records into new, changed and gone."""
    listed = {record.canonical: record for record in records}
    plan.gone += [record for name, record in here.items() if name not in listed and record.is_live]
    for name, record in listed.items():
        known = here.get(name)
        if known is None:
            plan.new.append(record)
        elif any(getattr(known, field) != value for field, value in fields_of(record).items()):
            plan.changed.append((known, record))


def _here(catalog: Reading, canonical: str, *, has_parts: bool = False) -> dict[str, Memory]:
    """The record of an entity and those of its parts, including retired ones, which may come back."""
    if not catalog.size:
        return {}
    record = catalog.memory(record_id(canonical))
    parts = catalog.filed_memories(entity_facet("in", canonical), gone=True) if has_parts else []
    return {canonical_of(each): each for each in (*([record] if record else []), *parts)}


def _ask_for_vectors(store: Store, home: Home, now: datetime, embeds: bool) -> None:
    if embeds:
        with store.restoring(home) as restoring:
            restoring.jobs.add(EMBED, now)


def _lacks_vectors(store: Store, caller: Caller, now: datetime) -> bool:
    """Whether any memories lack vectors: those saved while there was no embedder have no job of their own."""
    with store.reading(caller, now) as reading:
        return reading.size > max((each.memories for each in reading.index.coverage()), default=0)


def _write(store: Store, caller: Caller, plan: _Plan, now: datetime, progress: Progress) -> None:
    done, change, catalog = 0, Change("ingest", caller.user, caller.actor, now), Home(caller.tenant, ENTITIES)
    if plan.gone:
        with store.writing(caller, now) as writing:
            retire(writing, plan.gone, change)
        progress("keeping entities", done := len(plan.gone), plan.size)
    for batch in _batches(sorted(plan.new, key=_parts_first)):
        with store.restoring(catalog) as restoring:
            # Another ingest may have added the same entities since they were read.
            if list(restoring.histories(catalog, [record_id(each.canonical) for each in batch])):
                raise overtaken()
            restoring.restore([first_history(record, catalog.tenant, change) for record in batch])
        progress("keeping entities", done := done + len(batch), plan.size)
    for some in _batches(sorted(plan.changed, key=lambda pair: _parts_first(pair[1]))):
        with store.writing(caller, now) as writing:
            for known, record in some:
                replace_record(writing.writing_of(ENTITIES), known, fields_of(record), change)
        progress("keeping entities", done := done + len(some), plan.size)
    store.update_statistics()


def _parts_first(record: Record) -> bool:
    return record.kind in ("datasource", "model", "system")


def _clean_up(
    store: Store, caller: Caller, roots: Sequence[str], gone: Iterable[Memory], now: datetime, dry_run: bool
) -> dict[str, tuple[str, ...]]:
    """Remove references to entities that are gone; returns which memory lost what."""
    known_gone = {canonical_of(record) for record in gone} if roots else frozenset()
    with store.reading(caller, now) as reading:
        lookup = StoredCatalog(reading)
        referred = [each for root in (*roots, MEMORY_PREFIX) for each in reading.references(root)]
        missing = [each for each in referred if each in known_gone or _is_missing(each, lookup)]
    if not missing:
        return {}
    with store.writing(caller, now) as writing:
        return writing.strip(missing, Change("strip", caller.user, caller.actor, now), dry_run=dry_run)


def _is_missing(reference: str, lookup: StoredCatalog) -> bool:
    """Whether an entity certainly does not exist. If the lookup fails, the reference stays, and the next ingest asks
    again.
    """
    try:
        return not probe(reference, lookup)
    except OnRecordError:
        return False


def _stale_queries(store: Store, caller: Caller, now: datetime) -> tuple[str, ...]:
    """The memories whose example query names entities that are gone; they are not changed."""
    stale = []
    with store.reading(caller, now) as reading:
        lookup, mark = StoredCatalog(reading), None
        while True:
            page, mark = reading.browse(MemoryFilter(has_query=True, limit=_BATCH, after=mark))
            for memory in page:
                reason = broken_query(memory, lookup)
                stale += [f"memory:{memory.id}: {reason}"] if reason else []
            if mark is None:
                return tuple(stale)


def _counted(records: Iterable[Record]) -> EntityChanges:
    """The counts of entities, without the record that holds the order of datasources."""
    return EntityChanges(**Counter(f"{each.kind}s" for each in records if each.canonical != PRIORITY))


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
