"""WHERE is it said? The conversation that the caller speaks in is known to its tenant from the first save on."""

from onrecord.papers import conversations
from onrecord.remember.draft import Draft, Tools
from onrecord.store.port import Writing


def enter(draft: Draft, writing: Writing, tools: Tools) -> Draft:
    if draft.caller.conversation is not None:
        conversations.enter(draft.caller, writing.papers())
    return draft
