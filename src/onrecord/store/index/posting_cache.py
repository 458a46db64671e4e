"""WHICH posting lists are kept in memory? The long ones of catalogs, since words that every model has are asked for
often.

The tenant's counter of changes tells a reader whether a list is of its own state, even if another process wrote.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import String, cast, select

from onrecord.lru_cache import LruCache
from onrecord.store.index.ranking import ROW_UNIT, SPARSE, WEIGHT_UNIT, Scored, Statistics, packed_numbers
from onrecord.store.list_parameters import Joined, one_of
from onrecord.store.per_database import PerDatabase
from onrecord.store.tables import postings
from onrecord.store.tenant import of_home
from onrecord.store.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The lists that were used longest ago are dropped first.
_MOST_BYTES: Final = 256 << 20
# The size of an empty list, and the length from which a list is laid out by rows.
_LIST_BYTES: Final = 600
_LONG: Final = 256


class PostingCache:
    """The recently used lists of one database."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._homes: LruCache[tuple[int, int], _HomePostings] = LruCache(
            most_bytes, lambda state: state.lists.weight
        )

    @property
    def nbytes(self) -> int:
        """Their size, or a little less."""
        return self._homes.weight

    def scored(self, view: View, known: Statistics, terms: Sequence[str]) -> list[Scored]:
        """What each term adds to the scores of the visible records that contain it, in the given order."""
        lists = self._lists(view, terms)
        return [lists[term].scored(view, term, known) for term in terms]

    def _lists(self, view: View, terms: Sequence[str]) -> "Mapping[str, _List]":
        state = self._state(view)
        found = {term: state.lists.get(term) for term in terms}
        lists = {term: each for term, each in found.items() if each is not None}
        missing = [term for term in terms if term not in lists]
        if missing:
            for term, each in _read(view, missing).items():
                lists[term] = each
                state.lists.put(term, each)
            self._homes.weigh_again(view.place)
        return lists

    def _state(self, view: View) -> "_HomePostings":
        """The lists of this state; those of another are dropped, so that forgotten words are forgotten here too."""
        state = self._homes.get(view.place)
        if state is None or state.changes != view.changes:
            state = _HomePostings(view.changes, self._most_bytes)
            self._homes.put(view.place, state)
        return state


class _HomePostings:
    """The lists of one home after so many changes."""

    def __init__(self, changes: int, most_bytes: int) -> None:
        self.changes = changes
        self.lists: LruCache[str, _List] = LruCache(most_bytes, lambda each: each.nbytes)


class _List:
    """The postings of one term by audience."""

    def __init__(self, by_audience: "Mapping[str, NDArray[Any]]") -> None:
        rows = sum(map(len, by_audience.values()))
        #: Each posting, its key and what it adds; and, of one that may be laid out by rows, these.
        self.nbytes = _LIST_BYTES + 3 * 8 * rows + (4 * _span(by_audience.values()) if rows > _LONG else 0)
        self._by_audience = by_audience
        # Callers who see the same postings share the scores, until something changes.
        self._last: tuple[Any, Scored] | None = None

    def scored(self, view: View, term: str, known: Statistics) -> Scored:
        seen = [audience for audience in self._by_audience if view.sees(audience)]
        asked = (seen, known.weights[term], known.base, known.per_word)
        last = self._last
        if last is None or last[0] != asked:
            last = self._last = (
                asked,
                Scored.of(known, term, view.tenant, [self._by_audience[each] for each in seen]),
            )
        return last[1]


def _span(lists: "Iterable[NDArray[Any]]") -> int:
    """How many rows the postings span, if they are dense enough to be laid out by row."""
    rows = [packed // ROW_UNIT for packed in lists if len(packed)]
    first, last = min(int(each.min()) for each in rows), max(int(each.max()) for each in rows)
    return last - first + 1 if last - first < SPARSE * sum(map(len, rows)) else 0


def _read(view: View, terms: Sequence[str]) -> dict[str, _List]:
    found: dict[str, dict[str, Any]] = {term: {} for term in terms}
    rows: Iterable[tuple[str, str, str]] = view.fetch(_LISTS, wanted=list(terms))
    for term, audience, packed in rows:
        found[term][audience] = packed_numbers(packed)
    return {term: _List(by_audience) for term, by_audience in found.items()}


def posting_cache(view: View) -> PostingCache:
    """The cache of the database of this view; a transaction that may have written gets none."""
    return _OF_DATABASE.of(view) if view.is_settled else PostingCache()


_OF_DATABASE: Final = PerDatabase(PostingCache)
_PACKED: Final = postings.c.row * ROW_UNIT + postings.c.weight * WEIGHT_UNIT + postings.c.length
_LISTS: Final = (
    select(postings.c.term, postings.c.audience, Joined(cast(_PACKED, String)))
    .where(of_home(postings), one_of(postings.c.term, "wanted"))
    .group_by(postings.c.term, postings.c.audience)
)
