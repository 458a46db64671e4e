"""WHERE is it said? The first save from inside a conversation makes the conversation known to its tenant."""

from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing
from onrecord.workspace import conversations


def enter(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    if draft.caller.conversation is not None:
        conversations.enter(draft.caller, writing)
    return draft
