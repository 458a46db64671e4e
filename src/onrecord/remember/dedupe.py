"""IS it known already? A save with the same content, or a very similar hint, updates that memory in place."""

from dataclasses import replace

from onrecord.model.unset import Unset
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing


def dedupe(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Look for the memory to update. A save with an id of its own, or one that supersedes others, is never merged."""
    ask = draft.ask
    if not ask.dedupe or ask.supersedes or not isinstance(ask.id, Unset):
        return draft
    known = writing.similar(draft.ready, by_hint_alone=ask.by_hint_alone)
    if known is not None and not isinstance(ask.edits, Unset) and (known.edits is None or known.changeset):
        # A memory that proposes nothing, or whose proposal is applied, stays as it is beside a new proposal.
        known = None
    return replace(draft, duplicate=known)
