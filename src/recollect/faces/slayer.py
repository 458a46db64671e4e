"""HOW does a user of a semantic layer speak to us? save_memory, forget_memory, search and inspect_model, and their shapes.

A translation alone: what a reference means, what is found and what is refused is decided by the operations.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar

from recollect.app import connect
from recollect.catalog.queries import SlayerQuery, read_query, to_json
from recollect.errors import Fault, Invalid
from recollect.model import ids
from recollect.model.answers import EntityHit, SubjectHit
from recollect.model.limits import RECALL_LIMIT
from recollect.service import Recollect

P = ParamSpec("P")
Answer = TypeVar("Answer")
_PREVIEW_CHARACTERS: Final = 500


def save_memory(
    door: Recollect,
    learning: str,
    linked_entities: Sequence[str] | Mapping[str, Any] | SlayerQuery,
    id: str | int | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """Keep a note about entities, or with a query the note that it is an example of."""
    if not isinstance(learning, str) or not learning.strip():
        raise Invalid([Fault("learning", "must be a text that is not empty")])
    if description is not None and len(description) > _PREVIEW_CHARACTERS:
        raise Invalid([Fault("description", f"must have at most {_PREVIEW_CHARACTERS} characters")])
    # A second save under the same id replaces all that the first has said.
    given: dict[str, Any] = {
        "content": learning,
        "kind": "learning",
        "hint": (description or "").strip() or None,
        "dedupe": False,
    }
    if id is not None:
        given["id"] = _identifier(id)
    saved = door.remember(**given, **_links(linked_entities))
    return {
        "memory_id": saved.memory.id,
        "resolved_entities": list(saved.memory.entities),
        "warnings": list(dict.fromkeys((*saved.warnings, *saved.degraded))),
    }


def _identifier(given: object) -> str:
    """Only what is a plain id: elsewhere `#5` is short for 5, and `global:5` lives in another place."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise Invalid([Fault("id", f"must be a text or a whole number, not {type(given).__name__}")])
    try:
        return ids.plain_id(str(given))
    except ValueError as reason:
        raise Invalid([Fault("id", f"{given!r} {reason}" if given != "" else str(reason))]) from None


def _links(linked: object) -> dict[str, Any]:
    """A list makes a note; a query over models makes an example of it."""
    if isinstance(linked, Mapping | SlayerQuery):
        query = linked if isinstance(linked, SlayerQuery) else read_query(linked)
        # An upsert replaces both: what a query is about comes from the query alone.
        return {"query": to_json(query), "entities": []}
    if isinstance(linked, str) or not isinstance(linked, Sequence):
        raise Invalid(
            [
                Fault(
                    "linked_entities",
                    f"must be a list of references, or a query as an object; got {type(linked).__name__}",
                )
            ]
        )
    if not linked:
        raise Invalid(
            [Fault("linked_entities", "must be a non-empty list of references, or a query as an object")]
        )
    for each in linked:
        if not isinstance(each, str):
            raise Invalid([Fault("linked_entities", f"list items must be texts; got {type(each).__name__}")])
    return {"entities": list(linked), "query": None}


def forget_memory(door: Recollect, identifier: str | int) -> dict[str, Any]:
    # What a search shows can be forgotten, also what is for everyone.
    is_global = isinstance(identifier, str) and ids.is_global(identifier)
    return {"deleted_id": door.forget(str(identifier) if is_global else _identifier(identifier)).id}


def search(
    door: Recollect,
    entities: Sequence[str] | None = None,
    query: Mapping[str, Any] | None = None,
    question: str | None = None,
    datasource: str | None = None,
    max_memories: int = 5,
    max_example_queries: int = 2,
    max_entities: int = 5,
) -> dict[str, Any]:
    """Notes, example queries and entities, each in a list of its own."""
    found = door.search(
        question,
        entities=list(entities or ()),
        query=query,
        datasource=datasource,
        max_memories=max_memories,
        max_example_queries=max_example_queries,
        max_entities=max_entities,
    )
    return {
        "memories": [_memory(hit) for hit in found.memories],
        "example_queries": [_memory(hit) | {"query": hit.query} for hit in found.example_queries],
        "entities": [_entity(hit) for hit in found.entities],
        "resolved_input_entities": list(found.resolved_input_entities),
        "warnings": list(found.warnings),
    }


def search_flat(
    door: Recollect,
    entities: Sequence[str] | None = None,
    query: Mapping[str, Any] | None = None,
    question: str | None = None,
    datasource: str | None = None,
    max_results: int = 10,
    compact: bool = True,
) -> dict[str, Any]:
    """The later form: one list of all kinds, best first; compact ones carry a preview instead of their text."""
    if max_results < 1:
        raise Invalid([Fault("max_results", f"must be at least 1; got {max_results}")])
    found = door.search(
        question,
        entities=list(entities or ()),
        query=query,
        datasource=datasource,
        max_memories=RECALL_LIMIT,
        max_example_queries=RECALL_LIMIT,
        max_entities=RECALL_LIMIT,
    )
    every: list[dict[str, Any]] = [
        {"kind": "memory"} | _memory(hit) | {"description": _preview(hit), "query": hit.query}
        for hit in (*found.memories, *found.example_queries)
    ]
    every += [
        _entity(hit) | {"description": None, "matched_entities": [], "query": None} for hit in found.entities
    ]
    every.sort(key=lambda hit: -hit["score"])
    results = every[:max_results]
    if compact:
        results = [hit | {"text": ""} for hit in results]
    return {
        "results": results,
        "resolved_input_entities": list(found.resolved_input_entities),
        "warnings": list(found.warnings),
    }


def _memory(hit: SubjectHit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "score": hit.score,
        "text": hit.text,
        "matched_entities": list(hit.matched_entities),
    }


def _entity(hit: EntityHit) -> dict[str, Any]:
    return {"id": hit.id, "kind": hit.kind, "score": hit.score, "text": hit.text}


def _preview(hit: SubjectHit) -> str:
    paragraphs = (each.strip() for each in hit.text.split("\n\n"))
    return hit.description or next((each for each in paragraphs if each), "")[:_PREVIEW_CHARACTERS]


def inspect_model(
    door: Recollect,
    model_name: str,
    num_rows: int = 3,
    show_sql: bool = False,
    format: Literal["markdown", "json"] = "markdown",
    sections: Sequence[str] | None = None,
    descriptions_max_chars: int | None = None,
    reachable_fields_depth: int = 5,
    data_source: str | None = None,
) -> str | dict[str, Any]:
    if format not in ("markdown", "json"):
        raise Invalid([Fault("format", f"must be markdown or json; got {format!r}")])
    found = door.inspect(
        model_name,
        num_rows=num_rows,
        show_sql=show_sql,
        sections=sections,
        descriptions_max_chars=descriptions_max_chars,
        reachable_fields_depth=reachable_fields_depth,
        data_source=data_source,
    )
    return found.markdown if format == "markdown" else dict(found.sections)


def delete_model(door: Recollect, name: str, data_source: str | None = None) -> dict[str, Any]:
    dropped = door.drop_entity(name, kind="model", data_source=data_source)
    return {"deleted": dropped.entity, "stripped_memories": dropped.stripped}


def delete_datasource(door: Recollect, name: str) -> dict[str, Any]:
    dropped = door.drop_entity(name, kind="datasource")
    return {"deleted": dropped.entity, "stripped_memories": dropped.stripped}


def edit_model_remove(
    door: Recollect, name: str, remove: Sequence[str], data_source: str | None = None
) -> dict[str, Any]:
    """Take columns, measures or aggregations out of a model: all of them, or none."""
    parts = remove if remove is not None else ()
    dropped = door.drop_entity(name, kind="model", data_source=data_source, parts=parts)
    return {
        "model": dropped.entity,
        "removed": [f"{dropped.entity}.{part.strip()}" for part in dict.fromkeys(parts)],
        "stripped_memories": dropped.stripped,
    }


def _hop(
    method: Callable[Concatenate[Recollect, P], Answer],
) -> Callable[Concatenate["SlayerClient", P], Coroutine[Any, Any, Answer]]:
    @wraps(method)
    async def call(self: "SlayerClient", /, *given: P.args, **named: P.kwargs) -> Answer:
        return await asyncio.to_thread(method, self.door, *given, **named)

    return call


class SlayerClient:
    """The client of the semantic layer, on a store at hand: `SlayerClient(storage="memories.db")`."""

    def __init__(self, *, storage: Recollect | str | Path) -> None:
        self.door = storage if isinstance(storage, Recollect) else connect(storage)

    save_memory = _hop(save_memory)
    forget_memory = _hop(forget_memory)
    search = _hop(search)
    search_flat = _hop(search_flat)
    inspect_model = _hop(inspect_model)
    delete_model = _hop(delete_model)
    delete_datasource = _hop(delete_datasource)
    edit_model_remove = _hop(edit_model_remove)

    async def close(self) -> None:
        await asyncio.to_thread(self.door.close)
