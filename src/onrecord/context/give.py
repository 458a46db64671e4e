"""WHAT does an agent get before it begins? Several parts, gathered separately, framed as data, within a limit of
tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from onrecord.context.always import always
from onrecord.context.briefing import briefing
from onrecord.context.conversation import for_own_eyes, inside
from onrecord.context.frame import bullet, enclosed, entry
from onrecord.context.legend import legend
from onrecord.context.parts import ContextGiven, ContextPiece, ContextSection, fitted
from onrecord.context.turns import last_turns
from onrecord.errors import OnRecordError
from onrecord.model import limits, rules
from onrecord.model.advice import UNADVISED
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import MAYBE_CONVERSATION
from onrecord.model.limits import CONTEXT_PARTS, ContextPart
from onrecord.model.request import IN_CONVERSATION, MAYBE_NAME, Request, ask
from onrecord.model.rules import NAME, ListOf, OrNone
from onrecord.operation import Call, operation
from onrecord.recall.recall import Recall, recall

_SAID: Final = "The last turns of this conversation, oldest first."
_RECALLED: Final = "Memories relevant to the question, best first."


@dataclass(frozen=True, slots=True)
class GiveContext(Request):
    """What an agent should know before it begins: standing notes, this conversation so far, and memories on a
    question.

    Everything is framed as data, and fits the tokens asked for.
    """

    question: str | None = ask(
        OrNone(rules.Text(at_most=limits.QUESTION_CHARACTERS)),
        "What the turn is about; relevant memories are added.",
        None,
        positional=True,
    )
    conversation: str | None = ask(MAYBE_CONVERSATION, IN_CONVERSATION, None)
    parts: Sequence[ContextPart] = ask(
        ListOf(rules.Choice(limits.CONTEXT_PARTS), at_most=len(limits.CONTEXT_PARTS)),
        f"Only these, of {', '.join(limits.CONTEXT_PARTS)}; all when left out.",
        (),
    )
    max_tokens: int = ask(rules.Integer(0, 1_000_000), "How many tokens the whole may cost to read.", 2_000)
    for_user: str | None = ask(
        MAYBE_NAME, "Show what an agent of this user would get; for admins. Yourself when left out.", None
    )
    for_personas: Sequence[str] = ask(ListOf(NAME, at_most=100), "With these personas; for admins.", ())
    for_systems: Sequence[str] = ask(
        ListOf(NAME, at_most=1_000), "As one who may read these systems; for admins.", ()
    )


@operation("read", "memory.read", "GET /context")
def context(call: Call, ask: GiveContext) -> ContextGiven:
    """Every part that was asked for, framed as data, within the tokens. If one fails, the others are still given."""
    caller = _receiver(call.caller, ask)
    gathering = _Gathering(replace(call, caller=inside(caller, ask.conversation)), ask)
    parts = [part for name in CONTEXT_PARTS if (part := gathering.part(name)) is not None]
    return fitted(list(_once(parts)), ask.max_tokens, gathering.degraded)


def _receiver(caller: Caller, ask: GiveContext) -> Caller:
    """Whose agent gets the context: the caller's, or for an admin who wants to see it, another's."""
    if ask.for_user is None and not ask.for_personas and not ask.for_systems:
        return caller
    caller.require("memory.admin")
    return Caller(
        tenant=caller.tenant,
        user=ask.for_user or caller.user,
        personas=frozenset(ask.for_personas),
        systems=dict.fromkeys(ask.for_systems, "read"),
        permissions=frozenset({"memory.read"}),
        actor="agent",
        conversation=caller.conversation,
        request=caller.request,
    )


@dataclass(slots=True)
class _Gathering:
    """The sources of the parts, and notes about those that failed."""

    call: Call
    ask: GiveContext
    degraded: list[str] = field(default_factory=list)

    def part(self, name: ContextPart) -> ContextSection | None:
        """One part, if it was asked for and can be had."""
        if self.ask.parts and name not in self.ask.parts:
            return None
        if lacking := self._lacking(name):
            if self.ask.parts:
                self.degraded.append(f"{name}: {lacking}")
            return None
        gather: dict[ContextPart, Callable[[], ContextSection]] = {
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
        if name in ("briefing", "turns") and self.call.caller.conversation is None:
            return "no conversation was named"
        if name == "memories" and not (self.ask.question or "").strip():
            return "no question was asked"
        return None

    def _legend(self) -> ContextSection:
        return ContextSection(name="legend", pieces=[ContextPiece(text=legend())], render="\n".join)

    def _always(self) -> ContextSection:
        with replace(self.call, caller=for_own_eyes(self.call.caller)).reading() as reading:
            return always(reading)

    def _briefing(self) -> ContextSection:
        with self.call.reading() as reading:
            return briefing(reading, self.call.caller.conversation or "")

    def _turns(self) -> ContextSection:
        turns = last_turns(self.call)
        # Of a conversation the end matters most, and a hole in it would mislead.
        pieces = [ContextPiece(text=bullet(turn.content, f"{turn.role}: ")) for turn in reversed(turns)]
        return ContextSection(name="turns", pieces=pieces, render=_under(_SAID), is_run=True, backwards=True)

    def _memories(self) -> ContextSection:
        # Context comes with every turn, without a request, so it must not wait for a model.
        found = recall(self.call, Recall(self.ask.question or "", **UNADVISED))
        self.degraded += found.degraded
        pieces = [ContextPiece(text=entry(hit.memory), memory=hit.memory) for hit in found.hits]
        return ContextSection(name="memories", pieces=pieces, render=_under(_RECALLED))


def _under(heading: str) -> Callable[[Sequence[str]], str]:
    return lambda texts: enclosed(heading, texts)


def _once(parts: Sequence[ContextSection]) -> Iterator[ContextSection]:
    """The hits without memories that the agent gets in every turn anyway."""
    shown = {_id(piece) for part in parts if part.name == "always" for piece in part.pieces}
    for part in parts:
        if part.name == "memories":
            yield replace(part, pieces=[piece for piece in part.pieces if _id(piece) not in shown])
        else:
            yield part


def _id(piece: ContextPiece) -> str | None:
    return None if piece.memory is None else piece.memory.id
