"""WHAT is of a tenant? Every row of every table that bears its number or its name, and those of its catalog."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select

from onrecord.model.limits import CATALOG_PREFIX
from onrecord.store.prepared import Statements
from onrecord.store.tables import BESIDE, metadata, tenants
from onrecord.store.tenant import LockedTenant

_OF_TENANTS: Final = tuple(table for table in metadata.tables.values() if "tenant" in table.columns)


def make_room(connection: Connection, statements: Statements, tenant: str) -> bool:
    """A row for a tenant; False if it has one."""
    known = connection.execute(select(tenants.c.key).where(tenants.c.name == tenant)).first()
    LockedTenant.take(connection, statements, tenant)
    return known is None


def erase(connection: Connection, tenant: str) -> dict[str, int]:
    """No one writes in a tenant while its row is held; whoever waits for it finds it gone, and begins anew."""
    numbers = _numbers(connection, tenant, holding=True)
    counts = {
        table.name: connection.execute(delete(table).where(_of(table, tenant, numbers))).rowcount
        for table in (*_OF_TENANTS, tenants)
    }
    return {name: count for name, count in counts.items() if count}


def rows_of(connection: Connection, tenant: str) -> dict[str, int]:
    numbers = _numbers(connection, tenant)
    counts = {
        table.name: connection.execute(
            select(func.count()).select_from(table).where(_of(table, tenant, numbers))
        ).scalar_one()
        for table in (*_OF_TENANTS, tenants)
    }
    return {name: count for name, count in counts.items() if count}


def _numbers(connection: Connection, tenant: str, *, holding: bool = False) -> list[int]:
    wanted = select(tenants.c.key).where(tenants.c.name.in_(_names(tenant))).order_by(tenants.c.key)
    return list(connection.execute(wanted.with_for_update() if holding else wanted).scalars())


def _names(tenant: str) -> tuple[str, str]:
    return tenant, CATALOG_PREFIX + tenant


def _of(table: Table, tenant: str, numbers: list[int]) -> ColumnElement[bool]:
    if table is tenants:
        return tenants.c.name.in_(_names(tenant))
    wanted: Sequence[str | int] = _names(tenant) if table in BESIDE else numbers
    return table.c.tenant.in_(wanted)
