"""DOES any of this bear on the question? How probable that is, for each hit; what is too improbable is no hit.

Two chances are multiplied: that anything here bears on the question at all, and, if so, that this memory does. The
first is read off the best few: how near they are, how well the words and tokens of the question are met, and among how
many passages. The second is read off the place and the score.

No two stores have the same scale: tables are all alike, and any two texts of one model are near. So similarity is measured
from the centroid of what is here, in the direction in which this question differs from questions in general.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from math import exp, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, Final

from onrecord.providers.embedding import Calibration
from onrecord.recall.draft import RecallDraft, RecallTools, best_first, replace
from onrecord.recall.rerank import meet, token_weights
from onrecord.store.ports.index import Found, Key, Near
from onrecord.text import identifiers, names

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: So many of the best speak for the whole answer.
BEST: Final = 10
#: Smaller stores were not seen in the calibration: a store counts as holding so many at least.
FEWEST: Final = 12
#: The centroid of a few memories is none: so many that are as near to any question as to another count too.
_USUAL_PASSAGES: Final = 10
#: The nearest to the centroid are at least so far from it, squared.
_NEAREST: Final = 0.02
#: So many of the rarest words of a question say what it is about.
_RAREST: Final = 3
#: What a question of usual length has in words; a longer one meets each of them less well.
_USUAL_WORDS: Final = 6
#: A memory that holds an identifier of the question, or words that make up so much of its weight, is a hit.
_COVERED: Final = 0.5
#: The chance that such a memory, or one about what the asker has named, bears on the question. Set by hand: the data of
#: the calibration has few of them.
_EXACT: Final = 0.5

#: What holds no word of the question and scores less than so much of the best is there because something must come next.
#: Of 3,000 questions of the shared data this loses .09 points of recall@10 on one task and nothing on the others, and a
#: third of what does not bear on the question in stores of 12 and 40 notes.
_LEAST_SHARE: Final = 0.15
#: Where places make the score: or is so far from the nearest, between what is common to all and that, or meets the
#: tokens of the question by no more than so much of what is met best.
_LEAST_NEAR: Final = 0.5
_LEAST_MET: Final = 0.25

#: The chance that a hit bears on a question that is answered here, by its share of the best score and its place.
PLACE: Final[Mapping[str, float]] = {"constant": -2.406, "share": 3.638, "place": -1.24}
#: As of a calibration, for a question that was asked by words alone.
WORDS_ALONE: Final[Mapping[str, float]] = {
    "constant": 2.048,
    "words": 4.726,
    "memories": -0.903,
    "length": -2.536,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for an answer being here, as the calibration weighs it."""

    #: How near the best are, seen from the centroid of what is here.
    similarity: float = 0.0
    #: How well the tokens of the question are met at best.
    tokens: float = 0.0
    #: How well its rarest words are met among the best.
    rarest: float = 0.0
    #: What the words of the question score at best.
    words: float = 0.0
    #: Among how many memories one has looked, for a question by words alone.
    memories: float = 0.0
    #: Among how many passages: the nearest of many is near by chance.
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
        kept = _told(draft, tools, scored)
    return replace(
        draft,
        relevance=relevance,
        best_relevance=max(relevance.values()),
        parts={key: draft.parts[key] for key in kept},
    )


def _told(draft: RecallDraft, tools: RecallTools, scored: Sequence[Found]) -> list[Key]:
    """All that scores at all, but for what is far behind the best and shares neither a word nor a reference with the
    question."""
    if not draft.recipe.floor or draft.recipe.keeps_far:
        return [key for key, _ in scored]
    far = _far_behind(draft, tools, scored)
    return [key for key, score in scored if score > 0 and (key not in far or _shares_words(draft, key))]


def _far_behind(draft: RecallDraft, tools: RecallTools, scored: Sequence[Found]) -> set[Key]:
    """By the score if it adds up what was found. If places make it, it tells nothing of distances, but the vectors do."""
    if draft.recipe.fusion != "rrf" and not draft.recipe.fields:
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
        for key, each in meet(tools.index, draft.vector, draft.model, compared).items()
    }
    least = _LEAST_MET * max(met.values(), default=0.0)
    return {key for key, how_well in met.items() if how_well <= least}


def _shares_words(draft: RecallDraft, key: Key) -> bool:
    return any(part.channel in ("lexical", "references") for part in draft.parts[key])


def _chance_of_an_answer(draft: RecallDraft, tools: RecallTools, best: Sequence[Key]) -> float | None:
    """None where nothing is known of how the model scores, where the recipe does not ask for the words, and where the
    words are those of another time."""
    if "lexical" not in draft.found or draft.when.known_at is not None:
        return None
    if draft.vector is None:
        return probability(WORDS_ALONE, asdict(words_of(draft, tools, best)))
    calibration: Calibration | None = getattr(tools.embedder, "calibration", None)
    evidence = None if calibration is None else gather_evidence(draft, tools, best, calibration)
    if calibration is None or evidence is None:
        return None
    if draft.vector.tokens is not None and not evidence.tokens and not evidence.words:
        # Not a word of it is met anywhere, nor anything like one: whatever is nearest, is so by chance.
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
        # Such a recipe has scores of its own, on another scale.
        return next((each.score for each in tools.index.match_terms(draft.terms, most=1)), 0.0)
    scores = {each.key: each.score for each in draft.found["lexical"]}
    return max((scores.get(key, 0.0) for key in best), default=0.0)


def gather_evidence(
    draft: RecallDraft, tools: RecallTools, best: Sequence[Key], calibration: Calibration
) -> Evidence | None:
    """None where the best have no vectors yet."""
    assert draft.vector is not None
    assert draft.model is not None
    near = [draft.nearest[key] for key in best if key in draft.nearest]
    if not near:
        return None
    similarity, passages = _similarity(draft, tools, near, calibration)
    met = draft.met or meet(tools.index, draft.vector, draft.model, near)
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
    """The cosine between the way from the usual question to this one and that from the centroid to the nearest memory."""
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
    # Another thread may have taken a vector from the cache in between.
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
    """Those about what the asker has named."""
    if not draft.ask.entities:
        return []
    return [key for key in ranked if any(part.channel == "references" for part in draft.parts[key])]


def _exact(draft: RecallDraft, tools: RecallTools, ranked: Sequence[Key]) -> list[Key]:
    """Those that hold an identifier of the question, or most of what its words weigh."""
    terms = tuple(dict.fromkeys(token.term for token in draft.terms))
    by_subject = draft.recipe.reads_subjects
    # A word that stands in no text may be one of what memories are about.
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
    """The logistic function of what each kind of evidence weighs."""
    total = weights["constant"] + sum(weights.get(name, 0.0) * value for name, value in evidence.items())
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))
