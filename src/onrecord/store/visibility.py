"""WHO sees a row and its older versions, and who may change it? Every read, search and write uses these predicates."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Boolean,
    ColumnElement,
    FromClause,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    not_,
    or_,
)

from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.store.audience import (
    BETWEEN,
    GLOBAL,
    LATER,
    PERSONA,
    SESSION,
    SYSTEM,
    TENANT,
    USER,
    WAITING,
    audiences_of,
    waiting,
    waiting_audiences_of,
)
from onrecord.store.list_parameters import one_of
from onrecord.store.tables import TimestampColumn, conversation_members, conversations, memories, versions
from onrecord.store.temporal_filters import in_force_since
from onrecord.store.tenant import of_home


class Visibility(NamedTuple):
    """How a caller sees, apart from names; callers who see alike share their statements."""

    is_admin: bool
    sees_every_system: bool
    reviews: bool


def visibility_of(caller: Caller) -> Visibility:
    return Visibility(caller.is_admin, EVERY_SYSTEM in caller.systems, "memory.review" in caller.permissions)


def visibility_parameters(caller: Caller, begun: datetime | None = None) -> dict[str, Any]:
    """The names in the predicate, without those of the home; and when the caller's conversation began, if it did."""
    managed = sorted(system for system, grant in caller.systems.items() if grant == "manage")
    later = waiting_audiences_of(caller)
    return {
        "seen_audiences": [*audiences_of(caller), *(waiting(caller.user) + each for each in later)],
        "later_audiences": later,
        "plain_audiences": audiences_of(caller),
        "own_systems": waiting(caller.user) + SYSTEM,
        "own_user": caller.user,
        "managed_systems": managed,
        "manages_all": EVERY_SYSTEM in managed,
        "begun": begun or _NEVER,
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


def of_audience(table: FromClause) -> ColumnElement[bool]:
    """In addition to `visible`: rows of one audience, and those that wait to be."""
    audience, later = table.c.audience, bindparam("later", type_=Text)
    waits = audience.startswith(WAITING, autoescape=True)
    return or_(audience == later, and_(waits, func.substr(audience, LATER + 1, type_=Text) == later))


def visible_by_id(visibility: Visibility) -> ColumnElement[bool]:
    """The predicate of reading a memory by its id: what is visible, and what one left behind."""
    seen = visible(memories, visibility)
    return seen if visibility.is_admin else and_(of_home(memories), or_(seen, left_behind()))


def left_behind() -> ColumnElement[bool]:
    """Whether a memory is the caller's own, saved in another's conversation that they are no longer in.

    What is saved there stays for its members; its owner can still read and end it, by its id alone.
    """
    still_in = exists().where(
        conversations.c.tenant == bindparam("in_tenant"),
        conversations.c.created_by == memories.c.conversation_by,
        conversations.c.id == memories.c.conversation,
        conversation_members.c.tenant == bindparam("in_tenant"),
        conversation_members.c.conversation == conversations.c.row,
        conversation_members.c.user == bindparam("own_user"),
    )
    return and_(
        memories.c.owner == bindparam("own_user"),
        memories.c.scope == "session",
        # Of the owner's own conversation this says nothing.
        memories.c.conversation_by.is_not(None),
        not_(still_in),
    )


def past_visible(
    row: ColumnElement[int], visibility: Visibility, since: Callable[[FromClause], ColumnElement[bool]]
) -> Iterator[ColumnElement[bool]]:
    """The predicate of reading an old version, in addition to `visible`, which is about today.

    The caller must have been allowed to see that version and every later one; `since` selects them. So sharing a memory
    with more people shows them its present text only, and losing access to a memory hides all of its versions.
    """
    if not visibility.is_admin:
        hidden = not_(_was_visible(_LATER, visibility))
        yield not_(exists().where(of_home(_LATER), _LATER.c.row == row, since(_LATER), hidden))


def _was_visible(version: FromClause, visibility: Visibility) -> ColumnElement[bool]:
    """Whether the caller may see a version. Versions have no column `audience`, so other columns give it.

    It must never be null, because the caller of this function negates it.
    """
    audience = func.coalesce(_audience_then(version), "")
    own = version.c.owner == bindparam("own_user")
    every = audience.startswith(SYSTEM, autoescape=True)
    waits = or_(version.c.status == "pending", version.c.proposes.is_not(None))
    counted, waiting = (
        or_(one_of(audience, name), every) if visibility.sees_every_system else one_of(audience, name)
        for name in ("plain_audiences", "later_audiences")
    )
    here = _is_of_this_conversation(version)
    counted, waiting = and_(counted, here), and_(waiting, here)
    reviewed = waiting if visibility.reviews else and_(waiting, own)
    # An owner keeps access to their own versions, except in a system, which its readers see, and in a global memory, whose
    # owner may be a namesake in another tenant.
    return or_(
        and_(own, version.c.scope != "system", version.c.scope != "global"),
        case((waits, reviewed), else_=counted),
    )


def _is_of_this_conversation(version: FromClause) -> ColumnElement[bool]:
    """Whether a version of session scope is not of an earlier conversation, whose name and owner were the same.

    A deletion ends its memories, so versions in force after the caller's conversation began belong to it.
    """
    begun = bindparam("begun", type_=TimestampColumn)
    return or_(version.c.scope != "session", version.c.recorded_at >= begun, in_force_since(version, begun))


def _audience_then(version: FromClause) -> ColumnElement[Any]:
    """The same as `audience_of`, for a version, and as if it did not wait for review."""
    named = (
        ("user", USER, version.c.owner),
        ("persona", PERSONA, version.c.persona),
        ("system", SYSTEM, version.c.system),
        ("session", SESSION, whose(version).concat(BETWEEN).concat(version.c.conversation)),
    )
    return case(
        (version.c.scope == "tenant", TENANT),
        (version.c.scope == "global", GLOBAL),
        *((version.c.scope == scope, literal(letter).concat(name)) for scope, letter, name in named),
    )


def whose(record: FromClause) -> ColumnElement[str]:
    """Who began the conversation of a memory: its owner, unless it says another."""
    return func.coalesce(record.c.conversation_by, record.c.owner)


def changeable(table: FromClause, visibility: Visibility) -> ColumnElement[bool]:
    """The predicate of changing, always on top of seeing: the owner, an admin, or a system's manager.

    Global memories have no owner in a tenant: those who may change them count as admins there (`Caller.among`).
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


#: After every version: a conversation that is not there has no past.
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_LATER: Final = versions.alias("later")
