"""WHAT is to be done later? Job rows, written with the change that asks for them and claimed by one worker at a time.

A claim is a lease: whoever claims a job moves its due time on, so that a worker that dies leaves it to the next.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, delete, select, update

from onrecord.store.backend import Backend
from onrecord.store.port import Job
from onrecord.store.tables import Instant, jobs, tenants

#: After so many attempts a job has failed: it stays, and is tried again only when someone asks.
MOST_ATTEMPTS: Final = 20


def add(
    connection: Connection, backend: Backend, tenant: int, name: str, subject: int, due: datetime
) -> None:
    """Ask for a job; one that is waiting already begins anew, since what it is about has changed."""
    fresh = {"attempts": 0, "due_at": due, "claimed_by": None, "error": None}
    asked = backend.insert(jobs).values(tenant=tenant, name=name, subject=subject, **fresh)
    connection.execute(asked.on_conflict_do_update(index_elements=["tenant", "name", "subject"], set_=fresh))


def is_due(connection: Connection, now: datetime) -> bool:
    due = select(jobs.c.subject).where(jobs.c.due_at <= now, jobs.c.attempts < MOST_ATTEMPTS)
    return connection.execute(due.limit(1)).first() is not None


def claim(connection: Connection, worker: str, now: datetime, lease: timedelta, most: int) -> list[Job]:
    """Take the jobs that are due, of one tenant, for a time; no other worker takes them until that is over."""
    first = connection.execute(_DUE.limit(1), {"now": now}).first()
    if first is None:
        return []
    due = _DUE.where(jobs.c.tenant == first.tenant, jobs.c.name == first.name).limit(most)
    rows = connection.execute(due, {"now": now}).all()
    taken = [Job(row.tenant_name, row.name, row.subject, row.attempts + 1, worker) for row in rows]
    connection.execute(
        update(jobs)
        .where(
            jobs.c.tenant == first.tenant,
            jobs.c.name == first.name,
            jobs.c.subject.in_([job.subject for job in taken]),
        )
        .values(attempts=jobs.c.attempts + 1, due_at=now + lease, claimed_by=worker)
    )
    return taken


def finish(connection: Connection, tenant: int, done: Sequence[Job]) -> None:
    """Take away jobs that are done, unless they were asked for anew meanwhile: that clears the claim."""
    for job in done:
        connection.execute(delete(jobs).where(*_mine(tenant, job)))


def postpone(connection: Connection, tenant: int, job: Job, due: datetime, error: str | None) -> None:
    """Try a job again later; without an error it has got on and counts as fresh."""
    waiting: dict[str, Any] = {"due_at": due, "claimed_by": None, "error": error}
    if error is None:
        waiting["attempts"] = 0
    connection.execute(update(jobs).where(*_mine(tenant, job)).values(waiting))


def retry_failed(connection: Connection, tenant: int, now: datetime) -> None:
    failed = and_(jobs.c.tenant == tenant, jobs.c.attempts >= MOST_ATTEMPTS)
    connection.execute(update(jobs).where(failed).values(attempts=0, due_at=now, claimed_by=None))


def withdraw(connection: Connection, tenant: int, name: str) -> None:
    """What was to be done for the tenant as a whole is done."""
    its = (jobs.c.tenant == tenant, jobs.c.name == name, jobs.c.subject == 0)
    connection.execute(delete(jobs).where(*its))


def drop(connection: Connection, tenant: int, subject: int) -> None:
    """The memory is gone, and what was to be done with it."""
    connection.execute(delete(jobs).where(jobs.c.tenant == tenant, jobs.c.subject == subject))


def _mine(tenant: int, job: Job) -> tuple[Any, ...]:
    return (
        jobs.c.tenant == tenant,
        jobs.c.name == job.name,
        jobs.c.subject == job.subject,
        jobs.c.claimed_by == job.worker,
    )


_DUE: Final = (
    select(jobs, tenants.c.name.label("tenant_name"))
    .join(tenants, tenants.c.key == jobs.c.tenant)
    .where(jobs.c.due_at <= bindparam("now", type_=Instant), jobs.c.attempts < MOST_ATTEMPTS)
    .order_by(jobs.c.due_at, jobs.c.tenant, jobs.c.subject)
    .with_for_update(of=jobs, skip_locked=True)
)
