"""HOW do words find rows? One statement fetches the postings of rare words, and often that is enough."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Select, String, cast, func, select

from onrecord.model.collections import ENTITIES
from onrecord.store.index.entries import CONTENT_WEIGHT, IndexEntries, read_positions
from onrecord.store.index.posting_cache import posting_cache
from onrecord.store.index.ranking import (
    FEW_POSTINGS,
    ROW_UNIT,
    SCALE,
    WEIGHT_UNIT,
    Candidates,
    Statistics,
    best_of_few,
)
from onrecord.store.list_parameters import Joined, one_of
from onrecord.store.ports.index import Places
from onrecord.store.tables import postings, terms
from onrecord.store.view import View
from onrecord.store.visibility import Visibility, visible

__all__ = [
    "SCALE",
    "Statistics",
    "positions",
    "score_entries",
    "search",
    "statistics",
]

# A pasted page is a question too; its rarest words say what it is about.
_MOST_TERMS: Final = 64
# A term in more memories than this is common: it raises candidates, and brings its own only if it must.
_COMMON: Final = 4_000
# A list of a catalog that is longer than this is kept in memory: a shorter one is read as quickly.
_KEPT: Final = 256
# Looking a candidate up costs about as much as reading this many postings in a row.
_LOOK_UP_COST: Final = 10


def statistics(views: Sequence[View], wanted: Iterable[str], *, past: bool = False) -> Statistics:
    """The statistics of all homes together, so that scores of the tenant's and of global memories are comparable.

    A term that no present memory contains still counts in the past.
    """
    asked = sorted(set(wanted))
    together = _count(views, asked)
    counts = {term: together[term] for term in asked if past or together[term]}
    rarest = sorted(counts, key=lambda term: (counts[term], term))[:_MOST_TERMS]
    documents, words = sum(view.documents for view in views), sum(view.words for view in views)
    return Statistics.of(documents, words, {term: counts[term] for term in rarest})


def _count(views: Sequence[View], terms: Sequence[str]) -> Counter[str]:
    """In how many records that the caller sees each term occurs; counted once for each term, since several layers need it."""
    together: Counter[str] = Counter()
    for view in views:
        unknown = [term for term in terms if term not in view.counts]
        if unknown:
            view.counts.update(dict.fromkeys(unknown, 0))
            view.counts.update(dict(view.fetch(_counts(view.visibility), wanted=unknown)))
        together.update({term: view.counts[term] for term in terms})
    return together


def search(views: Sequence[View], known: Statistics, most: int) -> list[tuple[int, int, int]]:
    """Tenant, row and score of the best memories that contain any of the terms and that the caller may see: exact,
    best first.

    Rare terms bring candidates; a common term brings its own only while rows that contain it alone could still be
    among the best (MaxScore). Row objects would cost more than the scoring, so the database sends texts.
    """

    def lists(*wanted: str, among: Sequence[int] | None = None) -> list[Any]:
        return [
            row
            for view in views
            for row in view.fetch(_lists(view.visibility, among is not None), wanted=list(wanted), rows=among)
        ]

    if sum(known.counts.values()) <= FEW_POSTINGS:
        return best_of_few(known, lists(*known.counts), most)
    if views[0].home.collection is ENTITIES:
        # There are no global ones beside the tenant's own.
        return _search_catalog(views[0], known, most)
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
    return candidates.best()


def _search_catalog(view: View, known: Statistics, most: int) -> list[tuple[int, int, int]]:
    """The same for entities: their long lists are in memory, so reading them is cheap, and their highest score is
    known.
    """
    candidates = Candidates(known, most)
    by_count = sorted(known.counts, key=lambda term: (known.counts[term], term))
    long = [term for term in by_count if known.counts[term] > _KEPT]
    short = by_count[: len(by_count) - len(long)]
    if short:
        candidates.add(list(view.fetch(_lists(view.visibility, False), wanted=short)))
    kept = posting_cache(view).scored(view, known, long) if long else []
    left = sum(each.highest for each in kept)
    floor = candidates.floor()
    while kept and left >= floor:
        each = kept.pop(0)
        (candidates.take if kept else candidates.take_last)(each)
        left -= each.highest
        floor = candidates.floor()
    # Scores only rise from here on, so what the best reach now they reach at the end.
    for each in kept:
        candidates.drop_below(floor - left)
        candidates.lift(each)
        left -= each.highest
    return candidates.best()


@cache
def _lists(visibility: Visibility, among: bool) -> Select[Any]:
    """For each term and tenant the visible postings, as one text of numbers."""
    packed = postings.c.row * ROW_UNIT + postings.c.weight * WEIGHT_UNIT + postings.c.length
    statement = (
        select(postings.c.tenant, postings.c.term, Joined(cast(packed, String)))
        .where(visible(postings, visibility), one_of(postings.c.term, "wanted"))
        .group_by(postings.c.tenant, postings.c.term)
    )
    return statement.where(one_of(postings.c.row, "rows")) if among else statement


def positions(
    view: View, somewhere: Mapping[str, Any], wanted: Iterable[str]
) -> dict[tuple[int, int], Places]:
    """The positions of the terms in a few rows, given with their audiences."""
    found: dict[tuple[int, int], tuple[int, dict[str, tuple[int, ...]], set[str]]] = {}
    found_rows = view.fetch(_positions(view.visibility), wanted=sorted(set(wanted)), **somewhere)
    for tenant, row, term, weight, length, packed in found_rows:
        _, positions, labels = found.setdefault((tenant, row), (length, {}, set()))
        positions[term] = read_positions(packed)
        # Its mentions weigh more than they would if they were all in the content.
        if weight > CONTENT_WEIGHT * len(positions[term]):
            labels.add(term)
    return {key: Places(length, at, frozenset(labels)) for key, (length, at, labels) in found.items()}


def holders(views: Sequence[View], wanted: Iterable[str], most: int) -> dict[str, list[tuple[int, int]]]:
    """Which rows contain each of some terms, for terms that at least two and at most so many rows contain."""
    asked = sorted(set(wanted))
    counts = _count(views, asked)
    selective = [term for term in asked if 2 <= counts[term] <= most]
    found: dict[str, list[tuple[int, int]]] = {}
    for view in sorted(views, key=lambda view: view.tenant) if selective else ():
        for tenant, row, term in view.fetch(_holders(view.visibility), wanted=selective):
            found.setdefault(term, []).append((tenant, row))
    return found


@cache
def _holders(visibility: Visibility) -> Select[Any]:
    held = select(postings.c.tenant, postings.c.row, postings.c.term)
    return held.where(visible(postings, visibility), one_of(postings.c.term, "wanted")).order_by(
        postings.c.tenant, postings.c.row, postings.c.term
    )


@cache
def _positions(visibility: Visibility) -> Select[Any]:
    wanted = (postings.c[name] for name in ("tenant", "row", "term", "weight", "length", "positions"))
    return select(*wanted).where(
        visible(postings, visibility),
        one_of(postings.c.term, "wanted"),
        one_of(postings.c.audience, "audiences"),
        one_of(postings.c.row, "rows"),
    )


def score_entries(entries: IndexEntries, known: Statistics) -> int:
    """The score of entries outside the index: those of an old version."""
    return sum(
        known.part(known.weights[term], weight, entries.length)
        for term, weight, _ in entries.postings
        if term in known.weights
    )


@cache
def _counts(visibility: Visibility) -> Select[Any]:
    counted = select(terms.c.term, func.sum(terms.c.documents)).where(
        visible(terms, visibility), one_of(terms.c.term, "wanted")
    )
    return counted.group_by(terms.c.term)
