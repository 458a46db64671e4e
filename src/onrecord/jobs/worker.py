"""WHO does the jobs that were put off? A worker claims jobs, does them, and looks again; any number of workers may
run.

It knows jobs only by name; `upkeep.py` says what each name means.
"""

import logging
import os
import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Final

from onrecord.errors import OnRecordError, StoreUnavailable
from onrecord.jobs.missing_vectors import wait_after
from onrecord.store.ports.jobs import STORE, TURN, Job
from onrecord.store.ports.store import Store

_LOG: Final = logging.getLogger(__name__)
#: After this time another worker may take the claimed jobs, if the first was killed. A claim is small enough to be done by then.
_LEASE: Final = timedelta(minutes=1)
_AT_ONCE: Final = 4
_REST_S: Final = 1.0

#: How many memories got vectors, and what failed.
Did = tuple[int, tuple[str, ...]]
Report = Callable[[int, tuple[str, ...]], None]
#: Does the claimed jobs of one home, and reports each result to its queue.
Doer = Callable[[Sequence[Job], datetime], Did]


@dataclass(frozen=True, slots=True)
class Periodic:
    """A recurring job of the whole store: `do` may run twice, raises its errors, and returns when to come back if there is
    more to do than fits into one claim. `is_wanted` is a cheap check for
    callers that start a worker only if there is something to do.
    """

    do: Callable[[datetime], timedelta | None]
    every: timedelta
    is_wanted: Callable[[], bool] = lambda: False


class Worker:
    """Does the jobs of a store that it has a doer for, one claim after another. A job that fails is tried again later,
    whatever it raised, and stops no other.
    """

    def __init__(
        self, store: Store, doers: Mapping[str, Doer | Periodic], clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._doers = doers
        self._clock = clock
        self.name = f"{platform.node()}-{os.getpid()}-{token_hex(4)}"

    def begin(self) -> None:
        """Make the recurring jobs due now. If several workers begin at once, only one does each job."""
        come_back = [name for name, doer in self._doers.items() if isinstance(doer, Periodic)]
        if come_back:
            with self._store.jobs() as jobs:
                for name in come_back:
                    jobs.hasten(name, self._clock())

    def is_wanted(self) -> bool:
        """Whether there is something to do, according to a cheap check."""
        put_off = [name for name, doer in self._doers.items() if not isinstance(doer, Periodic)]
        return self._store.has_due(put_off, self._clock()) or any(
            doer.is_wanted() for doer in self._doers.values() if isinstance(doer, Periodic)
        )

    def works_in_vain(self) -> bool:
        """Whether its store was deleted meanwhile."""
        return self._store.is_gone()

    def takes_turn(self, lasting: timedelta) -> bool:
        """Whether this is the one of those who would start a worker now; for so long no other one is."""
        now = self._clock()
        with self._store.jobs() as jobs:
            jobs.ask(TURN, now)
        return bool(self._store.claim(self.name, now, lasting, 1, [TURN]))

    def run_once(self, most: int = _AT_ONCE) -> Did | None:
        """Do the jobs of one claim; returns how many memories got vectors and what failed, or None if nothing was
        due.
        """
        if not self._doers:
            return None
        now = self._clock()
        jobs = self._store.claim(self.name, now, _LEASE, most, list(self._doers))
        return self._do(jobs, now) if jobs else None

    def run(
        self,
        stop: threading.Event,
        report: Report = lambda done, failures: None,
        *,
        gently: bool = False,
        once: bool = False,
    ) -> None:
        """Work until stopped, or only until nothing is due. While the store cannot be reached, wait and try again.
        A gentle worker takes one job at a time and rests as long as that took, so that others have half of the time. One
        that works only until nothing is due also ends if its store is deleted meanwhile.
        """
        has_begun = False
        while not stop.is_set() and not (once and self.works_in_vain()):
            began = self._clock()
            try:
                if not has_begun:
                    self.begin()
                    has_begun = True
                did = self.run_once(1 if gently else _AT_ONCE)
            except StoreUnavailable as problem:
                if once:
                    raise
                report(0, (str(problem),))
                did = None
            if did is None:
                if once:
                    return
                stop.wait(_REST_S)
                continue
            report(*did)
            if gently:
                stop.wait(min(max((self._clock() - began).total_seconds(), 0), _LEASE.total_seconds()))

    def _do(self, jobs: Sequence[Job], now: datetime) -> Did:
        doer = self._doers[jobs[0].name]
        try:
            if not isinstance(doer, Periodic):
                return doer(jobs, now)
            rest = doer.do(now)
        except Exception as problem:
            # If the store is out of reach, this raises too, and the lease ends by itself.
            return 0, (self._put_off(jobs, problem),)
        with self._store.jobs() as queue:
            for job in jobs:
                queue.postpone(job, self._clock() + (rest or doer.every), None)
        return 0, ()

    def _put_off(self, jobs: Sequence[Job], problem: Exception) -> str:
        """Note why jobs failed, and let them be tried again later."""
        if isinstance(problem, OnRecordError):
            reason = str(problem)
        else:
            # A fault of ours, which must neither end the worker nor be forgotten.
            _LOG.error("The job %s failed.", jobs[0].name, exc_info=problem)
            reason = f"{type(problem).__name__}: {problem}"
        if jobs[0].home == STORE:
            with self._store.jobs() as queue:
                for job in jobs:
                    queue.postpone(job, self._clock() + wait_after(job.attempts), reason)
        else:
            with self._store.restoring(jobs[0].home) as restoring:
                for job in jobs:
                    restoring.jobs.postpone(job, self._clock() + wait_after(job.attempts), reason)
        return reason
