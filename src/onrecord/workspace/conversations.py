"""WHICH conversations are there, and who is in them? The user who began it, by name or by its first use, and those it
was shared with. Deleting one deletes its artifacts.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from onrecord.errors import Forbidden, HigherTier, NotFound, StoreUnavailable
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import (
    CONVERSATION,
    MAYBE_CONVERSATION,
    called,
    explicit,
    is_reserved,
)
from onrecord.model.limits import TITLE_CHARACTERS
from onrecord.model.memory import Memory, pinned_to
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.tiers import WORDS
from onrecord.model.workspace import Conversation, ConversationKey
from onrecord.operation import Call, operation
from onrecord.providers.scrubber import scrub
from onrecord.store.ports.filters import ConversationFilter
from onrecord.store.ports.records import Writing
from onrecord.store.ports.workspace import NamedConversation, Workspace

_WHICH: Final = "The conversation; `~ann/talk` is another's."


@dataclass(frozen=True, slots=True)
class RegisterConversation(Request):
    """Begin a conversation, so that artifacts and pinned memories can belong to it.

    One that you are in is returned as it is. The first save or turn from inside a conversation does the same. Others may
    use the same name for conversations of theirs. No name of yours begins with `~`.
    """

    id: str | None = ask(
        MAYBE_CONVERSATION,
        "What its program calls it; left out, it is the next whole number.",
        None,
        positional=True,
    )
    title: str | None = ask(OrNone(rules.TITLE), "A short name for people.", None)
    agent: str | None = ask(MAYBE_NAME, "The agent that leads it.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredConversation(Answer):
    """A conversation; `created` is false if you were in it before."""

    conversation: Conversation
    created: bool


@dataclass(frozen=True, slots=True)
class ListConversations(ConversationFilter):
    """The conversations that you began or that were shared with you, newest first; for an admin all of the tenant.

    The id of another's is `~OWNER/NAME`, by which you name it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConversations(Answer):
    """A page of conversations, newest first; `next` asks for the following page."""

    conversations: tuple[Conversation, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class ShowConversation(Request):
    """One conversation, whom it was shared with, and how many artifacts belong to it."""

    id: str = ask(CONVERSATION, _WHICH, positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownConversation(Answer):
    """A conversation, how many artifacts belong to it and how many bytes they take."""

    conversation: Conversation
    artifacts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _MemberOfConversation(Request):
    """A conversation and a user to add to it or to remove from it."""

    id: str = ask(CONVERSATION, _WHICH, positional=True)
    user: str = ask(rules.NAME, "The other user.", positional=True)


@dataclass(frozen=True, slots=True)
class ShareConversation(_MemberOfConversation):
    """Let someone into a conversation that you began: they read and write its session memories, turns and artifacts."""


@dataclass(frozen=True, slots=True)
class UnshareConversation(_MemberOfConversation):
    """Let someone no longer into a conversation that you began, or leave one that was shared with you.

    What they saved there stays for its members; they can still read, retire and forget it, by its id alone.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedConversation(Answer):
    """A conversation with the members that it has now; `changed` is false if they were its members before."""

    conversation: Conversation
    changed: bool


@dataclass(frozen=True, slots=True)
class DeleteConversation(Request):
    """Delete a conversation with its artifacts. Your memories pinned to it stay and are no longer pinned.

    What only this conversation could see is its owners' own from now on; yours is retired too. Whoever begins a
    conversation of this name anew finds nothing of it.
    """

    id: str = ask(CONVERSATION, _WHICH, positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedConversation(Answer):
    """What was deleted with a conversation: its artifacts; and how many memories that you see lost their pin, lost a
    link, or were retired.
    """

    id: str
    artifacts: int
    unpinned: int
    unlinked: int
    retired: int


_UNLINK, _UNPIN, _RETIRE, _RETURN = "unlink", "unpin", "retire", "return"
_DELETED: Final = "its conversation was deleted"


@operation(
    "write",
    "memory.manage",
    "POST /workspace/conversations",
    "conversations register",
    begins=True,
)
def register_conversation(call: Call, ask: RegisterConversation) -> RegisteredConversation:
    # A placeholder may be longer than the secret it replaces.
    title = ask.title and scrub(ask.title).text[:TITLE_CHARACTERS].rstrip()
    with call.writing() as writing:
        meant = None if ask.id is None else writable(writing.workspace, ask.id).key
        known = None if meant is None else writing.workspace.conversation(meant)
        made = known or _begin(writing, None if meant is None else meant.id, ask.agent, title)
        shown = _as_called(call.caller, made)
        return call.done(writing, RegisteredConversation(conversation=shown, created=known is None))


def _begin(writing: Writing, id: str | None, agent: str | None, title: str | None) -> Conversation:
    made = writing.workspace.register(id, agent, title)
    writing.note("register_conversation", made.id)
    return made


def _as_called(caller: Caller, conversation: Conversation) -> Conversation:
    """A conversation under the name by which the caller finds it."""
    return replace(conversation, id=called(conversation.key, caller.user))


def writable(workspace: Workspace, name: str) -> NamedConversation:
    """The conversation that a name means, to which something will be added: an existing one, or one that the caller may
    begin. NotFound for another's that they are not in, and for one that nobody has.
    """
    return _beginnable(workspace.named(name))


def _beginnable(meant: NamedConversation) -> NamedConversation:
    if meant.begun is None and is_reserved(meant.key.id):
        raise _not_in(meant.key.id)
    return meant


def _not_in(name: str) -> NotFound:
    begin = "" if is_reserved(name) else ", or register it"
    return NotFound(f"No conversation {name} that you are in. List those that you are in{begin}.")


def spoken_in(call: Call, *, begins: bool) -> NamedConversation:
    """The conversation that the caller is in. With `begins`, a turn begins it if it does not exist and the store can be written.

    A look without a lock, since all turns but the first find it.
    """
    with call.reading() as reading:
        here = reading.workspace.here
    assert here is not None, "the request names a conversation"
    meant = _beginnable(here)
    if begins and meant.begun is None:
        with suppress(StoreUnavailable), call.writing() as writing:
            return enter(writing) or meant
    return meant


def enter(writing: Writing) -> NamedConversation | None:
    """The caller's conversation, which is begun if it does not exist yet."""
    here = writing.workspace.here
    if here is None or _beginnable(here).begun is not None:
        return here
    return here._replace(begun=_begin(writing, here.key.id, None, None).created_at)


@operation("read", "memory.read", "GET /workspace/conversations", "conversations list")
def conversations(call: Call, ask: ListConversations) -> ListedConversations:
    with call.reading() as reading:
        found, mark = reading.workspace.conversations(ask)
    return ListedConversations(
        conversations=tuple(_as_called(call.caller, each) for each in found), next=mark
    )


@operation("read", "memory.read", "GET /workspace/conversations/{id}", "conversations show")
def show_conversation(call: Call, ask: ShowConversation) -> ShownConversation:
    with call.reading() as reading:
        there = known(reading.workspace, ask.id)
        usage = reading.workspace.usage(there.key)
    shown = _as_called(call.caller, there)
    return ShownConversation(conversation=shown, artifacts=usage.artifacts, bytes=usage.bytes)


@operation("write", "memory.manage", "PUT /workspace/conversation-members/{id}", "conversations share")
def share_conversation(call: Call, ask: ShareConversation) -> SharedConversation:
    return _shared(call, ask, "share_conversation")


@operation("write", "memory.manage", "DELETE /workspace/conversation-members/{id}", "conversations unshare")
def unshare_conversation(call: Call, ask: UnshareConversation) -> SharedConversation:
    return _shared(call, ask, "unshare_conversation")


def _shared(call: Call, ask: ShareConversation | UnshareConversation, name: str) -> SharedConversation:
    call.caller.require_person("Sharing a conversation")
    with call.writing() as writing:
        workspace = writing.workspace
        leaves = isinstance(ask, UnshareConversation) and ask.user == call.caller.user
        key = (known(workspace, ask.id) if leaves else _own(call.caller, workspace, ask.id, "share")).key
        change = workspace.share if isinstance(ask, ShareConversation) else workspace.unshare
        changed = change(key, ask.user)
        if changed:
            writing.note(name, f"{explicit(key)} {ask.user}")
        now = workspace.conversation(key)
        assert now is not None
        shown = _as_called(call.caller, now)
        return call.done(writing, SharedConversation(conversation=shown, changed=changed))


def _own(caller: Caller, workspace: Workspace, name: str, do: str) -> Conversation:
    """A conversation that the caller began, or for an admin anyone's; Forbidden for other members."""
    there = known(workspace, name)
    if there.created_by != caller.user and not caller.is_admin:
        raise Forbidden(
            f"Conversation {name} was begun by {there.created_by}: only they or an admin may {do} it."
        )
    return there


@operation("destroy", "memory.manage", "DELETE /workspace/conversations/{id}", "conversations delete")
def delete_conversation(call: Call, ask: DeleteConversation) -> DeletedConversation:
    """Delete artifacts, links to them, pins, and memories that only this conversation could see, in one transaction."""
    with call.writing() as writing:
        gone = _own(call.caller, writing.workspace, ask.id, "delete")
        files = [artifact.id for artifact in writing.workspace.artifacts(gone.key)]
        touched = writing.attached(gone.key, files)
        _refuse_higher(
            writing, f"conversation {ask.id}", [each for each in touched if _is_freed(call, each, files)]
        )
        changes = [_let_go(writing, call, memory, gone.key, files) for memory in touched]
        writing.workspace.drop_conversation(gone.key)
        writing.note("delete_conversation", called(gone.key, call.caller.user))
        deleted = DeletedConversation(
            id=called(gone.key, call.caller.user),
            artifacts=len(files),
            unpinned=changes.count(_UNPIN),
            retired=changes.count(_RETIRE),
            unlinked=sum(memory.artifact in files and writing.sees(memory) for memory in touched),
        )
        call.done(writing, deleted)
    call.turns.clear(call.caller.tenant, gone.key)
    return deleted


def _is_freed(call: Call, memory: Memory, files: Sequence[str]) -> bool:
    """Whether a memory loses more by a deletion than its conversation, which it only returns from to its owner."""
    return memory.artifact in files or _is_own(call, memory)


def _is_own(call: Call, memory: Memory) -> bool:
    return call.caller.is_admin or memory.owner == call.caller.user


def _refuse_higher(writing: Writing, what: str, touched: Sequence[Memory]) -> None:
    """Memories end with their conversation, or lose their pin or link, so the caller must be allowed to change them.

    Memories hidden from the caller lose their link silently: an error would reveal them.
    """
    seen = (memory for memory in touched if memory.is_live and writing.sees(memory))
    higher = next((memory for memory in seen if writing.is_outranked(memory)), None)
    if higher is not None:
        raise HigherTier(
            f"A memory whose text is {WORDS[higher.tier]} belongs to {what} and would change with it. Let someone who may change it delete it."
        )


def _let_go(
    writing: Writing, call: Call, memory: Memory, conversation: ConversationKey | None, files: list[str]
) -> str | None:
    """Change a memory that belonged to something deleted; returns how."""
    after, how = memory, None
    if memory.artifact in files:
        after, how = replace(after, artifact=None), _UNLINK
    was_there, is_own = memory.pinned is not None and memory.pinned == conversation, _is_own(call, memory)
    if was_there and memory.scope == "session":
        # It was for that conversation's members; those of a later one of this name differ.
        after, how = pinned_to(replace(after, scope="user"), None), _RETURN
    elif was_there and is_own:
        after, how = pinned_to(after, None), _UNPIN
    if how == _RETURN and is_own and memory.is_live:
        ended = max(call.now, memory.valid_from)
        after = replace(after, status="archived", status_reason=_DELETED, valid_to=ended)
        how = _RETIRE
    if how is not None:
        after = replace(after, updated_at=max(call.now, memory.updated_at))
        writing.replace(memory, after, call.change(how))
    return how


def unlink(writing: Writing, call: Call, file: str) -> int:
    """Remove the links to a deleted artifact from every memory; returns how many had one that the caller sees."""
    linked = writing.attached(None, [file])
    _refuse_higher(writing, f"artifact {file}", linked)
    for memory in linked:
        _let_go(writing, call, memory, None, [file])
    return sum(map(writing.sees, linked))


def known(workspace: Workspace, name: str) -> Conversation:
    """A conversation that the caller is a member of, or NotFound."""
    meant = workspace.named(name)
    found = None if meant.begun is None else workspace.conversation(meant.key)
    if found is None:
        raise _not_in(name)
    return found
