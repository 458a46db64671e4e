"""WHO may come in, and what was done? Keys by their hashes, the audit, and the settings of a tenant."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select, update

from onrecord.errors import Fault, Invalid
from onrecord.model.caller import Caller
from onrecord.model.ledger import AuditEntry, Key, TenantSettings
from onrecord.model.limits import AuditOutcome, Origin
from onrecord.store.locked_home import LockedHome
from onrecord.store.ports.filters import AuditFilter
from onrecord.store.ports.records import SaveCounts
from onrecord.store.records.requests import SqlRequests
from onrecord.store.tables import TimestampColumn, api_keys, audit, store_facts, tenant_settings
from onrecord.store.timestamps import microseconds_of
from onrecord.store.transaction import Transaction

_A_DAY: Final = timedelta(days=1)
#: What counts as a save, whatever a surface calls it.
SAVES: Final = ("remember", "propose")


class AuditNumbers:
    """The next numbers of a tenant's audit, for one transaction that holds the tenant's lock."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._last: int | None = None

    def next(self, tenant: int) -> int:
        if self._last is None:
            connection, backend, *_ = self._transaction
            [[last]] = backend.fetch(connection, _LAST_NUMBER, {"home": tenant})
            self._last = last or 0
        self._last += 1
        return self._last


class SqlLedger:
    """One transaction; `tenant` None means all of them, and `number` is None if nobody has written to the tenant yet."""

    def __init__(self, transaction: Transaction, tenant: str | None, number: int | None) -> None:
        self._transaction = transaction
        self._connection = transaction.connection
        self._tenant = tenant
        self._number = number
        self.requests = SqlRequests(transaction)

    # Keys

    def add_key(self, key: Key, hash: str) -> None:
        row = {name: getattr(key, name) for name in _KEY_FIELDS} | {"systems": dict(key.systems)}
        self._connection.execute(insert(api_keys), {"hash": hash, **row})

    def key(self, hash: str) -> Key | None:
        row = self._connection.execute(_BY_HASH, {"wanted": hash}).one_or_none()
        return None if row is None else _read_key(row)

    def has_keys(self) -> bool:
        return self._connection.execute(select(api_keys.c.id).limit(1)).first() is not None

    def all_keys(self) -> list[Key]:
        found = select(*_KEY_COLUMNS).where(*self._its(api_keys))
        rows = self._connection.execute(found.order_by(api_keys.c.created_at, api_keys.c.id)).all()
        return [_read_key(row) for row in rows]

    def revoke(self, id: str, at: datetime) -> tuple[Key, bool] | None:
        its = and_(api_keys.c.id == id, *self._its(api_keys))
        revoked = self._connection.execute(
            update(api_keys).where(its, api_keys.c.revoked_at.is_(None)).values(revoked_at=at)
        )
        row = self._connection.execute(select(*_KEY_COLUMNS).where(its)).one_or_none()
        return None if row is None else (_read_key(row), bool(revoked.rowcount))

    def forget_keys(self, now: datetime) -> int:
        works_no_longer = or_(api_keys.c.revoked_at.is_not(None), api_keys.c.expires_at <= now)
        return self._connection.execute(delete(api_keys).where(works_no_longer)).rowcount

    def _its(self, table: Any) -> Sequence[ColumnElement[bool]]:
        return () if self._tenant is None else (table.c.tenant == self._tenant,)

    # Settings

    def settings(self) -> TenantSettings:
        return settings_of(self._connection, self._home)

    def set(self, settings: TenantSettings, by: str, at: datetime) -> None:
        said = asdict(settings) | {"updated_at": at, "updated_by": by}
        row = self._transaction.backend.insert(tenant_settings).values(tenant=self._home, **said)
        self._connection.execute(row.on_conflict_do_update(index_elements=["tenant"], set_=said))

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

    def sweep(self, before: datetime) -> int:
        last = select(func.max(audit.c.number)).where(audit.c.tenant == self._home).scalar_subquery()
        old = (audit.c.tenant == self._home, audit.c.at < before, audit.c.number < last)
        return self._connection.execute(delete(audit).where(*old)).rowcount

    def page(self, ask: AuditFilter) -> tuple[list[AuditEntry], str | None]:
        wanted = [
            audit.c[name] == value
            for name in ("user", "subject", "outcome")
            if (value := getattr(ask, name)) is not None
        ]
        if ask.since is not None:
            wanted.append(audit.c.at >= ask.since)
        if ask.after is not None:
            wanted.append(audit.c.number < _number(ask.after))
        found = select(*_ENTRY_COLUMNS).where(audit.c.tenant == self._home, *wanted)
        rows = self._connection.execute(found.order_by(audit.c.number.desc()).limit(ask.limit + 1)).all()
        entries = [AuditEntry(**row._mapping) for row in rows[: ask.limit]]
        return entries, str(entries[-1].number) if len(rows) > ask.limit else None

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
        assert self._tenant is not None, "only keys can be asked for in all tenants"
        return self._number or 0


def settings_of(connection: Connection, tenant: int) -> TenantSettings:
    """The settings of a tenant, or the defaults."""
    row = connection.execute(_SETTINGS, {"home": tenant}).one_or_none()
    return TenantSettings() if row is None else TenantSettings(**row._mapping)


def audit_line(tenant: int, caller: Caller, by: str, origin: Origin, at: datetime) -> dict[str, Any]:
    """Who and when, as the statement takes it; what was done is added later."""
    return {
        "tenant": tenant,
        "at": microseconds_of(at),
        "user": by,
        "origin": origin,
        "key": caller.key,
        "run": caller.run,
        "request": caller.request,
    }


def save_counts(connection: Connection, caller: Caller, tenant: int, now: datetime) -> SaveCounts:
    """How much the caller's run and key have saved; the caller holds the tenant's lock, so it stays true."""
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


def _number(mark: str) -> int:
    # More digits than any number of ours are a mistake too, and no database takes them.
    if mark.isascii() and mark.isdigit() and len(mark) <= 18:
        return int(mark)
    raise Invalid([Fault("after", f"is not a mark of a page of the audit (got {mark[:40]!a})")])


def _read_key(row: Any) -> Key:
    return Key(**row._mapping)


_SECRET_FACT: Final = "secret"
_SECRET: Final = select(store_facts.c.value).where(store_facts.c.name == _SECRET_FACT)
_KEY_FIELDS: Final = tuple(column.key for column in api_keys.columns if column.name != "hash")
_KEY_COLUMNS: Final = tuple(api_keys.c[name].label(name) for name in _KEY_FIELDS)
_ENTRY_COLUMNS: Final = tuple(column for column in audit.columns if column.name != "tenant")
_BY_HASH: Final = select(*_KEY_COLUMNS).where(api_keys.c.hash == bindparam("wanted"))
_KEY_MAY: Final = select(api_keys.c.saves_per_day).where(
    api_keys.c.tenant == bindparam("named"), api_keys.c.id == bindparam("wanted")
)
_SETTINGS: Final = select(tenant_settings.c.agents_share, tenant_settings.c.members_retire).where(
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
