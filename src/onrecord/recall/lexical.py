"""WHICH memories contain the words? BM25 over title, hint, tags, content and source, and over neighbouring words."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from onrecord.recall.channels import asked
from onrecord.recall.draft import RecallDraft, RecallTools, best_first, replace
from onrecord.store.ports.index import Found, Key, Places
from onrecord.text import STOP_TERMS, document_words

#: The weight of two words that are neighbours in question and memory, relative to one word.
_PAIRS: Final = 0.4
# Pairs are looked for in this many of the best.
_LOOKED_AT: Final = 25
_K1: Final = 1.2
_B: Final = 0.75
# A pasted page has more pairs than are useful.
_MOST_PAIRS: Final = 40
_MOST_WORDS: Final = 200

#: How many are scored by words where other channels bring candidates too.
_SCORED: Final = 1_000

Pair = tuple[str, str]


def weigh_words(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Count how rare each word of the question is here, stop words included: other layers use it too."""
    terms = {term for word in document_words(draft.ask.question)[:_MOST_WORDS] for term in word}
    return replace(draft, rarity=tools.index.rarity(sorted(terms)) if terms else {})


def search_lexical(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    if "lexical" not in draft.recipe.weights or not draft.terms:
        return draft
    past = draft.when.known_at is not None
    # Those that other channels bring are scored by words too, unless they match hardly any.
    scored = 0 if len(draft.recipe.weights) == 1 else _SCORED
    scores: dict[Key, float] = {}

    def search(most: int) -> Sequence[Found]:
        found = tools.index.match_terms(draft.terms, most=max(most, scored), past=past)
        scores.update(found)
        return found[:most]

    return asked(draft, "lexical", search, lambda match: scores.get(match.key, 0.0))


def raise_pairs(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise those of the best in which neighbouring words of the question are neighbours too."""
    found, pairs = draft.found.get("lexical", ()), pairs_of(draft.ask.question)
    if not found or not pairs:
        return draft
    head = [draft.matches[each.key] for each in found[:_LOOKED_AT]]
    places = tools.index.places(head, pairs)
    extra = pair_scores(pairs, places, tools.reading.size, tools.index.average_length)
    if not extra:
        return draft
    raised = best_first({key: score + _PAIRS * extra.get(key, 0.0) for key, score in found})
    return replace(draft, found={**draft.found, "lexical": raised})


def pairs_of(question: str) -> tuple[Pair, ...]:
    """Neighbouring words, at least one of which is not a stop word."""
    words = [terms[0] for terms in document_words(question)]
    pairs = (pair for pair in pairwise(words) if not STOP_TERMS.issuperset(pair))
    return tuple(dict.fromkeys(pairs))[:_MOST_PAIRS]


def pair_scores(
    pairs: Sequence[Pair], places: dict[Key, Places], memories: int, average: float
) -> dict[Key, float]:
    """BM25 with each pair as a word; its rarity is counted among the memories looked at."""
    counts: dict[Key, list[tuple[int, int]]] = {}
    holders = [0] * len(pairs)
    for key, each in places.items():
        for number, (first, second) in enumerate(pairs):
            if first in each.positions and second in each.positions:
                together = _together(each.positions[first], each.positions[second])
                if together:
                    counts.setdefault(key, []).append((number, together))
                    holders[number] += 1
    weights = [math.log(1 + (max(memories - held, 0) + 0.5) / (held + 0.5)) for held in holders]
    scores = {}
    for key, found in counts.items():
        length = _K1 * (1 - _B + _B * places[key].length / max(average, 1.0))
        scores[key] = sum(weights[number] * count / (count + length) for number, count in found)
    return scores


def _together(first: Sequence[int], second: Sequence[int]) -> int:
    """How often the second word follows the first."""
    if len(first) == 1:
        return 1 if first[0] + 1 in second else 0
    return len({place + 1 for place in first}.intersection(second))
