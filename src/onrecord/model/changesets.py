"""WHAT was promoted into the catalog? A changeset: the edits of approved proposals with the values before them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.edits import EDIT, Edit, same_value
from onrecord.model.limits import ChangesetState, ProposalState
from onrecord.model.memory import Memory
from onrecord.model.rules import Choice, Counted, Json, OrNone
from onrecord.model.shapes import Object, Several


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One value before and after; None for no value.

    `under` is what the target needs to put it back, such as what was promoted there before; `renews` if that stays, though
    the source says something else by now. `written` says whether the new value was written, or was about to be, and not
    taken back; `note` says why it was not written, does not show yet, or was not taken back.
    """

    edit: Edit
    before: Any = None
    after: Any = None
    memories: tuple[str, ...] = ()
    approved_by: str | None = None
    under: Mapping[str, Any] | None = None
    renews: bool = False
    written: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changeset:
    """Changes to one entity and its parts, applied together from the proposals in `memories`.

    It is *applying* from before the first value is written until the last is, and *rolling_back* in the same way. One
    that does not come through is *taking_back* until what was written is put back, and then has *failed*.
    """

    id: str
    entity: str
    target: str
    state: ChangesetState
    changes: tuple[FieldChange, ...]
    memories: tuple[str, ...]
    by: str
    at: datetime
    updated_at: datetime
    reason: str | None = None
    ended_by: str | None = None
    ended_at: datetime | None = None
    ended_reason: str | None = None


#: States in which a process is still at work on a changeset, or has left it.
UNSETTLED: Final[tuple[ChangesetState, ...]] = ("applying", "taking_back", "rolling_back")


def proposal_state(memory: Memory, changeset: Changeset | None) -> ProposalState | None:
    """The state of a proposal, given the changeset that it names; None for a memory that proposes nothing."""
    if memory.edits is None:
        return None
    if memory.status == "superseded":
        return "superseded"
    if memory.changeset is not None:
        taken_back = changeset is not None and changeset.state in ("rolling_back", "rolled_back")
        is_back = memory.status == "archived" and taken_back
        return "rolled_back" if is_back else "applied"
    if not memory.is_live:
        return "rejected"
    return "approved" if memory.status != "pending" and memory.approved_by is not None else "pending"


#: Why a changeset that came without its catalog is not applied.
WITHOUT_CATALOG: Final = "it was imported without its catalog and has no effect here"


def without_effect(changeset: Changeset) -> Changeset:
    """A changeset in a store to which it came without its catalog: none of its values is there, and nothing of it
    can be put back or finished. What it had applied is approved there, and can be applied anew.
    """
    changes = tuple(replace(each, under=None, written=False) for each in changeset.changes)
    if changeset.state in ("failed", "rolled_back"):
        return replace(changeset, changes=changes)
    return replace(changeset, state="failed", changes=changes, ended_reason=WITHOUT_CATALOG)


def _faults(clean: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Fault]:
    edit = clean.get("edit")
    if edit is not None and not same_value(clean.get("after"), edit.after):
        yield Fault("after", "is not the result of its edit")


_CHANGE: Final = Object(
    "a change",
    {
        "edit": EDIT,
        "before": OrNone(Json(any_kind=True)),
        "after": OrNone(Json(any_kind=True)),
        "memories": Several(rules.STORED_ID),
        "approved_by": OrNone(rules.NAME),
        "under": OrNone(Json()),
        "renews": rules.FLAG,
        "written": rules.FLAG,
        "note": OrNone(rules.REASON),
    },
    needed=("edit",),
    build=FieldChange,
    between=_faults,
)
#: A whole changeset that comes from outside.
CHANGESET: Final = Object(
    "a changeset",
    {
        "id": Counted(1, 2**53 - 1),
        "entity": rules.Reference(),
        "target": rules.NAME,
        "state": Choice(limits.CHANGESET_STATES),
        "changes": Several(_CHANGE),
        "memories": Several(rules.STORED_ID),
        "by": rules.NAME,
        "at": rules.INSTANT,
        "updated_at": rules.INSTANT,
        "reason": OrNone(rules.REASON),
        "ended_by": OrNone(rules.NAME),
        "ended_at": OrNone(rules.INSTANT),
        "ended_reason": OrNone(rules.REASON),
    },
    needed=("id", "entity", "target", "state", "changes", "memories", "by", "at", "updated_at"),
    build=Changeset,
    passes_over=True,
)
