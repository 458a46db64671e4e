"""WHICH turn comes next? In a conversation an answer follows its question, so a matching turn raises the next one."""

from collections import Counter
from typing import Final

from onrecord.recall.draft import RecallDraft, RecallTools, with_part
from onrecord.store.ports.index import Found

#: The share of its score that a turn adds to the next one.
_LENT: Final = 0.2


def boost_next_turn(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise a candidate if the memory saved just before it, of those the caller sees, is a good hit of the same
    conversation.
    """
    talks = {key: draft.matches[key].conversation for key in draft.parts}
    turns = Counter(talk for talk in talks.values() if talk is not None)
    able = sorted(key for key, talk in talks.items() if talk is not None and turns[talk] > 1)
    saved_before = tools.reading.saved_before(able) if able else {}
    lent = [
        Found(key, draft.score(before))
        for key, before in saved_before.items()
        if talks.get(before) == talks[key]
    ]
    lent.sort(key=lambda each: (-each.score, each.key))
    return with_part(draft, "neighbour", lent, [_LENT * each.score for each in lent])
