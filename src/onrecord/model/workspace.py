"""WHAT is kept beside memories? Conversations, their artifacts, scratchpads, and agents' settings.

The classes at the end hold whole items, for moving them to another store.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, get_args

from onrecord.model import advice

Encoding = Literal["text", "base64"]
ScratchpadKind = Literal["agent", "shared"]

ENCODINGS: Final[tuple[Encoding, ...]] = get_args(Encoding)

MEDIA_TYPE: Final = "application/octet-stream"
#: The name of the scratchpad that all agents of a tenant share.
SHARED_SCRATCHPAD: Final = "shared"
#: The agent of callers who name none: the one that leads the others.
DEFAULT_AGENT: Final = "index"
#: Agents of the whole tenant: no user chose them, so they have no users.
TENANTS_AGENTS: Final = frozenset({SHARED_SCRATCHPAD, DEFAULT_AGENT})


class ConversationKey(NamedTuple):
    """Which conversation: who began it, and its name. Two people may use the same name for two conversations."""

    by: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation of a tenant. Its id is a whole number, or the name that its program gave it.

    Its members are the user who began it, the users it was shared with, who are listed in `members`, and admins. `numbered` says that its id
    is a number which the tenant gave, to no other ever; programs may choose numbers too.
    """

    id: str
    agent: str | None = None
    title: str | None = None
    created_at: datetime
    created_by: str
    members: tuple[str, ...] = ()
    numbered: bool = False

    @property
    def key(self) -> ConversationKey:
        return ConversationKey(self.created_by, self.id)

    def has_member(self, user: str) -> bool:
        return user == self.created_by or user in self.members


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A file of a conversation, without its content. Its id is a whole number and stays when the file is overwritten."""

    id: str
    conversation: str
    #: Who began that conversation; exports of earlier versions do not record it.
    conversation_by: str | None = None
    path: str
    sha256: str
    media_type: str
    size: int
    created_at: datetime
    updated_at: datetime
    written_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratchpad:
    """Whose scratchpad it is, and how many bytes it takes."""

    agent: str
    kind: ScratchpadKind
    size: int
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """How one agent searches where a request leaves it open, and what programs keep with it.

    With `decay` None, the request decides. The fields from `expand` on decide whether an advisor is asked: yes, no, or which model;
    None leaves it to the tenant. Nothing here reads `metadata`: it is kept as given.
    """

    intent: bool = True
    decay: bool | None = None
    half_life_days: int = 90
    decay_floor: float = 0.5
    limit: int = 10
    conversation_places: int = 2
    tenant_places: int = 4
    global_places: int = 2
    max_tokens: int | None = None
    expand: str | None = None
    rerank: str | None = None
    rerank_fine: str | None = None
    rerank_when: advice.RerankWhen | None = None
    auto_tag: str | None = None
    auto_supersede: str | None = None
    extract: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


#: What settings were called in stores and exports of earlier versions.
_RENAMED: Final = {"session_places": "conversation_places", "profile_places": "tenant_places"}


#: Settings that earlier versions kept as true or false and ignored: their old values mean nothing.
_NOT_OBEYED: Final = ("rerank", "auto_tag", "auto_supersede")


def with_new_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of an agent, with the names that they have today."""
    return {
        _RENAMED.get(name, name): value
        for name, value in settings.items()
        if not (name in _NOT_OBEYED and isinstance(value, bool))
    }


def scratchpad_kind(agent: str) -> ScratchpadKind:
    return "shared" if agent == SHARED_SCRATCHPAD else "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArtifact:
    """An artifact with its content."""

    artifact: Artifact
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadEntry:
    """One addition to a scratchpad, with its time."""

    written_at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScratchpad:
    """A whole scratchpad: its entries in the order in which they were added, and who uses its agent.

    Without entries it holds only its users.
    """

    agent: str
    notes: tuple[ScratchpadEntry, ...]
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceNumbers:
    """The last numbers that a tenant gave to conversations, artifacts and changesets, so that none is given twice."""

    conversation: int = 0
    artifact: int = 0
    changeset: int = 0
