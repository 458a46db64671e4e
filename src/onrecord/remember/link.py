"""WHICH artifact does it link to? One of the tenant's own must exist when the link is written."""

from dataclasses import replace

from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing
from onrecord.workspace.artifacts import linked_file


def link(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Bring the link to its one form. It is looked up as given: a scrubber may take a long number for a secret."""
    number = linked_file(draft.ask.artifact, writing)
    if number is None:
        return draft
    return replace(draft, memory=replace(draft.ready, artifact=number))
