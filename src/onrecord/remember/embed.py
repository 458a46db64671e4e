"""WHAT does it mean? A vector of the text, made before anything is locked; a job does later what takes long or fails."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from onrecord.errors import ProviderError, StoreUnavailable
from onrecord.model.embedding import EmbeddingModel, Passage, embedded_text, text_hash
from onrecord.providers.embedding import embed_texts
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store

#: A longer text has many passages; a job embeds it, so that the save need not wait.
QUICK_CHARACTERS: Final = 6_000
#: Usual prose of that length has fewer than this. A text of marks or ideographs has one for each, which takes several
#: times as long.
QUICK_PIECES: Final = 2_500
#: About what models read as one: a few letters of a word, and any other character by itself.
_PIECE: Final = re.compile(r"[A-Za-z]{1,5}|\S")

#: How many texts an embedder gets in one call, which has a time limit.
_AT_ONCE: Final = 32

TOO_LONG: Final = "embed: the text is long, so its vectors are made later (`onrecord work`)."


def takes_long(text: str) -> bool:
    """Whether a model has so much to read in a text that its vectors are made later."""
    return len(text) > QUICK_CHARACTERS or sum(1 for _ in _PIECE.finditer(text)) > QUICK_PIECES


def deferred(reason: str) -> str:
    return f"embed: {reason} It will be tried again later."


def embed(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    """Make the vectors of the text, unless the tenant has them already."""
    return embed_all([draft], tools)[0]


def embed_all(drafts: Sequence[SaveDraft], tools: SaveTools) -> list[SaveDraft]:
    """Make the vectors of several texts, for one caller: each text once, and as many in one call as an embedder answers in
    time.
    """
    embedder = tools.embedder
    if embedder is None or not drafts:
        return [*drafts]
    try:
        drafts = [
            replace(each, model=embedder.model, embedded_text=embedded_text(each.ready)) for each in drafts
        ]
    except ProviderError as problem:
        return [_put_off(each, deferred(str(problem))) for each in drafts]
    known = _known(drafts, tools.store, embedder.model)
    fresh = dict.fromkeys(each.embedded_text for each in drafts if each.embedded_text not in known)
    short = [text for text in fresh if not takes_long(text)]
    failure = None
    for start in range(0, len(short), _AT_ONCE):
        texts = short[start : start + _AT_ONCE]
        try:
            known |= zip(texts, embed_texts(embedder, texts), strict=True)
        except ProviderError as problem:
            failure = deferred(str(problem))
            break
    return [_with_vectors(each, known.get(each.embedded_text), failure) for each in drafts]


def _known(
    drafts: Sequence[SaveDraft], store: Store, model: EmbeddingModel
) -> dict[str, tuple[Passage, ...]]:
    """The vectors of the texts that the tenant has already. What the saves are compared with is read in too."""
    first = drafts[0]
    texts = dict.fromkeys(each.embedded_text for each in drafts)
    with store.reading(first.caller, first.now) as reading:
        passages = {text: reading.index.passages_of(text_hash(text), model) for text in texts}
        if any(each.ask.alike != "keep" for each in drafts):
            # A damaged vector is noted where it is searched for.
            with suppress(StoreUnavailable):
                reading.index.warm(model)
    return {text: tuple(known) for text, known in passages.items() if known}


def _with_vectors(draft: SaveDraft, passages: tuple[Passage, ...] | None, failure: str | None) -> SaveDraft:
    if passages is not None:
        return replace(draft, passages=passages)
    if takes_long(draft.embedded_text):
        return _put_off(draft, TOO_LONG)
    assert failure is not None, "a short text without vectors means that the embedder failed"
    return _put_off(draft, failure)


def _put_off(draft: SaveDraft, reason: str) -> SaveDraft:
    return replace(draft, degraded=(*draft.degraded, reason))


def keep_vectors(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Store the vectors with the row, or a job to make them, in the same transaction."""
    if tools.embedder is None:
        return draft
    # Merged with an earlier memory, the text may differ from the one that was embedded.
    is_same = embedded_text(draft.ready) == draft.embedded_text
    writing.embed(draft.ready, draft.model, draft.passages if is_same else ())
    return draft
