"""HOW does the catalog learn what there is? It compares what a source has with what it knows, and stores the
difference.

A model whose fingerprint is known is not read again. Everything is read before anything is written, so a source that
breaks off leaves the catalog as it was. The record of a model, which holds its fingerprint, is written after its
parts, so the next ingest repairs one that broke off. Entities that the source no longer has are retired with their
history and removed from the references of memories, which keep their text. The same holds for a whole datasource, if
the same source listed it before and names its datasources itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from onrecord.catalog.amendments import Amendment, amendments_of, said_anew
from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.queries import is_over_models, read_query
from onrecord.catalog.records import (
    GONE,
    HIDDEN,
    RECORD_VERSION,
    Record,
    canonical_of_id,
    datasource_in,
    entity_of,
    fields_of,
    model_in,
    record_id,
    record_of_datasource,
    records_of_model,
    samples_of,
    with_samples,
)
from onrecord.catalog.resolution import probe
from onrecord.catalog.stored import PRIORITY, StoredCatalog
from onrecord.errors import Conflict, Forbidden, Invalid, OnRecordError
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.catalog import MEMORY_PREFIX, Datasource, Model
from onrecord.model.collections import AMENDED, ENTITIES, Home, entity_facet
from onrecord.model.memory import Change, Memory, Version
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.operation import Call, Progress, operation
from onrecord.store.ports.archive import MemoryHistory
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.jobs import EMBED
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.store import Store

if TYPE_CHECKING:
    from onrecord.catalog.sources import Source


@dataclass(frozen=True, slots=True)
class Ingest(Request):
    """Read what there is into the catalog: from model files, a store of models, a live database, the files that dbt
    writes, or DataHub.

    The kind of source is recognised by looking at it. Ingesting again takes in what has changed; entities that are no
    longer there are retired, and removed from the references of memories, which keep their text.
    """

    path: str = ask(
        rules.Text(at_least=1, at_most=4_096),
        "A folder of model files, a manifest.json of dbt or its folder, a SQLite file (a store of models, or any "
        "database), the URL of a database, or `datahub` for the DataHub of the settings.",
        positional=True,
    )
    datasource: str | None = ask(MAYBE_NAME, "What to call the datasource; else its own name.", None)
    schema: str | None = ask(MAYBE_NAME, "Which schema of a database; else its default.", None)
    sample_values: int = ask(
        rules.Integer(0, 100),
        "Take so many example values of each column; without it, earlier ones stay.",
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

    if call.terms.sources is not None and ask.path not in call.terms.sources:
        # The server reads a path or address with its own rights, not with those of the caller.
        raise Forbidden(
            "Only the sources that this server was set up with (ONRECORD_SOURCES) can be read from here. Others are read at "
            "the machine, by `onrecord ingest`."
        )
    source = open_source(
        ask.path,
        datasource=ask.datasource,
        schema=ask.schema,
        sample_values=ask.sample_values,
        datahub=call.terms.datahub,
    )
    ingested = _ingested(call, source, ask.dry_run)
    if not ask.dry_run:
        # Not the path: the address of a database may hold its password.
        call.note("ingest", ask.datasource)
    return ingested


def _ingested(call: Call, source: "Source", dry_run: bool) -> Ingested:
    store, caller, now, progress = call.store, call.caller, call.now, call.progress
    embeds = call.embedders.current is not None
    datasources = source.datasources()
    fingerprints = {name: f"{RECORD_VERSION}.{each}" for name, each in source.fingerprints().items()}
    roots = [datasource.name for datasource in datasources]
    with call.reading() as reading:
        vanished = _vanished(reading.reading_of(ENTITIES), source.origin, roots)
        known = _known_models(reading.reading_of(ENTITIES), [*roots, *vanished])
    still_known = _still_known(source, {name: known[name] for name in known.keys() - fingerprints.keys()})
    vanished = [name for name in vanished if not any(each.startswith(f"{name}.") for each in still_known)]
    models = _differing(source, fingerprints, known, progress)
    hidden = {name for name, model in known.items() if model.hidden and name not in models}
    hidden |= {name for name, (model, *_) in models.items() if model.hidden}
    priority, there = source.priority(), fingerprints.keys() | still_known
    with call.reading() as reading:
        catalog = reading.reading_of(ENTITIES)
        # Read with what is there now, so that a value that was promoted meanwhile is not written over.
        promoted = _promoted(reading)
        others = list(_homes(datasources, there - hidden, source.origin or "", promoted))
        if priority is not None:
            others.append(priority_record(priority))
        models = {name: _amended(records, promoted.get(name, ())) for name, records in models.items()}
        plan = _planned(catalog, models, others, known.keys() - there, vanished)
    stale = tuple[str, ...]()
    if not dry_run:
        if plan.size:
            # Asked for twice: a worker may finish before everything is written, and an ingest may fail halfway.
            _ask_for_vectors(store, Home(caller.tenant, ENTITIES), now, embeds)
            _write(store, caller, plan, now, progress)
            _ask_for_vectors(store, Home(caller.tenant, ENTITIES), now, embeds)
        _ask_for_vectors(store, Home(caller.tenant), now, embeds and _lacks_vectors(store, caller, now))
    lost = _clean_up(store, caller, [*roots, *vanished], plan.gone, now, dry_run)
    if not dry_run:
        stale = _stale_queries(store, caller, now)
    return Ingested(
        source=source.kind,
        location=source.location,
        added=_counted(plan.added),
        changed=_counted(record for known, record in plan.changed if known.is_live),
        gone=EntityChanges(**Counter(f"{entity_of(record)['kind']}s" for record in plan.gone)),
        gone_entities=tuple(islice(_topmost(map(_canonical, plan.gone)), _MOST_NAMED)),
        stripped=len(lost),
        lost=tuple(
            LostReferences(memory=id, entities=entities) for id, entities in islice(lost.items(), _MOST_NAMED)
        ),
        stale_queries=stale,
        notes=tuple(_notes(source, plan)),
        dry_run=dry_run,
    )


def _topmost(names: Iterable[str]) -> Iterator[str]:
    """The names in order, without those that lie inside another of them."""
    every = set(names)
    for name in sorted(every):
        datasource, *rest = name.split(".", 2)
        if not rest or not every & {datasource, *([f"{datasource}.{rest[0]}"] if len(rest) > 1 else [])}:
            yield name


class _KnownModel(NamedTuple):
    """What we must know of a model before we decide whether to read it again."""

    fingerprint: str
    hidden: bool
    samples: Mapping[str, Any]
    aliases: tuple[str, ...]

    def is_told_by(self, fingerprint: str, *, but_for_samples: bool) -> bool:
        """Whether the model still has this fingerprint. Ours may also have samples, which this one lacks."""
        known = self.fingerprint
        return known == fingerprint or (but_for_samples and known.startswith(f"{fingerprint}."))

    def kept_by(self, model: Model, fingerprint: str) -> tuple[Model, str]:
        """A changed model and its fingerprint, with the samples of an earlier ingest."""
        if not self.samples:
            return model, fingerprint
        _, _, *of_samples = self.fingerprint.split(".")
        return with_samples(model, self.samples), ".".join([fingerprint, *of_samples])


def _vanished(catalog: Reading, origin: str | None, roots: Sequence[str]) -> list[str]:
    """The datasources that this source listed before and no longer lists."""
    if origin is None:
        return []
    every = catalog.filed_memories(entity_facet("is", "datasource"))
    told = [_canonical(record) for record in every if entity_of(record).get("origin") == origin]
    return sorted(set(told).difference(roots))


def _known_models(catalog: Reading, datasources: Sequence[str]) -> dict[str, _KnownModel]:
    inside = chain.from_iterable(catalog.filed_memories(entity_facet("in", name)) for name in datasources)
    return {
        _canonical(record): _KnownModel(
            entity_of(record).get("fingerprint", ""),
            record.status_reason == HIDDEN,
            samples_of(record),
            record.entities[1:],
        )
        for record in inside
    }


def _still_known(source: "Source", missing: Mapping[str, _KnownModel]) -> Set[str]:
    """Of the models that a source does not list, those that are not certainly gone. It is asked while no connection is
    held.
    """
    from onrecord.catalog.sources import LaggingSource

    if not missing or not isinstance(source, LaggingSource):
        return frozenset()
    return source.still_known({name: model.aliases for name, model in missing.items()})


def _differing(
    source: "Source", fingerprints: Mapping[str, str], known: Mapping[str, _KnownModel], progress: Progress
) -> dict[str, list[Record]]:
    """The records of each model that is new or changed, read while no database connection is held."""
    wanted = {
        name
        for name, fingerprint in fingerprints.items()
        if name not in known or not known[name].is_told_by(fingerprint, but_for_samples=source.leaves_samples)
    }
    read = {}
    for number, model in enumerate(source.models(wanted) if wanted else (), 1):
        name, fingerprint = model.canonical, fingerprints[model.canonical]
        if source.leaves_samples and name in known:
            model, fingerprint = known[name].kept_by(model, fingerprint)
        read[name] = list(records_of_model(model, fingerprint))
        progress("reading models", number, len(wanted))
    return read


def _promoted(reading: Reading) -> dict[str, tuple[Amendment, ...]]:
    """What people have promoted of each entity, also of those that are gone: they may come back. What was taken or rolled
    back does not come back with them.
    """
    catalog = reading.reading_of(ENTITIES)
    found = catalog.filed_memories(AMENDED, gone=True) if catalog.size else ()
    every = {_canonical(record): amendments_of(record) for record in found}
    changesets = {each.changeset for amendments in every.values() for each in amendments}
    told = filter(None, map(reading.changesets.one, changesets))
    ended = {each.id for each in told if each.state in ("failed", "rolled_back")}
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
        told = datasource_in(record.document) if record.kind == "datasource" else model_in(record.document)
        for each, _ in said_anew(told, record.amendments):
            what = " ".join(filter(None, (each.entity, each.field, each.key)))
            yield f"{what} was promoted, and its source now says something else: see it with `plan`."


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
    told = {record.canonical: record for record in records}
    plan.gone += [record for name, record in here.items() if name not in told and record.is_live]
    for name, record in told.items():
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
    return {_canonical(each): each for each in (*([record] if record else []), *parts)}


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
                raise _overtaken()
            restoring.restore([_history(record, catalog.tenant, change) for record in batch])
        progress("keeping entities", done := done + len(batch), plan.size)
    for some in _batches(sorted(plan.changed, key=lambda pair: _parts_first(pair[1]))):
        with store.writing(caller, now) as writing:
            for known, record in some:
                _replace(writing.writing_of(ENTITIES), known, fields_of(record), change)
        progress("keeping entities", done := done + len(some), plan.size)
    store.settle()


def _parts_first(record: Record) -> bool:
    return record.kind in ("datasource", "model", "system")


def retire(writing: Writing, records: Iterable[Memory], change: Change) -> None:
    """Retire entities; their history stays."""
    for record in records:
        valid_to = max(change.at, record.valid_from)
        gone: dict[str, Any] = {"status": "archived", "status_reason": GONE, "valid_to": valid_to}
        _replace(writing.writing_of(ENTITIES), record, gone, change)


def _replace(catalog: Writing, known: Memory, changes: Mapping[str, Any], change: Change) -> None:
    if catalog.target(known.id).version != known.version:
        raise _overtaken()
    catalog.replace(known, replace(known, **changes, updated_at=change.at), change)


def _overtaken() -> Conflict:
    return Conflict("Someone else changed the catalog during this ingest. Ingest once more.")


def keep(writing: Writing, record: Record, change: Change) -> None:
    """Store one entity as the source describes it, inside a larger transaction."""
    catalog = writing.writing_of(ENTITIES)
    known = catalog.memory(record_id(record.canonical))
    if known is None:
        catalog.add(_memory(record, "", change), change)
    else:
        catalog.replace(known, replace(known, **fields_of(record), updated_at=change.at), change)


def rewritten(catalog: Writing, record: Record, change: Change) -> Memory | None:
    """Store the record of an entity anew inside a larger transaction; None if nothing of it changes. One that is gone
    stays gone.
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


def _history(record: Record, tenant: str, change: Change) -> MemoryHistory:
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


def _clean_up(
    store: Store, caller: Caller, roots: Sequence[str], gone: Iterable[Memory], now: datetime, dry_run: bool
) -> dict[str, tuple[str, ...]]:
    """Remove references to entities that are gone; returns which memory lost what."""
    known_gone = {_canonical(record) for record in gone}
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
                reason = staleness(memory, lookup)
                stale += [f"memory:{memory.id}: {reason}"] if reason else []
            if mark is None:
                return tuple(stale)


def staleness(memory: Memory, lookup: StoredCatalog) -> str | None:
    """Why the example query of a memory no longer fits the catalog, or None."""
    if not is_over_models(memory.query):
        return None
    try:
        entities_of_query(read_query(memory.query), lookup, known=memory.entities)
    except Invalid as problem:
        return str(problem)
    return None


def _canonical(record: Memory) -> str:
    return canonical_of_id(record.id) or str(entity_of(record)["canonical"])


def _counted(records: Iterable[Record]) -> EntityChanges:
    """The counts of entities, without the record that holds the order of datasources."""
    return EntityChanges(**Counter(f"{each.kind}s" for each in records if each.canonical != PRIORITY))


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
