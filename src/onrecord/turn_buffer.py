"""WHICH turns were the last? The last turns of each conversation, held in memory only."""

import json
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any, Final, NamedTuple

from onrecord.model import limits
from onrecord.model.answer import Answer
from onrecord.model.limits import Role
from onrecord.model.workspace import ConversationKey

#: How much text all conversations together may hold in memory.
HELD_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Answer):
    """One message of a conversation."""

    role: Role
    content: str
    at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)


class _Key(NamedTuple):
    """Which conversation, of which tenant: its members share its turns, as with memories of session scope."""

    tenant: str
    conversation: ConversationKey


@dataclass(slots=True)
class _LastTurns:
    """The last turns of one conversation, and how many bytes they take."""

    turns: deque[Turn] = field(default_factory=deque)
    held: int = 0
    #: When the conversation began, where the store knows it.
    begun: datetime | None = None

    def add(self, turn: Turn, most: int) -> None:
        self.turns.append(turn)
        self.held += _size(turn)
        while len(self.turns) > most:
            self.held -= _size(self.turns.popleft())


class TurnBuffer:
    """The last turns of each conversation, up to a number of conversations; safe to share between threads.

    When there are too many conversations, or they hold too much, the tenant that holds most loses the one that it has
    not used for longest. So no tenant can cost another its turns.
    """

    def __init__(
        self, window: int = limits.TURNS, conversations: int = limits.SESSIONS, held_bytes: int = HELD_BYTES
    ) -> None:
        self._window = window
        self._most = conversations
        self._held_bytes = held_bytes
        self._held = 0
        self._windows: OrderedDict[_Key, _LastTurns] = OrderedDict()
        # One for all: what is done under it takes microseconds.
        self._lock = Lock()

    def add(
        self, tenant: str, conversation: ConversationKey, turn: Turn, begun: datetime | None = None
    ) -> None:
        """Keep a turn. `begun` is when the conversation began."""
        key = _Key(tenant, conversation)
        with self._lock:
            kept = self._windows.setdefault(key, _LastTurns())
            self._windows.move_to_end(key)
            kept.begun, before = begun or kept.begun, kept.held
            kept.add(turn, self._window)
            self._held += kept.held - before
            self._make_room()

    def last(
        self,
        tenant: str,
        conversation: ConversationKey,
        most: int | None = None,
        since: datetime | None = None,
    ) -> tuple[Turn, ...]:
        """The last turns since a time, oldest first. Reading a conversation that has none leaves no trace."""
        key = _Key(tenant, conversation)
        with self._lock:
            kept = self._windows.get(key)
            turns = tuple(turn for turn in kept.turns if since is None or turn.at >= since) if kept else ()
            if kept:
                self._windows.move_to_end(key)
        return turns if most is None else turns[max(len(turns) - most, 0) :]

    def follow(self, tenant: str, conversation: ConversationKey, begun: datetime | None) -> None:
        """Drop the turns of a conversation that another process has deleted, or deleted and begun anew. Those noted before
        anyone began it are from now on of the one that is there.
        """
        with self._lock:
            kept = self._windows.get(_Key(tenant, conversation))
            is_other = kept is not None and kept.begun not in (None, begun)
            if kept is not None and kept.begun is None:
                kept.begun = begun
        if is_other:
            self.clear(tenant, conversation)

    def clear(self, tenant: str, conversation: ConversationKey) -> int:
        """Drop a conversation's turns; returns how many there were."""
        with self._lock:
            gone = self._windows.pop(_Key(tenant, conversation), _LastTurns())
            self._held -= gone.held
        return len(gone.turns)

    def clear_tenant(self, tenant: str) -> None:
        """Drop all turns of a tenant that is erased."""
        for conversation in self.conversations(tenant):
            self.clear(tenant, conversation)

    def conversations(self, tenant: str) -> tuple[ConversationKey, ...]:
        """The conversations of a tenant that have turns, the most recently used last."""
        with self._lock:
            return tuple(each.conversation for each in self._windows if each.tenant == tenant)

    def _make_room(self) -> None:
        while len(self._windows) > max(self._most, 1):
            self._give_up(lambda window: 1)
        while self._held > self._held_bytes and len(self._windows) > 1:
            self._give_up(lambda window: window.held)

    def _give_up(self, taken: Callable[[_LastTurns], int]) -> None:
        """Drop the conversation not used for longest, of the tenant that holds most."""
        by_tenant: Counter[str] = Counter()
        for key, window in self._windows.items():
            by_tenant[key.tenant] += taken(window)
        # The one that was just spoken in stays, however much it holds.
        *others, _ = self._windows
        # Of several that take as much, the first: those not used for longest come first.
        gone = max(others, key=lambda key: by_tenant[key.tenant])
        self._held -= self._windows.pop(gone).held


def _size(turn: Turn) -> int:
    return len(turn.content.encode()) + len(json.dumps(turn.metadata).encode())
