"""WHAT is an advisor worth? Facts of labelled dialogues that it finds, and contradictions of labelled pairs that it sees.

`dialogues.tsv` has a line `user⇥assistant⇥fact|fact…` for each turn; without facts there is nothing to find. A fact may have
several wordings, as `one // another`. `pairs.tsv` has a line `label⇥old⇥new`: of the labels in CONTRADICTS the new text contradicts
the old one, of all others it does not.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from onrecord.errors import invalid
from onrecord.model.advice import Advised
from onrecord.service import OnRecord
from onrecord.text import question_terms

DIALOGUES: Final = "dialogues.tsv"
PAIRS: Final = "pairs.tsv"
CONTRADICTS: Final = frozenset({"value", "decision", "preference", "status", "owner"})
#: A fact is found if an extracted one has this share of its words that mean something, and not many others besides: a whole
#: turn is no fact.
_FOUND: Final = 0.6
_ABOUT_IT: Final = 0.5
_OF_THE_SPEAKER: Final = frozenset({"user"})
#: One word turns a fact into its opposite, and one number into another fact.
_NEGATES: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|cannot|nor|nicht|kein\w*|nie)\b|n['’]t\b", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
#: What stands alone names who it is about.
_SPEAKER: Final = re.compile(r"\b(?:I|me|my|mine|myself|ich|mir|mich)\b", re.IGNORECASE)
_WORDINGS: Final = " // "
_RESAMPLES: Final = 1_000
_SEED: Final = 1


class Dialogue(NamedTuple):
    """One turn, and the facts in it, each in all its wordings."""

    user: str
    assistant: str
    facts: tuple[tuple[str, ...], ...]


class LabelledPair(NamedTuple):
    """An older text and a newer one, and what is between them."""

    label: str
    old: str
    new: str


class CaseCounts(NamedTuple):
    """What came of one case: how many facts the advisor returned, and how many of them are right; how many of the expected
    were found, of how many. A fact may be returned twice.
    """

    said: int
    right: int
    found: int
    wanted: int


@dataclass(slots=True)
class AdviceReport:
    """Precision and recall of the facts that the advisor returned, and what they cost."""

    task: str
    counts: list[CaseCounts] = field(default_factory=list)
    #: Wrong facts, by label.
    wrong: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    ms: float = 0.0

    def took(self, advice: Sequence[Advised]) -> None:
        for each in advice:
            self.calls += each.tries > 0
            self.tokens += each.tokens_in + each.tokens_out
            self.cost += each.cost
            self.ms += each.ms
            if not each.applied:
                self.notes[each.note or ""] += 1

    @property
    def total(self) -> CaseCounts:
        return (
            CaseCounts(*map(sum, zip(*self.counts, strict=True))) if self.counts else CaseCounts(0, 0, 0, 0)
        )

    @property
    def precision(self) -> float:
        return _share(self.total.right, self.total.said)

    @property
    def recall(self) -> float:
        return _share(self.total.found, self.total.wanted)

    def intervals(self) -> dict[str, tuple[float, float]]:
        """The middle 95 % of precision and recall of a thousand resamples of the cases (bootstrap, fixed seed)."""
        import numpy as np

        values = np.array(self.counts or [self.total])
        chance = np.random.default_rng(_SEED)
        sums = [
            CaseCounts(*values[chance.integers(len(values), size=len(values))].sum(axis=0).tolist())
            for _ in range(_RESAMPLES)
        ]
        return {
            "precision": _middle([_share(each.right, each.said) for each in sums]),
            "recall": _middle([_share(each.found, each.wanted) for each in sums]),
        }

    def lines(self) -> Iterator[str]:
        within = {
            name: f"{100 * low:.1f} to {100 * high:.1f}" for name, (low, high) in self.intervals().items()
        }
        yield (
            f"{self.task}: {len(self.counts)} cases, {self.total.wanted} to find; "
            f"precision {100 * self.precision:.1f} % ({within['precision']}), "
            f"recall {100 * self.recall:.1f} % ({within['recall']})"
        )
        yield f"  {self.calls} calls, {self.tokens:,} tokens, ${self.cost:.4f}, {self.ms / max(self.calls, 1):.0f} ms each"
        yield from (f"  wrong, {label}: {count}" for label, count in sorted(self.wrong.items()))
        yield from (f"  {count} without advice: {note}" for note, count in self.notes.most_common(3))

    def as_json(self) -> dict[str, Any]:
        named = "task", "precision", "recall", "calls", "tokens", "cost", "ms"
        return {name: getattr(self, name) for name in named} | {
            "cases": len(self.counts),
            **self.total._asdict(),
            "ci95": self.intervals(),
            "wrong": dict(self.wrong),
            "notes": dict(self.notes),
        }


def read_dialogues(folder: Path) -> list[Dialogue]:
    return [
        Dialogue(user, assistant, tuple(tuple(fact.split(_WORDINGS)) for fact in facts.split("|") if fact))
        for user, assistant, facts in _rows(folder / DIALOGUES)
    ]


def read_pairs(folder: Path) -> list[LabelledPair]:
    return [LabelledPair(*row) for row in _rows(folder / PAIRS)]


def measure_extraction(
    door: OnRecord, dialogues: Sequence[Dialogue], done: Callable[[], None]
) -> AdviceReport:
    """Extract the facts of every dialogue, each in a tenant of its own, and compare them with those that were labelled."""
    report = AdviceReport("extract")
    for number, dialogue in enumerate(dialogues, 1):
        there = _apart(door, f"extract-{number}")
        extracted = there.extract(dialogue.user, assistant_turn=dialogue.assistant, scope="tenant")
        report.took(extracted.advice)
        counts = count_facts(dialogue, [fact.text for fact in extracted.facts])
        report.counts.append(counts)
        report.wrong["no such fact"] += counts.said - counts.right
        done()
    report.wrong += Counter()
    return report


def measure_supersession(
    door: OnRecord, pairs: Sequence[LabelledPair], done: Callable[[], None]
) -> AdviceReport:
    """Save the old and then the new text of every pair in a tenant of its own, and see whether the old one ends."""
    report = AdviceReport("supersede")
    for number, pair in enumerate(pairs, 1):
        there = _apart(door, f"supersede-{number}")
        there.remember(pair.old, dedupe=False, alike="keep")
        saved = there.remember(pair.new, dedupe=False, alike="keep", auto_supersede="yes")
        report.took(saved.advice)
        wanted, ended = pair.label in CONTRADICTS, bool(saved.superseded)
        right = wanted and ended
        report.counts.append(CaseCounts(said=ended, right=right, found=right, wanted=wanted))
        if ended and not wanted:
            report.wrong[pair.label] += 1
        done()
    return report


def _apart(door: OnRecord, tenant: str) -> OnRecord:
    return door.as_caller(replace(door.caller, tenant=tenant, conversation=None))


def count_facts(dialogue: Dialogue, facts: Sequence[str]) -> CaseCounts:
    """How many of these facts are in a dialogue, and how many of its facts are among these."""
    numbers = _numbers(f"{dialogue.user} {dialogue.assistant}")
    hits = {
        fact: [
            number
            for number, wordings in enumerate(dialogue.facts)
            if _numbers(fact) <= numbers and any(_is_found(gold, fact) for gold in wordings)
        ]
        for fact in dict.fromkeys(facts)
    }
    return CaseCounts(
        said=len(hits),
        right=sum(1 for each in hits.values() if each),
        found=len({number for each in hits.values() for number in each}),
        wanted=len(dialogue.facts),
    )


def _is_found(gold: str, fact: str) -> bool:
    """Whether a fact says what an expected one says, by its words, its numbers and whether it negates."""
    wanted, said = _words(gold), _words(fact)
    is_about_it = len(wanted & said) >= max(_FOUND * len(wanted), _ABOUT_IT * len(said), 1)
    negates = bool(_NEGATES.search(gold)) == bool(_NEGATES.search(fact))
    return is_about_it and negates and _numbers(gold) <= _numbers(fact) and not _SPEAKER.search(fact)


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _words(text: str) -> set[str]:
    return {token.term for token in question_terms(text)} - _OF_THE_SPEAKER


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _middle(values: list[float]) -> tuple[float, float]:
    values.sort()
    return values[int(0.025 * len(values))], values[int(0.975 * len(values))]


def _rows(path: Path) -> Iterator[tuple[str, str, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise invalid(str(path), f"cannot be read: {problem}") from None
    for number, line in enumerate(lines, 1):
        parts = line.split("\t")
        if len(parts) != 3:
            raise invalid(f"{path}:{number}", "must have three parts, with a tab between")
        yield parts[0], parts[1], parts[2]
