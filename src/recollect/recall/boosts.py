"""WHAT else speaks for a memory? Its kind, a tag, and being pinned to this conversation: signals, never gates."""

from dataclasses import replace
from typing import Final

from recollect.recall.draft import Candidate, Draft, Tools, boosted

KIND: Final = 1.3
TAG: Final = 1.2
PINNED: Final = 1.5


def boost_kind_and_tags(draft: Draft, tools: Tools) -> Draft:
    def raised(candidate: Candidate) -> Candidate:
        if candidate.match.kind in draft.ask.kinds:
            candidate = boosted(candidate, "kind", KIND)
        if set(candidate.match.tags) & set(draft.ask.tags):
            candidate = boosted(candidate, "tag", TAG)
        return candidate

    return replace(draft, candidates=tuple(map(raised, draft.candidates)))


def boost_pinned(draft: Draft, tools: Tools) -> Draft:
    here = draft.caller.conversation
    if here is None:
        return draft

    def raised(candidate: Candidate) -> Candidate:
        pinned = candidate.match.conversation == here
        return boosted(candidate, "pinned", PINNED) if pinned else candidate

    return replace(draft, candidates=tuple(map(raised, draft.candidates)))
