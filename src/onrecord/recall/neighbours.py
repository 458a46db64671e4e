"""WHICH turn comes next? In a conversation an answer follows its question, so a matching turn raises the next one.

The turn after a question is raised most, and a turn that ends by asking is lowered: what it asks for is said elsewhere.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from onrecord.recall.channels import eligible_of
from onrecord.recall.draft import RecallDraft, RecallTools, boosted, replace, with_part
from onrecord.recall.linked import with_linked
from onrecord.store.ports.index import Asking, Found, Key

#: The share of its score that a turn adds to the next one, and the share that a turn adds that asks something.
_NEIGHBOUR_SHARE: Final = 0.1
_ANSWER_SHARE: Final = 0.4
#: Of how many of the best hits the next turn is looked at, though nothing else found it.
_SEEDS: Final = 10
#: What is left of the score of a turn that ends by asking.
ASKING: Final = 0.9


def boost_next_turn(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise a candidate if the memory saved just before it, of those the caller sees, is a good hit of the same
    conversation.
    """
    draft = _with_next_turns(draft, tools)
    talks = {key: draft.matches[key].conversation for key in draft.parts}
    turns = Counter(talk for talk in talks.values() if talk is not None)
    able = sorted(key for key, talk in talks.items() if talk is not None and turns[talk] > 1)
    saved_before = tools.reading.saved_before(able) if able else {}
    pairs = {key: before for key, before in saved_before.items() if talks.get(before) == talks[key]}
    if not pairs:
        return draft
    draft = _with_asking(draft, tools)
    shares = {
        key: _ANSWER_SHARE if before in draft.asking and draft.asking[before].anywhere else _NEIGHBOUR_SHARE
        for key, before in pairs.items()
    }
    raised = [Found(key, draft.score(before)) for key, before in pairs.items()]
    raised.sort(key=lambda each: (-each.score, each.key))
    return with_part(draft, "neighbour", raised, [shares[each.key] * each.score for each in raised])


def _with_next_turns(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """The draft with the turns after the best hits, which need not share anything with the question."""
    talks = {key: draft.matches[key].conversation for key in draft.ranked()[:_SEEDS]}
    spoken = sorted(key for key, talk in talks.items() if talk is not None)
    after = set(tools.reading.saved_after(spoken).values()) if spoken else set()
    new = eligible_of(draft, tools, sorted(after - draft.parts.keys()))
    return with_linked(draft, tools, {k: m for k, m in new.items() if m.conversation in talks.values()})


def lower_questions(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Lower turns that end by asking."""
    asking = _with_asking(draft, tools).asking
    return boosted(draft, "asks", {key: ASKING for key, asks in asking.items() if asks.at_the_end})


def _with_asking(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """The draft with what is known of its turns: whether they ask."""
    turns = [key for key in draft.parts if draft.matches[key].conversation is not None]
    unknown = [key for key in turns if key not in draft.asking]
    if not unknown:
        return draft
    known: Mapping[Key, Asking] = {**draft.asking, **tools.reading.asking(unknown)}
    return replace(draft, asking=known)
