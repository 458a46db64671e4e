"""WHAT is to be done later? Job rows, written with the change that needs them and claimed by one worker at a time.

A claim is a lease: it moves the job's due time, so that another worker takes over if this one dies.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, delete, func, select, update

from onrecord.model.collections import BY_NUMBER, Home
from onrecord.store.backend import Backend
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.jobs import Job
from onrecord.store.tables import TimestampColumn, jobs, tenants
from onrecord.store.tenant import HomeAddress

#: After this many attempts a job has failed. It stays in the queue, and `embed-missing` tries it again.
MOST_ATTEMPTS: Final = 20
#: How many homes to look at, since other workers may hold the jobs of the first.
_HOMES_AT_ONCE: Final = 32


class JobQueue:
    """The jobs of one home, in one transaction."""

    def __init__(self, connection: Connection, backend: Backend, address: HomeAddress) -> None:
        self._connection = connection
        self._backend = backend
        self._address = address

    def add(self, name: str, due: datetime, subject: int = 0) -> None:
        fresh = {"attempts": 0, "due_at": due, "claimed_by": None, "error": None}
        home = {"tenant": self._address.number, "collection": self._address.home.collection.number}
        asked = self._backend.insert(jobs).values(**home, name=name, subject=subject, **fresh)
        its = [*home, "name", "subject"]
        self._connection.execute(asked.on_conflict_do_update(index_elements=its, set_=fresh))

    def withdraw(self, name: str) -> None:
        its = (*_of(self._address), jobs.c.name == name, jobs.c.subject == 0)
        self._connection.execute(delete(jobs).where(*its))

    def drop(self, subject: int) -> None:
        """Remove the jobs of a memory that is gone."""
        self._connection.execute(delete(jobs).where(*_of(self._address), jobs.c.subject == subject))

    def finish(self, done: Sequence[Job]) -> None:
        """Remove finished jobs, but not those that were added anew meanwhile, which clears the claim."""
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


def due_homes(connection: Connection, now: datetime) -> list[tuple[HomeAddress, str]]:
    """The homes with due jobs, and their names; the one that has waited longest first. Looks across tenants and locks
    nothing.
    """
    found = connection.execute(_DUE_HOMES, {"now": now}).all()
    names = (
        dict(connection.execute(_NAMES, {"wanted": sorted({row.tenant for row in found})}).all())
        if found
        else {}
    )
    return [
        (HomeAddress(row.tenant, Home(names[row.tenant], BY_NUMBER[row.collection])), row.name)
        for row in found
        if row.tenant in names
    ]


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
    due = select(jobs.c.subject, jobs.c.attempts).where(
        *its, jobs.c.due_at <= now, jobs.c.attempts < MOST_ATTEMPTS
    )
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


_DUE_HOMES: Final = (
    select(jobs.c.tenant, jobs.c.collection, jobs.c.name)
    .where(jobs.c.due_at <= bindparam("now", type_=TimestampColumn), jobs.c.attempts < MOST_ATTEMPTS)
    .group_by(jobs.c.tenant, jobs.c.collection, jobs.c.name)
    .order_by(func.min(jobs.c.due_at), jobs.c.tenant, jobs.c.collection, jobs.c.name)
    .limit(_HOMES_AT_ONCE)
)
_NAMES: Final = select(tenants.c.key, tenants.c.name).where(one_of(tenants.c.key, "wanted"))
