"""WHO takes the next connection? The worker that holds the fewest, so that none is idle while another is full.

All workers listen on one socket. In memory that they share, each writes how many connections it holds and when it was
last seen; one that holds more than another which is there leaves a new connection in the queue, and looks again a
moment later. So two workers differ by one connection at most, as long as none are closed.

A connection stays in the system's queue until a worker has taken it: whoever dies takes only its own with it, and one
that does not move is soon no longer waited for. A socket for each worker (`SO_REUSEPORT`) spreads a few connections
unevenly, does not spread at all on macOS, and loses the queue of a worker that dies; a parent that takes all and hands
them on loses what it handed to one that dies.
"""

import asyncio
import ctypes
import logging
import math
import multiprocessing
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import uvicorn

#: How long a connection is left to others before one looks whether it still waits.
_MOMENT_S: Final = 0.001
#: After how long a worker that was not seen is no longer waited for; one that is well is seen ten times a second.
_GONE_AFTER_S: Final = 2.0
#: How long a worker that cannot take another connection leaves them to the rest.
_FULL_S: Final = 1.0

_LOG: Final = logging.getLogger("uvicorn.error")


@dataclass(frozen=True)
class Shares:
    """What each worker holds, seen by all: a place for each, written by the worker in it alone while it lives."""

    held: "ctypes.Array[ctypes.c_int]"
    seen_s: "ctypes.Array[ctypes.c_double]"

    @classmethod
    def among(cls, places: int) -> "Shares":
        memory = multiprocessing.get_context("spawn")
        shares = cls(memory.RawArray(ctypes.c_int, places), memory.RawArray(ctypes.c_double, places))
        for place in range(places):
            shares.leave(place)
        return shares

    def tell(self, place: int, held: int) -> None:
        self.held[place] = held
        self.seen_s[place] = time.monotonic()

    def leave(self, place: int) -> None:
        self.seen_s[place] = -math.inf

    def is_there(self, place: int) -> bool:
        return time.monotonic() - self.seen_s[place] < _GONE_AFTER_S

    def has_fewest(self, place: int) -> bool:
        """Whether nobody who is there holds fewer."""
        mine = self.held[place]
        return all(held >= mine or not self.is_there(other) for other, held in enumerate(self.held))


class _Connections(set[Any]):
    """The open connections of a server; tells of each that is closed."""

    def __init__(self, closed: Callable[[], None]) -> None:
        super().__init__()
        self._closed = closed

    def discard(self, connection: Any) -> None:
        if connection in self:
            super().discard(connection)
            self._closed()


class SharingServer(uvicorn.Server):
    """A server that takes connections one at a time, and only while no other worker holds fewer."""

    def __init__(self, config: uvicorn.Config, listening: socket.socket, shares: Shares, place: int) -> None:
        super().__init__(config)
        self.server_state.connections = _Connections(self._closed)
        self._listening, self._shares, self._place = listening, shares, place
        self._held, self._takes = 0, False
        self._resting: asyncio.TimerHandle | None = None
        self._beginning: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        self._listening.setblocking(False)
        self._listen()

    async def on_tick(self, counter: int) -> bool:
        self._tell()
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():
            # Nobody is left to tell this process to stop, and it would keep the address from whoever comes next.
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leave()
        if self._resting is not None:
            self._resting.cancel()
        asyncio.get_running_loop().remove_reader(self._listening)
        self._listening.close()
        await asyncio.gather(*self._beginning)
        await super().shutdown(sockets)

    def _listen(self) -> None:
        self._takes = True
        self._tell()
        asyncio.get_running_loop().add_reader(self._listening, self._called)

    def _rest(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        # A connection that waits would call again at once.
        loop.remove_reader(self._listening)
        self._resting = loop.call_later(seconds, self._listen)

    def _called(self) -> None:
        """Somebody wants to be connected, or did a moment ago."""
        if not self._shares.has_fewest(self._place):
            self._rest(_MOMENT_S)
            return
        try:
            connection, _ = self._listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as problem:
            _LOG.warning("This process takes no connection for a while: %s.", problem.strerror or problem)
            self._leave()
            self._rest(_FULL_S)
            return
        self._held += 1
        self._tell()
        task = asyncio.get_running_loop().create_task(self._begin(connection))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _begin(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        except OSError:
            connection.close()
            self._closed()

    def _protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    def _closed(self) -> None:
        self._held -= 1
        self._tell()

    def _tell(self) -> None:
        if self._takes:
            self._shares.tell(self._place, self._held)

    def _leave(self) -> None:
        self._takes = False
        self._shares.leave(self._place)
