"""WHICH conversation is spoken of? The one that is named, or else the caller's own."""

from dataclasses import replace
from typing import Final

from onrecord.errors import Fault, Invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import CHANGE_GLOBAL

_FIELD: Final = "conversation"


def inside(caller: Caller, named: str | None) -> Caller:
    """The caller in that conversation. Whoever speaks in one already cannot name its way into another."""
    if named is None or named == caller.conversation:
        return caller
    if caller.conversation is not None and not caller.is_admin:
        raise Invalid([Fault(_FIELD, "is another than the one this caller speaks in; leave it out")])
    return caller.inside(named)


def needed(caller: Caller, named: str | None) -> str:
    """The name of the conversation, where nothing can be done without one."""
    spoken_in = inside(caller, named).conversation
    if spoken_in is None:
        raise Invalid(
            [Fault(_FIELD, "is required: turns are kept by conversation, and the caller is in none")]
        )
    return spoken_in


def for_own_eyes(caller: Caller) -> Caller:
    """The same caller without an admin's eyes: what is told unasked is what is meant for them."""
    return replace(caller, permissions=caller.permissions - {"memory.admin", CHANGE_GLOBAL})
