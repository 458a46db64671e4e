"""WHAT does an advisor add to a search by subject? Other ways to ask, and an order of what was found: one call for all lists,
whatever their caps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from onrecord.model.advice import AdviceInput, Advised
from onrecord.model.memory import Memory
from onrecord.operation import Call
from onrecord.providers.advising import is_wanted
from onrecord.recall.advice import (
    FEWEST,
    FINE,
    MOST,
    WEIGHTS,
    are_close,
    candidate_of,
    decided,
    in_other_words,
    is_to_ask,
    no_question,
    nothing_to_order,
    unadvised,
    wishes_of,
)
from onrecord.recall.fusion import RRF

if TYPE_CHECKING:
    from onrecord.recall.recall import Recall


class SubjectFound(NamedTuple):
    """A record that was found, with its score and its relevance."""

    memory: Memory
    score: float
    relevance: float


@dataclass(frozen=True, slots=True)
class SubjectLists:
    """What was found: notes, example queries and entities, each best first."""

    learnings: Sequence[SubjectFound]
    queries: Sequence[SubjectFound]
    entities: Sequence[SubjectFound]

    def __iter__(self) -> Iterator[Sequence[SubjectFound]]:
        return iter((self.learnings, self.queries, self.entities))

    def cut(self, *caps: int) -> "SubjectLists":
        return SubjectLists(*(each[:most] for each, most in zip(self, caps, strict=True)))


def join_lists(variants: Sequence[SubjectLists]) -> SubjectLists:
    """The lists of a question and its paraphrases as one of each kind: only places count, and the question's own most."""
    if len(variants) == 1:
        return variants[0]
    return SubjectLists(*(_joined(lists) for lists in zip(*variants, strict=True)))


def _joined(lists: Sequence[Sequence[SubjectFound]]) -> list[SubjectFound]:
    found: dict[str, SubjectFound] = {}
    for number, listed in enumerate(lists):
        for rank, each in enumerate(listed, 1):
            known = found.get(each.memory.id, each._replace(score=0.0))
            share = WEIGHTS[min(number, 1)] / (RRF + rank)
            relevance = max(known.relevance, each.relevance)
            found[each.memory.id] = known._replace(score=known.score + share, relevance=relevance)
    return sorted(found.values(), key=lambda each: -each.score)


class SubjectAdvice:
    """What a search asks an advisor, and what came of it; `advised` grows with each question."""

    def __init__(self, call: Call, ask: "Recall") -> None:
        self._call, self._ask = call, ask
        self._wishes = wishes_of(call, ask)
        self.advised: tuple[Advised, ...] = ()

    def questions(self) -> tuple[str, ...]:
        """The question and its paraphrases."""
        questions, self.advised = in_other_words(self._call, self._ask, self._wishes)
        return questions

    def depth(self, cap: int) -> int:
        """How much of a list is looked at. Whatever its cap, so that a cap changes no order; nothing of what is not shown."""
        is_advised = is_wanted(self._wishes.expand) or self._wishes.reorders
        return max(cap, FEWEST) if cap and is_advised and self._call.advisor.is_there else cap

    def ordered(self, lists: SubjectLists) -> SubjectLists:
        """The lists in the order of an advisor, if one is wanted and the order is not clear. Call it while nothing is open."""
        if not self._wishes.reorders:
            return lists
        if not self._call.advisor.is_there:
            self.advised += unadvised(self._call, self._wishes)
            return lists
        if not self._ask.question.strip():
            self.advised += (no_question("rerank"),)
            return lists
        if sum(map(len, lists)) < 2:
            self.advised += tuple(nothing_to_order(self._wishes))
            return lists
        if self._wishes.when == "close":
            close = any(are_close(each.relevance for each in listed) for listed in lists)
            if not is_to_ask(self._call, close):
                self.advised += (decided(self._call),)
                return lists
        if is_wanted(self._wishes.rerank):
            lists = self._reordered(lists, "rerank", self._wishes.rerank, MOST // 3)
        if is_wanted(self._wishes.rerank_fine):
            lists = self._reordered(lists, "rerank_fine", self._wishes.rerank_fine, FINE)
        return lists

    def _reordered(
        self, lists: SubjectLists, task: Literal["rerank", "rerank_fine"], model: str, most: int
    ) -> SubjectLists:
        """The first of each list in the order of a reply; those that it does not name keep theirs, after the named."""
        pool = {each.memory.id: each for listed in lists for each in listed[:most]}
        shown = AdviceInput(
            texts=(("question", self._ask.question),),
            candidates=tuple(candidate_of(each.memory) for each in pool.values()),
        )
        advised = self._call.advise(task, shown, model, self._wishes.agent)
        self.advised += (advised,)
        if not advised.said:
            return lists
        return SubjectLists(*(_named_first(listed, advised.said, most) for listed in lists))


def _named_first(listed: Sequence[SubjectFound], named: Sequence[str], most: int) -> list[SubjectFound]:
    head, tail = listed[:most], listed[most:]
    by_id = {each.memory.id: each for each in head}
    first = [by_id[id] for id in named if id in by_id]
    order = [*first, *(each for each in head if each.memory.id not in named), *tail]
    return [each._replace(score=1 / (RRF + rank)) for rank, each in enumerate(order, 1)]
