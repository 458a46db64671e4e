"""WHAT may a caller do with a memory that they see? The same rules by which a change is let through or refused."""

from typing import Final, Literal

from onrecord.model.caller import Caller
from onrecord.model.ledger import TenantSettings
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.model.memory import Memory
from onrecord.model.tiers import AGENTS, is_outranked

#: What one may do with a memory. `propose` says that what one does waits for a person, since the text is of a higher tier.
Right = Literal["revise", "retire", "forget", "propose"]
_COMMON: Final = ("tenant", "persona")


def is_common(memory: Memory, settings: TenantSettings, *, ends: bool = False) -> bool:
    """Whether the tenant allows this change to others than the owner; systems have their managers."""
    if memory.scope not in _COMMON or memory.waits:
        return False
    shared = settings.agents_share and memory.origin in AGENTS and memory.approved_by is None
    return shared or (ends and settings.members_retire)


def rights_of(caller: Caller, memory: Memory, settings: TenantSettings) -> tuple[Right, ...]:
    """What a caller may do with a memory that they see."""
    if "memory.manage" not in caller.permissions:
        return ()
    changes = _changes(caller.among(GLOBAL_TENANT) if memory.scope == "global" else caller, memory)
    rights: list[Right] = []
    if memory.is_live and (changes or is_common(memory, settings)):
        rights.append("revise")
    if memory.is_live and (changes or is_common(memory, settings, ends=True)):
        rights.append("retire")
    if _erases(caller, memory) and (changes or is_common(memory, settings)):
        rights.append("forget")
    if rights and is_outranked(caller, memory, settings.agents_share):
        rights.append("propose")
    return tuple(rights)


def _changes(caller: Caller, memory: Memory) -> bool:
    """Whether the memory is the caller's to change."""
    if caller.is_admin or memory.scope == "global":
        return caller.is_admin
    return memory.owner == caller.user or (memory.scope == "system" and caller.manages(memory.system or ""))


def _erases(caller: Caller, memory: Memory) -> bool:
    if caller.actor == "unattended":
        return False
    return memory.scope != "system" or caller.is_admin or caller.manages(memory.system or "")
