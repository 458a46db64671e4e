"""WHO may see what is saved? A scope with the names that it needs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from onrecord.errors import Fault
from onrecord.model import limits
from onrecord.model.caller import GLOBAL_IS_GIVEN, Caller
from onrecord.model.conversation_names import key_of
from onrecord.model.limits import Scope
from onrecord.model.unset import given
from onrecord.model.workspace import ConversationKey

if TYPE_CHECKING:
    from onrecord.remember.remember import Remember


class Placement(NamedTuple):
    """A scope with the names that it needs; together they say who may see a memory."""

    scope: Scope
    persona: str | None = None
    system: str | None = None
    conversation: ConversationKey | None = None


def placement_of(ask: "Remember", caller: Caller) -> Placement:
    """The placement of a save; what was left out comes from the caller."""
    named = given(ask.conversation, caller.conversation)
    scope = given(ask.scope, limits.DEFAULT_SCOPE)
    only_persona = next(iter(caller.personas)) if len(caller.personas) == 1 else None
    return Placement(
        scope=scope,
        persona=given(ask.persona, only_persona if scope == "persona" else None),
        system=given(ask.system, None),
        conversation=None if named is None else key_of(named, caller.user),
    )


def placement_faults(placement: Placement, caller: Caller) -> Iterator[Fault]:
    """Why this caller may not save into this placement."""
    if placement.scope == "global" and not caller.changes_global:
        yield Fault("scope", f"saving for every tenant {GLOBAL_IS_GIVEN}; use tenant")
    if placement.scope == "persona" and placement.persona is None:
        yield Fault("persona", "is required when scope is persona")
    if placement.persona is not None and not (caller.is_admin or placement.persona in caller.personas):
        yield Fault("persona", f"{placement.persona!a} is not a persona of this caller")
    if placement.scope == "system" and placement.system is None:
        yield Fault("system", "is required when scope is system")
    if placement.system is not None and not (caller.is_admin or caller.reads(placement.system)):
        yield Fault("system", f"{placement.system!a} is not a system this caller has access to")
    if placement.scope == "session" and placement.conversation is None:
        yield Fault("conversation", "is required when scope is session")
    if (
        placement.scope == "session"
        and placement.conversation not in (None, caller.spoken_in)
        and not caller.is_admin
    ):
        yield Fault("conversation", "a session memory can only be saved from inside its conversation")
