"""WHICH keys are valid, and what was done? Keys by their hashes, the audit, and the settings of a tenant."""

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select, update

from onrecord.errors import no_such_page
from onrecord.model.caller import Caller
from onrecord.model.ledger import AuditEntry, Key, TenantSettings
from onrecord.model.limits import GLOBAL_TENANT, AuditOutcome, Origin
from onrecord.store.locked_home import LockedHome
from onrecord.store.ports.filters import AuditFilter
from onrecord.store.ports.ledger import Spending
from onrecord.store.ports.records import SaveCounts
from onrecord.store.records.people import KEY_COLUMNS, KEY_FIELDS, SqlPersonsQuestions, SqlSignIns
from onrecord.store.records.requests import SqlRequests
from onrecord.store.tables import (
    TimestampColumn,
    advice_usage,
    api_keys,
    audit,
    feedback,
    store_facts,
    tenant_settings,
)
from onrecord.store.timestamps import microseconds_of
from onrecord.store.transaction import Transaction

_A_DAY: Final = timedelta(days=1)
#: How many numbers of an audit one transaction deletes at most.
_SWEPT_AT_ONCE: Final = 10_000
#: What counts as a save, whatever a surface calls it.
SAVES: Final = ("remember", "propose")


class AuditNumbers:
    """Gives the next number in the audit of each tenant that the transaction has locked."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._last: dict[int, int] = {}

    def next(self, tenant: int) -> int:
        if tenant not in self._last:
            backend = self._transaction.backend
            [[last]] = backend.fetch(self._transaction.connection, _LAST_NUMBER, {"home": tenant})
            self._last[tenant] = last or 0
        self._last[tenant] += 1
        return self._last[tenant]


class SqlLedger:
    """The ledger in one transaction. `tenant` is None for all tenants; `number` is None if the tenant holds nothing yet."""

    def __init__(self, transaction: Transaction, tenant: str | None, number: int | None) -> None:
        self._transaction = transaction
        self._connection = transaction.connection
        self._tenant = tenant
        self._number = number
        self.requests = SqlRequests(transaction)
        self.sign_ins = SqlSignIns(self._connection, tenant)

    # Keys

    def add_key(self, key: Key, hash: str) -> None:
        row = {name: getattr(key, name) for name in KEY_FIELDS} | {"systems": dict(key.systems)}
        self._connection.execute(insert(api_keys), {"hash": hash, **row})

    def key(self, hash: str) -> Key | None:
        row = self._connection.execute(_BY_HASH, {"wanted": hash}).one_or_none()
        return None if row is None else _read_key(row)

    def keys_named(self, id: str) -> list[tuple[Key, str]]:
        found = select(*KEY_COLUMNS, api_keys.c.hash.label("_hash")).where(
            api_keys.c.id == id, *self._its(api_keys)
        )
        rows = (dict(row._mapping) for row in self._connection.execute(found))
        return [(Key(**row), hash) for row in rows for hash in (row.pop("_hash"),)]

    def has_keys(self) -> bool:
        return self._connection.execute(select(api_keys.c.id).limit(1)).first() is not None

    def all_keys(self) -> list[Key]:
        found = select(*KEY_COLUMNS).where(*self._its(api_keys))
        rows = self._connection.execute(found.order_by(api_keys.c.created_at, api_keys.c.id)).all()
        return [_read_key(row) for row in rows]

    def change_key(self, key: Key) -> None:
        changing = (
            "label",
            "personas",
            "permissions",
            "systems",
            "expires_at",
            "per_minute",
            "saves_per_day",
        )
        values = {name: getattr(key, name) for name in changing} | {"systems": dict(key.systems)}
        its = and_(api_keys.c.id == key.id, *self._its(api_keys))
        self._connection.execute(update(api_keys).where(its).values(**values))

    def revoke(self, id: str, at: datetime) -> tuple[Key, bool] | None:
        its = and_(api_keys.c.id == id, *self._its(api_keys))
        revoked = self._connection.execute(
            update(api_keys).where(its, api_keys.c.revoked_at.is_(None)).values(revoked_at=at)
        )
        row = self._connection.execute(select(*KEY_COLUMNS).where(its)).one_or_none()
        return None if row is None else (_read_key(row), bool(revoked.rowcount))

    def forget_keys(self, now: datetime) -> int:
        works_no_longer = or_(api_keys.c.revoked_at.is_not(None), api_keys.c.expires_at <= now)
        return self._connection.execute(delete(api_keys).where(works_no_longer)).rowcount

    def _its(self, table: Any) -> Sequence[ColumnElement[bool]]:
        return () if self._tenant is None else (table.c.tenant == self._tenant,)

    @property
    def questions(self) -> SqlPersonsQuestions:
        return SqlPersonsQuestions(self._connection, self._home)

    # Settings

    def settings(self) -> TenantSettings:
        return settings_of(self._connection, self._home)

    def set(self, settings: TenantSettings, by: str, at: datetime) -> None:
        # Held first: feedback that is being kept asks for these settings under the same lock.
        LockedHome.hold(self._connection, self._home)
        values = asdict(settings) | {"updated_at": at, "updated_by": by}
        row = self._transaction.backend.insert(tenant_settings).values(tenant=self._home, **values)
        self._connection.execute(row.on_conflict_do_update(index_elements=["tenant"], set_=values))
        if not settings.keep_questions:
            its = (feedback.c.tenant == self._home, feedback.c.question.is_not(None))
            self._connection.execute(update(feedback).where(*its).values(question=None))

    # Audit

    def note(
        self,
        caller: Caller,
        operation: str,
        at: datetime,
        subject: str | None = None,
        outcome: AuditOutcome = "done",
    ) -> None:
        LockedHome.hold(self._connection, self._home)
        line = audit_line(self._home, caller, caller.user, caller.actor, at)
        number = AuditNumbers(self._transaction).next(self._home)
        line |= {"number": number, "operation": operation, "outcome": outcome, "subject": subject}
        self._transaction.statements.add_audit.run(self._connection, [line])

    def note_everyones(self, caller: Caller, operation: str, at: datetime) -> None:
        origin = self._transaction.tenants.look_up(self._connection, caller.tenant) or 0
        line = everyones_line(self._home, origin, caller.user, caller.actor, at)
        LockedHome.hold(self._connection, self._home)
        number = AuditNumbers(self._transaction).next(self._home)
        line |= {"number": number, "operation": operation, "outcome": "done", "subject": None}
        self._transaction.statements.add_audit.run(self._connection, [line])

    def page(self, ask: AuditFilter) -> tuple[list[AuditEntry], str | None]:
        mark = _Mark() if ask.after is None else _Mark.read(ask.after)
        own = self._lines(ask, audit.c.tenant == self._home, mark.own)
        others = self._lines(ask, self._everyones(), mark.everyones)
        # Merged by time; within each of the two the numbers decide, so a clock that went backwards changes nothing.
        lines = list(islice(merge(own, others, key=lambda line: line[1].at, reverse=True), ask.limit + 1))
        page = lines[: ask.limit]
        for is_own, entry in page:
            mark = mark._replace(**{"own" if is_own else "everyones": entry.number})
        return [entry for _, entry in page], str(mark) if len(lines) > ask.limit else None

    def _lines(
        self, ask: AuditFilter, which: ColumnElement[bool], before: int | None
    ) -> list[tuple[bool, AuditEntry]]:
        """The entries of a page and one more, each with whether it comes from the tenant's own audit."""
        wanted = [
            audit.c[name] == value
            for name in ("user", "subject", "outcome")
            if (value := getattr(ask, name)) is not None
        ]
        if ask.since is not None:
            wanted.append(audit.c.at >= ask.since)
        if before is not None:
            wanted.append(audit.c.number < before)
        found = select(audit.c.tenant, *_ENTRY_COLUMNS).where(which, *wanted)
        rows = self._connection.execute(found.order_by(audit.c.number.desc()).limit(ask.limit + 1)).all()
        entries = []
        for tenant, *values in rows:
            entry = AuditEntry(**dict(zip(_ENTRY_NAMES, values, strict=True)))
            is_own = tenant == self._home
            entries.append((is_own, entry if is_own else replace(entry, request=None)))
        return entries

    def _everyones(self) -> ColumnElement[bool]:
        """Entries about global memories that other tenants changed. Those of this tenant are in its own audit."""
        everyones = self._transaction.tenants.look_up(self._connection, GLOBAL_TENANT)
        return and_(audit.c.tenant == (everyones or 0), audit.c.request != origin_mark(self._home))

    # Advice

    def spend(self, day: int, on: Spending) -> None:
        LockedHome.hold(self._connection, self._home)
        counted = {"calls": on.calls, "failed": on.failed, **on.tokens(), "micros": on.micros}
        whose = {"user": on.user, "agent": on.agent, "task": on.task, "model": on.model}
        row = self._transaction.backend.insert(advice_usage).values(
            tenant=self._home, day=day, **whose, **counted
        )
        more = {name: advice_usage.c[name] + value for name, value in counted.items()}
        keys = ["tenant", "day", "agent", "user", "task", "model"]
        self._connection.execute(row.on_conflict_do_update(index_elements=keys, set_=more))

    def spent(self, day: int) -> list[Spending]:
        found = select(*(advice_usage.c[name] for name in Spending._fields)).where(
            advice_usage.c.tenant == self._home, advice_usage.c.day == day
        )
        rows = self._connection.execute(
            found.order_by(*(advice_usage.c[name] for name in Spending._fields[:4]))
        )
        return [Spending(*row) for row in rows]

    # Signing

    def secret(self) -> str | None:
        found: str | None = self._connection.execute(_SECRET).scalar_one_or_none()
        return found

    def keep_secret(self, secret: str) -> str:
        fact = self._transaction.backend.insert(store_facts).values(name=_SECRET_FACT, value=secret)
        self._connection.execute(fact.on_conflict_do_nothing())
        return str(self._connection.execute(_SECRET).scalar_one())

    @property
    def _home(self) -> int:
        """The tenant's number, or 0, which no row has, if nobody has written yet."""
        assert self._tenant is not None, "only keys can be listed for all tenants"
        return self._number or 0


def settings_of(connection: Connection, tenant: int) -> TenantSettings:
    """The settings of a tenant, or the defaults."""
    row = connection.execute(_SETTINGS, {"home": tenant}).one_or_none()
    return TenantSettings() if row is None else TenantSettings(**row._mapping)


def audit_line(tenant: int, caller: Caller, by: str, origin: Origin, at: datetime) -> dict[str, Any]:
    """The row of an entry as far as the caller and the time fill it; the operation is added later."""
    return {
        "tenant": tenant,
        "at": microseconds_of(at),
        "user": by,
        "origin": origin,
        "key": caller.key,
        "run": caller.run,
        "request": caller.request,
    }


def sweep_audit(connection: Connection, tenant: int, before: datetime) -> int:
    """Delete the entries of a tenant's audit from before this time, at most _SWEPT_AT_ONCE of them; returns how many.

    The last entry stays, since the next one takes the number after it.
    """
    its = audit.c.tenant == tenant
    first, last = (select(end(audit.c.number)).where(its).scalar_subquery() for end in (func.min, func.max))
    old = (its, audit.c.at < before, audit.c.number < first + _SWEPT_AT_ONCE, audit.c.number < last)
    return connection.execute(delete(audit).where(*old)).rowcount


def everyones_line(everyones: int, origin: int, by: str, as_: Origin, at: datetime) -> dict[str, Any]:
    """The row of an entry in the audit of global memories, which every tenant reads.

    The column of the request holds which tenant made the change, so that this tenant does not see the entry twice. The
    key and the run are left out, since they are nothing for other tenants.
    """
    line = {"tenant": everyones, "at": microseconds_of(at), "user": by, "origin": as_}
    return line | {"key": None, "run": None, "request": origin_mark(origin)}


def origin_mark(tenant: int) -> str:
    """How an entry about a global memory names the tenant that made the change."""
    return f"tenant {tenant}"


def save_counts(connection: Connection, caller: Caller, tenant: int, now: datetime) -> SaveCounts:
    """How often the caller's run and key have saved. The tenant must be locked, so that the counts stay right."""
    home = {"home": tenant}
    by_run = by_key = 0
    key_may: int | None = None
    if caller.run is not None:
        by_run = connection.execute(_BY_RUN, {**home, "wanted": caller.run}).scalar_one()
    if caller.key is not None:
        key_may = connection.execute(
            _KEY_MAY, {"named": caller.tenant, "wanted": caller.key}
        ).scalar_one_or_none()
    if key_may is not None:
        since = {"wanted": caller.key, "since": now - _A_DAY}
        by_key = connection.execute(_BY_KEY, home | since).scalar_one()
    return SaveCounts(by_run, by_key, key_may)


class _Mark(NamedTuple):
    """Where the next page begins: before these numbers of the tenant's own audit and of that of global memories."""

    own: int | None = None
    everyones: int | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        own, _, everyones = text.partition("~")
        return cls(*(_number(part) if part else None for part in (own, everyones)))

    def __str__(self) -> str:
        own, everyones = ("" if number is None else str(number) for number in self)
        return f"{own}~{everyones}" if everyones else own


def _number(digits: str) -> int:
    # No number of ours has more digits, and the databases refuse longer ones.
    if digits.isascii() and digits.isdigit() and len(digits) <= 18:
        return int(digits)
    raise no_such_page()


def _read_key(row: Any) -> Key:
    return Key(**row._mapping)


_SECRET_FACT: Final = "secret"
_SECRET: Final = select(store_facts.c.value).where(store_facts.c.name == _SECRET_FACT)
_ENTRY_COLUMNS: Final = tuple(column for column in audit.columns if column.name != "tenant")
_ENTRY_NAMES: Final = tuple(column.name for column in _ENTRY_COLUMNS)
_BY_HASH: Final = select(*KEY_COLUMNS).where(api_keys.c.hash == bindparam("wanted"))
_KEY_MAY: Final = select(api_keys.c.saves_per_day).where(
    api_keys.c.tenant == bindparam("named"), api_keys.c.id == bindparam("wanted")
)
_SETTINGS: Final = select(*(tenant_settings.c[each.name] for each in fields(TenantSettings))).where(
    tenant_settings.c.tenant == bindparam("home")
)
_LAST_NUMBER: Final = select(func.max(audit.c.number)).where(audit.c.tenant == bindparam("home"))
_SAVES: Final = (
    select(func.count())
    .select_from(audit)
    .where(
        audit.c.tenant == bindparam("home"),
        audit.c.operation.in_(SAVES),
        audit.c.outcome == "done",
    )
)
_BY_RUN: Final = _SAVES.where(audit.c.run == bindparam("wanted"))
_BY_KEY: Final = _SAVES.where(
    audit.c.key == bindparam("wanted"), audit.c.at > bindparam("since", type_=TimestampColumn)
)
