"""WHAT is a hit worth by itself? Scores from 0 to 1 that mean the same in every answer, whatever else was found.

A memory about a given thing, or about a neighbour of it, is worth 1. Any other is worth its similarity, from the
opposite (0) to the same (1), and the share of the question's words that it contains, each with its weight. Without
vectors its match of the words is brought into the same range. The largest of these counts.
"""

from collections.abc import Mapping
from typing import Final

from onrecord.recall.draft import RecallDraft, RecallTools, best_first
from onrecord.store.ports.index import Found, Key

#: Similarities are compared up to so many digits: a dissimilar vector is seldom exactly so.
_DIGITS: Final = 6


def absolute_shares(
    draft: RecallDraft, tools: RecallTools
) -> tuple[dict[str, list[Found]], dict[str, list[float]]]:
    """What each channel found, and what it adds to each score."""
    found = {channel: list(each) for channel, each in draft.found.items()}
    about = {each.key for each in found.get("references", ())}
    if draft.vector is None:
        worth = {"lexical": {each.key: each.score / (1 + each.score) for each in found.get("lexical", ())}}
    else:
        found["semantic"] = _similar(draft, about)
        weights = draft.recipe.weights
        worth = {
            "semantic": {key: weights["semantic"] * (cosine + 1) / 2 for key, cosine in found["semantic"]},
            "lexical": {
                key: weights["lexical"] * share for key, share in _words_shared(draft, tools).items()
            },
        }
    shares = {
        channel: [0.0 if each.key in about else worth[channel][each.key] for each in listed]
        for channel, listed in found.items()
        if channel in worth
    }
    return found, {**shares, "references": [1.0 for _ in found.get("references", ())]}


def _similar(draft: RecallDraft, about: set[Key]) -> list[Found]:
    """The similarity of everything found; 0 for what has no vector yet. What no other channel found must be similar."""
    others = about | {each.key for each in draft.found.get("lexical", ())}
    cosines = {
        key: draft.nearest[key].score if key in draft.nearest else 0.0
        for key in others | {each.key for each in draft.found.get("semantic", ())}
    }
    return best_first(
        {key: cosine for key, cosine in cosines.items() if key in others or round(cosine, _DIGITS) > 0}
    )


def _words_shared(draft: RecallDraft, tools: RecallTools) -> Mapping[Key, float]:
    """For each that the words found, the share of their weight that it contains: 1 for all words, rare ones count more."""
    found = draft.found.get("lexical", ())
    weights = {token.term: draft.rarity.get(token.term, 0.0) for token in draft.terms}
    whole = sum(weights.values())
    if not found or not whole:
        return {each.key: 0.0 for each in found}
    places = tools.index.places(
        [draft.matches[each.key] for each in found], [(term, term) for term in weights]
    )
    shares = {}
    for key, score in found:
        # What was found by words that it held earlier has no places now.
        held = places[key].positions if key in places else None
        kept = sum(weights[term] for term in held if term in weights) / whole if held else score / (1 + score)
        shares[key] = min(kept, 1.0)
    return shares
