"""WHAT would approved proposals change? Their edits and the current values give the changes."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from onrecord.catalog.amendments import amendments_of, said_anew
from onrecord.catalog.editing import names_inside, root_of
from onrecord.catalog.records import datasource_of, entity_of, model_of
from onrecord.catalog.resolution import Unresolved, resolve
from onrecord.catalog.stored import StoredCatalog
from onrecord.catalog.targets import Target
from onrecord.catalog.targets.choosing import Targets
from onrecord.catalog.targets.unsourced import root_meant
from onrecord.errors import NotFound, invalid
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.changesets import FieldChange
from onrecord.model.edits import Cell, Edit, same_value
from onrecord.model.limits import APPLIED_AT_ONCE, STATUSES, Unknown
from onrecord.model.memory import Memory
from onrecord.model.request import Request, ask
from onrecord.model.rules import ListOf
from onrecord.model.wire import to_json
from onrecord.operation import Call, operation
from onrecord.remember.scrub import scrub_edits
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.records import Reading

_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Plan(Request):
    """See what approved proposals would change in an entity of the catalog and its parts, and what stands in the way; or
    what some that wait for review would change, once they are approved.
    """

    entity: str = ask(rules.Reference(), "The entity, such as shop.orders.", positional=True)
    memories: Sequence[str] = ask(
        ListOf(rules.ID, at_most=limits.APPLIED_AT_ONCE),
        "Only from these proposals, also ones that wait; left out, from all that are approved.",
        (),
    )
    unknown: Unknown = ask(
        rules.Choice(limits.UNKNOWN),
        "An entity that no source has brought: refuse it, or keep what is promoted of it until one brings it.",
        "refuse",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange(Answer):
    """A value now and after it was applied, from these proposals; `conflict` says what stands in the way."""

    edit: Edit
    before: Any = None
    after: Any = None
    memories: tuple[str, ...]
    conflict: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidAnew(Answer):
    """A promoted value whose source says something else than when it was promoted."""

    edit: Edit
    source: Any = None
    approved_by: str | None
    changeset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Answer):
    """What would be applied. `mark` stands for exactly this: apply with it fails if something has changed since.

    `said_anew` lists earlier promoted values whose source says something new: propose the value that is right now, which may
    be the same, or roll the changeset back.
    """

    entity: str
    target: str
    memories: tuple[str, ...]
    changes: tuple[PlannedChange, ...]
    #: Approved proposals that are not in it: so many are applied at once, the oldest first.
    left: int = 0
    said_anew: tuple[SaidAnew, ...] = ()
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A plan with everything that is needed to apply it."""

    entity: str
    target: Target
    proposals: tuple[Memory, ...]
    changes: tuple[FieldChange, ...]
    left: int

    @property
    def mark(self) -> str:
        marked = to_json((self.entity, [(each.id, each.version) for each in self.proposals], self.changes))
        return hashlib.blake2b(json.dumps(marked, sort_keys=True).encode(), digest_size=8).hexdigest()


@operation("read", "memory.read", "GET /plan")
def plan(call: Call, ask: Plan) -> Planned:
    draft = drafted(call, ask.entity, ask.memories, unknown=ask.unknown, waiting=True)
    with call.reading() as reading:
        anew = tuple(_said_anew(draft.entity, StoredCatalog(reading)))
    return Planned(
        entity=draft.entity,
        target=draft.target.name,
        memories=tuple(each.id for each in draft.proposals),
        changes=tuple(
            PlannedChange(
                edit=each.edit,
                before=each.before,
                after=each.after,
                memories=each.memories,
                conflict=each.note,
            )
            for each in draft.changes
        ),
        left=draft.left,
        said_anew=anew,
        mark=draft.mark,
    )


def targets_of(call: Call) -> Targets:
    """Where changes can be written."""
    embeds = call.embedders.current is not None
    return Targets(call.store, call.caller, call.now, embeds, call.policy.datahub)


def drafted(
    call: Call,
    entity: str,
    memories: Sequence[str],
    own: Sequence[Edit] = (),
    *,
    unknown: Unknown = "refuse",
    waiting: bool = False,
) -> Drafted:
    """The changes that approved proposals make to an entity and its parts; a `note` says what prevents one.

    If given, the caller's `own` edits are used instead of the proposals'. Of named proposals also those that wait for
    review, if `waiting`.
    """
    with call.reading() as reading:
        lookup = StoredCatalog(reading)
        root = root_meant(entity, reading, lookup, unknown)
        left = 0
        if memories:
            proposals = _named(memories, reading, waiting)
        elif own:
            proposals = []
        else:
            proposals, left = _approved(root, reading, lookup)
        edits = _sourced(call.caller, own, proposals, lookup)
        target = targets_of(call).of(root, lookup)
    values = target.read({edit.cell for _, edit in edits})
    changes: dict[Cell, FieldChange] = {}
    for source, edit in edits:
        change = _change(source, edit, values)
        why_not = target.obstacle(change) or _conflict(change, edit.cell in values, root)
        change = replace(change, note=why_not)
        known = changes.get(edit.cell)
        changes[edit.cell] = change if known is None else _joined(known, change)
    return Drafted(
        entity=root, target=target, proposals=tuple(proposals), changes=tuple(changes.values()), left=left
    )


class _Source(NamedTuple):
    """Where a change comes from: the proposals, and who approved it."""

    memories: tuple[str, ...]
    approved_by: str | None


def _sourced(
    caller: Caller, own: Sequence[Edit], proposals: Sequence[Memory], lookup: StoredCatalog
) -> list[tuple[_Source, Edit]]:
    """Each edit and its source: a proposal, or the caller who gave the edit."""
    if own:
        source = _Source(tuple(each.id for each in proposals), caller.user)
        return [(source, _resolved(each, lookup)) for each in scrub_edits(own)]
    return [
        (_Source((each.id,), each.approved_by), _resolved(edit, lookup))
        for each in proposals
        for edit in each.edits or ()
    ]


def is_approved(memory: Memory) -> bool:
    """Whether a person has approved what a memory proposes, and it is not applied yet."""
    return (
        memory.edits is not None
        and memory.is_live
        and memory.status != "pending"
        and memory.approved_by is not None
        and memory.changeset is None
    )


def _is_waiting(memory: Memory) -> bool:
    """Whether a memory proposes changes that no person has approved yet; it may count as a text already."""
    applied = memory.changeset is not None
    return memory.edits is not None and memory.is_live and not applied and not is_approved(memory)


def _approved(root: str, reading: Reading, lookup: StoredCatalog) -> tuple[list[Memory], int]:
    """The approved proposals that edit an entity or its parts, as many as are applied at once, and how many are left."""
    wanted = MemoryFilter(
        entities=names_inside(root, reading),
        proposal="approved",
        statuses=STATUSES,
        order="created",
        limit=_PAGE,
    )
    found, after = reading.browse(wanted)
    while after is not None:
        page, after = reading.browse(replace(wanted, after=after))
        found += page
    # The oldest first, as they were proposed. To refer to something is not to edit it.
    edits = [each for each in reversed(found) if _edits_inside(root, each, lookup)]
    return edits[:APPLIED_AT_ONCE], len(edits[APPLIED_AT_ONCE:])


def _edits_inside(root: str, memory: Memory, lookup: StoredCatalog) -> bool:
    return any(root_of(_resolved(edit, lookup).entity) == root for edit in memory.edits or ())


def _named(ids: Sequence[str], reading: Reading, waiting: bool) -> list[Memory]:
    found = [(id, reading.memory(id, by_name=True)) for id in ids]
    if unknown := [id for id, memory in found if memory is None]:
        raise NotFound(f"No memory {', '.join(unknown)}.")
    proposals = [memory for _, memory in found if memory is not None]
    if others := [
        each.id for each in proposals if not (is_approved(each) or (waiting and _is_waiting(each)))
    ]:
        what = "not applied yet" if waiting else "approved and not applied yet"
        raise invalid("memories", f"must be proposals that are {what}; these are not: {', '.join(others)}")
    return proposals


def _resolved(edit: Edit, lookup: StoredCatalog) -> Edit:
    """An edit with its entity's name in the catalog; an unknown entity stays, and becomes a conflict."""
    try:
        return replace(edit, entity=resolve(edit.entity, lookup).canonical)
    except Unresolved:
        return edit


def _change(source: _Source, edit: Edit, values: Mapping[Cell, Any]) -> FieldChange:
    known = values.get(edit.cell)
    return FieldChange(
        edit=edit,
        before=known and known.value,
        after=edit.after,
        memories=source.memories,
        approved_by=source.approved_by,
        under=known and known.under,
        # To agree again with what was promoted is to have seen what the source says now.
        renews=known is not None and known.is_anew and same_value(known.value, edit.after),
    )


def _conflict(change: FieldChange, is_known: bool, root: str) -> str | None:
    edit = change.edit
    if not is_known:
        return f"{edit.entity} is not an entity of the catalog that can be edited"
    if root_of(edit.entity) != root:
        return f"{edit.entity} is not part of {root}: propose it separately"
    if edit.op == "add" and change.before is not None and not same_value(change.before, change.after):
        return "another value is there already: propose to set it"
    return None


def _joined(known: FieldChange, more: FieldChange) -> FieldChange:
    """Two proposals for the same place: one change if they agree."""
    both = replace(known, memories=tuple(dict.fromkeys((*known.memories, *more.memories))))
    if same_value(known.after, more.after):
        return replace(both, note=known.note or more.note)
    if known.memories == more.memories:
        return replace(both, note="two proposals give it different values: leave one out")
    return replace(
        both, note=f"proposals {' and '.join(both.memories)} differ: reject one, or name the other"
    )


def _said_anew(root: str, lookup: StoredCatalog) -> Iterator[SaidAnew]:
    record = lookup.record(root)
    if record is None or entity_of(record)["kind"] not in ("datasource", "model"):
        return
    described = model_of(record) if entity_of(record)["kind"] == "model" else datasource_of(record)
    for each, source in said_anew(described, amendments_of(record)):
        edit = Edit(
            entity=each.entity,
            field=each.field,
            key=each.key,
            op="remove" if each.value is None else "set",
            value=each.value,
        )
        yield SaidAnew(edit=edit, source=source, approved_by=each.approved_by, changeset=each.changeset)
