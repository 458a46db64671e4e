"""WHAT was said just before? In a conversation an answer follows its question, so a turn raises the next one."""

from typing import Final

from onrecord.recall.draft import RecallDraft, RecallTools, with_part
from onrecord.store.ports.index import Found

#: What part of its score a turn lends to the one after it.
_LENT: Final = 0.2


def boost_next_turn(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise a candidate if the memory saved just before it, of the same conversation, is a good hit."""
    lent = []
    for key in draft.parts:
        before = (key[0], key[1] - 1)
        here = draft.matches[key].conversation
        if here is not None and before in draft.parts and draft.matches[before].conversation == here:
            lent.append(Found(key, draft.score(before)))
    lent.sort(key=lambda each: (-each.score, each.key))
    return with_part(draft, "neighbour", lent, [_LENT * each.score for each in lent])
