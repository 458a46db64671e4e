"""HOW good is a ranking? Measures whose names cannot be confused, averaged over questions.

any@k     1 if at least one gold document is among the first k
all@k     1 if every gold document is
recall@k  the share of the gold documents that are
mrr       1 / the place of the first gold document, 0 if it was not found
ndcg@10   gold documents among the first ten, those at the top counting more; 1 is the best order there is
"""

from collections.abc import Iterable, Sequence
from math import comb, log2
from typing import Final, NamedTuple

import numpy as np

from onrecord.care.resampling import interval

_CUTS: Final = (5, 10, 20)
_NDCG_CUT: Final = 10
#: The names of the measures, in the order in which `score` gives them.
MEASURES: Final = (
    *(f"{name}@{cut}" for cut in _CUTS for name in ("any", "all", "recall")),
    "mrr",
    f"ndcg@{_NDCG_CUT}",
)

Scores = tuple[float, ...]


class Averages(NamedTuple):
    """Each measure over several questions: its mean, and the ends of its 95 % interval."""

    questions: int
    mean: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]


def score(ranked: Sequence[str], gold: frozenset[str]) -> Scores:
    """The measures of one answer. `gold` must not be empty, and a ranking must not contain anything twice."""
    scores: list[float] = []
    for cut in _CUTS:
        found = len(gold.intersection(ranked[:cut]))
        scores += [float(found > 0), float(found == len(gold)), found / len(gold)]
    places = [place for place, id in enumerate(ranked, 1) if id in gold]
    scores.append(1 / places[0] if places else 0.0)
    gain = sum(_worth(place) for place in places if place <= _NDCG_CUT)
    return (*scores, gain / _best(len(gold)))


def _best(gold: int) -> float:
    """The gain of the best possible order."""
    return sum(_worth(place) for place in range(1, min(_NDCG_CUT, gold) + 1))


def _worth(place: int) -> float:
    return 1 / log2(place + 1)


def by_chance(documents: int, known: int, gold: int, depth: int) -> Scores:
    """The average score of a random order, if `known` of the `gold` documents are among all documents."""
    if not known:
        return (0.0,) * len(MEASURES)
    scores: list[float] = []
    for cut in (min(cut, documents) for cut in _CUTS):
        draws = comb(documents, cut)
        every = comb(documents - known, cut - known) / draws if known == gold <= cut else 0.0
        scores += [1 - comb(documents - known, cut) / draws, every, known * cut / (gold * documents)]
    orders, firsts = comb(documents, known), range(1, min(depth, documents - known + 1) + 1)
    scores.append(sum(comb(documents - place, known - 1) / (place * orders) for place in firsts))
    gain = sum(_worth(place) for place in range(1, min(_NDCG_CUT, documents) + 1)) * known / documents
    return (*scores, gain / _best(gold))


def averages(rows: Sequence[Scores]) -> Averages:
    """Means, and the middle 95 % of the means of a thousand resamples of the questions (bootstrap, fixed seed)."""
    values = np.array(rows)
    low, high = interval(values)
    return Averages(
        questions=len(rows),
        mean=_named(values.mean(axis=0)),
        low=_named(low),
        high=_named(high),
    )


def _named(values: Iterable[float]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(MEASURES, values, strict=True)}
