"""WHICH of the found memories count? Each channel brings its best; those that do not count at the time asked make
room.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final

from onrecord.model.limits import KINDS, SCOPES
from onrecord.recall.draft import (
    RecallDraft,
    RecallTools,
    ReservedPlaces,
    Scorer,
    Search,
    best_first,
    replace,
)
from onrecord.store.ports.index import Found, Key, Match

# Memories of the conversation or global ones are not looked for beyond this many better memories.
_FARTHEST: Final = 2_000


def asked(draft: RecallDraft, channel: str, search: Search, scorer: Scorer | None = None) -> RecallDraft:
    """The draft with the results of one channel, and how it scores the results of others."""
    found = search(_first_look(draft, channel))
    return replace(
        draft,
        found={**draft.found, channel: found},
        searches={**draft.searches, channel: search},
        scorers=draft.scorers if scorer is None else {**draft.scorers, channel: scorer},
    )


def eligible_of(draft: RecallDraft, tools: RecallTools, keys: Sequence[Key]) -> dict[Key, Match]:
    """Those of some memories that count at the time of the question and that it is limited to."""
    found = tools.reading.eligible(keys, draft.when, draft.ask.statuses)
    if _is_limited(draft):
        found = {key: match for key, match in found.items() if is_asked_for(draft, match)}
    return _narrowed(draft, tools, found)


def _narrowed(draft: RecallDraft, tools: RecallTools, matches: dict[Key, Match]) -> dict[Key, Match]:
    """The matches that pass the question's other limits, which only their rows show."""
    only = draft.only
    if only is None or not matches:
        return matches
    kept = tools.reading.narrow(list(matches), only, draft.ask.only_metadata or {})
    return {key: match for key, match in matches.items() if key in kept}


def _is_limited(draft: RecallDraft) -> bool:
    ask = draft.ask
    by_time = ask.created_since is not None or ask.updated_before is not None
    return bool(ask.scopes or ask.only_kinds or by_time or not ask.elsewhere or _counts(draft))


def is_asked_for(draft: RecallDraft, match: Match) -> bool:
    """Whether a memory has the scopes, kinds, conversations and times that a question is limited to."""
    ask = draft.ask
    return (
        match.scope in (ask.scopes or SCOPES)
        and match.kind in (ask.only_kinds or KINDS)
        and (ask.elsewhere or match.conversation in (None, draft.conversation))
        and (ask.created_since is None or match.created_at >= ask.created_since)
        and (ask.updated_before is None or match.updated_at < ask.updated_before)
        and ((counts := _counts(draft)) is None or counts(match))
    )


def _counts(draft: RecallDraft) -> Callable[[Match], bool] | None:
    return None if draft.among is None else draft.among.counts


def keep_eligible(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Check all candidates at once. A channel that lost too many to time or status, or has too few for reserved
    places, looks further down.
    """
    matches: dict[Key, Match] = {}
    looked: set[Key] = set()

    def look(found: Sequence[Found]) -> list[Found]:
        fresh = [each.key for each in found if each.key not in looked]
        looked.update(fresh)
        if fresh:
            matches.update(eligible_of(draft, tools, fresh))
        return [each for each in found if each.key in matches]

    look([each for found in draft.found.values() for each in found])
    reserved = reserved_places(draft, tools)
    kept: dict[str, Sequence[Found]] = {}
    is_cut = False
    for channel, first in draft.found.items():
        found, size, eligible = first, _first_look(draft, channel), look(first)
        pool = draft.pool_of(channel)
        while len(found) >= size and _is_short(eligible, matches, pool, reserved, size):
            size *= 4
            found = draft.searches[channel](size)
            eligible = look(found)
        kept[channel] = _first_of_each(eligible, matches, pool, reserved)
        is_cut = is_cut or len(found) >= size or len(eligible) > len(kept[channel])
    return _with_the_past(replace(draft, found=kept, matches=matches, is_cut=is_cut), tools)


def score_all(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Give every candidate its score in each channel, also where it is not among the best there: what lies beyond the end
    of a list is worth less than its last entry, not nothing.
    """
    found = dict(draft.found)
    for channel, score in draft.scorers.items():
        listed = {each.key: each.score for each in found[channel]}
        others = {key: score(match) for key, match in draft.matches.items() if key not in listed}
        found[channel] = best_first(listed | {key: score for key, score in others.items() if score > 0})
    return replace(draft, found=found)


def reserved_places(draft: RecallDraft, tools: RecallTools) -> Sequence[ReservedPlaces]:
    """The groups with reserved places; only those that can have hits, since empty searches take time."""
    if draft.among is not None:
        return draft.among.reserved
    reserved = []
    if draft.ask.query_limit is not None:
        # As many of each as take part, however few are shown.
        queries = draft.pool if draft.ask.query_limit else 0
        reserved += [
            ReservedPlaces(lambda match: not match.has_query, draft.pool, math.inf),
            ReservedPlaces(lambda match: match.has_query, queries, math.inf),
        ]
    if draft.caller.conversation is not None:
        reserved.append(
            ReservedPlaces(lambda match: match.scope == "session", draft.ask.conversation_places, _FARTHEST)
        )
    if tools.reading.sees_global:
        reserved.append(
            ReservedPlaces(lambda match: match.scope == "global", draft.ask.global_places, _FARTHEST)
        )
        own = draft.ask.tenant_places
        reserved.append(
            ReservedPlaces(lambda match: match.scope not in ("session", "global"), own, _FARTHEST)
        )
    return reserved


def _is_short(
    eligible: Sequence[Found],
    matches: Mapping[Key, Match],
    pool: int,
    reserved: Sequence[ReservedPlaces],
    size: int,
) -> bool:
    if len(eligible) < pool:
        return True
    return any(
        size < each.farthest and len(_best_of(each, eligible, matches)) < each.places for each in reserved
    )


def _best_of(kept: ReservedPlaces, eligible: Sequence[Found], matches: Mapping[Key, Match]) -> list[Key]:
    mine = (each.key for each in eligible if kept.holds(matches[each.key]))
    return list(islice(mine, kept.places))


def _first_of_each(
    eligible: Sequence[Found], matches: Mapping[Key, Match], pool: int, reserved: Sequence[ReservedPlaces]
) -> list[Found]:
    """The best overall and the best of those with reserved places, in order."""
    if not reserved:
        return list(eligible[:pool])
    wanted = {each.key for each in eligible[:pool]}
    for each in reserved:
        wanted.update(_best_of(each, eligible, matches))
    return [each for each in eligible if each.key in wanted]


def _with_the_past(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """For a question about what was known at a time: memories that have changed since, by their words then."""
    if draft.when.known_at is None or "lexical" not in draft.found:
        return draft
    held = tools.index.match_past_terms(draft.terms, draft.when, draft.ask.statuses)
    asked_for = {match.key: match for match, _ in held if is_asked_for(draft, match)}
    counted = _narrowed(draft, tools, asked_for)
    then = [(match, score) for match, score in held if match.key in counted]
    merged = [*draft.found["lexical"], *(Found(match.key, score) for match, score in then)]
    merged.sort(key=lambda each: (-each.score, each.key))
    return replace(
        draft,
        found={**draft.found, "lexical": merged[: draft.pool_of("lexical")]},
        matches={**draft.matches, **{match.key: match for match, _ in then}},
    )


def _first_look(draft: RecallDraft, channel: str) -> int:
    """How many to check first: a few of the best are usually retired, or not of the time asked."""
    if draft.among is not None:
        return draft.among.first_look
    pool = draft.pool_of(channel)
    return pool + pool // 8 + 1
