"""HOW do memories follow a column that was renamed? They wait as stale with the likely new name; a person accepts it for
all of them at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, NamedTuple

from onrecord.catalog.amendments import amendments_of
from onrecord.catalog.judging import RENAME, JudgedMemory, MemoryEvidence, Pasts, gathered
from onrecord.catalog.known_names import once_there
from onrecord.catalog.lookup import Lookup
from onrecord.catalog.resolution import Unresolved, resolve
from onrecord.catalog.rewriting import why_not, with_new_names
from onrecord.catalog.staleness import LASTING, Finding, reason_of
from onrecord.catalog.stored import StoredCatalog
from onrecord.errors import Fault, Invalid, invalid
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.ids import is_global
from onrecord.model.memory import Memory, unproven
from onrecord.model.request import Request, ask
from onrecord.model.rules import ListOf, OrNone
from onrecord.operation import Call, operation
from onrecord.store.index.entries import reference_facet
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.records import Writing

_MOST_NAMED: Final = 100


@dataclass(frozen=True, slots=True)
class ListRenames(Request):
    """List the columns that were perhaps renamed, and the stale memories that wait for the new name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite(Answer):
    """The example query of a memory as it would be with all new names, or why it cannot be rewritten."""

    memory: str
    query: Mapping[str, Any] | str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename(Answer):
    """A column that is gone, the one that it may be now, and the memories that would follow; the first hundred. `rewrites` are
    the example queries of these, if they are still to be accepted.
    """

    entity: str
    to: str
    why: str
    memories: tuple[str, ...]
    total: int
    rewrites: tuple[Rewrite, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRenames(Answer):
    """The renames that wait for a person, by name."""

    renames: tuple[Rename, ...]


@dataclass(frozen=True, slots=True)
class AcceptRenames(Request):
    """Accept that columns were renamed: the stale memories about them get the new name, also in their example queries,
    and are active again if nothing else has changed.

    Without a name, all renames that wait are accepted.
    """

    entities: Sequence[str] = ask(
        ListOf(rules.Reference(), at_most=limits.ENTITIES), "Only these columns, by their old names.", ()
    )
    to: str | None = ask(
        OrNone(rules.Reference()), "What the one column is called now, if it is not what was proposed.", None
    )

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.to is not None and len(self.entities) != 1:
            yield Fault("to", "is the new name of one column; name exactly one under entities")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStale(Answer):
    """A memory that stays stale, and why."""

    memory: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAmendment(Answer):
    """A promoted value of the old column. It does not follow, since its changeset must still be able to take it back."""

    entity: str
    field: str
    key: str | None
    to: str
    approved_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRenames(Answer):
    """The renames that were accepted, how many memories followed, those that are still stale, and promoted values that are
    left with the old column: propose them for the new one.
    """

    renames: tuple[Rename, ...]
    changed: int
    kept: tuple[KeptStale, ...] = ()
    left: tuple[LeftAmendment, ...] = ()


@operation("read", "memory.read", "GET /renames")
def renames(call: Call, ask: ListRenames) -> ListedRenames:
    waiting = {each.judged.memory.id: each for each in _waiting(call)}
    listed = _grouped(_proposed(list(waiting.values())))
    with call.reading() as reading:
        lookup = StoredCatalog(reading)
        rewrites = {
            id: _rewrite(waiting[id], lookup)
            for id in dict.fromkeys(id for each in listed for id in each.memories)
            if waiting[id].judged.memory.query is not None
        }
    return ListedRenames(
        renames=tuple(
            replace(each, rewrites=tuple(rewrites[id] for id in each.memories if id in rewrites))
            for each in listed
        )
    )


def _rewrite(waiting: "_Waiting", lookup: Lookup) -> Rewrite:
    memory = waiting.judged.memory
    try:
        after = with_new_names(memory, waiting.names, waiting.evidence.then(memory, lookup), lookup)
    except Invalid as problem:
        return Rewrite(memory=memory.id, problem=why_not(problem))
    return Rewrite(memory=memory.id, query=after.query)


@operation("write", "memory.review", "POST /renames")
def accept_renames(call: Call, ask: AcceptRenames) -> AcceptedRenames:
    """Let every memory that the caller sees follow; each in the state in which it was looked at, else at the next try."""
    call.caller.require_person("Accepting a rename")
    ask = _in_full(call, ask)
    waiting = list(_waiting(call, ask))
    if ask.entities and (missing := set(ask.entities) - {each.old for each in _proposed(waiting)}):
        raise invalid(
            "entities", f"no stale memory that you see waits for a new name of {', '.join(sorted(missing))}"
        )
    kept, followed = list[KeptStale](), list[_Waiting]()
    with call.writing() as writing:
        for each in waiting:
            try:
                _follow(call, writing, each)
            except Invalid as problem:
                kept.append(KeptStale(memory=each.judged.memory.id, reason=why_not(problem)))
            else:
                followed.append(each)
        _follow_by_name(call, writing, followed)
        accepted = AcceptedRenames(
            renames=_grouped(_proposed(followed)),
            changed=len(followed),
            kept=tuple(kept[:_MOST_NAMED]),
            left=tuple(islice(_left(writing, _new_names(followed)), _MOST_NAMED)),
        )
        return call.done(writing, accepted)


def _in_full(call: Call, ask: AcceptRenames) -> AcceptRenames:
    """The request with columns as the catalog calls them, or called them."""
    if not ask.entities:
        return ask
    with call.reading() as reading:
        lookup = StoredCatalog(reading)
        old = tuple(once_there(each, lookup) for each in ask.entities)
        try:
            return replace(ask, entities=old, to=ask.to and resolve(ask.to, lookup).canonical)
        except Unresolved:
            raise invalid("to", f"{ask.to!r} is not in the catalog") from None


class _Waiting(NamedTuple):
    """A stale memory, what it waits for, and what it was judged by."""

    judged: JudgedMemory
    #: The new names of columns, by their old ones.
    names: Mapping[str, str]
    evidence: MemoryEvidence


class _Proposed(NamedTuple):
    """One rename that one memory waits for."""

    old: str
    new: str
    why: str
    memory: str


def _waiting(call: Call, ask: AcceptRenames | None = None) -> Iterator[_Waiting]:
    """The stale memories that the caller sees and that name, or are about a model with, a column that was renamed."""
    only = None if ask is None or not ask.entities else set(ask.entities)
    pasts = Pasts(call.store, call.caller.tenant)
    for evidence in gathered(call.store, call.caller.tenant, _stale(call), pasts):
        with call.reading() as reading:
            judged = list(evidence.judged(StoredCatalog(reading)))
        for each in judged:
            names = dict(_names(each.findings, None if ask is None else ask.to, only))
            if each.is_marked and names:
                yield _Waiting(each, names, evidence)


def _stale(call: Call) -> list[Memory]:
    found, mark = list[Memory](), None
    while True:
        with call.reading() as reading:
            page, mark = reading.browse(
                MemoryFilter(statuses=("stale",), limit=limits.BROWSE_LIMIT, after=mark)
            )
        found += (memory for memory in page if not is_global(memory.id))
        if mark is None:
            return found


def _names(findings: Sequence[Finding], to: str | None, only: set[str] | None) -> Iterator[tuple[str, str]]:
    for finding in findings:
        for name in finding.lost:
            old, renamed = f"{finding.record}.{name}", finding.renamed.get(name)
            if (only is None or old in only) and (to or renamed):
                yield old, to or f"{finding.record}.{renamed.to if renamed else ''}"


def _proposed(waiting: Sequence[_Waiting] | Iterator[_Waiting]) -> Iterator[_Proposed]:
    for each in waiting:
        for finding in each.judged.findings:
            for name in finding.lost:
                old, renamed = f"{finding.record}.{name}", finding.renamed.get(name)
                if old in each.names:
                    why = renamed.why if renamed else "as given"
                    yield _Proposed(old, each.names[old], why, each.judged.memory.id)


def _grouped(proposed: Iterator[_Proposed]) -> tuple[Rename, ...]:
    groups: dict[tuple[str, str], list[_Proposed]] = {}
    for each in proposed:
        groups.setdefault((each.old, each.new), []).append(each)
    return tuple(
        Rename(
            entity=old,
            to=new,
            why=group[0].why,
            memories=tuple(each.memory for each in group[:_MOST_NAMED]),
            total=len(group),
        )
        for (old, new), group in sorted(groups.items())
    )


def _follow(call: Call, writing: Writing, waiting: _Waiting) -> None:
    """Write a memory with the new names; it is active again if nothing else has changed under it."""
    seen = waiting.judged.memory
    memory = writing.reviewable(seen.id)
    if memory.version != seen.version:
        raise invalid("memory", "someone else has just changed it; accept again")
    lookup = StoredCatalog(writing)
    after = with_new_names(memory, waiting.names, waiting.evidence.then(memory, lookup), lookup)
    rest = [each for each in waiting.judged.findings if not _is_settled(each, waiting.names)]
    after = replace(after, updated_at=max(call.now, memory.updated_at))
    if rest:
        after = replace(after, status_reason=reason_of(rest, waiting.evidence.pasts.since))
    else:
        after = replace(after, status="active", status_reason=None, verified_at=call.now)
    writing.replace(memory, unproven(memory, after, call.caller), call.change(RENAME))


def _follow_by_name(call: Call, writing: Writing, followed: Sequence[_Waiting]) -> None:
    """Move events to the new name: their text stays as it was, but they happened to the same column."""
    names = _new_names(followed)
    for memory in writing.filed_under(list(map(reference_facet, names))):
        if memory.status == "active" and memory.dimension == LASTING:
            entities = tuple(dict.fromkeys(names.get(each, each) for each in memory.entities))
            own = writing.reviewable(memory.id)
            writing.replace(own, replace(own, entities=entities), call.change(RENAME))


def _new_names(followed: Sequence[_Waiting]) -> dict[str, str]:
    return {old: new for each in followed for old, new in each.names.items()}


def _left(writing: Writing, names: Mapping[str, str]) -> Iterator[LeftAmendment]:
    """The amendments of columns that have another name now."""
    lookup = StoredCatalog(writing)
    for model in sorted({old.rpartition(".")[0] for old in names}):
        record = lookup.record(model)
        for each in () if record is None else amendments_of(record):
            if each.entity in names:
                yield LeftAmendment(
                    entity=each.entity,
                    field=each.field,
                    key=each.key,
                    to=names[each.entity],
                    approved_by=each.approved_by,
                )


def _is_settled(finding: Finding, names: Mapping[str, str]) -> bool:
    """Whether there is no more to a finding than columns that were renamed."""
    return bool(finding.lost) and all(f"{finding.record}.{name}" in names for name in finding.lost)
