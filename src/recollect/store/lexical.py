"""HOW do words find rows? One statement brings the postings of the rare words, and often that is all it takes."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Select, String, bindparam, cast, func, select

from recollect.model.caller import Caller
from recollect.store import index
from recollect.store.ranking import ROW_UNIT, SCALE, WEIGHT_UNIT, Candidates, Found, Statistics
from recollect.store.tables import postings, tenants, terms
from recollect.store.visibility import Sight, sight_of, sight_parameters, visible

__all__ = [
    "SCALE",
    "Found",
    "Statistics",
    "positions",
    "positions_in",
    "score_entries",
    "search",
    "statistics",
]

# A pasted page is a question too; its rarest words say what it is about.
_MOST_TERMS: Final = 64
# A term in more memories than this is common: it raises candidates, and brings its own only if it must.
_COMMON: Final = 4_000
# Looking a candidate up costs about as much as reading this many postings in a row.
_LOOK_UP_COST: Final = 10


def statistics(
    connection: Connection, tenant_keys: Sequence[int], wanted: Iterable[str], *, past: bool = False
) -> Statistics:
    """The statistics of the tenants together, so that scores of one's own and of global memories compare.

    A term that no memory holds today still counts in the past.
    """
    asked = sorted(set(wanted))
    documents, words = connection.execute(_TOTALS, {"keys": tenant_keys}).one()
    counts: dict[str, int] = dict.fromkeys(asked, 0) if past else {}
    for term, count in connection.execute(_COUNTS, {"keys": tenant_keys, "wanted": asked}):
        counts[term] = counts.get(term, 0) + count
    rarest = sorted(counts, key=lambda term: (counts[term], term))[:_MOST_TERMS]
    return Statistics.of(int(documents or 0), int(words or 0), {term: counts[term] for term in rarest})


def search(
    connection: Connection, caller: Caller, tenant_keys: Sequence[int], known: Statistics, most: int
) -> list[Found]:
    """The best rows that hold any of the terms and are for the caller's eyes: exact, best first.

    Rare terms bring candidates; a common one brings its own only while those it alone would bring could still
    be among the best (MaxScore). Row objects would cost more than the scoring, so the database sends texts.
    """
    sight, parameters = sight_of(caller), sight_parameters(caller, tenant_keys)

    def lists(*wanted: str, among: Sequence[int] | None = None) -> list[tuple[int, str, str]]:
        statement = _lists(sight, among is not None)
        asked = parameters | {"wanted": list(wanted), "rows": among}
        return [(tenant, term, text) for tenant, term, text in connection.execute(statement, asked)]

    candidates = Candidates(known, most)
    by_count = sorted(known.counts, key=lambda term: (known.counts[term], term))
    common = [term for term in by_count if known.counts[term] > _COMMON]
    candidates.add(lists(*by_count[: len(by_count) - len(common)]))
    left = sum(known.weights[term] for term in common)
    while common and left >= candidates.floor():
        candidates.add(lists(common[0]))
        left -= known.weights[common.pop(0)]
    for term in common:
        candidates.drop_below(candidates.floor() - left)
        few = len(candidates) * _LOOK_UP_COST < known.counts[term]
        candidates.raise_by(lists(term, among=candidates.rows() if few else None))
        left -= known.weights[term]
    return list(candidates.best())


@cache
def _lists(sight: Sight, among: bool) -> Select[Any]:
    """For each term and tenant the postings that are for these eyes, as one text of numbers."""
    packed = postings.c.row * ROW_UNIT + postings.c.weight * WEIGHT_UNIT + postings.c.length
    statement = (
        select(postings.c.tenant, postings.c.term, func.aggregate_strings(cast(packed, String), ","))
        .where(visible(postings, sight), postings.c.term.in_(_several("wanted")))
        .group_by(postings.c.tenant, postings.c.term)
    )
    return statement.where(postings.c.row.in_(_several("rows"))) if among else statement


def positions(
    connection: Connection, tenant: int, audiences: Iterable[str], rows: Iterable[int], wanted: Iterable[str]
) -> dict[int, dict[str, tuple[int, ...]]]:
    """Where the terms stand in each of a few rows."""
    sets: dict[str, Iterable[Any]] = {"wanted": wanted, "audiences": audiences, "rows": rows}
    asked = {"tenant": tenant, **{name: sorted(set(values)) for name, values in sets.items()}}
    found: dict[int, dict[str, tuple[int, ...]]] = {}
    for row, term, packed in connection.execute(_POSITIONS, asked):
        found.setdefault(row, {})[term] = index.read_positions(packed)
    return found


def score_entries(entries: index.Entries, known: Statistics) -> int:
    """The score of entries that are not in the index: those of an old version."""
    return sum(
        known.part(term, weight, entries.length)
        for term, weight, _ in entries.postings
        if term in known.weights
    )


def positions_in(entries: index.Entries, known: Statistics) -> dict[str, tuple[int, ...]]:
    """Where the terms stand in entries that are not in the index."""
    return {
        term: index.read_positions(packed) for term, _, packed in entries.postings if term in known.weights
    }


def _several(name: str) -> BindParameter[Any]:
    return bindparam(name, expanding=True)


_TOTALS: Final = select(func.sum(tenants.c.documents), func.sum(tenants.c.words)).where(
    tenants.c.key.in_(_several("keys"))
)
_COUNTS: Final = select(terms.c.term, terms.c.documents).where(
    terms.c.tenant.in_(_several("keys")), terms.c.term.in_(_several("wanted"))
)
_POSITIONS: Final = select(postings.c.row, postings.c.term, postings.c.positions).where(
    postings.c.tenant == bindparam("tenant"),
    postings.c.term.in_(_several("wanted")),
    postings.c.audience.in_(_several("audiences")),
    postings.c.row.in_(_several("rows")),
)
