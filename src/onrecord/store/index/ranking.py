"""HOW do postings become an order? By BM25 in whole numbers over arrays, pruned by what the remaining terms can still
add.

Integers make a score independent of the database and of the order of addition. A posting is one number: its row, its
weight and the length of its memory.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from onrecord.store.index.entries import CONTENT_WEIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Fine enough that a word that occurs in a million memories still weighs something.
SCALE: Final = 1 << 24
# k1 is measured in words of the content, whose weight is not 1.
_K1: Final = 1.2 * CONTENT_WEIGHT
_B: Final = 0.75
_PRECISION: Final = 1 << 14
_WEIGHT_BITS: Final = 8
_LENGTH_BITS: Final = 16
_ROW_BITS: Final = 39
#: How a statement packs a posting: row * ROW_UNIT + weight * WEIGHT_UNIT + length.
WEIGHT_UNIT: Final = 1 << _LENGTH_BITS
ROW_UNIT: Final = 1 << (_LENGTH_BITS + _WEIGHT_BITS)
#: A list that holds at least one row in so many is laid out by rows: to look something up there is one step.
SPARSE: Final = 64
# If there are this few keys relative to the length of the list, that is not worth it.
_FEW: Final = 64
#: So many postings are scored one by one as quickly as in arrays; a search for no more need not load NumPy.
FEW_POSTINGS: Final = 80
# Scores are counted in so many steps of two to find how high the best reach: many are equal, and sorting stumbles there.
_STEP_BITS: Final = 12


class Statistics(NamedTuple):
    """What BM25 needs of the searched tenants: how many records contain each term, its weight, and the average
    length.
    """

    counts: Mapping[str, int]
    weights: Mapping[str, int]
    base: int
    per_word: int

    @classmethod
    def of(cls, documents: int, words: int, counts: Mapping[str, int]) -> "Statistics":
        average = max(words, 1) / max(documents, 1)
        return cls(
            counts=counts,
            weights={
                term: max(round(math.log(1 + (max(documents - count, 0) + 0.5) / (count + 0.5)) * SCALE), 2)
                for term, count in counts.items()
            },
            base=round(_K1 * (1 - _B) * _PRECISION),
            per_word=max(round(_K1 * _B * _PRECISION / average), 1),
        )

    def part(self, rarity: Any, weight: Any, length: Any) -> Any:
        """What a posting of a term of this rarity adds to a score; for numbers and arrays."""
        heavy = weight * _PRECISION
        return rarity * heavy // (heavy + self.base + self.per_word * length)


def best_of_few(
    known: Statistics, lists: Iterable[tuple[int, str, str]], most: int
) -> list[tuple[int, int, int]]:
    """What `Candidates` would find in these lists, computed without arrays."""
    scores: dict[int, int] = {}
    for tenant, term, packed in lists:
        rarity, home = known.weights[term], tenant << _ROW_BITS
        for posting in map(int, packed.split(",")):
            key = home | _rows(posting)
            scores[key] = scores.get(key, 0) + _parts(known, rarity, posting)
    best = sorted([(-score, key) for key, score in scores.items()])[:most]
    return [(key >> _ROW_BITS, key & ((1 << _ROW_BITS) - 1), -score) for score, key in best]


class Scored:
    """The list of one term: the keys of its rows in order, what it adds to each score, and the most it adds."""

    def __init__(self, keys: "NDArray[Any]", parts: "NDArray[Any]") -> None:
        self.keys = keys
        self.parts = parts
        self.highest = int(parts.max(initial=0))
        # What it adds to each row of the tenant, those included that it does not hold; made when it is needed.
        self._by_row: NDArray[Any] | None = None
        # The places of those to which it adds most, in that order, and of how many; made when it is needed.
        self._first: tuple[int, NDArray[Any]] | None = None

    @classmethod
    def of(cls, known: Statistics, term: str, tenant: int, lists: "Sequence[NDArray[Any]]") -> "Scored":
        import numpy as np

        postings = np.sort(np.concatenate([np.empty(0, np.int64), *lists]))
        return cls(_rows(postings) | (tenant << _ROW_BITS), _parts(known, known.weights[term], postings))

    def first(self, most: int) -> "NDArray[Any]":
        """The places of the rows to which it adds most; of two equal ones, the one saved first."""
        import numpy as np

        if self._first is None or self._first[0] < most:
            self._first = most, np.argsort(-self.parts, kind="stable")[:most]
        return self._first[1][:most]

    def find(self, keys: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """Where some keys are or would be in the list, and which of them are there."""
        import numpy as np

        at = np.searchsorted(self.keys, keys)
        here = at < len(self.keys)
        here[here] = self.keys[at[here]] == keys[here]
        return at, here

    def parts_of(self, keys: "NDArray[Any]") -> "NDArray[Any]":
        """What it adds to each of some keys of the same tenant."""
        import numpy as np

        if not len(self.keys):
            return np.zeros(len(keys), np.int64)
        span = int(self.keys[-1] - self.keys[0]) + 1
        if span > SPARSE * len(self.keys) or len(keys) * _FEW < len(self.keys):
            at, here = self.find(keys)
            parts = np.zeros(len(keys), np.int64)
            parts[here] = self.parts[at[here]]
            return parts
        if self._by_row is None:
            # Beyond both ends it adds nothing.
            by_row = np.zeros(span + 2, np.int32)
            by_row[self.keys - self.keys[0] + 1] = self.parts
            self._by_row = by_row
        found: NDArray[Any] = self._by_row[np.clip(keys - (self.keys[0] - 1), 0, span + 1)]
        return found


class Candidates:
    """Rows that may be among the best, with the sums of their parts so far."""

    def __init__(self, known: Statistics, most: int) -> None:
        import numpy as np

        self._known = known
        self._most = most
        self._keys: NDArray[Any] = np.empty(0, np.int64)
        self._scores: NDArray[Any] = np.empty(0, np.int64)
        self._floor: int | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def rows(self) -> list[int]:
        rows: list[int] = (self._keys & ((1 << _ROW_BITS) - 1)).tolist()
        return rows

    def add(self, lists: Sequence[tuple[int, str, str]]) -> None:
        """Add every row of some lists of postings, each with its tenant and term."""
        import numpy as np

        if not lists:
            return
        # All lists in one, so that a short one costs no more than its postings.
        sizes = [packed.count(",") + 1 for _, _, packed in lists]
        postings = packed_numbers(",".join([packed for _, _, packed in lists]))
        tenants = np.repeat([tenant << _ROW_BITS for tenant, _, _ in lists], sizes)
        weights = np.repeat([self._known.weights[term] for _, term, _ in lists], sizes)
        keys = np.concatenate([self._keys, _rows(postings) | tenants])
        parts = np.concatenate([self._scores, _parts(self._known, weights, postings)])
        order = np.argsort(keys, kind="stable")
        keys, parts = keys[order], parts[order]
        starts = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=starts[1:])
        first = np.flatnonzero(starts)
        self._be(keys[first], np.add.reduceat(parts, first))

    def _be(self, keys: "NDArray[Any]", scores: "NDArray[Any]") -> None:
        self._keys, self._scores, self._floor = keys, scores, None

    def take(self, listed: Scored) -> None:
        """The same for one sorted list, few of whose rows are here already."""
        import numpy as np

        at, here = listed.find(self._keys)
        scores = listed.parts.copy()
        scores[at[here]] += self._scores[here]
        self._be(
            np.concatenate([listed.keys, self._keys[~here]]), np.concatenate([scores, self._scores[~here]])
        )

    def take_last(self, listed: Scored) -> None:
        """The same for the last list: of the rows that it alone has, only the best are needed."""
        import numpy as np

        if len(self._keys) * _FEW > len(listed.keys):
            self.take(listed)
            return
        at, here = listed.find(self._keys)
        is_here = np.zeros(len(listed.keys), np.bool_)
        is_here[at[here]] = True
        first = listed.first(self._most)
        new = first[~is_here[first]]
        scores = self._scores.copy()
        scores[here] += listed.parts[at[here]]
        self._be(np.concatenate([self._keys, listed.keys[new]]), np.concatenate([scores, listed.parts[new]]))

    def raise_by(self, lists: Sequence[tuple[int, str, str]]) -> None:
        """Add what some lists give to the rows that are here; no rows are added."""
        import numpy as np

        # Rows that were taken from a list come after the others.
        order = np.argsort(self._keys)
        self._be(self._keys[order], self._scores[order])
        for tenant, term, text in lists:
            postings = packed_numbers(text)
            keys = _rows(postings) | (tenant << _ROW_BITS)
            at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            here = self._keys[at] == keys
            self._scores[at[here]] += _parts(self._known, self._known.weights[term], postings[here])

    def lift(self, listed: Scored) -> None:
        """The same for one sorted list, which may be much longer than the rows here."""
        self._be(self._keys, self._scores + listed.parts_of(self._keys))

    def floor(self) -> int:
        """A score that all the best so far reach, hardly below the last of them; below zero while there are fewer."""
        if self._floor is None:
            self._floor = self._found_floor()
        return self._floor

    def _found_floor(self) -> int:
        import numpy as np

        if len(self._scores) < self._most:
            return -1
        step = max(int(self._scores.max()).bit_length() - _STEP_BITS, 0)
        reached = np.cumsum(np.bincount(self._scores >> step)[::-1])
        return int(len(reached) - 1 - np.searchsorted(reached, self._most)) << step

    def drop_below(self, score: int) -> None:
        """Drop rows that cannot be among the best; the best stay as they are."""
        if score > 0:
            able = self._scores >= score
            self._keys, self._scores = self._keys[able], self._scores[able]

    def best(self) -> list[tuple[int, int, int]]:
        """Tenant, row and score of the best, highest first; of two equal ones, the one saved first."""
        import numpy as np

        self.drop_below(self.floor())
        order = np.lexsort((self._keys, -self._scores))[: self._most]
        keys, scores = self._keys[order], self._scores[order].tolist()
        tenants, rows = (keys >> _ROW_BITS).tolist(), (keys & ((1 << _ROW_BITS) - 1)).tolist()
        return list(zip(tenants, rows, scores, strict=True))


def _parts(known: Statistics, rarity: Any, postings: Any) -> Any:
    weights = (postings >> _LENGTH_BITS) & ((1 << _WEIGHT_BITS) - 1)
    return known.part(rarity, weights, postings & (WEIGHT_UNIT - 1))


def packed_numbers(text: str) -> "NDArray[Any]":
    import numpy as np

    return np.fromstring(text, dtype=np.int64, sep=",")


def _rows(postings: Any) -> Any:
    return postings >> (_LENGTH_BITS + _WEIGHT_BITS)
