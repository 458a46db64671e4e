"""WHAT else raises or lowers a memory? Its kind, a tag, its time, its conversation and its age; none hides it."""

from datetime import datetime, timedelta
from typing import Final

from onrecord.recall.draft import RecallDraft, RecallTools, boosted, replace
from onrecord.text.times import Window

KIND: Final = 1.3
TAG: Final = 1.2
IN_TIME: Final = 1.2
PINNED: Final = 1.5
VERIFIED: Final = 1.05
#: What a check has found to be wrong comes last among what is found, and is not hidden.
FAILED: Final = 0.5

_FRESH: Final = timedelta(days=30)
# How many half-lives old, and what is left of a score then.
_AGES: Final = ((1, 0.9), (2, 0.75), (4, 0.6))


def boost_kind_and_tags(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    kinds, tags = set(draft.kinds), set(draft.ask.tags)
    if kinds:
        draft = boosted(draft, "kind", {key: KIND for key in draft.parts if draft.matches[key].kind in kinds})
    if tags:
        draft = boosted(
            draft, "tag", {key: TAG for key in draft.parts if tags.intersection(draft.matches[key].tags)}
        )
    return draft


def boost_times(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise memories that became true in a time that the question names; in strict mode, drop the others."""
    if not draft.windows:
        return draft
    inside = {
        key
        for key in draft.parts
        if any(is_within(draft.matches[key].valid_from, window) for window in draft.windows)
    }
    if draft.ask.times == "hard":
        return replace(draft, parts={key: parts for key, parts in draft.parts.items() if key in inside})
    return boosted(draft, "time", dict.fromkeys(sorted(inside), IN_TIME))


def is_within(moment: datetime, window: Window) -> bool:
    return (window.start is None or moment >= window.start) and (window.end is None or moment < window.end)


def boost_pinned(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise memories pinned to the caller's conversation; some recipes lower those pinned elsewhere."""
    here, left = draft.conversation, draft.recipe.elsewhere
    if here is None:
        return draft
    pinned = {key: PINNED for key in draft.parts if draft.matches[key].conversation == here}
    draft = boosted(draft, "pinned", pinned)
    if left == 1.0:
        return draft
    others = {key: left for key in draft.parts if draft.matches[key].conversation not in (None, here)}
    return boosted(draft, "elsewhere", others)


def boost_verified(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    checked = {key: VERIFIED for key in draft.parts if draft.matches[key].is_verified}
    return boosted(draft, "verified", checked)


def sink_failed(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Lower what its checks have found to be wrong."""
    failed = {key: FAILED for key in draft.parts if draft.matches[key].check_state == "failed"}
    return boosted(draft, "failed", failed)


def decay_with_age(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """On request, let an old memory weigh less, but never nothing."""
    if not draft.ask.decay:
        return draft
    now = draft.when.as_of or draft.now
    half_life = timedelta(days=draft.ask.half_life_days)
    left = {
        key: freshness(now - draft.matches[key].valid_from, half_life, draft.ask.decay_floor)
        for key in draft.parts
    }
    return boosted(draft, "age", {key: factor for key, factor in left.items() if factor != 1.0})


def freshness(age: timedelta, half_life: timedelta, floor: float) -> float:
    """What is left of a score: all of it in the first month, less at one, two and four half-lives, then the floor."""
    if age <= _FRESH:
        return 1.0
    return max(floor, next((left for times, left in _AGES if age <= half_life * times), floor))
