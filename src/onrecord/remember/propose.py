"""WHAT happens to a change that its caller may not make? It becomes a proposal: a memory that waits and names what it
would change.

Once a person approves it (`review.py`), it takes effect; until then answers keep the old text.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from onrecord.errors import HigherTier
from onrecord.model.caller import Caller
from onrecord.model.findings import RejectedProposal
from onrecord.model.limits import HINT_CHARACTERS, ProposedChange
from onrecord.model.memory import Change, Memory, Proposal, changed_fields, derive_title, pinned_to
from onrecord.model.tiers import WORDS
from onrecord.operation import Call
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.remember.rejected import like_it, not_again, rejected_before
from onrecord.remember.scrub import scrub_memory, scrub_reason
from onrecord.remember.within_limits import refuse_too_many
from onrecord.store.ports.records import Writing

#: Fields that are set by who proposes and who approves.
_FOLLOWS: Final = frozenset(
    {
        *("owner", "author", "origin", "approved_by", "approved_at", "created_at", "valid_to", "proposes"),
        *("changeset", "checks", "check_state"),
    }
)
_DONE: Final[dict[ProposedChange, str]] = {
    "save": "be saved",
    "revise": "revise",
    "supersede": "supersede",
    "retire": "retire",
    "forget": "erase",
}


class Proposer(NamedTuple):
    """Who proposes, when, and within which limits; `embeds` if the proposal must also make its vectors, `tries` on a
    dry run.
    """

    caller: Caller
    now: datetime
    saves_per_run: int
    embeds: bool
    tries: bool = False
    what_is_new: str | None = None

    @classmethod
    def of(cls, call: Call, what_is_new: str | None, *, tries: bool = False) -> "Proposer":
        embeds = call.embedders.current is not None
        new = scrub_reason(what_is_new)
        return cls(call.caller, call.now, call.policy.saves_per_run, embeds, tries, new)

    @classmethod
    def of_draft(cls, draft: SaveDraft, tools: SaveTools, *, embeds: bool) -> "Proposer":
        tries, new = draft.ask.dry_run, draft.what_is_new
        return cls(draft.caller, draft.now, tools.saves_per_run, embeds, tries, new)

    @property
    def change(self) -> Change:
        return Change("propose", self.caller.user, self.caller.actor, self.now)


class Proposed(NamedTuple):
    """A stored proposal, and notes for the caller, of which the last says what happens to it. If the same proposal was
    rejected before and nothing is new, `memory` is the rejected one and nothing is stored.
    """

    memory: Memory
    notes: tuple[str, ...]
    rejected: tuple[RejectedProposal, ...] = ()


def proposed_fields(before: Memory, after: Memory) -> tuple[str, ...]:
    """The fields that a proposal would change."""
    return tuple(name for name in changed_fields(before, after) if name not in _FOLLOWS)


def propose_revision(by: Proposer, writing: Writing, before: Memory, after: Memory) -> Proposed:
    """Store the memory as it would be, as a pending proposal."""
    fields = proposed_fields(before, after)
    if not fields:
        # An approval alone cannot be proposed, so this refuses it.
        writing.target(before.id)
    if "edits" in fields:
        raise HigherTier(
            f"A person has approved what memory {before.id} proposes. Propose other changes as a memory of its own."
        )
    wanted = replace(after, status_reason=after.status_reason if "status" in fields else None)
    return _kept(by, writing, [before], wanted, Proposal(change="revise", fields=fields))


def propose_end(
    by: Proposer,
    writing: Writing,
    memory: Memory,
    change: ProposedChange,
    reason: str | None = None,
    at: datetime | None = None,
) -> Proposed:
    """Store a note that says which memory is to end, and why."""
    what = f"{_DONE[change].capitalize()} #{memory.id}: {memory.title}"
    wanted = replace(
        memory,
        title=derive_title(None, what),
        hint=what[:HINT_CHARACTERS],
        content=reason or what,
        tags=(),
        entities=(),
        metadata={},
        query=None,
        artifact=None,
        always_inject=False,
        status_reason=reason,
    )
    return _kept(by, writing, [memory], scrub_memory(wanted)[0], Proposal(change=change, at=at))


def _kept(
    by: Proposer, writing: Writing, targets: Sequence[Memory], wanted: Memory, proposal: Proposal
) -> Proposed:
    """Add the proposal, or replace the same caller's earlier proposal for the same memory."""
    named = replace(
        proposal,
        of=tuple(each.id for each in targets),
        versions=tuple(each.version for each in targets),
        what_is_new=by.what_is_new,
    )
    fresh = pinned_to(replace(wanted, **_anew(by), proposes=named), wanted.pinned)
    before = rejected_before(writing, targets[0], fresh)
    if before is not None and before.finding.is_same and by.what_is_new is None:
        return Proposed(before.memory, (not_again(before.finding),), (before.finding,))
    earlier = _earlier(writing, by.caller, named)
    if earlier is None:
        saved = writing.add(fresh, by.change)
        refuse_too_many(by.caller, writing, by.saves_per_run)
    else:
        same: dict[str, Any] = {"id": earlier.id, "version": earlier.version, "place": earlier.place}
        after = replace(fresh, **same, created_at=earlier.created_at, valid_from=earlier.valid_from)
        changed = changed_fields(earlier, after)
        saved = writing.replace(earlier, after, by.change) if changed else earlier
    if by.embeds:
        writing.embed(saved, None, ())
    note = proposal_note(saved, targets, is_trial=by.tries)
    return Proposed(saved, (note,) if before is None else (like_it(before.finding), note))


def _anew(by: Proposer) -> dict[str, Any]:
    """The fields that make it a memory of its own, by its proposer."""
    return {
        "id": "",
        "version": 1,
        "place": None,
        "owner": by.caller.user,
        "author": by.caller.user,
        "origin": by.caller.actor,
        "created_at": by.now,
        "updated_at": by.now,
        "valid_to": None,
        "status": "pending",
        "approved_by": None,
        "approved_at": None,
        # The copy that waits changes another memory; it proposes nothing to the catalog itself.
        "edits": None,
        "changeset": None,
        # A check proves the memory that it was added to.
        "checks": (),
        "check_state": None,
    }


def _earlier(writing: Writing, caller: Caller, proposal: Proposal) -> Memory | None:
    """The same caller's earlier proposal for the same memory that nobody has reviewed yet."""
    for memory in writing.proposals(proposal.of[0]):
        known = memory.proposes
        assert known is not None
        same = (known.change, known.of) == (proposal.change, proposal.of)
        if (
            same
            and memory.status == "pending"
            and (memory.owner, memory.origin) == (caller.user, caller.actor)
        ):
            return writing.target(memory.id)
    return None


def proposal_note(memory: Memory, targets: Sequence[Memory] = (), *, is_trial: bool = False) -> str:
    """The note about a waiting memory; on a dry run, about one that would wait."""
    assert memory.proposes is not None
    kept, accept = f"Kept as proposal #{memory.id}", f"; `onrecord approve {memory.id}` accepts it."
    if is_trial:
        kept, accept = "This would be kept as a proposal", " until a person accepts it."
    if not memory.proposes.of:
        return kept + accept
    named = ", ".join(f"#{id}" for id in memory.proposes.of)
    why = f" ({', '.join(dict.fromkeys(WORDS[each.tier] for each in targets))})" if targets else ""
    what = f"{_DONE[memory.proposes.change]} {named}{why}"
    if memory.proposes.fields == ("always_inject",):
        what = f"{'give' if memory.always_inject else 'no longer give'} {named}{why} to agents without asking"
    return f"{kept} to {what}, which stays as it is{accept}"
