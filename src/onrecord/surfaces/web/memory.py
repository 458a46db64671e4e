"""WHAT does one memory say, and what became of it?"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from onrecord.errors import Conflict
from onrecord.model.ids import exactly
from onrecord.model.limits import (
    CHECK_KINDS,
    CONFIDENCES,
    DIMENSIONS,
    KINDS,
    NEIGHBOUR_DEPTH,
    RELATIONS,
    SCOPES,
)
from onrecord.model.memory import Memory, Version
from onrecord.recall.relations import Neighbourhood
from onrecord.recall.show import Shown
from onrecord.surfaces.web.memory_acts import ACTS, DONE, FIELDS, as_typed, as_typed_again
from onrecord.surfaces.web.page_view import Form, PageView, address
from onrecord.surfaces.web.site import Page

#: How many versions a page shows, and how many relations its picture.
_VERSIONS: Final = 20
_AROUND: Final = 40
_CHOICES: Final = {
    "kind": KINDS,
    "dimension": DIMENSIONS,
    "confidence": CONFIDENCES,
    "relation": RELATIONS,
    "scope": SCOPES,
    "check": CHECK_KINDS,
}


def memory(view: PageView, *, observe: bool = False) -> Response:
    id = view.path["id"]
    try:
        shown = view.attempt(
            lambda: view.door.show(id, **view.times, background=True, rights=not view.is_past)
        )
    except Conflict:
        # The reader has a memory of that name too. The address came from an answer, and so means the one that has that id.
        if exactly(id) == id:
            raise
        kept = {name: view.query.all(name) for name, _ in view.query.pairs}
        return RedirectResponse(address("/memory/{}", exactly(id), **kept), 303)
    if shown is None:
        return view.html("not_then.html", id=id)
    versions = _known(view, view.door.history(id).versions)
    first = _first_version(view, len(versions))
    around = view.door.neighbours(id, depth=2, limit=_AROUND, **view.times)
    restored = _restored(view, versions) if "revise" in shown.may else None
    return view.html(
        "memory.html",
        shown=shown,
        memory=shown.memory,
        versions=versions,
        timeline=_timeline(versions, first),
        older=max(0, first - _VERSIONS) if first else None,
        moments=_moments(versions),
        picture=_picture(view, around),
        further=_further(around, shown),
        thread=_thread(view, id),
        restored=restored,
        checks=None if view.is_past else view.door.checks(id, observe=observe),
        typed=as_typed(shown.memory) if restored is None else as_typed_again(restored.memory),
        fields=FIELDS,
        choices=_CHOICES,
    )


def _known(view: PageView, versions: Sequence[Version]) -> Sequence[Version]:
    """The versions that were known at the time of the page."""
    known_at = view.times.get("known_at")
    return [version for version in versions if known_at is None or version.at <= known_at]


def _restored(view: PageView, versions: Sequence[Version]) -> Version | None:
    """The earlier version that the form is to begin with, if the address names one and nothing was typed yet."""
    asked = view.query.one("restore") if view.refused is None else ""
    return next((each for each in versions[:-1] if str(each.number) == asked), None)


def _first_version(view: PageView, many: int) -> int:
    """The place of the first version that is shown: the latest are, unless the address asks for older ones."""
    asked = view.query.one("versions")
    first = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else many - _VERSIONS
    return max(0, min(first, many - 1))


def _timeline(versions: Sequence[Version], first: int) -> Sequence[tuple[Version, Memory | None]]:
    """Some versions, the latest first, each with the memory as it was before."""
    return [
        (versions[at], versions[at - 1].memory if at else None)
        for at in reversed(range(first, min(first + _VERSIONS, len(versions))))
    ]


def _moments(versions: Sequence[Version]) -> Sequence[Any]:
    """When this memory changed, became true and ended."""
    times = {version.at for version in versions}
    times |= {version.memory.valid_from for version in versions}
    times |= {version.memory.valid_to for version in versions if version.memory.valid_to is not None}
    return sorted(times)[-200:]


def _picture(view: PageView, around: Neighbourhood) -> Mapping[str, Any] | None:
    """The relations around a memory, as `graph.js` draws them."""
    if not around.edges:
        return None
    found = {around.center.id: around.center, **{edge.memory.id: edge.memory for edge in around.edges}}
    return {
        "nodes": [
            {
                "id": each.id,
                "label": each.title,
                "state": each.status,
                "href": view.link("/memory/{}", each.id),
                "focus": each.id == around.center.id,
            }
            for each in found.values()
        ],
        "edges": [
            {"source": edge.relation.source, "target": edge.relation.target, "label": edge.relation.relation}
            for edge in around.edges
        ],
    }


def _further(around: Neighbourhood, shown: Shown) -> Sequence[Memory]:
    """What the picture shows beyond the memory's own relations."""
    own = {around.center.id, *(edge.memory.id for edge in shown.edges)}
    return list({edge.memory.id: edge.memory for edge in around.edges if edge.memory.id not in own}.values())


def _thread(view: PageView, id: str) -> Sequence[Memory]:
    """What this memory superseded and what superseded it, the oldest first; empty if it stands alone."""
    chain = view.door.neighbours(id, depth=NEIGHBOUR_DEPTH, relations=["supersedes"], **view.times)
    if not chain.edges:
        return ()
    found = {chain.center.id: chain.center, **{edge.memory.id: edge.memory for edge in chain.edges}}
    return sorted(found.values(), key=lambda each: (each.valid_from, each.created_at))


def _observe(view: PageView, form: Form) -> Response:
    """Show the page with what one query says about what it is about."""
    return memory(view, observe=True)


PAGES = (Page(path="/memory/{id}", show=memory, acts={**ACTS, "observe": _observe}, done=DONE),)
