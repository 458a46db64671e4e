"""HOW does an agent of the arbiter runtime keep what is not an entry? As conversations, files and working notes."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from onrecord.errors import Conflict, Invalid, NotFound, OnRecordError
from onrecord.faces.arbiter.entries import (
    LIST_LIMIT,
    LIST_MOST,
    conversation_id,
    conversation_of,
    file,
    number,
    seconds,
)
from onrecord.faces.arbiter.fields import Wrong, moment_in, page_size, read_id, read_title
from onrecord.model.conversation_names import key_of
from onrecord.model.rules import shown
from onrecord.model.workspace import SHARED_SCRATCHPAD, Conversation
from onrecord.service import OnRecord
from onrecord.workspace.artifacts import ArtifactContent


class TooLarge(OnRecordError):
    """There is no room for it."""


def create_conversation(door: OnRecord, body: Mapping[str, Any]) -> dict[str, Any]:
    """Create a conversation; its id is the next number."""
    title, agent = body.get("title"), body.get("agent_id")
    if agent is not None and not isinstance(agent, str):
        raise Wrong("agent_id", "agent_id must be a text")
    made = door.register_conversation(title=read_title(title) if title else None, agent=agent or None)
    return _conversation(door, made.conversation)


def list_conversations(door: OnRecord, query: Mapping[str, str]) -> dict[str, Any]:
    """Conversations, newest first."""
    limit = page_size(query, LIST_LIMIT, LIST_MOST)
    before = moment_in(query, "before_updated_at")
    wanted = (each for each in _every(door) if before is None or each.created_at < before)
    found = [_conversation(door, each) for each in islice(wanted, limit)]
    return {"conversations": found, "count": len(found)}


def get_conversation(door: OnRecord, id: str) -> dict[str, Any]:
    """One conversation."""
    return _conversation(door, _known(door, id))


def delete_conversation(door: OnRecord, id: str) -> dict[str, Any]:
    """Delete a conversation and its files. Entries stay, but lose their pin to it and their links to the files."""
    name = id
    with suppress(NotFound):
        # One that is gone may have been deleted by this very request before.
        name = _known(door, id).id
    try:
        door.delete_conversation(name)
    except NotFound:
        raise _no_conversation(id) from None
    return {"deleted": True}


def write_artifact(door: OnRecord, id: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Store a file at a path of a conversation; the second value says whether it is new."""
    home = _known(door, id)
    path, content = body.get("path"), body.get("content")
    if not isinstance(path, str) or not isinstance(content, str):
        raise Wrong("path", "path and content are required, each a text")
    kind = {"media_type": body["mime_type"]} if body.get("mime_type") else {}
    coded = {"encoding": body["encoding"]} if body.get("encoding") else {}
    try:
        written = door.write_artifact(path, content, conversation=home.id, **kind, **coded)
    except NotFound:
        raise _no_conversation(id) from None
    except Conflict as error:
        raise TooLarge(str(error)) from None
    except Invalid as error:
        raise _refused(error) from None
    used = door.show_conversation(home.id).bytes
    fields = {
        "artifact": file(written.artifact),
        "created": written.created,
        "conversation_used_bytes": used,
    }
    return fields, written.created


def list_artifacts(door: OnRecord, id: str | None) -> dict[str, Any]:
    """The files of a conversation, or of all conversations, last written first."""
    home = None if id is None else _known(door, id).id
    found = door.artifacts(conversation=home)
    latest = sorted(found.artifacts, key=lambda each: (each.updated_at, int(each.id)), reverse=True)
    whose = (
        {"tenant_id": number(door.caller.tenant)}
        if home is None
        else {"conversation_id": conversation_id(home)}
    )
    return {
        **whose,
        "artifacts": [file(each) for each in latest],
        "count": len(latest),
        "bytes_used": found.bytes,
    }


def get_artifact(door: OnRecord, id: str | None, artifact: str, via: str | None) -> dict[str, Any]:
    """A file without its content."""
    return file(read_artifact(door, id, artifact, via).artifact)


def read_artifact(door: OnRecord, id: str | None, artifact: str, via: str | None) -> ArtifactContent:
    """A file with its content.

    From inside a conversation one can read its own files, and a file of another through `via`, an entry linked to it.
    """
    inside = door if id is None else _inside(door, id)
    try:
        return inside.read_artifact(artifact, via=_linking(via))
    except NotFound:
        raise _no_artifact(artifact) from None


def delete_artifact(door: OnRecord, id: str | None, artifact: str) -> dict[str, Any]:
    """Delete a file; entries that were linked to it stay."""
    inside = door if id is None else _inside(door, id)
    try:
        inside.delete_artifact(artifact)
    except NotFound:
        raise _no_artifact(artifact) from None
    return {"deleted": True}


def list_scratchpads(door: OnRecord) -> dict[str, Any]:
    """The scratchpads that exist; the one that all agents share has an empty `agent_id`."""
    found = [
        {
            "kind": each.kind,
            "agent_id": "" if each.agent == SHARED_SCRATCHPAD else each.agent,
            "size": each.size,
        }
        for each in door.scratchpads().scratchpads
    ]
    return {"tenant_id": number(door.caller.tenant), "count": len(found), "entries": found}


def get_scratchpad(door: OnRecord, agent: str) -> dict[str, Any]:
    """The whole scratchpad of an agent. If nobody has written to it, it is empty and `exists` is false."""
    try:
        pad = door.read_scratchpad(agent)
    except Invalid:
        raise Wrong(
            "agent_id", f"invalid agent id {shown(agent)}: 1 to 64 of the letters A-Z a-z, digits, _ and -"
        ) from None
    return {
        "agent_id": pad.agent,
        "kind": pad.kind,
        "exists": pad.exists,
        "size": pad.size,
        "content": pad.content,
    }


def erase_tenant(door: OnRecord, id: str) -> dict[str, Any]:
    """Erase a tenant with all its entries, relations, conversations, files and notes. Only an operator may do this."""
    door.caller.require_operator("To erase a tenant here")
    try:
        door.erase_tenant(id, confirm=id)
    except NotFound:
        raise NotFound(f"tenant {id} not found") from None
    return {"deleted": True}


def _conversation(door: OnRecord, conversation: Conversation) -> dict[str, Any]:
    began = seconds(conversation.created_at)
    is_meant = conversation.numbered or conversation.created_by == door.caller.user
    return {
        # A number that another chose means theirs with their name alone.
        "id": conversation_id(conversation.id) if is_meant else conversation.id,
        "tenant_id": number(door.caller.tenant),
        "title": conversation.title or "",
        "agent_id": conversation.agent or "",
        "created_at": began,
        "updated_at": began,
    }


def _every(door: OnRecord) -> Iterator[Conversation]:
    after: str | None = None
    while True:
        page = door.conversations(limit=LIST_MOST, after=after)
        yield from page.conversations
        after = page.next
        if after is None:
            return


def _known(door: OnRecord, id: str) -> Conversation:
    try:
        return conversation_of(door, id)
    except NotFound:
        raise _no_conversation(id) from None


def _inside(door: OnRecord, id: str) -> OnRecord:
    """The door for the caller inside this conversation. A caller that is in one already cannot move to another."""
    home = _known(door, id)
    if door.caller.spoken_in not in (None, key_of(home.id, door.caller.user)):
        raise _no_conversation(id)
    return door.as_caller(door.caller.inside(home.id))


def _linking(via: str | None) -> str | None:
    if not via:
        return None
    kind, colon, entry = via.partition(":")
    if kind != "mem" or not colon:
        raise Wrong("via", f"via must be mem:<entry_id> (got {shown(via)})")
    return read_id("via", entry)


def _refused(error: Invalid) -> OnRecordError:
    """The error for a file that was refused.

    It is TooLarge only if the file is too large; a wrong path or encoding makes the request invalid.
    """
    reasons = {fault.field: fault.message for fault in error.faults}
    if "path" in reasons:
        return Wrong("path", f"invalid path: {reasons['path']}")
    if "at most" in reasons.get("content", ""):
        return TooLarge(f"the file is too large: it {reasons['content']}")
    return error


def _no_conversation(id: str) -> NotFound:
    return NotFound(f"conversation {id} not found")


def _no_artifact(id: str) -> NotFound:
    return NotFound(
        f"artifact {id} not found in this conversation; to read one of another conversation, add via=mem:<entry_id> of an entry that links to it"
    )
