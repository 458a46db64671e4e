"""IS it sound? Fills in what was left out, and refuses what does not fit together."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from onrecord.errors import Fault, Invalid
from onrecord.model import ids
from onrecord.model.caller import GLOBAL_IS_GIVEN
from onrecord.model.limits import DEFAULT_CONFIDENCE, DEFAULT_KIND, DIMENSION_OF, GLOBAL_TENANT, SHARED_SCOPES
from onrecord.model.memory import Memory, Proposal, derive_title
from onrecord.model.record import GLOBAL_EDITS
from onrecord.model.request import request_fields
from onrecord.model.unset import Unset, given
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.remember.placement import placement_of

if TYPE_CHECKING:
    from onrecord.remember.remember import Remember

#: Fields that are not stored as given, but decided here: the id, who may see the memory, its status, and when it was made.
_NOT_PLAIN: Final = frozenset(
    {"id", "scope", "persona", "system", "conversation", "created_at", "status", "status_reason"}
)
_PLAIN: Final = frozenset(each.name for each in fields(Memory)) - _NOT_PLAIN


def check(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    """Make the memory that the request describes, without regard to any that exists."""
    ask, caller = draft.ask, draft.caller
    faults = list(_faults(draft))
    if faults:
        raise Invalid(faults)
    values = given_values(ask)
    kind = values.setdefault("kind", DEFAULT_KIND)
    values.setdefault("dimension", DIMENSION_OF[kind])
    values.setdefault("confidence", DEFAULT_CONFIDENCE)
    values.setdefault("title", derive_title(values.get("hint"), ask.content))
    written = draft.now if isinstance(ask.created_at, Unset) else ask.created_at
    values.setdefault("valid_from", written)
    placement = placement_of(ask, caller)
    scope = "global" if is_global(ask) else placement.scope
    is_capped = caller.active_at_once and caller.run is not None
    unreviewed = caller.actor == "unattended" and scope in SHARED_SCOPES and not is_capped
    if ask.review and scope != "global":
        # A save that asks for review proposes something, if only the memory itself.
        values.setdefault("edits", ())
    waits = unreviewed or ask.review or values.get("edits") is not None
    memory = Memory(
        tenant=caller.tenant,
        id=_id(ask),
        owner=caller.user,
        author=caller.user,
        origin=caller.actor,
        created_at=written,
        updated_at=written,
        status="pending" if waits else "active",
        proposes=Proposal(change="save") if waits else None,
        scope=scope,
        persona=placement.persona,
        system=placement.system,
        # A global memory would show the name to everyone.
        conversation=None if scope == "global" else given(ask.conversation, caller.conversation),
        **values,
    )
    return replace(draft, memory=memory)


def _id(ask: "Remember") -> str:
    """The id as people see it; empty if the store is to choose."""
    if isinstance(ask.id, Unset):
        return ""
    plain = ids.address(ask.id).id
    return ids.spell(GLOBAL_TENANT, plain) if is_global(ask) else plain


def given_values(ask: Any) -> dict[str, Any]:
    """The plain fields that were given at all."""
    values = {each.name: getattr(ask, each.name) for each in request_fields(ask) if each.name in _PLAIN}
    return {name: value for name, value in values.items() if not isinstance(value, Unset)}


def is_global(ask: "Remember") -> bool:
    """Whether a save is for every tenant."""
    return ask.scope == "global" or (
        not isinstance(ask.id, Unset) and ids.address(ask.id).tenant == GLOBAL_TENANT
    )


def _faults(draft: SaveDraft) -> Iterator[Fault]:
    ask = draft.ask
    if is_global(ask):
        if not isinstance(ask.scope, Unset) and ask.scope != "global":
            yield Fault("scope", f"the id {ask.id} names a global memory, whose scope is global")
        if not draft.caller.changes_global:
            yield Fault(
                "id", f"names a global memory, and saving one {GLOBAL_IS_GIVEN}; use an id of your own"
            )
        if not isinstance(ask.id, Unset) and ids.owner_of(ids.address(ask.id).id) is not None:
            yield Fault(
                "id",
                "has a user's name in front, which the id of a global memory cannot have; leave the name out",
            )
            return
        if not isinstance(ask.edits, Unset):
            yield Fault("edits", GLOBAL_EDITS)
    if _id(ask) in ask.supersedes:
        yield Fault("supersedes", f"a memory cannot supersede itself ({_id(ask)})")
    if ask.supersedes and not isinstance(ask.valid_from, Unset) and ask.valid_from > draft.now:
        yield Fault("valid_from", "must not be in the future when the memory supersedes others")
