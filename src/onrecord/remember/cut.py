"""WHICH words does it have? A long text is cut into them before the transaction, in which they are only written down."""

from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.text import cut_ahead


def cut(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    cut_ahead(draft.ready.content)
    return draft
