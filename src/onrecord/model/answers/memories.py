"""WHAT comes back from memories?"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from onrecord.model.answers.base import Answer
from onrecord.model.memory import Memory, Relation, Version
from onrecord.model.workspace import Artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Answer):
    """What one step or layer did: how long, how many candidates after it, and why it was skipped if it was."""

    name: str
    ms: float
    candidates: int | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Answer):
    """A save that is on disk. `scrubbed` counts the secrets that were taken out of it.

    `degraded` says what could not be done now and will be done later.
    """

    memory: Memory
    outcome: Literal["created", "updated", "unchanged"]
    scrubbed: int = 0
    superseded: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    trace: tuple[Note, ...] = ()
    #: Nothing was saved; a new memory would have got this id, had no one come before.
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised(Answer):
    """A memory after its correction; `changed` names the fields, and is empty when nothing was different."""

    memory: Memory
    changed: tuple[str, ...]
    scrubbed: int = 0
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired(Answer):
    """A memory that is no longer true; `changed` is false if it was retired before."""

    memory: Memory
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Answer):
    """What was erased with a memory, and in how many other memories a reference to it."""

    id: str
    versions: int
    relations: int
    references: int
    #: Nothing was erased.
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Related(Answer):
    """An edge; `created` is false if it stood there before."""

    relation: Relation
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrelated(Answer):
    """An edge that was taken back."""

    relation: Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRelations(Answer):
    """A page of edges, newest first; `next` asks for the page after it."""

    relations: tuple[Relation, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Answer):
    """What one channel says of a hit: its place in that list, its score there, and what that adds to the final score."""

    channel: str
    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(Answer):
    """Why a hit stands where it stands: the sum of its parts, times each of its boosts."""

    parts: tuple[Part, ...]
    boosts: tuple[tuple[str, float], ...] = ()
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Answer):
    """A memory that bears on the question."""

    memory: Memory
    score: float
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Answer):
    """The hits, best first; `degraded` says what could not be done, so that a failure never looks like silence.

    `ranking` is the recipe, `channels` those that were asked, `tokens` an estimate of what the hits cost to read.
    `queries` holds example queries where they were asked for apart.
    """

    hits: tuple[Hit, ...]
    ranking: str
    queries: tuple[Hit, ...] = ()
    channels: tuple[str, ...] = ()
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    trace: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(Answer):
    """A relation met on a walk, the memory at its far end, and how many steps away that is."""

    relation: Relation
    memory: Memory
    direction: Literal["out", "in"]
    hop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Answer):
    """One memory, the edges that touch it, and the file that it is linked to."""

    memory: Memory
    edges: tuple[Edge, ...] = ()
    artifact: Artifact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsed(Answer):
    """A page of memories; `next` asks for the page after it."""

    memories: tuple[Memory, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood(Answer):
    """The edges around a memory; `truncated` if there were more than asked for."""

    center: Memory
    edges: tuple[Edge, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHistory(Answer):
    """The history of one memory, oldest version first."""

    id: str
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Answer):
    """One memory as known at the earlier and at the later time; `before` is None where it was new."""

    id: str
    change: Literal["added", "revised", "retired"]
    before: Memory | None
    after: Memory
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Answer):
    """What changed in what we knew between two times."""

    since: datetime
    until: datetime
    memories: tuple[Difference, ...]
    related: tuple[Relation, ...] = ()
    unrelated: tuple[Relation, ...] = ()
