"""WHICH memories are there? Pages of them by their fields, and how many there are of each value."""

from dataclasses import dataclass, replace
from typing import TypeVar

from onrecord.catalog.known_names import known_names, meant
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.findings import Background, Group
from onrecord.model.limits import STATUSES
from onrecord.model.memory import Memory
from onrecord.model.request import ask
from onrecord.operation import Call, operation
from onrecord.recall.background import BACKGROUND, background_of
from onrecord.store.ports.filters import MemoryCriteria, MemoryFilter, TallyFilter
from onrecord.store.ports.records import Reading

Criteria = TypeVar("Criteria", bound=MemoryCriteria)


@dataclass(frozen=True, slots=True)
class Browse(MemoryFilter):
    """List memories, last updated first. Here kinds, tags and the rest are filters."""

    background: bool = ask(rules.FLAG, BACKGROUND, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsed(Answer):
    """A page of memories; `next` asks for the following page. `total` counts all that match, if asked for."""

    memories: tuple[Memory, ...]
    next: str | None = None
    total: int | None = None
    background: tuple[Background, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally(TallyFilter):
    """Count memories by one of their fields, with the oldest of each value; the largest groups come first.

    By status it counts memories of every status, otherwise active ones, unless statuses are given. A memory with several
    tags or entities counts once for each.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Tallied(Answer):
    """Groups of memories that share a value; `total` counts the memories that match, and `omitted` the groups that are
    not shown.
    """

    groups: tuple[Group, ...]
    total: int
    omitted: int = 0


@operation("read", "memory.read", "GET /memories")
def browse(call: Call, ask: Browse) -> Browsed:
    with call.reading() as reading:
        ask = _with_known_names(_of_any_status(ask), reading)
        memories, mark = reading.browse(ask)
        total = reading.count(ask) if ask.count else None
        background = background_of(memories, reading) if ask.background else ()
    return Browsed(memories=tuple(memories), next=mark, total=total, background=background)


def _of_any_status(ask: Criteria) -> Criteria:
    """Unless statuses are given, the state of proposals decides which statuses count."""
    return replace(ask, statuses=STATUSES) if ask.proposal and not ask.statuses else ask


def _with_known_names(ask: Criteria, reading: Reading) -> Criteria:
    return replace(ask, entities=known_names(meant(ask.entities, reading), reading)) if ask.entities else ask


@operation("read", "memory.read", "GET /tally")
def tally(call: Call, ask: Tally) -> Tallied:
    if ask.by == "status" and not ask.statuses:
        ask = replace(ask, statuses=STATUSES)
    with call.reading() as reading:
        ask = _with_known_names(_of_any_status(ask), reading)
        groups, total = reading.tally(ask), reading.count(ask)
    return Tallied(groups=tuple(groups[: ask.limit]), total=total, omitted=max(len(groups) - ask.limit, 0))
