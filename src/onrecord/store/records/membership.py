"""WHICH conversation does a name mean, and who is in it? Its owner, those it was shared with, and admins.

A name alone means the caller's own; `~OWNER/NAME` means another user's, for its members. So naming a conversation does
not join it, and sharing does not change what a user's own names mean. This is looked up once, when a reading or a
writing opens, and only for a caller who is in a conversation.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    bindparam,
    exists,
    literal,
    or_,
    select,
    union,
)

from onrecord.model.caller import Caller
from onrecord.model.conversation_names import explicit, keys_of, plain
from onrecord.model.workspace import ConversationKey
from onrecord.store.ports.workspace import NamedConversation
from onrecord.store.tables import conversation_members, conversations


def spoken_in(connection: Connection, tenant: int, caller: Caller) -> tuple[Caller, NamedConversation | None]:
    """The caller in the conversation that they name, and that conversation."""
    if caller.conversation is None:
        return caller, None
    if caller.conversation_by is None:
        meant = named(connection, tenant, caller, caller.conversation)
    else:
        key = ConversationKey(caller.conversation_by, caller.conversation)
        meant = _first(connection, tenant, caller, [key])
    return caller.inside(meant.key.id, meant.key.by), meant


def named(connection: Connection, tenant: int, caller: Caller, name: str) -> NamedConversation:
    """What a name means for a caller; see `Workspace.named`."""
    return _first(connection, tenant, caller, keys_of(name, caller.user))


def _first(
    connection: Connection, tenant: int, caller: Caller, keys: Sequence[ConversationKey]
) -> NamedConversation:
    """The first of these conversations that the caller is a member of; else one of their own that is not there."""
    asked: dict[str, Any] = {"in_tenant": tenant, "member": caller.user}
    for number, key in enumerate(keys):
        asked |= {f"by_{number}": key.by, f"id_{number}": key.id}
    rows = connection.execute(_keyed(caller.enters_all, len(keys)), asked)
    begun = {ConversationKey(by, id): at for by, id, at in rows}
    own = plain(keys[0]) if keys[0].by == caller.user else ConversationKey(caller.user, explicit(keys[0]))
    key = next((each for each in keys if each in begun), own)
    return NamedConversation(key, begun.get(key))


@cache
def _keyed(enters_all: bool, keys: int) -> Select[Any]:
    """Conversations by who began them and their names, which is a look at one index for each."""
    these = [
        and_(
            conversations.c.created_by == bindparam(f"by_{number}", type_=Text),
            conversations.c.id == bindparam(f"id_{number}", type_=Text),
        )
        for number in range(keys)
    ]
    return select(conversations.c.created_by, conversations.c.id, conversations.c.created_at).where(
        conversations.c.tenant == bindparam("in_tenant"), or_(*these), has_member(enters_all)
    )


def has_member(enters_all: bool = False, user: str = "member") -> ColumnElement[bool]:
    """Whether a user is in a conversation: the parameter `member`, or another."""
    if enters_all:
        return literal(True)
    return or_(conversations.c.created_by == bindparam(user, type_=Text), _was_shared(user))


def of_member(*wanted: ColumnElement[bool]) -> Select[Any]:
    """The wanted conversations that the user `member` began or that were shared with them, starting from that user:
    what others keep in the tenant costs nothing.
    """
    tenant: ColumnElement[Any] = bindparam("in_tenant")
    member: ColumnElement[Any] = bindparam("member", type_=Text)
    there = and_(
        conversations.c.tenant == conversation_members.c.tenant,
        conversations.c.row == conversation_members.c.conversation,
    )
    own = select(conversations).where(conversations.c.tenant == tenant, conversations.c.created_by == member)
    shared = (
        select(conversations)
        .join_from(conversation_members, conversations, there)
        .where(conversation_members.c.tenant == tenant, conversation_members.c.user == member)
    )
    both = union(own.where(*wanted), shared.where(*wanted)).subquery("mine")
    return select(both)


def _was_shared(user: str) -> ColumnElement[bool]:
    """Whether a conversation was shared with a user."""
    return exists().where(
        and_(
            conversation_members.c.tenant == conversations.c.tenant,
            conversation_members.c.conversation == conversations.c.row,
            conversation_members.c.user == bindparam(user, type_=Text),
        )
    )
