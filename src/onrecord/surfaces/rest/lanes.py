"""WHO gets a thread next? So many at once, one tenant no more than its share, and waiting tenants take turns.

A tenant whose requests all wait for a lock or a database leaves room for the others.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

Answer = TypeVar("Answer")
_FREE: Final = float("inf")


class Lane:
    """Threads for one kind of work; it belongs to the running event loop."""

    def __init__(self, threads: int, share: int) -> None:
        self._left, self._share = threads, share
        self._held = Counter[str | None]()
        self._waiting: OrderedDict[str | None, deque[asyncio.Future[None]]] = OrderedDict()
        # The lane itself limits the number of threads.
        self._threads = CapacityLimiter(_FREE)

    async def run(self, tenant: str | None, act: Callable[[], Answer]) -> Answer:
        """Run something in a thread; work without a tenant has no share. If the caller stops waiting, the work goes
        on and keeps its place until it is done.
        """
        await self._enter(tenant)
        loop = asyncio.get_running_loop()
        has_begun = has_left = False

        def leave() -> None:
            nonlocal has_left
            if not has_left:
                has_left = True
                self._leave(tenant)

        def acted() -> Answer:
            nonlocal has_begun
            has_begun = True
            try:
                return act()
            finally:
                # If the event loop has ended, there is nothing to give back.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(leave)

        try:
            return await to_thread.run_sync(acted, limiter=self._threads, abandon_on_cancel=True)
        except BaseException:
            if not has_begun:
                # The work was cancelled before a thread took it.
                leave()
            raise

    async def _enter(self, tenant: str | None) -> None:
        if self._left and self._has_room(tenant):
            self._take(tenant)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._drop(tenant, turn)
                self._call_next()
            else:
                # It got its turn just before it was cancelled.
                self._leave(tenant)
            raise

    def _has_room(self, tenant: str | None) -> bool:
        return tenant is None or self._held[tenant] < self._share

    def _take(self, tenant: str | None) -> None:
        self._left -= 1
        self._held[tenant] += 1

    def _drop(self, tenant: str | None, turn: "asyncio.Future[None]") -> None:
        waiting = self._waiting.get(tenant)
        if waiting is not None and turn in waiting:
            waiting.remove(turn)
            if not waiting:
                del self._waiting[tenant]

    def _leave(self, tenant: str | None) -> None:
        self._left += 1
        self._held[tenant] -= 1
        if not self._held[tenant]:
            del self._held[tenant]
        self._call_next()

    def _call_next(self) -> None:
        for tenant in list(self._waiting):
            if not self._left:
                return
            if not self._has_room(tenant):
                continue
            waiting = self._waiting.pop(tenant)
            turn = waiting.popleft()
            if waiting:
                # This tenant goes to the end of the queue.
                self._waiting[tenant] = waiting
            if not turn.done():
                self._take(tenant)
                turn.set_result(None)
