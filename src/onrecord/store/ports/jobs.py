"""WHICH work is done later? Jobs that a save leaves for the next worker, and those of the whole store, which come back."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from onrecord.model.collections import Home

#: The job of making the vectors of a memory, or of all that have none.
EMBED: Final = "embed"
#: The job of asking for vectors wherever some are missing.
RECONCILE: Final = "reconcile"
#: The job of deleting lines of the audit that are older than they are kept.
SWEEP: Final = "sweep"
#: The job of ending changesets that a process left half applied or half rolled back.
SETTLE: Final = "settle"
#: The job of looking whether what memories are about has changed.
WATCH: Final = "watch"
#: The job of running checks.
CHECK: Final = "check"
#: The job of extracting the facts of a turn that waits.
EXTRACT: Final = "extract"
#: Not a job, but whose turn it is to start a worker where none runs.
TURN: Final = "turn"
#: Whose jobs are those of the whole store: no tenant has this name.
STORE: Final = Home("")


class Job(NamedTuple):
    """A job that one worker has claimed for a while. `subject` is the row of a memory, the number of a turn that
    waits, or 0 for the whole home."""

    home: Home
    name: str
    subject: int
    attempts: int
    worker: str


class TroubledJob(NamedTuple):
    """Jobs of one name that failed for one reason: how many, how often at most, and when the next one is tried again.
    Those that have failed too often are given up.
    """

    name: str
    error: str
    jobs: int
    attempts: int
    due: datetime
    is_given_up: bool


class Jobs(Protocol):
    """The jobs of one home, or of the whole store, in one transaction."""

    def add(self, name: str, due: datetime, subject: int = 0) -> None:
        """Add a job; a waiting one starts over, since its subject has changed."""

    def ask(self, name: str, due: datetime) -> None:
        """Add a job for the whole home, unless it is there."""

    def hasten(self, name: str, due: datetime) -> None:
        """Let a job for the whole home be due by then, unless a worker is at it; one that is not there is added."""

    def fail(self, subject: int, name: str, due: datetime, error: str) -> None:
        """Add a job that has failed once, unless it is there."""

    def withdraw(self, name: str) -> None:
        """Remove a job for the whole home: there is nothing left to do."""

    def finish(self, done: Sequence[Job]) -> None:
        """Remove finished jobs, unless they were added again."""

    def postpone(self, job: Job, due: datetime, error: str | None) -> None:
        """Try a job again later; without an error it counts as fresh."""

    def retry_failed(self, now: datetime) -> None:
        """Try failed jobs again."""

    def dismiss(self, name: str | None = None) -> int:
        """Remove the jobs that were given up, of one name or of all; returns how many."""
