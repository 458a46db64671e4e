"""WHAT stops being true with it? The memories that a save supersedes are retired in the same transaction."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from onrecord.errors import Conflict, HigherTier, invalid, no_memory
from onrecord.model.limits import NEIGHBOUR_LIMIT
from onrecord.model.memory import Change, Memory, Proposal
from onrecord.model.tiers import WORDS
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.remember.scrub import scrub_reason
from onrecord.store.audience import GLOBAL, TENANT, audience_of
from onrecord.store.ports.filters import RelationWalk
from onrecord.store.ports.records import Writing

#: The change that ends a repeated proposal, which is not brought back.
_REPEAT: Final = "repeat"
#: The fields that the end of a memory changes.
_ENDED: Final = ("status", "status_reason", "valid_to", "proposes")


def defer(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Let a save wait that would end a memory of a higher tier; a save that waits ends nothing yet."""
    new, olds = draft.ready, [writing.named(id, ends=True) for id in draft.supersedes]
    higher = [old for old in olds if writing.is_outranked(old)]
    if not higher and (not olds or new.status != "pending"):
        return draft
    if draft.held is not None:
        raise HigherTier(
            f"The text of memory {(higher or olds)[0].id} is {WORDS[(higher or olds)[0].tier]}, so this can only be "
            f"proposed, and memory {new.id} exists already: save it without that id."
        )
    ids, versions = tuple(old.id for old in olds), tuple(old.version for old in olds)
    proposal = Proposal(change="supersede", of=ids, versions=versions)
    return replace(draft, memory=replace(new, status="pending", proposes=proposal))


def supersede(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Retire the superseded memories. One id that cannot be superseded fails the whole save. A save that waits ends
    nothing yet.
    """
    draft = _end_repeated(draft, writing)
    new = draft.ready
    olds = [writing.named(id, ends=True) for id in draft.supersedes]
    if any(old.id == new.id for old in olds):
        # The save names its own new id, which did not exist before.
        raise no_memory(new.id)
    if olds and new.valid_from > draft.now:
        # Checked here, since the time may come from the memory that the save updates.
        raise invalid("valid_from", "must not be in the future when the memory supersedes others")
    retired = [old.id for old in olds if not old.is_live]
    if retired:
        raise Conflict(f"Already retired: {', '.join(retired)}. Name only memories that are still live.")
    if any(old.tenant != new.tenant for old in olds):
        raise invalid("supersedes", "a global memory can only be superseded by a global one, and the reverse")
    if new.status == "pending":
        return draft
    for old in olds:
        end_by(writing, new, old, draft.change("supersede"))
    return replace(draft, superseded=(*draft.superseded, *(old.id for old in olds)))


def _end_repeated(draft: SaveDraft, writing: Writing) -> SaveDraft:
    """End pending memories that this one repeats in almost the same words, so that only one needs review. They stay
    ended if this one is rejected.
    """
    for id in draft.repeats:
        end_by(writing, draft.ready, writing.named(id, ends=True), draft.change(_REPEAT))
    return replace(draft, superseded=(*draft.superseded, *draft.repeats))


def end_by(writing: Writing, new: Memory, old: Memory, change: Change, how: str = "") -> None:
    """Retire a memory that another one replaces; `how` is added to the reason."""
    writing.relate(new, "supersedes", old, change)
    end(writing, old, "superseded", new.valid_from, superseded_by(new, old) + how, change)


def brought_back(writing: Writing, new: Memory, change: Change) -> Iterator[Memory]:
    """What a memory superseded, as it was before, now that this no longer counts; what was forgotten since stays
    forgotten, and what has changed since stays as it is.
    """
    walk = RelationWalk(new.id, relations=("supersedes",), direction="out", limit=NEIGHBOUR_LIMIT)
    for edge in writing.relations.around(new, walk):
        old = writing.reviewable(edge.memory.id)
        # Its references may have changed since it ended.
        versions = writing.versions(old.id)
        earlier = [each.memory for each in versions if each.memory.is_live]
        if any(each.change == _REPEAT for each in versions):
            continue
        if earlier and old.status_reason in (_by(new.id), _BY_ANOTHER):
            before = {name: getattr(earlier[-1], name) for name in _ENDED}
            writing.unrelate(new, "supersedes", old, change)
            yield writing.replace(
                old, replace(old, **before, updated_at=max(change.at, old.updated_at)), change
            )


def superseded_by(new: Memory, old: Memory) -> str:
    """Why a memory ended. Whoever sees only this one is not told the id of the other."""
    is_told = audience_of(new) in (TENANT, GLOBAL, audience_of(old))
    return _by(new.id) if is_told else _BY_ANOTHER


def _by(what: str) -> str:
    return f"superseded by {what}"


_BY_ANOTHER: Final = _by("another memory")


def end(
    writing: Writing, memory: Memory, status: str, at: datetime, reason: str | None, change: Change
) -> Memory:
    """Close a memory's window; if it became true only after its end, it was never true.

    A memory that waited for review and never counted stays visible to its owner and reviewers alone.
    """
    waited = Proposal(change="save") if memory.status == "pending" else None
    ended = replace(
        memory,
        proposes=memory.proposes or waited,
        status=status,  # type: ignore[arg-type]
        status_reason=scrub_reason(reason),
        valid_to=max(at, memory.valid_from),
        updated_at=max(change.at, memory.updated_at),
    )
    return writing.replace(memory, ended, change)
