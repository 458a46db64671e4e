"""HOW relevant is each hit? An estimated probability; hits below a floor are dropped.

It is the product of two probabilities: that the store has an answer at all, and, if so, that this memory is part of it.
The first follows from the best few hits: how near they are, how well they match the words and tokens of the question, and
out of how many passages they were chosen. The second follows from the rank and the score.

Stores have different scales: tables are all alike, and for one model any two texts are near. So similarity is measured from
the centroid of the store, in the direction in which this question differs from questions in general.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from math import exp, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, Final

from onrecord.providers.embedding import Calibration
from onrecord.recall.draft import RecallDraft, RecallTools, best_first, replace
from onrecord.recall.rerank import token_matches, token_weights
from onrecord.store.ports.index import Found, Key, Near
from onrecord.text import identifiers, names

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How many of the best hits are used to judge the whole answer.
BEST: Final = 10
#: The calibration has no smaller stores, so a smaller one counts as having this many memories.
FEWEST: Final = 12
#: The centroid of a few memories says little, so it also counts this many imaginary passages with the vector of a usual
#: question.
_USUAL_PASSAGES: Final = 10
#: The least squared distance from the centroid that counts.
_NEAREST: Final = 0.02
#: How many of the rarest words of a question are looked at.
_RAREST: Final = 3
#: The usual number of words of a question; a longer one matches each of them less well.
_USUAL_WORDS: Final = 6
#: A memory is a sure hit if it contains an identifier of the question, or words with this share of the weight of all.
_COVERED: Final = 0.5
#: The least relevance of such a memory, and of one about an entity that the request names. Set by hand, since the
#: calibration has few of them.
_EXACT: Final = 0.5

#: A memory without a word of the question and with less than this share of the best score is dropped.
#: On 3,000 questions of the shared data this costs .09 points of recall@10 on one task and nothing on the others, and drops a
#: third of the irrelevant hits in stores of 12 and 40 notes.
_LEAST_SHARE: Final = 0.15
#: For recipes whose scores are made of ranks: the least similarity, between the common base (0) and the nearest (1), and the
#: least share of the best match of the question's tokens.
_LEAST_NEAR: Final = 0.5
_LEAST_MET: Final = 0.25

#: The weights of the probability that a hit is relevant if the store has an answer: by its share of the best score and its rank.
PLACE: Final[Mapping[str, float]] = {"constant": -2.406, "share": 3.638, "place": -1.24}
#: The weights of a calibration for a search by words alone.
WORDS_ALONE: Final[Mapping[str, float]] = {
    "constant": 2.048,
    "words": 4.726,
    "memories": -0.903,
    "length": -2.536,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence that the store has an answer, which the calibration weighs."""

    #: How near the best are, measured from the centroid.
    similarity: float = 0.0
    #: How well the best hit matches the tokens of the question.
    tokens: float = 0.0
    #: How well the best hits match its rarest words.
    rarest: float = 0.0
    #: The best score by words.
    words: float = 0.0
    #: The number of memories, for a search by words alone.
    memories: float = 0.0
    #: The number of passages: the nearest of many may be near by chance.
    passages: float = 0.0
    #: How many different words the question has.
    length: float = 0.0


def judge_relevance(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Give each hit its relevance, and drop what lies below the floor of the recipe or of the request."""
    scored = best_first({key: draft.score(key) for key in draft.parts})
    if not scored:
        return draft
    ranked = [key for key, _ in scored]
    answered = _chance_of_an_answer(draft, tools, ranked[:BEST])
    relevance = _by_place(scored, 1.0 if answered is None else answered)
    is_doubtful = answered is not None and answered < draft.recipe.floor
    sure = _asked_for(draft, ranked) or (_exact(draft, tools, ranked) if is_doubtful else [])
    relevance |= {key: max(relevance[key], _EXACT) for key in sure}
    least = draft.ask.min_relevance
    if least is not None:
        kept = [key for key in ranked if relevance[key] >= least]
    elif is_doubtful:
        kept = sure
    else:
        kept = _close_enough(draft, tools, scored)
    return replace(
        draft,
        relevance=relevance,
        best_relevance=max(relevance.values()),
        parts={key: draft.parts[key] for key in kept},
    )


def _close_enough(draft: RecallDraft, tools: RecallTools, scored: Sequence[Found]) -> list[Key]:
    """The hits with a score, without those that are far behind the best and share neither a word nor a reference with the
    question.
    """
    if not draft.recipe.floor or draft.recipe.keeps_far:
        return [key for key, _ in scored]
    far = _far_behind(draft, tools, scored)
    return [key for key, score in scored if score > 0 and (key not in far or _shares_words(draft, key))]


def _far_behind(draft: RecallDraft, tools: RecallTools, scored: Sequence[Found]) -> set[Key]:
    """The hits that are far behind the best. A score that adds up what was found shows that. Scores made of ranks do not,
    nor do those that even a dissimilar text has; there the vectors show it.
    """
    if draft.recipe.fusion not in ("rrf", "absolute") and not draft.recipe.fields:
        return {key for key, score in scored if score < _LEAST_SHARE * scored[0].score}
    if draft.marks is None or not draft.nearest:
        return set()
    near = {key: draft.nearest[key] for key, _ in scored if key in draft.nearest}
    highest, lowest = max((each.score for each in near.values()), default=0.0), draft.marks[1]
    least = lowest + _LEAST_NEAR * (highest - lowest)
    close = {key for key, each in near.items() if each.score >= least}
    return (near.keys() - close) | _unmet(draft, tools, close, [key for key, _ in scored[:BEST]])


def _unmet(draft: RecallDraft, tools: RecallTools, close: Set[Key], best: Sequence[Key]) -> set[Key]:
    """Those whose tokens hardly meet the question, against the best. Some short texts are near to every question."""
    if draft.vector is None or draft.vector.tokens is None or draft.model is None:
        return set()
    compared = [draft.nearest[key] for key in {*close, *best} if key in draft.nearest]
    weights = token_weights(draft)
    met = {
        key: float(each @ weights)
        for key, each in token_matches(tools.index, draft.vector, draft.model, compared).items()
    }
    least = _LEAST_MET * max(met.values(), default=0.0)
    return {key for key, how_well in met.items() if how_well <= least}


def _shares_words(draft: RecallDraft, key: Key) -> bool:
    return any(part.channel in ("lexical", "references") for part in draft.parts[key])


def _chance_of_an_answer(draft: RecallDraft, tools: RecallTools, best: Sequence[Key]) -> float | None:
    """The probability that the store has an answer. None if the embedder has no calibration, the recipe does not search by
    words, or the question is about what was known at an earlier time.
    """
    if "lexical" not in draft.found or draft.when.known_at is not None:
        return None
    if draft.vector is None:
        return probability(WORDS_ALONE, asdict(words_of(draft, tools, best)))
    calibration: Calibration | None = getattr(tools.embedder, "calibration", None)
    evidence = None if calibration is None else gather_evidence(draft, tools, best, calibration)
    if calibration is None or evidence is None:
        return None
    if draft.vector.tokens is not None and not evidence.tokens and not evidence.words:
        # Nothing matches any word or token of the question, so the nearest is near by chance.
        return 0.0
    return probability(calibration.weights, asdict(evidence))


def words_of(draft: RecallDraft, tools: RecallTools, best: Sequence[Key]) -> Evidence:
    return Evidence(
        words=log1p(_word_score(draft, tools, best)),
        memories=log(max(tools.reading.size, FEWEST)),
        length=log1p(len({token.term for token in draft.terms})),
    )


def _word_score(draft: RecallDraft, tools: RecallTools, best: Sequence[Key]) -> float:
    if draft.recipe.counts or draft.recipe.fields:
        # The scores of such a recipe are on another scale.
        return next((each.score for each in tools.index.match_terms(draft.terms, most=1)), 0.0)
    scores = {each.key: each.score for each in draft.found["lexical"]}
    return max((scores.get(key, 0.0) for key in best), default=0.0)


def gather_evidence(
    draft: RecallDraft, tools: RecallTools, best: Sequence[Key], calibration: Calibration
) -> Evidence | None:
    """The evidence from words and vectors; None if the best hits have no vectors yet."""
    assert draft.vector is not None
    assert draft.model is not None
    near = [draft.nearest[key] for key in best if key in draft.nearest]
    if not near:
        return None
    similarity, passages = _similarity(draft, tools, near, calibration)
    met = draft.met or token_matches(tools.index, draft.vector, draft.model, near)
    weights = token_weights(draft) if met else None
    tokens = max((float(each @ weights) for each in met.values()), default=0.0)
    return Evidence(
        similarity=similarity,
        tokens=sqrt(tokens * (1 + len(draft.terms)) / _USUAL_WORDS),
        rarest=_rarest(draft, weights, [met[key] for key in best if key in met]),
        words=log1p(_word_score(draft, tools, best)),
        passages=log(max(passages, FEWEST)),
        length=log1p(len(set(draft.vector.words or ()))),
    )


def _similarity(
    draft: RecallDraft, tools: RecallTools, near: Sequence[Near], calibration: Calibration
) -> tuple[float, int]:
    """The cosine between two directions, from the usual question to this one and from the centroid to the nearest memory; and
    the number of passages.
    """
    import numpy as np

    assert draft.vector is not None
    assert draft.model is not None
    usual = calibration.usual_question
    towards = draft.vector.vector - usual
    towards = (towards / max(float(np.linalg.norm(towards)), 1e-9)).astype(np.float32)
    here = tools.index.centroid(draft.model)
    centroid = (here.vector * here.passages + usual * _USUAL_PASSAGES) / (here.passages + _USUAL_PASSAGES)
    keys = [each.key for each in near]
    along = {each.key: each.score for each in tools.index.similarity(towards, draft.model, keys)}
    alike = tools.index.similarity(centroid.astype(np.float32), draft.model, keys)
    start, length = float(centroid @ towards), float(centroid @ centroid)
    # Another thread may have removed a vector from the cache in between.
    seen = [(along[each.key] - start, each.score) for each in alike if each.key in along]
    cosines = [way / sqrt(max(1 - 2 * score + length, _NEAREST)) for way, score in seen]
    return max(cosines, default=0.0), here.passages


def _rarest(draft: RecallDraft, weights: "NDArray[Any] | None", met: Sequence["NDArray[Any]"]) -> float:
    import numpy as np

    assert draft.vector is not None
    if weights is None or not met or not draft.vector.words:
        return 0.0
    best = np.max(met, axis=0)
    words: dict[str, tuple[float, float]] = {}
    for word, weight, how_well in zip(draft.vector.words, weights.tolist(), best.tolist(), strict=True):
        before = words.get(word, (0.0, 0.0))
        words[word] = max(before[0], weight), max(before[1], how_well)
    rare = sorted((each for each in words.values() if each[0] > 0), reverse=True)[:_RAREST]
    return sum(sqrt(how_well) for _, how_well in rare) / max(len(rare), 1)


def _by_place(scored: Sequence[Found], answered: float) -> dict[Key, float]:
    constant, by_share, by_place = PLACE["constant"], PLACE["share"], PLACE["place"]
    best = scored[0].score
    by_share = by_share / best if best > 0 else 0.0
    return {
        key: answered / (1 + exp(-(constant + by_share * score + by_place * log(place))))
        for place, (key, score) in enumerate(scored, 1)
    }


def _asked_for(draft: RecallDraft, ranked: Sequence[Key]) -> list[Key]:
    """The hits about an entity that the request names."""
    if not draft.ask.entities:
        return []
    return [key for key in ranked if any(part.channel == "references" for part in draft.parts[key])]


def _exact(draft: RecallDraft, tools: RecallTools, ranked: Sequence[Key]) -> list[Key]:
    """The hits that contain an identifier of the question, or words with at least half of the weight of all."""
    terms = tuple(dict.fromkeys(token.term for token in draft.terms))
    by_subject = draft.recipe.reads_subjects
    # A word that occurs in no text may occur in the name of an entity.
    weights = {term: draft.rarity.get(term, 0.0) or float(by_subject) for term in terms}
    whole = sum(weights.values())
    if not whole:
        return []
    named = identifiers(draft.ask.question)
    places = tools.index.places([draft.matches[key] for key in ranked], [(term, term) for term in terms])
    kept = []
    for key in ranked:
        held = {term for term in terms if key in places and places[key].positions.get(term)}
        if by_subject:
            held.update(*(names.words_of(each).intersection(terms) for each in draft.matches[key].entities))
        if named.intersection(held) or sum(weights[term] for term in held) >= _COVERED * whole:
            kept.append(key)
    return kept


def probability(weights: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    """The logistic function of the weighted sum of the evidence."""
    total = weights["constant"] + sum(weights.get(name, 0.0) * value for name, value in evidence.items())
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))
