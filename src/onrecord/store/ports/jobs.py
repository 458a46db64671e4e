"""WHAT is put off? Work that a save leaves behind, for whichever worker comes next."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from onrecord.model.collections import Home

#: The job of making the vectors of a memory, or of all that have none.
EMBED: Final = "embed"


class Job(NamedTuple):
    """Work that one worker has claimed for a while. `subject` is the row of a memory, or 0 for the whole tenant."""

    home: Home
    name: str
    subject: int
    attempts: int
    worker: str


class Jobs(Protocol):
    """The jobs of one home, in one transaction."""

    def add(self, name: str, due: datetime, subject: int = 0) -> None:
        """Ask for a job; one that is waiting already begins anew, since what it is about has changed."""

    def withdraw(self, name: str) -> None:
        """Take back a job for the home as a whole: there is nothing left to do."""

    def finish(self, done: Sequence[Job]) -> None:
        """Take away jobs that are done, unless they were asked for anew meanwhile."""

    def postpone(self, job: Job, due: datetime, error: str | None) -> None:
        """Try a job again later; without an error it has got on and counts as fresh."""

    def retry_failed(self, now: datetime) -> None:
        """Let jobs that were given up be tried again."""
