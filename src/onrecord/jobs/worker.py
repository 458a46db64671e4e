"""WHO does the jobs that were put off? A worker claims jobs, does them, and looks again; any number of workers may
run.
"""

import os
import platform
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Final

from onrecord.errors import ProviderError, StoreUnavailable
from onrecord.jobs.embedding import do_jobs
from onrecord.providers.embedding import Embedder
from onrecord.store.ports.store import Store

#: After this time another worker may take the claimed jobs, if the first was killed. A claim is small enough to be done by then.
_LEASE: Final = timedelta(minutes=1)
_AT_ONCE: Final = 4
_REST_S: Final = 1.0
_SWEEP_EVERY: Final = timedelta(hours=1)

Report = Callable[[int, tuple[str, ...]], None]


class Worker:
    """Does the jobs of a store, one claim after another, and deletes entries of the audit that are older than `audit_kept`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Callable[[], datetime],
        audit_kept: timedelta | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._audit_kept = audit_kept
        self._swept_at: datetime | None = None
        self.name = f"{platform.node()}-{os.getpid()}-{token_hex(4)}"

    def run_once(self) -> tuple[int, tuple[str, ...]] | None:
        """Do the jobs of one claim; returns how many memories got vectors and what failed, or None if nothing was
        due.
        """
        if self._embedder is None:
            return None
        now = self._clock()
        jobs = self._store.claim(self.name, now, _LEASE, _AT_ONCE)
        if not jobs:
            return None
        return do_jobs(self._store, self._embedder, jobs, now)

    def sweep(self) -> int:
        """Delete entries of the audit that are too old, at most once an hour; returns how many."""
        now = self._clock()
        is_due = self._swept_at is None or now - self._swept_at >= _SWEEP_EVERY
        if self._audit_kept is None or not is_due:
            return 0
        # Set before the work: after a failure the next try is an hour later too, so that jobs need not wait.
        self._swept_at = now
        return self._store.sweep_audit(now - self._audit_kept)

    def run(self, stop: threading.Event, report: Report = lambda done, failures: None) -> None:
        """Work until told to stop. While the store cannot be reached, wait and try again."""
        while not stop.is_set():
            try:
                self.sweep()
                did = self.run_once()
            except (StoreUnavailable, ProviderError) as problem:
                report(0, (str(problem),))
                did = None
            if did is None:
                stop.wait(_REST_S)
            else:
                report(*did)
