"""WHICH turns does datamind keep? The last ones of each session, held only in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from onrecord.context.turns import ClearTurns, ListTurns, NoteTurn, turn_of
from onrecord.model import limits
from onrecord.model.caller import Caller
from onrecord.model.request import checked
from onrecord.model.workspace import ConversationKey
from onrecord.turn_buffer import Turn, TurnBuffer

_HERE: Final = Caller(tenant="here", user="here")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTermTurn:
    """One turn; `ts` is in seconds since 1970."""

    role: str
    content: str
    ts: float
    metadata: Mapping[str, Any] = field(default_factory=dict)


class ShortTermMemory:
    """The last turns of each session. When there are too many sessions, those unused for longest are dropped."""

    def __init__(
        self,
        max_turns: int = limits.TURNS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._turns = TurnBuffer(max_turns)
        self._clock = clock

    def append(
        self, session_id: str, role: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        asked = NoteTurn(content, role=role, conversation=session_id, metadata=metadata)  # type: ignore[arg-type]
        self._turns.add(_HERE.tenant, _key(session_id), turn_of(checked(asked, _HERE), self._clock()))

    def recent(self, session_id: str, limit: int | None = None) -> list[ShortTermTurn]:
        """The last turns, oldest first."""
        asked = checked(ListTurns(conversation=session_id, limit=limit), _HERE)
        return [_turn(each) for each in self._turns.last(_HERE.tenant, _key(session_id), asked.limit)]

    def clear(self, session_id: str) -> int:
        """Drop the turns of a session; returns how many there were."""
        checked(ClearTurns(conversation=session_id), _HERE)
        return self._turns.clear(_HERE.tenant, _key(session_id))

    def sessions(self) -> list[str]:
        return [each.id for each in self._turns.conversations(_HERE.tenant)]


def _key(session_id: str) -> ConversationKey:
    return ConversationKey(_HERE.user, session_id)


def _turn(turn: Turn) -> ShortTermTurn:
    return ShortTermTurn(
        role=turn.role, content=turn.content, ts=turn.at.timestamp(), metadata=dict(turn.metadata)
    )
