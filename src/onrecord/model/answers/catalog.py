"""WHAT comes back from the catalog, and from a search by subject?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onrecord.model.answers.base import Answer
from onrecord.model.catalog import EntityKind


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChanges(Answer):
    """How many entities of each kind."""

    datasources: int = 0
    models: int = 0
    columns: int = 0
    measures: int = 0
    aggregations: int = 0
    systems: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested(Answer):
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
class Entity(Answer):
    """What memories can be about, as the catalog knows it; `text` is what it is found by."""

    canonical: str
    kind: EntityKind
    text: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    hidden: bool = False
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntities(Answer):
    """Entities by name; `total` counts those beyond the limit too."""

    entities: tuple[Entity, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectHit(Answer):
    """A memory found by what it is about, its words or its meaning; `query` is its example query, if it has one."""

    id: str
    score: float
    text: str
    description: str | None = None
    matched_entities: tuple[str, ...] = ()
    query: Mapping[str, Any] | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityHit(Answer):
    """An entity that answers the question itself."""

    id: str
    kind: EntityKind
    score: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched(Answer):
    """Notes, example queries and entities, each best first; and what of the question was understood."""

    memories: tuple[SubjectHit, ...] = ()
    example_queries: tuple[SubjectHit, ...] = ()
    entities: tuple[EntityHit, ...] = ()
    resolved_input_entities: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected(Answer):
    """A model with its parts, where its joins lead, and what was learned about it."""

    model: str
    sections: Mapping[str, Any]
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedEntity(Answer):
    """What went with an entity: the entities under it, and the references of so many memories."""

    entity: str
    kind: EntityKind
    entities: int
    stripped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prioritised(Answer):
    """The order in which datasources are looked through."""

    datasources: tuple[str, ...]
