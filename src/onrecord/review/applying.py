"""HOW do approved changes reach the catalog whole? They are recorded first, then written, then settled.

The current values are read outside any transaction. The first transaction stores the changeset as *applying*, with the
current values. Then the target writes each value, only if the old one is still there. The last transaction settles the
changeset and its proposals. If the process dies, the changeset says what was to be written, and `settling.py` ends it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from onrecord.catalog.targets import Moved, Target
from onrecord.errors import CatalogUnavailable, Conflict
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.changesets import Changeset
from onrecord.model.edits import EDITS, Edit
from onrecord.model.limits import Unknown
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.model.rules import ListOf, OrNone
from onrecord.operation import Call, operation
from onrecord.remember.scrub import scrub_reason
from onrecord.review.planning import Drafted, drafted, is_approved, targets_of
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
    unknown: Unknown = ask(
        rules.Choice(limits.UNKNOWN),
        "An entity that no source has brought: refuse it, or keep what is promoted of it until one brings it.",
        "refuse",
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
    settle_changesets(targets_of(call))
    draft = drafted(call, ask.entity, ask.memories, cast(Sequence[Edit], ask.edits), unknown=ask.unknown)
    _refuse(draft, ask)
    begun, target = _begun(call, ask, draft), draft.target
    try:
        notes = target.write(begun, to_write(begun))
        with call.writing() as writing:
            return _answer(call, writing, applied(writing, begun, call.change("apply"), notes), draft.left)
    except (Moved, Conflict, CatalogUnavailable) as problem:
        ended = _taken_back(call, target, begun, problem)
        if ended.state == "applied":
            # Another process took this one for dead, and finished the changeset.
            with call.writing() as writing:
                return _answer(call, writing, ended, draft.left)
        if isinstance(problem, CatalogUnavailable):
            raise CatalogUnavailable(
                f"Nothing was applied. {problem} Changeset {begun.id} lists what was tried."
            ) from problem
        raise Conflict(
            f"Nothing was applied: {str(problem).rstrip('.')}. Changeset {begun.id} lists what was tried; plan again."
        ) from problem


def _taken_back(call: Call, target: Target, begun: Changeset, why: Exception) -> Changeset:
    """Take back a changeset that failed. If that is not possible now, it happens when the changeset is settled."""
    try:
        return take_back(call.store, call.caller, call.now, target, begun, str(why))
    except CatalogUnavailable as problem:
        raise CatalogUnavailable(
            f"{why} Changeset {begun.id} is partly written, and will be undone as soon as possible: {problem}"
        ) from problem


def _answer(call: Call, writing: Writing, done: Changeset, left: int) -> Applied:
    answer = Applied(changeset=seen_by(call.caller, done, set(done.memories)), left=left)
    call.done(writing, answer)
    return answer


def _refuse(draft: Drafted, ask: Apply) -> None:
    if not draft.changes:
        raise Conflict(f"No approved proposal changes {draft.entity}. Approve one first, then apply.")
    if ask.mark is not None and ask.mark != draft.mark:
        raise Conflict(f"The plan for {draft.entity} has changed since. Look at it again, then apply.")
    if obstacles := [
        f"{each.edit.entity} {each.edit.field}: {each.note}" for each in draft.changes if each.note
    ]:
        raise Conflict(f"Nothing was applied. {'; '.join(obstacles)}.")


def _begun(call: Call, ask: Apply, draft: Drafted) -> Changeset:
    """The first transaction: the changeset as it is about to be applied."""
    with call.writing() as writing:
        _refuse_others(writing, draft)
        begun = writing.changesets.begin(
            Changeset(
                id="",
                entity=draft.entity,
                target=draft.target.name,
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
