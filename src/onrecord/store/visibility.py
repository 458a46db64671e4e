"""WHO sees a row, and who may change it? The one predicate that every read, search and write uses."""

from typing import Any, NamedTuple

from sqlalchemy import Boolean, ColumnElement, FromClause, Text, and_, bindparam, func, or_

from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.store.audience import LATER, SYSTEM, WAITING, audiences_of, waiting, waiting_audiences_of
from onrecord.store.list_parameters import one_of
from onrecord.store.tenant import of_home


class Visibility(NamedTuple):
    """How a caller sees, apart from names; callers who see alike share their statements."""

    is_admin: bool
    sees_every_system: bool
    reviews: bool


def visibility_of(caller: Caller) -> Visibility:
    return Visibility(caller.is_admin, EVERY_SYSTEM in caller.systems, "memory.review" in caller.permissions)


def visibility_parameters(caller: Caller) -> dict[str, Any]:
    """The names in the predicate, without those of the home."""
    managed = sorted(system for system, grant in caller.systems.items() if grant == "manage")
    later = waiting_audiences_of(caller)
    return {
        "seen_audiences": [*audiences_of(caller), *(waiting(caller.user) + each for each in later)],
        "later_audiences": later,
        "own_systems": waiting(caller.user) + SYSTEM,
        "own_user": caller.user,
        "managed_systems": managed,
        "manages_all": EVERY_SYSTEM in managed,
    }


def visible(table: FromClause, visibility: Visibility) -> ColumnElement[bool]:
    """The predicate of reading: the rows of one home that this caller may see.

    The global tenant holds only global memories, so one list of audiences serves it too.
    """
    home = of_home(table)
    if visibility.is_admin:
        return home
    audience = table.c.audience
    # Of what waits, one's own is in the list.
    seen = [one_of(audience, "seen_audiences")]
    if visibility.sees_every_system:
        seen.append(audience.startswith(SYSTEM, autoescape=True))
        seen.append(audience.startswith(bindparam("own_systems", type_=Text)))
    if visibility.reviews:
        later = func.substr(audience, LATER + 1, type_=Text)
        then = [one_of(later, "later_audiences")]
        if visibility.sees_every_system:
            then.append(later.startswith(SYSTEM, autoescape=True))
        seen.append(and_(audience.startswith(WAITING, autoescape=True), or_(*then)))
    return and_(home, or_(*seen) if len(seen) > 1 else seen[0])


def changeable(table: FromClause, visibility: Visibility) -> ColumnElement[bool]:
    """The predicate of changing, always on top of seeing: the owner, an admin, or a system's manager.

    Global memories have no owner in a tenant: only an admin changes them.
    """
    sees = visible(table, visibility)
    if visibility.is_admin:
        return sees
    managed = or_(
        one_of(table.c.system, "managed_systems"),
        bindparam("manages_all", type_=Boolean),
    )
    allowed = or_(table.c.owner == bindparam("own_user"), and_(table.c.scope == "system", managed))
    return and_(sees, table.c.scope != "global", allowed)
