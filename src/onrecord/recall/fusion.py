"""HOW do channels become one order? Their scores are brought to one scale, weighted and added."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from onrecord.recall.absolute import absolute_shares
from onrecord.recall.draft import RecallDraft, RecallTools, ScorePiece, replace
from onrecord.recall.recipes import Channel, Fusion
from onrecord.store.ports.index import Found, Key

RRF: Final = 60


def fuse(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    marks = _marks(draft, tools, draft.found.get("semantic", ()))
    if draft.recipe.fusion == "absolute":
        return replace(draft, parts=add_up(*absolute_shares(draft, tools)), marks=marks)
    lowest = {"semantic": marks[1]} if marks else {}
    shares = {
        channel: SHARES[draft.recipe.fusion](
            each, draft.recipe.weights.get(channel, 0.0), lowest.get(channel, 0.0)
        )
        for channel, each in draft.found.items()
    }
    parts = add_up(draft.found, shares)
    if draft.vector is not None and draft.nearest and draft.recipe.fusion == "weighted":
        parts.update(_judged_by_words(draft, parts))
    return replace(draft, parts=parts, marks=marks)


def _judged_by_words(
    draft: RecallDraft, parts: Mapping[Key, tuple[ScorePiece, ...]]
) -> dict[Key, tuple[ScorePiece, ...]]:
    """A memory without vectors yet is scored by its words on the whole scale, so that it does not fall behind all
    others.
    """
    weights = draft.recipe.weights
    words = weights.get("lexical", 0.0)
    if not words:
        return {}
    scale = (words + weights.get("semantic", 0.0) + draft.recipe.rerank) / words
    return {
        key: tuple(
            piece._replace(share=piece.share * scale) if piece.channel == "lexical" else piece
            for piece in pieces
        )
        for key, pieces in parts.items()
        if key not in draft.nearest
    }


def add_up(
    found: Mapping[Channel, Sequence[Found]], shares: Mapping[Channel, Sequence[float]]
) -> dict[Key, tuple[ScorePiece, ...]]:
    """The parts of each memory, in the order of the channels' names, so that the order of asking does not matter."""
    parts: dict[Key, tuple[ScorePiece, ...]] = {}
    for channel in sorted(found):
        for rank, ((key, score), share) in enumerate(zip(found[channel], shares[channel], strict=True), 1):
            piece = ScorePiece(channel, rank, score, share)
            before = parts.get(key)
            parts[key] = (piece,) if before is None else (*before, piece)
    return parts


def _marks(draft: RecallDraft, tools: RecallTools, near: Sequence[Found]) -> tuple[float, float] | None:
    """The highest score and the base that all share: no vector is quite dissimilar, so similarity is measured from
    there.
    """
    if not near or draft.vector is None or draft.model is None:
        return None
    return near[0].score, float(tools.index.centroid(draft.model).vector @ draft.vector.vector)


def weighted(found: Sequence[Found], weight: float, lowest: float) -> list[float]:
    """The full weight for the first of the list, and in proportion to its distance from the lowest mark for each
    other.
    """
    if not found:
        return []
    spread = found[0].score - lowest
    if spread <= 0:
        return [weight] * len(found)
    return [weight * max(each.score - lowest, 0.0) / spread for each in found]


def by_rank(found: Sequence[Found], weight: float, lowest: float) -> list[float]:
    """Reciprocal ranks: only the order counts, not the scores."""
    return [weight / (RRF + rank) for rank in range(1, len(found) + 1)]


SHARES: Final[Mapping[Fusion, Callable[[Sequence[Found], float, float], list[float]]]] = {
    "weighted": weighted,
    "blend": weighted,
    "rrf": by_rank,
}
