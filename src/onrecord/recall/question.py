"""WHAT does the question say? Its words, the kinds it hints at, the times it names, and its vector."""

import unicodedata

from onrecord.recall.draft import RecallDraft, RecallTools, replace
from onrecord.text import question_terms
from onrecord.text.intents import read_intents
from onrecord.text.times import read_times


def read_words(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Cut the question into words; there is no query syntax, and punctuation means nothing."""
    return replace(draft, terms=question_terms(draft.ask.question))


def read_kinds(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """The kinds that the caller names; without any, those that cue words suggest."""
    if draft.ask.kinds or not draft.ask.intent:
        return replace(draft, kinds=tuple(draft.ask.kinds))
    return replace(draft, kinds=read_intents(draft.ask.question))


def read_windows(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    if draft.ask.times == "off":
        return draft
    return replace(draft, windows=read_times(draft.ask.question, draft.when.as_of or draft.now))


def embed_question(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    if tools.embedder is None or "semantic" not in draft.recipe.weights or not _says_anything(draft):
        return draft
    vector = tools.embedder.embed_query(draft.ask.question)
    return replace(draft, vector=vector, model=tools.embedder.model)


def _says_anything(draft: RecallDraft) -> bool:
    """Whether there is any word: spaces and punctuation are equally near to every text."""
    return any(unicodedata.category(character)[0] not in "ZPC" for character in draft.ask.question)
