"""HOW often does each field contain the words? For recipes that count words instead of weighing their rarity."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from onrecord.model.memory import Memory
from onrecord.recall.draft import RecallDraft, RecallTools, replace
from onrecord.store.ports.index import Found
from onrecord.text import document_words

#: Further occurrences count less than the first; all together count at most this many times the first.
_MOST: Final = 2.5


def count_terms(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Order what the words found by their counts; drop what contains none in a counted field."""
    weights, found = draft.recipe.counts, draft.found.get("lexical", ())
    if not weights or not found:
        return draft
    terms = {token.term for token in draft.terms}
    # Each has its place, by which it is known again.
    memories = tools.reading.read([draft.matches[each.key] for each in found], draft.when)
    counted = [
        Found(memory.place[:2], score)
        for memory in memories
        if memory.place is not None and (score := _score(memory, terms, weights)) > 0
    ]
    counted.sort(key=lambda each: (-each.score, each.key))
    return replace(draft, found={**draft.found, "lexical": counted})


def _score(memory: Memory, terms: set[str], weights: Mapping[str, float]) -> float:
    return sum(
        weight * sum(_saturated(count) for count in _counts(getattr(memory, name), terms).values())
        for name, weight in weights.items()
    )


def _counts(value: str | tuple[str, ...] | None, terms: set[str]) -> Counter[str]:
    text = "\n".join(value) if isinstance(value, tuple) else value or ""
    return Counter(term for word in document_words(text) for term in word if term in terms)


def _saturated(count: int) -> float:
    return _MOST * count / (count + _MOST - 1)
