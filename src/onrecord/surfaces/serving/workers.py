"""HOW do several processes serve as one? Each has a place, and one that falls is followed by another."""

import multiprocessing
import signal
import socket
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

import uvicorn

from onrecord.errors import StoreUnavailable
from onrecord.surfaces.serving import metrics
from onrecord.surfaces.serving.sharing import Shares, SharingServer

#: How long it takes at most until it is noticed that all shall stop, or that one has begun.
_LOOK_S: Final = 0.1
#: How soon after its beginning one that fell is followed by another.
_AGAIN_AFTER_S: Final = 1.0


class Workers:
    """Processes that serve one application, named as `module:factory`, on one socket until they are told to stop."""

    def __init__(
        self, application: str, settings: Mapping[str, Any], listening: socket.socket, places: int
    ) -> None:
        self._told = (application, {**settings, "workers": places}, listening)
        self._shares = Shares.among(places)
        self._processes: dict[int, BaseProcess] = {}
        self._begun_s: dict[int, float] = {}
        self._stopping = False

    def run(self, ready: Callable[[], None]) -> None:
        """Until `stop`. Tells when all of them take connections: from then on these are shared evenly."""
        places = range(len(self._shares.held))
        try:
            for place in places:
                self._begin(place)
            if self._wait_for_all():
                ready()
            while not self._stopping:
                wait([each.sentinel for each in self._processes.values() if each.is_alive()], _LOOK_S)
                for place in places:
                    self._follow(place)
        finally:
            self._end()

    def stop(self, *_: Any) -> None:
        self._stopping = True

    def _begin(self, place: int) -> None:
        process = multiprocessing.get_context("spawn").Process(
            target=_work, args=(*self._told, self._shares, place), name=f"onrecord-{place}"
        )
        process.start()
        self._processes[place] = process
        self._begun_s[place] = time.monotonic()

    def _wait_for_all(self) -> bool:
        while not self._stopping:
            if all(self._shares.is_there(place) for place in self._processes):
                return True
            fallen = [each.exitcode for each in self._processes.values() if each.exitcode is not None]
            if fallen:
                raise StoreUnavailable(
                    f"A process of the server ended as it began (code {fallen[0]}); its reason stands above."
                )
            time.sleep(_LOOK_S / 10)
        return False

    def _follow(self, place: int) -> None:
        """Another process in the place of one that fell; one that falls at once is not tried without end or pause."""
        fallen = self._processes[place]
        if fallen.is_alive() or self._stopping:
            return
        # Nobody shall wait for it; and the half-answered requests of one that was killed are under way no more.
        self._shares.leave(place)
        metrics.forget(fallen.pid)
        if time.monotonic() - self._begun_s[place] > _AGAIN_AFTER_S:
            self._begin(place)

    def _end(self) -> None:
        # Each process has its own; while we held ours too, whoever comes now would wait for nobody.
        self._told[2].close()
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join()


def _work(
    application: str, settings: Mapping[str, Any], listening: socket.socket, shares: Shares, place: int
) -> None:
    server = SharingServer(uvicorn.Config(application, factory=True, **settings), listening, shares, place)
    for number in (signal.SIGINT, signal.SIGTERM):
        # Also before it runs and after: told to stop, it ends as one that has done its work.
        signal.signal(number, server.handle_exit)
    server.run()
