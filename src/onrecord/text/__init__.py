"""HOW is text cut into words? One analyzer for documents, questions and duplicates, on every database."""

from onrecord.text.analyzer import (
    ANALYZER_VERSION,
    STOP_TERMS,
    Token,
    cut_ahead,
    document_words,
    gather_places,
    identifiers,
    question_terms,
    term_set,
)

__all__ = [
    "ANALYZER_VERSION",
    "STOP_TERMS",
    "Token",
    "cut_ahead",
    "document_words",
    "gather_places",
    "identifiers",
    "question_terms",
    "term_set",
]
