"""HOW are memories found in the words of the data platform? memory_recall: four strategies, and one that joins them.

What the platform does after it has found something, we do before: a dimension, a status and a limit are asked of the store,
so that nothing that was wanted is cut off by what was not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from onrecord.faces.data_platform.fields import (
    MOST_RECALLED,
    RECALLED,
    RefusedField,
    check_choices,
    clamped,
    in_its_words,
    refuse,
)
from onrecord.faces.data_platform.keeping import without_review
from onrecord.faces.data_platform.records import record_of
from onrecord.model.limits import Status
from onrecord.recall.recall import Recalled
from onrecord.service import OnRecord

STRATEGIES: Final = ("entity", "semantic", "lexical", "graph", "auto")
#: Vectors and words by fixed weights, and words alone by the same measure.
RECIPE: Final = "absolute"
WORDS_ALONE: Final = "absolute_words"
#: Only the words of the question count, and the best hits are shown, whichever circle of readers they belong to.
AS_IT_IS: Final[Mapping[str, Any]] = {
    "intent": False,
    "times": "off",
    "conversation_places": 0,
    "tenant_places": 0,
    "global_places": 0,
    "background": True,
}
DEGRADED: Final = (
    "embedding provider unavailable; results are lexical-only (exact-term matches), not semantic"
)


class _Question(NamedTuple):
    """What a strategy asks: with which words, about what, and how far along the lineage."""

    words: str = ""
    entities: Sequence[str] = ()
    lineage: int = 0
    recipe: str = RECIPE


@in_its_words()
def memory_recall(
    door: OnRecord,
    query: str,
    strategy: str = "auto",
    entity_urns: Sequence[str] | None = None,
    dimension: str | None = None,
    include_stale: bool = False,
    limit: int | None = None,
) -> dict[str, Any]:
    """What is known about a question or about entities, best first; of equal worth, the newest about an entity first."""
    refuse(check_choices({"dimension": dimension}))
    strategy = strategy or "auto"
    question = _question(strategy, query.strip(), list(entity_urns or ()))
    wanted: dict[str, Any] = {
        "limit": clamped(limit, RECALLED, MOST_RECALLED),
        "only_dimensions": [dimension] if dimension else [],
    }
    found = _asked(door, question, ("active", "stale") if include_stale else ("active",), wanted)
    answer: dict[str, Any] = {
        "memories": found.memories,
        "count": len(found.memories),
        "strategy": strategy,
        "ranking": _ranking(strategy, question, found.is_hybrid),
    }
    if found.is_degraded:
        answer |= {"degraded": True, "note": DEGRADED}
    return answer


def _question(strategy: str, query: str, urns: Sequence[str]) -> _Question:
    if strategy not in STRATEGIES:
        raise RefusedField(
            "strategy",
            f'recall failed: unknown strategy "{strategy}": use entity, semantic, lexical, graph, or auto',
        )
    if strategy in ("entity", "graph") and not urns:
        raise RefusedField("entity_urns", f"recall failed: entity_urns required for {strategy} strategy")
    if strategy in ("semantic", "lexical") and not query:
        raise RefusedField("query", f"recall failed: query required for {strategy} strategy")
    return {
        "entity": _Question(entities=urns),
        "semantic": _Question(query),
        "lexical": _Question(query, recipe=WORDS_ALONE),
        "graph": _Question(entities=urns, lineage=1),
        "auto": _Question(query, urns, lineage=1),
    }[strategy]


def _ranking(strategy: str, question: _Question, is_hybrid: bool) -> str:
    if strategy in ("entity", "graph"):
        return strategy
    if question.words or not question.entities:
        return "hybrid" if is_hybrid else "lexical"
    return "graph"


class _Ranked(NamedTuple):
    """The memories with their scores, and by what they were ranked."""

    memories: list[dict[str, Any]]
    is_hybrid: bool
    is_degraded: bool


def _asked(
    door: OnRecord, question: _Question, statuses: Sequence[Status], wanted: dict[str, Any]
) -> _Ranked:
    """The approved memories, and the caller's own pending ones; pending memories of others are left out, even for a reviewer."""
    if not question.words and not question.entities:
        return _Ranked([], is_hybrid=False, is_degraded=False)
    if door.caller.is_admin:
        mine = replace(door.caller, permissions=door.caller.permissions - {"memory.admin", "memory.review"})
        own = {**wanted, "only_owners": [door.caller.user]}
        answers = [
            _recalled(door, question, statuses, wanted),
            _recalled(door.as_caller(mine), question, ("pending",), own),
        ]
    else:
        answers = [_recalled(without_review(door), question, (*statuses, "pending"), wanted)]
    scored = [
        (hit.score, {"Record": record_of(hit.memory, background), "Score": hit.score})
        for answer in answers
        for hit, background in zip(answer.hits, answer.background, strict=True)
    ]
    scored.sort(key=lambda each: -each[0])
    is_hybrid = any("semantic" in answer.channels for answer in answers)
    asks_vectors = bool(question.words) and question.recipe == RECIPE
    return _Ranked(
        [record for _, record in scored[: wanted["limit"]]],
        is_hybrid,
        is_degraded=asks_vectors and not is_hybrid and bool(answers[0].degraded),
    )


def _recalled(
    door: OnRecord, question: _Question, statuses: Sequence[Status], wanted: dict[str, Any]
) -> Recalled:
    return door.recall(
        question.words,
        entities=question.entities,
        lineage=question.lineage,
        recipe=question.recipe,
        statuses=statuses,
        **AS_IT_IS,
        **wanted,
    )
