"""DO example queries still fit? Each is parsed, resolved against the catalog, and run where a check says so.

Nothing is marked here for what the catalog says: that is the watcher's. What a check of kind *query* finds is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from onrecord.catalog.judging import JudgedMemory, MemoryEvidence, Pasts, gathered
from onrecord.catalog.rewriting import with_new_names
from onrecord.catalog.sql_text import parse_sql
from onrecord.catalog.staleness import Finding, broken_query
from onrecord.catalog.stored import StoredCatalog
from onrecord.errors import Invalid
from onrecord.model import limits
from onrecord.model.answer import Answer
from onrecord.model.ids import is_global
from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.operation import Call
from onrecord.store.ports.filters import MemoryFilter

_COUNTED_AS_KNOWN: Final[tuple[Status, ...]] = ("active", "stale")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFit(Answer):
    """Whether an example query fits what is there now: what it reads, why it does not fit, and it with the likely new names
    of columns, for a person to accept.
    """

    memory: str
    title: str
    owner: str
    reads: tuple[str, ...]
    problem: str | None = None
    rewrite: Mapping[str, Any] | str | None = None


class Examples(NamedTuple):
    """The example queries that a caller sees, and how each fits the catalog."""

    memories: Sequence[Memory]
    fits: Sequence[QueryFit]


def examples(call: Call) -> Examples:
    """Every example query, parsed and resolved; a reading is open only while the catalog is asked."""
    memories = list(_with_query(call))
    fits = {memory.id: _parsed(memory) for memory in memories}
    pasts = Pasts(call.store, call.caller.tenant)
    for evidence in gathered(call.store, call.caller.tenant, memories, pasts):
        with call.reading() as reading:
            lookup = StoredCatalog(reading)
            if lookup.is_empty:
                break
            for judged in evidence.judged(lookup):
                if fits[judged.memory.id].problem is None:
                    fits[judged.memory.id] = _resolved(judged, evidence, lookup)
    return Examples(memories, [fits[memory.id] for memory in memories])


def _with_query(call: Call) -> Iterator[Memory]:
    mark = None
    while True:
        with call.reading() as reading:
            page, mark = reading.browse(
                MemoryFilter(
                    has_query=True,
                    statuses=_COUNTED_AS_KNOWN,
                    order="oldest",
                    limit=limits.BROWSE_LIMIT,
                    after=mark,
                )
            )
        yield from (memory for memory in page if not is_global(memory.id))
        if mark is None:
            return


def _fit(
    memory: Memory, problem: str | None = None, rewrite: Mapping[str, Any] | str | None = None
) -> QueryFit:
    return QueryFit(
        memory=memory.id,
        title=memory.title,
        owner=memory.owner,
        reads=memory.entities,
        problem=problem,
        rewrite=rewrite,
    )


def _parsed(memory: Memory) -> QueryFit:
    """What parsing alone says; a query over models is read with the catalog."""
    if not isinstance(memory.query, str):
        return _fit(memory)
    return _fit(memory, next(iter(parse_sql(memory.query).warnings), None))


def _resolved(judged: JudgedMemory, evidence: MemoryEvidence, lookup: StoredCatalog) -> QueryFit:
    memory = judged.memory
    if judged.reason is None:
        return _fit(memory, broken_query(memory, lookup))
    return _fit(memory, judged.reason, _rewritten(memory, judged.findings, evidence, lookup))


def _rewritten(
    memory: Memory, findings: Sequence[Finding], evidence: MemoryEvidence, lookup: StoredCatalog
) -> Mapping[str, Any] | str | None:
    """The query with the likely new names; None if there are none, or it would not resolve with them."""
    names = {
        f"{finding.record}.{old}": f"{finding.record}.{renamed.to}"
        for finding in findings
        for old, renamed in finding.renamed.items()
        if old in finding.lost
    }
    try:
        after = with_new_names(memory, names, evidence.then(memory, lookup), lookup)
    except Invalid:
        return None
    return None if after.query == memory.query else after.query
