"""WHAT is a memory related to? Relations one by one, and walks along them."""

from dataclasses import dataclass, replace

from onrecord.model.answer import Answer
from onrecord.model.findings import Edge
from onrecord.model.memory import Memory, Relation
from onrecord.operation import Call, operation
from onrecord.recall.show import memory_at
from onrecord.store.ports.filters import RelationFilter, RelationWalk


@dataclass(frozen=True, slots=True)
class ListRelations(RelationFilter):
    """List the tenant's relations between memories that the caller sees, newest first, even of memories that are no
    longer true.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRelations(Answer):
    """A page of relations, newest first; `next` asks for the following page."""

    relations: tuple[Relation, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Neighbours(RelationWalk):
    """Walk the relations around one memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood(Answer):
    """The relations around a memory; `truncated` if there were more than asked for."""

    center: Memory
    edges: tuple[Edge, ...]
    truncated: bool = False


@operation("read", "memory.read", "GET /relations")
def relations(call: Call, ask: ListRelations) -> ListedRelations:
    with call.reading() as reading:
        given = [end for end in (ask.source, ask.target) if end is not None]
        if given:
            meant = dict(zip(given, reading.meant(given), strict=True))
            ask = replace(ask, source=meant.get(ask.source or ""), target=meant.get(ask.target or ""))
        edges, mark = reading.relations.page(ask)
    return ListedRelations(relations=tuple(edges), next=mark)


@operation("read", "memory.read", "GET /memories/{id}/neighbours")
def neighbours(call: Call, ask: Neighbours) -> Neighbourhood:
    with call.reading() as reading:
        center = memory_at(reading, ask.id, ask.as_of, ask.known_at)
        edges = reading.relations.around(center, ask)
    return Neighbourhood(center=center, edges=tuple(edges[: ask.limit]), truncated=len(edges) > ask.limit)
