"""WHAT is added to a message? To the result of a tool call, one text with what is known about what it mentions.

Whatever goes wrong here, the message passes as it came.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, Final

import anyio
import anyio.to_thread

from onrecord.doors import Door
from onrecord.surfaces.attach_lookup import KEY, AttachLookup, request_for
from onrecord.surfaces.proxy.json_text import Insertion, with_insertions
from onrecord.surfaces.proxy.lessons import Lessons
from onrecord.surfaces.proxy.pins import Pins
from onrecord.surfaces.proxy.session import CallReply, Message, Session

_LOG: Final = logging.getLogger(__name__)
#: A store that could not be opened is tried again after so long.
_TRY_AGAIN_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is added, how long an answer may wait for it, and which tools are left alone."""

    memories: int = 5
    max_tokens: int = 600
    deadline_s: float = 0.2
    skip: Collection[str] = frozenset()


class OpeningDoor:
    """A door that opens in the background, since the first message must not wait for a database."""

    def __init__(self, opened: Callable[[], Door]) -> None:
        self._opened = opened
        self._lock = Lock()
        self._begun_at = 0.0
        self._coming = self._begin()

    async def within(self, seconds: float) -> Door | None:
        """The door, if it is open by then."""
        coming = self._current()
        # Not in a thread: while a store hangs, many answers wait for it, and threads are few.
        with suppress(Exception), anyio.move_on_after(seconds):
            return await asyncio.wrap_future(coming)
        return None

    def wait(self, seconds: float) -> Door | None:
        """The same, for a thread that may wait."""
        coming = self._current()
        wait([coming], seconds)
        return coming.result() if coming.done() and coming.exception() is None else None

    def _current(self) -> "Future[Door]":
        with self._lock:
            failed = self._coming.done() and self._coming.exception() is not None
            if failed and time.monotonic() - self._begun_at > _TRY_AGAIN_S:
                self._coming = self._begin()
            return self._coming

    def _begin(self) -> "Future[Door]":
        self._begun_at = time.monotonic()
        coming: Future[Door] = Future()
        # It can no longer be cancelled by one that waits in vain.
        coming.set_running_or_notify_cancel()
        Thread(target=self._open, args=(coming,), name="onrecord-opening", daemon=True).start()
        return coming

    def _open(self, coming: "Future[Door]") -> None:
        try:
            coming.set_result(self._opened())
        except BaseException as problem:
            _LOG.warning("Nothing can be attached; the store could not be opened: %s", problem)
            coming.set_exception(problem)


class Relay:
    """Adds to the messages of one server; `pins` and `lessons` hear of its tools and of its calls, if they are there."""

    def __init__(
        self, door: OpeningDoor, limits: Limits, *, pins: Pins | None = None, lessons: Lessons | None = None
    ) -> None:
        self._door, self._limits, self._pins, self._lessons = door, limits, pins, lessons
        self._lookup = AttachLookup(limits.deadline_s)

    async def passed_on(self, session: Session, message: Message) -> bytes:
        """The message of a server as its client gets it."""
        try:
            if message.tools and self._pins is not None:
                await anyio.to_thread.run_sync(self._pins.compare, message.tools)
            if self._lessons is not None:
                for reply in message.replies:
                    self._lessons.note(self._door.wait, session, reply)
            insertions = [each for reply in message.replies for each in await self._added(session, reply)]
            return with_insertions(message.text, insertions).encode() if insertions else message.raw
        except Exception as problem:
            _LOG.warning("A message was passed on unchanged: %s", type(problem).__name__)
            return message.raw

    async def _added(self, session: Session, reply: CallReply) -> list[Insertion]:
        result, tool = reply.result, reply.request.tool
        # A result without content is a question to the person at the other end, or something not yet invented.
        if result is None or not isinstance(result.get("content"), list) or tool in self._limits.skip:
            return []
        text = await self._known(session, reply.request.params, result)
        if not text:
            return []
        block = json.dumps({"type": "text", "text": text}, ensure_ascii=False)
        added = [Insertion((*reply.path, "result", "content"), block)]
        shaped = result.get("structuredContent")
        if isinstance(shaped, dict) and KEY not in shaped and not session.declares_shape(tool):
            member = f"{json.dumps(KEY)}:{json.dumps(text, ensure_ascii=False)}"
            added.append(Insertion((*reply.path, "result", "structuredContent"), member))
        return added

    async def _known(self, session: Session, call: Mapping[str, Any], result: Mapping[str, Any]) -> str:
        started = anyio.current_time()
        door = await self._door.within(self._limits.deadline_s)
        if door is None:
            return ""
        asked = request_for(call, result) | {
            "limit": self._limits.memories,
            "max_tokens": self._limits.max_tokens,
        }
        left = self._limits.deadline_s - (anyio.current_time() - started)
        attached = await self._lookup.ask(door, asked, session.name, within_s=left)
        return "" if attached is None else str(attached.text)
