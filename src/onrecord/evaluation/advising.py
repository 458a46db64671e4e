"""WHAT is an advisor worth? Facts of labelled dialogues that it finds, and contradictions of labelled pairs that it sees.

`dialogues.tsv` has a line `user⇥assistant⇥fact|fact…` for each turn; without facts there is nothing to find. `pairs.tsv` has a line
`label⇥old⇥new`: of the labels in CONTRADICTS the new text contradicts the old one, of all others it does not.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from onrecord.errors import invalid
from onrecord.model.advice import Advised
from onrecord.service import OnRecord
from onrecord.text import document_words

DIALOGUES: Final = "dialogues.tsv"
PAIRS: Final = "pairs.tsv"
CONTRADICTS: Final = frozenset({"value", "decision", "preference", "status", "owner"})
#: A fact is found if an extracted one has this share of its words.
_FOUND: Final = 0.6
_OF_THE_SPEAKER: Final = frozenset({"user"})


class Dialogue(NamedTuple):
    """One turn, and the facts in it."""

    user: str
    assistant: str
    facts: tuple[str, ...]


class Pair(NamedTuple):
    """An older text and a newer one, and what is between them."""

    label: str
    old: str
    new: str


@dataclass(slots=True)
class AdviceReport:
    """How much of what was said is right, how much of what is right was said, and what it took."""

    task: str
    cases: int = 0
    said: int = 0
    right: int = 0
    #: How much of what was wanted was found, of how much; a fact may be said twice.
    found: int = 0
    wanted: int = 0
    #: What was said in vain, by label.
    wrong: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    ms: float = 0.0

    def took(self, advice: Sequence[Advised]) -> None:
        for each in advice:
            self.calls += each.tokens_in > 0
            self.tokens += each.tokens_in + each.tokens_out
            self.cost += each.cost
            self.ms += each.ms
            if not each.applied:
                self.notes[each.note or ""] += 1

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else 1.0

    def lines(self) -> Iterator[str]:
        yield (
            f"{self.task}: {self.cases} cases, {self.wanted} to find; precision {100 * self.precision:.1f} %, "
            f"recall {100 * self.recall:.1f} %"
        )
        yield f"  {self.calls} calls, {self.tokens:,} tokens, ${self.cost:.4f}, {self.ms / max(self.calls, 1):.0f} ms each"
        yield from (f"  in vain, {label}: {count}" for label, count in sorted(self.wrong.items()))
        yield from (f"  {count} without advice: {note}" for note, count in self.notes.most_common(3))

    def as_json(self) -> dict[str, Any]:
        named = (
            "task",
            "cases",
            "said",
            "right",
            "found",
            "wanted",
            "precision",
            "recall",
            "calls",
            "tokens",
            "cost",
            "ms",
        )
        return {name: getattr(self, name) for name in named} | {
            "wrong": dict(self.wrong),
            "notes": dict(self.notes),
        }


def read_dialogues(folder: Path) -> list[Dialogue]:
    return [
        Dialogue(user, assistant, tuple(fact for fact in facts.split("|") if fact))
        for user, assistant, facts in _rows(folder / DIALOGUES)
    ]


def read_pairs(folder: Path) -> list[Pair]:
    return [Pair(*row) for row in _rows(folder / PAIRS)]


def measure_extraction(
    door: OnRecord, dialogues: Sequence[Dialogue], done: Callable[[], None]
) -> AdviceReport:
    """Extract the facts of every dialogue, each in a tenant of its own, and compare them with those that were labelled."""
    report = AdviceReport("extract", cases=len(dialogues))
    for number, dialogue in enumerate(dialogues, 1):
        there = _apart(door, f"extract-{number}")
        told = there.extract(dialogue.user, assistant_turn=dialogue.assistant, scope="tenant")
        report.took(told.advice)
        facts = [fact.text for fact in told.facts]
        hits = {fact: [gold for gold in dialogue.facts if _is_found(gold, fact)] for fact in facts}
        report.said += len(facts)
        report.right += sum(1 for each in hits.values() if each)
        report.found += len({gold for each in hits.values() for gold in each})
        report.wanted += len(dialogue.facts)
        report.wrong["no such fact"] += sum(1 for each in hits.values() if not each)
        done()
    report.wrong += Counter()
    return report


def measure_supersession(door: OnRecord, pairs: Sequence[Pair], done: Callable[[], None]) -> AdviceReport:
    """Save the old and then the new text of every pair in a tenant of its own, and see whether the old one ends."""
    report = AdviceReport("supersede", cases=len(pairs))
    for number, pair in enumerate(pairs, 1):
        there = _apart(door, f"supersede-{number}")
        there.remember(pair.old, dedupe=False, alike="keep")
        saved = there.remember(pair.new, dedupe=False, alike="keep", auto_supersede="yes")
        report.took(saved.advice)
        wanted, ended = pair.label in CONTRADICTS, bool(saved.superseded)
        report.wanted += wanted
        report.said += ended
        report.right += wanted and ended
        report.found += wanted and ended
        if ended and not wanted:
            report.wrong[pair.label] += 1
        done()
    return report


def _apart(door: OnRecord, tenant: str) -> OnRecord:
    return door.as_caller(replace(door.caller, tenant=tenant, conversation=None))


def _is_found(gold: str, fact: str) -> bool:
    wanted = _words(gold)
    return len(wanted & _words(fact)) >= _FOUND * len(wanted)


def _words(text: str) -> set[str]:
    return {terms[0] for terms in document_words(text) if terms} - _OF_THE_SPEAKER


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
