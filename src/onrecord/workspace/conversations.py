"""WHICH conversations does a tenant know? Registered by name, or by their first use; deleted with their files."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final

from onrecord.errors import Forbidden, NotFound, StoreUnavailable
from onrecord.model.answers import (
    DeletedConversation,
    ListedConversations,
    RegisteredConversation,
    ShownConversation,
)
from onrecord.model.caller import Caller
from onrecord.model.limits import TITLE_CHARACTERS
from onrecord.model.memory import Change, Memory
from onrecord.model.requests import (
    DeleteConversation,
    ListConversations,
    RegisterConversation,
    ShowConversation,
)
from onrecord.model.workspace import Conversation
from onrecord.providers.scrubber import scrub
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store
from onrecord.store.ports.workspace import Workspace

_NUMBER: Final = re.compile(r"#[0-9]+", re.ASCII)
_UNLINK, _UNPIN, _RETIRE = "unlink", "unpin", "retire"
_DELETED: Final = "its conversation was deleted"


def register(
    caller: Caller, ask: RegisterConversation, store: Store, now: datetime
) -> RegisteredConversation:
    # A placeholder may be longer than the secret it stands for.
    title = ask.title and scrub(ask.title).text[:TITLE_CHARACTERS].rstrip()
    with store.writing(caller, now) as writing:
        made, created = writing.workspace.register(plain(ask.id), ask.agent, title)
        if created:
            writing.note("register_conversation", made.id)
    return RegisteredConversation(conversation=made, created=created)


def note_turn(caller: Caller, store: Store, now: datetime) -> None:
    """A turn enters its conversation too; it is kept in memory alone and so needs no store that can be written."""
    with suppress(StoreUnavailable):
        if caller.conversation is not None and not _is_known(caller.conversation, caller, store, now):
            with store.writing(caller, now) as writing:
                enter(caller, writing)


def _is_known(id: str, caller: Caller, store: Store, now: datetime) -> bool:
    """A look without a lock: all turns but the first find it there."""
    with store.reading(caller, now) as reading:
        return reading.workspace.conversation(id) is not None


def enter(caller: Caller, writing: Writing) -> None:
    """The conversation that the caller is in, known from now on: what a caller is in is to be trusted."""
    made, created = writing.workspace.register(caller.conversation, None, None)
    if created:
        writing.note("register_conversation", made.id)


def listed(caller: Caller, ask: ListConversations, store: Store, now: datetime) -> ListedConversations:
    with store.reading(caller, now) as reading:
        found, mark = reading.workspace.conversations(ask)
    return ListedConversations(conversations=tuple(found), next=mark)


def shown(caller: Caller, ask: ShowConversation, store: Store, now: datetime) -> ShownConversation:
    with store.reading(caller, now) as reading:
        there = known(reading.workspace, ask.id)
        usage = reading.workspace.usage(there.id)
    return ShownConversation(conversation=there, artifacts=usage.artifacts, bytes=usage.bytes)


def delete(caller: Caller, ask: DeleteConversation, store: Store, now: datetime) -> DeletedConversation:
    """One transaction: files, links to them, pins, and what only this conversation could see."""
    with store.writing(caller, now) as writing:
        gone = known(writing.workspace, ask.id)
        if gone.created_by != caller.user and not caller.is_admin:
            raise Forbidden(
                f"Conversation {gone.id} was begun by {gone.created_by}: only they, or an admin, delete it."
            )
        files = [artifact.id for artifact in writing.workspace.artifacts(gone.id)]
        touched = writing.attached(gone.id, files)
        changes = [_let_go(writing, caller, memory, gone.id, files, now) for memory in touched]
        writing.workspace.drop_conversation(gone.id)
        writing.note("delete_conversation", gone.id)
    return DeletedConversation(
        id=gone.id,
        artifacts=len(files),
        unpinned=changes.count(_UNPIN),
        retired=changes.count(_RETIRE),
        unlinked=sum(memory.artifact in files for memory in touched),
    )


def _let_go(
    writing: Writing, caller: Caller, memory: Memory, conversation: str, files: list[str], now: datetime
) -> str | None:
    """Change a memory that belonged to what is gone; gives how."""
    after, how = memory, None
    if memory.artifact in files:
        after, how = replace(after, artifact=None), _UNLINK
    if memory.conversation == conversation and memory.scope != "session":
        after, how = replace(after, conversation=None), _UNPIN
    elif memory.conversation == conversation and memory.is_live:
        # Nobody else may see it: it is over, and what it said stays for an admin.
        ended = max(now, memory.valid_from)
        after = replace(after, status="archived", status_reason=_DELETED, valid_to=ended)
        how = _RETIRE
    if how is not None:
        after = replace(after, updated_at=max(now, memory.updated_at))
        writing.replace(memory, after, Change(how, caller.user, caller.actor, now))
    return how


def unlink(writing: Writing, caller: Caller, file: str, now: datetime) -> int:
    """Take the links to a file that goes out of every memory; gives how many had one."""
    linked = writing.attached(None, [file])
    return sum(_let_go(writing, caller, memory, "", [file], now) is not None for memory in linked)


def known(workspace: Workspace, id: str) -> Conversation:
    """A conversation of the tenant, or NotFound."""
    wanted = plain(id)
    found = None if wanted is None else workspace.conversation(wanted)
    if found is None:
        raise NotFound(f"No conversation {id} in this tenant. List those that are known, or register it.")
    return found


def plain(id: str | None) -> str | None:
    """`#42` and `42` are the same conversation."""
    return id[1:] if id is not None and _NUMBER.fullmatch(id) else id
