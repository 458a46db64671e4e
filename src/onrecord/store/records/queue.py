"""WHAT is to be done later? Job rows, written with the change that needs them and claimed by one worker at a time.

A claim is a lease: it moves the job's due time, so that another worker takes over if this one dies.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)

from onrecord.model.collections import BY_NUMBER, Home
from onrecord.store.backend import Backend
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.jobs import EMBED, EXTRACT, STORE, Job, TroubledJob
from onrecord.store.records.waiting_turns import drop_turns_of
from onrecord.store.tables import TimestampColumn, jobs, tenants
from onrecord.store.tenant import HomeAddress, of_home

#: After this many attempts a job has failed. It stays in the queue; `embed-missing` tries it again, and so does the next
#: worker that starts.
MOST_ATTEMPTS: Final = 20
#: Where the jobs of the whole store lie: under a number that no tenant has, so that erasing a tenant keeps them.
_NO_TENANT: Final = -1
WHOLE_STORE: Final = HomeAddress(_NO_TENANT, STORE)
#: How many homes to look at, since other workers may hold the jobs of the first.
_HOMES_AT_ONCE: Final = 32


class JobQueue:
    """The jobs of one home, or of the whole store, in one transaction."""

    def __init__(self, connection: Connection, backend: Backend, address: HomeAddress) -> None:
        self._connection = connection
        self._backend = backend
        self._address = address

    def add(self, name: str, due: datetime, subject: int = 0) -> None:
        fresh = {"attempts": 0, "due_at": due, "claimed_by": None, "error": None}
        asked = self._insert(name, subject, fresh)
        self._connection.execute(asked.on_conflict_do_update(index_elements=_KEY, set_=fresh))

    def ask(self, name: str, due: datetime) -> None:
        asked = self._insert(name, 0, {"attempts": 0, "due_at": due})
        self._connection.execute(asked.on_conflict_do_nothing(index_elements=_KEY))

    def hasten(self, name: str, due: datetime) -> None:
        self.ask(name, due)
        its = (*_of(self._address), jobs.c.name == name, jobs.c.subject == 0)
        waits = and_(*its, jobs.c.claimed_by.is_(None), jobs.c.due_at > due)
        self._connection.execute(update(jobs).where(waits).values(due_at=due))

    def fail(self, subject: int, name: str, due: datetime, error: str) -> None:
        failed = self._insert(name, subject, {"attempts": 1, "due_at": due, "error": error})
        self._connection.execute(failed.on_conflict_do_nothing(index_elements=_KEY))

    def _insert(self, name: str, subject: int, values: Mapping[str, Any]) -> Any:
        home = {"tenant": self._address.number, "collection": self._address.home.collection.number}
        return self._backend.insert(jobs).values(**home, name=name, subject=subject, **values)

    def withdraw(self, name: str) -> None:
        its = (*_of(self._address), jobs.c.name == name, jobs.c.subject == 0)
        self._connection.execute(delete(jobs).where(*its))

    def drop(self, subject: int) -> None:
        """Remove the job of making the vectors of a memory."""
        its = (*_of(self._address), jobs.c.name == EMBED, jobs.c.subject == subject)
        self._connection.execute(delete(jobs).where(*its))

    def finish(self, done: Sequence[Job]) -> None:
        """Remove finished jobs, but not those added again meanwhile, which clears the claim."""
        for job in done:
            self._connection.execute(delete(jobs).where(*_claimed(self._address, job)))

    def postpone(self, job: Job, due: datetime, error: str | None) -> None:
        waiting: dict[str, Any] = {"due_at": due, "claimed_by": None, "error": error}
        if error is None:
            waiting["attempts"] = 0
        self._connection.execute(update(jobs).where(*_claimed(self._address, job)).values(waiting))

    def retry_failed(self, now: datetime) -> None:
        failed = and_(*_of(self._address), jobs.c.attempts >= MOST_ATTEMPTS)
        self._connection.execute(update(jobs).where(failed).values(attempts=0, due_at=now, claimed_by=None))

    def dismiss(self, name: str | None = None) -> int:
        its = (*_of(self._address), *(() if name is None else (jobs.c.name == name,)), _IS_OVER)
        drop_turns_of(
            self._connection, self._address.number, select(jobs.c.subject).where(jobs.c.name == EXTRACT, *its)
        )
        return self._connection.execute(delete(jobs).where(*its)).rowcount


def due_homes(connection: Connection, now: datetime, names: Sequence[str]) -> list[tuple[HomeAddress, str]]:
    """The homes with due jobs of these names; the one that has waited longest first. Looks across tenants and locks
    nothing.
    """
    found = connection.execute(_DUE_HOMES, {"now": now, "asked": names}).all()
    called = names_of(connection, {row.tenant for row in found})
    return [
        (HomeAddress(row.tenant, Home(called[row.tenant], BY_NUMBER[row.collection])), row.name)
        for row in found
        if row.tenant in called
    ]


def names_of(connection: Connection, numbers: Collection[int]) -> dict[int, str]:
    """The names of tenants that are still there, by their numbers."""
    names = {_NO_TENANT: STORE.tenant}
    if wanted := sorted(set(numbers) - names.keys()):
        names |= dict(connection.execute(_NAMES, {"wanted": wanted}).all())
    return names


def troubled(connection: Connection, address: HomeAddress) -> list[TroubledJob]:
    """The jobs of a home, or of the whole store, that failed when they were last tried, in groups of the same reason."""
    is_stores = address == WHOLE_STORE
    found = connection.execute(_TROUBLED, address.parameters).all()
    return [
        TroubledJob(row.name, row.error, row.jobs, row.attempts, row.due, bool(row.over) and not is_stores)
        for row in found
    ]


def due_next(connection: Connection, name: str) -> datetime | None:
    """When a job of the whole store is due; None if no worker has ever known it."""
    its = (*_of(WHOLE_STORE), jobs.c.name == name)
    return connection.execute(select(jobs.c.due_at).where(*its)).scalar_one_or_none()


def claim(
    connection: Connection,
    address: HomeAddress,
    name: str,
    worker: str,
    now: datetime,
    lease: timedelta,
    most: int,
) -> list[Job]:
    """Claim the due jobs of a home for a while; no other worker gets them until then."""
    its = (*_of(address), jobs.c.name == name)
    due = select(jobs.c.subject, jobs.c.attempts).where(*its, jobs.c.due_at <= now, _IS_TRIED)
    rows = connection.execute(
        due.order_by(jobs.c.due_at, jobs.c.subject).limit(most).with_for_update(skip_locked=True)
    ).all()
    taken = [Job(address.home, name, row.subject, row.attempts + 1, worker) for row in rows]
    if taken:
        connection.execute(
            update(jobs)
            .where(*its, jobs.c.subject.in_([job.subject for job in taken]))
            .values(attempts=jobs.c.attempts + 1, due_at=now + lease, claimed_by=worker)
        )
    return taken


def _of(address: HomeAddress) -> tuple[Any, ...]:
    return jobs.c.tenant == address.number, jobs.c.collection == address.home.collection.number


def _claimed(address: HomeAddress, job: Job) -> tuple[Any, ...]:
    return (
        *_of(address),
        jobs.c.name == job.name,
        jobs.c.subject == job.subject,
        jobs.c.claimed_by == job.worker,
    )


_KEY: Final = ("tenant", "collection", "name", "subject")
#: A job is given up after so many attempts; one of the whole store never is, since it comes back anyway.
_IS_TRIED: Final[ColumnElement[bool]] = or_(
    jobs.c.attempts < MOST_ATTEMPTS, jobs.c.tenant == WHOLE_STORE.number
)
_IS_OVER: Final = jobs.c.attempts >= literal_column(str(MOST_ATTEMPTS))
_TROUBLED: Final = (
    select(
        jobs.c.name,
        jobs.c.error,
        func.count().label("jobs"),
        func.max(jobs.c.attempts).label("attempts"),
        func.min(jobs.c.due_at).label("due"),
        _IS_OVER.label("over"),
    )
    .where(of_home(jobs), jobs.c.error.is_not(None))
    .group_by(jobs.c.name, jobs.c.error, _IS_OVER)
    .order_by(jobs.c.name, jobs.c.error, _IS_OVER)
)
_DUE_HOMES: Final = (
    select(jobs.c.tenant, jobs.c.collection, jobs.c.name)
    .where(jobs.c.due_at <= bindparam("now", type_=TimestampColumn), one_of(jobs.c.name, "asked"), _IS_TRIED)
    .group_by(jobs.c.tenant, jobs.c.collection, jobs.c.name)
    .order_by(func.min(jobs.c.due_at), jobs.c.tenant, jobs.c.collection, jobs.c.name)
    .limit(_HOMES_AT_ONCE)
)
_NAMES: Final = select(tenants.c.key, tenants.c.name).where(one_of(tenants.c.key, "wanted"))
