"""WHICH memories define a word of the question? Whoever answers it needs these, though they say nothing else that it asks."""

from typing import Final

from onrecord.recall.draft import RecallDraft, RecallTools, boosted
from onrecord.text import STOP_TERMS, document_words
from onrecord.text.definitions import defined_term

#: What a definition of a term that stands whole in the question is raised by. Such a note is often short and says nothing else,
#: so that longer ones about several words of the question would come before it.
DEFINES: Final = 1.3
#: How many of the best are looked at.
_LOOKED_AT: Final = 60


def boost_definitions(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise memories that begin by defining a term, if the question contains all of its words."""
    if draft.when.known_at is not None or not draft.terms:
        # Only today's texts are looked at, and they must not show in the past.
        return draft
    asked = {term for terms in document_words(draft.ask.question) for term in terms}
    best = draft.ranked()[:_LOOKED_AT]
    # A turn of a conversation says what somebody thinks that something is.
    openings = tools.reading.openings([key for key in best if draft.matches[key].conversation is None])
    terms = {key: defined_term(opening) for key, opening in sorted(openings.items())}
    defined = {key: _words_of(term) for key, term in terms.items() if term is not None}
    return boosted(
        draft, "defines", {key: DEFINES for key, words in defined.items() if words and words <= asked}
    )


def _words_of(term: str) -> set[str]:
    return {terms[0] for terms in document_words(term) if terms} - STOP_TERMS
