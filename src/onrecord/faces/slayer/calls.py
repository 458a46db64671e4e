"""HOW does a user of a semantic layer speak to us? save_memory, forget_memory, search and inspect_model, and their shapes.

A translation alone: what a reference means, what is found and what is refused is decided by the operations.
"""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar

from onrecord.app import connect
from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.lookup import NoCatalog
from onrecord.catalog.operations import Entity
from onrecord.catalog.queries import ModelQuery, read_query, to_json
from onrecord.catalog.rendering import description_in
from onrecord.catalog.resolution import resolve_all
from onrecord.errors import Fault, Invalid, NotFound
from onrecord.faces.slayer.elsewhere import MOST_CHARACTERS, MOST_ROWS, Elsewhere, said_of, within_limit
from onrecord.faces.slayer.fields import (
    CAPS,
    COUNT,
    FORMAT,
    LEARNING,
    LINKED,
    MAX_RESULTS,
    MOST_RESULTS,
    PLAIN_ID,
    PREVIEW,
    PREVIEW_CHARACTERS,
    is_one_list,
)
from onrecord.model import ids
from onrecord.model.catalog import ENTITY_KINDS, MEMORY_PREFIX, SYSTEM_PREFIX, EntityKind
from onrecord.model.limits import RECALL_LIMIT
from onrecord.model.rules import ListOf, OrNone, Text
from onrecord.model.shapes import checked_field
from onrecord.recall.subjects import EntityHit, SubjectHit
from onrecord.remember.remember import Remembered
from onrecord.service import OnRecord

#: What a query over models is called there.
SlayerQuery = ModelQuery

P = ParamSpec("P")
Answer = TypeVar("Answer")
# As many as a listing may hold.
_MOST_LISTED: Final = 10_000
#: Reciprocal ranks of each channel, added up with an equal say.
RECIPE: Final = "plain_rrf"
# As in these sums, which every score is.
_RANK_OFFSET: Final = 60
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_LABELS: Final = {"Memory": "memory", **{kind.capitalize(): kind for kind in ENTITY_KINDS}}
_CYPHER: Final = re.compile(
    r"\s*MATCH\s*\(\s*(?P<node>\w+)\s*(?P<labels>(?::\s*\w+\s*)+)\)\s*RETURN\s+(?P=node)\.id\s+AS\s+id\s*;?\s*",
    re.IGNORECASE,
)


_REFERENCES: Final = OrNone(ListOf(Text(), at_most=None))


def save_memory(
    door: OnRecord,
    learning: str,
    linked_entities: Sequence[str] | Mapping[str, Any] | ModelQuery,
    id: str | int | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """Keep a note about entities, or with a query the note that it is an example of."""
    checked_field("learning", LEARNING, learning)
    checked_field("description", PREVIEW, description)
    # A second save under the same id replaces all that the first has said.
    given: dict[str, Any] = {
        "content": learning,
        "kind": "learning",
        "hint": (description or "").strip() or None,
        "dedupe": False,
    }
    if id is not None:
        given["id"] = _identifier(id)
    links = _links(linked_entities)
    with said_of("save_memory"):
        _require_known(door, links)
        saved = door.remember(**given, **links)
    return {
        "memory_id": saved.memory.id,
        "resolved_entities": list(saved.memory.entities),
        "warnings": list(dict.fromkeys((*saved.warnings, *_otherwise(saved), *saved.degraded))),
    }


def _otherwise(saved: Remembered) -> Iterator[str]:
    """Where what was saved is not just what was given."""
    if saved.scrubbed:
        yield f"secrets were taken out of it before it was saved ({saved.scrubbed})."
    if saved.memory.status == "pending":
        yield "it waits for the approval of a person, and is not found until then."


def _identifier(given: object) -> str:
    """Only what is a plain id: elsewhere `#5` is short for 5, and `global:5` lives in another place."""
    text = str(checked_field("id", PLAIN_ID, given))
    try:
        return ids.plain_id(text)
    except ValueError as reason:
        raise Invalid([Fault("id", f"{given!r} {reason}" if given != "" else str(reason))]) from None


def _links(linked: object) -> dict[str, Any]:
    """A list makes a note; a query over models makes an example of it."""
    if isinstance(linked, ModelQuery) or isinstance(
        clean := checked_field("linked_entities", LINKED, linked), dict
    ):
        query = linked if isinstance(linked, ModelQuery) else read_query(clean)
        # An upsert replaces both: what a query is about comes from the query alone.
        return {"query": to_json(query), "entities": []}
    return {"entities": list(clean), "query": None}


def _require_known(door: OnRecord, links: Mapping[str, Any]) -> None:
    """Elsewhere a reference stands as it was given while there is no catalog to look it up in; here it is unknown."""
    may_look = OnRecord.entities.operation.is_offered_to(door.caller)  # type: ignore[attr-defined]
    if not may_look or any(door.entities(kind=kind, limit=1).total for kind in ("datasource", "system")):
        return
    nothing = NoCatalog(lambda id: _is_there(door, id))
    if links["query"] is not None:
        entities_of_query(read_query(links["query"]), nothing)
    resolve_all(links["entities"], nothing)


def _is_there(door: OnRecord, id: str) -> bool:
    try:
        door.show(id)
    except NotFound:
        return False
    return True


def forget_memory(door: OnRecord, identifier: str | int) -> dict[str, Any]:
    # What a search shows can be forgotten, also what is for everyone.
    is_global = isinstance(identifier, str) and ids.is_global(identifier)
    return {"deleted_id": door.forget(str(identifier) if is_global else _identifier(identifier)).id}


def search(
    door: OnRecord,
    entities: Sequence[str] | None = None,
    query: Mapping[str, Any] | ModelQuery | None = None,
    question: str | None = None,
    datasource: str | None = None,
    max_memories: int = CAPS["max_memories"],
    max_example_queries: int = CAPS["max_example_queries"],
    max_entities: int = CAPS["max_entities"],
) -> dict[str, Any]:
    """Notes, example queries and entities, each in a list of its own.

    A cap may be any number from 0 on; more than 200 of a list never come back.
    """
    found = door.search(
        question,
        entities=_listed(entities),
        query=to_json(query) if isinstance(query, ModelQuery) else query,
        datasource=datasource,
        max_memories=_cap("max_memories", max_memories),
        max_example_queries=_cap("max_example_queries", max_example_queries),
        max_entities=_cap("max_entities", max_entities),
        recipe=RECIPE,
    )
    return {
        "memories": [_memory(hit) for hit in found.memories],
        "example_queries": [_memory(hit) | {"query": hit.query} for hit in found.example_queries],
        "entities": [_entity(hit) for hit in found.entities],
        "resolved_input_entities": list(found.resolved_input_entities),
        "warnings": list(found.warnings),
    }


def _cap(name: str, given: object) -> int:
    return int(min(checked_field(name, COUNT, given), RECALL_LIMIT))


def _listed(entities: Sequence[str] | None) -> list[str]:
    """A text is a list of its letters, and an object one of its names: neither is meant."""
    return list(checked_field("entities", _REFERENCES, entities) or ())


def search_flat(
    door: OnRecord,
    entities: Sequence[str] | None = None,
    query: Mapping[str, Any] | ModelQuery | None = None,
    question: str | None = None,
    datasource: str | None = None,
    max_results: int = MAX_RESULTS,
    cypher_filter: str | None = None,
    compact: bool = True,
) -> dict[str, Any]:
    """The later form: one list of all kinds, best first; compact ones carry a preview instead of their text.

    Here an entity that is named is found itself, and so is a memory that is named as `memory:<id>`. `cypher_filter`
    keeps some kinds, as in `MATCH (n:Memory:Column) RETURN n.id AS id`. At most 200 notes, as many example queries and
    as many entities are looked at.
    """
    checked_field("max_results", MOST_RESULTS, max_results)
    kinds = _LABELS.values() if cypher_filter is None else _kinds(cypher_filter)
    found = door.search(
        question,
        entities=_listed(entities),
        query=to_json(query) if isinstance(query, ModelQuery) else query,
        datasource=datasource,
        max_memories=RECALL_LIMIT,
        max_example_queries=RECALL_LIMIT,
        max_entities=RECALL_LIMIT,
        recipe=RECIPE,
    )
    every = [_flat_memory(hit) for hit in (*found.memories, *found.example_queries)]
    every += [_flat_entity(hit) for hit in found.entities]
    every = _with_named(door, every, found.resolved_input_entities, datasource)
    every.sort(key=lambda hit: -hit["score"])
    results = [hit for hit in every if hit["kind"] in kinds][:max_results]
    if compact:
        results = [hit | {"text": ""} for hit in results]
    return {
        "results": results,
        "resolved_input_entities": list(found.resolved_input_entities),
        "warnings": list(found.warnings),
    }


def search_either(door: OnRecord, **asked: Any) -> dict[str, Any]:
    """The later form where something is asked that only it knows, else the earlier one."""
    return search_flat(door, **asked) if is_one_list(asked) else search(door, **asked)


def _kinds(cypher_filter: str) -> list[str]:
    """The kinds that the labels of the one form name which is understood."""
    written = _CYPHER.fullmatch(cypher_filter)
    if written is None:
        raise Invalid(
            [
                Fault(
                    "cypher_filter",
                    f"only kinds can be told: 'MATCH (n:Memory:Column) RETURN n.id AS id'; got {cypher_filter!r}",
                )
            ]
        )
    labels = [label.strip() for label in written["labels"].split(":") if label.strip()]
    if unknown := [label for label in labels if label not in _LABELS]:
        raise Invalid(
            [
                Fault(
                    "cypher_filter",
                    f"has the unknown label {', '.join(map(repr, unknown))}; there are {', '.join(_LABELS)}",
                )
            ]
        )
    return [_LABELS[label] for label in labels]


def _with_named(
    door: OnRecord, every: list[dict[str, Any]], named: Sequence[str], datasource: str | None
) -> list[dict[str, Any]]:
    """What is named counts as tagged with its own name, so it gets the share of its place among the named."""
    by_name = {_name(hit): hit for hit in every}
    for rank, name in enumerate(named, 1):
        hit = by_name.get(name) or _looked_up(door, name, datasource)
        if hit is not None:
            matched = list(dict.fromkeys([*hit["matched_entities"], name]))
            by_name[name] = hit | {
                "score": hit["score"] + 1 / (_RANK_OFFSET + rank),
                "matched_entities": matched,
            }
    return list(by_name.values())


def _name(hit: Mapping[str, Any]) -> str:
    return f"{MEMORY_PREFIX if hit['kind'] == 'memory' else ''}{hit['id']}"


def _looked_up(door: OnRecord, name: str, datasource: str | None) -> dict[str, Any] | None:
    """What has this name, unless it is hidden or lies outside of the datasource."""
    if name.startswith(MEMORY_PREFIX):
        memory = door.show(name.removeprefix(MEMORY_PREFIX)).memory
        if memory.status != "active" or not _is_inside(memory.entities, datasource):
            return None
        hit = SubjectHit(
            id=memory.id,
            score=0.0,
            relevance=1.0,
            text=memory.content,
            description=memory.hint,
            query=memory.query,
        )
        return _flat_memory(hit)
    if not _is_inside([name], datasource):
        return None
    for each in _beside(door, name):
        if each.canonical == name and not each.hidden:
            return _flat_entity(EntityHit(id=name, kind=each.kind, score=0.0, relevance=1.0, text=each.text))
    return None


def _beside(door: OnRecord, name: str) -> Sequence[Entity]:
    """The entities among which one of this name would be."""
    parent = ".".join(name.split(".", 2)[:-1])
    if parent:
        return door.entities(parent, limit=_MOST_LISTED).entities
    kind: EntityKind = "system" if name.startswith(SYSTEM_PREFIX) else "datasource"
    return door.entities(kind=kind, limit=_MOST_LISTED).entities


def _is_inside(names: Sequence[str], datasource: str | None) -> bool:
    return datasource is None or any(
        name == datasource or name.startswith(f"{datasource}.") for name in names
    )


def _memory(hit: SubjectHit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "score": hit.score,
        "text": hit.text,
        "matched_entities": list(hit.matched_entities),
    }


def _flat_memory(hit: SubjectHit) -> dict[str, Any]:
    return {"kind": "memory"} | _memory(hit) | {"description": _preview(hit), "query": hit.query}


def _entity(hit: EntityHit) -> dict[str, Any]:
    return {"id": hit.id, "kind": hit.kind, "score": hit.score, "text": hit.text}


def _flat_entity(hit: EntityHit) -> dict[str, Any]:
    return _entity(hit) | {"description": description_in(hit.text), "matched_entities": [], "query": None}


def _preview(hit: SubjectHit) -> str:
    paragraphs = (each.strip() for each in _BLANK_LINE.split(hit.text.replace("\r\n", "\n")))
    return hit.description or next((each for each in paragraphs if each), "")[:PREVIEW_CHARACTERS]


def inspect_model(
    door: OnRecord,
    model_name: str,
    num_rows: int = 3,
    show_sql: bool = False,
    format: Literal["markdown", "json"] = "markdown",
    sections: Sequence[str] | None = None,
    descriptions_max_chars: int | None = None,
    reachable_fields_depth: int = 5,
    data_source: str | None = None,
) -> str | dict[str, Any]:
    checked_field("format", FORMAT, format)
    with said_of("inspect_model"):
        found = door.inspect(
            model_name,
            num_rows=within_limit(num_rows, MOST_ROWS),
            show_sql=show_sql,
            sections=sections,
            descriptions_max_chars=within_limit(descriptions_max_chars, MOST_CHARACTERS),
            reachable_fields_depth=reachable_fields_depth,
            data_source=data_source,
        )
    return found.markdown if format == "markdown" else dict(found.sections)


def delete_model(door: OnRecord, name: str, data_source: str | None = None) -> dict[str, Any]:
    with said_of("delete_model"):
        dropped = door.drop_entity(name, kind="model", data_source=data_source)
    return {"deleted": dropped.entity, "stripped_memories": dropped.stripped}


def delete_datasource(door: OnRecord, name: str) -> dict[str, Any]:
    with said_of("delete_datasource"):
        dropped = door.drop_entity(name, kind="datasource")
    return {"deleted": dropped.entity, "stripped_memories": dropped.stripped}


def edit_model_remove(
    door: OnRecord, name: str, remove: Sequence[str], data_source: str | None = None
) -> dict[str, Any]:
    """Take columns, measures or aggregations out of a model: all of them, or none."""
    parts = remove if remove is not None else ()
    with said_of("edit_model_remove"):
        dropped = door.drop_entity(name, kind="model", data_source=data_source, parts=parts)
    return {
        "model": dropped.entity,
        "removed": [f"{dropped.entity}.{part.strip()}" for part in dict.fromkeys(parts)],
        "stripped_memories": dropped.stripped,
    }


def _hop(
    method: Callable[Concatenate[OnRecord, P], Answer],
) -> Callable[Concatenate["SlayerClient", P], Coroutine[Any, Any, Answer]]:
    takes = signature(method)

    @wraps(method)
    async def call(self: "SlayerClient", /, *given: P.args, **named: P.kwargs) -> Answer:
        if self.door is not None:
            return await asyncio.to_thread(method, self.door, *given, **named)
        asked = takes.bind(None, *given, **named).arguments
        del asked["door"]
        answer: Answer = await self.elsewhere.call(method.__name__, asked)
        return answer

    return call


class SlayerClient:
    """The client of the semantic layer: on a store at hand, `SlayerClient(storage="memories.db")`, or before a server,
    `SlayerClient(url="http://127.0.0.1:8321", key="onr_…")`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        storage: OnRecord | str | Path | None = None,
        key: str | None = None,
    ) -> None:
        if (url is None) == (storage is None):
            raise Invalid([Fault("storage", "or url is needed: one of the two")])
        self.door: OnRecord | None = None
        if url is not None:
            self.elsewhere = Elsewhere(url, key)
        elif storage is not None:
            self.door = storage if isinstance(storage, OnRecord) else connect(storage)

    save_memory = _hop(save_memory)
    forget_memory = _hop(forget_memory)
    search = _hop(search)
    search_flat = _hop(search_flat)
    inspect_model = _hop(inspect_model)
    delete_model = _hop(delete_model)
    delete_datasource = _hop(delete_datasource)
    edit_model_remove = _hop(edit_model_remove)

    async def close(self) -> None:
        if self.door is None:
            await self.elsewhere.close()
        else:
            await asyncio.to_thread(self.door.close)
