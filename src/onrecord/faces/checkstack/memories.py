"""HOW does an assistant of the checkstack platform speak to us? With searchMemory, saveMemory and deleteMemory, in
their shapes.

A memory has a hint, which says what it is and when to recall it, and belongs to one user or to one system. This module
only translates; the operations decide what is found, merged, refused and scrubbed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from onrecord.context.conversation import for_own_eyes
from onrecord.context.frame import in_quotes, one_line
from onrecord.errors import Conflict, Fault, Forbidden, Invalid, NotFound, OnRecordError, SaveLimit
from onrecord.model.conversation_names import called
from onrecord.model.memory import Memory
from onrecord.model.rules import FLAG, Choice, Integer, Text
from onrecord.model.shapes import Object, checked_field
from onrecord.model.wire import write_instant
from onrecord.remember.remember import Remembered
from onrecord.service import OnRecord

Scope = Literal["user", "system"]
SCOPES: Final[tuple[Scope, ...]] = ("user", "system")
#: Counts shared words; those in the hint weigh most. A memory that shares no word with a query is no answer here.
RECIPE: Final = "counts"
#: The rule for `limit`: how many memories a search gives at most.
FOUND: Final = Integer(1, 50)
#: The platform's names for our fields.
NAMES: Final[Mapping[str, str]] = {
    "question": "query",
    "hint": "recallHint",
    "system": "systemId",
    "always_inject": "alwaysInject",
    "dry_run": "dryRun",
}
_KIND: Final[Mapping[Scope, str]] = {"user": "preference", "system": "fact"}
_NOT_ALWAYS: Final = (
    "alwaysInject is not set: only callers who manage a system decide what every turn of its readers shows."
)
#: Who must have written a text that every turn shows.
_COUNTING: Final = ("approved", "person")
NOT_AGREED: Final = "Nothing was deleted: a person must agree first."
_NOT_OF_A_SYSTEM: Final = "systemId is not kept: a memory of scope user belongs to no system."


_SAYS: Final = Text(at_least=1)
#: The fields that we check, all at once, before we call an operation.
_GIVEN: Final = Object(
    "what is asked",
    {
        "query": _SAYS,
        "limit": FOUND,
        "id": _SAYS,
        "recallHint": _SAYS,
        "content": _SAYS,
        "scope": Choice(SCOPES),
    },
)


class SaveArguments(NamedTuple):
    """What a caller asks us to save."""

    scope: Scope
    recall_hint: str
    content: str
    system_id: str | None = None
    tags: Sequence[str] | None = None
    always_inject: bool | None = None


def search_memory(door: OnRecord, query: str, limit: int = 10) -> dict[str, Any]:
    """The memories that answer a query, best first; an empty list if none does."""
    checked_field("", _GIVEN, {"query": query, "limit": limit})
    with _in_its_words():
        found = _own(door).recall(query, limit=limit, scopes=SCOPES, recipe=RECIPE, intent=False, times="off")
    return {"memories": [_shown(hit.memory) for hit in found.hits]}


def save_memory(
    door: OnRecord,
    scope: Scope,
    recall_hint: str,
    content: str,
    system_id: str | None = None,
    tags: Sequence[str] | None = None,
    always_inject: bool | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Save a memory, or update the one whose hint says nearly the same. With `dry_run`, only say what would happen."""
    asked = SaveArguments(scope, recall_hint, content, system_id, tags, always_inject)
    if dry_run:
        return {"summary": summarise_save(door, asked)}
    try:
        saved, notes = _saved(door, asked, dry_run=False)
    except SaveLimit as spent:
        return {"error": _spent(spent)}
    return {"id": saved.memory.id, "updated": saved.outcome not in ("created", "proposed")} | (
        {"notes": notes} if notes else {}
    )


def summarise_save(door: OnRecord, asked: SaveArguments) -> str:
    """The text that a person sees before they agree: what is saved and for whom, whether every turn shows it, and its hint."""
    try:
        saved, notes = _saved(door, asked, dry_run=True)
    except SaveLimit as spent:
        return _spent(spent)
    memory = saved.memory
    begin = {"created": "New memory", "proposed": "Proposes to update a memory"}.get(
        saved.outcome, "Updates a memory"
    )
    whose = (
        f"about system {one_line(memory.system or '')}"
        if memory.scope == "system"
        else "among your own preferences"
    )
    when = "always applied" if memory.always_inject else "recalled when relevant"
    return "\n".join([f"{begin} {whose}, {when}: {in_quotes(memory.hint or '')}", *notes])


def delete_memory(door: OnRecord, id: str, dry_run: bool = False, *, agreed: bool = False) -> dict[str, Any]:
    """Erase a memory. If there is none or the caller may not erase it, `deleted` is False; that is no error.

    `agreed` says that a person has agreed to the text of `summarise_delete`. Every caller but a
    person needs it.
    """
    checked_field("", _GIVEN, {"id": id} if isinstance(id, str) else {})
    if dry_run:
        return {"deleted": False, "summary": summarise_delete(door, id)}
    if not may_delete(door, id):
        return {"deleted": False}
    if not agreed and door.caller.actor != "person":
        return {"deleted": False, "summary": summarise_delete(door, id), "note": NOT_AGREED}
    try:
        gone = _own(door).forget(id)
    except (NotFound, Forbidden):
        return {"deleted": False}
    return {"deleted": gone.proposal is None} | ({"note": " ".join(gone.warnings)} if gone.warnings else {})


def summarise_delete(door: OnRecord, id: str) -> str:
    """The text that a person sees before they agree. It reveals nothing of a memory that the caller may not see."""
    memory = _seen(door, id)
    if memory is None:
        what = f"Delete memory {one_line(str(id))}"
        if may_delete(door, id):
            return f"{what} for good."
        return f"{what}: it was not found, and may be gone already."
    whose = f"about system {one_line(memory.system or '')}" if memory.scope == "system" else "of your own"
    return f"Delete memory {memory.id} {whose} for good: {in_quotes(memory.hint or memory.title)}"


def may_delete(door: OnRecord, id: str) -> bool:
    """Whether a deletion would have any effect."""
    with suppress(OnRecordError):
        return bool(_own(door).forget(id, dry_run=True).id)
    return False


def list_memories(
    door: OnRecord, system_id: str | None = None, limit: int = 50, after: str | None = None
) -> dict[str, Any]:
    """For people: the memories that they may see, last updated first; with a system, only those about it."""
    scopes = SCOPES if system_id is None else SCOPES[1:]
    with _in_its_words():
        page = _own(door).browse(scopes=scopes, system=system_id, limit=limit, after=after)
    memories = [
        _shown(memory)
        | {
            "sourceConversationId": memory.pinned and called(memory.pinned, door.caller.user),
            "createdAt": write_instant(memory.created_at),
        }
        for memory in page.memories
    ]
    return {"memories": memories, "next": page.next}


def set_memory_always_inject(door: OnRecord, id: str, always_inject: bool) -> dict[str, Any]:
    """For people: show a memory in every turn, or stop. Whoever switches it on vouches for its text."""
    checked_field("alwaysInject", FLAG, always_inject)
    if door.caller.actor != "person":
        raise Forbidden("Only a person may decide what is injected into every turn.")
    memory = _seen(door, id)
    if memory is None or not _is_managed(door, memory):
        return {"updated": False}
    try:
        revised = _own(door).revise(id, always_inject=always_inject, vouch=always_inject)
    except (NotFound, Forbidden, Conflict):
        return {"updated": False}
    return {"updated": revised.proposal is None}


def summarise_always(door: OnRecord, id: str) -> str | None:
    """The text that a person sees before they have a memory shown in every turn; None if they may not, or it is shown already."""
    memory = _seen(door, id)
    if memory is None or not _is_managed(door, memory):
        return None
    if memory.always_inject and memory.tier in _COUNTING:
        return None
    whose = f"about system {one_line(memory.system or '')}" if memory.scope == "system" else "of your own"
    return f"Always apply memory {memory.id} {whose}: {in_quotes(memory.content)}"


def preamble(door: OnRecord) -> str:
    """The text before every turn: the memories that every turn shows. Empty if there are none or they cannot be read."""
    with suppress(OnRecordError):
        return _own(door).context(parts=["always"]).text
    return ""


def _own(door: OnRecord) -> OnRecord:
    """The door with the rules of this face.

    Nobody sees the preferences of another user, not even an admin; and what an unattended run saves is active at once.
    """
    return door.as_caller(replace(for_own_eyes(door.caller), active_at_once=True))


def _saved(door: OnRecord, asked: SaveArguments, *, dry_run: bool) -> tuple[Remembered, list[str]]:
    """The result of a save, and notes: what was not done as asked, and warnings."""
    checked_field(
        "", _GIVEN, {"recallHint": asked.recall_hint, "content": asked.content, "scope": asked.scope}
    )
    given: dict[str, Any] = {
        "scope": asked.scope,
        "kind": _KIND[asked.scope],
        "hint": asked.recall_hint,
        "by_hint_alone": True,
    }
    notes = []
    if asked.scope == "system":
        given["system"] = asked.system_id
    elif asked.system_id is not None:
        notes.append(_NOT_OF_A_SYSTEM)
    if asked.tags is not None:
        given["tags"] = asked.tags
    if asked.always_inject is True and not _may_always(door, asked):
        notes.append(_NOT_ALWAYS)
    elif asked.always_inject is not None:
        given["always_inject"] = asked.always_inject
    if door.caller.conversation is not None:
        given["conversation"] = door.caller.conversation
    with _in_its_words():
        saved = _own(door).remember(asked.content, **given, alike="keep", dry_run=dry_run)
    return saved, [*notes, *saved.warnings]


def _spent(limit: SaveLimit) -> str:
    if limit.of == "key":
        return str(limit)
    return f"Save limit for this run reached ({limit.most}); nothing more is saved in it."


@contextmanager
def _in_its_words() -> Iterator[None]:
    """Faults that are raised inside name the fields as the platform does."""
    try:
        yield
    except Invalid as problem:
        faults = [Fault(NAMES.get(each.field, each.field), each.message) for each in problem.faults]
        raise Invalid(faults) from None


def _may_always(door: OnRecord, asked: SaveArguments) -> bool:
    return asked.scope == "user" or door.caller.manages(asked.system_id or "")


def _seen(door: OnRecord, id: str) -> Memory | None:
    """The memory, or None if the caller does not see it or this is not a valid id."""
    if not OnRecord.show.operation.is_offered_to(door.caller):  # type: ignore[attr-defined]
        return None
    try:
        return _own(door).show(id).memory
    except (NotFound, Invalid):
        return None


def _is_managed(door: OnRecord, memory: Memory) -> bool:
    """Whether the caller may decide that every turn shows a memory.

    For a memory of a system only callers who manage the system may, even if someone else wrote it.
    """
    return memory.scope != "system" or door.caller.manages(memory.system or "")


def _shown(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "scope": memory.scope,
        "systemId": memory.system if memory.scope == "system" else None,
        "recallHint": memory.hint or memory.title,
        "content": memory.content,
        "tags": list(memory.tags),
        "alwaysInject": memory.always_inject,
        "savedAt": write_instant(memory.updated_at),
        "author": memory.author,
        "tier": memory.tier,
    }
