"""WHO may see a memory? Its *audience*, a short text made from its scope: callers in it see the row.

The row and its postings hold it, so that a search filters before it ranks. `visibility.py` says the same in
SQL. A memory that waits for review is for its owner, and for those reviewers who would see it afterwards; its
audience names the owner first and then its later audience.
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
#: Between who began a conversation and its name: no name has it.
BETWEEN: Final = "\n"
WAITING: Final = "?"
#: An owner takes the same room whatever the name, so that what follows can be found by its place.
_OWNER_BYTES: Final = 16
#: Where the audience that it will have begins, in what waits.
LATER: Final = len(WAITING) + 2 * _OWNER_BYTES


def audience_of(memory: Memory) -> str:
    """The audience of a memory. One letter gives the kind; the rest are unchanged names, so nothing can be forged."""
    return waiting(memory.owner) + later_audience(memory) if memory.waits else later_audience(memory)


def later_audience(memory: Memory) -> str:
    """The audience of a memory once it is approved."""
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
            assert memory.pinned is not None
            return _session(*memory.pinned)
        case "global":
            return GLOBAL


def once_approved(audience: str) -> str:
    """The audience that a waiting memory will have; any other as it is."""
    return audience[LATER:] if audience.startswith(WAITING) else audience


def _session(by: str, conversation: str) -> str:
    """The audience of a conversation: who began it, and its name, which both are one line."""
    return f"{SESSION}{by}{BETWEEN}{conversation}"


def waiting(owner: str) -> str:
    """The beginning of the audience of a waiting memory, which names its owner."""
    return WAITING + blake2b(owner.encode(), digest_size=_OWNER_BYTES).hexdigest()


def audiences_of(caller: Caller) -> list[str]:
    """The audiences of a caller, except those of an admin, of `*` and of waiting memories."""
    own = [GLOBAL, TENANT, USER + caller.user]
    own += [PERSONA + persona for persona in sorted(caller.personas)]
    own += [SYSTEM + system for system in sorted(caller.systems) if system != EVERY_SYSTEM]
    if caller.conversation is not None:
        own.append(_session(caller.conversation_by or caller.user, caller.conversation))
    return own


def waiting_audiences_of(caller: Caller) -> list[str]:
    """The audiences whose waiting memories the caller sees: all but the global one, reviewed by those who may change it."""
    return [audience for audience in audiences_of(caller) if audience != GLOBAL]


def sees(caller: Caller, audience: str) -> bool:
    """The predicate of reading for searches in memory; the rows they find are read through the same predicate in SQL."""
    if caller.is_admin:
        return True
    held = audiences_of(caller)
    if audience.startswith(WAITING):
        if "memory.review" not in caller.permissions and not audience.startswith(waiting(caller.user)):
            return False
        audience, held = audience[LATER:], waiting_audiences_of(caller)
    return audience in held or (EVERY_SYSTEM in caller.systems and audience.startswith(SYSTEM))


def may_add(caller: Caller, memory: Memory) -> bool:
    """Whether a new memory belongs to its maker, who can also see it."""
    if memory.scope == "global":
        return caller.changes_global
    if caller.is_admin:
        return True
    seen = later_audience(memory) in audiences_of(caller)
    every = memory.scope == "system" and EVERY_SYSTEM in caller.systems
    return memory.owner == caller.user and (seen or every)
