"""DO the words stand together? A phrase counts more than words near each other, and those more than words apart."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from recollect.recall.draft import Candidate, Draft, Tools, boosted
from recollect.text import Token

PHRASE: Final = 1.25
NEAR: Final = 1.1
#: Words this far apart at most are near each other.
NEAR_WORDS: Final = 8

Places = Mapping[str, Sequence[int]]


def boost_closeness(draft: Draft, tools: Tools) -> Draft:
    words = _words(draft.terms)
    if len(words) < 2:
        return draft
    return replace(draft, candidates=tuple(_raised(candidate, words) for candidate in draft.candidates))


def _raised(candidate: Candidate, words: Sequence[Token]) -> Candidate:
    places = candidate.match.positions
    if is_phrase(words, places):
        return boosted(candidate, "phrase", PHRASE)
    return boosted(candidate, "near", NEAR) if is_near(words, places) else candidate


def _words(terms: Sequence[Token]) -> tuple[Token, ...]:
    """One term a word: a name kept whole stands at the place of its first part and says nothing new here."""
    first: dict[int, Token] = {}
    for token in terms:
        first.setdefault(token.position, token)
    return tuple(first.values())


def is_phrase(words: Sequence[Token], places: Places) -> bool:
    """Whether all words follow each other in the text with the same steps as in the question."""
    start = words[0]
    return any(
        all(at + word.position - start.position in places.get(word.term, ()) for word in words[1:])
        for at in places.get(start.term, ())
    )


def is_near(words: Sequence[Token], places: Places) -> bool:
    """Whether some place in the text has all words within a few words of it."""
    wanted = {word.term for word in words}
    if len(wanted) < 2 or any(term not in places for term in wanted):
        return False
    spots = sorted((at, term) for term in wanted for at in places[term])
    last_seen: dict[str, int] = {}
    for at, term in spots:
        last_seen[term] = at
        if len(last_seen) == len(wanted) and at - min(last_seen.values()) <= NEAR_WORDS:
            return True
    return False
