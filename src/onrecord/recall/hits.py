"""WHAT is a hit? A memory that bears on the question, and why it stands where it stands."""

from dataclasses import dataclass

from onrecord.model.answer import Answer
from onrecord.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Answer):
    """What one channel says of a hit: its place in that list, its score there, and what that adds to the final score."""

    channel: str
    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(Answer):
    """Why a hit stands where it stands: the sum of its parts, times each of its boosts."""

    parts: tuple[Part, ...]
    boosts: tuple[tuple[str, float], ...] = ()
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Answer):
    """A memory that bears on the question.

    `score` orders the hits of one answer and means nothing beyond it. `relevance` is the estimated chance, from 0 to 1,
    that the memory bears on the question.
    """

    memory: Memory
    score: float
    relevance: float
    why: Why
