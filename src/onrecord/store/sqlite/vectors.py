"""HOW does SQLite find near vectors? In memory: each tenant's vectors are read once, and then only what changed.

The stamp of a tenant's vectors tells a reader what is new, even if another process wrote it. Newer entries than the
reader's own state do no harm: rows that it does not see are left out later.
"""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from onrecord.errors import StoreUnavailable
from onrecord.lru_cache import LruCache
from onrecord.store.audience import once_approved
from onrecord.store.ports.index import Coverage, Near
from onrecord.store.rows import as_stored
from onrecord.store.tables import vectors
from onrecord.store.tenant import of_home
from onrecord.store.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The vectors of the tenants that were searched longest ago are dropped first.
_MOST_BYTES: Final = 2 << 30
_ROWS_AT_ONCE: Final = 10_000


class VectorCache:
    """The vectors of recently searched tenants."""

    def __init__(self) -> None:
        self._shelves: LruCache[tuple[int, int, int], _ModelVectors] = LruCache(
            _MOST_BYTES, lambda shelf: shelf.vectors.nbytes
        )

    def nearest(
        self, view: View, covered: Coverage, vector: "NDArray[Any]", most: int, later: str | None = None
    ) -> list[Near]:
        shelf = self._shelf(view, covered)
        return _of_tenant(covered.tenant, shelf.vectors.nearest(vector, most, shelf.codes_for(view, later)))

    def warm(self, view: View, covered: Coverage) -> None:
        self._shelf(view, covered)

    def similarity(
        self, view: View, covered: Coverage, vector: "NDArray[Any]", rows: Sequence[int]
    ) -> list[Near]:
        shelf = self._shelf(view, covered)
        return _of_tenant(covered.tenant, shelf.vectors.score(vector, list(rows), shelf.codes_for(view)))

    def _shelf(self, view: View, covered: Coverage) -> "_ModelVectors":
        place = (covered.tenant, view.home.collection.number, covered.key)
        shelf = self._shelves.get_or_put(place, lambda: _ModelVectors(covered))
        shelf.catch_up(view, covered)
        self._shelves.weigh_again(place)
        return shelf

    def clear(self) -> None:
        self._shelves.clear()


def _of_tenant(tenant: int, found: Sequence[tuple[int, int, float]]) -> list[Near]:
    return [Near(tenant, row, passage, score) for row, passage, score in found]


class _ModelVectors:
    """One tenant's vectors of one model, and up to which stamp they are known."""

    def __init__(self, covered: Coverage) -> None:
        from onrecord.store.index.nearest import Vectors

        self.vectors: Vectors = Vectors(covered.model.dimensions)
        self._codes: dict[str, int] = {}
        self._stamp = self._dropped = 0
        self._lock = Lock()

    def codes_for(self, view: View, later: str | None = None) -> list[int] | None:
        """The audiences of the caller as numbers; None for all of them."""
        if view.caller.is_admin and later is None:
            return None
        known = list(self._codes.items())
        if later is not None:
            known = [(each, code) for each, code in known if once_approved(each) == later]
        return [code for audience, code in known if view.sees(audience)]

    def catch_up(self, view: View, covered: Coverage) -> None:
        """Read what was written since; a cache that is newer than this reader stays as it is."""
        if self._stamp >= covered.stamp:
            return
        with self._lock:
            if self._stamp >= covered.stamp:
                return
            here = {**view.address.parameters, "model": covered.key}
            # An empty cache need not ask which vectors are gone.
            if self._stamp and self._dropped != covered.dropped:
                held = set(view.connection.execute(_ROWS, here).scalars())
                self.vectors.drop([row for row in self.vectors.rows() if row not in held])
            self._take(view, here | {"stamp": self._stamp, "until": covered.stamp})
            self._stamp, self._dropped = covered.stamp, covered.dropped

    def _take(self, view: View, known: dict[str, Any]) -> None:
        found = view.connection.execute(_CHANGED, known)
        left: list[Any] = []
        while batch := found.fetchmany(_ROWS_AT_ONCE):
            left += batch
            # The passages of one memory go in together, so the last one waits for the rest of its own.
            whole = next((at for at in range(len(left), 0, -1) if left[at - 1][0] != left[-1][0]), 0)
            self._put(left[:whole])
            left = left[whole:]
        self._put(left)

    def _put(self, batch: list[Any]) -> None:
        if not batch:
            return
        import numpy as np

        rows, passages, audiences, packed = zip(*batch, strict=True)
        codes = [self._codes.setdefault(audience, len(self._codes)) for audience in audiences]
        try:
            floats = np.frombuffer(b"".join(packed), np.float32).reshape(len(rows), -1)
            self.vectors.put(rows, passages, codes, floats)
        except ValueError as damage:
            raise StoreUnavailable(
                f"The store holds a damaged vector ({damage}). Run `onrecord doctor`; "
                "`onrecord reindex` drops what is damaged, and `onrecord embed-missing` makes it again."
            ) from damage


_HERE: Final = (of_home(vectors), vectors.c.model == bindparam("model"))
_CHANGED: Final = (
    select(vectors.c.row, vectors.c.passage, vectors.c.audience, as_stored(vectors.c.vector))
    # Vectors of an open transaction have a stamp that another transaction may get too.
    .where(*_HERE, vectors.c.stamp > bindparam("stamp"), vectors.c.stamp <= bindparam("until"))
    .order_by(vectors.c.row, vectors.c.passage)
)
_ROWS: Final = select(vectors.c.row).where(*_HERE, vectors.c.passage == 0)
