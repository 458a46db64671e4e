"""WHERE do rows live? The store over any SQL back end: transactions in, clear errors out."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from onrecord.errors import StoreUnavailable
from onrecord.model.answers import Problem
from onrecord.model.caller import Caller
from onrecord.store import erasing, queue
from onrecord.store.archive import SqlArchive, SqlRestoring, note_index
from onrecord.store.backend import Backend
from onrecord.store.examination import Examination, whole_store_problems
from onrecord.store.ledger import SqlLedger
from onrecord.store.migrations import check_not_moved_on, has_moved_on, migrate
from onrecord.store.port import Job
from onrecord.store.prepared import Statements
from onrecord.store.presence import refuse_absence
from onrecord.store.reading import SqlReading
from onrecord.store.sql_papers import SqlPapers
from onrecord.store.writing import SqlWriting


class SqlStore:
    """Readings and writings for callers; `archive` is for the care of the whole."""

    def __init__(self, backend: Backend, *, create: bool = True) -> None:
        self._backend = backend
        self._statements = Statements(backend)
        self.location = backend.location
        try:
            with self._explained():
                if not create:
                    refuse_absence(backend)
                migrate(backend)
        except BaseException:
            # Nobody gets a store to close.
            backend.close()
            raise

    @contextmanager
    def reading(self, caller: Caller, now: datetime) -> Iterator[SqlReading]:
        with self._explained(), self._backend.reading() as connection:
            yield SqlReading(connection, self._backend, caller, now)

    @contextmanager
    def writing(self, caller: Caller, now: datetime, tenant: str | None = None) -> Iterator[SqlWriting]:
        with self._writing() as connection:
            writing = SqlWriting(
                connection, self._statements, self._backend, caller, now, tenant or caller.tenant
            )
            yield writing
            writing.finish()
        if writing.erased:
            self._backend.after_erasing()

    @contextmanager
    def archive(self) -> Iterator[SqlArchive]:
        with self._explained(), self._backend.reading() as connection:
            yield SqlArchive(connection)

    @contextmanager
    def restoring(self, tenant: str) -> Iterator[SqlRestoring]:
        with self._writing() as connection:
            restoring = SqlRestoring(connection, self._statements, self._backend, tenant)
            yield restoring
            restoring.finish_embedding()

    @contextmanager
    def ledger(self, tenant: str | None = None, *, writes: bool = True) -> Iterator[SqlLedger]:
        begin = self._writing() if writes else self._backend.reading()
        with self._explained(), begin as connection:
            yield SqlLedger(connection, self._statements, self._backend, tenant)

    @contextmanager
    def papers(self, caller: Caller, now: datetime, *, writes: bool = True) -> Iterator[SqlPapers]:
        if writes:
            with self.writing(caller, now) as writing:
                yield writing.papers()
        else:
            with self._explained(), self._backend.reading() as connection:
                yield SqlPapers(connection, caller, now)

    def make_room(self, tenant: str) -> bool:
        with self._writing() as connection:
            return erasing.make_room(connection, self._statements, tenant)

    def erase_tenant(self, tenant: str) -> Mapping[str, int]:
        with self._writing() as connection:
            erased = erasing.erase(connection, tenant)
        self._backend.after_erasing()
        return erased

    def rows_of(self, tenant: str) -> Mapping[str, int]:
        with self._explained(), self._backend.reading() as connection:
            return erasing.rows_of(connection, tenant)

    def claim(self, worker: str, now: datetime, lease: timedelta, most: int) -> list[Job]:
        with self._explained(), self._backend.reading() as connection:
            # A look without a lock: an idle worker must not make writers wait.
            if not queue.is_due(connection, now):
                return []
        with self._writing() as connection:
            return queue.claim(connection, worker, now, lease, most)

    def problems(self, tenant: str) -> Iterator[Problem]:
        with self._explained(), self._backend.reading() as connection:
            yield from Examination(connection, tenant).problems()

    def store_problems(self) -> Iterator[Problem]:
        with self._explained():
            for line in self._backend.integrity():
                yield Problem(
                    check="database",
                    where=self.location,
                    detail=line,
                    cure="restore a backup, or export and import",
                )
            with self._backend.reading() as connection:
                yield from whole_store_problems(connection)

    def backup(self, path: Path) -> bool:
        with self._explained():
            return self._backend.backup(path)

    def settle(self) -> None:
        with self._explained():
            self._backend.after_loading()

    def settle_vectors(self) -> None:
        with self._explained():
            self._backend.after_embedding()

    def note_reindexed(self) -> None:
        with self._writing() as connection:
            note_index(connection, self._backend)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._explained(), self._backend.writing() as connection:
            check_not_moved_on(connection, self._backend)
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DataError:
            # A mistake of ours, not of the database's: it must not pass for a store that is out of reach.
            raise
        except ProgrammingError as error:
            # The same, unless a newer version has changed the tables under a process of this one.
            if reason := has_moved_on(self._backend):
                raise reason from error
            raise
        except IntegrityError as error:
            raise StoreUnavailable(
                f"{self.location} contradicts itself ({error.orig}); nothing was changed. "
                "Run `onrecord doctor`; if it finds nothing, this is a fault of OnRecord: please report it."
            ) from error
        # The driver raises UnicodeDecodeError where damage has reached a text that it wants to name.
        except (DBAPIError, PoolTimeout, UnicodeDecodeError) as error:
            if _lacks_something(error) and (reason := has_moved_on(self._backend)):
                raise reason from error
            raise self._backend.explain(error) from error

    def close(self) -> None:
        self._backend.close()


def _lacks_something(error: Exception) -> bool:
    """SQLite's way to say that a statement names a table or a column that is not there."""
    return any(sign in str(error) for sign in ("no such table", "no such column", "has no column"))
