"""WHICH turns wait for their facts? Rows without secrets, each with a job of the same number."""

from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, delete, select

from onrecord.store.ports.workspace import WaitingTurn
from onrecord.store.tables import waiting_turns


def waiting_turn(connection: Connection, tenant: int | None, number: int) -> WaitingTurn | None:
    """A turn that waits; None if its facts were extracted, or it went with its conversation."""
    row = connection.execute(_ONE, {"in_tenant": tenant, "numbered": number}).one_or_none()
    return None if row is None else WaitingTurn(row.caller, row.asked, row.at)


def numbers_of(connection: Connection, tenant: int) -> list[int]:
    """The turns of a tenant that wait, in their order."""
    every = select(waiting_turns.c.number).where(waiting_turns.c.tenant == tenant)
    return list(connection.execute(every.order_by(waiting_turns.c.number)).scalars())


def tenants_waiting(connection: Connection) -> list[int]:
    """The tenants in which turns wait."""
    return list(connection.execute(select(waiting_turns.c.tenant).distinct()).scalars())


def drop_turns_of(connection: Connection, tenant: int | None, numbered: Select[Any]) -> None:
    """Drop the turns of some numbers."""
    its = (waiting_turns.c.tenant == tenant, waiting_turns.c.number.in_(numbered))
    connection.execute(delete(waiting_turns).where(*its))


_ONE: Final = select(waiting_turns).where(
    waiting_turns.c.tenant == bindparam("in_tenant"), waiting_turns.c.number == bindparam("numbered")
)
