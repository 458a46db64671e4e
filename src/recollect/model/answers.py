"""WHAT comes back? One frozen value per answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recollect.model.catalog import EntityKind
from recollect.model.memory import Memory, Relation, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What one step or layer did: how long, how many candidates after it, and why it was skipped if it was."""

    name: str
    ms: float
    candidates: int | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """A memory after its correction; `changed` names the fields, and is empty when nothing was different."""

    memory: Memory
    changed: tuple[str, ...]
    scrubbed: int = 0
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A memory that is no longer true; `changed` is false if it was retired before."""

    memory: Memory
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was erased with a memory, and in how many other memories a reference to it."""

    id: str
    versions: int
    relations: int
    references: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """An edge; `created` is false if it stood there before."""

    relation: Relation
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrelated:
    """An edge that was taken back."""

    relation: Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one channel says of a hit: its place in that list, its score there, and what that adds to the final score."""

    channel: str
    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a hit stands where it stands: the sum of its parts, times each of its boosts."""

    parts: tuple[Part, ...]
    boosts: tuple[tuple[str, float], ...] = ()
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that bears on the question."""

    memory: Memory
    score: float
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
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
class Edge:
    """A relation met on a walk, the memory at its far end, and how many steps away that is."""

    relation: Relation
    memory: Memory
    direction: Literal["out", "in"]
    hop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One memory and the edges that touch it."""

    memory: Memory
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsed:
    """A page of memories; `next` asks for the page after it."""

    memories: tuple[Memory, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The edges around a memory; `truncated` if there were more than asked for."""

    center: Memory
    edges: tuple[Edge, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The history of one memory, oldest version first."""

    id: str
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One memory as known at the earlier and at the later time; `before` is None where it was new."""

    id: str
    change: Literal["added", "revised", "retired"]
    before: Memory | None
    after: Memory
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What changed in what we knew between two times."""

    since: datetime
    until: datetime
    memories: tuple[Difference, ...]
    related: tuple[Relation, ...] = ()
    unrelated: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """How much an export wrote, and where."""

    path: str
    memories: int
    versions: int
    relations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """How much an import added, what it found unchanged, and which ids it left alone because they differ."""

    added: int
    unchanged: int
    relations: int
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """Where the copy is."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that does not agree, where it is, and what mends it."""

    check: str
    where: str
    detail: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What the doctor found."""

    memories: int
    problems: tuple[Problem, ...] = field(default=())

    @property
    def healthy(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedMissing:
    """How many memories got their vectors, and why others did not."""

    model: str
    embedded: int
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCoverage:
    """How many memories have vectors of a model; `current` is the one that new memories get."""

    model: str
    indexed: int
    expected: int
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantStatus:
    """How a tenant stands: its memories, what waits to be done, and what was given up."""

    tenant: str
    memories: int
    waiting: int
    failed: int
    models: tuple[ModelCoverage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """How the store stands. Without an embedder, `embedder` is None."""

    location: str
    embedder: str | None
    tenants: tuple[TenantStatus, ...]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChanges:
    """How many entities of each kind."""

    datasources: int = 0
    models: int = 0
    columns: int = 0
    measures: int = 0
    aggregations: int = 0
    systems: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What a source has told the catalog, and what that did to the memories.

    `stripped` counts memories that lost references to what is gone; `stale_queries` names those whose example query
    can no longer be understood, which are left alone.
    """

    source: str
    location: str
    added: EntityChanges
    changed: EntityChanges
    gone: EntityChanges
    stripped: int = 0
    stale_queries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """What memories can be about, as the catalog knows it; `text` is what it is found by."""

    canonical: str
    kind: EntityKind
    text: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    hidden: bool = False
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntities:
    """Entities by name; `total` counts those beyond the limit too."""

    entities: tuple[Entity, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectHit:
    """A memory found by what it is about, its words or its meaning; `query` is its example query, if it has one."""

    id: str
    score: float
    text: str
    description: str | None = None
    matched_entities: tuple[str, ...] = ()
    query: Mapping[str, Any] | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityHit:
    """An entity that answers the question itself."""

    id: str
    kind: EntityKind
    score: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Notes, example queries and entities, each best first; and what of the question was understood."""

    memories: tuple[SubjectHit, ...] = ()
    example_queries: tuple[SubjectHit, ...] = ()
    entities: tuple[EntityHit, ...] = ()
    resolved_input_entities: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A model with its parts, where its joins lead, and what was learned about it."""

    model: str
    sections: Mapping[str, Any]
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedEntity:
    """What went with an entity: the entities under it, and the references of so many memories."""

    entity: str
    kind: EntityKind
    entities: int
    stripped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prioritised:
    """The order in which datasources are looked through."""

    datasources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """How much was indexed anew."""

    memories: int
    postings: int
