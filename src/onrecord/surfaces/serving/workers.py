"""HOW do several processes serve as one? Each has a socket, and a process that dies is replaced.

The system spreads connections over the sockets. The parent process holds them too: connections that wait at the
socket of a dead process are answered by its successor.
"""

import multiprocessing
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

import uvicorn

from onrecord.errors import StoreUnavailable
from onrecord.surfaces.forced_exit import AFTERWARDS_S
from onrecord.surfaces.serving import metrics
from onrecord.surfaces.serving.ending import EndingServer

#: How often to look whether to stop.
_LOOK_S: Final = 0.1
#: A process that dies sooner after its start than this is replaced only when this time is over.
_AGAIN_AFTER_S: Final = 1.0


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    #: Gets a message when the process accepts connections; closes if the process dies before that.
    ready: "Connection[Any, Any]"
    begun_s: float


class Workers:
    """Processes that serve one application, named as `module:factory`, at one address until they are stopped."""

    def __init__(
        self, application: str, settings: Mapping[str, Any], listening: socket.socket, places: int
    ) -> None:
        self._served = (application, {**settings, "workers": places})
        self._sockets = _sockets(listening, places)
        self._workers: dict[int, _Worker] = {}
        self._stopping = False

    def run(self, ready: Callable[[], None]) -> None:
        """Run until `stop`. Reports when all of them accept connections."""
        try:
            for place in range(len(self._sockets)):
                self._begin(place)
            if self._wait_for_all():
                ready()
            while not self._stopping:
                processes = [each.process for each in self._workers.values()]
                wait([each.sentinel for each in processes if each.is_alive()], _LOOK_S)
                for place in self._workers:
                    self._follow(place)
        finally:
            self._end()

    def stop(self, *_: Any) -> None:
        self._stopping = True

    def _begin(self, place: int) -> None:
        spawning = multiprocessing.get_context("spawn")
        ready, tell = spawning.Pipe(duplex=False)
        process = spawning.Process(
            target=_work, args=(*self._served, self._sockets[place], tell), name=f"onrecord-{place}"
        )
        process.start()
        # The child has its own end; an open end here would hide that the child died.
        tell.close()
        self._workers[place] = _Worker(process, ready, time.monotonic())

    def _wait_for_all(self) -> bool:
        for worker in self._workers.values():
            while not worker.ready.poll(_LOOK_S):
                if self._stopping:
                    return False
            try:
                worker.ready.recv()
            except EOFError:
                worker.process.join()
                code = worker.process.exitcode
                raise StoreUnavailable(
                    f"A process of the server ended while it started (code {code}); the reason is above."
                ) from None
        return True

    def _follow(self, place: int) -> None:
        """Replace a dead process; one that dies at once is restarted only a few times, with pauses."""
        fallen = self._workers[place]
        if fallen.process.is_alive() or self._stopping:
            return
        # Requests of a killed process are no longer in flight.
        metrics.forget(fallen.process.pid)
        if time.monotonic() - fallen.begun_s > _AGAIN_AFTER_S:
            self._begin(place)

    def _end(self) -> None:
        # Closed here too, so that new connections are refused instead of waiting.
        for each in self._sockets:
            each.close()
        for worker in self._workers.values():
            worker.process.terminate()
        # Each ends itself by then, unless it is stopped or stuck.
        last = time.monotonic() + (self._served[1].get("timeout_graceful_shutdown") or 0) + 2 * AFTERWARDS_S
        for worker in self._workers.values():
            worker.process.join(max(last - time.monotonic(), 0))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _sockets(listening: socket.socket, places: int) -> list[socket.socket]:
    """One socket for each process if the system spreads connections over them; otherwise one for all."""
    if sys.platform == "linux":
        with suppress(OSError):
            # Set after binding, so that a second server on the same port is refused.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            address, family = listening.getsockname(), listening.family
            more = range(places - 1)
            return [listening, *(socket.create_server(address, family=family, reuse_port=True) for _ in more)]
    return [listening] * places


def _work(
    application: str,
    settings: Mapping[str, Any],
    listening: socket.socket,
    ready: "Connection[Any, Any]",
) -> None:
    parent = multiprocessing.parent_process()

    async def look() -> None:
        """First once connections are taken, then every second."""
        if parent is not None and not parent.is_alive():
            # The parent is gone, so this process ends itself and frees the address.
            server.should_exit = True
        elif not ready.closed:
            ready.send(None)
            ready.close()

    server = EndingServer(
        uvicorn.Config(application, factory=True, callback_notify=look, timeout_notify=0, **settings)
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        # Installed before it runs, so that a signal at any time leads to a normal end.
        signal.signal(number, server.handle_exit)
    server.run(sockets=[listening])
