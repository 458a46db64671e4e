"""WHICH memories does a save name? The one with its id, if there is one, and those that it supersedes."""

from dataclasses import replace

from onrecord.errors import Forbidden
from onrecord.model import ids
from onrecord.model.memory import Memory
from onrecord.model.unset import Unset
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing


def identify(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    ask, new = draft.ask, draft.ready
    named = tuple(writing.meant(ask.supersedes)) if ask.supersedes else ()
    if isinstance(ask.id, Unset):
        return replace(draft, named=named)
    # The scope may say that the id is that of a global memory.
    held = writing.holder(new.id if new.scope == "global" else ask.id)
    if held is not None:
        new = replace(new, id=held.id)
    elif ids.owner_of(new.id) not in (None, draft.caller.user):
        raise Forbidden(f"There is no memory {new.id} here, and only its owner can save one under that id.")
    return replace(draft, memory=new, held=held, named=named)


def with_own_id(draft: SaveDraft, new: Memory, writing: Writing) -> Memory:
    """A new memory with its id: with the caller's name in front if not everyone sees it."""
    if not new.id:
        return new
    is_everyones = new.scope == "global" or (new.scope == "tenant" and not new.waits)
    new = replace(new, id=ids.kept_under(new.id, draft.caller.user, is_everyones=is_everyones))
    writing.require_free(new.id)
    return new
