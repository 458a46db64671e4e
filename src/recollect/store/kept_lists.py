"""WHICH posting lists are kept in memory? The long ones of catalogs, which change seldom and are asked for often.

The tenant's counter of changes tells a reader whether a list is of its own state, also when another process wrote.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, String, bindparam, cast, select

from recollect.store.audience import sees
from recollect.store.ranking import PACKED_BYTES, ROW_UNIT, WEIGHT_UNIT, Scored, Statistics, packed_numbers
from recollect.store.several import Joined, one_of
from recollect.store.tables import postings, tenants
from recollect.store.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Lists that were asked for longest ago make room.
_MOST_BYTES: Final = 256 << 20


class KeptLists:
    """The lists that were asked for lately, of every catalog in one database."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[int, str], _Kept] = OrderedDict()
        self._lock = Lock()

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self._kept.values())

    def scored(self, view: View, tenant: int, known: Statistics, terms: Sequence[str]) -> list[Scored]:
        """What each term adds to the scores of those that hold it and are for the caller's eyes, in the order given."""
        ((changes,),) = view.fetch(_CHANGES, home=tenant)
        with self._lock:
            found = {term: self._kept[tenant, term] for term in terms if (tenant, term) in self._kept}
        lists = {term: each for term, each in found.items() if each.changes == changes}
        missing = [term for term in terms if term not in lists]
        if missing:
            lists |= _read(view, tenant, changes, missing)
        self._keep(tenant, lists)
        return [lists[term].scored(view, tenant, term, known) for term in terms]

    def _keep(self, tenant: int, lists: "Mapping[str, _Kept]") -> None:
        with self._lock:
            for term, each in lists.items():
                before = self._kept.get((tenant, term))
                # A reader of an older state must not put back what a newer one has replaced.
                if before is None or before.changes <= each.changes:
                    self._kept[tenant, term] = each
                self._kept.move_to_end((tenant, term))
            size = self.nbytes
            while len(self._kept) > 1 and size > self._most_bytes:
                size -= self._kept.popitem(last=False)[1].nbytes


class _Kept:
    """The postings of one term by audience, as they stood after so many changes of the tenant."""

    def __init__(self, changes: int, by_audience: "Mapping[str, NDArray[Any]]") -> None:
        self.changes = changes
        self.nbytes = PACKED_BYTES * sum(map(len, by_audience.values()))
        self._by_audience = by_audience
        # Who sees the same of it gets the same scores, until something changes.
        self._last: tuple[Any, Scored] | None = None

    def scored(self, view: View, tenant: int, term: str, known: Statistics) -> Scored:
        seen = [audience for audience in self._by_audience if sees(view.caller, audience)]
        asked = (seen, known.weights[term], known.base, known.per_word)
        last = self._last
        if last is None or last[0] != asked:
            last = self._last = (
                asked,
                Scored.of(known, term, tenant, [self._by_audience[each] for each in seen]),
            )
        return last[1]


def _read(view: View, tenant: int, changes: int, terms: Sequence[str]) -> dict[str, _Kept]:
    found: dict[str, dict[str, Any]] = {term: {} for term in terms}
    rows: Iterable[tuple[str, str, str]] = view.fetch(_LISTS, home=tenant, wanted=list(terms))
    for term, audience, packed in rows:
        found[term][audience] = packed_numbers(packed)
    return {term: _Kept(changes, by_audience) for term, by_audience in found.items()}


def kept_lists(view: View) -> KeptLists:
    """Those of the database that is read; they go when it is closed."""
    with _opening:
        return _of_database.setdefault(view.connection.engine, KeptLists())


_of_database: Final[WeakKeyDictionary[Engine, KeptLists]] = WeakKeyDictionary()
_opening: Final = Lock()

_CHANGES: Final = select(tenants.c.changes).where(tenants.c.key == bindparam("home"))
_PACKED: Final = postings.c.row * ROW_UNIT + postings.c.weight * WEIGHT_UNIT + postings.c.length
_LISTS: Final = (
    select(postings.c.term, postings.c.audience, Joined(cast(_PACKED, String)))
    .where(postings.c.tenant == bindparam("home"), one_of(postings.c.term, "wanted"))
    .group_by(postings.c.term, postings.c.audience)
)
