"""HOW does a host on this machine reach a server's store? Each message goes on to the server's endpoint, and its answer back.

Nothing is understood here that the server understands: its tools, its questions to people and its versions of the
protocol are the server's. What cannot be passed on is answered with an error, so that no request waits for ever.
"""

import json
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import anyio
import anyio.to_thread
import httpx2
from anyio.abc import TaskGroup
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)

from onrecord.errors import Unauthenticated

#: Where a request of the newer version of the protocol says so.
_VERSION_IN_META: Final = "io.modelcontextprotocol/protocolVersion"
_PARSE_ERROR: Final = -32700
_INTERNAL_ERROR: Final = -32603
#: A person may be asked meanwhile.
_TIMEOUT_S: Final = 330.0
_CONNECT_S: Final = 10.0
#: What is under way when the host closes the stream still gets so long.
_LAST_ANSWERS_S: Final = 10.0
_LISTENING: Final = "subscriptions/listen"


def serve_bridge(endpoint: str, headers: Mapping[str, str | bytes]) -> None:
    """Pass messages on until the host closes the stream. Nothing is sent before its first message."""
    anyio.run(_Bridge(endpoint, headers).run)


class _Bridge:
    def __init__(self, endpoint: str, headers: Mapping[str, str | bytes]) -> None:
        self._endpoint = endpoint
        self._headers = [
            (name.encode(), value if isinstance(value, bytes) else value.encode())
            for name, value in headers.items()
        ]
        self._out = anyio.Lock()
        self._under_way: dict[str, anyio.CancelScope] = {}
        self._listening: set[str] = set()
        #: Agreed upon by the older handshake.
        self._version: str | None = None

    async def run(self) -> None:
        timeout = httpx2.Timeout(_TIMEOUT_S, connect=_CONNECT_S)
        async with httpx2.AsyncClient(timeout=timeout) as self._http, anyio.create_task_group() as tasks:
            async for line in _lines():
                await self._take(line, tasks)
            for each in self._listening & self._under_way.keys():
                self._under_way[each].cancel()
            tasks.cancel_scope.deadline = anyio.current_time() + _LAST_ANSWERS_S

    async def _take(self, line: bytes, tasks: TaskGroup) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            await self._fail(None, _PARSE_ERROR, "This is not JSON.")
            return
        if not isinstance(message, dict):
            await self._fail(None, _PARSE_ERROR, "A message is one JSON object.")
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if message.get("method") == "notifications/cancelled":
            # The server ends a call whose connection is closed.
            if scope := self._under_way.get(_key(params.get("requestId"))):
                scope.cancel()
            return
        scope = anyio.CancelScope()
        if "id" in message and "method" in message:
            self._under_way[_key(message["id"])] = scope
            if message["method"] == _LISTENING:
                self._listening.add(_key(message["id"]))
        tasks.start_soon(self._pass_on, message, self._routed(message, params), scope)
        # An older client sends nothing else before it knows what was agreed.
        if message.get("method") == "initialize":
            while _key(message.get("id")) in self._under_way:
                await anyio.sleep(0.005)

    def _routed(self, message: dict[str, Any], params: dict[str, Any]) -> list[tuple[bytes, bytes]]:
        """The headers of a message, which say again what is in it."""
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        meta, method = params.get("_meta"), message.get("method")
        newer = meta.get(_VERSION_IN_META) if isinstance(meta, dict) else None
        if isinstance(newer, str) and isinstance(method, str):
            headers |= {MCP_PROTOCOL_VERSION_HEADER: newer, MCP_METHOD_HEADER: method}
            named = params.get(NAME_BEARING_METHODS.get(method, ""))
            if isinstance(named, str):
                headers[MCP_NAME_HEADER] = named
        elif self._version is not None and method != "initialize":
            headers[MCP_PROTOCOL_VERSION_HEADER] = self._version
        encoded = ((name.encode(), encode_header_value(value).encode()) for name, value in headers.items())
        return [*self._headers, *encoded]

    async def _pass_on(
        self, message: dict[str, Any], headers: list[tuple[bytes, bytes]], scope: anyio.CancelScope
    ) -> None:
        id, is_request = message.get("id"), "id" in message and "method" in message
        try:
            with scope:
                answered = await self._answered(message, headers)
                if is_request and not answered:
                    await self._fail(
                        id, _INTERNAL_ERROR, f"The server at {self._endpoint} ended without an answer."
                    )
        except httpx2.RequestError as problem:
            if is_request:
                reason = str(problem).rstrip(".") or type(problem).__name__
                await self._fail(
                    id, _INTERNAL_ERROR, f"No answer from {self._endpoint}: {reason}. Is the server running?"
                )
        finally:
            if is_request and self._under_way.get(_key(id)) is scope:
                del self._under_way[_key(id)]
                self._listening.discard(_key(id))

    async def _answered(self, message: dict[str, Any], headers: list[tuple[bytes, bytes]]) -> bool:
        """Send a message, and write what comes back; whether its answer was among that."""
        body = json.dumps(message, ensure_ascii=False).encode()
        is_request, answered = "id" in message and "method" in message, False
        async with self._http.stream("POST", self._endpoint, headers=headers, content=body) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind == "text/event-stream":
                async for text in _events(response):
                    answered |= await self._write_answer(message, _parsed(text))
                return answered
            came = _parsed(await response.aread())
        if not is_request:
            return True
        if isinstance(came, dict) and ("result" in came or isinstance(came.get("error"), dict)):
            # A request that was refused before it was read comes back without its id.
            return await self._write_answer(message, came | {"id": message["id"]})
        await self._fail(message["id"], _INTERNAL_ERROR, self._refusal(response.status_code, came))
        return True

    async def _write_answer(self, asked: dict[str, Any], came: Any) -> bool:
        if not isinstance(came, dict):
            return False
        result = came.get("result")
        if asked.get("method") == "initialize" and isinstance(result, dict):
            self._version = str(result.get("protocolVersion"))
        await self._write(came)
        return "method" not in came and came.get("id") == asked.get("id")

    def _refusal(self, status: int, came: Any) -> str:
        """Why a server did not take a message, in words for whoever set up the host."""
        detail = came.get("detail") if isinstance(came, dict) else None
        if status == 401:
            given = any(name.lower() == b"authorization" for name, _ in self._headers)
            what = "refuses the key in ONRECORD_KEY" if given else "wants a key: set ONRECORD_KEY"
            return f"The server at {self._endpoint} {what}. {detail or Unauthenticated()}"
        if isinstance(detail, str) and str(came.get("type", "")).startswith("urn:onrecord:"):
            return f"{self._endpoint}: {detail}"
        return (
            f"The server at {self._endpoint} is not OnRecord (status {status}). Check the address, and any proxy in front "
            "of the server."
        )

    async def _fail(self, id: Any, code: int, message: str) -> None:
        await self._write({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})

    async def _write(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        async with self._out:
            await anyio.to_thread.run_sync(_put, line)


def _put(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


async def _lines() -> AsyncIterator[bytes]:
    while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, abandon_on_cancel=True):
        if line.strip():
            yield line


async def _events(response: httpx2.Response) -> AsyncIterator[str]:
    """The data of each event of a stream."""
    data: list[str] = []
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data.clear()
    if data:
        yield "\n".join(data)


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _key(id: Any) -> str:
    """An id as a key: the number 1 is not the text "1"."""
    return json.dumps(id)
