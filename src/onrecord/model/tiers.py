"""WHO may change a text? Its tier says how far its author is trusted, and a lower tier can only propose.

The tier of a memory follows from the author of its present text and from whether a person has approved that text; it
is not stored. A caller of a lower tier never changes what a higher one wrote or approved, but proposes a change.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from onrecord.model.caller import Caller
from onrecord.model.checks import proposed
from onrecord.model.limits import SHARED_SCOPES, TIERS, Actor, Origin, Tier
from onrecord.model.memory import Memory, Version, unproven, with_checks

#: The words for each tier in messages, and for each actor.
WORDS: Final[Mapping[Tier, str]] = {
    "approved": "approved by a person",
    "person": "by a person",
    "agent": "by an agent",
    "unattended": "by an unattended run",
    "tool": "by a tool",
    "import": "imported",
}
ACTING: Final[Mapping[Actor, str]] = {
    "person": "a person who does not review",
    "agent": "an agent",
    "unattended": "an unattended run",
}
#: What agents write, attended or not: one tier if the tenant's settings say so.
AGENTS: Final = frozenset({"agent", "unattended"})


def rank(tier: str) -> int:
    """The rank of a tier: 0 is the highest."""
    return TIERS.index(tier)


def approves(caller: Caller, memory: Memory) -> bool:
    """Whether this caller may approve this memory, or already did."""
    if caller.actor != "person":
        return False
    return "memory.review" in caller.permissions or memory.approved_by == caller.user


def is_outranked(caller: Caller, memory: Memory, agents_share: bool = False) -> bool:
    """Whether the text of a memory is of a higher tier than this caller, who may then only propose a change.

    An unattended run changes nothing shared at once, not even of its own tier, since what it shares waits for review.
    Where a surface lets its changes count at once, or the tenant's agents share one tier, the tier alone decides.
    """
    if approves(caller, memory):
        return False
    if agents_share and caller.actor in AGENTS and memory.tier in AGENTS:
        return False
    if caller.actor == "unattended" and not caller.active_at_once:
        return (memory.scope in SHARED_SCOPES and not memory.waits) or rank("unattended") > rank(memory.tier)
    return rank(caller.actor) > rank(memory.tier)


def written(before: Memory, after: Memory, caller: Caller, now: datetime) -> Memory:
    """The memory after a change by this caller, with the author of its present text.

    A new text has a new author and is not approved yet; nor are new edits. If someone who may approve changes what is
    approved, it stays approved, by them; of edits, only if they review.
    """
    after = unproven(before, after, caller)
    if after.content == before.content and after.edits == before.edits:
        return after
    if after.content != before.content:
        after = replace(after, author=caller.user, origin=caller.actor)
    if before.approved_by is None or after.approved_at != before.approved_at:
        return after
    reviews = "memory.review" in caller.permissions
    stays = approves(caller, before) and (reviews or after.edits == before.edits)
    return replace(after, approved_by=caller.user if stays else None, approved_at=now if stays else None)


def lowered(version: Version, caller: Caller) -> Version:
    """A version from outside, with at most the tier of the caller who brings it."""
    if caller.actor == "person":
        return version
    most = rank(caller.actor)
    memory = version.memory
    # Only a person may mark a memory for every context.
    memory = replace(memory, always_inject=False)
    # Only a person lets a check run.
    memory = with_checks(memory, map(proposed, memory.checks))
    if rank(memory.tier) < most:
        claims = {"approved_by": None, "approved_at": None, "origin": _at_most(memory.origin, caller)}
        memory = replace(memory, **claims)  # type: ignore[arg-type]
    return replace(version, memory=memory, origin=_at_most(version.origin, caller))


def _at_most(origin: Origin, caller: Caller) -> Origin:
    return caller.actor if rank(origin) < rank(caller.actor) else origin


def credited(versions: Iterable[Version]) -> Iterator[Version]:
    """The versions of a memory in order, each with the author of its text. Older versions that do not know their
    author have an empty name.

    The first text is by the memory's own author; a later text is by the user who made its version. A text
    from a file, an import or a source is by the author that it names.
    """
    author, origin, text = "", "import", None
    for version in versions:
        memory = version.memory
        if memory.author:
            author, origin = memory.author, memory.origin
        elif memory.content != text:
            says_itself = text is None or version.origin == "import" or version.change == "ingest"
            author, origin = (memory.owner, memory.origin) if says_itself else (version.by, version.origin)
        text = memory.content
        if memory.author:
            yield version
        else:
            yield replace(version, memory=replace(memory, author=author, origin=origin))  # type: ignore[arg-type]
