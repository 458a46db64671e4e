"""WHAT is kept beside memories? Conversations, their artifacts, scratchpads, and the settings of agents."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from onrecord.model.agent import ShownAgent
from onrecord.model.changesets import Changeset
from onrecord.model.workspace import (
    AgentSettings,
    Artifact,
    Conversation,
    ConversationKey,
    Scratchpad,
    StoredArtifact,
    StoredScratchpad,
    WorkspaceNumbers,
)
from onrecord.store.ports.filters import ConversationFilter

#: What moves between stores as one: a conversation, a file, the notes of an agent, how one is set, or a changeset.
WorkspaceItem = Conversation | StoredArtifact | StoredScratchpad | ShownAgent | Changeset


class ArtifactUsage(NamedTuple):
    """How many artifacts there are, and how many bytes they take."""

    artifacts: int
    bytes: int


class NamedConversation(NamedTuple):
    """A conversation as a caller names it: which one that is, and when it began; None if it is not there."""

    key: ConversationKey
    begun: datetime | None = None


class WaitingTurn(NamedTuple):
    """A turn whose facts are extracted later: who asked for it, what was asked, without secrets, and when."""

    caller: Mapping[str, Any]
    asked: Mapping[str, Any]
    at: datetime


class NewArtifact(NamedTuple):
    """An artifact to keep: its path, its kind and its bytes."""

    conversation: ConversationKey
    path: str
    media_type: str
    content: bytes


class Workspace(Protocol):
    """The workspace of one tenant, in one consistent state.

    Listings hold what the caller is a member of. `conversation`, `artifact`, `content` and `scratchpad` do not check
    the caller: the calling code must.
    """

    #: The conversation that the caller speaks in.
    here: NamedConversation | None

    def named(self, name: str) -> NamedConversation:
        """The conversation that a name means for this caller: one of their own, or by `~OWNER/NAME` another's that they
        are a member of; if there is none, one of their own that is not there yet.
        """

    def conversation(self, key: ConversationKey) -> Conversation | None:
        """One conversation; None if nobody has begun it."""

    def conversations(self, ask: ConversationFilter) -> tuple[list[Conversation], str | None]:
        """A page of the conversations that the caller is a member of, newest first, and the mark of the next page."""

    def artifact(self, id: str, through: str | None = None) -> Artifact | None:
        """One artifact without its content, of a conversation that the caller is a member of, or the user `through`. None if
        there is no such one, by the same statement.
        """

    def artifact_at(self, conversation: ConversationKey, path: str) -> Artifact | None:
        """The artifact at a path."""

    def artifacts(self, conversation: ConversationKey | None = None) -> list[Artifact]:
        """The artifacts of a conversation by path, or in their order those of all that the caller is a member of."""

    def content(self, id: str) -> bytes:
        """The content of an artifact that exists."""

    def usage(self, conversation: ConversationKey | None = None) -> ArtifactUsage:
        """What the artifacts of a conversation take, or those of the tenant."""

    def scratchpad(self, agent: str) -> str | None:
        """The scratchpad of an agent as one text; None if it has none."""

    def scratchpad_size(self, agent: str) -> int:
        """How many bytes a scratchpad takes."""

    def scratchpads(self) -> list[Scratchpad]:
        """The scratchpads that the caller may read, by agent."""

    def agent(self, agent: str) -> ShownAgent | None:
        """The settings of an agent; None if nobody has set it."""

    def users_of(self, agent: str) -> tuple[str, ...]:
        """Who uses an agent, in the order in which they came to it; nobody if none has written or set anything of it yet."""


class WritableWorkspace(Workspace, Protocol):
    """The same in one transaction that keeps other writers out of the tenant."""

    def register(self, id: str | None, agent: str | None, title: str | None) -> Conversation:
        """Begin a conversation of the caller's; without an id it is the next whole number of the tenant that they did not choose."""

    def share(self, key: ConversationKey, user: str) -> bool:
        """Make someone a member of a known conversation; False if they are one."""

    def unshare(self, key: ConversationKey, user: str) -> bool:
        """End a membership; False if there is none."""

    def drop_conversation(self, key: ConversationKey) -> None:
        """Delete a conversation with its members, its artifacts and its turns that wait."""

    def take_turn(self, number: int) -> bool:
        """Remove a turn that waits; False if it is gone. Whoever removes it saves its facts in the same transaction."""

    def drop_turns(self, key: ConversationKey) -> None:
        """Remove the turns of a conversation that wait."""

    def keep(self, file: NewArtifact) -> Artifact:
        """Store an artifact of a known conversation; one at the same path is overwritten and keeps its id."""

    def drop_artifact(self, id: str) -> None:
        """Delete an artifact with its content. Its id is not used again."""

    def append(self, agent: str, text: str) -> None:
        """Add to a scratchpad."""

    def clear(self, agent: str) -> None:
        """Delete a scratchpad."""

    def set_agent(self, agent: str, settings: AgentSettings) -> ShownAgent:
        """Store the settings of an agent."""

    def share_agent(self, agent: str, user: str) -> bool:
        """Make someone a user of an agent; False if they are one."""

    def unshare_agent(self, agent: str, user: str) -> bool:
        """End the use of an agent; False if they do not use it."""


class WorkspaceArchive(Protocol):
    """The whole workspace of a tenant, in one consistent state, unfiltered by caller."""

    def every(self) -> Iterator[WorkspaceItem]:
        """Conversations in the order in which they began, artifacts by number, scratchpads and settings by agent, and
        changesets by number: one at a time. An agent that has users alone has a scratchpad without notes.
        """

    def numbers(self) -> WorkspaceNumbers:
        """The last numbers of conversations, artifacts and changesets."""


class WorkspaceRestoring(WorkspaceArchive, Protocol):
    """One transaction in one tenant that imports a workspace."""

    def compare(self, item: WorkspaceItem) -> Literal["absent", "same", "different"]:
        """Whether an item is here: absent, the same, or different under the same name or path."""

    def restore(self, item: WorkspaceItem) -> bool:
        """Add an absent item; False if it is an artifact of a conversation that is not here."""

    def count(self, numbers: WorkspaceNumbers) -> None:
        """Make sure that numbers used elsewhere are not used again here."""

    def let_in(self, key: ConversationKey, user: str) -> None:
        """Make someone a member of a conversation that is here, unless they are one."""

    def usage(self, conversation: ConversationKey | None = None) -> ArtifactUsage:
        """What the artifacts of a conversation take, or those of the tenant."""
