"""WHERE does it go? Into a new row, or a new version of the row that holds this memory already."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onrecord.errors import Conflict, Invalid, invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import DIMENSION_OF, SHARED_SCOPES
from onrecord.model.memory import Memory, Proposal, derive_title, pinned_to
from onrecord.model.tiers import written
from onrecord.model.unset import Unset
from onrecord.remember.check import given_values
from onrecord.remember.draft import Outcome, SaveDraft, SaveTools
from onrecord.remember.identify import with_own_id
from onrecord.remember.placement import Placement, placement_faults
from onrecord.remember.propose import Proposer, proposal_note, propose_revision, proposed_fields
from onrecord.remember.rejected import look_back, look_back_at
from onrecord.remember.tag import with_tags
from onrecord.store.ports.records import Writing

if TYPE_CHECKING:
    from onrecord.remember.remember import Remember


def save(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    before = draft.duplicate or draft.held
    if before is None:
        return _added(draft, writing, tools)
    refuse_retired(before)
    if not isinstance(draft.ask.edits, Unset):
        refuse_edits(before)
    after = merged(before, draft)
    draft = look_back_at(draft, writing, before)
    if after == before:
        return replace(draft, memory=before, outcome="unchanged")
    waits = draft.ask.review and before.status != "pending"
    if waits or writing.is_outranked(before) or asks_to_be_injected(draft.caller, before, after):
        fields = proposed_fields(before, after)
        draft = look_back(draft, writing, after, Proposal(change="revise", of=(before.id,), fields=fields))
        if draft.outcome == "rejected":
            return draft
        by = Proposer.of_draft(draft, tools, embeds=False)
        proposed = propose_revision(by, writing, before, after)
        draft = replace(draft, memory=proposed.memory, warnings=(*draft.warnings, *proposed.notes))
        if proposed.rejected:
            return replace(draft, outcome="rejected", rejected=proposed.rejected)
        return replace(draft, outcome="proposed")
    after = replace(after, updated_at=max(draft.now, before.updated_at))
    saved = writing.replace(before, after, draft.change("remember"))
    return replace(draft, memory=saved, outcome="updated")


def _added(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Add a row. If an agent marks a memory to be given without asking, the memory is saved, and the mark waits for a
    person.
    """
    new, caller = with_own_id(draft, draft.ready, writing), draft.caller
    if new.proposes is not None:
        draft = look_back(draft, writing, new, new.proposes)
        if draft.outcome == "rejected":
            return draft
        proposal = replace(new.proposes, what_is_new=draft.what_is_new)
        saved = writing.add(replace(new, proposes=proposal), draft.change("remember"))
        outcome: Outcome = "proposed" if proposal.of else "created"
        note = proposal_note(saved, is_trial=draft.ask.dry_run)
        return replace(draft, memory=saved, outcome=outcome, warnings=(*draft.warnings, note))
    if not new.always_inject or caller.actor == "person":
        return replace(draft, memory=writing.add(new, draft.change("remember")))
    saved = writing.add(replace(new, always_inject=False), draft.change("remember"))
    by = Proposer.of_draft(draft, tools, embeds=tools.embedder is not None)
    proposed = propose_revision(by, writing, saved, replace(saved, always_inject=True))
    return replace(draft, memory=saved, warnings=(*draft.warnings, *proposed.notes))


def merged(before: Memory, draft: SaveDraft) -> Memory:
    """The old memory with the given values; what was not given stays. Values come scrubbed from the draft."""
    ask, fresh = draft.ask, draft.ready
    changes = {name: getattr(fresh, name) for name in given_values(ask)}
    if "query" in changes and fresh.entities:
        # The references of a new query replace the old ones.
        changes["entities"] = fresh.entities
    if draft.tagged:
        both = replace(before, **{name: changes[name] for name in ("tags", "metadata") if name in changes})
        tagged = with_tags(both, draft.tagged, draft.advice[-1])
        changes |= {"tags": tagged.tags, "metadata": tagged.metadata}
    changes |= _moved(ask, fresh)
    if before.status == "stale":
        # Saving it again says that it is true now.
        changes |= {"status": "active", "status_reason": None}
    if before.proposes is not None and draft.what_is_new is not None:
        changes["proposes"] = replace(before.proposes, what_is_new=draft.what_is_new)
    after = with_derived(before, replace(before, **changes), set(changes))
    if "conversation" in changes:
        after = pinned_to(after, fresh.pinned)
    after = written(before, after, draft.caller, draft.now)
    if (placement := _placement(after)) != _placement(before):
        faults = list(placement_faults(placement, draft.caller))
        if faults:
            raise Invalid(faults)
        if fresh.status == "pending" and after.scope in SHARED_SCOPES and before.scope not in SHARED_SCOPES:
            # If an unattended run shares a note of its own with others, the note waits for review.
            after = replace(after, status="pending", proposes=fresh.proposes)
    return after


def _moved(ask: "Remember", fresh: Memory) -> dict[str, Any]:
    """The placement that a save moves a memory to: a scope comes with the names that it needs."""
    given = {
        name for name in ("persona", "system", "conversation") if not isinstance(getattr(ask, name), Unset)
    }
    if not isinstance(ask.scope, Unset):
        given |= {"scope", "persona", "system"} | ({"conversation"} if ask.scope == "session" else set())
    return {name: getattr(fresh, name) for name in given}


def _placement(memory: Memory) -> Placement:
    return Placement(memory.scope, memory.persona, memory.system, memory.pinned)


def with_derived(before: Memory, after: Memory, given: set[str]) -> Memory:
    """A title or dimension that nobody chose follows the text and the kind it was derived from."""
    if "title" not in given and not before.has_own_title:
        after = replace(after, title=derive_title(after.hint, after.content))
    if "dimension" not in given and before.dimension == DIMENSION_OF[before.kind]:
        after = replace(after, dimension=DIMENSION_OF[after.kind])
    return after


def asks_to_be_injected(caller: Caller, before: Memory, after: Memory) -> bool:
    """Whether someone other than a person marks an active memory to be given without asking."""
    asked = after.always_inject and not before.always_inject
    return asked and caller.actor != "person" and before.status != "pending"


def refuse_retired(memory: Memory) -> None:
    if not memory.is_live:
        raise Conflict(
            f"Memory {memory.id} was retired on {memory.valid_to:%Y-%m-%d} ({memory.status}) and no longer changes. "
            "Save what is true now as a new memory without this id, read the old one with as_of, "
            "or forget it first to use its id again."
        )


def refuse_edits(memory: Memory) -> None:
    """What a memory proposes changes only while it waits, or is approved and not applied."""
    if memory.changeset is not None:
        raise Conflict(
            f"The changes that memory {memory.id} proposes were applied (changeset {memory.changeset}). "
            "Roll that back, or propose the next change as a memory of its own."
        )
    if memory.edits is None:
        raise invalid(
            "edits",
            f"memory {memory.id} was not saved as a proposal; propose the change as a memory of its own",
        )
