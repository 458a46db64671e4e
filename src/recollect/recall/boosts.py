"""WHAT else speaks for a memory? Its kind, a tag, and being pinned to this conversation: signals, never gates."""

from dataclasses import replace
from typing import Final

from recollect.model.answers import Hit
from recollect.recall.draft import Draft, Tools, boosted

KIND: Final = 1.3
TAG: Final = 1.2
PINNED: Final = 1.5


def boost_kind_and_tags(draft: Draft, tools: Tools) -> Draft:
    def raised(hit: Hit) -> Hit:
        if hit.memory.kind in draft.ask.kinds:
            hit = boosted(hit, "kind", KIND)
        if set(hit.memory.tags) & set(draft.ask.tags):
            hit = boosted(hit, "tag", TAG)
        return hit

    return replace(draft, hits=tuple(map(raised, draft.hits)))


def boost_pinned(draft: Draft, tools: Tools) -> Draft:
    here = draft.caller.conversation
    if here is None:
        return draft
    return replace(
        draft,
        hits=tuple(
            boosted(hit, "pinned", PINNED) if hit.memory.conversation == here else hit for hit in draft.hits
        ),
    )
