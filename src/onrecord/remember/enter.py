"""WHICH conversation does it belong to? A save from inside one begins it if need be; a name is resolved for the caller."""

from dataclasses import replace

from onrecord.model.memory import pinned_to
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing
from onrecord.workspace import conversations


def enter(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    memory, spoken_in = draft.ready, draft.caller.conversation
    here = None if spoken_in is None else conversations.enter(writing)
    if here is not None:
        draft = replace(draft, caller=draft.caller.inside(here.key.id, here.key.by))
    if memory.conversation is None:
        return draft
    there = conversations.writable(writing.workspace, memory.conversation)
    return replace(draft, memory=pinned_to(memory, there.key))
