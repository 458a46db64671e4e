"""WHICH words does it have? A long text is cut into words before the transaction, which then only writes them."""

from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.text import cut_ahead


def cut(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    cut_ahead(draft.ready.content)
    return draft
