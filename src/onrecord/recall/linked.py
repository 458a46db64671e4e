"""WHAT is a memory worth that no channel brought, but another hit led to? The same that it would be had one brought it."""

from collections.abc import Mapping, Sequence

from onrecord.recall.draft import RecallDraft, RecallTools, ScorePiece, replace, with_part
from onrecord.recall.rerank import token_matches, token_weights
from onrecord.store.ports.index import Found, Key, Match


def with_linked(draft: RecallDraft, tools: RecallTools, matches: Mapping[Key, Match]) -> RecallDraft:
    """The draft with memories that no channel had found: their similarity, and how they match the question."""
    draft = _scored(replace(draft, matches={**draft.matches, **matches}), matches)
    if draft.vector is None or draft.model is None or draft.marks is None or not matches:
        return draft
    near = tools.index.similarity(draft.vector.vector, draft.model, sorted(matches))
    # Where no other candidate has a score by tokens, there is no scale for theirs.
    met = token_matches(tools.index, draft.vector, draft.model, near) if draft.met else {}
    highest, lowest = draft.marks
    parts = dict(draft.parts)
    for each in near:
        share = max(each.score - lowest, 0.0) / max(highest - lowest, 1e-9)
        weight = draft.recipe.weights.get("semantic", 0.0)
        parts[each.key] = (*parts.get(each.key, ()), ScorePiece("semantic", 0, each.score, weight * share))
    draft = replace(
        draft,
        nearest={**draft.nearest, **{each.key: each for each in near}},
        met={**draft.met, **met},
        parts=parts,
    )
    draft = _with_tokens(draft, sorted(met))
    for channel in ("semantic", "tokens", *draft.scorers):
        draft = replace(draft, parts=_ranked_anew(draft.parts, channel))
    return draft


def _scored(draft: RecallDraft, matches: Mapping[Key, Match]) -> RecallDraft:
    """The draft with the scores of new memories by words and by references, on the scale of the others."""
    parts = dict(draft.parts)
    for channel in sorted(draft.scorers):
        found = draft.found.get(channel)
        if not found or draft.recipe.fusion != "weighted":
            continue
        weight = draft.recipe.weights.get(channel, 0.0) / max(found[0].score, 1e-9)
        for key, match in matches.items():
            if (score := draft.scorers[channel](match)) > 0:
                parts[key] = (*parts.get(key, ()), ScorePiece(channel, 0, score, weight * score))
    return replace(draft, parts=parts)


def _ranked_anew(
    parts: Mapping[Key, tuple[ScorePiece, ...]], channel: str
) -> dict[Key, tuple[ScorePiece, ...]]:
    """The same parts, with the new memories ranked among those that a channel had found."""
    scores = {
        key: piece.score for key, pieces in parts.items() for piece in pieces if piece.channel == channel
    }
    order = sorted(scores, key=lambda key: (-scores[key], key))
    ranks = {key: rank for rank, key in enumerate(order, 1)}
    return {
        key: tuple(piece._replace(rank=ranks[key]) if piece.channel == channel else piece for piece in pieces)
        for key, pieces in parts.items()
    }


def _with_tokens(draft: RecallDraft, keys: Sequence[Key]) -> RecallDraft:
    """The token scores of the new memories, on the same scale as the others."""
    weights = token_weights(draft)
    scores = {key: float(draft.met[key] @ weights) for key in draft.met}
    highest = max((scores[key] for key in scores if key not in keys), default=0.0)
    found = sorted(
        (Found(key, round(scores[key], 6)) for key in keys), key=lambda each: (-each.score, each.key)
    )
    shares = [draft.recipe.rerank * each.score / max(highest, 1e-9) for each in found]
    return with_part(draft, "tokens", found, shares)
