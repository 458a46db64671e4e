"""HOW does a program reach a store elsewhere? The doors of `onrecord`, over HTTP: the same names, arguments, answers and errors."""

import asyncio
import time
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

import httpx2

from onrecord.aio import LazyValue
from onrecord.client.address import SLOW_S, credentials, lost, narrowing, read_address, together
from onrecord.client.answering import ConnectionFailure, HttpReply, after, pause_before_repeating, read_answer
from onrecord.client.moving import exported, file_for
from onrecord.client.sending import MOVING, HttpCall, prepare, read_arguments
from onrecord.doors import AsyncDoor, Door
from onrecord.operation import Operation

_TIMEOUT_S: Final = 30.0
_AT_ONCE: Final = 256 * 1024
Http = TypeVar("Http")


def connect(
    url: str,
    *,
    key: str | None = None,
    conversation: str | None = None,
    run: str | None = None,
    timeout: float = _TIMEOUT_S,
) -> "Client":
    """Reach the server at this address, with a key or token if it needs one. Nothing is sent yet.

    `conversation` is the conversation of the caller, and `run` what an unattended caller works on; both only narrow
    what the key may see. `timeout` is how many seconds to wait for an answer.
    """
    address = read_address(url)
    http = httpx2.Client(base_url=address, headers=credentials(key), timeout=timeout)
    return Client(http, address, narrowing(conversation, run), timeout)


def connect_async(
    url: str,
    *,
    key: str | None = None,
    conversation: str | None = None,
    run: str | None = None,
    timeout: float = _TIMEOUT_S,
) -> "AsyncClient":
    """Like `connect`, for async programs: `memory = await connect_async(…)`, or `async with connect_async(…) as
    memory`.

    A thread does slow work such as reading certificates; the event loop goes on meanwhile.
    """
    address, carried = read_address(url), credentials(key)
    http = LazyValue(lambda: httpx2.AsyncClient(base_url=address, headers=carried, timeout=timeout))
    return AsyncClient(http, address, narrowing(conversation, run), timeout)


class _Connected(Generic[Http]):
    """What both clients hold: the connections, the address, what narrows the caller, and how long to wait."""

    def __init__(self, http: Http, location: str, narrowed: dict[str, bytes], timeout: float) -> None:
        self._http, self._narrowed, self._timeout = http, narrowed, timeout
        self._location = location

    @property
    def location(self) -> str:
        """Where the data lives."""
        return self._location

    def narrowed(self, *, conversation: str | None = None, run: str | None = None) -> Self:
        """The same store over the same connections, from inside a conversation or as a run."""
        narrowed = self._narrowed | narrowing(conversation, run)
        return type(self)(self._http, self.location, narrowed, self._timeout)

    def _timeout_of(self, call: HttpCall) -> float:
        return max(self._timeout, SLOW_S) if call.is_slow else self._timeout


class Client(_Connected[httpx2.Client], Door):
    """A store elsewhere, as the holder of a key sees it. Threads may share it; closing it ends its connections."""

    def perform(self, operation: Operation, /, *given: Any, **named: Any) -> Any:
        values = read_arguments(operation, given, named)
        if operation.name not in MOVING:
            return self._send(prepare(operation, values))
        with file_for(operation.name, values["path"]) as file:
            answer = self._send(prepare(operation, values, file=file))
            return exported(file, values["path"]) if answer is None else answer

    def _send(self, call: HttpCall) -> Any:
        came, attempt = self._send_once(call), 0
        while (pause := pause_before_repeating(call, came, attempt)) is not None:
            time.sleep(pause)
            came, attempt = after(came, self._send_once(call)), attempt + 1
        return read_answer(call, came, self.location)

    def _send_once(self, call: HttpCall) -> HttpReply | ConnectionFailure:
        timeout = self._timeout_of(call)
        headers = together(self._narrowed, call.headers)
        try:
            if isinstance(call.body, Path):
                with call.body.open("rb") as file:
                    return self._exchange(call, headers, timeout, content=file)
            return self._exchange(call, headers, timeout, content=call.body)
        except httpx2.RequestError as problem:
            return lost(problem, timeout)

    def _exchange(
        self, call: HttpCall, headers: list[tuple[bytes, bytes]], timeout: float, content: Any
    ) -> HttpReply:
        with self._http.stream(
            call.method, call.path, headers=headers, content=content, timeout=timeout
        ) as response:
            if call.into is None or not response.is_success:
                return HttpReply(response.status_code, response.headers, response.read())
            with call.into.open("wb") as file:
                for part in response.iter_bytes():
                    file.write(part)
            return HttpReply(response.status_code, response.headers, b"")

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(_Connected[LazyValue[httpx2.AsyncClient]], AsyncDoor):
    """A store elsewhere, as the holder of a key sees it, for async programs. It belongs to the event loop that first
    uses it.
    """

    async def perform(self, operation: Operation, /, *given: Any, **named: Any) -> Any:
        values = read_arguments(operation, given, named)
        if operation.name not in MOVING:
            return await self._send(prepare(operation, values))
        with file_for(operation.name, values["path"]) as file:
            answer = await self._send(prepare(operation, values, file=file))
            if answer is None:
                return await asyncio.to_thread(exported, file, values["path"])
            return answer

    async def _send(self, call: HttpCall) -> Any:
        came, attempt = await self._send_once(call), 0
        while (pause := pause_before_repeating(call, came, attempt)) is not None:
            await asyncio.sleep(pause)
            came, attempt = after(came, await self._send_once(call)), attempt + 1
        return read_answer(call, came, self.location)

    async def _send_once(self, call: HttpCall) -> HttpReply | ConnectionFailure:
        timeout = self._timeout_of(call)
        headers = together(self._narrowed, call.headers)
        content = _parts(call.body) if isinstance(call.body, Path) else call.body
        http = await self._http.ready()
        try:
            async with http.stream(
                call.method, call.path, headers=headers, content=content, timeout=timeout
            ) as response:
                if call.into is None or not response.is_success:
                    return HttpReply(response.status_code, response.headers, await response.aread())
                with call.into.open("wb") as file:
                    async for part in response.aiter_bytes():
                        await asyncio.to_thread(file.write, part)
                return HttpReply(response.status_code, response.headers, b"")
        except httpx2.RequestError as problem:
            return lost(problem, timeout)

    async def close(self) -> None:
        if (http := self._http.made) is not None:
            await http.aclose()

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        await self._http.ready()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _parts(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while part := await asyncio.to_thread(file.read, _AT_ONCE):
            yield part
