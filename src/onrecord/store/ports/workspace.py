"""WHAT is kept beside memories? Conversations, their artifacts, scratchpads, and the settings of agents."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

from onrecord.model.agent import ShownAgent
from onrecord.model.workspace import (
    AgentSettings,
    Artifact,
    Conversation,
    Scratchpad,
    StoredArtifact,
    StoredScratchpad,
    WorkspaceNumbers,
)
from onrecord.store.ports.filters import ConversationFilter

#: What moves between stores as one: a conversation, a file, the notes of an agent, or how one is set.
WorkspaceItem = Conversation | StoredArtifact | StoredScratchpad | ShownAgent


class Usage(NamedTuple):
    """How many artifacts there are, and how many bytes they take."""

    artifacts: int
    bytes: int


class File(NamedTuple):
    """An artifact to keep: its path, its kind and its bytes."""

    conversation: str
    path: str
    media_type: str
    content: bytes


class Workspace(Protocol):
    """What a tenant keeps beside its memories, in one consistent state; nothing of other tenants."""

    def conversation(self, id: str) -> Conversation | None:
        """One conversation; None if the tenant has no such one."""

    def conversations(self, ask: ConversationFilter) -> tuple[list[Conversation], str | None]:
        """A page of conversations, newest first, and the mark of the next page."""

    def artifact(self, id: str) -> Artifact | None:
        """One artifact without its content; None if the tenant has no such one."""

    def artifact_at(self, conversation: str, path: str) -> Artifact | None:
        """The artifact at a path."""

    def artifacts(self, conversation: str | None = None) -> list[Artifact]:
        """The artifacts of a conversation by path, or of all conversations in their order."""

    def content(self, id: str) -> bytes:
        """The content of an artifact that exists."""

    def usage(self, conversation: str | None = None) -> Usage:
        """What the artifacts of a conversation take, or those of the tenant."""

    def scratchpad(self, agent: str) -> str | None:
        """The scratchpad of an agent as one text; None if it has none."""

    def scratchpad_size(self, agent: str) -> int:
        """How many bytes a scratchpad takes."""

    def scratchpads(self) -> list[Scratchpad]:
        """All scratchpads of the tenant, by agent."""

    def agent(self, agent: str) -> ShownAgent | None:
        """The settings of an agent; None if nobody has set it."""


class WritableWorkspace(Workspace, Protocol):
    """The same in one transaction that keeps other writers out of the tenant."""

    def register(self, id: str | None, agent: str | None, title: str | None) -> tuple[Conversation, bool]:
        """A conversation, and whether it is new; without an id it is the next whole number of the tenant."""

    def drop_conversation(self, id: str) -> None:
        """Delete a conversation with its artifacts."""

    def keep(self, file: File) -> Artifact:
        """Store an artifact of a known conversation; one at the same path is overwritten and keeps its id."""

    def drop_artifact(self, id: str) -> None:
        """Delete an artifact with its content. Its id is not used again."""

    def append(self, agent: str, text: str) -> None:
        """Add to a scratchpad."""

    def clear(self, agent: str) -> None:
        """Delete a scratchpad."""

    def set_agent(self, agent: str, settings: AgentSettings) -> ShownAgent:
        """Store the settings of an agent."""


class WorkspaceArchive(Protocol):
    """Everything that a tenant keeps beside its memories, in one consistent state, whoever may see what."""

    def every(self) -> Iterator[WorkspaceItem]:
        """Conversations in the order in which they began, artifacts by number, scratchpads and settings by agent: one
        at a time.
        """

    def numbers(self) -> WorkspaceNumbers:
        """The last numbers of conversations and artifacts."""


class WorkspaceRestoring(WorkspaceArchive, Protocol):
    """One transaction in one tenant that imports a workspace."""

    def compare(self, item: WorkspaceItem) -> Literal["absent", "same", "different"]:
        """Whether an item is here: absent, the same, or different under the same name or path."""

    def restore(self, item: WorkspaceItem) -> bool:
        """Add an absent item; False if it is an artifact of a conversation that is not here."""

    def count(self, numbers: WorkspaceNumbers) -> None:
        """Make sure that numbers used elsewhere are not used again here."""

    def usage(self, conversation: str | None = None) -> Usage:
        """What the artifacts of a conversation take, or those of the tenant."""
