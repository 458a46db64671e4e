"""WHAT does a question carry from layer to layer?"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.model.answers import Hit
from recollect.model.caller import Caller
from recollect.model.requests import Recall
from recollect.model.when import When
from recollect.store.port import Match, Reading
from recollect.text import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer on its way: the question, what it looks for, and the hits so far, best first."""

    caller: Caller
    ask: Recall
    now: datetime
    terms: tuple[Token, ...] = ()
    matches: tuple[Match, ...] = ()
    hits: tuple[Hit, ...] = ()

    @property
    def when(self) -> When:
        return When(self.ask.as_of, self.ask.known_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a layer may use."""

    reading: Reading


def boosted(hit: Hit, name: str, factor: float) -> Hit:
    """The hit raised by a factor, which says so in its reasons."""
    why = replace(hit.why, boosts=(*hit.why.boosts, (name, factor)))
    return replace(hit, score=hit.score * factor, why=why)
