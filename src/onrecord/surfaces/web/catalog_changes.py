"""WHAT did the last ingest change, and what did that touch? By source: models and columns, memories, promoted values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from starlette.responses import Response

from onrecord.catalog.records import entity_of, model_of
from onrecord.errors import NotFound
from onrecord.model.catalog import EntityKind, Model
from onrecord.model.findings import Difference
from onrecord.model.ids import exactly
from onrecord.model.limits import BROWSE_LIMIT, ENTITIES
from onrecord.model.memory import Memory
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page

PATH: Final = "/catalog/changes"
#: The last ingest of a source is looked for among so many of the latest changes of the catalog.
_LOOKED_BACK: Final = 20
_MOST_MODELS: Final = 10_000
#: How many memories that are stale by now are looked at, and models with promoted values.
_MEMORIES: Final = 50
_PROMOTED: Final = 20
#: Changes are dated by the moment at which they were made.
_TICK: Final = timedelta.resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedEntity:
    """What became of an entity, in words if its type is another."""

    name: str
    kind: EntityKind
    change: Literal["new", "gone", "changed", "retyped"]
    how: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedMemory:
    """A memory that an ingest touched, and in which way."""

    memory: Memory
    lost: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LastIngest:
    """The last ingest that changed a source; `promoted` are values beside which the source says something else now."""

    source: str
    at: datetime
    changes: Sequence[ChangedEntity]
    has_more: bool
    memories: Sequence[TouchedMemory] = ()
    promoted: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    def of(self, change: str) -> Sequence[ChangedEntity]:
        return [each for each in self.changes if each.change == change]


def changes(view: PageView) -> Response:
    return view.html("catalog_changes.html", ingests=view.attempt(lambda: _last_ingests(view)))


def _last_ingests(view: PageView) -> Sequence[LastIngest]:
    """Of each source, as known at the chosen time; the latest first."""
    then = view.known_at.get("known_at")
    # What was known at a time includes what was written at it.
    end = None if then is None else then + _TICK
    moments = view.door.moments(catalog=True, limit=_LOOKED_BACK, before=end).moments
    missing = {each.canonical for each in view.door.entities(limit=_MOST_MODELS, **view.known_at).entities}
    found, following = list[LastIngest](), end
    for at in moments:
        if not missing:
            break
        compared = view.door.diff(at - _TICK, until=at, catalog=True, limit=BROWSE_LIMIT)
        entries = list(_entities(compared.memories))
        for source in sorted(missing.intersection(_source_of(each.name) for each in entries)):
            own = [each for each in entries if _source_of(each.name) == source]
            found.append(
                LastIngest(
                    source=source,
                    at=at,
                    changes=list(_topmost(own)),
                    has_more=compared.next is not None,
                    memories=[*_stripped(view, own, at), *_gone_stale(view, own, at, following)],
                    promoted=list(_said_anew(view, own, compared.memories)),
                )
            )
            missing.discard(source)
        following = at
    return found


def _source_of(name: str) -> str:
    return name.partition(".")[0]


def _entities(differences: Sequence[Difference]) -> Iterator[ChangedEntity]:
    """What a source has changed. What people promoted changes the texts of entities, and not what their source says."""
    for each in differences:
        known = entity_of(each.after)
        name, kind = str(known["canonical"]), known["kind"]
        was_there = each.before is not None and each.before.is_live
        if was_there != each.after.is_live:
            yield ChangedEntity(name=name, kind=kind, change="new" if each.after.is_live else "gone")
        elif each.before is not None and kind == "model" and _said(each.before) != _said(each.after):
            yield from _changed_model(model_of(each.before), model_of(each.after))


def _said(record: Memory) -> Any:
    """What the source of an entity says of it."""
    return entity_of(record).get("document")


def _changed_model(was: Model, is_now: Model) -> Iterator[ChangedEntity]:
    retyped = False
    for part in is_now.parts:
        before = was.part(part.name)
        if before is not None and (before.kind, before.type) != (part.kind, part.type):
            name, retyped = f"{is_now.canonical}.{part.name}", True
            how = f"{before.type or before.kind} → {part.type or part.kind}"
            yield ChangedEntity(name=name, kind=part.kind, change="retyped", how=how)
    names = [{part.name for part in each.parts} for each in (was, is_now)]
    if not retyped and names[0] == names[1]:
        yield ChangedEntity(name=is_now.canonical, kind="model", change="changed")


def _topmost(entries: Sequence[ChangedEntity]) -> Iterator[ChangedEntity]:
    """Without the parts of a model that is itself new or gone, in the order of names."""
    whole = {each.name for each in entries if each.kind == "model" and each.change in ("new", "gone")}
    for each in sorted(entries, key=lambda entry: entry.name):
        if each.kind == "datasource":
            # The entry stands under its name.
            continue
        if each.kind == "model" or ".".join(each.name.split(".", 2)[:2]) not in whole:
            yield each


def _stripped(view: PageView, entries: Sequence[ChangedEntity], at: datetime) -> Iterator[TouchedMemory]:
    """The memories that lost references to what is gone, by the ingest itself."""
    gone = {each.name for each in entries if each.change == "gone"}
    if not gone:
        return
    for each in view.door.diff(at - _TICK, until=at, limit=BROWSE_LIMIT).memories:
        held = () if each.before is None else each.before.entities
        lost = [name for name in held if name in gone and name not in each.after.entities]
        if lost:
            yield TouchedMemory(memory=view.door.show(exactly(each.id), **view.known_at).memory, lost=lost)


def _gone_stale(
    view: PageView, entries: Sequence[ChangedEntity], at: datetime, following: datetime | None
) -> Iterator[TouchedMemory]:
    """The memories about what has changed that went stale since, and before the catalog changed again."""
    names = dict.fromkeys(each.name for each in entries if each.change != "new")
    names |= dict.fromkeys(".".join(each.split(".", 2)[:2]) for each in list(names))
    if not names:
        return
    found = view.door.browse(
        entities=list(names)[:ENTITIES], statuses=["stale"], limit=_MEMORIES, **view.known_at
    )
    for memory in found.memories:
        versions = view.door.history(exactly(memory.id)).versions
        went = [
            after.at
            for before, after in zip((None, *versions), versions, strict=False)
            if after.memory.status == "stale" and (before is None or before.memory.status != "stale")
        ]
        if any(at <= each and (following is None or each < following) for each in went):
            yield TouchedMemory(memory=memory)


def _said_anew(
    view: PageView, entries: Sequence[ChangedEntity], differences: Sequence[Difference]
) -> Iterator[Mapping[str, Any]]:
    """The promoted values whose source says something else now, of the models that have changed."""
    changed = {".".join(each.name.split(".", 2)[:2]) for each in entries}
    amended = [
        str(entity_of(each.after)["canonical"])
        for each in differences
        if each.after.is_live
        and entity_of(each.after)["kind"] == "model"
        and "amendments" in entity_of(each.after)
    ]
    for name in [each for each in amended if each in changed][:_PROMOTED]:
        try:
            sections = view.door.inspect(name, **view.known_at).sections
        except NotFound:
            continue
        yield from (each for each in sections.get("promoted", ()) if "source_says" in each)


PAGES = (Page(path=PATH, show=changes),)
