"""HOW do the answers about the catalog look in a shell?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import (
    Columns,
    Part,
    excerpt,
    listed,
    many,
    many_memories,
    named,
    says,
    shows,
)

if TYPE_CHECKING:
    from onrecord.catalog.impact import Impacted
    from onrecord.catalog.ingest import Ingested
    from onrecord.catalog.operations import DroppedEntity, ListedEntities


@shows
def _(answer: "Ingested") -> Iterator[Part]:
    yield f"{'Would ingest' if answer.dry_run else 'Ingested'} {answer.location} ({answer.source})."
    for what, changes in (("added", answer.added), ("changed", answer.changed), ("gone", answer.gone)):
        counts = ((name, getattr(changes, name)) for name in changes.__dataclass_fields__)
        counted = ", ".join(many(count, name.removesuffix("s")) for name, count in counts if count)
        yield f"{what}: {counted or 'nothing'}"
    yield from (f"gone: {name}" for name in answer.gone_entities)
    if answer.stripped:
        lost = "would lose" if answer.dry_run else "lost"
        yield f"{many_memories(answer.stripped)} {lost} references to what is no longer there."
        yield from (f"{named(each.memory)} {lost} {', '.join(each.entities)}" for each in answer.lost)
    yield from (f"Stale example query: {each}" for each in answer.stale_queries)
    yield from (f"Note: {note}" for note in answer.notes)


@shows
def _(answer: "Impacted") -> Iterator[Part]:
    if answer.markdown is not None:
        yield answer.markdown.rstrip("\n")
        return
    for heading, stale in (("memory", answer.memories), ("example query", answer.example_queries)):
        yield from (
            f"Would make {heading} {named(each.memory)} of {each.owner} stale: {each.reason}"
            for each in stale
        )
    for one in answer.amendments:
        value = " ".join(filter(None, (one.entity, one.field, one.key)))
        yield f"Would make the promoted {value} stale (approved by {one.owner or 'nobody known'}): {one.reason}"
    if not answer.total:
        yield "Nothing that is known here would go stale."
    yield from (f"Not understood, so not judged: {each}" for each in answer.unread)
    yield from (f"Note: {note}" for note in answer.notes)


@shows
def _(answer: "ListedEntities") -> Iterator[Part]:
    columns: Columns = {"name": "canonical", "kind": "kind"}
    columns |= {"description": lambda each: excerpt(each.description or "")}
    columns |= {"": lambda each: "hidden" if each.hidden else ""}
    yield from listed(answer.entities, columns, "No such entities. Read a source with `onrecord ingest`.")
    if answer.total > len(answer.entities) > 0:
        yield f"{len(answer.entities)} of {answer.total}; --limit shows more."


@shows
def _(answer: "DroppedEntity") -> Iterator[Part]:
    yield f"Removed {answer.kind} {answer.entity} from the catalog, with {many(answer.entities - 1, 'entity', 'entities')} under it."
    yield f"{many_memories(answer.stripped)} lost a reference."


says(
    Inspected=lambda a: str(a.markdown),
    Prioritised=lambda a: f"Order of datasources: {', '.join(a.datasources) or 'by name'}.",
)
