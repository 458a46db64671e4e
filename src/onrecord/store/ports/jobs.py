"""WHAT is put off? Jobs that a save leaves for the next worker."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from onrecord.model.collections import Home

#: The job of making the vectors of a memory, or of all that have none.
EMBED: Final = "embed"


class Job(NamedTuple):
    """A job that one worker has claimed for a while. `subject` is the row of a memory, or 0 for the whole tenant."""

    home: Home
    name: str
    subject: int
    attempts: int
    worker: str


class Jobs(Protocol):
    """The jobs of one home, in one transaction."""

    def add(self, name: str, due: datetime, subject: int = 0) -> None:
        """Add a job; a waiting one begins anew, since its subject has changed."""

    def withdraw(self, name: str) -> None:
        """Remove a job for the whole home: there is nothing left to do."""

    def finish(self, done: Sequence[Job]) -> None:
        """Remove finished jobs, unless they were added anew meanwhile."""

    def postpone(self, job: Job, due: datetime, error: str | None) -> None:
        """Try a job again later; without an error it counts as fresh."""

    def retry_failed(self, now: datetime) -> None:
        """Try failed jobs again."""
