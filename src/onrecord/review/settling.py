"""HOW does a changeset end, even if the process that applied it died? The same code serves both cases."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from onrecord.catalog.targets import Target
from onrecord.catalog.targets.choosing import Targets
from onrecord.errors import CatalogUnavailable, Conflict
from onrecord.model.caller import Caller
from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.edits import Cell, same_value
from onrecord.model.limits import GLOBAL_TENANT, REASON_CHARACTERS, TENANT_PERMISSIONS, AfterRollBack
from onrecord.model.memory import Change, Memory, Proposal
from onrecord.model.service_address import ServiceAddress
from onrecord.remember.supersede import brought_back, end
from onrecord.review.planning import is_approved
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store

#: After this time the process that applies a changeset counts as dead: a changeset is small enough to be applied by then.
LEFT_AFTER: Final = timedelta(minutes=1)
_NO_NOTES: Final[Mapping[Cell, str]] = {}


def settle_changesets(targets: Targets) -> tuple[str, ...]:
    """Settle the changesets that were left half applied or half rolled back in the caller's tenant, and return their ids.
    Those of a catalog that does not answer wait for the next call.
    """
    tenant, now = targets.caller.tenant, targets.now
    with targets.store.reading(_acting(tenant, tenant), now) as reading:
        left = reading.changesets.unsettled(now - LEFT_AFTER)
    settled = []
    for changeset in left:
        caller = _acting(tenant, changeset.ended_by or changeset.by)
        with suppress(CatalogUnavailable):
            settled.append(_settled(replace(targets, caller=caller), changeset).id)
    return tuple(settled)


def settle_all(
    store: Store, now: datetime, *, embeds: bool = False, datahub: ServiceAddress | None = None
) -> tuple[str, ...]:
    """Settle such changesets in every tenant."""
    with store.archive() as archive:
        tenants = sorted({home.tenant for home in archive.homes()} - {GLOBAL_TENANT})
    return tuple(
        id
        for tenant in tenants
        for id in settle_changesets(Targets(store, _acting(tenant, tenant), now, embeds, datahub))
    )


def _settled(targets: Targets, changeset: Changeset) -> Changeset:
    store, caller, now = targets.store, targets.caller, targets.now
    target = targets.named(changeset.target)
    if changeset.state == "rolling_back":
        return finish_roll_back(store, caller, now, target, changeset)
    if changeset.state == "taking_back":
        return _finish_take_back(store, caller, now, target, changeset)
    if not _is_whole(target, changeset):
        return take_back(store, caller, now, target, changeset, "the process that applied it ended")
    try:
        return finish_apply(store, caller, now, changeset)
    except Conflict as problem:
        return take_back(store, caller, now, target, changeset, str(problem))


def _acting(tenant: str, user: str) -> Caller:
    """Its user, with every permission of the tenant."""
    return Caller(tenant=tenant, user=user, permissions=frozenset(TENANT_PERMISSIONS))


def changes_something(change: FieldChange) -> bool:
    return change.renews or not same_value(change.before, change.after)


def to_write(changeset: Changeset) -> tuple[FieldChange, ...]:
    """The changes of a changeset that change something, or did."""
    return tuple(each for each in changeset.changes if each.written or changes_something(each))


def _is_whole(target: Target, changeset: Changeset) -> bool:
    wanted = to_write(changeset)
    return target.written(changeset, wanted) == {each.edit.cell for each in wanted}


def finish_apply(store: Store, caller: Caller, now: datetime, changeset: Changeset) -> Changeset:
    """The second transaction of an apply: the changeset is applied, and so are its proposals."""
    with store.writing(with_every_right(caller), now) as writing:
        return applied(writing, changeset, Change("apply", caller.user, caller.actor, now))


def applied(
    writing: Writing, changeset: Changeset, change: Change, notes: Mapping[Cell, str] = _NO_NOTES
) -> Changeset:
    """The changeset and its proposals, applied; Conflict if one of them is no longer approved."""
    held = writing.changesets.one(changeset.id)
    if held is None or held.state != "applying":
        raise Conflict(f"Another process has finished changeset {changeset.id} meanwhile.")
    proposals = _proposals(writing, changeset)
    if gone := sorted(set(changeset.memories) - {each.id for each in proposals if is_approved(each)}):
        raise Conflict(f"No longer approved: {', '.join(gone)}.")
    for each in proposals:
        done = replace(each, changeset=changeset.id, updated_at=max(change.at, each.updated_at))
        writing.replace(each, done, change)
    changes = tuple(
        replace(each, written=changes_something(each), note=notes.get(each.edit.cell))
        for each in held.changes
    )
    return writing.changesets.replace(replace(held, state="applied", changes=changes, updated_at=change.at))


def take_back(
    store: Store, caller: Caller, now: datetime, target: Target, changeset: Changeset, why: str
) -> Changeset:
    """End a failed apply: restore the old values, and leave its proposals approved. Returns the changeset as stored:
    if another process settled it first, that result stays.
    """
    with store.writing(with_every_right(caller), now) as writing:
        held = writing.changesets.one(changeset.id)
        if held is None or held.state != "applying":
            return held or changeset
        # From here on nothing more of it is written, and nobody else finishes it.
        begun = writing.changesets.replace(
            replace(held, state="taking_back", updated_at=now, ended_reason=why[:REASON_CHARACTERS])
        )
    return _finish_take_back(store, caller, now, target, begun)


def _finish_take_back(
    store: Store, caller: Caller, now: datetime, target: Target, changeset: Changeset
) -> Changeset:
    changes = restored(target, changeset)
    with store.writing(with_every_right(caller), now) as writing:
        held = writing.changesets.one(changeset.id)
        if held is None or held.state != "taking_back":
            return held or changeset
        writing.note("apply", changeset.entity)
        return writing.changesets.replace(replace(held, state="failed", changes=changes, updated_at=now))


def restored(target: Target, changeset: Changeset) -> tuple[FieldChange, ...]:
    """The changes after their old values were put back; each that could not be put back carries the reason."""
    kept = target.restore(changeset, to_write(changeset))
    return tuple(
        replace(each, note=kept[each.edit.cell][:REASON_CHARACTERS])
        if each.edit.cell in kept
        else replace(each, written=False, note=None)
        for each in changeset.changes
    )


def finish_roll_back(
    store: Store, caller: Caller, now: datetime, target: Target, changeset: Changeset
) -> Changeset:
    """Restore each value not changed since, then end the changeset."""
    changes = restored(target, changeset)
    with store.writing(with_every_right(caller), now) as writing:
        return rolled_back(writing, changeset, changes, now)


def rolled_back(
    writing: Writing, changeset: Changeset, changes: Sequence[FieldChange], now: datetime
) -> Changeset:
    """The changeset, rolled back."""
    held = writing.changesets.one(changeset.id)
    if held is None or held.state != "rolling_back":
        return held or changeset
    return writing.changesets.replace(
        replace(held, state="rolled_back", changes=tuple(changes), updated_at=now)
    )


def return_proposals(writing: Writing, changeset: Changeset, then: AfterRollBack, change: Change) -> None:
    """Let the proposals that a changeset applied wait for review again, or archive them. What their approval superseded
    counts again.
    """
    why = f": {changeset.ended_reason}" if changeset.ended_reason else ""
    reason = f"rolled back by {change.by}{why}"[:REASON_CHARACTERS]
    for each in _proposals(writing, changeset):
        if not each.is_live or each.changeset != changeset.id:
            continue
        olds = tuple(brought_back(writing, each, change))
        if then == "archive":
            end(writing, each, "archived", change.at, reason, change)
        else:
            writing.replace(each, _waiting_again(each, olds, reason, change.at), change)


def _waiting_again(memory: Memory, olds: Sequence[Memory], reason: str, now: datetime) -> Memory:
    ids, versions = tuple(each.id for each in olds), tuple(each.version for each in olds)
    return replace(
        memory,
        status="pending",
        status_reason=reason,
        proposes=Proposal(change="supersede" if olds else "save", of=ids, versions=versions),
        approved_by=None,
        approved_at=None,
        changeset=None,
        updated_at=max(now, memory.updated_at),
    )


def _proposals(writing: Writing, changeset: Changeset) -> list[Memory]:
    """The proposals of a changeset that are still there: one may have been forgotten."""
    found = []
    for id in changeset.memories:
        if writing.memory(id) is not None:
            found.append(writing.reviewable(id))
    return found


def with_every_right(caller: Caller) -> Caller:
    """The caller with all permissions, to end proposals that only their owners see."""
    return replace(caller, permissions=frozenset(TENANT_PERMISSIONS))
