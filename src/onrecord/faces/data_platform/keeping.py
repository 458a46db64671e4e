"""HOW are memories kept in the words of the data platform? memory_manage: one tool with five commands.

This module only translates; the operations decide what is stored, scrubbed, refused and shown. Changing a memory is for
its owner and for admins, whatever else a tenant allows its members.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any, Final

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, VersionConflict, invalid
from onrecord.faces.data_platform.fields import (
    LISTED,
    MOST_LISTED,
    RefusedField,
    check_choices,
    check_content,
    check_entities,
    clamped,
    in_its_words,
    refuse,
)
from onrecord.faces.data_platform.records import record_of, without_derived
from onrecord.model.ids import exactly
from onrecord.model.limits import BROWSE_SKIP, Status
from onrecord.model.memory import Memory
from onrecord.recall.browse import Browsed
from onrecord.remember.remember import Remembered
from onrecord.service import OnRecord

_COMMANDS: Final[Mapping[str, str]] = {
    "remember": "Create a new memory. Needs content; may have dimension, category, confidence, source, entity_urns, metadata.",
    "update": "Revise a memory of yours. Needs id; only what is given changes.",
    "forget": "Archive a memory of yours. Needs id.",
    "list": "List memories, newest first, with filter_dimension, filter_category, filter_status, filter_entity_urn, limit, offset.",
    "review_stale": "List memories that are flagged as stale.",
}
_USE: Final = "use remember, update, forget, list, or review_stale"
#: A preference is one in our words too; everything else is a fact, whose dimension says more.
_KINDS: Final = {"preference": "preference"}
_USUAL: Final[Mapping[str, str]] = {
    "dimension": "knowledge",
    "category": "business_context",
    "confidence": "medium",
    "source": "user",
}
#: What is active in the platform's words.
_ACTIVE: Final[tuple[Status, ...]] = ("active", "pending")
#: How every record is saved: for its readers in every session, also about entities that the catalog does not know,
#: and in place of a record of the same owner in almost the same words.
AS_A_RECORD: Final[Mapping[str, Any]] = {"conversation": None, "unknown": "keep", "alike": "supersede"}
#: How often a change of metadata is made on what someone else has changed meanwhile.
_TRIES: Final = 3


def memory_manage(door: OnRecord, command: str | None = None, **given: Any) -> dict[str, Any]:
    """Do one command; without one, say which there are."""
    if not command:
        return {"commands": dict(_COMMANDS)}
    if command not in COMMANDS:
        raise RefusedField("command", f'unknown command "{command}": {_USE}')
    return COMMANDS[command](door, **given)


@in_its_words()
def remember(
    door: OnRecord,
    content: str | None = None,
    entity_urns: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    persona: str | None = None,
    **given: Any,
) -> dict[str, Any]:
    """Keep a memory for the persona of its writer, or for the tenant if they have none."""
    choices = _chosen(given)
    refuse(check_content(content), check_choices(choices), check_entities(entity_urns))
    session = door.caller.conversation
    wanted: dict[str, Any] = {
        **_USUAL,
        **choices,
        **placement_of(door, persona),
        "content": content,
        "kind": _KINDS.get(choices.get("dimension", ""), "fact"),
        "entities": list(entity_urns or ()),
        "metadata": {**without_derived(metadata or {}), **({"session_id": session} if session else {})},
    }
    saved = door.remember(**AS_A_RECORD, id=token_hex(16), **wanted)
    waits = saved.memory.status == "pending"
    fields = {
        "id": saved.memory.id,
        "status": saved.memory.status,
        "message": "Memory recorded. It waits for a person to review it."
        if waits
        else "Memory recorded successfully.",
    }
    return fields | chain_of(saved) | warned(saved.warnings)


def chain_of(saved: Remembered) -> dict[str, Any]:
    """What a save has superseded, and what is near it; nothing if there is neither."""
    fields: dict[str, Any] = {"superseded_ids": list(saved.superseded)} if saved.superseded else {}
    if saved.similar:
        fields["similar"] = [{"id": each.id, "similarity": each.likeness} for each in saved.similar]
    return fields


def _chosen(given: Mapping[str, Any]) -> dict[str, str]:
    """Those of the arguments that have a closed list, without empty ones."""
    return {name: given[name] for name in _USUAL if given.get(name)}


def placement_of(door: OnRecord, persona: str | None) -> dict[str, Any]:
    personas = sorted(door.caller.personas)
    if not persona and len(personas) > 1:
        raise invalid(
            "persona",
            f"is required: you have several personas, and the memory is for one of {', '.join(personas)}",
        )
    named = persona or next(iter(personas), None)
    return {"scope": "tenant"} if named is None else {"scope": "persona", "persona": named}


def warned(warnings: Sequence[str]) -> dict[str, Any]:
    return {"warnings": list(warnings)} if warnings else {}


@in_its_words("update")
def update(
    door: OnRecord,
    id: str | None = None,
    content: str | None = None,
    entity_urns: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **given: Any,
) -> dict[str, Any]:
    """Change what is given; what is empty stays. A stale memory whose text is revised is active again."""
    _refuse_superseded(door, own_memory(door, id, "update"))
    changes: dict[str, Any] = _chosen(given)
    refuse(
        check_content(content) if content else iter(()), check_choices(changes), check_entities(entity_urns)
    )
    if content:
        changes["content"] = content
    if entity_urns:
        changes["entities"] = list(entity_urns)
    revised = _revised(door, str(id), changes, metadata or {})
    if revised.proposal is not None:
        message = "The memory stays as it is: the change waits for a person to approve it."
        return {"id": revised.memory.id, "message": message, "proposal_id": revised.proposal.id}
    message = "Memory updated successfully." if revised.changed else "The memory says that already."
    return {"id": revised.memory.id, "message": message} | warned(revised.warnings)


def _refuse_superseded(door: OnRecord, memory: Memory) -> None:
    """What was corrected is no longer revised: the correction is."""
    if memory.status != "superseded":
        return
    background = door.show(exactly(memory.id), background=True).background
    by = background and background.superseded_by
    raise Conflict(f"memory {memory.id} is superseded" + (f" by {by}: update {by} instead" if by else ""))


def _revised(door: OnRecord, id: str, changes: Mapping[str, Any], metadata: Mapping[str, Any]) -> Any:
    """Metadata is merged into what is there, so it is read first; if someone changes it meanwhile, it is read again."""
    for tries_left in reversed(range(_TRIES)):
        before = door.show(id).memory
        merged = {"metadata": {**before.metadata, **without_derived(metadata)}} if metadata else {}
        again = {"status": "active", "status_reason": None}
        fresh = again if before.status == "stale" and "content" in changes else {}
        wanted: dict[str, Any] = {**changes, **merged, **fresh}
        try:
            return door.revise(id, **wanted, unknown="keep", expected_version=before.version)
        except VersionConflict:
            if not tries_left:
                raise
    raise AssertionError("the last try returns or raises")


@in_its_words("archive")
def forget(door: OnRecord, id: str | None = None, **_: Any) -> dict[str, Any]:
    """Archive a memory: it is no longer listed or recalled, and a list of archived ones still shows it."""
    own_memory(door, id, "archive", "forget")
    retired = door.retire(str(id))
    if retired.proposal is not None:
        message = "The memory stays: its end waits for a person to approve it."
        return {"id": retired.memory.id, "message": message, "proposal_id": retired.proposal.id}
    done = retired.changed or retired.memory.status == "archived"
    message = "Memory archived successfully." if done else f"Memory is {retired.memory.status} already."
    return {"id": retired.memory.id, "message": message}


def own_memory(door: OnRecord, id: str | None, verb: str, command: str | None = None) -> Memory:
    """The memory, if it is the caller's own or the caller is an admin. The user of a caller is never empty, so nobody
    gets past this for want of a name.
    """
    if not id:
        raise RefusedField("id", f"id is required for {command or verb}")
    try:
        memory = door.show(id).memory
    except Invalid:
        # A text that is not a valid id is the id of no memory.
        raise NotFound from None
    if not (memory.owner == door.caller.user or door.caller.is_admin):
        raise Forbidden(f"you can only {verb} your own memories")
    return memory


@in_its_words()
def list_memories(
    door: OnRecord,
    filter_dimension: str | None = None,
    filter_category: str | None = None,
    filter_status: str | None = None,
    filter_entity_urn: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
    **_: Any,
) -> dict[str, Any]:
    """Memories that the caller sees, newest first: those of their personas and of the tenant; an admin sees all."""
    filters = {
        "filter_dimension": filter_dimension,
        "filter_category": filter_category,
        "filter_status": filter_status,
    }
    refuse(check_choices(filters))
    size, skip = clamped(limit, LISTED, MOST_LISTED), min(max(offset or 0, 0), BROWSE_SKIP)
    wanted: dict[str, Any] = {
        "dimensions": [filter_dimension] if filter_dimension else [],
        "categories": [filter_category] if filter_category else [],
        "statuses": statuses_of(filter_status or "active"),
        "entities": [filter_entity_urn] if filter_entity_urn else [],
    }
    page = without_review(door).browse(
        **wanted,
        order="created",
        limit=size,
        skip=skip,
        count=True,
        background=True,
    )
    return {"records": records_in(page), "total": page.total, "limit": size, "offset": skip}


def review_stale(
    door: OnRecord, limit: int | None = None, offset: int | None = None, **_: Any
) -> dict[str, Any]:
    """The stale memories that the caller sees."""
    page = list_memories(door, filter_status="stale", limit=limit, offset=offset)
    count = page["total"]
    found = "1 stale memory" if count == 1 else f"{count} stale memories"
    return page | {"message": f"{found} found. Use 'update' to revise or 'forget' to archive."}


def statuses_of(status: str) -> Sequence[Status]:
    """Our statuses of one in the platform's words."""
    return _ACTIVE if status == "active" else [status]  # type: ignore[list-item]


def records_in(page: Browsed) -> list[dict[str, Any]]:
    return [record_of(*each) for each in zip(page.memories, page.background, strict=True)]


def without_review(door: OnRecord) -> OnRecord:
    """The door to what counts, and to the caller's own that waits: what others proposed is for a review. An admin sees
    all of it.
    """
    caller = door.caller
    if caller.is_admin or "memory.review" not in caller.permissions:
        return door
    return door.as_caller(replace(caller, permissions=caller.permissions - {"memory.review"}))


COMMANDS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "remember": remember,
    "update": update,
    "forget": forget,
    "list": list_memories,
    "review_stale": review_stale,
}
