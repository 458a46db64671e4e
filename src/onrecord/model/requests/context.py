"""WHAT can be asked about what an agent is told unasked?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onrecord.model import limits, rules
from onrecord.model.limits import ContextPart, Role
from onrecord.model.requests.base import MAYBE_NAME, Request, ask
from onrecord.model.rules import ListOf, OrNone

_IN: str = "Which conversation; the caller's own when left out."


@dataclass(frozen=True, slots=True)
class GiveContext(Request):
    """What an agent should know before it begins: standing notes, this conversation so far, and what bears on a question.

    Everything is framed as data, and fits the tokens asked for.
    """

    question: str | None = ask(
        OrNone(rules.Text(at_most=limits.QUESTION_CHARACTERS)),
        "What the turn is about; memories that bear on it are added.",
        None,
        positional=True,
    )
    conversation: str | None = ask(MAYBE_NAME, _IN, None)
    parts: Sequence[ContextPart] = ask(
        ListOf(rules.Choice(limits.CONTEXT_PARTS), at_most=len(limits.CONTEXT_PARTS)),
        f"Only these, of {', '.join(limits.CONTEXT_PARTS)}; all when left out.",
        (),
    )
    max_tokens: int = ask(rules.Integer(0, 1_000_000), "How many tokens the whole may cost to read.", 2_000)


@dataclass(frozen=True, slots=True)
class NoteTurn(Request):
    """Keep a turn of a conversation for a while: the last few, in memory alone, gone when the process ends."""

    content: str = ask(rules.CONTENT, "What was said.", positional=True)
    role: Role = ask(rules.Choice(limits.ROLES), f"Who said it: {', '.join(limits.ROLES)}.", "user")
    metadata: Mapping[str, Any] | None = ask(OrNone(rules.Json()), "Anything else, as a JSON object.", None)
    conversation: str | None = ask(MAYBE_NAME, _IN, None)


@dataclass(frozen=True, slots=True)
class ListTurns(Request):
    """The last turns of a conversation, oldest first."""

    conversation: str | None = ask(MAYBE_NAME, _IN, None)
    limit: int | None = ask(OrNone(rules.Integer(1, limits.MOST_TURNS)), "Only so many of the last.", None)


@dataclass(frozen=True, slots=True)
class ClearTurns(Request):
    """Drop the turns of a conversation."""

    conversation: str | None = ask(MAYBE_NAME, _IN, None)
