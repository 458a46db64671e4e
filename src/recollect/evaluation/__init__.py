"""HOW well are questions answered? Documents are saved and questions asked as any program would, and scored."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import count
from time import perf_counter
from typing import Any, Final

from recollect.evaluation.data import Haystack, Question, Task
from recollect.evaluation.loading import save_all, storable
from recollect.evaluation.report import Report
from recollect.evaluation.scores import Scores, averages, by_chance, score
from recollect.model.limits import QUESTION_CHARACTERS
from recollect.service import Recollect

#: How many memories a question asks for; the place of the first right one is looked for among these.
DEPTH: Final = 100

Progress = Callable[[str, int, int | None], None]


class _Run:
    """One task on one store: what was seen so far."""

    def __init__(self, task: Task, recipe: str | None, now: datetime, progress: Progress) -> None:
        self._task = task
        self._recipe = recipe
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
        self.saved_s = self.asked_s = 0.0

    def measure(self, haystack: Haystack, door: Recollect) -> None:
        started = perf_counter()
        names = save_all(
            door, haystack.documents, self._now, self.notices, saved=lambda: self._step("saving")
        )
        if door.status().embedder:
            door.embed_missing()
        self.saved_s += perf_counter() - started
        known = {document.id for document in haystack.documents}
        for question in haystack.questions:
            ranked = self._ask(question, door, names)
            self.groups[question.group].append(score(ranked, question.gold))
            reachable = len(question.gold & known)
            self.chance.append(by_chance(len(known), reachable, len(question.gold), DEPTH))

    def _ask(self, question: Question, door: Recollect, names: dict[str, str]) -> list[str]:
        """The ids of the documents found, best first, each once."""
        text = storable(question.text)
        if len(text) > QUESTION_CHARACTERS:
            self.notices[f"Questions longer than {QUESTION_CHARACTERS:,} characters, cut there"] += 1
        options: dict[str, Any] = {"recipe": self._recipe} if self._recipe else {}
        started = perf_counter()
        answer = door.recall(text[:QUESTION_CHARACTERS], limit=DEPTH, **options)
        self.asked_s += perf_counter() - started
        self._step("asking")
        for reason in answer.degraded:
            self.notices[f"Answers that had to do without {reason}"] += 1
        return list(dict.fromkeys(names[hit.memory.id] for hit in answer.hits))

    def _step(self, what: str) -> None:
        self._progress(f"{self._task.name}: {what}", next(self._steps[what]), self._totals[what])

    def report(self) -> Report:
        return Report(
            task=self._task.name,
            recipe=self._recipe,
            documents=self._totals["saving"],
            haystacks=len(self._task.haystacks),
            overall=averages([row for rows in self.groups.values() for row in rows]),
            groups={group: averages(self.groups[group]) for group in sorted(self.groups)},
            chance=averages(self.chance),
            saved_s=self.saved_s,
            asked_s=self.asked_s,
            notices=+self.notices,
        )


def evaluate(
    task: Task,
    door: Recollect,
    *,
    tenant: str,
    now: datetime,
    recipe: str | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Report:
    """Measure a task on a store that is empty. Each haystack gets a tenant of its own, named after `tenant`."""
    run = _Run(task, recipe, now, progress)
    for number, haystack in enumerate(task.haystacks, 1):
        # Nothing of the person who measures may rank higher: no conversation, no tenant of theirs.
        caller = replace(door.caller, tenant=f"{tenant}-{number}", conversation=None)
        run.measure(haystack, door.as_caller(caller))
    return run.report()
