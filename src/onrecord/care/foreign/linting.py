"""WHAT is wrong in a store of another system? Repetitions, secrets, what is old, leads nowhere, contradicts itself or was true
for a day: counted, each with evidence, and nothing is imported. No model is asked; the same store gives the same answer.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from math import ceil
from typing import Final

from onrecord.care.foreign.items import Item, Unread
from onrecord.model.answer import Answer
from onrecord.providers import scrubber
from onrecord.text import term_set

#: From this share of common terms on, two texts say nearly the same.
NEARLY: Final = 0.8
#: In two texts that contradict each other, so much is the same but the numbers or a "not".
_ALIKE_BUT_FOR: Final = 0.75
#: What nothing has changed for so long is old.
STALE_DAYS: Final = 180
_EXAMPLES: Final = 3
_EXCERPT: Final = 120
#: Longer texts are more than a statement.
_LONG: Final = 600
#: A text of so few terms says too little to be compared by them.
_FEW: Final = 3
#: So many of the same beginning are compared with each other; more are one pattern, such as lines of a log.
_MOST_ALIKE: Final = 200
_NUMBER: Final = re.compile(r"(?<![\w.])[-+]?\d[\d.,:/-]*\d|(?<![\w.])\d", re.ASCII)
_NOT: Final = re.compile(
    r"\b(?:not|never|no longer|isn't|aren't|wasn't|doesn't|don't|didn't|can't|cannot|won't|without|nicht|kein(?:e[rsnm]?)?|nie)\b",
    re.IGNORECASE,
)
_LIVE: Final = re.compile(
    r"\b(?:currently|right now|at the moment|as of (?:now|today|this)|today|tonight|yesterday|this (?:morning|week|afternoon)|"
    r"(?:is|are|was) (?:now )?(?:running|down|up|failing|broken|offline|online|in progress|pending|blocked)|"
    r"in progress|work in progress|next step|todo|tbd|momentan|gerade|derzeit|heute)\b"
    r"|\b\d[\d,.]* (?:open|pending|failing|running|active|unread|remaining) \w+",
    re.IGNORECASE,
)
#: Relations that a thing has to one other at a time.
_OF_ONE: Final = re.compile(
    r"(?:works?_(?:at|for)|lives?_in|reports?_to|married_to|owned_by|manag(?:ed|es)_by|located_in|born_in|is_a)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw(Answer):
    """One thing that is wrong with items of a store: how many, which share of all, and examples."""

    name: str
    meaning: str
    count: int
    share: float
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted(Answer):
    """What is wrong in a store. `count` of a flaw counts items; an item may have several."""

    source: str
    path: str
    items: int
    unread: int
    flawed: int
    flaws: tuple[Flaw, ...]


def linted(
    found: Iterable[Item | Unread], *, source: str, path: str, now: datetime, stale_days: int = STALE_DAYS
) -> Linted:
    """Look at every item once."""
    items, unread = list[Item](), list[Unread]()
    for each in found:
        if isinstance(each, Item):
            items.append(each)
        else:
            unread.append(each)
    terms = [term_set(each.content) for each in items]
    duplicates = _duplicates(items)
    alike = list(_alike(terms, NEARLY, skipped=duplicates))
    contradictions = [*_contradictions(items, terms), *_two_at_once(items)]
    against = {frozenset((one, other)) for one, other, _ in contradictions}
    near = [(one, other) for one, other in alike if frozenset((one, other)) not in against]
    looked: list[tuple[str, str, dict[int, str]]] = [
        ("duplicate", "say the very same as another", _paired(items, duplicates.items(), "as")),
        ("near-duplicate", "say nearly the same as another", _paired(items, near, "nearly as")),
        ("secret", "hold a secret", _each(items, _secret)),
        ("contradictory", "contradict another", {
            at: f"{_excerpt(items[one])} — but {items[other].place}: {_excerpt(items[other])} ({why})"
            for one, other, why in contradictions for at in (one, other)
        }),
        ("live-state", "were true for a moment only", _each(items, _live)),
        ("orphan", "lead to something that is not there", _orphans(items)),
        ("stale", f"were not touched for {stale_days} days", _each(items, lambda item: _stale(item, now, stale_days))),
        ("empty", "say too little to be found", _each(items, _empty)),
    ]  # fmt: skip
    flawed = {at for _, _, which in looked for at in which}
    return Linted(
        source=source,
        path=path,
        items=len(items),
        unread=len(unread),
        flawed=len(flawed),
        flaws=tuple(_flaw(items, *each) for each in looked),
    )


def _flaw(items: Sequence[Item], name: str, meaning: str, which: dict[int, str]) -> Flaw:
    share = round(len(which) / len(items), 4) if items else 0.0
    evidence = [
        f"{items[at].place}: {scrubber.scrub(why).text}" for at, why in sorted(which.items())[:_EXAMPLES]
    ]
    return Flaw(name=name, meaning=meaning, count=len(which), share=share, evidence=tuple(evidence))


def _each(items: Sequence[Item], why: Callable[[Item], str | None]) -> dict[int, str]:
    return {at: reason for at, item in enumerate(items) if (reason := why(item)) is not None}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _excerpt(item: Item) -> str:
    # Cut after the secrets are out: half a secret is not recognised.
    line = _one_line(scrubber.scrub(item.content).text)
    return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 1]}…"


def _duplicates(items: Sequence[Item]) -> dict[int, int]:
    """Each item that repeats an earlier one, with the first that said so."""
    first: dict[tuple[str, tuple[str, ...]], int] = {}
    repeated = {}
    for at, item in enumerate(items):
        said = (" ".join(item.content.casefold().split()).rstrip("."), tuple(sorted(item.about)))
        if (earlier := first.setdefault(said, at)) != at:
            repeated[at] = earlier
    return repeated


def _paired(items: Sequence[Item], pairs: Iterable[tuple[int, int]], how: str) -> dict[int, str]:
    said: dict[int, str] = {}
    for later, earlier in pairs:
        said.setdefault(
            later, f"{_excerpt(items[later])} — {how} {items[earlier].place}: {_excerpt(items[earlier])}"
        )
    return said


def _alike(
    terms: Sequence[frozenset[str]], least: float, skipped: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Pairs with at least this share of common terms, the later first. None is missed: two sets that are so alike share one
    of the rarest terms of each.
    """
    counts = Counter(term for each in terms for term in each)
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(terms):
        if len(each) < _FEW or at in skipped:
            continue
        rarest = sorted(each, key=lambda term: (counts[term], term))[
            : len(each) - ceil(least * len(each)) + 1
        ]
        for earlier in sorted({other for term in rarest for other in holding[term]}):
            if len(each & terms[earlier]) >= least * len(each | terms[earlier]):
                yield at, earlier
        for term in rarest:
            holding[term].append(at)


def _contradictions(items: Sequence[Item], terms: Sequence[frozenset[str]]) -> Iterator[tuple[int, int, str]]:
    """Pairs that say the same but for a number, or but for a "not"."""
    compared = [at for at, each in enumerate(terms) if len(each) >= _FEW]
    numbered: defaultdict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for at in compared:
        text = " ".join(items[at].content.casefold().split()).rstrip(".")
        if _NUMBER.search(text):
            numbered[_NUMBER.sub("#", text), tuple(sorted(items[at].about))].append(at)
    for group in numbered.values():
        for one, other in combinations(group, 2) if len(group) <= _MOST_ALIKE else ():
            if _NUMBER.findall(items[one].content) != _NUMBER.findall(items[other].content):
                yield one, other, "other numbers"
    yield from _negated(items, terms, compared)


def _negated(
    items: Sequence[Item], terms: Sequence[frozenset[str]], compared: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    said = {
        at: term_set(_NOT.sub(" ", items[at].content)) for at in compared if _NOT.search(items[at].content)
    }
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for at in compared:
        for term in terms[at] if at not in said else ():
            holding[term].append(at)
    for at, each in said.items():
        shared = Counter(other for term in each for other in holding.get(term, ())[:_MOST_ALIKE])
        for other, common in shared.items():
            if len(each) >= _FEW and common >= _ALIKE_BUT_FOR * len(each | terms[other]):
                yield at, other, "one says not"


def _two_at_once(items: Sequence[Item]) -> Iterator[tuple[int, int, str]]:
    """Relations of one kind to two others, where a thing has one at a time."""
    held: defaultdict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for at, item in enumerate(items):
        relation = item.metadata.get("relation")
        if item.ended_at is None and isinstance(relation, dict):
            name = str(relation.get("name")).casefold().replace(" ", "_").replace("-", "_")
            if _OF_ONE.fullmatch(name):
                held[str(relation.get("from")), name].append((at, str(relation.get("to"))))
    for group in held.values():
        for (one, to), (other, and_to) in combinations(group[:_MOST_ALIKE], 2):
            if to != and_to:
                yield one, other, "two at once"


def _secret(item: Item) -> str | None:
    if not scrubber.may_hold_secrets(item.content):
        return None
    found = scrubber.scrub(item.content).found
    return f"{', '.join(sorted(set(found)))}: {_excerpt(item)}" if found else None


def _live(item: Item) -> str | None:
    if len(item.content) > _LONG:
        # A document or a conversation, which says when it was.
        return None
    found = _LIVE.search(item.content)
    return None if found is None else f"“{_one_line(found[0])}”: {_excerpt(item)}"


def _stale(item: Item, now: datetime, days: int) -> str | None:
    touched = item.updated_at or item.created_at
    if item.ended_at is not None or touched is None or now - touched < timedelta(days=days):
        return None
    return f"{touched:%Y-%m-%d}: {_excerpt(item)}"


def _orphans(items: Sequence[Item]) -> dict[int, str]:
    """Items whose links or relations name something that the store does not hold."""
    keys = {
        name.casefold()
        for item in items
        for name in (item.key, item.title, item.key.rpartition("/")[2])
        if name
    }
    things = {name for item in items if not item.is_relation for name in item.about}
    orphans: dict[int, str] = {}
    for at, item in enumerate(items):
        missing = [each.target for each in item.links if each.target.casefold() not in keys]
        if item.is_relation and item.place and things:
            missing += [name for name in item.about if name not in things]
        if missing:
            orphans[at] = f"{', '.join(map(_one_line, missing[:_EXAMPLES]))} is not there: {_excerpt(item)}"
    return orphans


def _empty(item: Item) -> str | None:
    return _excerpt(item) if len(term_set(item.content)) < 2 else None
