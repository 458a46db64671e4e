"""WHERE do rows live? The store over any SQL back end: transactions in, clear errors out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from onrecord import private_files
from onrecord.errors import StoreUnavailable
from onrecord.model.caller import Caller
from onrecord.model.collections import BY_NUMBER, Home
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.findings import Problem
from onrecord.store.backend import Backend
from onrecord.store.coverage import LACKING
from onrecord.store.migrations import check_not_moved_on, has_moved_on, migrate
from onrecord.store.ports.jobs import Job
from onrecord.store.ports.store import CopyReport
from onrecord.store.prepared import Statements
from onrecord.store.presence import require_store
from onrecord.store.records import erasing, queue
from onrecord.store.records.facts import fact, keep_fact
from onrecord.store.records.feedback import sweep_feedback
from onrecord.store.records.ledger import SqlLedger, sweep_audit
from onrecord.store.records.reading import SqlReading
from onrecord.store.records.writing import SqlWriting
from onrecord.store.tables import tenants
from onrecord.store.tenant import HomeAddress, Tenants, Unregistered
from onrecord.store.transaction import Transaction

if TYPE_CHECKING:
    # Code for maintenance is imported only when it is used.
    from onrecord.store.records.archive import SqlArchive, SqlRestoring

Begun = TypeVar("Begun")
#: How often to try again if the tenant was erased meanwhile and has a new number.
_ATTEMPTS: Final = 5
#: The fact until when the watcher has looked.
_WATCHED: Final = "watched"


class SqlStore:
    """Transactions for callers; `archive` is for maintenance of the whole store."""

    def __init__(self, backend: Backend, *, create: bool = True) -> None:
        self._backend = backend
        self._statements = Statements(backend)
        self._tenants = Tenants(backend, self._begin)
        self.location = backend.location
        try:
            with self._explained():
                if not create:
                    require_store(backend)
                migrate(backend)
            private_files.tell_of_open_ones(self.location, backend.files())
        except BaseException:
            # No store is returned, so it is closed here.
            backend.close()
            raise

    @contextmanager
    def reading(self, caller: Caller, now: datetime) -> Iterator[SqlReading]:
        with self._explained(), self._backend.reading() as connection:
            yield SqlReading(self._in(connection), caller, now)

    @contextmanager
    def writing(self, caller: Caller, now: datetime, tenant: str | None = None) -> Iterator[SqlWriting]:
        with self._explained(), ExitStack() as stack:
            home = Home(tenant or caller.tenant)
            # A line of the audit goes to the caller's own tenant, also where the memory is a global one.
            writing = self._begun(
                stack, home, lambda begun, address: SqlWriting(begun, caller, now, address), caller.tenant
            )
            yield writing
            writing.finish()
        if writing.erased:
            writing.residue = self._backend.after_erasing()

    def _in(self, connection: Connection) -> Transaction:
        return Transaction(connection, self._backend, self._statements, self._tenants)

    def _begun(
        self,
        stack: ExitStack,
        home: Home,
        begin: Callable[[Transaction, HomeAddress], Begun],
        *others: str,
    ) -> Begun:
        """The beginning of a transaction in a home. Missing tenants are registered first, in a transaction of their
        own.
        """
        for _ in range(_ATTEMPTS):
            with ExitStack() as attempt:
                connection = attempt.enter_context(self._begin())
                try:
                    number = self._numbered(connection, dict.fromkeys((*others, home.tenant)))
                    begun = begin(self._in(connection), HomeAddress(number, home))
                except Unregistered as problem:
                    # Nothing was written yet.
                    lacking = problem.name or home.tenant
                else:
                    stack.push(attempt.pop_all())
                    return begun
            self._tenants.register(lacking)
        raise StoreUnavailable(f"Tenant {home.tenant} is being erased again and again; nothing was changed.")

    def _numbered(self, connection: Connection, names: Iterable[str]) -> int:
        """Make sure that each of these tenants has a number; returns that of the last."""
        number = 0
        for name in names:
            found = self._tenants.look_up(connection, name)
            if found is None:
                raise Unregistered(name)
            number = found
        return number

    @contextmanager
    def archive(self) -> "Iterator[SqlArchive]":
        from onrecord.store.records.archive import SqlArchive

        with self._explained(), self._backend.reading() as connection:
            yield SqlArchive(connection)

    @contextmanager
    def restoring(self, home: Home) -> "Iterator[SqlRestoring]":
        from onrecord.store.records.archive import SqlRestoring

        with self._explained(), ExitStack() as stack:
            restoring = self._begun(stack, home, SqlRestoring)
            yield restoring
            restoring.finish_embedding()

    @contextmanager
    def ledger(self, tenant: str | None = None, *, writes: bool = True) -> Iterator[SqlLedger]:
        with self._explained(), ExitStack() as stack:
            if writes and tenant is not None:
                yield self._begun(stack, Home(tenant), _ledger_of)
                return
            connection = stack.enter_context(self._begin() if writes else self._backend.reading())
            number = None if tenant is None else self._tenants.look_up(connection, tenant)
            yield SqlLedger(self._in(connection), tenant, number)

    def add_tenant(self, tenant: str) -> bool:
        from onrecord.store.records.archive import SqlArchive

        with self._explained(), self._backend.reading() as connection:
            known = self._tenants.look_up(connection, tenant) is not None and any(
                home.tenant == tenant for home in SqlArchive(connection).homes()
            )
        with self.restoring(Home(tenant)):
            return not known

    def erase_tenant(self, tenant: str) -> tuple[Mapping[str, int], Mapping[str, int], str | None]:
        with self._begin() as connection:
            number = self._tenants.look_up(connection, tenant)
            erased = erasing.erase(connection, self._backend, tenant, number)
        waits = self._backend.after_erasing()
        with self._explained(), self._backend.reading() as connection:
            return erased, erasing.rows_of(connection, tenant, number), waits

    def rows_of(self, tenant: str) -> Mapping[str, int]:
        with self._explained(), self._backend.reading() as connection:
            return erasing.rows_of(connection, tenant, self._tenants.look_up(connection, tenant))

    def claim(
        self, worker: str, now: datetime, lease: timedelta, most: int, names: Sequence[str]
    ) -> list[Job]:
        with self._explained(), self._backend.reading() as connection:
            # Without a lock, so that an idle worker does not make writers wait.
            due = queue.due_homes(connection, now, names)
        for address, name in due:
            with self._begin() as connection:
                if taken := queue.claim(connection, address, name, worker, now, lease, most):
                    return taken
        return []

    @contextmanager
    def jobs(self) -> Iterator[queue.JobQueue]:
        with self._begin() as connection:
            yield queue.JobQueue(connection, self._backend, queue.WHOLE_STORE)

    def is_gone(self) -> bool:
        return self._backend.is_gone()

    def has_due(self, names: Sequence[str], now: datetime) -> bool:
        with self._explained(), self._backend.reading() as connection:
            return bool(queue.due_homes(connection, now, names))

    def lacking(self, model: EmbeddingModel) -> list[Home]:
        with self._explained(), self._backend.reading() as connection:
            found = connection.execute(LACKING, model._asdict()).all()
            called = queue.names_of(connection, {row.tenant for row in found})
        return [Home(called[row.tenant], BY_NUMBER[row.collection]) for row in found if row.tenant in called]

    def sweep_audit(self, before: datetime) -> int:
        return self._swept_everywhere(sweep_audit, before)

    def sweep_feedback(self, before: datetime) -> int:
        return self._swept_everywhere(sweep_feedback, before)

    def _swept_everywhere(self, sweep: Callable[[Connection, int, datetime], int], before: datetime) -> int:
        with self._explained(), self._backend.reading() as connection:
            numbers = connection.execute(select(tenants.c.key)).scalars().all()
        return sum(self._swept(sweep, number, before) for number in numbers)

    def _swept(self, sweep: Callable[[Connection, int, datetime], int], tenant: int, before: datetime) -> int:
        """Delete what is old of one tenant, some in each transaction: nobody waits for all of it."""
        swept = 0
        while True:
            with self._begin() as connection:
                some = sweep(connection, tenant, before)
            swept += some
            if not some:
                return swept

    def watched(self) -> datetime | None:
        with self._explained(), self._backend.reading() as connection:
            held = fact(connection, _WATCHED)
        return None if held is None else datetime.fromisoformat(held)

    def note_watched(self, until: datetime) -> None:
        with self._begin() as connection:
            keep_fact(connection, self._backend, _WATCHED, until.isoformat())

    def problems(self, home: Home) -> Iterator[Problem]:
        from onrecord.store.records.examination import Examination

        with self._explained(), self._backend.reading() as connection:
            yield from Examination(connection, home).problems()

    def store_problems(self) -> Iterator[Problem]:
        from onrecord.store.records.examination import whole_store_problems

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

    def open_files(self) -> list[Path]:
        return list(private_files.open_ones(self._backend.files()))

    def backup(self, path: Path, report: CopyReport) -> bool:
        with self._explained():
            return self._backend.backup(path, report)

    def update_statistics(self) -> None:
        with self._explained():
            self._backend.after_loading()

    def prepare_vector_search(self) -> None:
        with self._explained():
            self._backend.after_embedding()

    def distribute(self) -> list[str]:
        """Spread the tables over the servers of the database's cluster; returns those that this call spread."""
        with self._explained():
            return self._backend.distribute()

    def note_reindexed(self) -> None:
        from onrecord.store.records.archive import note_index

        with self._begin() as connection:
            note_index(connection, self._backend)

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        with self._explained(), self._backend.writing() as connection:
            check_not_moved_on(connection, self._backend)
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except Unregistered:
            raise StoreUnavailable(
                "The tenant was erased while this was done; nothing was changed. Try again."
            ) from None
        except DataError:
            # A bug of ours, which must not look like an unreachable store.
            raise
        except ProgrammingError as error:
            # The same, unless a newer version has changed the tables under a process of this one.
            if reason := has_moved_on(self._backend):
                raise reason from error
            raise
        except IntegrityError as error:
            raise StoreUnavailable(
                f"{self.location} holds rows that contradict each other ({error.orig}); nothing was changed. "
                "Run `onrecord doctor`; if it finds nothing, this is a fault of OnRecord: please report it."
            ) from error
        # The driver raises UnicodeDecodeError if a name in a damaged file is not UTF-8.
        except (DBAPIError, PoolTimeout, UnicodeDecodeError) as error:
            if _lacks_something(error) and (reason := has_moved_on(self._backend)):
                raise reason from error
            raise self._backend.explain(error) from error

    def close(self) -> None:
        self._backend.close()


def _ledger_of(transaction: Transaction, address: HomeAddress) -> SqlLedger:
    return SqlLedger(transaction, address.home.tenant, address.number)


def _lacks_something(error: Exception) -> bool:
    """Whether SQLite reports that a statement names a missing table or column."""
    return any(sign in str(error) for sign in ("no such table", "no such column", "has no column"))
