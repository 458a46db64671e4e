"""WHICH memories have gone stale? Those about something that has changed since someone last stated that they are true.

Histories show what was known then: those of entities their state, and those of memories when each was last written,
revised, approved or verified. They are read in batches, so the cost depends on what is judged, not on the store's
size.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.catalog.lookup import Lookup
from onrecord.catalog.records import canonical_of, entity_of, model_of, record_id
from onrecord.catalog.staleness import Finding, SubjectState, reason_of, staleness
from onrecord.model.catalog import SYSTEM_PREFIX, Model, Part
from onrecord.model.collections import ENTITIES, Home, entity_facet
from onrecord.model.memory import Memory, Version
from onrecord.store.index.entries import reference_facet
from onrecord.store.ports.archive import MemoryHistory
from onrecord.store.ports.records import Reading
from onrecord.store.ports.store import Store

#: What the watcher's changes are called in a history, and what accepting a rename is.
STALE: Final = "stale"
ACTIVE_AGAIN: Final = "active again"
RENAME: Final = "rename"
#: Changes that say nothing about whether a memory is still true.
_MECHANICAL: Final = frozenset(
    {STALE, ACTIVE_AGAIN, RENAME, "strip", "forget", "apply", "roll_back", "check"}
)
#: A change of one of these restates the memory.
_STATED_FIELDS: Final = (
    "title",
    "hint",
    "content",
    "dimension",
    "entities",
    "query",
    "approved_at",
    "status",
)
#: How many memories are judged at a time.
BATCH: Final = 500
Item = TypeVar("Item")


class JudgedMemory(NamedTuple):
    """A memory, what changed under it, and whether it is the watcher who holds it to be stale."""

    memory: Memory
    findings: tuple[Finding, ...]
    reason: str | None
    is_marked: bool


class Past:
    """What the catalog knew of one datasource, model or system, and since when."""

    def __init__(self, versions: Sequence[Version]) -> None:
        self._versions = versions
        self._models: dict[int, Model] = {}

    @property
    def canonical(self) -> str:
        return canonical_of(self._versions[-1].memory)

    @property
    def names(self) -> Iterator[str]:
        """Its own name, and those of all parts that it ever had."""
        yield self.canonical
        yield from dict.fromkeys(
            f"{model.canonical}.{part.name}"
            for version in self._versions
            if (model := self._subject(version).model)
            for part in model.parts
        )

    @property
    def is_new(self) -> bool:
        return len(self._versions) == 1

    def then(self, moment: datetime) -> SubjectState:
        """As it was known at a time; or, if nothing was known of it then, as it was first known after that."""
        here = [each for each in self._versions if each.until is None or each.until > moment]
        return next((found for each in here if (found := self._subject(each)).is_there), SubjectState(False))

    def part_since(self, moment: datetime, name: str) -> Part | None:
        """A part as it was first known at a time or after it."""
        for version in self._versions:
            model = self._subject(version).model
            if (version.until is None or version.until > moment) and model and model.part(name):
                return model.part(name)
        return None

    def since(self, finding: Finding) -> datetime | None:
        """Since when it has been so without a break."""
        began = None
        for version in reversed(self._versions):
            if not finding.holds(self._subject(version)):
                break
            began = version.at
        return began

    def _subject(self, version: Version) -> SubjectState:
        record = version.memory
        if not record.is_live or entity_of(record)["kind"] != "model":
            return SubjectState(record.is_live)
        if version.number not in self._models:
            self._models[version.number] = model_of(record)
        return SubjectState(True, self._models[version.number])


class Pasts:
    """The pasts of what memories of a tenant are about, read as they are needed."""

    def __init__(self, store: Store, tenant: str) -> None:
        self._store, self._home = store, Home(tenant, ENTITIES)
        self._known: dict[str, Past | None] = {}

    def load(self, names: Iterable[str]) -> None:
        """Read those that are not known yet."""
        missing = [name for name in dict.fromkeys(names) if name not in self._known]
        self._known |= dict.fromkeys(missing)
        for some in in_batches(missing):
            with self._store.archive() as archive:
                for history in archive.histories(self._home, [record_id(name) for name in some]):
                    past = Past(history.versions)
                    self._known[past.canonical] = past

    def memories_about(self, reading: Reading, changed: Sequence[str]) -> list[Memory]:
        """The memories about things that changed and were loaded, or any part that they ever had. A new model may also
        make the names of others ambiguous.
        """
        names, new = dict.fromkeys(changed), list[str]()
        for name in changed:
            past = self._known.get(name)
            names |= dict.fromkeys(past.names if past else ())
            new += [name.partition(".")[2]] if past is None or past.is_new else []
        namesakes = [entity_facet("model", name) for name in new if name]
        names |= dict.fromkeys(map(canonical_of, reading.reading_of(ENTITIES).filed_under(namesakes)))
        return reading.filed_under(list(map(reference_facet, names)))

    def then(self, memory: Memory, moment: datetime, ranked: tuple[str, ...]) -> HeldCatalog:
        """The catalog at a time, as far as a memory names it."""
        models, systems, datasources = dict[str, Model](), set[str](), set[str]()
        for name in memory.entities:
            record, part = _record_of(name)
            past = self._known.get(record)
            known = past.then(moment) if past else SubjectState(False)
            if past is None or not known.is_there:
                continue
            if known.model is not None:
                models.setdefault(record, known.model)
                models[record] = _with_part(models[record], past.part_since(moment, part) if part else None)
            elif record.startswith(SYSTEM_PREFIX):
                systems.add(record.removeprefix(SYSTEM_PREFIX))
            else:
                datasources.add(record)
        return HeldCatalog(
            models=tuple(models.values()),
            more_datasources=tuple(datasources),
            ranked=ranked,
            systems=frozenset(systems),
        )

    def since(self, finding: Finding) -> datetime | None:
        past = self._known.get(finding.record)
        return None if past is None else past.since(finding)


def in_batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


class MemoryEvidence(NamedTuple):
    """Some memories with their histories, and the pasts of what they are about."""

    memories: Sequence[Memory]
    histories: Mapping[str, MemoryHistory]
    pasts: Pasts

    @property
    def subjects(self) -> list[str]:
        """The names of the records that describe the memories' subjects."""
        named = (_record_of(name)[0] for memory in self.memories for name in memory.entities)
        return list(dict.fromkeys(named))

    def judged(self, now: Lookup, *, dated: bool = True) -> Iterator[JudgedMemory]:
        """Judge them by a catalog: the present one, or one that is not there yet, whose changes have no dates."""
        for memory in self.memories:
            if memory.id in self.histories:
                findings = staleness(memory, self.then(memory, now), now)
                reason = reason_of(findings, self.pasts.since if dated else _undated) if findings else None
                yield JudgedMemory(memory, findings, reason, _is_marked(self.histories[memory.id]))

    def then(self, memory: Memory, now: Lookup) -> HeldCatalog:
        """The catalog as it was known when a memory was last stated; datasources rank as they do now."""
        return self.pasts.then(memory, _last_stated(self.histories[memory.id]), now.priority())


def gathered(store: Store, tenant: str, memories: Sequence[Memory], pasts: Pasts) -> Iterator[MemoryEvidence]:
    """What is needed to judge memories of a tenant, some at a time, read while no other connection is held."""
    for some in in_batches(memories):
        pasts.load(_record_of(name)[0] for memory in some for name in memory.entities)
        with store.archive() as archive:
            found = archive.histories(Home(tenant), [memory.id for memory in some])
            histories = {history.id: history for history in found}
        yield MemoryEvidence(some, histories, pasts)


def _undated(finding: Finding) -> None:
    return None


def _record_of(name: str) -> tuple[str, str | None]:
    """The name of the record that describes a reference, and of its part if it is one of a model."""
    if ":" in name.split(".", 1)[0]:
        return name, None
    datasource, *rest = name.split(".", 2)
    return ".".join([datasource, *rest[:1]]), rest[1] if len(rest) > 1 else None


def _with_part(model: Model, part: Part | None) -> Model:
    if part is None or model.part(part.name):
        return model
    return replace(model, parts=(*model.parts, part))


def _last_stated(history: MemoryHistory) -> datetime:
    """When the memory's content was last written, revised, approved or verified."""
    first = history.versions[0]
    stated = [first.at, *_verified(first)]
    for before, after in pairwise(history.versions):
        is_stated = any(
            getattr(before.memory, name) != getattr(after.memory, name) for name in _STATED_FIELDS
        )
        if is_stated and after.change not in _MECHANICAL:
            stated.append(after.at)
        if before.memory.verified_at != after.memory.verified_at:
            stated += _verified(after)
    return max(stated)


def _verified(version: Version) -> Iterator[datetime]:
    """When someone checked it, by their own statement; never later than that statement."""
    if version.memory.verified_at is not None:
        yield min(version.memory.verified_at, version.at)


def _is_marked(history: MemoryHistory) -> bool:
    """Whether it is the watcher who made the memory stale, or said why it is after a check had found it broken."""
    if history.versions[-1].memory.status != "stale":
        return False
    for before, after in reversed(list(pairwise(history.versions))):
        if after.change == STALE:
            return True
        if before.memory.status != "stale":
            return False
    return False
