"""HOW do conversations, artifacts, scratchpads and agents look in a shell?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import (
    Columns,
    Part,
    TextTable,
    artifact_line,
    listed,
    many,
    many_memories,
    minute,
    number_of,
    numbered,
    says,
    scrubbed_line,
    shows,
    size_of,
)

if TYPE_CHECKING:
    from onrecord.model.agent import ShownAgent
    from onrecord.model.workspace import Conversation
    from onrecord.workspace.agents import SharedAgent
    from onrecord.workspace.artifacts import ListedArtifacts, WrittenArtifact
    from onrecord.workspace.conversations import (
        DeletedConversation,
        ListedConversations,
        SharedConversation,
        ShownConversation,
    )
    from onrecord.workspace.scratchpads import AppendedScratchpad, ListedScratchpads


@shows
def _(answer: "ListedConversations") -> Iterator[Part]:
    columns: Columns = {
        "id": lambda each: numbered(each.id),
        "title": "title",
        "agent": "agent",
        "begun": "created_at",
    }
    return listed(answer.conversations, columns | {"by": "created_by"}, "No conversations.", answer.next)


@shows
def _(answer: "ShownConversation") -> Iterator[Part]:
    yield _conversation(answer.conversation)
    yield f"Begun {minute(answer.conversation.created_at)} by {answer.conversation.created_by}."
    if answer.conversation.members:
        yield _shared_with(answer.conversation)
    yield f"{many(answer.artifacts, 'artifact')} ({answer.bytes:,} bytes)."


@shows
def _(answer: "SharedConversation") -> Iterator[Part]:
    yield _conversation(answer.conversation)
    yield _shared_with(answer.conversation)


def _shared_with(conversation: "Conversation") -> str:
    return (
        f"Shared with {', '.join(conversation.members)}." if conversation.members else "Shared with nobody."
    )


@shows
def _(answer: "DeletedConversation") -> Iterator[Part]:
    yield f"Deleted conversation {numbered(answer.id)} with {many(answer.artifacts, 'artifact')}."
    yield (
        f"{many_memories(answer.unpinned)} no longer pinned, {answer.unlinked} no longer linked to a deleted artifact, "
        f"{answer.retired} retired because nobody else could see them."
    )


def _conversation(conversation: "Conversation") -> str:
    agent = f" (with {conversation.agent})" if conversation.agent else ""
    return f"{numbered(conversation.id)}  {conversation.title or ''}".rstrip() + agent


@shows
def _(answer: "WrittenArtifact") -> Iterator[Part]:
    yield f"{'Wrote' if answer.created else 'Replaced'} {artifact_line(answer.artifact)}"
    yield from scrubbed_line(answer.scrubbed)


@shows
def _(answer: "ListedArtifacts") -> Iterator[Part]:
    columns: Columns = {"id": number_of, "path": "path", "media type": "media_type", "bytes": size_of}
    columns |= {"updated": "updated_at", "conversation": "conversation"}
    return listed(answer.artifacts, columns, "No artifacts.")


@shows
def _(answer: "AppendedScratchpad") -> Iterator[Part]:
    yield f"Noted; the scratchpad of {answer.agent} takes {answer.size:,} bytes."
    yield from scrubbed_line(answer.scrubbed)


@shows
def _(answer: "ListedScratchpads") -> Iterator[Part]:
    columns: Columns = {"agent": "agent", "bytes": size_of, "updated": "updated_at"}
    return listed(answer.scratchpads, columns, "No scratchpads.")


@shows
def _(answer: "ShownAgent") -> Iterator[Part]:
    since = f"set {minute(answer.updated_at)} by {answer.updated_by}" if answer.updated_at else "the defaults"
    yield f"Agent {answer.agent}: {since}."
    if len(answer.users) > 1:
        yield f"Used by {', '.join(answer.users)}."
    yield TextTable(
        ("setting", "value"),
        [(name, str(getattr(answer.settings, name))) for name in answer.settings.__dataclass_fields__],
    )


@shows
def _(answer: "SharedAgent") -> Iterator[Part]:
    yield f"Agent {answer.agent} is used by {', '.join(answer.users)}."


says(
    RegisteredConversation=lambda a: (
        f"{'Registered' if a.created else 'Already known'}: {_conversation(a.conversation)}"
    ),
    ArtifactContent=lambda a: str(a.content),
    DeletedArtifact=lambda a: (
        f"Deleted {artifact_line(a.artifact)}; {many_memories(a.unlinked)} lost the link to it."
    ),
    ScratchpadContent=lambda a: a.content.strip("\n") if a.exists else "The scratchpad is empty.",
    ClearedScratchpad=lambda a: f"Cleared {a.cleared:,} bytes of the scratchpad of {a.agent}.",
)
