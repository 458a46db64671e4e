"""WHO sees a row, and who may change it? The one predicate that every read, search and write uses."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Boolean, ColumnElement, FromClause, and_, bindparam, or_

from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.store.audience import SYSTEM, audiences_of
from onrecord.store.several import one_of


class Sight(NamedTuple):
    """How a caller sees, apart from names: callers of one sight share their statements."""

    is_admin: bool
    sees_every_system: bool


def sight_of(caller: Caller) -> Sight:
    return Sight(caller.is_admin, EVERY_SYSTEM in caller.systems)


def sight_parameters(caller: Caller, tenants: Sequence[int]) -> dict[str, Any]:
    """The names that fill the predicate; `tenants` are the keys of the caller's tenant and of the global one."""
    managed = sorted(system for system, grant in caller.systems.items() if grant == "manage")
    return {
        # One of them may not exist yet, and no row is of tenant NULL.
        **dict(zip(_SEEN, (*tenants, None, None), strict=False)),
        "seen_audiences": audiences_of(caller),
        "own_user": caller.user,
        "managed_systems": managed,
        "manages_all": EVERY_SYSTEM in managed,
    }


_SEEN: Final = ("seen_tenant", "other_seen_tenant")
SEEN_TENANTS: Final = tuple(bindparam(name, type_=BigInteger) for name in _SEEN)


def visible(table: FromClause, sight: Sight) -> ColumnElement[bool]:
    """The predicate of reading.

    The global tenant holds only global memories, so one list of audiences serves both tenants.
    """
    home = table.c.tenant.in_(SEEN_TENANTS)
    if sight.is_admin:
        return home
    own = one_of(table.c.audience, "seen_audiences")
    if sight.sees_every_system:
        own = or_(own, table.c.audience.startswith(SYSTEM, autoescape=True))
    return and_(home, own)


def changeable(table: FromClause, sight: Sight) -> ColumnElement[bool]:
    """The predicate of changing, always on top of seeing: the owner, an admin, or for a system its manager.

    Global memories have no owner among tenants: only an admin changes them.
    """
    sees = visible(table, sight)
    if sight.is_admin:
        return sees
    managed = or_(
        one_of(table.c.system, "managed_systems"),
        bindparam("manages_all", type_=Boolean),
    )
    allowed = or_(table.c.owner == bindparam("own_user"), and_(table.c.scope == "system", managed))
    return and_(sees, table.c.scope != "global", allowed)
