"""WHICH tags help to find it? An advisor may add a few to those that were given."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from onrecord.model import limits
from onrecord.model.advice import NOT_ASKED, AdviceInput, Advised
from onrecord.model.memory import Memory
from onrecord.remember.draft import SaveDraft, SaveTools

#: Where the metadata of a memory says which prompt and model had a part in it.
ADVISED: Final = "advised"


def tag(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    """Ask for tags and merge them with the given ones. The memory is saved even if that fails."""
    if tools.advise is None:
        return draft
    memory = draft.ready
    if len(memory.tags) >= limits.TAGS:
        full = Advised(
            task="tag", model="", applied=False, note=f"{NOT_ASKED}it has {limits.TAGS} tags already"
        )
        return replace(draft, advice=(*draft.advice, full))
    texts = (("title", memory.title), ("content", memory.content), ("tags", ", ".join(memory.tags)))
    advised = tools.advise(AdviceInput(texts=texts))
    added = advised.said[: max(limits.TAGS - len(memory.tags), 0)]
    advised = replace(advised, said=added)
    if not added:
        return replace(draft, advice=(*draft.advice, advised))
    tagged = with_tags(memory, added, advised)
    return replace(draft, memory=tagged, tagged=added, advice=(*draft.advice, advised))


def with_tags(memory: Memory, added: tuple[str, ...], advised: Advised) -> Memory:
    """A memory with more tags, which says who gave them."""
    tags = tuple(dict.fromkeys((*memory.tags, *added)))[: limits.TAGS]
    return replace(memory, tags=tags, metadata=with_mark(memory.metadata, advised))


def with_mark(metadata: Mapping[str, Any], advised: Advised) -> dict[str, Any]:
    """The metadata of what an advisor had a part in: the prompt with its version, and the model."""
    before = metadata.get(ADVISED)
    marks = dict(before) if isinstance(before, Mapping) else {}
    return {**metadata, ADVISED: {**marks, advised.task: f"{advised.prompt} {advised.model}"}}
