"""HOW do approved changes reach the catalog whole? They are written down first, then written, then settled.

What stands there is read outside any transaction. The first transaction keeps the changeset as *applying*, with what
stands there now. Then the target writes the values, each only if the old one still stands. The last transaction settles the changeset and its proposals. Wherever the process dies, the changeset says what was to be
written, and `settling.py` ends it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from onrecord.catalog.targets import Moved
from onrecord.errors import Conflict
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.changesets import Changeset
from onrecord.model.edits import EDITS, Edit
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.model.rules import ListOf, OrNone
from onrecord.operation import Call, operation
from onrecord.remember.scrub import scrub_reason
from onrecord.review.planning import Drafted, drafted, is_approved, target_of
from onrecord.review.seeing import require_person, seen_by
from onrecord.review.settling import applied, settle_changesets, take_back, to_write
from onrecord.store.ports.records import Writing


@dataclass(frozen=True, slots=True)
class Apply(Request):
    """Write what approved proposals change in an entity and its parts into the catalog, all or nothing.

    Values that people promoted stay beside what the source says: the next ingest does not wipe them.
    """

    entity: str = ask(rules.Reference(), "The entity, such as shop.orders.", positional=True)
    memories: Sequence[str] = ask(
        ListOf(rules.ID, at_most=limits.APPLIED_AT_ONCE),
        "Only these proposals; left out, all that are approved.",
        (),
    )
    edits: Sequence[Edit | Mapping[str, Any]] = ask(
        EDITS,
        "Write these changes in place of what the proposals say; without memories, from no proposal. Whoever applies them "
        "approves them.",
        (),
    )
    mark: str | None = ask(MAYBE_NAME, "The mark of the plan to apply; fail if it has changed since.", None)
    reason: str | None = ask(OrNone(rules.REASON), "Why.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied(Answer):
    """A changeset that is applied: roll it back by its id. `left` counts approved proposals for which there was no room."""

    changeset: Changeset
    left: int = 0


@operation("write", "memory.review", "POST /changesets")
def apply(call: Call, ask: Apply) -> Applied:
    """Plan, write the changeset down, write its values, and settle it."""
    require_person(call.caller)
    embeds = call.embedders.current is not None
    settle_changesets(call.store, call.now, embeds=embeds, tenant=call.caller.tenant)
    target = target_of(call)
    draft = drafted(call, target, ask.entity, ask.memories, cast(Sequence[Edit], ask.edits))
    _refuse(draft, ask)
    begun = _begun(call, ask, draft, target.name)
    try:
        target.write(begun, to_write(begun))
        with call.writing() as writing:
            return _told(call, writing, applied(writing, begun, call.change("apply")), draft.left)
    except (Moved, Conflict) as problem:
        ended = take_back(call.store, call.caller, call.now, target, begun, str(problem))
        if ended.state == "applied":
            # Whoever settles what was left took us to be gone, and finished it.
            with call.writing() as writing:
                return _told(call, writing, ended, draft.left)
        raise Conflict(
            f"Nothing was applied: {str(problem).rstrip('.')}. Changeset {begun.id} says what was tried; plan again."
        ) from problem


def _told(call: Call, writing: Writing, done: Changeset, left: int) -> Applied:
    answer = Applied(changeset=seen_by(call.caller, done, set(done.memories)), left=left)
    call.done(writing, answer)
    return answer


def _refuse(draft: Drafted, ask: Apply) -> None:
    if not draft.changes:
        raise Conflict(f"No approved proposal changes {draft.entity}. Approve one first, then apply.")
    if ask.mark is not None and ask.mark != draft.mark:
        raise Conflict(f"The plan for {draft.entity} has changed since. Look at it again, then apply.")
    if told := [f"{each.edit.entity} {each.edit.field}: {each.note}" for each in draft.changes if each.note]:
        raise Conflict(f"Nothing was applied. {'; '.join(told)}.")


def _begun(call: Call, ask: Apply, draft: Drafted, target: str) -> Changeset:
    """The first transaction: the changeset as it is about to be applied."""
    with call.writing() as writing:
        _refuse_others(writing, draft)
        begun = writing.changesets.begin(
            Changeset(
                id="",
                entity=draft.entity,
                target=target,
                state="applying",
                changes=draft.changes,
                memories=tuple(each.id for each in draft.proposals),
                by=call.caller.user,
                at=call.now,
                updated_at=call.now,
                reason=scrub_reason(ask.reason),
            )
        )
        writing.note("apply", draft.entity)
        return begun


def _refuse_others(writing: Writing, draft: Drafted) -> None:
    """Refuse what someone else is applying or has changed since it was planned."""
    for each in writing.changesets.unsettled():
        if each.entity == draft.entity:
            raise Conflict(
                f"Changeset {each.id} of {each.entity} is being applied or rolled back. Try again in a minute."
            )
    for proposal in draft.proposals:
        now = writing.reviewable(proposal.id)
        if now.version != proposal.version or not is_approved(now):
            raise Conflict(f"Memory {proposal.id} has changed since this was planned. Plan again.")
