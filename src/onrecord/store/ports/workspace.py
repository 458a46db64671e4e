"""WHAT is kept beside memories? Conversations, their files, the notes of agents, and how each agent is set."""

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
    """How many files there are, and how many bytes they take."""

    artifacts: int
    bytes: int


class File(NamedTuple):
    """A file to be kept: where, what kind, and its bytes."""

    conversation: str
    path: str
    media_type: str
    content: bytes


class Workspace(Protocol):
    """What a tenant keeps beside its memories, in one consistent state; nothing of another tenant is there."""

    def conversation(self, id: str) -> Conversation | None:
        """One conversation; unknown to the tenant is None."""

    def conversations(self, ask: ConversationFilter) -> tuple[list[Conversation], str | None]:
        """A page of conversations, newest first, and the mark of the next page."""

    def artifact(self, id: str) -> Artifact | None:
        """One file without its content; unknown to the tenant is None."""

    def artifact_at(self, conversation: str, path: str) -> Artifact | None:
        """The file that lies at a path."""

    def artifacts(self, conversation: str | None = None) -> list[Artifact]:
        """The files of a conversation by path, or of all conversations in their order."""

    def content(self, id: str) -> bytes:
        """The content of a file that is there."""

    def usage(self, conversation: str | None = None) -> Usage:
        """What the files of a conversation take, or those of the tenant."""

    def scratchpad(self, agent: str) -> str | None:
        """The working notes of an agent as one text; None where there are none."""

    def scratchpad_size(self, agent: str) -> int:
        """How many bytes they take."""

    def scratchpads(self) -> list[Scratchpad]:
        """All working notes of the tenant, by agent."""

    def agent(self, agent: str) -> ShownAgent | None:
        """How an agent was set; None if nobody has."""


class WritableWorkspace(Workspace, Protocol):
    """The same in one transaction that lets no other writer into the tenant."""

    def register(self, id: str | None, agent: str | None, title: str | None) -> tuple[Conversation, bool]:
        """A conversation, and whether it is new; without an id it is the next whole number of the tenant."""

    def drop_conversation(self, id: str) -> None:
        """A conversation with its files."""

    def keep(self, file: File) -> Artifact:
        """A file of a known conversation; one at the same path is written over and keeps its id."""

    def drop_artifact(self, id: str) -> None:
        """A file with its content. Its id is not given again."""

    def append(self, agent: str, text: str) -> None:
        """Add to working notes."""

    def clear(self, agent: str) -> None:
        """Throw working notes away."""

    def set_agent(self, agent: str, settings: AgentSettings) -> ShownAgent:
        """How an agent is set from now on."""


class WorkspaceArchive(Protocol):
    """All that a tenant keeps beside its memories, past every caller, in one consistent state."""

    def every(self) -> Iterator[WorkspaceItem]:
        """Conversations in the order in which they began, files by number, notes and settings by agent: one at a time."""

    def numbers(self) -> WorkspaceNumbers:
        """The last numbers that were given to conversations and artifacts."""


class WorkspaceRestoring(WorkspaceArchive, Protocol):
    """One transaction in one tenant that takes in what was exported."""

    def compare(self, item: WorkspaceItem) -> Literal["absent", "same", "different"]:
        """Whether an item is here: not at all, as it is, or something else under its name or in its place."""

    def restore(self, item: WorkspaceItem) -> bool:
        """Add an item that is absent; False if it is a file of a conversation that is not here."""

    def count(self, numbers: WorkspaceNumbers) -> None:
        """What was given out elsewhere is not given again here."""

    def usage(self, conversation: str | None = None) -> Usage:
        """What the files of a conversation take, or those of the tenant."""
