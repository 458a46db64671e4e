"""WHAT does the question look for? Its words, never its punctuation: a question is not query syntax."""

from dataclasses import replace

from recollect.recall.draft import Draft, Tools
from recollect.text import question_terms


def read_question(draft: Draft, tools: Tools) -> Draft:
    return replace(draft, terms=question_terms(draft.ask.question))
