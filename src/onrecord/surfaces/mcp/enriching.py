"""HOW are memories attached to other tools' answers? As one more text in the result of each call, in any server
that is built with `mcp`.

A store that fails, or does not answer in time, leaves the result as it was.
"""

import json
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from threading import Lock, Thread
from typing import Any, Final, Protocol
from uuid import uuid4

import anyio
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic import BaseModel

from onrecord.catalog.sql_text import parse_sql
from onrecord.context.attaching import Attached
from onrecord.doors import AsyncDoor, Door
from onrecord.lru_cache import LruCache

Context = ServerRequestContext[Any, Any]
AnyDoor = Door | AsyncDoor

_LOG: Final = logging.getLogger(__name__)
#: The name of the text in structured content that has no declared shape.
KEY: Final = "memory_context"
_SESSION: Final = "mcp-session-id"
#: So many questions are under way at once; while as many hang, none is asked.
_MOST_AT_ONCE: Final = 8
_MOST_PAGES: Final = 100
_MOST_SESSIONS: Final = 1_000


def attach_memories(
    door: AnyDoor | Callable[[Context], AnyDoor],
    *,
    deadline_s: float = 0.2,
    limit: int = 5,
    max_tokens: int = 600,
    skip: Collection[str] = (),
    conversation: Callable[[Context], str | None] | None = None,
) -> "AttachingMiddleware":
    """Middleware for `Server.middleware`: adds memories about the things in a tool's answer to that answer.

    `door` is a door to the store, or returns the door for a request's sender. After `deadline_s` the result is sent
    without them. `skip` names tools whose results stay unchanged. `conversation` returns the name of a request's
    conversation, which gets each memory once; by default each session of the protocol is one.
    """
    # The parser takes longer to load than a first answer may wait.
    Thread(target=parse_sql, args=("SELECT 1",), daemon=True).start()
    told = WholeAnswers(frozenset(skip), {"limit": limit, "max_tokens": max_tokens})
    return AttachingMiddleware(door, deadline_s, told, conversation or _Sessions())


class AnswerAdapter(Protocol):
    """Chooses what to read of an answer, and what to add to it."""

    def asked(self, call: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any] | None:
        """What to ask `attach`, given the parameters of a call and its result; None to leave the result alone. With
        `again`, each answer gets all memories, even those the conversation already got.
        """

    def told(self, attached: Attached) -> Any:
        """What to add: a text, or a JSON object whose value under `memory_context` is added. None for nothing."""


class WholeAnswers:
    """Our own: arguments, texts and structured content of every tool, failed calls too; adds one framed text."""

    def __init__(self, skip: frozenset[str], ask: Mapping[str, Any]) -> None:
        self._skip, self._ask = skip, ask

    def asked(self, call: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any] | None:
        if call.get("name") in self._skip:
            return None
        answer = [*map(_text_of, result["content"]), result.get("structuredContent")]
        return {"answer": answer, "arguments": call.get("arguments"), **self._ask}

    def told(self, attached: Attached) -> Any:
        return str(attached.text) or None


class AttachingMiddleware:
    """Adds one text to the result of a `tools/call`, failed ones too; everything else passes as it came."""

    def __init__(
        self,
        door: AnyDoor | Callable[[Context], AnyDoor],
        deadline_s: float,
        adapter: AnswerAdapter,
        conversation: Callable[[Context], str | None],
    ) -> None:
        self._door_of: Callable[[Context], AnyDoor] = door if callable(door) else lambda context: door
        self._deadline_s, self._adapter, self._conversation = deadline_s, adapter, conversation
        self._places = _Slots(_MOST_AT_ONCE)
        #: Conversations whose memories came from the store too late to be passed on.
        self._missed: LruCache[str, bool] = LruCache(_MOST_SESSIONS)

    async def __call__(self, context: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(context)
        if context.method != "tools/call":
            return result
        given = context.params or {}
        told = _wire(result)
        if not isinstance(told, dict) or not isinstance(told.get("content"), list):
            # Such as a question to the person at the other end.
            return result
        asked = self._adapter.asked(given, told)
        if asked is None or (known := await self._known(context, asked)) is None:
            return result
        text = known if isinstance(known, str) else json.dumps(known, ensure_ascii=False)
        more: dict[str, Any] = {"content": [*told["content"], {"type": "text", "text": text}]}
        shaped = told.get("structuredContent")
        if isinstance(shaped, dict) and KEY not in shaped and not await self._declared(context, call_next):
            more["structuredContent"] = {**shaped, KEY: known if isinstance(known, str) else known[KEY]}
        return {**told, **more}

    async def _known(self, context: Context, asked: Mapping[str, Any]) -> Any:
        """What to add; None if nothing is known, or cannot be known in time."""
        reason = "the store did not answer in time"
        try:
            door = self._door_of(context)
            named = None if "again" in asked or _is_in_one(door) else self._conversation(context)
            with anyio.move_on_after(self._deadline_s):
                attached = await self._asked(door, asked, named)
                return None if attached is None else self._adapter.told(attached)
            if named is not None:
                self._missed.put(named, True)
        except Exception as problem:
            # Its message may quote a memory.
            reason = type(problem).__name__
        _LOG.warning("Nothing was attached to an answer: %s", reason)
        return None

    async def _asked(self, door: AnyDoor, asked: Mapping[str, Any], named: str | None) -> Attached | None:
        if not (place := self._places.take()):
            _LOG.warning("Nothing was attached to an answer: the store is busy")
            return None
        # What came too late was not sent.
        again = named is not None and self._missed.pop(named) is True
        ask = {"conversation": named, "again": again, **asked}
        with place:
            if isinstance(door, AsyncDoor):
                return await door.attach(**ask)
            return await anyio.to_thread.run_sync(
                partial(place.hold, door.attach, ask), abandon_on_cancel=True
            )

    async def _declared(self, context: Context, call_next: CallNext) -> bool:
        """Whether the tool declares the shape of its structured content; where that is unclear, it does."""
        name, meta = (context.params or {}).get("name"), (context.params or {}).get("_meta")
        params: dict[str, Any] = {} if meta is None else {"_meta": meta}
        try:
            with anyio.move_on_after(self._deadline_s):
                for _ in range(_MOST_PAGES):
                    listed = _wire(await call_next(replace(context, method="tools/list", params=params)))
                    for tool in listed["tools"]:
                        if tool["name"] == name:
                            return tool.get("outputSchema") is not None
                    if not listed.get("nextCursor"):
                        break
                    params = {**params, "cursor": listed["nextCursor"]}
        except Exception as problem:
            _LOG.warning("The tools could not be listed: %s", type(problem).__name__)
        return True


class _Sessions:
    """The conversation of a request: its session over HTTP; over anything else there is one client for each server."""

    def __init__(self) -> None:
        self._own = f"mcp-{uuid4().hex}"

    def __call__(self, context: Context) -> str | None:
        if context.request is None:
            return self._own
        session: str | None = getattr(context.request, "headers", {}).get(_SESSION)
        return session


class _Slot:
    """One question under way. It ends when the question has an answer, though nobody may wait for it any longer."""

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


def _wire(result: HandlerResult) -> Any:
    """A result as it goes out; other middleware may have made one itself."""
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return result


def _is_in_one(door: AnyDoor) -> bool:
    """Whether the caller is in a conversation already; a client over HTTP does not know."""
    caller = getattr(door, "caller", None)
    return caller is not None and caller.conversation is not None


def _text_of(block: Mapping[str, Any]) -> Any:
    """What can be read of a block of content: no image, no sound."""
    return block.get("text") or block.get("uri") or (block.get("resource") or {}).get("text")
