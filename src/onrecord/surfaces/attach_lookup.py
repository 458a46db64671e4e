"""HOW is a store asked what to attach to an answer, when the answer must not wait? Within a deadline, a few at once.

A store that fails, hangs or is busy means that nothing is attached.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock, Thread
from typing import Any, Final

import anyio
import anyio.to_thread

from onrecord.catalog.sql_text import parse_sql
from onrecord.context.attaching import Attached
from onrecord.doors import AsyncDoor, Door
from onrecord.lru_cache import LruCache

AnyDoor = Door | AsyncDoor

_LOG: Final = logging.getLogger(__name__)
#: The name of the text in structured content that has no declared shape.
KEY: Final = "memory_context"
#: The header that names a session of the Model Context Protocol over HTTP.
SESSION_HEADER: Final = "mcp-session-id"
#: So many questions are under way at once; while as many hang, none is asked.
_MOST_AT_ONCE: Final = 8
_MOST_SESSIONS: Final = 1_000


def request_for(call: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """What to ask `attach`, given the parameters of a `tools/call` and its result."""
    answer = [*map(_text_of, result["content"]), result.get("structuredContent")]
    return {"answer": answer, "arguments": call.get("arguments")}


def _text_of(block: Any) -> Any:
    """What can be read of a block of content: no image, no sound."""
    if not isinstance(block, Mapping):
        return None
    resource = block.get("resource")
    return (
        block.get("text")
        or block.get("uri")
        or (resource.get("text") if isinstance(resource, Mapping) else None)
    )


class AttachLookup:
    """Asks `attach` within a deadline. What the store answers too late is attached to the next answer instead."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._slots = _Slots(_MOST_AT_ONCE)
        #: Conversations whose memories came from the store too late to be passed on.
        self._missed: LruCache[str, bool] = LruCache(_MOST_SESSIONS)
        # The parser takes longer to load than a first answer may wait.
        Thread(target=parse_sql, args=("SELECT 1",), daemon=True).start()

    async def ask(
        self,
        door: AnyDoor,
        asked: Mapping[str, Any],
        conversation: str | None,
        *,
        within_s: float | None = None,
    ) -> Attached | None:
        """What the store has for this answer; None if it does not say so in time, which may be less this once."""
        reason = "the store did not answer in time"
        try:
            with anyio.move_on_after(self._deadline_s if within_s is None else within_s):
                return await self._asked(door, asked, conversation)
            if conversation is not None:
                self._missed.put(conversation, True)
        except Exception as problem:
            # Its message may quote a memory.
            reason = type(problem).__name__
        _LOG.warning("Nothing was attached to an answer: %s", reason)
        return None

    async def _asked(
        self, door: AnyDoor, asked: Mapping[str, Any], conversation: str | None
    ) -> Attached | None:
        if not (slot := self._slots.take()):
            _LOG.warning("Nothing was attached to an answer: the store is busy")
            return None
        # What came too late was not sent.
        again = conversation is not None and self._missed.pop(conversation) is True
        ask = {"conversation": conversation, "again": again, **asked}
        with slot:
            if isinstance(door, AsyncDoor):
                return await door.attach(**ask)
            return await anyio.to_thread.run_sync(
                partial(slot.hold, door.attach, ask), abandon_on_cancel=True
            )


class _Slot:
    """One question under way. It ends when the question has an answer, even if no request waits for it any longer."""

    def __init__(self, end: Callable[["_Slot"], None]) -> None:
        self._end = end
        self._is_held = False

    def hold(self, ask: Callable[..., Attached], asked: Mapping[str, Any]) -> Attached:
        """Ask in a thread that cannot be stopped: the place is taken until it ends."""
        self._is_held = True
        try:
            return ask(**asked)
        finally:
            self._end(self)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        if not self._is_held:
            self._end(self)


class _Slots:
    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: set[_Slot] = set()
        self._lock = Lock()

    def take(self) -> _Slot | None:
        with self._lock:
            if len(self._taken) >= self._most:
                return None
            place = _Slot(self._end)
            self._taken.add(place)
            return place

    def _end(self, place: _Slot) -> None:
        with self._lock:
            self._taken.discard(place)
