"""WHAT comes back of what an agent is told unasked?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onrecord.model.answers.base import Answer
from onrecord.model.limits import ContextPart, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock(Answer):
    """One part of the context, framed; `memories` are the ids of what it shows."""

    part: ContextPart
    text: str
    tokens: int
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextGiven(Answer):
    """Everything in one text and its blocks one by one; `left_out` counts what did not fit the tokens."""

    text: str
    tokens: int
    blocks: tuple[ContextBlock, ...] = ()
    left_out: int = 0
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Answer):
    """One thing said in a conversation."""

    role: Role
    content: str
    at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedTurn(Answer):
    """A turn that is kept, and how many of the conversation are."""

    conversation: str
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTurns(Answer):
    """The last turns of a conversation, oldest first."""

    conversation: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedTurns(Answer):
    """How many turns were dropped."""

    conversation: str
    cleared: int
