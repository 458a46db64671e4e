"""WHICH memories would a change of the catalog make stale? The watcher's check, run against a planned catalog. Nothing
is changed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from onrecord.catalog.amendments import Amendment, amendments_of, said_anew
from onrecord.catalog.ddl import differing, models_after, read_migration, without_way_back
from onrecord.catalog.ingest import allowed_source
from onrecord.catalog.judging import JudgedMemory, Pasts, gathered
from onrecord.catalog.planned import PlannedCatalog
from onrecord.catalog.records import canonical_of, model_in, model_of
from onrecord.catalog.source_comparison import compared
from onrecord.catalog.stored import StoredCatalog
from onrecord.errors import Fault, invalid
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.catalog import Model
from onrecord.model.collections import AMENDED, ENTITIES
from onrecord.model.memory import Memory
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.model.rules import Choice, OrNone
from onrecord.operation import Call, operation
from onrecord.store.ports.records import Reading

ImpactFormat = Literal["plain", "markdown"]
_MOST_LISTED: Final = 1_000
_MIGRATION: Final = ".sql"
_MARKS: Final = re.compile(r"[\\`*_\[\]|~#!]")


@dataclass(frozen=True, slots=True)
class Impact(Request):
    """Say which memories, example queries and amendments a change of tables would make stale, before it is made.

    The change is what a source now says: a folder of model files, a manifest.json of dbt or its folder, a database; or a
    SQL migration, whose DDL is played on the models that the catalog knows. Nothing is changed.
    """

    path: str | None = ask(
        OrNone(rules.Text(at_least=1, at_most=4_096)),
        "Where the change is: what `ingest` takes, or a file of SQL that ends in .sql.",
        None,
        positional=True,
    )
    sql: str | None = ask(
        OrNone(rules.Text(at_least=1, at_most=limits.DOCUMENT_CHARACTERS)), "Instead: the SQL itself.", None
    )
    datasource: str | None = ask(
        MAYBE_NAME, "What the datasource is called; of SQL, whose tables it changes.", None
    )
    schema: str | None = ask(MAYBE_NAME, "The schema of a database; its default one if left out.", None)
    format: ImpactFormat = ask(
        Choice(("plain", "markdown")), "markdown adds the answer as a comment for a pull request.", "plain"
    )

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if (self.path is None) == (self.sql is None):
            yield Fault("path", "give either a path or the SQL of a migration")


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldGoStale(Answer):
    """A memory that would go stale, why, and whom to ask."""

    memory: str
    title: str
    owner: str
    reason: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleAmendment(Answer):
    """A promoted value that would lose its place, or that the source would contradict; and who approved it."""

    entity: str
    field: str
    key: str | None
    owner: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Impacted(Answer):
    """What a change would make stale, as far as the caller sees it; each list holds the first thousand.

    `unread` are statements of a migration that were not understood. `healthy` says that nothing would go stale and
    everything was understood.
    """

    location: str
    memories: tuple[WouldGoStale, ...]
    example_queries: tuple[WouldGoStale, ...]
    amendments: tuple[StaleAmendment, ...]
    total: int
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    healthy: bool = True
    markdown: str | None = None


class _Change(NamedTuple):
    """A catalog that is not there yet, as far as it differs."""

    location: str
    models: Mapping[str, Model | None]
    gone_datasources: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@operation("read", "memory.read", "POST /impact")
def impact(call: Call, ask: Impact) -> Impacted:
    """Judge the memories about things that would differ, by the planned catalog."""
    change = _of_migration(call, ask) if _is_migration(ask) else _of_source(call, ask)
    stale = list(_judged(call, change))
    with call.reading() as reading:
        amendments = tuple(_stale_amendments(reading, change))
    would = [_would(each) for each in stale if each.memory.query is None]
    queries = [_would(each) for each in stale if each.memory.query is not None]
    total = len(stale) + len(amendments)
    answer = Impacted(
        location=change.location,
        memories=tuple(would[:_MOST_LISTED]),
        example_queries=tuple(queries[:_MOST_LISTED]),
        amendments=amendments[:_MOST_LISTED],
        total=total,
        unread=change.unread,
        notes=change.notes,
        healthy=not total and not change.unread,
    )
    if ask.format == "plain":
        return answer
    return replace(answer, markdown="\n".join(_markdown(answer)) + "\n")


def _markdown(answer: Impacted) -> Iterator[str]:
    """The answer as a comment for a pull request. What others wrote is escaped: it must not mention or link."""
    yield "## Memories that this change would make stale" if answer.total else "## No memory would go stale"
    lists = (("Memories", answer.memories), ("Example queries", answer.example_queries))
    for heading, stale in lists:
        if stale:
            yield from ("", f"### {heading} ({len(stale)})", "", "| memory | owner | why |", "|---|---|---|")
            yield from (
                f"| {escaped(f'{each.memory}: {each.title}')} | {escaped(each.owner)} | {escaped(each.reason)} |"
                for each in stale
            )
    if answer.amendments:
        yield from (
            "",
            f"### Promoted values ({len(answer.amendments)})",
            "",
            "| value | approved by | why |",
        )
        yield "|---|---|---|"
        for one in answer.amendments:
            value = " ".join(filter(None, (one.entity, one.field, one.key)))
            yield f"| {escaped(value)} | {escaped(one.owner or '')} | {escaped(one.reason)} |"
    for heading, lines in (("Not understood, so not judged", answer.unread), ("Notes", answer.notes)):
        if lines:
            yield from ("", f"### {heading}", "", *(f"- {escaped(line)}" for line in lines))


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A name after @ would be notified by the site that shows this text, so an invisible character separates the two.
    return _MARKS.sub(r"\\\g<0>", plain).replace("@", "@\u2060")


def _is_migration(ask: Impact) -> bool:
    return ask.sql is not None or Path(ask.path or "").suffix.lower() == _MIGRATION


def _of_migration(call: Call, ask: Impact) -> _Change:
    if ask.sql is not None:
        location, sql = "the given SQL", ask.sql
    else:
        location, sql = ask.path or "", _read(Path(_allowed(call, ask)).expanduser())
    forth = without_way_back(sql)
    statements = read_migration(forth)
    with call.reading() as reading:
        lookup = StoredCatalog(reading)
        if ask.datasource is not None and ask.datasource not in lookup.datasources():
            raise invalid("datasource", f"{ask.datasource!r} is not in the catalog; ingest it first")
        models, unread = models_after(statements, lookup, lookup.tables(), ask.datasource)
        models = {name: models[name] for name in differing(models, lookup)}
    notes = () if forth == sql else ("the part of the file that undoes the migration was left out",)
    return _Change(location, models, unread=unread, notes=notes)


def _allowed(call: Call, ask: Impact) -> str:
    """The path, if the caller may have it read: what `ingest` allows, and to whom, where a server reads it for them."""
    assert ask.path is not None
    path = allowed_source(call, ask.path)
    if call.policy.sources is not None:
        call.caller.require("memory.admin")
    return path


def _read(path: Path) -> str:
    # Here, not above: sources load a library for databases, which `--help` does without.
    from onrecord.catalog.sources.regular_files import read_regular

    try:
        return read_regular(path).decode()
    except OSError as problem:
        raise invalid(str(path), f"cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise invalid(str(path), f"is not UTF-8 ({problem.reason}); convert it first") from None


def _of_source(call: Call, ask: Impact) -> _Change:
    from onrecord.catalog.sources import open_source

    source = open_source(
        _allowed(call, ask), datasource=ask.datasource, schema=ask.schema, datahub=call.policy.datahub
    )
    beside = compared(call, source)
    models: dict[str, Model | None] = dict.fromkeys(beside.gone)
    models |= {name: model_in(records[0].document) for name, records in beside.models.items()}
    notes = tuple(source.notes())
    return _Change(source.location, models, frozenset(beside.vanished), notes=notes)


def _judged(call: Call, change: _Change) -> Iterator[JudgedMemory]:
    """The active memories that the caller sees and that would go stale."""
    tenant, pasts = call.caller.tenant, Pasts(call.store, call.caller.tenant)
    changed = [*change.models, *change.gone_datasources]
    pasts.load(changed)
    with call.reading() as reading:
        found = pasts.memories_about(reading, changed)
    active = [memory for memory in found if memory.status == "active"]
    for evidence in gathered(call.store, tenant, active, pasts):
        with call.reading() as reading:
            stored = StoredCatalog(reading)
            stored.load(evidence.subjects)
            planned = PlannedCatalog(
                stored=stored, models=change.models, gone_datasources=change.gone_datasources
            )
            stale = [each for each in evidence.judged(planned, dated=False) if each.reason is not None]
        yield from stale


def _would(each: JudgedMemory) -> WouldGoStale:
    memory = each.memory
    return WouldGoStale(
        memory=memory.id,
        title=memory.title,
        owner=memory.owner,
        reason=each.reason or "",
        entities=memory.entities,
    )


def _stale_amendments(reading: Reading, change: _Change) -> Iterator[StaleAmendment]:
    catalog = reading.reading_of(ENTITIES)
    for record in catalog.filed_memories(AMENDED):
        canonical = canonical_of(record)
        if canonical in change.models or canonical in change.gone_datasources:
            yield from _amendments_of(record, change.models.get(canonical))


def _amendments_of(record: Memory, planned: Model | None) -> Iterator[StaleAmendment]:
    """What would happen to the amendments of a model that is changed or removed."""
    promoted: Sequence[Amendment] = amendments_of(record)
    if planned is None:
        yield from (_amendment(each, f"{canonical_of(record)} would be gone") for each in promoted)
        return
    before = {each.cell for each, _ in said_anew(model_of(record), promoted)}
    anew = {each.cell for each, _ in said_anew(planned, promoted)} - before
    for each in promoted:
        part = each.entity.removeprefix(planned.canonical).removeprefix(".")
        if part and planned.part(part) is None:
            yield _amendment(each, f"{each.entity} would be gone")
        elif each.cell in anew:
            yield _amendment(each, "its source would have another value than when it was promoted")


def _amendment(each: Amendment, reason: str) -> StaleAmendment:
    return StaleAmendment(
        entity=each.entity, field=each.field, key=each.key, owner=each.approved_by, reason=reason
    )
