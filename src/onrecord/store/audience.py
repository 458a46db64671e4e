"""WHOSE eyes is a memory for? Its *audience*, a short text made from its scope: whoever holds it sees the row.

It stands on the row and on its postings, so that a search filters before it ranks. `visibility.py` says the same in SQL.
"""

from typing import Final

from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.model.memory import Memory

_GLOBAL: Final = "g"
_TENANT: Final = "t"
_PERSONA: Final = "p:"
_USER: Final = "u:"
SYSTEM: Final = "s:"
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
            return f"{SYSTEM}{memory.system}"
        case "session":
            return f"{_SESSION}{memory.conversation}"
        case "global":
            return _GLOBAL


def audiences_of(caller: Caller) -> list[str]:
    """The audiences a caller belongs to, apart from those of an admin and of `*`."""
    own = [_GLOBAL, _TENANT, _USER + caller.user]
    own += [_PERSONA + persona for persona in sorted(caller.personas)]
    own += [SYSTEM + system for system in sorted(caller.systems) if system != EVERY_SYSTEM]
    if caller.conversation is not None:
        own.append(_SESSION + caller.conversation)
    return own


def sees(caller: Caller, audience: str) -> bool:
    """The predicate of reading for what is searched in memory; rows found so are looked up with the one in SQL."""
    if caller.is_admin or audience in audiences_of(caller):
        return True
    return EVERY_SYSTEM in caller.systems and audience.startswith(SYSTEM)


def may_add(caller: Caller, memory: Memory) -> bool:
    """Whether a new memory is its maker's own and for its maker's eyes."""
    if caller.is_admin:
        return True
    seen = audience_of(memory) in audiences_of(caller)
    every = memory.scope == "system" and EVERY_SYSTEM in caller.systems
    return memory.scope != "global" and memory.owner == caller.user and (seen or every)
