"""WHICH conversations does a tenant know? Those registered by name or by their first use; deleting one deletes its
artifacts.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from onrecord.errors import Forbidden, HigherTier, NotFound, StoreUnavailable
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.limits import TITLE_CHARACTERS
from onrecord.model.memory import Memory
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.tiers import WORDS
from onrecord.model.workspace import Conversation
from onrecord.operation import Call, operation
from onrecord.providers.scrubber import scrub
from onrecord.store.ports.filters import ConversationFilter
from onrecord.store.ports.records import Writing
from onrecord.store.ports.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RegisterConversation(Request):
    """Make a conversation known to the tenant, so that artifacts and pinned memories can belong to it.

    A known one is returned as it is. The first save or turn from inside a conversation does the same.
    """

    id: str | None = ask(
        MAYBE_NAME, "What its program calls it; left out, it is the next whole number.", None, positional=True
    )
    title: str | None = ask(OrNone(rules.TITLE), "A short name for people.", None)
    agent: str | None = ask(MAYBE_NAME, "The agent that leads it.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredConversation(Answer):
    """A conversation; `created` is false if it was known before."""

    conversation: Conversation
    created: bool


@dataclass(frozen=True, slots=True)
class ListConversations(ConversationFilter):
    """The conversations of the tenant, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConversations(Answer):
    """A page of conversations, newest first; `next` asks for the following page."""

    conversations: tuple[Conversation, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class ShowConversation(Request):
    """One conversation, and how many artifacts belong to it."""

    id: str = ask(rules.NAME, "The conversation.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownConversation(Answer):
    """A conversation, how many artifacts belong to it and how many bytes they take."""

    conversation: Conversation
    artifacts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DeleteConversation(Request):
    """Delete a conversation with its artifacts. Memories pinned to it stay and are no longer pinned.

    Memories that only this conversation could see are retired, since nobody else may see them.
    """

    id: str = ask(rules.NAME, "The conversation to delete.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedConversation(Answer):
    """What was deleted with a conversation: its artifacts; and how many memories lost their pin, lost a link, or were
    retired.
    """

    id: str
    artifacts: int
    unpinned: int
    unlinked: int
    retired: int


_NUMBER: Final = re.compile(r"#[0-9]+", re.ASCII)
_UNLINK, _UNPIN, _RETIRE = "unlink", "unpin", "retire"
_DELETED: Final = "its conversation was deleted"


@operation(
    "write",
    "memory.manage",
    "POST /workspace/conversations",
    "conversations register",
    begins=True,
)
def register_conversation(call: Call, ask: RegisterConversation) -> RegisteredConversation:
    # A placeholder may be longer than the secret it stands for.
    title = ask.title and scrub(ask.title).text[:TITLE_CHARACTERS].rstrip()
    with call.writing() as writing:
        made, created = writing.workspace.register(plain(ask.id), ask.agent, title)
        if created:
            writing.note("register_conversation", made.id)
        return call.done(writing, RegisteredConversation(conversation=made, created=created))


def enter_by_turn(call: Call) -> None:
    """A turn registers its conversation too, if the store can be written."""
    with suppress(StoreUnavailable):
        if call.caller.conversation is not None and not _is_known(call.caller.conversation, call):
            with call.writing() as writing:
                enter(call.caller, writing)


def _is_known(id: str, call: Call) -> bool:
    """A look without a lock: all turns but the first find the conversation."""
    with call.reading() as reading:
        return reading.workspace.conversation(id) is not None


def enter(caller: Caller, writing: Writing) -> None:
    """Register the caller's conversation, whose name comes from trusted code."""
    made, created = writing.workspace.register(caller.conversation, None, None)
    if created:
        writing.note("register_conversation", made.id)


@operation("read", "memory.read", "GET /workspace/conversations", "conversations list")
def conversations(call: Call, ask: ListConversations) -> ListedConversations:
    with call.reading() as reading:
        found, mark = reading.workspace.conversations(ask)
    return ListedConversations(conversations=tuple(found), next=mark)


@operation("read", "memory.read", "GET /workspace/conversations/{id}", "conversations show")
def show_conversation(call: Call, ask: ShowConversation) -> ShownConversation:
    with call.reading() as reading:
        there = known(reading.workspace, ask.id)
        usage = reading.workspace.usage(there.id)
    return ShownConversation(conversation=there, artifacts=usage.artifacts, bytes=usage.bytes)


@operation("destroy", "memory.manage", "DELETE /workspace/conversations/{id}", "conversations delete")
def delete_conversation(call: Call, ask: DeleteConversation) -> DeletedConversation:
    """Delete artifacts, links to them, pins, and memories that only this conversation could see, in one transaction."""
    with call.writing() as writing:
        gone = known(writing.workspace, ask.id)
        if gone.created_by != call.caller.user and not call.caller.is_admin:
            raise Forbidden(
                f"Conversation {gone.id} was begun by {gone.created_by}: only they or an admin may delete it."
            )
        files = [artifact.id for artifact in writing.workspace.artifacts(gone.id)]
        touched = writing.attached(gone.id, files)
        _refuse_higher(writing, f"conversation {gone.id}", touched)
        changes = [_let_go(writing, call, memory, gone.id, files) for memory in touched]
        writing.workspace.drop_conversation(gone.id)
        writing.note("delete_conversation", gone.id)
        deleted = DeletedConversation(
            id=gone.id,
            artifacts=len(files),
            unpinned=changes.count(_UNPIN),
            retired=changes.count(_RETIRE),
            unlinked=sum(memory.artifact in files for memory in touched),
        )
        call.done(writing, deleted)
    call.turns.clear(call.caller.tenant, gone.id)
    return deleted


def _refuse_higher(writing: Writing, what: str, touched: Sequence[Memory]) -> None:
    """Memories end with their conversation, or lose their pin or link, so whoever deletes must be free to change them."""
    higher = next((memory for memory in touched if memory.is_live and writing.is_outranked(memory)), None)
    if higher is not None:
        # Not which: it may be one that the caller does not see.
        raise HigherTier(
            f"A memory whose text is {WORDS[higher.tier]} belongs to {what} and would change with it. Let someone who may change it delete it."
        )


def _let_go(writing: Writing, call: Call, memory: Memory, conversation: str, files: list[str]) -> str | None:
    """Change a memory that belonged to something deleted; returns how."""
    after, how = memory, None
    if memory.artifact in files:
        after, how = replace(after, artifact=None), _UNLINK
    if memory.conversation == conversation and memory.scope != "session":
        after, how = replace(after, conversation=None), _UNPIN
    elif memory.conversation == conversation and memory.is_live:
        # Nobody else may see it: it is over, and what it said stays for an admin.
        ended = max(call.now, memory.valid_from)
        after = replace(after, status="archived", status_reason=_DELETED, valid_to=ended)
        how = _RETIRE
    if how is not None:
        after = replace(after, updated_at=max(call.now, memory.updated_at))
        writing.replace(memory, after, call.change(how))
    return how


def unlink(writing: Writing, call: Call, file: str) -> int:
    """Remove the links to a deleted artifact from every memory; returns how many had one."""
    linked = writing.attached(None, [file])
    _refuse_higher(writing, f"artifact {file}", linked)
    return sum(_let_go(writing, call, memory, "", [file]) is not None for memory in linked)


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
