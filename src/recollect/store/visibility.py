"""WHO sees a row, and who may change it? The one predicate that every read, search and write uses.

A memory's *audience* is a short text made from its scope: whoever holds one of a caller's audiences sees the row.
It stands on the row and on its postings, so that a search filters before it ranks.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Boolean, ColumnElement, FromClause, and_, bindparam, or_

from recollect.model.caller import EVERY_SYSTEM, Caller
from recollect.model.memory import Memory
from recollect.store.several import one_of

_GLOBAL: Final = "g"
_TENANT: Final = "t"
_PERSONA: Final = "p:"
_USER: Final = "u:"
_SYSTEM: Final = "s:"
_SESSION: Final = "c:"


def audience_of(memory: Memory) -> str:
    """Whose eyes a memory is for. One letter decides; the rest is the name as it is, so nothing can be forged."""
    match memory.scope:
        case "tenant":
            return _TENANT
        case "user":
            return f"{_USER}{memory.owner}"
        case "persona":
            return f"{_PERSONA}{memory.persona}"
        case "system":
            return f"{_SYSTEM}{memory.system}"
        case "session":
            return f"{_SESSION}{memory.conversation}"
        case "global":
            return _GLOBAL


def audiences_of(caller: Caller) -> list[str]:
    """The audiences a caller belongs to, apart from those of an admin and of `*`."""
    own = [_GLOBAL, _TENANT, _USER + caller.user]
    own += [_PERSONA + persona for persona in sorted(caller.personas)]
    own += [_SYSTEM + system for system in sorted(caller.systems) if system != EVERY_SYSTEM]
    if caller.conversation is not None:
        own.append(_SESSION + caller.conversation)
    return own


def sees(caller: Caller, audience: str) -> bool:
    """The predicate of reading for what is searched in memory; rows found so are looked up with the one in SQL."""
    if caller.is_admin or audience in audiences_of(caller):
        return True
    return EVERY_SYSTEM in caller.systems and audience.startswith(_SYSTEM)


def may_add(caller: Caller, memory: Memory) -> bool:
    """Whether a new memory is its maker's own and for its maker's eyes."""
    if caller.is_admin:
        return True
    seen = audience_of(memory) in audiences_of(caller)
    every = memory.scope == "system" and EVERY_SYSTEM in caller.systems
    return memory.scope != "global" and memory.owner == caller.user and (seen or every)


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
        own = or_(own, table.c.audience.startswith(_SYSTEM, autoescape=True))
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
