"""HOW is a changeset rolled back? Each value only if nobody changed it since; the answer names the others."""

from dataclasses import dataclass, replace
from typing import Final

from onrecord.catalog.targets import Target
from onrecord.errors import CatalogUnavailable, Conflict
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.changesets import Changeset
from onrecord.model.limits import AfterRollBack
from onrecord.model.request import Request, ask
from onrecord.model.rules import OrNone
from onrecord.operation import Call, operation
from onrecord.remember.scrub import scrub_reason
from onrecord.review.planning import targets_of
from onrecord.review.seeing import changeset_named, require_person, seen_by, seen_in
from onrecord.review.settling import (
    restored,
    return_proposals,
    rolled_back,
    settle_changesets,
    with_every_right,
)

#: What is being done to a changeset in each of its states that pass.
_UNDER_WAY: Final = {"applying": "applied", "taking_back": "taken back", "rolling_back": "rolled back"}


@dataclass(frozen=True, slots=True)
class RollBack(Request):
    """Take back what a changeset wrote, also one that failed halfway; its proposals wait for review again.

    A value that someone has changed since stays as it is, and the answer names it.
    """

    id: str = ask(rules.ID, "The changeset.", positional=True)
    reason: str | None = ask(OrNone(rules.REASON), "Why.", None)
    then: AfterRollBack = ask(
        rules.Choice(limits.AFTER_ROLL_BACK),
        "What happens to its proposals: review lets them wait for review again, archive ends them; they stay readable.",
        "review",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack(Answer):
    """A changeset that is rolled back; `kept` names what was changed since and stays as it is."""

    changeset: Changeset
    kept: tuple[str, ...] = ()


@operation("write", "memory.review", "POST /changesets/{id}/roll-back")
def roll_back(call: Call, ask: RollBack) -> RolledBack:
    """Note that it is being rolled back, put the values back, and settle it."""
    require_person(call.caller)
    targets = targets_of(call)
    settle_changesets(targets)
    with call.reading() as reading:
        found = changeset_named(reading, ask.id)
        seen = seen_in(reading, found)
    _refuse_covered(targets.named(found.target), found)
    begun = _begun(call, ask)
    # An ingest may have brought meanwhile what it is about.
    target = targets.named(begun.target)
    try:
        changes = restored(target, begun)
    except CatalogUnavailable as problem:
        raise CatalogUnavailable(
            f"{problem} Changeset {begun.id} will be rolled back as soon as possible."
        ) from problem
    with replace(call, caller=with_every_right(call.caller)).writing() as writing:
        done = rolled_back(writing, begun, changes, call.now)
        kept = tuple(each.note for each in done.changes if each.note is not None)
        answer = RolledBack(changeset=seen_by(call.caller, done, seen), kept=kept)
        return call.done(writing, answer)


def _refuse_covered(target: Target, changeset: Changeset) -> None:
    """Raise Conflict if a later changeset changed the same values: rolling that back would restore these."""
    later = target.covered_by(changeset, [each for each in changeset.changes if each.written])
    if later:
        ids = ", ".join(sorted(later))
        raise Conflict(
            f"Changeset {ids} has changed the same values since. Roll that back first, then {changeset.id}."
        )


def _begun(call: Call, ask: RollBack) -> Changeset:
    """The first transaction marks the changeset as being rolled back, and its proposals as no longer applied. So the
    process that finishes it need not know what they become.
    """
    with replace(call, caller=with_every_right(call.caller)).writing() as writing:
        changeset = changeset_named(writing, ask.id)
        if changeset.state == "rolled_back":
            raise Conflict(f"Changeset {changeset.id} has already been rolled back.")
        if changeset.state in _UNDER_WAY:
            raise Conflict(
                f"Changeset {changeset.id} is being {_UNDER_WAY[changeset.state]}. Try again in a minute."
            )
        if not any(each.written for each in changeset.changes) and changeset.state == "failed":
            raise Conflict(f"Changeset {changeset.id} failed, and none of its changes is left to roll back.")
        writing.note("roll_back", changeset.entity)
        begun = replace(
            changeset,
            state="rolling_back",
            updated_at=call.now,
            ended_by=call.caller.user,
            ended_at=call.now,
            ended_reason=scrub_reason(ask.reason),
        )
        return_proposals(writing, begun, ask.then, call.change("roll_back"))
        return writing.changesets.replace(begun)
