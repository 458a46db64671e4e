"""WHICH candidates are kept in memory? For each tenant those that were last read for ranking, until somebody writes to
it.

A memory that counts now counts at every later moment too, until someone writes to its tenant. The tenant's counter of
changes tells a reader whether the cache is of its own state, even if another process wrote. Whole memories are not
cached: those in an answer are read through the predicate of visibility.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from threading import Lock
from typing import Final

from onrecord.lru_cache import LruCache
from onrecord.store.per_database import PerDatabase
from onrecord.store.ports.index import Key, Match
from onrecord.store.view import View

# Some 600 bytes each. Tenants that were asked longest ago make room.
_MOST: Final = 100_000


class CandidateCache:
    """What is known of the rows of recently asked tenants, in one database."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._homes: LruCache[tuple[int, int], _HomeCandidates] = LruCache(most, len)
        self._lock = Lock()

    def __len__(self) -> int:
        return self._homes.weight

    def matches(self, view: View, rows: Iterable[int]) -> dict[Key, Match]:
        """The cached matches that count in this state and that the caller may see."""
        here = self._state(view).matches_at(view.now)
        found = (here.get(row) for row in rows)
        return {match.key: match for match in found if match is not None and view.sees(match.audience)}

    def keep_matches(self, view: View, matches: Iterable[Match]) -> None:
        """Cache matches that count now."""
        rows = {match.key[1]: match for match in matches}
        if not rows:
            return
        state = self._state(view)
        with self._lock:
            # Set before the matches are added, so that a reader who asks about an earlier time does not get them.
            state.asked_at = max(state.asked_at or view.now, view.now)
            state.matches.update(rows)
        if len(state) > self._most:
            self._homes.pop(view.place)
        else:
            self._homes.weigh_again(view.place)

    def _state(self, view: View) -> "_HomeCandidates":
        state = self._homes.get(view.place)
        if state is None or state.changes != view.changes:
            state = _HomeCandidates(view.changes)
            self._homes.put(view.place, state)
        return state


class _HomeCandidates:
    """What is known of one home after so many changes, and the time of the last question."""

    def __init__(self, changes: int) -> None:
        self.changes = changes
        self.matches: dict[int, Match] = {}
        self.asked_at: datetime | None = None

    def __len__(self) -> int:
        return len(self.matches)

    def matches_at(self, now: datetime) -> Mapping[int, Match]:
        """None for a time before the last question: what counts since then may not have counted yet."""
        return self.matches if self.asked_at is None or now >= self.asked_at else {}


def candidate_cache(view: View) -> CandidateCache:
    """The cache of the database of this view."""
    return _OF_DATABASE.of(view)


_OF_DATABASE: Final = PerDatabase(CandidateCache)
