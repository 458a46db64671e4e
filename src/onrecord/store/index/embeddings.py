"""HOW do vectors follow the rows? A vector is kept only while the memory still has its text.

A change of the text removes its vectors in the same transaction; a change of the audience changes theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, delete, insert, select, update

from onrecord.model.embedding import EmbeddingModel, Passage, embedded_text, text_hash
from onrecord.model.memory import Memory, RowPlace
from onrecord.store.audience import audience_of
from onrecord.store.coverage import COVERAGE, read_coverage
from onrecord.store.ports.index import Coverage
from onrecord.store.tables import embedded, vectors
from onrecord.store.tenant import HomeAddress

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(slots=True)
class _ModelCounts:
    """The counts of one model, and their changes in one transaction."""

    model: EmbeddingModel
    memories: int
    passages: int
    total: "NDArray[Any]"
    stamp: int = 0
    dropped: int = 0
    is_new: bool = False
    is_changed: bool = False

    def count(self, memories: int, vectors: Sequence["NDArray[Any]"]) -> None:
        """Count added or removed vectors, and removed memories."""
        sign = 1 if memories > 0 else -1
        self.memories += memories
        self.passages += sign * len(vectors)
        self.total = self.total + sign * sum(vectors)


class Embeddings:
    """The vectors of one tenant within one transaction that holds the tenant's lock. `finish` writes the counts."""

    def __init__(self, connection: Connection, address: HomeAddress) -> None:
        self._connection = connection
        self._address = address
        self._home = {"tenant": address.number, "collection": address.home.collection.number}
        self._keys: dict[EmbeddingModel, int] | None = None
        self._tallies: dict[int, _ModelCounts] = {}

    def follow(self, before: Memory, after: Memory, place: RowPlace) -> None:
        """Adapt vectors to a changed memory: those of an old text are removed, the others get its audience."""
        if embedded_text(before) != embedded_text(after):
            self.drop(place.row)
        elif audience_of(before) != audience_of(after):
            for key in self._known().values():
                moved = {"audience": audience_of(after), "stamp": self._changed(key).stamp}
                self._connection.execute(update(vectors).where(*self._of(place.row, key)).values(moved))

    def drop(self, row: int) -> None:
        for key in self._known().values():
            here = self._of(row, key)
            held = self._connection.execute(select(vectors.c.vector).where(*here)).scalars().all()
            if held:
                self._connection.execute(delete(vectors).where(*here))
                tally = self._changed(key)
                tally.count(-1, held)
                tally.dropped += 1

    def keep(self, memory: Memory, model: EmbeddingModel, passages: Sequence[Passage]) -> bool:
        """Store the vectors of a memory; False if there are none.

        Existing ones stay, since vectors are removed with their text.
        """
        assert memory.place is not None
        row, digest = memory.place.row, text_hash(embedded_text(memory))
        key = self._known().get(model)
        if key is not None and self._has(row, key):
            return True
        if not passages:
            return False
        if key is None:
            key = self._begin(model)
        tally = self._changed(key)
        tally.count(1, [passage.vector for passage in passages])
        shared = {**self._home, "model": key, "row": row, "text_hash": digest, "stamp": tally.stamp}
        self._connection.execute(
            insert(vectors),
            [
                shared
                | {
                    "passage": number,
                    "audience": audience_of(memory),
                    "vector": passage.vector,
                    "tokens": None if passage.tokens is None else passage.tokens.tobytes(),
                }
                for number, passage in enumerate(passages)
            ],
        )
        return True

    def clear(self) -> None:
        """Drop every vector of the tenant, so that all are made anew."""
        self._connection.execute(delete(vectors).where(*self._here(vectors)))
        for key in self._known().values():
            tally = self._changed(key)
            tally.memories = tally.passages = 0
            tally.total = tally.total * 0
            tally.dropped += 1

    def finish(self) -> None:
        for key, tally in self._tallies.items():
            counts = {
                "memories": tally.memories,
                "passages": tally.passages,
                "total": tally.total.tobytes(),
                "stamp": tally.stamp,
                "dropped": tally.dropped,
            }
            if tally.is_new:
                fresh = {**self._home, "model": key, **tally.model._asdict()}
                self._connection.execute(insert(embedded), fresh | counts)
            elif tally.is_changed:
                here = (*self._here(embedded), embedded.c.model == key)
                self._connection.execute(update(embedded).where(*here).values(counts))

    def _has(self, row: int, key: int) -> bool:
        held = select(vectors.c.row).where(*self._of(row, key), vectors.c.passage == 0)
        return self._connection.execute(held).first() is not None

    def _of(self, row: int, key: int) -> tuple[Any, ...]:
        return *self._here(vectors), vectors.c.model == key, vectors.c.row == row

    def _here(self, table: Table) -> tuple[Any, ...]:
        return table.c.tenant == self._home["tenant"], table.c.collection == self._home["collection"]

    def _known(self) -> dict[EmbeddingModel, int]:
        if self._keys is None:
            found = read_coverage(self._connection.execute(COVERAGE, self._address.parameters).all())
            self._keys = {each.model: each.key for each in found}
            self._tallies = {each.key: _tally(each) for each in found}
        return self._keys

    def _begin(self, model: EmbeddingModel) -> int:
        """Number a model at its first vector in this home."""
        key = max(self._known().values(), default=0) + 1
        self._known()[model] = key
        self._tallies[key] = _empty_tally(model)
        return key

    def _changed(self, key: int) -> _ModelCounts:
        """The tally with a new stamp, one for the whole transaction, which readers see as one change."""
        tally = self._tallies[key]
        if not tally.is_changed:
            tally.is_changed = True
            tally.stamp += 1
        return tally


def _tally(known: Coverage) -> _ModelCounts:
    import numpy as np

    total = np.frombuffer(known.total, np.float64)
    return _ModelCounts(known.model, known.memories, known.passages, total, known.stamp, known.dropped)


def _empty_tally(model: EmbeddingModel) -> _ModelCounts:
    import numpy as np

    return _ModelCounts(model, 0, 0, np.zeros(model.dimensions, np.float64), is_new=True)
