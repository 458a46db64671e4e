"""WHAT can memories be about, and what is known of each? Datasources, models with their parts, lineage and coverage."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from starlette.responses import Response

from onrecord.catalog.impact import Impacted
from onrecord.catalog.operations import Entity, Inspected
from onrecord.errors import Invalid, NotFound
from onrecord.model.limits import ENTITIES
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Page

_AT_ONCE: Final = 100
_MEMORIES: Final = 50
#: How many memories that went stale the first page shows.
_LATEST: Final = 10
#: What fits on a page, though no agent would want to read it.
_TOKENS: Final = 200_000
_STEPS: Final = 3
#: The references of a model's neighbours are counted in so many datasources.
_COUNTED: Final = 3
_MOST_MODELS: Final = 10_000
_ADMIN: Final = "memory.admin"


class Known(NamedTuple):
    """A memory about a part of a model, as its row shows it."""

    id: str
    text: str
    status: str


def datasources(view: PageView) -> Response:
    found = view.attempt(lambda: view.door.entities(references=True, limit=_MOST_MODELS, **view.known_at))
    # Whatever an ingest, or the watcher after it, has found to be no longer so.
    stale = found and view.door.browse(statuses=["stale"], limit=_LATEST, count=True, **view.known_at)
    return view.html("catalog.html", found=found, stale=stale)


def source(view: PageView) -> Response:
    """The models of a datasource."""
    name = view.query.one("name")
    found = view.attempt(
        lambda: view.door.entities(
            name, kind="model", references=True, limit=_AT_ONCE, **_page(view), **view.known_at
        )
    )
    return view.html("catalog_source.html", name=name, found=found, at_once=_AT_ONCE)


def _page(view: PageView) -> dict[str, Any]:
    return view.fields("entities", view.query, "skip")


def undocumented(view: PageView) -> Response:
    """The tables about which nobody has written anything."""
    fields = view.attempt(lambda: view.fields("entities", view.query, "inside", "skip") | view.known_at)
    found, then = None, {}
    if fields is not None:
        inside, then = fields.pop("inside", None), view.known_at
        found = view.attempt(
            lambda: view.door.entities(inside, kind="model", undocumented=True, limit=_AT_ONCE, **fields)
        )
    every = view.door.entities(kind="model", limit=1, **then).total
    sources = [each.canonical for each in view.door.entities(limit=_MOST_MODELS, **then).entities]
    return view.html("catalog_undocumented.html", found=found, every=every, sources=sources, at_once=_AT_ONCE)


def model(view: PageView) -> Response:
    """A model with its parts, and what is known of each."""
    name = view.query.one("name")
    inspected = view.attempt(
        lambda: view.door.inspect(
            name, show_sql=True, lineage_depth=_STEPS, max_tokens=_TOKENS, **view.known_at
        )
    )
    if inspected is None:
        return view.html("catalog_model.html", name=name, inspected=None)
    sections = inspected.sections
    names = [inspected.model, *(f"{inspected.model}.{part}" for part in _parts(sections))][:ENTITIES]
    about = view.door.browse(
        entities=names,
        statuses=["active", "stale", "pending"],
        limit=_MEMORIES,
        count=True,
        **view.times,
    )
    neighbours = _neighbours(view, inspected)
    return view.html(
        "catalog_model.html",
        name=inspected.model,
        inspected=inspected,
        sections=sections,
        about=about,
        known=_known(sections, about.memories),
        neighbours=neighbours,
        picture=_picture(view, inspected, neighbours),
    )


def _parts(sections: Mapping[str, Any]) -> Sequence[str]:
    kinds = ("columns", "measures", "aggregations")
    return [part["name"] for kind in kinds for part in sections.get(kind, ())]


def _known(sections: Mapping[str, Any], about: Sequence[Any]) -> Mapping[str, Sequence[Known]]:
    """What is known of the model and of each part, by its name."""
    found: dict[str, dict[str, Known]] = {}
    for memory in about:
        for entity in memory.entities:
            found.setdefault(entity, {})[memory.id] = Known(memory.id, memory.title, memory.status)
    for each in sections.get("learnings", ()):
        for entity in each["matched_entities"]:
            known = Known(each["id"], each["learning"], "active")
            found.setdefault(entity, {}).setdefault(each["id"], known)
    return {entity: tuple(known.values()) for entity, known in found.items()}


def _neighbours(view: PageView, inspected: Inspected) -> Mapping[str, Entity]:
    """The models of the lineage, with how much is written about each."""
    names = {end for flow in inspected.lineage for end in (flow.source, flow.target)} | {inspected.model}
    sources = sorted({name.partition(".")[0] for name in names})[:_COUNTED] if inspected.lineage else ()
    found: dict[str, Entity] = {}
    for each in sources:
        try:
            listed = view.door.entities(
                each, kind="model", references=True, limit=_MOST_MODELS, **view.known_at
            )
        except (Invalid, NotFound):
            # Its source may have left, or was never read.
            continue
        found |= {entity.canonical: entity for entity in listed.entities if entity.canonical in names}
    return found


def _picture(
    view: PageView, inspected: Inspected, neighbours: Mapping[str, Entity]
) -> Mapping[str, Any] | None:
    """The lineage as `graph.js` draws it."""
    if not inspected.lineage:
        return None
    names = dict.fromkeys(end for flow in inspected.lineage for end in (flow.source, flow.target))
    return {
        "layout": "flow",
        "nodes": [
            {
                "id": name,
                "label": name,
                "group": "entity",
                "state": freshness(neighbours.get(name)),
                "href": view.link("/catalog/model", name=name),
                "focus": name == inspected.model,
            }
            for name in names
        ],
        "edges": [{"source": flow.source, "target": flow.target} for flow in inspected.lineage],
    }


def freshness(entity: Entity | None) -> str:
    """The colour of an entity: stale if something about it is, fresh if something is known of it."""
    if entity is None or not entity.references:
        return ""
    return "stale" if entity.stale_references else "fresh"


def impact(view: PageView, *, found: Impacted | None = None) -> Response:
    return view.html("catalog_impact.html", found=found)


def _impact(view: PageView, form: Form) -> Response:
    """What a change would make stale. Nothing changes, so the page is shown with what was typed."""
    names = ("sql", "datasource", "path", "schema")
    found = view.door.impact(**view.fields("impact", form, *names))
    view.typed = form
    return impact(view, found=found)


def ingest(view: PageView, **done: Any) -> Response:
    return view.html("catalog_ingest.html", sources=view.door.status().sources, ingested=done.get("ingested"))


def _ingest(view: PageView, form: Form) -> Response:
    fields = view.fields("ingest", form, "path", "datasource", "schema", "dry_run")
    return ingest(view, ingested=view.door.ingest(**fields))


PAGES = (
    Page(path="/catalog", show=datasources, menu="Catalog"),
    Page(path="/catalog/source", show=source),
    Page(path="/catalog/model", show=model),
    Page(path="/catalog/undocumented", show=undocumented),
    Page(path="/catalog/impact", show=impact, acts={"ask": _impact}),
    Page(path="/catalog/ingest", show=ingest, acts={"ingest": _ingest}, permission=_ADMIN),
)
