"""IN WHICH field are the words? The field decides, and how close together they are; memories without any of them come
last.

Then two lists are joined by their ranks: memories pinned to the caller's conversation, and all memories.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from onrecord.model.memory import Memory
from onrecord.recall.draft import RecallDraft, RecallTools, replace, with_part
from onrecord.recall.fusion import by_rank
from onrecord.store.ports.index import Found, Key, Places
from onrecord.text import document_words

#: Words at most this far apart count as near; only tested for up to _MOST_NEAR words.
_NEAR: Final = 8
_MOST_NEAR: Final = 6
# Chosen so that of two memories with the same words in the same fields the one with the higher factor always wins, and that
# words anywhere in title and tags win over a phrase in the content.
_PHRASE_FACTOR: Final = 3.0
_NEAR_FACTOR: Final = 2.4
_LABEL_FACTOR: Final = 2.0
#: The most that mentions and length add to the weight of a field: less than the difference between two weights.
_WITHIN: Final = 1.0
#: A pinned memory whose score is less than this share of the best score is weak: it contains only some of the words.
_WEAK: Final = 0.1

#: The places of a word in a memory.
Spots = frozenset[int]


class _Word(NamedTuple):
    """A word of the question: its terms, its place there, and how rare it is here."""

    terms: frozenset[str]
    place: int
    rarity: float


def weigh_fields(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Score memories by the fields that contain the words; vectors only find what the words did not."""
    weights, found = draft.recipe.fields, draft.found.get("lexical", ())
    words = list(_words(draft)) if weights and found else []
    if not words:
        return draft
    matches = [draft.matches[each.key] for each in found]
    places = tools.index.places(matches, [(term, term) for word in words for term in sorted(word.terms)])
    is_cut = len(found) > draft.pool
    if is_cut:
        # Reading all would take too long; the index shows which can be among the best.
        guessed = _weighed(
            words, found, places, weights, lambda key, word: _highest(places[key], word, weights)
        )
        kept = {each.key for each in guessed[: draft.pool]}
        found = [each for each in found if each.key in kept]
    # Each has its place, by which it is known again.
    memories = {
        memory.place[:2]: memory
        for memory in tools.reading.read([draft.matches[each.key] for each in found], draft.when)
        if memory.place
    }
    weighed = _weighed(words, found, places, weights, lambda key, word: _weight(memories[key], word, weights))
    found_then = {**draft.found, "lexical": weighed, **_left(draft, weighed)}
    return replace(draft, found=found_then, is_cut=draft.is_cut or is_cut)


def _weighed(
    words: Sequence[_Word],
    found: Sequence[Found],
    places: Mapping[Key, Places],
    weights: Mapping[str, float],
    weight_of: Callable[[Key, _Word], float],
) -> list[Found]:
    """Best first: by the weight of each word in its field, and by how close together the words are."""
    total = sum(word.rarity for word in words)
    weighed = []
    for key, score in found:
        held = places[key].positions if key in places else {}
        spots = [Spots(at for term in word.terms for at in held.get(term, ())) for word in words]
        fields = [weight_of(key, word) if at else 0.0 for word, at in zip(words, spots, strict=True)]
        whole = sum(word.rarity * each for word, each in zip(words, fields, strict=True)) / total
        is_label = min(fields) > weights["content"]
        weighed.append(
            Found(key, _order(words, spots, is_label) * (whole + _WITHIN * score / (score + total)))
        )
    weighed.sort(key=lambda each: (-each.score, each.key))
    return weighed


def _highest(places: Places, word: _Word, weights: Mapping[str, float]) -> float:
    """The most that the word can be worth in a memory whose text has not been read."""
    return weights["content"] if word.terms.isdisjoint(places.labels) else max(weights.values())


def _words(draft: RecallDraft) -> Iterator[_Word]:
    by_place: dict[int, list[str]] = {}
    for term, place in draft.terms:
        by_place.setdefault(place, []).append(term)
    known: set[frozenset[str]] = set()
    for place, terms in by_place.items():
        # Of a pasted page the rarest words alone are weighed.
        rarity = max(draft.rarity.get(term, 0.0) for term in terms)
        if rarity and (word := frozenset(terms)) not in known:
            known.add(word)
            yield _Word(word, place, rarity)


def _weight(memory: Memory, word: _Word, weights: Mapping[str, float]) -> float:
    """The weight of the heaviest field that contains the word. The long content is read only if needed."""
    fields = sorted(weights, key=lambda name: -weights[name])
    lighter = fields[fields.index("content") + 1 :]
    for name in fields:
        if name == "content" and not any(_holds(memory, other, word) for other in lighter):
            return weights[name]
        if _holds(memory, name, word):
            return weights[name]
    return weights["content"]


def _holds(memory: Memory, field: str, word: _Word) -> bool:
    value = getattr(memory, field)
    text = "\n".join(value) if isinstance(value, tuple) else value or ""
    return any(not word.terms.isdisjoint(terms) for terms in document_words(text))


def _order(words: Sequence[_Word], spots: Sequence[Spots], is_label: bool) -> float:
    """A bonus if all words are together: as a phrase, close to each other, or in title and tags alone."""
    if len(words) < 2 or not all(spots):
        return 1.0
    if _is_phrase([word.place for word in words], spots) or _is_phrase(range(len(words)), spots):
        return _PHRASE_FACTOR
    if len(words) <= _MOST_NEAR and _is_near(spots):
        return _NEAR_FACTOR
    return _LABEL_FACTOR if is_label else 1.0


def _is_phrase(offsets: Sequence[int], spots: Sequence[Spots]) -> bool:
    """Whether the words follow each other as in the question, with or without its small words."""
    steps = [offset - offsets[0] for offset in offsets]
    return any(all(at + step in each for step, each in zip(steps, spots, strict=True)) for at in spots[0])


def _is_near(spots: Sequence[Spots]) -> bool:
    return any(
        all(any(start <= at <= start + _NEAR for at in each) for each in spots)
        for some in spots
        for start in some
    )


def _left(draft: RecallDraft, held: Sequence[Found]) -> dict[str, list[Found]]:
    keys = {each.key for each in held}
    return {
        channel: [each for each in found if each.key not in keys]
        for channel, found in draft.found.items()
        if channel == "semantic"
    }


def graduate(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Join two lists by reciprocal ranks: pinned memories come first unless they are weak, those without any word last.

    Earlier parts are shown without a share, since only the rank counts now.
    """
    worth = draft.recipe.here
    if not worth:
        return draft
    ranked = [Found(key, draft.score(key)) for key in draft.ranked()]
    word_scores = {
        key: part.score for key, _ in ranked for part in draft.parts[key] if part.channel == "lexical"
    }
    weak = _WEAK * max(word_scores.values(), default=0.0)
    worded = [each for each in ranked if each.key in word_scores]
    rest = [each for each in ranked if each.key not in word_scores]
    pinned = [each for each in worded if _is_here(draft, each.key) and word_scores[each.key] >= weak]
    shares = by_rank(ranked, 1.0, 0.0)
    parts = {key: tuple(part._replace(share=0.0) for part in draft.parts[key]) for key, _ in (*worded, *rest)}
    draft = replace(draft, parts=parts, boosts={})
    draft = with_part(draft, "everywhere", worded, shares[: len(worded)])
    draft = with_part(draft, "wordless", rest, shares[len(worded) :])
    return with_part(draft, "here", pinned, by_rank(pinned, worth, 0.0))


def _is_here(draft: RecallDraft, key: Key) -> bool:
    return draft.conversation is not None and draft.matches[key].conversation == draft.conversation
