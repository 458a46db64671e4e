"""WHAT hangs together? Memories and the things that they are about as a graph to walk, from anywhere, at any time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from starlette.responses import Response

from onrecord.errors import Invalid, NotFound
from onrecord.model.advice import UNADVISED
from onrecord.model.ids import exactly
from onrecord.model.limits import Status
from onrecord.model.memory import Memory, Relation
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page

#: How many nodes a picture has at most, and how many of them are memories.
_NODES: Final = 200
_MEMORIES: Final = 120
#: How many memories a picture begins with, unless it begins with one; and the relations that are followed from each.
_FIRST: Final = 12
_EACH: Final = 12
_AROUND: Final = 200
_PARTS: Final = 30
_MEMORY: Final = "memory:"
#: From when on a memory that nobody has checked or changed since counts as ageing, and as old.
_AGEING: Final = timedelta(days=90)
_OLD: Final = timedelta(days=365)


@dataclass(slots=True)
class _Found:
    """What a picture shows: memories, relations between them, and things with their parts."""

    memories: dict[str, Memory] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    things: dict[str, None] = field(default_factory=dict)
    parts: list[tuple[str, str]] = field(default_factory=list)
    focus: str = ""
    is_cut: bool = False

    def add(self, memory: Memory) -> None:
        if memory.id not in self.memories and len(self.memories) >= _MEMORIES:
            self.is_cut = True
            return
        self.memories.setdefault(memory.id, memory)

    def add_thing(self, name: str) -> None:
        if name not in self.things and len(self.memories) + len(self.things) >= _NODES:
            self.is_cut = True
            return
        self.things.setdefault(name)

    def relations_of(self, id: str) -> Sequence[Relation]:
        """Those that lead from a memory to another in the picture."""
        return [
            each for each in self.relations.values() if each.source == id and each.target in self.memories
        ]


def graph(view: PageView) -> Response:
    found = view.attempt(lambda: _found(view))
    return view.html(
        "graph.html",
        found=found,
        picture=None if found is None else _picture(view, found),
        question=view.query.one("question"),
        freshness=lambda memory: _freshness(memory, view.times.get("as_of") or view.door.now),
    )


def _found(view: PageView) -> _Found:
    found = _Found()
    memory, thing = view.query.one("memory").strip(), view.query.one("entity").strip()
    question = view.query.one("question").strip()
    if memory:
        found.focus = _MEMORY + view.by_address(
            memory, lambda id: _around(view, found, id, depth=2, limit=_AROUND)
        )
    else:
        for each in _first(view, thing, question):
            found.add(each)
        for id in list(found.memories):
            _around(view, found, exactly(id), depth=1, limit=_EACH)
    if thing and not memory:
        found.add_thing(thing)
        found.focus = thing
        _take_apart(view, found, thing)
    for each in found.memories.values():
        for name in each.entities:
            if not name.startswith(_MEMORY):
                found.add_thing(name)
    return found


def _first(view: PageView, thing: str, question: str) -> Iterable[Memory]:
    """The memories to begin with: about a thing, in answer to a question, or those that changed last."""
    if question and not thing:
        return [
            hit.memory for hit in view.door.recall(question, limit=_FIRST, **view.times, **UNADVISED).hits
        ]
    things = [thing] if thing else []
    live: Sequence[Status] = ("active", "stale")
    return view.door.browse(entities=things, statuses=live, limit=_FIRST, **view.times).memories


def _around(view: PageView, found: _Found, id: str, depth: int, limit: int) -> str:
    """Add a memory and what it is related to; returns its id."""
    walked = view.door.neighbours(id, depth=depth, limit=limit, **view.times)
    found.add(walked.center)
    found.is_cut |= walked.truncated
    for edge in walked.edges:
        found.add(edge.memory)
        found.relations[edge.relation.id] = edge.relation
    return walked.center.id


def _take_apart(view: PageView, found: _Found, thing: str) -> None:
    """The parts of a thing, as the catalog knows them; it may know nothing of it."""
    try:
        inside = view.door.entities(thing, limit=_PARTS, **view.known_at)
    except (Invalid, NotFound):
        return
    found.is_cut |= inside.total > len(inside.entities)
    for each in inside.entities:
        if each.canonical != thing:
            found.add_thing(each.canonical)
            found.parts.append((thing, each.canonical))


def _picture(view: PageView, found: _Found) -> Mapping[str, Any]:
    """The same, as `graph.js` draws it."""
    now = view.times.get("as_of") or view.door.now
    memories = [
        {
            "id": _MEMORY + each.id,
            "label": each.title,
            "state": _freshness(each, now),
            "href": view.link("/graph", memory=each.id),
            "focus": found.focus == _MEMORY + each.id,
            "group": "memory",
        }
        for each in found.memories.values()
    ]
    things = [
        {
            "id": name,
            "label": name,
            "href": view.link("/graph", entity=name),
            "focus": name == found.focus,
            "group": "entity",
        }
        for name in found.things
    ]
    return {"nodes": [*memories, *things], "edges": list(_edges(found))}


def _edges(found: _Found) -> Iterable[Mapping[str, str]]:
    for each in found.relations.values():
        yield {
            "source": _MEMORY + each.source,
            "target": _MEMORY + each.target,
            "label": each.relation,
        }
    for memory in found.memories.values():
        for name in memory.entities:
            yield {"source": _MEMORY + memory.id, "target": name, "kind": "weak"}
    for whole, part in found.parts:
        yield {"source": whole, "target": part, "kind": "weak"}


def _freshness(memory: Memory, now: datetime) -> str:
    """The status of a memory; of an active one, how long ago someone last wrote or checked it."""
    if memory.status != "active":
        return memory.status
    age = now - max(memory.verified_at or memory.updated_at, memory.updated_at)
    return "old" if age > _OLD else "ageing" if age > _AGEING else "fresh"


PAGES = (Page(path="/graph", show=graph, menu="Graph"),)
