"""HOW well are the questions answered that people asked here? Their feedback says which hits are right and which are wrong."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from onrecord.care.resampling import interval
from onrecord.model.answer import Answer
from onrecord.model.feedback import Feedback
from onrecord.model.limits import OWN_QUESTIONS

#: How many memories a question asks for, and among how many of them a right one should stand.
DEPTH: Final = 100
_CUT: Final = 10
#: The measures of an answer, in the order of `_score`.
MEASURES: Final = (f"recall@{_CUT}", "mrr")
TOO_LITTLE: Final = (
    "Too little feedback to measure by: {questions} of at least {needed} questions with a useful hit that is still there. "
    "Feedback keeps its question once an admin says `onrecord tenants set --keep-questions`."
)


class OwnQuestion(NamedTuple):
    """A question that was asked here, and what was said of its hits."""

    digest: str
    text: str
    right: frozenset[str]
    wrong: frozenset[str]


@dataclass(frozen=True, slots=True)
class OwnTask:
    """The questions that can be asked again, and why other feedback is of no use here, with how often."""

    questions: Sequence[OwnQuestion]
    notices: Mapping[str, int]

    @property
    def answerable(self) -> list[OwnQuestion]:
        return [each for each in self.questions if each.right]

    @property
    def is_enough(self) -> bool:
        return len(self.answerable) >= OWN_QUESTIONS

    @property
    def too_little(self) -> str:
        return TOO_LITTLE.format(questions=len(self.answerable), needed=OWN_QUESTIONS)


class OwnScores(NamedTuple):
    """The measures of each question that has a right answer, by its digest, and how many of the known wrong hits were
    among the first, of how many.
    """

    questions: Mapping[str, tuple[float, ...]]
    wrong_found: int
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMeasure(Answer):
    """One measure before and after a change, and the 95 % interval of the mean difference over the same questions."""

    name: str
    before: float
    after: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        return self.high < 0

    def in_words(self) -> str:
        return (
            f"{self.name} {100 * self.before:.1f} → {100 * self.after:.1f} % "
            f"({100 * (self.after - self.before):+.1f}, 95 %: {100 * self.low:+.1f} to {100 * self.high:+.1f})"
        )


def own_task(given: Iterable[Feedback], is_here: Callable[[str], bool]) -> OwnTask:
    """A question for each text that was judged. People count before agents; where they disagree evenly, a hit counts for
    nothing. `is_here` says whether a memory can be found today.
    """
    said: defaultdict[str, defaultdict[str, list[Feedback]]] = defaultdict(lambda: defaultdict(list))
    texts: dict[str, str] = {}
    notices: Counter[str] = Counter()
    for each in given:
        said[each.digest][each.memory].append(each)
        if each.question is not None:
            texts.setdefault(each.digest, each.question)
    known: dict[str, bool] = {}
    questions = []
    for digest, hits in sorted(said.items()):
        if digest not in texts:
            notices["Questions that were not kept"] += 1
            continue
        right, wrong = set[str](), set[str]()
        for memory, verdicts in hits.items():
            if memory not in known:
                known[memory] = is_here(memory)
            balance = _balance(verdicts)
            if not known[memory]:
                notices["Hits that are no longer active, or not for you"] += 1
            elif not balance:
                notices["Hits about which opinions are divided"] += 1
            else:
                (right if balance > 0 else wrong).add(memory)
        if right or wrong:
            questions.append(OwnQuestion(digest, texts[digest], frozenset(right), frozenset(wrong)))
    return OwnTask(questions, notices)


def _balance(verdicts: Sequence[Feedback]) -> int:
    people = [each for each in verdicts if each.origin == "person"]
    return sum(1 if each.verdict == "useful" else -1 for each in people or verdicts)


def scores_of(task: OwnTask, ask: Callable[[str], Sequence[str]]) -> OwnScores:
    """Ask every question once. `ask` returns the ids of the memories found, best first."""
    scores: dict[str, tuple[float, ...]] = {}
    found = 0
    for question in task.questions:
        ranked = ask(question.text)
        if question.right:
            scores[question.digest] = _score(ranked, question.right)
        found += len(question.wrong.intersection(ranked[:_CUT]))
    return OwnScores(scores, found, sum(len(each.wrong) for each in task.questions))


def _score(ranked: Sequence[str], right: frozenset[str]) -> tuple[float, ...]:
    places = [place for place, id in enumerate(ranked, 1) if id in right]
    share = sum(place <= _CUT for place in places) / len(right)
    return share, 1 / places[0] if places else 0.0


def compared(
    before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]
) -> tuple[ComparedMeasure, ...]:
    """The measures of the questions that both know, before and after; none without such questions."""
    import numpy as np

    same = sorted(before.keys() & after.keys())
    if not same:
        return ()
    old, new = (np.array([scores[each] for each in same]) for scores in (before, after))
    low, high = interval(new - old)
    means = zip(MEASURES, old.mean(axis=0), new.mean(axis=0), low, high, strict=True)
    return tuple(
        ComparedMeasure(name=name, before=float(a), after=float(b), low=float(c), high=float(d))
        for name, a, b, c, d in means
    )
