"""WHICH questions have no answer here? Those of other tasks, and those of a task's other haystacks."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, Literal, NamedTuple

from onrecord.evaluation.data import EvalQuestion, Haystack, Task

#: foreign: of another task. other: of another haystack of the same task.
Whose = Literal["foreign", "other"]
WHOSE: Final[tuple[Whose, ...]] = ("foreign", "other")


class AbstentionCount(NamedTuple):
    """How many unanswerable questions were asked, and how many of them got no hits."""

    questions: int
    silent: int

    @property
    def share(self) -> float:
        return self.silent / self.questions


def unanswerable(
    task: Task, haystack: Haystack, tasks: Sequence[Task], most: int
) -> Mapping[Whose, list[EvalQuestion]]:
    """At most so many questions of each other task and haystack, always the same ones."""
    chance = Random(f"{task.name} {haystack.name}")
    own = {question.text for each in task.haystacks for question in each.questions}
    found: dict[Whose, list[EvalQuestion]] = {whose: [] for whose in WHOSE}
    for other in tasks:
        questions = [question for each in other.haystacks for question in each.questions]
        # Two tasks may ask the same of the same documents.
        if other.name != task.name and own.isdisjoint(question.text for question in questions):
            found["foreign"] += chance.sample(questions, min(most, len(questions)))
    for another in task.haystacks:
        if another.name != haystack.name:
            found["other"] += chance.sample(another.questions, min(most, len(another.questions)))
    return found
