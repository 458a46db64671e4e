"""HOW do datamind's four tools become our operations? Each calls one door, whose tenant is the profile.

The caller determines the profile and the session. What a model names can narrow these, never widen them: every other
profile looks as if it were empty.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from onrecord.context.conversation import for_own_eyes, inside
from onrecord.errors import Fault, Forbidden, Invalid, NotFound, StoreUnavailable, invalid
from onrecord.faces.datamind import items
from onrecord.faces.datamind.items import MemoryItem, item_of
from onrecord.model.caller import GLOBAL_IS_GIVEN
from onrecord.model.limits import Scope, Status
from onrecord.model.unset import UNSET
from onrecord.remember.extract import end_of
from onrecord.service import OnRecord

_LOG: Final = logging.getLogger(__name__)
_ALSO_ARCHIVED: Final[tuple[Status, ...]] = ("active", "archived", "superseded")
_PAGE: Final = 1_000
#: The score of every item when there is no question to rank by.
_UNRANKED: Final = 1.0


#: The names that datamind has for our fields.
_THEIR_FIELD: Final = {
    "question": "query",
    "conversation": "session_id",
    "id": "item_id",
    "tenant": "profile",
}
#: Our fields for the places that datamind keeps for each scope.
_PLACES: Final = {"session": "conversation_places", "profile": "tenant_places", "global": "global_places"}


@contextmanager
def _in_their_words() -> Iterator[None]:
    """Raise faults with the field names of datamind, under which the values were given."""
    try:
        yield
    except Invalid as problem:
        faults = [Fault(_THEIR_FIELD.get(each.field, each.field), each.message) for each in problem.faults]
        raise Invalid(faults) from None


class Saved(NamedTuple):
    """The id of a saved item, and notes about it: what an unattended run shares waits for a person to approve it."""

    id: str
    notes: tuple[str, ...] = ()


@_in_their_words()
def save(
    door: OnRecord,
    content: str,
    scope: str = "profile",
    kind: str = "fact",
    profile: str | None = None,
    session_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    id: str | None = None,
) -> Saved:
    """Keep one item, for this profile unless the scope says otherwise. Similar items stay beside one another."""
    if profile not in (None, door.caller.tenant):
        raise Forbidden(f"Profile {profile!a} is not this caller's own; leave it out to save in yours.")
    there = _in_session(door, session_id)
    ours = items.our_scope(scope)
    if ours == "session" and there.caller.conversation is None:
        raise invalid("session_id", "is required when scope is session: this request belongs to no session")
    if ours == "global" and not there.caller.changes_global:
        raise invalid("scope", f"saving for everyone {GLOBAL_IS_GIVEN}; use profile")
    saved = there.remember(
        content,
        id=UNSET if id is None else id,
        kind=items.our_kind(kind),  # type: ignore[arg-type]
        scope=ours,
        # Items for a profile or for everyone belong to no conversation.
        conversation=there.caller.conversation if ours == "session" else None,
        metadata=metadata or {},
        dedupe=False,
        alike="keep",
    )
    return Saved(saved.memory.id, saved.warnings)


@_in_their_words()
def recall(
    door: OnRecord,
    query: str,
    top_k: int = items.DEFAULT_RECALLED,
    scope_filter: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    profile: str | None = None,
    session_id: str | None = None,
    include_archived: bool = False,
    per_scope: Mapping[str, int] | None = None,
) -> list[MemoryItem]:
    """The items about the question, best first: those of the session, those of the profile and those for everyone."""
    there = _in_session(door, session_id)
    scopes = _reached(there, profile, scope_filter)
    asked: dict[str, Any] = {
        "limit": items.how_many(top_k),
        "only_kinds": items.our_kinds(kinds),
        "statuses": _ALSO_ARCHIVED if include_archived else (),
        **_places(per_scope),
    }
    if not scopes:
        return []
    found = _mine(there).recall(query, scopes=scopes, **asked)
    return [item_of(hit.memory, hit.score, door.caller.user) for hit in found.hits]


@_in_their_words()
def newest(
    door: OnRecord, top_k: int = items.DEFAULT_RECALLED, profile: str | None = None
) -> list[MemoryItem]:
    """Without a question: the newest items of the session, of the profile and for everyone."""
    scopes = _reached(door, profile, None)
    page = _mine(door).browse(scopes=scopes, limit=items.how_many(top_k))
    return [item_of(memory, _UNRANKED, door.caller.user) for memory in page.memories]


def _reached(there: OnRecord, profile: str | None, scope_filter: Sequence[str] | None) -> list[Scope]:
    """The scopes of a filter that this caller can reach. If another profile is named, that is only global."""
    scopes: set[Scope] = set(items.our_scopes(scope_filter))
    if profile not in (None, there.caller.tenant):
        scopes &= {"global"}
    if there.caller.conversation is None:
        scopes -= {"session"}
    return sorted(scopes)


def _mine(there: OnRecord) -> OnRecord:
    """The door without the view of an admin: a recall must return only what is for this user."""
    return there.as_caller(for_own_eyes(there.caller))


def _places(per_scope: Mapping[str, int] | None) -> dict[str, int]:
    """How many places each scope has at least; by default two for the session, four for the profile, two global."""
    return {_PLACES[scope]: places for scope, places in (per_scope or {}).items() if items.our_scope(scope)}


@_in_their_words()
def extract(
    door: OnRecord,
    user_turn: str,
    assistant_turn: str,
    scope: str = "session",
    session_id: str | None = None,
) -> list[str]:
    """Save the facts of a turn; returns those that were not known. Whatever goes wrong with them is no error here: a turn
    without facts has none.
    """
    there = _in_session(door, session_id)
    ours = items.our_scope(scope)
    try:
        found = there.extract(end_of(user_turn), assistant_turn=end_of(assistant_turn), scope=ours)
    except (StoreUnavailable, Forbidden) as problem:
        _LOG.warning("No facts were extracted: %s", problem)
        return []
    return [fact.text for fact in found.facts if fact.outcome != "known"]


class Deletion(NamedTuple):
    """Whether an item was archived or erased, and notes about it: if a person wrote it, a person must approve."""

    deleted: bool
    notes: tuple[str, ...] = ()


def forget(door: OnRecord, item_id: str, hard: bool = False) -> Deletion:
    """Archive an item or, with `hard`, erase it. False if there was nothing to do; callers who do not own it are
    refused.
    """
    try:
        if hard:
            gone = door.forget(item_id)
            return Deletion(gone.proposal is None, gone.warnings)
        retired = door.retire(item_id)
        return Deletion(retired.changed, retired.warnings)
    except (NotFound, Invalid):
        # A text that is not a valid id is the id of no item.
        return Deletion(False)


def list_profiles(door: OnRecord) -> list[str]:
    """The caller's own profile, if it has any active item: a key covers one profile."""
    return [door.caller.tenant] if door.browse(scopes=["tenant"], limit=1).memories else []


@_in_their_words()
def count(
    door: OnRecord,
    scope: str | None = None,
    session_id: str | None = None,
    include_archived: bool = False,
) -> int:
    """How many items the caller can see: those of one session, or of all sessions that are open to the caller."""
    scopes = items.our_scopes(None if scope is None else [scope])
    mine = door if session_id is None else _mine(_in_session(door, session_id))
    statuses = _ALSO_ARCHIVED if include_archived else ()
    found, after = 0, None
    while True:
        page = mine.browse(scopes=scopes, statuses=statuses, limit=_PAGE, after=after)
        found, after = found + len(page.memories), page.next
        if after is None:
            return found


def _in_session(door: OnRecord, session_id: str | None) -> OnRecord:
    """The door as seen from a session; Invalid if the request is in another one."""
    caller = inside(door.caller, session_id)
    return door if caller is door.caller else door.as_caller(caller)
