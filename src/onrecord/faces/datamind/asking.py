"""HOW do datamind's four tools become our operations? Each asks one door, whose tenant is the profile.

Who asks decides which profile and session there are. What a model names may narrow that, never widen it: to everyone
another profile looks like one that has nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from onrecord.context.conversation import for_own_eyes, inside
from onrecord.errors import Fault, Forbidden, Invalid, NotFound
from onrecord.faces.datamind import items
from onrecord.faces.datamind.items import MemoryItem, item_of
from onrecord.model.caller import GLOBAL_IS_GIVEN
from onrecord.model.limits import Scope, Status
from onrecord.model.unset import UNSET
from onrecord.service import OnRecord

_ALSO_ARCHIVED: Final[tuple[Status, ...]] = ("active", "archived", "superseded")
_PAGE: Final = 1_000
#: Where nothing was asked, each item fits as well as any other.
_UNRANKED: Final = 1.0


#: What a field of ours is called there.
_THEIR_FIELD: Final = {
    "question": "query",
    "conversation": "session_id",
    "id": "item_id",
    "tenant": "profile",
}


@contextmanager
def _in_their_words() -> Iterator[None]:
    """Whatever is wrong with a field is told by the name under which it was given."""
    try:
        yield
    except Invalid as problem:
        faults = [Fault(_THEIR_FIELD.get(each.field, each.field), each.message) for each in problem.faults]
        raise Invalid(faults) from None


class Saved(NamedTuple):
    """The id of an item that was kept, and what is to be said of it: what an unattended run shares waits for a person."""

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
    """Keep one item, for this profile unless a scope says otherwise; what is like another stays beside it."""
    if profile not in (None, door.caller.tenant):
        raise Forbidden(f"Profile {profile!a} is not this caller's own; leave it out to save in yours.")
    there = _in_session(door, session_id)
    ours = items.our_scope(scope)
    if ours == "session" and there.caller.conversation is None:
        raise Invalid([Fault("session_id", "is required when scope is session: this request is in none")])
    if ours == "global" and not there.caller.changes_global:
        raise Invalid([Fault("scope", f"saving for everyone {GLOBAL_IS_GIVEN}; use profile")])
    saved = there.remember(
        content,
        id=UNSET if id is None else id,
        kind=items.our_kind(kind),  # type: ignore[arg-type]
        scope=ours,
        # What is for a profile or for everyone belongs to no thread.
        conversation=there.caller.conversation if ours == "session" else None,
        metadata=metadata or {},
        dedupe=False,
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
    """The session's, the profile's and everyone's items that bear on a question, and no others, best first."""
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
    return [item_of(hit.memory, hit.score) for hit in found.hits]


@_in_their_words()
def newest(
    door: OnRecord, top_k: int = items.DEFAULT_RECALLED, profile: str | None = None
) -> list[MemoryItem]:
    """Where there is no question: the last of the session's, the profile's and everyone's items."""
    scopes = _reached(door, profile, None)
    page = _mine(door).browse(scopes=scopes, limit=items.how_many(top_k))
    return [item_of(memory, _UNRANKED) for memory in page.memories]


def _reached(there: OnRecord, profile: str | None, scope_filter: Sequence[str] | None) -> list[Scope]:
    """The scopes of a filter that are open from there: of another profile, only what is for everyone."""
    scopes: set[Scope] = set(items.our_scopes(scope_filter))
    if profile not in (None, there.caller.tenant):
        scopes &= {"global"}
    if there.caller.conversation is None:
        scopes -= {"session"}
    return sorted(scopes)


def _mine(there: OnRecord) -> OnRecord:
    """An admin may read every session; what is recalled is meant for this one."""
    return there.as_caller(for_own_eyes(there.caller))


def _places(per_scope: Mapping[str, int] | None) -> dict[str, int]:
    """How many places each scope has at least; two, four and two unless it is said."""
    return {
        f"{scope}_places": places for scope, places in (per_scope or {}).items() if items.our_scope(scope)
    }


class Ended(NamedTuple):
    """Whether an item has ended, and what is to be said of it: one that a person wrote waits for a person."""

    deleted: bool
    notes: tuple[str, ...] = ()


def forget(door: OnRecord, item_id: str, hard: bool = False) -> Ended:
    """Archive an item, or erase it; whether there was anything to do. Whoever does not own it is refused."""
    try:
        if hard:
            gone = door.forget(item_id)
            return Ended(gone.proposal is None, gone.warnings)
        retired = door.retire(item_id)
        return Ended(retired.changed, retired.warnings)
    except (NotFound, Invalid):
        # What is no id at all is the id of nothing.
        return Ended(False)


def list_profiles(door: OnRecord) -> list[str]:
    """The caller's own, if there is anything active in it: a key covers one profile."""
    return [door.caller.tenant] if door.browse(scopes=["tenant"], limit=1).memories else []


@_in_their_words()
def count(
    door: OnRecord,
    scope: str | None = None,
    session_id: str | None = None,
    include_archived: bool = False,
) -> int:
    """How many items there are, as far as the caller sees them: of one session, or of all that are open to them."""
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
