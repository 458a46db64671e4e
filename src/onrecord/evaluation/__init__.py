"""HOW well are questions answered? Documents are saved and questions asked as any program would, and the answers
scored.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from time import perf_counter
from typing import Final, NamedTuple

from onrecord.evaluation.data import Haystack, Task
from onrecord.evaluation.methods import (
    DEPTH,
    EvalMethod,
    FilledHaystack,
    SaveContext,
    ThroughFace,
    ThroughRecall,
    ThroughSearch,
)
from onrecord.evaluation.report import Report
from onrecord.evaluation.scores import Scores, averages, by_chance, score
from onrecord.evaluation.unanswerable import AbstentionCount, Whose, unanswerable
from onrecord.service import OnRecord

__all__ = ["OtherTasks", "ThroughFace", "ThroughRecall", "ThroughSearch", "evaluate"]

#: By `recall` with its default recipe.
AS_USUAL: Final = ThroughRecall()
Progress = Callable[[str, int, int | None], None]


class OtherTasks(NamedTuple):
    """Tasks whose questions have no answer here, and how many of each to ask."""

    tasks: Sequence[Task] = ()
    most: int = 0


NO_OTHERS: Final = OtherTasks()


class _Run:
    """One task on one store, with its results so far."""

    def __init__(
        self, task: Task, way: EvalMethod, now: datetime, progress: Progress, others: OtherTasks
    ) -> None:
        self._task = task
        self._others = others
        self._way = way
        self._now = now
        self._progress = progress
        self._steps = {"saving": count(1), "asking": count(1)}
        self._totals = {
            "saving": sum(len(each.documents) for each in task.haystacks),
            "asking": sum(len(each.questions) for each in task.haystacks),
        }
        self.notices = Counter(task.notices)
        self.groups: dict[str, list[Scores]] = defaultdict(list)
        self.chance: list[Scores] = []
        self.silence: dict[Whose, AbstentionCount] = {}
        self.saved_s = self.asked_s = 0.0

    def measure(self, haystack: Haystack, door: OnRecord) -> None:
        started = perf_counter()
        saving = SaveContext(now=self._now, notices=self.notices, saved=lambda: self._step("saving"))
        filled = self._way.save(door, haystack, saving)
        if door.status().embedder:
            door.embed_missing()
        self.saved_s += perf_counter() - started
        known = {document.id for document in haystack.documents}
        for question in haystack.questions:
            started = perf_counter()
            ranked = self._way.ask(door, question, filled, self.notices)
            self.asked_s += perf_counter() - started
            self._step("asking")
            self.groups[question.group].append(score(ranked, question.gold))
            reachable = len(question.gold & known)
            self.chance.append(by_chance(len(known), reachable, len(question.gold), DEPTH))
        self._ask_in_vain(haystack, door, filled)

    def _ask_in_vain(self, haystack: Haystack, door: OnRecord, filled: FilledHaystack) -> None:
        asked = unanswerable(self._task, haystack, self._others.tasks, self._others.most)
        for whose, questions in asked.items():
            answers = [self._way.ask(door, question, filled, Counter()) for question in questions]
            before = self.silence.get(whose, AbstentionCount(0, 0))
            silent = sum(not answer for answer in answers)
            self.silence[whose] = AbstentionCount(before.questions + len(answers), before.silent + silent)

    def _step(self, what: str) -> None:
        self._progress(f"{self._task.name}: {what}", next(self._steps[what]), self._totals[what])

    def report(self) -> Report:
        return Report(
            task=self._task.name,
            way=self._way.name,
            recipe=self._way.recipe,
            documents=self._totals["saving"],
            haystacks=len(self._task.haystacks),
            overall=averages([row for rows in self.groups.values() for row in rows]),
            groups={group: averages(self.groups[group]) for group in sorted(self.groups)},
            chance=averages(self.chance),
            silence={whose: each for whose, each in self.silence.items() if each.questions},
            saved_s=self.saved_s,
            asked_s=self.asked_s,
            notices=+self.notices,
        )


def evaluate(
    task: Task,
    door: OnRecord,
    *,
    tenant: str,
    now: datetime,
    way: EvalMethod = AS_USUAL,
    others: OtherTasks = NO_OTHERS,
    progress: Progress = lambda what, done, total: None,
) -> Report:
    """Measure a task on an empty store. Each haystack gets a tenant of its own, named after `tenant`.

    `others` are the tasks whose questions have no answer here, and how many of each to ask.
    """
    run = _Run(task, way, now, progress, others)
    for number, haystack in enumerate(task.haystacks, 1):
        # Without a conversation and in a new tenant, so that nothing of the person who measures affects the ranking.
        caller = replace(door.caller, tenant=f"{tenant}-{number}", conversation=None)
        run.measure(haystack, door.as_caller(caller))
    return run.report()
