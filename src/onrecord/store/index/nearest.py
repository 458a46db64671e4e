"""HOW does a vector find its nearest memories? By an exact search in process over one tenant's vectors of one model.

NumPy compares every vector. If simsimd is installed, one byte for each dimension first tells which vectors can be
among the best, by a bound that holds for all vectors, and only those are compared in full. A score is always the same
dot product of the same floats, so both ways give the same answer to the last digit.
"""

import importlib
import math
import threading
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]

try:
    _fast: Any = importlib.import_module("simsimd")
except ImportError:
    _fast = None

#: From how many vectors on a scan of bytes pays; NumPy alone multiplies bytes more slowly than floats.
COMPRESSED_FROM: Final = 20_000 if _fast else None
#: Scores differ only if they differ in these digits: the noise of float32 must not decide an order.
DIGITS: Final = 6
_SAME: Final = 2 * 10.0**-DIGITS
# To fetch a vector from somewhere costs this many times what passing over it costs.
_FETCH_IN_FLOATS: Final = 3
_FETCH_IN_CODES: Final = 6
_FETCHED_AT_ONCE: Final = 512
_ENCODED_AT_ONCE: Final = 8192
# The first guess at the best holds this many vectors for each memory wanted: some memories have several.
_GUESSES: Final = 4
# What float32 may lose in an estimate.
_SLACK: Final = 1e-5
_SMALLEST: Final = 1024
_UNSORTED: Final = 1024
_ALIVE: Final = np.iinfo(np.int64).max
_LARGEST_BYTE: Final = 127


class NearRow(NamedTuple):
    """A memory, its nearest passage, and the similarity: the dot product, 1 for the same direction."""

    row: int
    passage: int
    score: float


class Vectors:
    """The vectors of one tenant, made by one model.

    Any number of threads may read while one writes; writers wait for each other. A reader takes no lock: it works on
    the snapshot in force when it began. Vectors are only appended after what a snapshot covers, and a dead one is
    marked with the version that ended it, so that a snapshot sees all of a change or nothing.
    """

    def __init__(self, dimensions: int, compressed_from: int | None = COMPRESSED_FROM) -> None:
        self._compressed_from = compressed_from
        self._writing = threading.Lock()
        # An audience's place in the table of who is allowed; it only grows, so readers need no lock.
        self._groups: dict[int, int] = {}
        self._now = _Snapshot(0, 0, 0, _Columns.empty(dimensions), None, _Places.of(np.empty(0, np.int64)))

    def __len__(self) -> int:
        """How many vectors there are."""
        now = self._now
        return now.covered - now.dead

    @property
    def nbytes(self) -> int:
        """How much memory is allocated for them, with codes and room to grow."""
        return self._now.nbytes

    def put(self, rows: ArrayLike, passages: ArrayLike, audiences: Sequence[int], vectors: ArrayLike) -> None:
        """Replace all vectors of these memories: each list has one entry for a passage."""
        new = np.asarray(vectors, np.float32)
        keys = np.asarray(rows, np.int64)
        numbers = np.asarray(passages, np.int64)
        dimensions = self._now.columns.vectors.shape[1]
        if new.shape != (len(keys), dimensions) or len(numbers) != len(keys) or len(audiences) != len(keys):
            raise ValueError(f"each passage needs a row, an audience and a vector of {dimensions} numbers")
        if not np.isfinite(new).all():
            raise ValueError(f"a vector of {dimensions} numbers has one that is not finite")
        with self._writing:
            groups = [self._groups.setdefault(int(code), len(self._groups)) for code in audiences]
            before = self._now
            grown = before.with_room_for(len(keys))
            grown.append(keys, numbers, np.asarray(groups, np.int32), new)
            after = grown.covering(len(keys), self._compressed_from)
            self._publish(after, before.find(np.unique(keys)))

    def drop(self, rows: ArrayLike) -> None:
        """Remove the vectors of these memories."""
        with self._writing:
            self._publish(self._now, self._now.find(np.unique(np.asarray(rows, np.int64))))

    def nearest(self, query: ArrayLike, most: int, audiences: Collection[int] | None = None) -> list[NearRow]:
        """The nearest memories of those audiences (of all, if None), each by its best passage; equal ones in row order."""
        now, asked = self._now, np.ascontiguousarray(query, np.float32)
        visible = now.visible(self._allowed(audiences))
        able = now.covered if visible is None else int(np.count_nonzero(visible))
        if most < 1 or not able:
            return []
        slots = None
        if now.codes is not None and able * _FETCH_IN_CODES > now.covered:
            slots = now.promising(asked, most, visible)
        elif visible is not None and able * _FETCH_IN_FLOATS < now.covered:
            slots = np.flatnonzero(visible)
        if slots is not None:
            return now.best(slots, now.columns.compare(asked, slots), most)
        slots = np.arange(now.covered) if visible is None else np.flatnonzero(visible)
        return now.best(slots, np.vecdot(now.columns.vectors[: now.covered], asked)[slots], most)

    def rows(self) -> list[int]:
        """The memories that have vectors here."""
        now = self._now
        living, rows = now.visible(None), now.columns.rows[: now.covered]
        held: list[int] = np.unique(rows if living is None else rows[living]).tolist()
        return held

    def score(
        self, query: ArrayLike, rows: ArrayLike, audiences: Collection[int] | None = None
    ) -> list[NearRow]:
        """The similarity of the given memories that have vectors and one of these audiences, most similar first."""
        now, asked = self._now, np.ascontiguousarray(query, np.float32)
        slots = now.find(np.unique(np.asarray(rows, np.int64)))
        allowed = self._allowed(audiences)
        if allowed is not None:
            slots = slots[allowed[now.columns.groups[slots]]]
        return now.best(slots, now.columns.compare(asked, slots), max(len(slots), 1))

    def _allowed(self, audiences: Collection[int] | None) -> NDArray[np.bool_] | None:
        if audiences is None:
            return None
        places = [self._groups[code] for code in audiences if code in self._groups]
        # Made after they were looked up: a writer may have added one meanwhile.
        allowed = np.zeros(len(self._groups) + 1, np.bool_)
        allowed[places] = True
        return allowed

    def _publish(self, after: "_Snapshot", ended: Integers) -> None:
        after = after._replace(version=after.version + 1, dead=after.dead + len(ended))
        after.columns.died[ended] = after.version
        self._now = after.compacted() if after.dead > max(_SMALLEST, after.covered // 4) else after


class _Columns(NamedTuple):
    """One entry for each vector, with free room at the end."""

    rows: Integers
    passages: Integers
    groups: NDArray[np.int32]
    died: Integers
    vectors: Floats

    @classmethod
    def empty(cls, dimensions: int) -> "_Columns":
        whole = np.empty(0, np.int64)
        return cls(whole, whole, np.empty(0, np.int32), whole, np.empty((0, dimensions), np.float32))

    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self

    def compare(self, query: Floats, slots: Integers) -> Floats:
        """The exact scores of some vectors, fetched a few at a time so that the copies stay in the CPU's cache."""
        scores = np.empty(len(slots), np.float32)
        fetched = np.empty((min(_FETCHED_AT_ONCE, len(slots)), len(query)), np.float32)
        for start in range(0, len(slots), _FETCHED_AT_ONCE):
            wanted = slots[start : start + _FETCHED_AT_ONCE]
            some = fetched[: len(wanted)]
            np.take(self.vectors, wanted, axis=0, out=some, mode="clip")  # "raise" would copy once more
            np.vecdot(some, query, out=scores[start : start + len(wanted)])
        return scores


class _Places(NamedTuple):
    """Where the vectors of a memory are: the rows of the first vectors, sorted, and their slots."""

    rows: Integers
    slots: Integers

    @classmethod
    def of(cls, rows: Integers) -> "_Places":
        slots = np.argsort(rows, kind="stable")
        return cls(rows[slots], slots)

    def find(self, wanted: Integers) -> Integers:
        first = np.searchsorted(self.rows, wanted, "left")
        many = np.searchsorted(self.rows, wanted, "right") - first
        if many.max(initial=0) == 1:
            # One passage each, as most memories have: no runs to lay out.
            return cast(Integers, self.slots[first[many == 1]])
        runs = np.repeat(first - np.cumsum(many) + many, many) + np.arange(many.sum())
        slots: Integers = self.slots[runs]
        return slots


class _Snapshot(NamedTuple):
    """One version of the vectors: the first `covered` entries, without those that were dead by then."""

    version: int
    covered: int
    dead: int
    columns: _Columns
    codes: "_Codes | None"
    places: _Places

    @property
    def nbytes(self) -> int:
        codes = () if self.codes is None else self.codes.columns
        return sum(array.nbytes for array in (*self.columns.arrays(), *codes, *self.places))

    def find(self, wanted: Integers) -> Integers:
        """The slots of some memories, given in order: by the sorted part, and by scanning the rest."""
        known, slots = len(self.places.rows), self.places.find(wanted)
        if known < self.covered and len(wanted):
            rows = self.columns.rows[known : self.covered]
            here = wanted[np.minimum(np.searchsorted(wanted, rows), len(wanted) - 1)] == rows
            slots = np.concatenate([slots, np.flatnonzero(here) + known])
        living: Integers = slots[self.columns.died[slots] > self.version] if self.dead else slots
        return living

    def visible(self, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """Which entries are alive and visible; None if all are."""
        alive = self.columns.died[: self.covered] > self.version if self.dead else None
        if allowed is None:
            return alive
        seen: NDArray[np.bool_] = allowed[self.columns.groups[: self.covered]]
        return seen if alive is None else seen & alive

    def promising(self, query: Floats, most: int, visible: NDArray[np.bool_] | None) -> Integers | None:
        """Every slot that can be among the best according to the codes; None if they do not exclude enough."""
        assert self.codes is not None
        guess, doubt = self.codes.estimate(query, self.covered)
        seen = np.arange(self.covered)
        if visible is not None:
            # Left out, not marked down: among many equal numbers argpartition can take fifty times as long.
            seen = np.flatnonzero(visible)
            guess, doubt = guess[seen], doubt[seen]
        first = seen[_highest(guess, _GUESSES * most)]
        floor = _floor(self.columns.rows[first], self.columns.compare(query, first), most)
        guess += doubt
        slots = seen[guess >= floor - _SLACK]
        return slots if len(slots) * _FETCH_IN_FLOATS < self.covered and floor > -np.inf else None

    def best(self, slots: Integers, scores: Floats, most: int) -> list[NearRow]:
        """The best memories among some vectors with their scores."""
        rows, passages = self.columns.rows[slots], self.columns.passages[slots]
        # Where each memory has one passage, none can come twice.
        alone = not passages.any()
        floor = _lowest_of(scores, most) if alone else _floor(rows, scores, most)
        able = np.flatnonzero(scores >= floor - _SAME)
        rows, passages = rows[able], passages[able]
        rounded = np.round(scores[able].astype(np.float64), DIGITS)
        order = np.lexsort((passages, rows, -rounded))
        order = order[:most] if alone else order[_first_of_each(rows[order])][:most]
        found = zip(rows[order].tolist(), passages[order].tolist(), rounded[order].tolist(), strict=True)
        return list(map(NearRow._make, found))

    def with_room_for(self, more: int) -> "_Snapshot":
        """The same with space for more; grows by half when full, so that an entry is moved only a few times."""
        room, needed = len(self.columns.rows), self.covered + more
        if needed <= room:
            return self
        room = max(needed, room + room // 2, _SMALLEST)
        return self._replace(
            columns=_Columns(*(_moved(array, slice(self.covered), room) for array in self.columns.arrays())),
            codes=self.codes and self.codes.moved(slice(self.covered), room),
        )

    def append(self, rows: Integers, passages: Integers, groups: NDArray[np.int32], vectors: Floats) -> None:
        """Write after the last entry, where no reader looks."""
        new = slice(self.covered, self.covered + len(rows))
        entries = _Columns(rows, passages, groups, np.full(len(rows), _ALIVE), vectors)
        for column, values in zip(self.columns.arrays(), entries.arrays(), strict=True):
            column[new] = values
        if self.codes is not None:
            self.codes.write(new, vectors)

    def covering(self, more: int, compressed_from: int | None) -> "_Snapshot":
        """The same including the appended entries."""
        count, codes, known = self.covered + more, self.codes, self.places
        if codes is None and compressed_from is not None and count >= compressed_from:
            codes = _Codes.of(self.columns.vectors, count)
        if count - len(known.rows) > max(_UNSORTED, len(known.rows) // 16):
            known = _Places.of(self.columns.rows[:count])
        return self._replace(covered=count, codes=codes, places=known)

    def compacted(self) -> "_Snapshot":
        """The same without dead entries, in arrays of its own."""
        alive = np.flatnonzero(self.columns.died[: self.covered] > self.version)
        room = max(len(alive), _SMALLEST)
        columns = _Columns(*(_moved(array, alive, room) for array in self.columns.arrays()))
        return self._replace(
            covered=len(alive),
            dead=0,
            columns=columns,
            codes=self.codes and self.codes.moved(alive, room),
            places=_Places.of(columns.rows[: len(alive)]),
        )


class _Codes:
    """A byte for each dimension of each vector, and a bound on their error.

    Vectors of one model share most of their direction, so the codes hold the difference from their centre: `scales`
    times the bytes, with an error of length `errors`. `along` is the dot product of the vector with the centre.
    """

    def __init__(self, centre: Floats, columns: tuple[NDArray[Any], ...], reach: float = 0.0) -> None:
        self._centre = centre
        self._reach = reach
        self.columns = columns

    @classmethod
    def of(cls, vectors: Floats, count: int) -> "_Codes":
        """The codes of the first vectors; their centre is kept from then on."""
        room, dimensions = vectors.shape
        centre = vectors[:count].mean(axis=0, dtype=np.float64).astype(np.float32)
        codes = cls(
            centre, (np.empty((room, dimensions), np.int8), *(np.empty(room, np.float32) for _ in range(3)))
        )
        codes.write(slice(0, count), vectors[:count])
        return codes

    def moved(self, slots: slice | Integers, room: int) -> "_Codes":
        return _Codes(self._centre, tuple(_moved(array, slots, room) for array in self.columns), self._reach)

    def write(self, slots: slice, vectors: Floats) -> None:
        for start in range(0, len(vectors), _ENCODED_AT_ONCE):
            some = vectors[start : start + _ENCODED_AT_ONCE]
            code = self._encode(some)
            at = slice(slots.start + start, slots.start + start + len(some))
            for column, values in zip(self.columns, code[:4], strict=True):
                column[at] = values
            # A reader of an older snapshot may see it grow already, and then compares a few vectors more.
            self._reach = max(self._reach, float(code.reaches.max()))

    def estimate(self, query: Floats, count: int) -> tuple[Floats, Floats]:
        """The estimated score of each vector, and the most by which it can be too low."""
        codes, scales, along, errors = (column[:count] for column in self.columns)
        asked = self._encode(query[None])
        guess = _products(codes, asked.codes)
        guess *= scales
        guess *= asked.scales[0]
        guess += along
        guess += np.float32(query @ self._centre - self._centre @ self._centre)
        # With q = p + e and v = w + f, codes and errors: qv = pw + ew + qf, and |ew| <= |e||w|, |qf| <= |q||f|.
        length = float(np.linalg.norm(query - self._centre))
        return guess, errors * np.float32(length) + np.float32(asked.errors[0] * self._reach)

    def _encode(self, vectors: Floats) -> "_Code":
        rest = vectors - self._centre
        scales = np.abs(rest).max(axis=1) / np.float32(_LARGEST_BYTE)
        steps = np.rint(np.divide(rest, scales[:, None], out=np.zeros_like(rest), where=scales[:, None] > 0))
        coded = steps * scales[:, None]
        return _Code(
            codes=steps.astype(np.int8),
            scales=scales,
            along=np.vecdot(vectors, self._centre),
            errors=np.linalg.norm(rest - coded, axis=1),
            reaches=np.linalg.norm(coded, axis=1),
        )


class _Code(NamedTuple):
    """The codes of some vectors; `reaches` is the length of what is coded."""

    codes: NDArray[np.int8]
    scales: Floats
    along: Floats
    errors: Floats
    reaches: Floats


def _products(codes: NDArray[np.int8], query: NDArray[np.int8]) -> Floats:
    """The dot product of each code with that of the query."""
    if _fast:
        products: Floats = np.asarray(_fast.cdist(query, codes, metric="dot"))[0].astype(np.float32)
        return products
    return np.concatenate(
        [
            np.vecdot(codes[start : start + _FETCHED_AT_ONCE].astype(np.float32), query[0].astype(np.float32))
            for start in range(0, len(codes), _FETCHED_AT_ONCE)
        ]
    )


def _moved(array: NDArray[Any], slots: slice | Integers, room: int) -> NDArray[Any]:
    kept = array[slots]
    new = np.empty((room, *array.shape[1:]), array.dtype)
    new[: len(kept)] = kept
    return new


def _highest(scores: Floats, most: int) -> Integers:
    if most >= len(scores):
        return np.arange(len(scores))
    return np.argpartition(scores, len(scores) - most)[len(scores) - most :]


def _lowest_of(scores: Floats, most: int) -> float:
    """The lowest of the best scores; below every score while there are fewer."""
    return float(np.partition(scores, -most)[-most]) if most < len(scores) else -math.inf


def _first_of_each(rows: Integers) -> Integers:
    """The first place of each memory, in the given order."""
    return np.sort(np.unique(rows, return_index=True)[1])


def _floor(rows: Integers, scores: Floats, most: int) -> float:
    """The score of the last memory among the best; below every score while there are fewer."""
    taken = most
    while taken < len(scores):
        taken *= 2
        best = _highest(scores, taken)
        best = best[np.argsort(-scores[best], kind="stable")]
        first = _first_of_each(rows[best])
        if len(first) >= most:
            return float(scores[best[first[most - 1]]])
    return -math.inf
