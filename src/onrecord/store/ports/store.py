"""WHAT does a store do? It opens transactions over records, and is maintained as a whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.findings import Problem
from onrecord.store.ports.archive import Archive, Restoring
from onrecord.store.ports.jobs import Job, Jobs
from onrecord.store.ports.ledger import Ledger
from onrecord.store.ports.records import Reading, Writing

#: The time of the watcher's last run, if it must check everything.
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)

#: Is called with how many bytes of how many are copied.
CopyReport = Callable[[int, int], None]


class Store(Protocol):
    """Where rows live. A save is on disk when its `writing` block has ended without an error."""

    location: str

    def reading(self, caller: Caller, now: datetime) -> AbstractContextManager[Reading]: ...

    def writing(
        self, caller: Caller, now: datetime, tenant: str | None = None
    ) -> AbstractContextManager[Writing]: ...

    def archive(self) -> AbstractContextManager[Archive]: ...

    def restoring(self, home: Home) -> AbstractContextManager[Restoring]: ...

    def ledger(self, tenant: str | None = None, *, writes: bool = True) -> AbstractContextManager[Ledger]:
        """Keys, audit and requests of a tenant. A ledger that only reads waits for no one and blocks no one."""

    def add_tenant(self, tenant: str) -> bool:
        """Make a tenant; False if it existed before."""

    def erase_tenant(self, tenant: str) -> tuple[Mapping[str, int], Mapping[str, int], str | None]:
        """Erase everything of a tenant for good; returns how many rows of each table were erased, how many are left,
        and what stays in the database's files for a while, if anything.
        """

    def rows_of(self, tenant: str) -> Mapping[str, int]:
        """How many rows a tenant has in each table, without empty ones."""

    def claim(
        self, worker: str, now: datetime, lease: timedelta, most: int, names: Sequence[str]
    ) -> list[Job]:
        """Claim due jobs of one home and one of these names; no one else gets them before the lease is over."""

    def jobs(self) -> AbstractContextManager[Jobs]:
        """The jobs of the whole store, in a transaction of their own."""

    def is_gone(self) -> bool:
        """Whether its files were deleted or replaced, so that work on the open store is lost."""

    def has_due(self, names: Sequence[str], now: datetime) -> bool:
        """Whether a job of one of these names is due anywhere."""

    def lacking(self, model: EmbeddingModel) -> list[Home]:
        """The homes in which some records have no vectors of this model; one statement, however many homes there are."""

    def sweep_audit(self, before: datetime) -> int:
        """Delete all entries of the audit from before a time; returns how many. The last entry of each tenant stays, since
        it gives the next one its number.
        """

    def sweep_feedback(self, before: datetime) -> int:
        """Delete all feedback from before a time; returns how much."""

    def watched(self) -> datetime | None:
        """Until when the watcher has looked at what changed; None if it never has."""

    def note_watched(self, until: datetime) -> None:
        """Record that the watcher has looked at everything until then."""

    def problems(self, home: Home) -> Iterator[Problem]:
        """Inconsistencies in a home: windows, versions, index, edges, counters."""

    def store_problems(self) -> Iterator[Problem]:
        """Inconsistencies in the store as a whole."""

    def open_files(self) -> list[Path]:
        """Its files that others on this machine can read."""

    def backup(self, path: Path, report: CopyReport) -> bool:
        """Copy the whole store while others write, and report how far that is; False if only an export is possible."""

    def update_statistics(self) -> None:
        """Update the database's statistics after many writes."""

    def prepare_vector_search(self) -> None:
        """Prepare the database for searching after many vectors were made."""

    def note_reindexed(self) -> None:
        """Record that every tenant was reindexed by this version."""

    def close(self) -> None: ...
