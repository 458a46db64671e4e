"""WHAT does a store do? It opens transactions over records, and is cared for as a whole."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.findings import Problem
from onrecord.store.ports.archive import Archive, Restoring
from onrecord.store.ports.jobs import Job
from onrecord.store.ports.ledger import Ledger
from onrecord.store.ports.records import Reading, Writing


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
        """Keys, audit and requests of a tenant. One that only looks waits for no one and keeps no one waiting."""

    def make_room(self, tenant: str) -> bool:
        """A tenant to save in; False if it was there before."""

    def erase_tenant(self, tenant: str) -> tuple[Mapping[str, int], Mapping[str, int], str | None]:
        """Everything of a tenant, for good; gives how many rows of each table went, how many are left, and
        what waits in the files of the database, if anything does."""

    def rows_of(self, tenant: str) -> Mapping[str, int]:
        """How many rows of each table are of a tenant, tables without any left out."""

    def claim(self, worker: str, now: datetime, lease: timedelta, most: int) -> list[Job]:
        """Take due jobs of one tenant and one name; no one else takes them before the lease is over."""

    def sweep_audit(self, before: datetime) -> int:
        """Delete every line of the audit from before a time but the last of each tenant, by which the next is numbered; gives
        how many."""

    def problems(self, home: Home) -> Iterator[Problem]:
        """What does not agree in a home: windows, versions, index, edges, counters."""

    def store_problems(self) -> Iterator[Problem]:
        """What does not agree in the store as a whole."""

    def open_files(self) -> list[Path]:
        """Its files that others on this machine can read."""

    def backup(self, path: Path) -> bool:
        """Copy the whole store while others write; False if an export must serve instead."""

    def settle(self) -> None:
        """Much was written: let the database take note of it."""

    def settle_vectors(self) -> None:
        """Many vectors were made: let the database prepare for searching them."""

    def note_reindexed(self) -> None:
        """Every tenant was reindexed: the index is of this version now."""

    def close(self) -> None: ...
