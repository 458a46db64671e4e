"""WHAT comes back about conversations, their artifacts, scratchpads and agents?"""

from base64 import b64decode
from dataclasses import dataclass
from datetime import datetime

from onrecord.model.answers.base import Answer
from onrecord.model.workspace import AgentSettings, Artifact, Conversation, Encoding, PadKind, Scratchpad


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredConversation(Answer):
    """A conversation; `created` is false if it was known before."""

    conversation: Conversation
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConversations(Answer):
    """A page of conversations, newest first; `next` asks for the page after it."""

    conversations: tuple[Conversation, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownConversation(Answer):
    """A conversation, how many artifacts belong to it and how many bytes they take."""

    conversation: Conversation
    artifacts: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedConversation(Answer):
    """What went with a conversation: its artifacts; how many memories lost their pin, their link, or were retired."""

    id: str
    artifacts: int
    unpinned: int
    unlinked: int
    retired: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenArtifact(Answer):
    """An artifact that is on disk; `created` is false if it was written over another. `scrubbed` counts its secrets."""

    artifact: Artifact
    created: bool
    scrubbed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactContent(Answer):
    """An artifact: as text where it is one, else in base64."""

    artifact: Artifact
    content: str
    encoding: Encoding

    @property
    def raw(self) -> bytes:
        """The very bytes of the artifact."""
        return self.content.encode() if self.encoding == "text" else b64decode(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedArtifacts(Answer):
    """Files, and how many bytes they take together."""

    artifacts: tuple[Artifact, ...]
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedArtifact(Answer):
    """An artifact that is gone, and how many memories were linked to it."""

    artifact: Artifact
    unlinked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedScratchpad(Answer):
    """A scratchpad after an addition: how many bytes it takes now, and how many secrets were taken out."""

    agent: str
    size: int
    scrubbed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadContent(Answer):
    """A scratchpad as a whole; `exists` is false where nothing was ever written, or all was thrown away."""

    agent: str
    kind: PadKind
    exists: bool
    size: int
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedScratchpads(Answer):
    """Scratchpads, the one that all share first, then by agent."""

    scratchpads: tuple[Scratchpad, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedScratchpad(Answer):
    """How many bytes of a scratchpad were thrown away."""

    agent: str
    cleared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAgent(Answer):
    """How an agent is set, and since when; never, if these are the defaults."""

    agent: str
    settings: AgentSettings
    updated_at: datetime | None = None
    updated_by: str | None = None
