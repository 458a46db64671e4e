"""HOW are memories attached to other tools' answers? As one more text in the result of each call, in any server
that is built with `mcp`.

A store that fails, or does not answer in time, leaves the result as it was.
"""

import json
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol
from uuid import uuid4

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic import BaseModel

from onrecord.context.attaching import Attached
from onrecord.surfaces.attach_lookup import KEY, SESSION_HEADER, AnyDoor, AttachLookup, request_for

Context = ServerRequestContext[Any, Any]

_LOG: Final = logging.getLogger(__name__)
_MOST_PAGES: Final = 100


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
    adapter = WholeAnswers(frozenset(skip), {"limit": limit, "max_tokens": max_tokens})
    return AttachingMiddleware(door, deadline_s, adapter, conversation or _Sessions())


class AnswerAdapter(Protocol):
    """Chooses what to read of an answer, and what to add to it."""

    def asked(self, call: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any] | None:
        """What to ask `attach`, given the parameters of a call and its result; None to leave the result alone. With
        `again`, each answer gets all memories, even those the conversation already got.
        """

    def rendered(self, attached: Attached) -> Any:
        """What to add: a text, or a JSON object whose value under `memory_context` is added. None for nothing."""


class WholeAnswers:
    """Our own: arguments, texts and structured content of every tool, failed calls too; adds one framed text."""

    def __init__(self, skip: frozenset[str], ask: Mapping[str, Any]) -> None:
        self._skip, self._ask = skip, ask

    def asked(self, call: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any] | None:
        if call.get("name") in self._skip:
            return None
        return {**request_for(call, result), **self._ask}

    def rendered(self, attached: Attached) -> Any:
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
        self._lookup = AttachLookup(deadline_s)

    async def __call__(self, context: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(context)
        if context.method != "tools/call":
            return result
        given = context.params or {}
        answer = _wire(result)
        if not isinstance(answer, dict) or not isinstance(answer.get("content"), list):
            # Such as a question to the person at the other end.
            return result
        asked = self._adapter.asked(given, answer)
        if asked is None or (known := await self._known(context, asked)) is None:
            return result
        text = known if isinstance(known, str) else json.dumps(known, ensure_ascii=False)
        more: dict[str, Any] = {"content": [*answer["content"], {"type": "text", "text": text}]}
        shaped = answer.get("structuredContent")
        if isinstance(shaped, dict) and KEY not in shaped and not await self._declared(context, call_next):
            more["structuredContent"] = {**shaped, KEY: known if isinstance(known, str) else known[KEY]}
        return {**answer, **more}

    async def _known(self, context: Context, asked: Mapping[str, Any]) -> Any:
        """What to add; None if nothing is known, or cannot be known in time."""
        try:
            door = self._door_of(context)
            named = None if "again" in asked or _is_in_one(door) else self._conversation(context)
            attached = await self._lookup.ask(door, asked, named)
            return None if attached is None else self._adapter.rendered(attached)
        except Exception as problem:
            # Its message may quote a memory.
            _LOG.warning("Nothing was attached to an answer: %s", type(problem).__name__)
            return None

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
        session: str | None = getattr(context.request, "headers", {}).get(SESSION_HEADER)
        return session


def _wire(result: HandlerResult) -> Any:
    """A result as it goes out; other middleware may have made one itself."""
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return result


def _is_in_one(door: AnyDoor) -> bool:
    """Whether the caller is in a conversation already; a client over HTTP does not know."""
    caller = getattr(door, "caller", None)
    return caller is not None and caller.conversation is not None
