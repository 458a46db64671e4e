"""WHICH kinds of records has a tenant? This file alone says how they differ.

Memories and entities (what memories are about) are stored in the same way: with versions, words, references and
vectors. They lie side by side in their tenant, and no answer mixes them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from onrecord.model.limits import ENTITIES_OF
from onrecord.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Collection:
    """One kind of record. Rows carry its `number`, which never changes."""

    name: str
    number: int
    #: The keys by which its records are looked up, in addition to tags and references.
    facets: Callable[[Memory], Iterable[str]]
    #: Whether each change gets an entry of the audit; an ingest gets one for all its changes.
    is_audited: bool
    #: Whether there are global records in addition to the tenant's own.
    has_global: bool
    #: Whether records that an unattended run shares wait for a review.
    is_reviewed: bool
    #: Whether a YAML store lists them in its file; the others are only in its history.
    stands_in_file: bool


def entity_facet(what: str, name: str) -> str:
    return f"{what}={name}"


def _facets_of_entity(record: Memory) -> Iterator[str]:
    """The facets of an entity: its kind, its name, what contains it and what it is made from."""
    known = record.metadata.get("entity", {})
    kind, name = known.get("kind", ""), known.get("name", "")
    yield entity_facet("is", kind)
    yield entity_facet(kind if kind in ("datasource", "model", "system") else "part", name)
    if "parent" in known:
        yield entity_facet("in", known["parent"])
    if "amendments" in known:
        yield AMENDED
    for upstream in dict.fromkeys(known.get("upstream", ())):
        yield entity_facet("from", upstream)


#: Of an entity with something that people have promoted.
AMENDED: Final = entity_facet("has", "amendments")
#: Of a memory that carries an example query.
HAS_QUERY: Final = "has=query"

MEMORIES: Final = Collection(
    "memories",
    1,
    facets=lambda memory: () if memory.query is None else (HAS_QUERY,),
    is_audited=True,
    has_global=True,
    is_reviewed=True,
    stands_in_file=True,
)
ENTITIES: Final = Collection(
    "entities",
    2,
    facets=_facets_of_entity,
    is_audited=False,
    has_global=False,
    is_reviewed=False,
    stands_in_file=False,
)
COLLECTIONS: Final = (MEMORIES, ENTITIES)
BY_NUMBER: Final = {each.number: each for each in COLLECTIONS}


class Home(NamedTuple):
    """Where records lie: a tenant, and a collection of it."""

    tenant: str
    collection: Collection = MEMORIES

    def __str__(self) -> str:
        return self.tenant if self.collection is MEMORIES else f"{self.tenant}/{self.collection.name}"

    @property
    def spelled(self) -> str:
        """The name of this home in exports and histories."""
        return self.tenant if self.collection is MEMORIES else ENTITIES_OF + self.tenant

    @classmethod
    def named(cls, spelled: str) -> "Home":
        if spelled.startswith(ENTITIES_OF):
            return cls(spelled.removeprefix(ENTITIES_OF), ENTITIES)
        return cls(spelled)
