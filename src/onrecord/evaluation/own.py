"""HOW well is your own store searched? Questions that people judged are asked again, and compared with an earlier time."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from onrecord.care.own_questions import (
    DEPTH,
    MEASURES,
    ComparedMeasure,
    OwnScores,
    OwnTask,
    compared,
    own_task,
    scores_of,
)
from onrecord.care.resampling import interval
from onrecord.errors import NotFound, invalid
from onrecord.model.advice import UNADVISED
from onrecord.model.feedback import Feedback
from onrecord.model.ids import exactly
from onrecord.model.limits import BROWSE_LIMIT
from onrecord.service import OnRecord

#: What a figure in a file of figures is called.
_SCORES: Final = "questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReport:
    """The figures of one store, and those that they are compared with."""

    task: OwnTask
    scores: OwnScores
    recipe: str
    #: What the scores are compared with, in words; None if with nothing.
    against: str | None = None
    measures: tuple[ComparedMeasure, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether it is worse than before beyond its interval; too few questions say nothing."""
        return self.task.is_enough and any(each.is_worse for each in self.measures)

    def lines(self) -> Iterator[str]:
        answerable = self.task.answerable
        yield (
            f"Your own store, recipe {self.recipe}: {len(answerable)} questions with a useful hit, "
            f"{len(self.task.questions)} that were judged"
        )
        for name, mean, low, high in self._means():
            yield f"  {name:<10} {100 * mean:5.1f} %   95 %: {100 * low:.1f} to {100 * high:.1f}"
        if self.scores.wrong:
            share = self.scores.wrong_found / self.scores.wrong
            yield f"  known wrong among the first ten: {100 * share:.1f} % of {self.scores.wrong}"
        for what, count in self.task.notices.items():
            yield f"  {what}: {count}"
        if self.against is not None:
            yield from self._comparison()
        if not self.task.is_enough:
            yield self.task.too_little

    def _comparison(self) -> Iterator[str]:
        yield (
            f"Against {self.against}:" if self.measures else f"Against {self.against}: no question in common"
        )
        for each in self.measures:
            yield f"  {each.in_words()}{', worse beyond its interval' if each.is_worse else ''}"

    def _means(self) -> Iterator[tuple[str, float, float, float]]:
        rows = np.array([*self.scores.questions.values()])
        if len(rows):
            low, high = interval(rows)
            for name, *figures in zip(MEASURES, rows.mean(axis=0), low, high, strict=True):
                mean, least, most = map(float, figures)
                yield name, mean, least, most

    def as_json(self) -> dict[str, Any]:
        """For a later comparison: digests of questions, and none of their texts."""
        means = {name: {"mean": mean, "ci95": [low, high]} for name, mean, low, high in self._means()}
        return {
            "task": "own",
            "recipe": self.recipe,
            "n": len(self.task.answerable),
            "overall": means,
            "wrong_found": self.scores.wrong_found,
            "wrong": self.scores.wrong,
            "measures": list(MEASURES),
            _SCORES: {digest: list(scores) for digest, scores in self.scores.questions.items()},
            "against": self.against,
            "differences": [each.to_dict() | {"is_worse": each.is_worse} for each in self.measures],
        }


def measure_own(
    door: OnRecord,
    recipe: str | None = None,
    against: Path | None = None,
) -> OwnReport:
    """Measure a store on the questions that its people judged, as far as the caller may see them. Another recipe is compared
    with the default; `against` is a file of earlier figures.
    """
    task = own_task(_feedback(door), lambda id: _is_active(door, id))

    def scores(named: str | None) -> OwnScores:
        # A model would answer otherwise from time to time, and be paid for it.
        asked = UNADVISED | ({} if named is None else {"recipe": named})
        return scores_of(
            task,
            lambda question: [hit.memory.id for hit in door.recall(question, limit=DEPTH, **asked).hits],
        )

    now = scores(recipe)
    before: Mapping[str, tuple[float, ...]] | None = None
    whom = None
    if against is not None:
        before, whom = read_scores(against), str(against)
    elif recipe is not None:
        before, whom = scores(None).questions, "the default"
    measures = () if before is None else compared(before, now.questions)
    return OwnReport(task=task, scores=now, recipe=recipe or "auto", against=whom, measures=measures)


def read_scores(path: Path) -> Mapping[str, tuple[float, ...]]:
    """The scores of the last measurement of an own store in a file of figures."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        found = [line for line in lines if isinstance(line, dict) and line.get("task") == "own"]
        scores = found[-1][_SCORES] if found and found[-1]["measures"] == list(MEASURES) else None
        if scores is not None:
            return {digest: tuple(map(float, each)) for digest, each in scores.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise invalid("against", f"{path} cannot be read: {problem}") from None
    raise invalid("against", f"{path} holds no figures of `onrecord eval --own --json`")


def _feedback(door: OnRecord) -> Iterator[Feedback]:
    after = None
    while True:
        page = door.feedback(limit=BROWSE_LIMIT, after=after)
        yield from page.feedback
        if (after := page.next) is None:
            return


def _is_active(door: OnRecord, id: str) -> bool:
    try:
        return door.show(exactly(id)).memory.status == "active"
    except NotFound:
        return False
