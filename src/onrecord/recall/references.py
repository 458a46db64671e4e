"""WHICH memories are about the things that the question names? BM25 over references, in which a precise one counts
most.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Final, NamedTuple

from onrecord.recall.channels import asked
from onrecord.recall.draft import RecallDraft, RecallTools, best_first
from onrecord.store.ports.index import Found, Match, ReferenceCounts
from onrecord.text.names import names_in, names_of

_K1: Final = 1.5
_B: Final = 0.75
# BM25Plus: to be about a thing at all is worth something, however many others a memory is about.
_DELTA: Final = 1.0
#: What being about a part is worth, against its whole: less than any memory about the whole has.
_PART: Final = 0.3
_MOST_PARTS: Final = 1_000
#: A model is named by its datasource and its name, or by the URN of its dataset. Each costs a look at all references, so only so many are looked at.
_MODEL: Final = re.compile(r"[^.:]+\.[^.:]+|urn:li:dataset:.+", re.DOTALL)
_MOST_WHOLES: Final = 8
#: Of one thing that very many memories are about, the newest are looked at.
MOST_HOLDERS: Final = 1_000


def search_references(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Search by the references that the caller gives, and by those whose names the question mentions."""
    if "references" not in draft.recipe.weights or not tools.index.has_references:
        return draft
    given, beside = draft.ask.entities, draft.neighbours
    names = () if draft.recipe.fusion == "absolute" else names_in(draft.ask.question)
    parts = _parts_of([*given, *beside], tools) if draft.among is None else {}
    about = tools.index.about([*given, *parts, *beside], names, most=MOST_HOLDERS)
    if not about.holders:
        return draft
    if draft.recipe.fusion == "absolute":
        listed = newest_first(about, {*given, *(part for part, whole in parts.items() if whole in given)})
        return asked(draft, "references", lambda most: listed[:most])
    weighing = ReferenceWeights.of(about, {**beside, **parts})
    ranked = newest_of_equals(rank(about, weighing))
    return asked(draft, "references", lambda most: ranked[:most], weighing.score_of)


def _parts_of(given: Sequence[str], tools: RecallTools) -> dict[str, str]:
    """The parts of given things that memories are about, such as columns of a model, each with its whole."""
    return {
        part: whole
        for whole in islice((each for each in given if _MODEL.fullmatch(each)), _MOST_WHOLES)
        for part in islice(tools.reading.references(whole), _MOST_PARTS)
        if part not in given
    }


def newest_first(about: ReferenceCounts, given: Set[str]) -> list[Found]:
    """All with the same score: first those about the given things, then those about their neighbours, newest first."""
    order = sorted(about.holders, key=lambda key: (given.isdisjoint(about.holders[key]), -key[1], key[0]))
    return [Found(key, 1.0) for key in order]


class ReferenceWeights(NamedTuple):
    """BM25Plus, with each reference a word and a memory's references its text."""

    about: ReferenceCounts
    weights: Mapping[str, float]
    average: float

    @classmethod
    def of(cls, about: ReferenceCounts, parts: Mapping[str, str]) -> "ReferenceWeights":
        """A part weighs less than its whole, however rare it is."""
        weights = {reference: rarity(count, about.memories) for reference, count in about.counts.items()}
        for part, whole in parts.items():
            if part in weights:
                weights[part] = _PART * rarity(about.counts.get(whole, 0), about.memories)
        return cls(about, weights, sum(about.lengths.values()) / len(about.lengths))

    def score(self, held: Iterable[str], references: int) -> float:
        length = 1 - _B + _B * references / self.average
        return sum(self.weights[each] * (_DELTA + (_K1 + 1) / (_K1 * length + 1)) for each in held)

    def score_of(self, match: Match) -> float:
        """The score of a memory, though it may not be among the newest that are about a common thing."""
        held = {*self.about.holders.get(match.key, ()), *self._common(match.entities)}
        return self.score(sorted(held), len(match.entities)) if held else 0.0

    def _common(self, references: Sequence[str]) -> Iterator[str]:
        if any(count > MOST_HOLDERS for count in self.about.counts.values()):
            for reference in references:
                yield from (each for each in (reference, *names_of(reference)) if each in self.weights)


def rank(about: ReferenceCounts, weighing: ReferenceWeights | None = None) -> list[Found]:
    """Best first; of two equal ones, the one saved first."""
    weighing = weighing or ReferenceWeights.of(about, {})
    return best_first({key: weighing.score(held, about.lengths[key]) for key, held in about.holders.items()})


def newest_of_equals(ranked: Sequence[Found]) -> list[Found]:
    """Of memories that are equally about a thing, the newest take part: later layers decide their order."""
    return sorted(ranked, key=lambda each: (-each.score, -each.key[1], each.key[0]))


def rarity(count: int, memories: int) -> float:
    """The weight of a reference that so many of the memories have."""
    return math.log(1 + (max(memories - count, 0) + 0.5) / (count + 0.5))
