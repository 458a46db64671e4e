"""WHAT does it mean? A vector of the text, made before anything is locked; a job does later what takes long or fails."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

from onrecord.errors import ProviderError, StoreUnavailable
from onrecord.model.embedding import embedded_text, text_hash
from onrecord.providers.embedding import embed_texts
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing

#: A longer text has many passages; a job embeds it, so that the save need not wait.
QUICK_CHARACTERS: Final = 6_000
#: Usual prose of that length has fewer than this. A text of marks or ideographs has one for each, which takes several
#: times as long.
QUICK_PIECES: Final = 2_500
#: About what models read as one: a few letters of a word, and any other character by itself.
_PIECE: Final = re.compile(r"[A-Za-z]{1,5}|\S")

TOO_LONG: Final = "embed: the text is long, so its vectors are made later (`onrecord work`)."


def takes_long(text: str) -> bool:
    """Whether a model has so much to read in a text that its vectors are made later."""
    return len(text) > QUICK_CHARACTERS or sum(1 for _ in _PIECE.finditer(text)) > QUICK_PIECES


def deferred(reason: str) -> str:
    return f"embed: {reason} It will be tried again later."


def embed(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    """Make the vectors of the text, unless the tenant has them already."""
    if tools.embedder is None:
        return draft
    text = embedded_text(draft.ready)
    try:
        draft = replace(draft, model=tools.embedder.model, embedded_text=text)
        assert draft.model is not None
        with tools.store.reading(draft.caller, draft.now) as reading:
            known = reading.index.passages_of(text_hash(text), draft.model)
            if draft.ask.alike != "keep":
                # A damaged vector is noted where it is searched for.
                with suppress(StoreUnavailable):
                    reading.index.warm(draft.model)
        if known:
            return replace(draft, passages=tuple(known))
        if takes_long(text):
            return replace(draft, degraded=(*draft.degraded, TOO_LONG))
        return replace(draft, passages=embed_texts(tools.embedder, [text])[0])
    except ProviderError as problem:
        return replace(draft, degraded=(*draft.degraded, deferred(str(problem))))


def keep_vectors(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Store the vectors with the row, or a job to make them, in the same transaction."""
    if tools.embedder is None:
        return draft
    # Merged with an earlier memory, the text may differ from the one that was embedded.
    is_same = embedded_text(draft.ready) == draft.embedded_text
    writing.embed(draft.ready, draft.model, draft.passages if is_same else ())
    return draft
