"""HOW does an async program use a store? By the same methods; each runs in a thread."""

import asyncio
import threading
from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from onrecord.access.confirmation import ConfirmationState
from onrecord.doors import AsyncDoor
from onrecord.model.caller import Caller
from onrecord.operation import Operation, StorePolicy
from onrecord.service import OnRecord

Made = TypeVar("Made")


class LazyValue(Generic[Made]):
    """A value that takes a while to make. A thread makes it once, when it is first needed, and the event loop goes
    on.
    """

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._turn = threading.Lock()
        #: The value, once it was made.
        self.made: Made | None = None

    def get(self) -> Made:
        with self._turn:
            if self.made is None:
                self.made = self._make()
            return self.made

    async def ready(self) -> Made:
        """Await the value; the event loop goes on meanwhile."""
        return self.made if self.made is not None else await asyncio.to_thread(self.get)


class AsyncOnRecord(AsyncDoor):
    """A store as one caller sees it, for async programs. It is opened by `await`, by `async with`, or by its first operation."""

    def __init__(self, sync: OnRecord | Callable[[], OnRecord]) -> None:
        """`door` is an open door, or a function that opens one."""
        self._door: LazyValue[OnRecord]
        if isinstance(sync, OnRecord):
            self._door = LazyValue(lambda: sync)
            self._door.get()
        else:
            self._door = LazyValue(sync)

    @property
    def sync(self) -> OnRecord:
        """The synchronous door behind this one. If it is not open yet, this opens it and blocks the event loop."""
        return self._door.get()

    @property
    def caller(self) -> Caller:
        return self.sync.caller

    @property
    def now(self) -> datetime:
        """The time by the clock of this door."""
        return self.sync.now

    @property
    def location(self) -> str:
        """Where the data lives."""
        return self.sync.location

    def as_caller(self, caller: Caller, policy: StorePolicy | None = None) -> "AsyncOnRecord":
        """The same store for another caller, under another policy if one is given."""
        door = self._door.made
        return (
            AsyncOnRecord(lambda: self.sync.as_caller(caller, policy))
            if door is None
            else AsyncOnRecord(door.as_caller(caller, policy))
        )

    async def perform(self, operation: Operation, /, *given: Any, **named: Any) -> Any:
        door = await self._door.ready()
        return await asyncio.to_thread(door.perform, operation, *given, **named)

    async def issue_confirmation(self, what: str) -> str:
        """See `OnRecord.issue_confirmation`."""
        return await asyncio.to_thread((await self._door.ready()).issue_confirmation, what)

    async def ask_person(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """See `OnRecord.ask_person`."""
        return await asyncio.to_thread((await self._door.ready()).ask_person, tool, arguments)

    async def verify_confirmation(self, what: str, token: str) -> ConfirmationState:
        """See `OnRecord.verify_confirmation`."""
        return await asyncio.to_thread((await self._door.ready()).verify_confirmation, what, token)

    async def close(self) -> None:
        if (door := self._door.made) is not None:
            await asyncio.to_thread(door.close)

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        await self._door.ready()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
