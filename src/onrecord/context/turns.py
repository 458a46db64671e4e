"""WHAT was just said? The last turns of each conversation, in memory alone."""

import json
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any, Final, NamedTuple, cast

from onrecord.context import conversation
from onrecord.model import limits
from onrecord.model.answers import ClearedTurns, ListedTurns, NotedTurn, Turn
from onrecord.model.caller import Caller
from onrecord.model.requests import ClearTurns, ListTurns, NoteTurn
from onrecord.providers.scrubber import scrub, scrub_value

#: How much text all conversations together may hold in memory.
HELD_BYTES: Final = 64 * 1024 * 1024


class _Session(NamedTuple):
    """Whose turns: as with memories of session scope, whoever is in the conversation of the tenant shares them."""

    tenant: str
    conversation: str


@dataclass(slots=True)
class _Window:
    """The last turns of one conversation, and how much they hold."""

    turns: deque[Turn] = field(default_factory=deque)
    held: int = 0

    def add(self, turn: Turn, most: int) -> None:
        self.turns.append(turn)
        self.held += _size(turn)
        while len(self.turns) > most:
            self.held -= _size(self.turns.popleft())


class Turns:
    """A window over each conversation of each tenant, of so many conversations; safe to share between threads.

    When there are too many, or they hold too much, the tenant that takes most of it gives up the conversation that it
    has not used for longest: what one of them does costs no other its turns.
    """

    def __init__(
        self, window: int = limits.TURNS, sessions: int = limits.SESSIONS, held_bytes: int = HELD_BYTES
    ) -> None:
        self._window = window
        self._most = sessions
        self._held_bytes = held_bytes
        self._held = 0
        self._sessions: OrderedDict[_Session, _Window] = OrderedDict()
        # One for all: what is done under it takes microseconds.
        self._lock = Lock()

    def note(self, caller: Caller, ask: NoteTurn, now: datetime) -> NotedTurn:
        """Keep a turn, without the secrets in it: it will be told to a model."""
        session = _session(caller, ask.conversation)
        turn = Turn(
            role=ask.role, content=scrub(ask.content).text, at=now, metadata=_clean(ask.metadata or {})
        )
        with self._lock:
            kept = self._sessions.setdefault(session, _Window())
            self._sessions.move_to_end(session)
            before = kept.held
            kept.add(turn, self._window)
            self._held += kept.held - before
            count = len(kept.turns)
            self._make_room()
        return NotedTurn(conversation=session.conversation, turns=count)

    def list(self, caller: Caller, ask: ListTurns) -> ListedTurns:
        """The last turns, oldest first. To look at a conversation that has none leaves no trace of it."""
        session = _session(caller, ask.conversation)
        with self._lock:
            kept = self._sessions.get(session)
            turns = tuple(kept.turns) if kept else ()
            if kept:
                self._sessions.move_to_end(session)
        most = len(turns) if ask.limit is None else ask.limit
        return ListedTurns(conversation=session.conversation, turns=turns[max(len(turns) - most, 0) :])

    def clear(self, caller: Caller, ask: ClearTurns) -> ClearedTurns:
        """Drop a conversation's turns; one that has none is clear already."""
        session = _session(caller, ask.conversation)
        with self._lock:
            gone = self._sessions.pop(session, _Window())
            self._held -= gone.held
        return ClearedTurns(conversation=session.conversation, cleared=len(gone.turns))

    def drop(self, tenant: str, conversation: str | None = None) -> None:
        """What is deleted, or erased, leaves no turns behind: those of one conversation, or of all."""
        with self._lock:
            for session in [each for each in self._sessions if each.tenant == tenant]:
                if conversation in (None, session.conversation):
                    self._held -= self._sessions.pop(session).held

    def sessions(self, caller: Caller) -> tuple[str, ...]:
        """The conversations of the caller's tenant that have turns, the one spoken in last at the end."""
        with self._lock:
            return tuple(each.conversation for each in self._sessions if each.tenant == caller.tenant)

    def _make_room(self) -> None:
        while len(self._sessions) > max(self._most, 1):
            self._give_up(lambda window: 1)
        while self._held > self._held_bytes and len(self._sessions) > 1:
            self._give_up(lambda window: window.held)

    def _give_up(self, taken: Callable[[_Window], int]) -> None:
        """Drop the conversation that was not used for longest, of the tenant that takes most."""
        by_tenant: Counter[str] = Counter()
        for session, window in self._sessions.items():
            by_tenant[session.tenant] += taken(window)
        # The one that was just spoken in stays, however much it holds.
        *others, _ = self._sessions
        # Of several that take as much, the first: those not used for longest come first.
        gone = max(others, key=lambda session: by_tenant[session.tenant])
        self._held -= self._sessions.pop(gone).held


def _session(caller: Caller, named: str | None) -> _Session:
    return _Session(caller.tenant, conversation.needed(caller, named))


def _size(turn: Turn) -> int:
    return len(turn.content.encode()) + len(json.dumps(turn.metadata).encode())


def _clean(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same without the secrets in it."""
    return cast(Mapping[str, Any], scrub_value("", metadata)[0]) if metadata else metadata
