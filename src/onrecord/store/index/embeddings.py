"""HOW do vectors follow the rows? A vector is kept only while the memory still has its text.

A change of the text removes its vectors in the same transaction; a change of the audience changes theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, delete, insert, select, update

from onrecord.model.embedding import EmbeddingModel, Passage, embedded_text, text_hash
from onrecord.model.memory import Memory, RowPlace
from onrecord.store.audience import audience_of
from onrecord.store.coverage import COVERAGE, read_coverage
from onrecord.store.ports.index import Coverage
from onrecord.store.tables import audience_vectors, embedded, vectors
from onrecord.store.tenant import HomeAddress

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(slots=True)
class _Sum:
    """How many memories have vectors, how many vectors these are, and their sum."""

    memories: int
    passages: int
    total: "NDArray[Any]"
    is_new: bool = False

    @classmethod
    def empty(cls, model: EmbeddingModel) -> "_Sum":
        import numpy as np

        return cls(0, 0, np.zeros(model.dimensions, np.float64), is_new=True)

    @property
    def row(self) -> dict[str, Any]:
        return {"memories": self.memories, "passages": self.passages, "total": self.total.tobytes()}

    def count(self, memories: int, vectors: Sequence["NDArray[Any]"]) -> None:
        """Count added or removed vectors, and removed memories. A damaged vector cannot be taken out of the sum, and must
        not keep its memory from being changed or forgotten.
        """
        import numpy as np

        sign = 1 if memories > 0 else -1
        self.memories += memories
        self.passages += sign * len(vectors)
        sound = [each for each in vectors if each.shape == self.total.shape and np.isfinite(each).all()]
        # Of none it is nothing, whatever floats have lost on the way.
        self.total = (self.total + sign * sum(sound)) * bool(self.passages)


@dataclass(slots=True)
class _ModelCounts:
    """The counts of one model in one transaction: of all its vectors, and of those of some audiences."""

    model: EmbeddingModel
    whole: _Sum
    stamp: int = 0
    dropped: int = 0
    is_changed: bool = False
    parts: dict[str, _Sum] = field(default_factory=dict)


class Embeddings:
    """The vectors of one tenant within one transaction that holds the tenant's lock. `finish` writes the counts."""

    def __init__(
        self, connection: Connection, address: HomeAddress, *, follows_changes: bool = False
    ) -> None:
        self._connection = connection
        self._address = address
        #: Whether the transaction may have changed vectors before.
        self._follows_changes = follows_changes
        self._home = {"tenant": address.number, "collection": address.home.collection.number}
        self._keys: dict[EmbeddingModel, int] | None = None
        self._tallies: dict[int, _ModelCounts] = {}
        # Vectors that are written with the others at the end, or before any are read.
        self._waiting: list[dict[str, Any]] = []
        self._kept: set[tuple[int, int]] = set()

    def follow(self, before: Memory, after: Memory, place: RowPlace) -> None:
        """Adapt vectors to a changed memory: those of an old text are removed, the others get its audience."""
        if embedded_text(before) != embedded_text(after):
            self.drop(before, place.row)
        elif audience_of(before) != audience_of(after):
            for key in self._known().values():
                moved = {"audience": audience_of(after), "stamp": self._changed(key).stamp}
                if held := self._held(place.row, key):
                    self._connection.execute(update(vectors).where(*self._of(place.row, key)).values(moved))
                    self._part(key, audience_of(before)).count(-1, held)
                    self._part(key, audience_of(after)).count(1, held)

    def drop(self, memory: Memory, row: int) -> None:
        for key in self._known().values():
            if held := self._held(row, key):
                self._connection.execute(delete(vectors).where(*self._of(row, key)))
                self._kept.discard((row, key))
                tally = self._changed(key)
                tally.whole.count(-1, held)
                tally.dropped += 1
                self._part(key, audience_of(memory)).count(-1, held)

    def keep(
        self, memory: Memory, model: EmbeddingModel, passages: Sequence[Passage], *, is_new: bool = False
    ) -> bool:
        """Store the vectors of a memory; False if there are none.

        Existing ones stay, since vectors are removed with their text. A row that this transaction added has none but those
        that it has kept itself, which need not be looked up.
        """
        assert memory.place is not None
        row, digest = memory.place.row, text_hash(embedded_text(memory))
        key = self._known().get(model)
        if key is not None and ((row, key) in self._kept if is_new else self._has(row, key)):
            return True
        if not passages:
            return False
        if key is None:
            key = self._begin(model)
        tally, audience = self._changed(key), audience_of(memory)
        for counted in (tally.whole, self._part(key, audience)):
            counted.count(1, [passage.vector for passage in passages])
        shared = {**self._home, "model": key, "row": row, "text_hash": digest, "stamp": tally.stamp}
        self._kept.add((row, key))
        self._waiting += (
            shared
            | {
                "passage": number,
                "audience": audience,
                "vector": passage.vector,
                "tokens": None if passage.tokens is None else passage.tokens.tobytes(),
            }
            for number, passage in enumerate(passages)
        )
        if not is_new:
            self._write_waiting()
        return True

    def _write_waiting(self) -> None:
        if self._waiting:
            self._connection.execute(insert(vectors), self._waiting)
            self._waiting = []

    def coverage(self, model: EmbeddingModel) -> Coverage | None:
        """What a search needs to know of the model's vectors; None if there were none before this transaction."""
        key = self._known().get(model)
        if key is None or self._tallies[key].whole.is_new:
            return None
        tally = self._tallies[key]
        counts = (tally.whole.memories, tally.whole.passages)
        # Once it has changed some, a search takes what was read before: a cache must not read in what may be rolled back.
        stamp = 0 if tally.is_changed or self._follows_changes else tally.stamp
        assert self._address.number is not None
        return Coverage(self._address.number, key, model, *counts, (), stamp, tally.dropped)

    def clear(self, of: EmbeddingModel | None = None) -> None:
        """Drop every vector of the home, so that all can be remade; or only those of one model."""
        self._write_waiting()
        dropped = [key for model, key in self._known().items() if of in (None, model)]
        for table in (vectors, audience_vectors):
            its = () if of is None else (table.c.model.in_(dropped),)
            self._connection.execute(delete(table).where(*self._here(table), *its))
        for key in dropped:
            tally = self._changed(key)
            tally.whole = replace(_Sum.empty(tally.model), is_new=tally.whole.is_new)
            tally.parts.clear()
            tally.dropped += 1

    def finish(self) -> None:
        self._write_waiting()
        for key, tally in self._tallies.items():
            counts = tally.whole.row | {"stamp": tally.stamp, "dropped": tally.dropped}
            if tally.whole.is_new:
                fresh = {**self._home, "model": key, **tally.model._asdict()}
                self._connection.execute(insert(embedded), fresh | counts)
            elif tally.is_changed:
                here = (*self._here(embedded), embedded.c.model == key)
                self._connection.execute(update(embedded).where(*here).values(counts))
            for audience, part in tally.parts.items():
                self._keep_part(key, audience, part)

    def _keep_part(self, key: int, audience: str, part: _Sum) -> None:
        """An audience that has no vectors left has no row either."""
        if part.is_new:
            if part.memories:
                fresh = {**self._home, "model": key, "audience": audience}
                self._connection.execute(insert(audience_vectors), fresh | part.row)
            return
        its = self._of_part(key, audience)
        statement = update(audience_vectors).values(part.row) if part.memories else delete(audience_vectors)
        self._connection.execute(statement.where(*its))

    def _part(self, key: int, audience: str) -> _Sum:
        """What is counted for one audience; looked up once, when it is about to change."""
        tally = self._tallies[key]
        if audience not in tally.parts:
            counts = (audience_vectors.c[name] for name in ("memories", "passages", "total"))
            found = self._connection.execute(select(*counts).where(*self._of_part(key, audience))).first()
            tally.parts[audience] = _Sum.empty(tally.model) if found is None else _sum(*found)
        return tally.parts[audience]

    def _of_part(self, key: int, audience: str) -> tuple[Any, ...]:
        its = (audience_vectors.c.model == key, audience_vectors.c.audience == audience)
        return *self._here(audience_vectors), *its

    def _held(self, row: int, key: int) -> Sequence["NDArray[Any]"]:
        self._write_waiting()
        held = select(vectors.c.vector).where(*self._of(row, key)).order_by(vectors.c.passage)
        return self._connection.execute(held).scalars().all()

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
        self._tallies[key] = _ModelCounts(model, _Sum.empty(model))
        return key

    def _changed(self, key: int) -> _ModelCounts:
        """The tally with a new stamp, one for the whole transaction, which readers see as one change."""
        tally = self._tallies[key]
        if not tally.is_changed:
            tally.is_changed = True
            tally.stamp += 1
        return tally


def _tally(known: Coverage) -> _ModelCounts:
    (total,) = known.totals
    return _ModelCounts(known.model, _sum(known.memories, known.passages, total), known.stamp, known.dropped)


def _sum(memories: int, passages: int, total: bytes) -> _Sum:
    import numpy as np

    return _Sum(memories, passages, np.frombuffer(total, np.float64))
