"""WHAT does a question carry from layer to layer?"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.model.answers import Hit, Why
from recollect.model.caller import Caller
from recollect.model.requests import Recall
from recollect.model.when import When
from recollect.store.port import Match, Reading
from recollect.text import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that may become a hit: what was found of it, and how it stands so far and why."""

    match: Match
    score: float
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer on its way: the question, what it looks for, the candidates, and at the end the hits."""

    caller: Caller
    ask: Recall
    now: datetime
    terms: tuple[Token, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    hits: tuple[Hit, ...] = ()

    @property
    def when(self) -> When:
        return When(self.ask.as_of, self.ask.known_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a layer may use."""

    reading: Reading


def boosted(candidate: Candidate, name: str, factor: float) -> Candidate:
    """The candidate raised by a factor, which says so in its reasons."""
    why = replace(candidate.why, boosts=(*candidate.why.boosts, (name, factor)))
    return replace(candidate, score=candidate.score * factor, why=why)
