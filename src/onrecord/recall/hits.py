"""WHAT is a hit? A memory that is relevant to the question, and the reasons for its rank."""

from dataclasses import dataclass

from onrecord.model.answer import Answer
from onrecord.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePart(Answer):
    """One channel's part in a hit: its rank and score there, and what that adds to the final score."""

    channel: str
    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(Answer):
    """The reasons for a hit's rank: the sum of its parts, times each of its boosts."""

    parts: tuple[ScorePart, ...]
    boosts: tuple[tuple[str, float], ...] = ()
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Answer):
    """A memory that is relevant to the question.

    `score` orders the hits of one answer and means nothing beyond it. `relevance` is the estimated probability, from
    0 to 1, that the memory is relevant to the question.
    """

    memory: Memory
    score: float
    relevance: float
    why: Why
