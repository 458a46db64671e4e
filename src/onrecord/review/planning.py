"""WHAT would approved proposals change? From their edits and the values that stand there now to changes."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onrecord.catalog.amendments import amendments_of, said_anew
from onrecord.catalog.editing import names_inside, root_of
from onrecord.catalog.records import datasource_of, entity_of, model_of
from onrecord.catalog.resolution import Unresolved, resolve
from onrecord.catalog.stored import StoredCatalog
from onrecord.catalog.targets import Target
from onrecord.catalog.targets.choosing import Targets
from onrecord.errors import NotFound, invalid
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.changesets import FieldChange
from onrecord.model.edits import Cell, Edit, same_value
from onrecord.model.limits import APPLIED_AT_ONCE, STATUSES
from onrecord.model.memory import Memory
from onrecord.model.request import Request, ask
from onrecord.model.rules import ListOf
from onrecord.model.wire import to_json
from onrecord.operation import Call, operation
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.records import Reading


@dataclass(frozen=True, slots=True)
class Plan(Request):
    """See what approved proposals would change in an entity of the catalog and its parts, and what stands in the way."""

    entity: str = ask(rules.Reference(), "The entity, such as shop.orders.", positional=True)
    memories: Sequence[str] = ask(
        ListOf(rules.ID, at_most=limits.APPLIED_AT_ONCE),
        "Only from these proposals; left out, from all that are approved.",
        (),
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

    `said_anew` lists what was promoted before, where the source says something new: propose what is right now, or roll
    the changeset back.
    """

    entity: str
    target: str
    memories: tuple[str, ...]
    changes: tuple[PlannedChange, ...]
    said_anew: tuple[SaidAnew, ...] = ()
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A plan with all that applying it needs."""

    entity: str
    target: Target
    proposals: tuple[Memory, ...]
    changes: tuple[FieldChange, ...]

    @property
    def mark(self) -> str:
        told = to_json((self.entity, [(each.id, each.version) for each in self.proposals], self.changes))
        return hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=8).hexdigest()


@operation("read", "memory.read", "GET /plan")
def plan(call: Call, ask: Plan) -> Planned:
    draft = drafted(call, ask.entity, ask.memories)
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
        said_anew=anew,
        mark=draft.mark,
    )


def targets_of(call: Call) -> Targets:
    """Where changes can be written."""
    embeds = call.embedders.current is not None
    return Targets(call.store, call.caller, call.now, embeds, call.terms.datahub)


def drafted(call: Call, entity: str, memories: Sequence[str]) -> Drafted:
    """The changes that approved proposals make to an entity and its parts; a `note` says what stands in the way of one."""
    with call.reading() as reading:
        lookup = StoredCatalog(reading)
        root = root_of(resolve(entity, lookup).canonical)
        proposals = _named(memories, reading) if memories else _approved(root, reading)
        edits = [(each, _resolved(edit, lookup)) for each in proposals for edit in each.edits or ()]
        target = targets_of(call).of(root, lookup)
    standing = target.read({edit.cell for _, edit in edits})
    changes: dict[Cell, FieldChange] = {}
    for proposal, edit in edits:
        change = _change(proposal, edit, standing)
        change = replace(
            change, note=target.obstacle(change) or _conflict(change, edit.cell in standing, root)
        )
        known = changes.get(edit.cell)
        changes[edit.cell] = change if known is None else _joined(known, change)
    return Drafted(entity=root, target=target, proposals=tuple(proposals), changes=tuple(changes.values()))


def is_approved(memory: Memory) -> bool:
    """Whether a person has approved what a memory proposes, and it is not applied yet."""
    return (
        memory.edits is not None
        and memory.is_live
        and memory.status != "pending"
        and memory.approved_by is not None
        and memory.changeset is None
    )


def _approved(root: str, reading: Reading) -> list[Memory]:
    wanted = MemoryFilter(
        entities=names_inside(root, reading),
        proposal="approved",
        statuses=STATUSES,
        order="created",
        limit=APPLIED_AT_ONCE,
    )
    found, _ = reading.browse(wanted)
    # The oldest first, as they were proposed.
    return [each for each in reversed(found) if each.edits]


def _named(ids: Sequence[str], reading: Reading) -> list[Memory]:
    found = [(id, reading.memory(id)) for id in ids]
    if unknown := [id for id, memory in found if memory is None]:
        raise NotFound(f"No memory {', '.join(unknown)}.")
    proposals = [memory for _, memory in found if memory is not None]
    if others := [each.id for each in proposals if not is_approved(each)]:
        raise invalid("memories", f"are not approved and unapplied proposals: {', '.join(others)}")
    return proposals


def _resolved(edit: Edit, lookup: StoredCatalog) -> Edit:
    """An edit as the catalog names its entity now; one that it does not know stays, and is told as a conflict."""
    try:
        return replace(edit, entity=resolve(edit.entity, lookup).canonical)
    except Unresolved:
        return edit


def _change(proposal: Memory, edit: Edit, standing: Mapping[Cell, Any]) -> FieldChange:
    known = standing.get(edit.cell)
    return FieldChange(
        edit=edit,
        before=known and known.value,
        after=edit.after,
        memories=(proposal.id,),
        approved_by=proposal.approved_by,
        under=known and known.under,
    )


def _conflict(change: FieldChange, is_known: bool, root: str) -> str | None:
    edit = change.edit
    if not is_known:
        return f"{edit.entity} is nothing in the catalog that can be edited"
    if root_of(edit.entity) != root:
        return f"{edit.entity} is no part of {root}: propose it apart"
    if edit.op == "add" and change.before is not None and not same_value(change.before, change.after):
        return "something else is there already: propose to set it"
    return None


def _joined(known: FieldChange, more: FieldChange) -> FieldChange:
    """Two proposals for the same place: one change if they agree."""
    both = replace(known, memories=tuple(dict.fromkeys((*known.memories, *more.memories))))
    if same_value(known.after, more.after):
        return replace(both, note=known.note or more.note)
    return replace(
        both, note=f"proposals {' and '.join(both.memories)} differ: reject one, or name the other"
    )


def _said_anew(root: str, lookup: StoredCatalog) -> Iterator[SaidAnew]:
    record = lookup.record(root)
    if record is None or entity_of(record)["kind"] not in ("datasource", "model"):
        return
    told = model_of(record) if entity_of(record)["kind"] == "model" else datasource_of(record)
    for each, source in said_anew(told, amendments_of(record)):
        edit = Edit(
            entity=each.entity,
            field=each.field,
            key=each.key,
            op="remove" if each.value is None else "set",
            value=each.value,
        )
        yield SaidAnew(edit=edit, source=source, approved_by=each.approved_by, changeset=each.changeset)
