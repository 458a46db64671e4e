"""WHICH conversation does a name mean, and who is in it? Whoever began it, those it was shared with, and admins.

A conversation is known by who began it and its name, so naming one is not joining it: what a name means depends on who
says it. This is asked once where a reading or a writing is opened, and only for a caller who is in a conversation.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, Text, and_, bindparam, exists, literal, or_, select

from onrecord.errors import Fault, Invalid
from onrecord.model.caller import Caller
from onrecord.model.ids import plain_conversation
from onrecord.model.workspace import ConversationKey
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.workspace import NamedConversation
from onrecord.store.rows import AnyRow
from onrecord.store.tables import conversation_members, conversations

#: Between who began a conversation and its name, where someone says whose they mean.
_WHOSE: Final = "/"
#: So many of those that a name may mean are listed in an error.
_MOST_NAMED: Final = 5


def spoken_in(connection: Connection, tenant: int, caller: Caller) -> tuple[Caller, NamedConversation | None]:
    """The caller in the conversation that they name, and that conversation."""
    if caller.conversation is None:
        return caller, None
    if caller.conversation_by is None:
        meant = named(connection, tenant, caller, caller.conversation)
    else:
        meant = _exactly(
            connection, tenant, caller, ConversationKey(caller.conversation_by, caller.conversation)
        )
    return caller.inside(meant.key.id, meant.key.by), meant


def named(connection: Connection, tenant: int, caller: Caller, name: str) -> NamedConversation:
    """What a name means for a caller; see `Workspace.named`."""
    plain = plain_conversation(name)
    parts = plain.split(_WHOSE)
    endings = [_WHOSE.join(parts[at:]) for at in range(len(parts))]
    found = _those(connection, tenant, caller, endings)
    same = [row for row in found if row.id == plain]
    for meant in (
        [row for row in same if row.created_by == caller.user],
        [row for row in found if f"{row.created_by}{_WHOSE}{row.id}" == plain],
        [row for row in same if row.is_shared],
    ):
        if len(meant) > 1:
            raise _ambiguous(plain, meant)
        if meant:
            return _told(meant[0])
    if len(same) > 1:
        raise _ambiguous(plain, same)
    if same:
        return _told(same[0])._replace(as_admin=True)
    return NamedConversation(ConversationKey(caller.user, plain))


def _exactly(connection: Connection, tenant: int, caller: Caller, key: ConversationKey) -> NamedConversation:
    """A conversation whose key is known, if the caller is a member of it; else one of their own."""
    for row in _those(connection, tenant, caller, [key.id]):
        if (row.created_by, row.id) == key:
            return _told(row)
    return NamedConversation(ConversationKey(caller.user, key.id))


def _told(row: AnyRow) -> NamedConversation:
    return NamedConversation(ConversationKey(row.created_by, row.id), row.created_at)


def _those(connection: Connection, tenant: int, caller: Caller, names: Sequence[str]) -> Sequence[AnyRow]:
    asked = {"in_tenant": tenant, "names": list(names), "member": caller.user}
    return connection.execute(_by_name(caller.is_admin), asked).all()


@cache
def _by_name(is_admin: bool) -> Select[Any]:
    return select(
        conversations.c.id,
        conversations.c.created_by,
        conversations.c.created_at,
        was_shared().label("is_shared"),
    ).where(
        conversations.c.tenant == bindparam("in_tenant"),
        one_of(conversations.c.id, "names"),
        has_member(is_admin),
    )


def has_member(is_admin: bool) -> ColumnElement[bool]:
    """Whether the user `member` is in a conversation."""
    if is_admin:
        return literal(True)
    return or_(conversations.c.created_by == bindparam("member", type_=Text), was_shared())


def was_shared() -> ColumnElement[bool]:
    """Whether a conversation was shared with the user `member`."""
    return exists().where(
        and_(
            conversation_members.c.tenant == conversations.c.tenant,
            conversation_members.c.conversation == conversations.c.row,
            conversation_members.c.user == bindparam("member", type_=Text),
        )
    )


def _ambiguous(name: str, meant: Sequence[AnyRow]) -> Invalid:
    whose = " or ".join(sorted(f"{row.created_by}{_WHOSE}{row.id}" for row in meant)[:_MOST_NAMED])
    return Invalid(
        [Fault("conversation", f"{name!a} is the name of several that you are a member of: say {whose}")]
    )
