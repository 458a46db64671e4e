"""WHAT is the agent told unasked?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from onrecord import recall
from onrecord.context.always import always
from onrecord.context.briefing import briefing
from onrecord.context.conversation import for_own_eyes, inside
from onrecord.context.frame import bullet, enclosed, entry, framed
from onrecord.context.legend import legend
from onrecord.context.parts import Part, Piece, fitted
from onrecord.context.turns import Turns
from onrecord.errors import OnRecordError
from onrecord.model.answers import ContextGiven
from onrecord.model.caller import Caller
from onrecord.model.limits import CONTEXT_PARTS, ContextPart
from onrecord.model.requests import GiveContext, ListTurns, Recall
from onrecord.providers.embedding import Embedders
from onrecord.store.ports.store import Store

__all__ = ["Turns", "framed", "give"]

_SAID: Final = "The last turns of this conversation, oldest first."
_RECALLED: Final = "Memories that bear on the question, best first."


def give(
    caller: Caller, ask: GiveContext, store: Store, embedders: Embedders, turns: Turns, now: datetime
) -> ContextGiven:
    """Every part that was asked for, framed as data, within the tokens. Where one fails, the others are told."""
    gathering = _Gathering(inside(caller, ask.conversation), ask, store, embedders, turns, now)
    parts = [part for name in CONTEXT_PARTS if (part := gathering.part(name)) is not None]
    return fitted(list(_once(parts)), ask.max_tokens, gathering.degraded)


@dataclass(slots=True)
class _Gathering:
    """What the parts are gathered from, and what could not be."""

    caller: Caller
    ask: GiveContext
    store: Store
    embedders: Embedders
    turns: Turns
    now: datetime
    degraded: list[str] = field(default_factory=list)

    def part(self, name: ContextPart) -> Part | None:
        """One part, if it was asked for and nothing stands in its way."""
        if self.ask.parts and name not in self.ask.parts:
            return None
        if lacking := self._lacking(name):
            if self.ask.parts:
                self.degraded.append(f"{name}: {lacking}")
            return None
        gather: dict[ContextPart, Callable[[], Part]] = {
            "legend": self._legend,
            "always": self._always,
            "briefing": self._briefing,
            "turns": self._turns,
            "memories": self._memories,
        }
        try:
            return gather[name]()
        except OnRecordError as problem:
            self.degraded.append(f"{name}: {problem}")
        except Exception as problem:
            # Whatever it was, the agent's turn goes on; a text of unknown origin is not for the agent to read.
            self.degraded.append(f"{name}: {type(problem).__name__}")
        return None

    def _lacking(self, name: ContextPart) -> str | None:
        if name in ("briefing", "turns") and self.caller.conversation is None:
            return "no conversation was named"
        if name == "memories" and not (self.ask.question or "").strip():
            return "no question was asked"
        return None

    def _legend(self) -> Part:
        return Part(name="legend", pieces=[Piece(text=legend())], render="\n".join)

    def _always(self) -> Part:
        with self.store.reading(for_own_eyes(self.caller), self.now) as reading:
            return always(reading)

    def _briefing(self) -> Part:
        with self.store.reading(self.caller, self.now) as reading:
            return briefing(reading, self.caller.conversation or "")

    def _turns(self) -> Part:
        said = self.turns.list(self.caller, ListTurns()).turns
        # Of a conversation the end matters most, and a hole in it would mislead.
        pieces = [Piece(text=bullet(turn.content, f"{turn.role}: ")) for turn in reversed(said)]
        return Part(name="turns", pieces=pieces, render=_under(_SAID), is_run=True, backwards=True)

    def _memories(self) -> Part:
        question = Recall(self.ask.question or "")
        found = recall.run(self.caller, question, self.store, self.embedders, self.now)
        self.degraded += found.degraded
        pieces = [Piece(text=entry(hit.memory), memory=hit.memory.id) for hit in found.hits]
        return Part(name="memories", pieces=pieces, render=_under(_RECALLED))


def _under(heading: str) -> Callable[[Sequence[str]], str]:
    return lambda texts: enclosed(heading, texts)


def _once(parts: Sequence[Part]) -> Iterator[Part]:
    """What is told in every turn need not be told again as an answer to the question."""
    told = {piece.memory for part in parts if part.name == "always" for piece in part.pieces}
    for part in parts:
        if part.name == "memories":
            yield replace(part, pieces=[piece for piece in part.pieces if piece.memory not in told])
        else:
            yield part
