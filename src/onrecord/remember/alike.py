"""IS it a near duplicate? Memories of the owner for the same readers that say nearly the same are listed, or superseded.

Vectors find what is near. They do not distinguish a paraphrase from another number, another name or the opposite, so nothing
is superseded unless the words agree too.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Final

from onrecord.errors import StoreUnavailable
from onrecord.model.embedding import embedded_text
from onrecord.model.findings import Similar
from onrecord.model.limits import DIGITS_OF_LIKENESS
from onrecord.model.memory import Memory
from onrecord.providers.embedding import likeness_of, score_of
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Alike, Writing
from onrecord.text.wording import is_same_wording

#: The lowest likeness to list a memory, and to treat it as possibly the same. docs/evals.md has the figures.
LISTED_FROM: Final = 0.65
SAME_FROM: Final = 0.85
_MOST_LISTED: Final = 5


def compare(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Look for what is near, and choose what the save supersedes."""
    if draft.ask.alike == "keep" or tools.embedder is None or draft.model is None:
        return draft
    least = score_of(LISTED_FROM, tools.embedder)
    try:
        found = writing.alike(draft.ready, draft.model, draft.passages, least=least)
    except StoreUnavailable as damage:
        return replace(draft, degraded=(*draft.degraded, f"compare: {damage}"))
    itself = {draft.ready.id, draft.duplicate.id if draft.duplicate else "", *draft.named}
    alike = tuple(
        each._replace(score=likeness_of(each.score, tools.embedder))
        for each in found
        if each.memory.id not in itself
    )
    same = _replaced(draft, writing, alike)
    return replace(
        draft,
        alike=alike,
        replaces=tuple(each.id for each in same if each.status != "pending"),
        repeats=tuple(each.id for each in same if each.status == "pending"),
    )


def _replaced(draft: SaveDraft, writing: Writing, alike: tuple[Alike, ...]) -> list[Memory]:
    """The memories that a new one supersedes: pending ones only if it is pending too, and none of a higher tier."""
    new = draft.ready
    if draft.ask.alike != "supersede" or draft.duplicate is not None or new.valid_from > draft.now:
        return []
    same = [
        each.memory
        for each in alike
        if (each.memory.status in ("active", "stale") or _both_wait(new, each.memory))
        and each.memory.valid_from <= new.valid_from
        and says_the_same(new, each)
        and not writing.is_outranked(each.memory)
    ]
    return same if draft.held is None else []


def _both_wait(new: Memory, old: Memory) -> bool:
    """Whether both wait to be saved, and change no other memory."""
    waiting = (new.proposes, old.proposes) if new.status == old.status == "pending" else ()
    return bool(waiting) and all(each is not None and not each.of for each in waiting)


def says_the_same(new: Memory, old: Alike) -> bool:
    """Whether a near memory says the very same about the same things, so that nothing is lost with it."""
    texts = embedded_text(new), embedded_text(old.memory)
    return is_about_the_same(new, old.memory) and is_same_text(*texts, old.score)


def is_same_text(one: str, other: str, likeness: float) -> bool:
    return likeness >= SAME_FROM and is_same_wording(one, other)


def is_about_the_same(new: Memory, old: Memory) -> bool:
    """Whether two memories agree in all that they refer to and propose."""
    return all(
        getattr(new, name) == getattr(old, name) for name in ("kind", "query", "artifact", "pinned")
    ) and (set(new.entities), new.edits or ()) == (set(old.entities), old.edits or ())


def similar_to(draft: SaveDraft) -> tuple[Similar, ...]:
    """The near live memories that were not superseded, for the answer."""
    return listed(each for each in draft.alike if each.memory.id not in draft.superseded)


def listed(alike: Iterable[Alike]) -> tuple[Similar, ...]:
    """The nearest of those that are live."""
    similar = (
        Similar(id=each.memory.id, title=each.memory.title, likeness=round(each.score, DIGITS_OF_LIKENESS))
        for each in alike
        if each.rejected is None
    )
    return tuple(islice(similar, _MOST_LISTED))
