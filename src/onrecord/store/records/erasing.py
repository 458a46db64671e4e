"""WHAT belongs to a tenant? The rows of every table that have its number, its API keys and sign-ins, and its name."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, select, update

from onrecord.model.limits import GLOBAL_TENANT
from onrecord.store.backend import Backend
from onrecord.store.records.ledger import origin_mark
from onrecord.store.tables import OF_TENANTS, api_keys, audit, counters, sign_ins, tenants

_ERASED: Final = "erased"
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_EVERY: Final = (*OF_TENANTS, api_keys, sign_ins, tenants)


#: One row for all keys that were erased, so that the store still knows that it had keys. It names neither tenant, user nor
#: time, and no key has this hash.
_ERASED_KEY: Final = {
    "hash": "erased",
    "id": "erased",
    "tenant": GLOBAL_TENANT,
    "user": "erased",
    "personas": (),
    "permissions": (),
    "systems": {},
    "actor": "agent",
    "created_at": _EPOCH,
    "created_by": "erased",
    "revoked_at": _EPOCH,
}


def erase(connection: Connection, backend: Backend, tenant: str, number: int | None) -> dict[str, int]:
    """Erase a tenant; returns how many rows of each table. Its name goes first, so that no new write can begin, and open
    writes are waited for.
    """
    counts = {"tenants": connection.execute(delete(tenants).where(tenants.c.name == tenant)).rowcount}
    # Locked in the same order as by those who write, so that neither waits for the other for ever.
    connection.execute(
        select(counters.c.tenant).where(counters.c.tenant == (number or 0)).with_for_update()
    ).all()
    for table, its in _of(tenant, number):
        if table is not tenants:
            counts[table.name] = connection.execute(delete(table).where(its)).rowcount
    # Entries about its changes of global memories stay, without the name of the user.
    nameless = update(audit).where(_for_everyone(connection, number)).values(user=_ERASED)
    connection.execute(nameless)
    if counts[api_keys.name]:
        # The store must stay closed to callers without a key, though the keys of this tenant are gone.
        connection.execute(backend.insert(api_keys).values(_ERASED_KEY).on_conflict_do_nothing())
    return {table.name: counts[table.name] for table in _EVERY if counts[table.name]}


def rows_of(connection: Connection, tenant: str, number: int | None) -> dict[str, int]:
    counts = {
        table.name: connection.execute(select(func.count()).select_from(table).where(its)).scalar_one()
        for table, its in _of(tenant, number)
    }
    named = (_for_everyone(connection, number), audit.c.user != _ERASED)
    left = connection.execute(select(func.count()).select_from(audit).where(*named)).scalar_one()
    counts["audit"] = counts.get("audit", 0) + left
    return {name: count for name, count in counts.items() if count}


def _for_everyone(connection: Connection, number: int | None) -> ColumnElement[bool]:
    """The entries about this tenant's changes in the audit of global memories."""
    everyones = connection.execute(select(tenants.c.key).where(tenants.c.name == GLOBAL_TENANT)).scalar()
    return and_(audit.c.tenant == (everyones or 0), audit.c.request == origin_mark(number or 0))


def _of(tenant: str, number: int | None) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    """Each table with the condition that selects the tenant's rows. A tenant without a number gets 0, which no row has."""
    for table in _EVERY:
        if table is tenants:
            yield table, tenants.c.name == tenant
        elif table in (api_keys, sign_ins):
            yield table, table.c.tenant == tenant
        else:
            yield table, table.c.tenant == (number or 0)
