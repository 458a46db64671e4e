"""WHAT does a store report beside the memories themselves? Edges found on a walk, what changed, and what is
inconsistent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from onrecord.model.answer import Answer
from onrecord.model.limits import ProposalState
from onrecord.model.memory import Memory, Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(Answer):
    """A relation found on a walk, the memory at its far end, and how many steps away that is."""

    relation: Relation
    memory: Memory
    direction: Literal["out", "in"]
    hop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Background(Answer):
    """What is known of a memory beyond itself: the model that made its vectors, the memory that superseded it, those that
    it superseded, and the URNs of things that it is about, by their names in the catalog. Of a proposal also its state,
    who applied it and when; of one that has ended, who ended it and when.
    """

    id: str
    embedded_by: str | None = None
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    urns: Mapping[str, str] = field(default_factory=dict)
    proposal: ProposalState | None = None
    applied_by: str | None = None
    applied_at: datetime | None = None
    ended_by: str | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Answer):
    """The memories that share a value: how many, and when the oldest was written down. `value` is None where a field is
    empty.
    """

    value: str | None
    memories: int
    oldest: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar(Answer):
    """A memory that says nearly the same as a saved one. `likeness` is 1 for the same meaning and 0 for what any two
    texts have in common.
    """

    id: str
    title: str
    likeness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedProposal(Answer):
    """An earlier proposal that says nearly the same as a saved one and was rejected: by whom, when and why. `is_same`
    if it says the very same in the same words, so that it is not proposed again without something new.
    """

    id: str
    title: str
    likeness: float
    by: str
    at: datetime
    reason: str | None
    is_same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Answer):
    """One memory as known at the earlier and at the later time; `before` is None where it was new."""

    id: str
    change: Literal["added", "revised", "retired"]
    before: Memory | None
    after: Memory
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Answer):
    """What changed in our knowledge between two times: memories first, then edges; `next` asks for the following
    page.
    """

    since: datetime
    until: datetime
    memories: tuple[Difference, ...]
    related: tuple[Relation, ...] = ()
    unrelated: tuple[Relation, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Answer):
    """One inconsistency: where it is, and what mends it."""

    check: str
    where: str
    detail: str
    cure: str
