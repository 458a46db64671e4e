"""WHICH of the best fits best? Late interaction: each token of the question looks for its match in the memory.

Dissimilar tokens count nothing, rare words count more than common ones, and what better hits say already counts less,
so that the second half of a question is answered too.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.recall.draft import RecallDraft, RecallTools, replace, with_part
from onrecord.store.ports.index import Found, Index, Key, Near
from onrecord.text import document_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Token vectors are kept as bytes.
_SCALE: Final = 127.0
#: A similarity up to this counts as no match.
_FLOOR: Final = 0.5
#: In a longer passage a token is more often near by chance, so its matches count less.
_B: Final = 0.1
_USUAL_TOKENS: Final = 40
#: A word's weight is its rarity to this power.
_RARITY: Final = 0.8
#: How much of a word's weight a hit with that word takes from later hits, and for how many hits this is computed.
_USED_UP: Final = 0.4
_DEPTH: Final = 10
#: How much the score of a hit falls if better hits match all of the question, relative to what the match adds.
_TAKEN: Final = 1.2


def rerank(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Compare the best by the token vectors of their nearest passages."""
    if not draft.recipe.rerank or draft.vector is None or draft.vector.tokens is None or draft.model is None:
        return draft
    best = [key for key in draft.ranked()[: draft.recipe.reranked] if key in draft.nearest]
    met = token_matches(tools.index, draft.vector, draft.model, [draft.nearest[key] for key in best])
    if not met:
        return draft
    weights = token_weights(draft)
    scores = {key: float(each @ weights) for key, each in met.items()}
    found = sorted(
        (Found(key, round(score, 6)) for key, score in scores.items()),
        key=lambda each: (-each.score, each.key),
    )
    highest = max(found[0].score, 1e-9)
    shares = [draft.recipe.rerank * each.score / highest for each in found]
    return replace(with_part(draft, "tokens", found, shares), met=met)


def token_matches(
    index: Index, question: Passage, model: EmbeddingModel, passages: Sequence[Near]
) -> dict[Key, "NDArray[Any]"]:
    """For each memory, how well each token of the question is matched: 1 is identical, in a passage of usual length."""
    import numpy as np

    kept = {key: packed for key, packed in index.tokens(passages, model).items() if packed}
    asked = question.tokens
    if not kept or asked is None or not len(asked):
        return {}
    width = asked.shape[1]
    tokens = np.frombuffer(b"".join(kept.values()), np.int8).reshape(-1, width)
    near = tokens.astype(np.float32) @ (asked.T / np.float32(_SCALE))
    lengths = np.array([len(packed) // width for packed in kept.values()])
    nearest = np.maximum.reduceat(near, np.cumsum(lengths) - lengths, axis=0)
    met = np.clip((nearest - _FLOOR) / (1 - _FLOOR), 0, 1) ** 2
    met /= (1 - _B + _B * lengths / _USUAL_TOKENS)[:, None]
    return dict(zip(kept, met, strict=True))


def token_weights(draft: RecallDraft) -> "NDArray[Any]":
    """The weight of each token of the question; they sum to 1."""
    import numpy as np

    assert draft.vector is not None
    assert draft.vector.tokens is not None
    words = draft.vector.words or ("",) * len(draft.vector.tokens)
    weights = np.array([_weight(word, draft.rarity) for word in words], np.float32)
    return weights / max(float(weights.sum()), 1e-9)


def _weight(word: str, rarity: Mapping[str, float]) -> float:
    terms = [term for terms in document_words(word) for term in terms[:1]]
    known = [rarity[term] for term in terms if term in rarity]
    return max(known, default=0.0) ** _RARITY if terms else 0.0


def diversify(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Among the first few hits, lower each that repeats what better hits say."""
    if not draft.met:
        return draft
    import numpy as np

    keys = [key for key in draft.ranked() if key in draft.met]
    if not keys:
        return draft
    met = np.array([draft.met[key] for key in keys])
    weights = token_weights(draft)
    # A dot product for each row: some processors' kernels for a matrix and a vector warn of values that are not there.
    whole = np.vecdot(met, weights)
    given = draft.recipe.rerank / max(float(whole.max()), 1e-9)
    rest = np.array([_without_tokens(draft, key) for key in keys])
    boost = np.array([_boost(draft, key) for key in keys])
    tokens = given * whole
    left = np.ones(len(keys), bool)
    for _ in range(min(_DEPTH, len(keys))):
        best = int(np.argmax(np.where(left, (rest + tokens) * boost, -np.inf)))
        left[best] = False
        weights = weights * (1 - _USED_UP * met[best])
        tokens[left] = given * (whole[left] - _TAKEN * (whole[left] - np.vecdot(met[left], weights)))
    parts = dict(draft.parts)
    for key, share in zip(keys, tokens.tolist(), strict=True):
        parts[key] = tuple(
            part._replace(share=share) if part.channel == "tokens" else part for part in parts[key]
        )
    return replace(draft, parts=parts)


def _without_tokens(draft: RecallDraft, key: Key) -> float:
    return sum(part.share for part in draft.parts[key] if part.channel != "tokens")


def _boost(draft: RecallDraft, key: Key) -> float:
    factor = 1.0
    for _, each in draft.boosts.get(key, ()):
        factor *= each
    return factor
