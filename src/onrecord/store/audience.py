"""WHOSE eyes is a memory for? Its *audience*, a short text made from its scope: whoever holds it sees the row.

It stands on the row and on its postings, so that a search filters before it ranks. `visibility.py` says the same in SQL.
What waits for review is for its owner and for reviewers, as far as they would see it afterwards; its audience says whose it
is before it says for whom it will be.
"""

from hashlib import blake2b
from typing import Final

from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.model.memory import Memory

GLOBAL: Final = "g"
TENANT: Final = "t"
PERSONA: Final = "p:"
USER: Final = "u:"
SYSTEM: Final = "s:"
SESSION: Final = "c:"
WAITING: Final = "?"
#: An owner takes the same room whatever the name, so that what follows can be found by its place.
_OWNER_BYTES: Final = 16
#: Where the audience that it will have begins, in what waits.
LATER: Final = len(WAITING) + 2 * _OWNER_BYTES


def audience_of(memory: Memory) -> str:
    """Whose eyes a memory is for. One letter decides; the rest is the name as it is, so nothing can be forged."""
    return waiting(memory.owner) + _later(memory) if memory.waits else _later(memory)


def _later(memory: Memory) -> str:
    """For whom it is, once it counts."""
    match memory.scope:
        case "tenant":
            return TENANT
        case "user":
            return f"{USER}{memory.owner}"
        case "persona":
            return f"{PERSONA}{memory.persona}"
        case "system":
            return f"{SYSTEM}{memory.system}"
        case "session":
            return f"{SESSION}{memory.conversation}"
        case "global":
            return GLOBAL


def waiting(owner: str) -> str:
    """How the audience of what waits begins, by whose it is."""
    return WAITING + blake2b(owner.encode(), digest_size=_OWNER_BYTES).hexdigest()


def audiences_of(caller: Caller) -> list[str]:
    """The audiences a caller belongs to, apart from those of an admin and of `*`, and from what waits."""
    own = [GLOBAL, TENANT, USER + caller.user]
    own += [PERSONA + persona for persona in sorted(caller.personas)]
    own += [SYSTEM + system for system in sorted(caller.systems) if system != EVERY_SYSTEM]
    if caller.conversation is not None:
        own.append(SESSION + caller.conversation)
    return own


def waiting_audiences_of(caller: Caller) -> list[str]:
    """Those of which the caller sees what waits: all but the global one, which those see to who may change it."""
    return [audience for audience in audiences_of(caller) if audience != GLOBAL]


def sees(caller: Caller, audience: str) -> bool:
    """The predicate of reading for what is searched in memory; rows found so are looked up with the one in SQL."""
    if caller.is_admin:
        return True
    held = audiences_of(caller)
    if audience.startswith(WAITING):
        if "memory.review" not in caller.permissions and not audience.startswith(waiting(caller.user)):
            return False
        audience, held = audience[LATER:], waiting_audiences_of(caller)
    return audience in held or (EVERY_SYSTEM in caller.systems and audience.startswith(SYSTEM))


def may_add(caller: Caller, memory: Memory) -> bool:
    """Whether a new memory is its maker's own and for its maker's eyes."""
    if memory.scope == "global":
        return caller.changes_global
    if caller.is_admin:
        return True
    seen = _later(memory) in audiences_of(caller)
    every = memory.scope == "system" and EVERY_SYSTEM in caller.systems
    return memory.owner == caller.user and (seen or every)
