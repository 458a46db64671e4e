"""WHICH conversation is meant? The named one, or else the caller's own."""

from dataclasses import replace
from typing import Final

from onrecord.errors import Fault, Invalid
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import key_of
from onrecord.model.limits import CHANGE_GLOBAL

_FIELD: Final = "conversation"


def inside(caller: Caller, named: str | None) -> Caller:
    """The caller in that conversation. A caller that is in one already cannot move to another, not even an admin: the name may
    be a model's argument.
    """
    if named is None or key_of(named, caller.user) == caller.spoken_in:
        return caller
    if caller.conversation is not None:
        raise Invalid([Fault(_FIELD, "is not the conversation that this caller is in; leave it out")])
    return caller.inside(named)


def needed(caller: Caller, named: str | None) -> str:
    """The name of the conversation, for operations that need one."""
    spoken_in = inside(caller, named).conversation
    if spoken_in is None:
        raise Invalid(
            [Fault(_FIELD, "is required: turns belong to a conversation, and the caller is in none")]
        )
    return spoken_in


def for_own_eyes(caller: Caller) -> Caller:
    """The same caller without an admin's and a reviewer's view: agents get only what is meant for their user.

    It is about what they see. An admin is in another's conversation by naming it, and stays in it.
    """
    permissions = caller.permissions - {"memory.admin", "memory.review", CHANGE_GLOBAL}
    return replace(caller, permissions=permissions, is_admin_aside=caller.enters_all)
