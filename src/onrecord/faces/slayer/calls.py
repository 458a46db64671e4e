"""HOW does a user of a semantic layer speak to us? With calls for notes, searches and models, in its own
shapes.

This module only translates: the operations decide what a reference means, what is found and what is refused.
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
from onrecord.catalog.inspection import INSPECTION_TOKENS, as_markdown
from onrecord.catalog.lookup import INGEST_FIRST, NoCatalog
from onrecord.catalog.operations import Entity, Inspected
from onrecord.catalog.queries import ModelQuery, read_query, to_json
from onrecord.catalog.rendering import description_in, in_words
from onrecord.catalog.resolution import Unresolved, missing_datasource, resolve_all
from onrecord.catalog.targets.unsourced import NAME as UNSOURCED
from onrecord.doors import Door
from onrecord.errors import Fault, Invalid, NotFound, invalid
from onrecord.faces.slayer.errors import BadValueError, in_their_words
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
    REMOVE,
    is_one_list,
)
from onrecord.faces.slayer.remote import RemoteServer
from onrecord.model import ids
from onrecord.model.catalog import ENTITY_KINDS, MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX, EntityKind
from onrecord.model.limits import RECALL_LIMIT
from onrecord.model.rules import ListOf, OrNone, Text
from onrecord.model.shapes import checked_field
from onrecord.model.wire import to_json as answer_as_json
from onrecord.recall.subjects import EntityHit, Searched, SubjectHit
from onrecord.remember.remember import Remembered
from onrecord.service import OnRecord

#: The name that the semantic layer has for a query over models.
SlayerQuery = ModelQuery

P = ParamSpec("P")
Answer = TypeVar("Answer")
# The most that a listing may hold.
_MOST_LISTED: Final = 10_000
#: A score is the sum of the reciprocal ranks in all channels, which have equal weight.
RECIPE: Final = "plain_rrf"
# The recipe adds this to each rank: every score is a sum of 1 / (offset + rank).
_RANK_OFFSET: Final = 60
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_LABELS: Final = {"Memory": "memory", **{kind.capitalize(): kind for kind in ENTITY_KINDS}}
_CYPHER: Final = re.compile(
    r"\s*MATCH\s*\(\s*(?P<node>\w+)\s*(?P<labels>(?::\s*\w+\s*)+)\)\s*RETURN\s+(?P=node)\.id\s+AS\s+id\s*;?\s*",
    re.IGNORECASE,
)
#: No column keeps more example values, and no description is longer.
_MOST_ROWS: Final = 100
_MOST_CHARACTERS: Final = 100_000
#: The most models in one summary.
_MOST_SUMMARIES: Final = 200
#: A section that every model has, and that is short.
_SHORT_SECTION: Final = "joins"
_REFERENCES: Final = OrNone(ListOf(Text(), at_most=None))


@in_their_words
def save_memory(
    door: OnRecord,
    learning: str,
    linked_entities: Sequence[str] | Mapping[str, Any] | ModelQuery,
    id: str | int | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """Keep a note about entities or, given a query, the note that goes with it as an example."""
    checked_field("learning", LEARNING, learning)
    checked_field("description", PREVIEW, description)
    # A second save under the same id replaces everything from the first.
    given: dict[str, Any] = {
        "content": learning,
        "kind": "learning",
        "hint": (description or "").strip() or None,
        "dedupe": False,
        "alike": "keep",
    }
    if id is not None:
        given["id"] = _identifier(id)
    links = _links(linked_entities)
    _require_known(door, links)
    saved = door.remember(**given, **links)
    return {
        "memory_id": saved.memory.id,
        "resolved_entities": list(saved.memory.entities),
        "warnings": list(dict.fromkeys((*saved.warnings, *_otherwise(saved), *saved.degraded))),
    }


def _otherwise(saved: Remembered) -> Iterator[str]:
    """Warnings if the saved note differs from the given one."""
    if saved.scrubbed:
        yield f"secrets were taken out of it before it was saved ({saved.scrubbed})."


def _identifier(given: object) -> str:
    """A plain id; Invalid otherwise. Our other interfaces also take `#5`, short for 5, and `global:5`, the id of a
    memory for everyone.
    """
    text = str(checked_field("id", PLAIN_ID, given))
    try:
        return ids.plain_id(text)
    except ValueError as reason:
        raise invalid("id", f"{given!r} {reason}" if given != "" else str(reason)) from None


def _links(linked: object) -> dict[str, Any]:
    """What the note is linked to: a list of references, or a query over models, which makes it an example query."""
    if isinstance(linked, ModelQuery) or isinstance(
        clean := checked_field("linked_entities", LINKED, linked), dict
    ):
        query = linked if isinstance(linked, ModelQuery) else read_query(clean)
        # An upsert replaces both fields: the entities of an example query come from the query alone.
        return {"query": to_json(query), "entities": []}
    return {"entities": list(clean), "query": None}


def _require_known(door: OnRecord, links: Mapping[str, Any]) -> None:
    """Refuse as unknown what our other interfaces accept: a thing of any name, and an entity that cannot be looked up
    since there is no catalog yet.
    """
    for reference in links["entities"]:
        if reference.strip().startswith(THING_PREFIX):
            raise Unresolved(
                reference, f"{reference!r} is not in the catalog; only its entities can be referenced here."
            )
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


@in_their_words
def forget_memory(door: OnRecord, identifier: str | int) -> dict[str, Any]:
    # Whatever a search returns can be forgotten, also global memories and those with a user's name in front.
    is_shown = isinstance(identifier, str) and (ids.is_global(identifier) or ids.is_owned(identifier))
    gone = door.forget(str(identifier) if is_shown else _identifier(identifier))
    if gone.proposal is not None:
        return {"deleted_id": None, "warnings": list(gone.warnings)}
    return {"deleted_id": gone.id} | ({"warnings": list(gone.warnings)} if gone.warnings else {})


@in_their_words
def search(
    door: Door,
    entities: Sequence[str] | None = None,
    query: Mapping[str, Any] | ModelQuery | None = None,
    question: str | None = None,
    datasource: str | None = None,
    max_memories: int = CAPS["max_memories"],
    max_example_queries: int = CAPS["max_example_queries"],
    max_entities: int = CAPS["max_entities"],
) -> dict[str, Any]:
    """Notes, example queries and entities, each in a list of its own.

    A cap may be any number from 0 up. No list holds more than 200; if more are asked for, a warning says so.
    """
    caps = {
        "max_memories": max_memories,
        "max_example_queries": max_example_queries,
        "max_entities": max_entities,
    }
    beyond = [
        f"{name}: that list never has more than {RECALL_LIMIT} entries (asked for {given})."
        for name, given in caps.items()
        if checked_field(name, COUNT, given) > RECALL_LIMIT
    ]
    most: Mapping[str, Any] = {name: min(given, RECALL_LIMIT) for name, given in caps.items()}
    found = door.search(
        question,
        entities=_listed(entities),
        query=to_json(query) if isinstance(query, ModelQuery) else query,
        datasource=datasource,
        recipe=RECIPE,
        **most,
    )
    return {
        "memories": [_memory(hit) for hit in found.memories],
        "example_queries": [_memory(hit) | {"query": hit.query} for hit in found.example_queries],
        "entities": [_entity(hit) for hit in found.entities],
        "resolved_input_entities": list(found.resolved_input_entities),
        "warnings": [*beyond, *found.warnings, *_unadvised(found)],
    }


def _unadvised(found: Searched) -> list[str]:
    """Why a tenant's advisor did not help, where it was to."""
    return [each.summary() for each in found.advice if not each.applied]


def _listed(entities: Sequence[str] | None) -> list[str]:
    """The references as a list. Invalid for a text or an object, which Python would read as a list of letters or of
    keys.
    """
    return list(checked_field("entities", _REFERENCES, entities) or ())


@in_their_words
def search_flat(
    door: Door,
    entities: Sequence[str] | None = None,
    query: Mapping[str, Any] | ModelQuery | None = None,
    question: str | None = None,
    datasource: str | None = None,
    max_results: int = MAX_RESULTS,
    cypher_filter: str | None = None,
    compact: bool = True,
) -> dict[str, Any]:
    """The later form: one list of all kinds, best first. With `compact`, hits have a preview instead of their text.

    This form also finds the named entities themselves, and memories that are named as `memory:<id>`. `cypher_filter`
    keeps only some kinds, as in `MATCH (n:Memory:Column) RETURN n.id AS id`. At most 200 notes, 200 example queries
    and 200 entities are considered; if more are asked for, a warning says so.
    """
    checked_field("max_results", MOST_RESULTS, max_results)
    beyond = (
        [f"max_results: at most {RECALL_LIMIT} of each kind are looked at (asked for {max_results})."]
        if max_results > RECALL_LIMIT
        else []
    )
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
        "warnings": [*beyond, *found.warnings, *_unadvised(found)],
    }


def search_either(door: Door, **asked: Any) -> dict[str, Any]:
    """The later form if the call has an argument that only this form takes, else the earlier form."""
    return search_flat(door, **asked) if is_one_list(asked) else search(door, **asked)


def _kinds(cypher_filter: str) -> list[str]:
    """The kinds that the labels of the filter name. Only one form of Cypher query is understood."""
    written = _CYPHER.fullmatch(cypher_filter)
    if written is None:
        raise invalid(
            "cypher_filter",
            f"filters by labels alone, as in 'MATCH (n:Memory:Column) RETURN n.id AS id'; got {cypher_filter!r}",
        )
    labels = [label.strip() for label in written["labels"].split(":") if label.strip()]
    if unknown := [label for label in labels if label not in _LABELS]:
        raise invalid(
            "cypher_filter",
            f"has the unknown label {', '.join(map(repr, unknown))}; there are {', '.join(_LABELS)}",
        )
    return [_LABELS[label] for label in labels]


def _with_named(
    door: Door, every: list[dict[str, Any]], named: Sequence[str], datasource: str | None
) -> list[dict[str, Any]]:
    """Add what is named to the hits. It counts as tagged with its own name, so its rank among the names adds to its
    score.
    """
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


def _looked_up(door: Door, name: str, datasource: str | None) -> dict[str, Any] | None:
    """The entity or memory of this name; None if it is hidden, not active or outside of the datasource."""
    if name.startswith(MEMORY_PREFIX):
        memory = door.show(ids.exactly(name.removeprefix(MEMORY_PREFIX))).memory
        if memory.status != "active" or not _is_inside(memory.entities, datasource):
            return None
        hit = SubjectHit(
            id=memory.id,
            score=0.0,
            relevance=1.0,
            text=memory.content,
            author=memory.author,
            tier=memory.tier,
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


def _beside(door: Door, name: str) -> Sequence[Entity]:
    """The entities of the same parent, among which one of this name would be."""
    parent = ".".join(name.split(".", 2)[:-1])
    if parent:
        try:
            return door.entities(parent, limit=_MOST_LISTED).entities
        except Invalid:
            # The catalog does not know the parent.
            return ()
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
        "author": hit.author,
        "tier": hit.tier,
    }


def _flat_memory(hit: SubjectHit) -> dict[str, Any]:
    return {"kind": "memory"} | _memory(hit) | {"description": _preview(hit), "query": hit.query}


def _entity(hit: EntityHit) -> dict[str, Any]:
    return {"id": hit.id, "kind": hit.kind, "score": hit.score, "text": hit.text}


def _flat_entity(hit: EntityHit) -> dict[str, Any]:
    nothing: dict[str, Any] = {"matched_entities": [], "author": None, "tier": None, "query": None}
    return _entity(hit) | {"description": description_in(hit.text)} | nothing


def _preview(hit: SubjectHit) -> str:
    paragraphs = (each.strip() for each in _BLANK_LINE.split(hit.text.replace("\r\n", "\n")))
    return hit.description or next((each for each in paragraphs if each), "")[:PREVIEW_CHARACTERS]


@in_their_words
def inspect_model(
    door: Door,
    model_name: str,
    num_rows: int = 3,
    show_sql: bool = False,
    format: Literal["markdown", "json"] = "markdown",
    sections: Sequence[str] | None = None,
    descriptions_max_chars: int | None = None,
    reachable_fields_depth: int = 5,
    data_source: str | None = None,
    max_tokens: int = INSPECTION_TOKENS,
) -> str | dict[str, Any]:
    checked_field("format", FORMAT, format)
    is_bare = sections is not None and not sections
    found = _inspected(
        door,
        model_name,
        num_rows=_within(num_rows, _MOST_ROWS),
        show_sql=show_sql,
        # A query string cannot hold an empty list, so we ask for one section and remove it again.
        sections=[_SHORT_SECTION] if is_bare else sections,
        descriptions_max_chars=_within(descriptions_max_chars, _MOST_CHARACTERS),
        reachable_fields_depth=reachable_fields_depth,
        data_source=data_source,
        max_tokens=max_tokens,
    )
    shown = {name: each for name, each in found.sections.items() if not (is_bare and name == _SHORT_SECTION)}
    return shown if format == "json" else as_markdown(shown) if is_bare else found.markdown


def _within(cap: Any, most: int) -> Any:
    """The cap, lowered to `most` if it is higher. What is not a number stays, for the request to refuse."""
    return most if isinstance(cap, int) and cap > most else cap


@in_their_words
def list_datasources(door: Door) -> dict[str, Any]:
    """The datasources, each with its description and how many models it has."""
    found = door.entities(kind="datasource", limit=_MOST_LISTED).entities
    return {
        "datasources": [
            {
                "name": each.canonical,
                "description": each.description,
                "models": door.entities(each.canonical, kind="model", limit=1).total,
            }
            for each in found
            if not each.hidden
        ]
    }


@in_their_words
def models_summary(
    door: Door,
    datasource_name: str | None = None,
    format: Literal["markdown", "json"] = "markdown",
    compact: bool = True,
) -> str | dict[str, Any]:
    """The models of one datasource or of all, with descriptions; if not compact, also with their parts and joins."""
    checked_field("format", FORMAT, format)
    known = [each["name"] for each in list_datasources(door)["datasources"]]
    if datasource_name is not None and datasource_name not in known:
        raise NotFound(f"Datasource {missing_datasource(datasource_name, known)}")
    inside = known if datasource_name is None else [datasource_name]
    listed = [each for name in inside for each in door.entities(name, limit=_MOST_LISTED).entities]
    models = [_model_summary(each, compact) for each in listed if not each.hidden]
    beyond = max(len(models) - _MOST_SUMMARIES, 0)
    notes = [f"{beyond} more are left out; name a datasource, or search for them."] if beyond else []
    if not known:
        notes.append(f"{INGEST_FIRST.capitalize()}.")
    summary = {"models": models[:_MOST_SUMMARIES], "notes": notes}
    return summary if format == "json" else _summary_in_words(summary)


def _model_summary(model: Entity, compact: bool) -> dict[str, Any]:
    fields = {"name": model.canonical, "description": model.description}
    return fields if compact else fields | {"text": model.text}


def _summary_in_words(summary: Mapping[str, Any]) -> str:
    """The summary as Markdown. Each line of a model's text holds one value behind words of ours, so a value cannot pass
    for another model.
    """
    lines = []
    for each in summary["models"]:
        lines.append(
            f"- `{each['name']}`" + (f": {in_words(each['description'])}" if each["description"] else "")
        )
        lines += [f"  - {line}" for line in each.get("text", "").split("\n")[1:]]
    return "\n".join([*lines, *summary["notes"]])


@in_their_words
def ingest_datasource_models(
    door: Door,
    path: str,
    datasource_name: str | None = None,
    schema_name: str | None = None,
    sample_values: int = 0,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Read models in: from a database, a folder of model files, a store of the semantic layer, or the files that dbt
    writes.
    """
    answer = door.ingest(
        path, datasource=datasource_name, schema=schema_name, sample_values=sample_values, dry_run=dry_run
    )
    ingested: dict[str, Any] = answer_as_json(answer)
    return ingested


@in_their_words
def delete_model(door: Door, name: str, data_source: str | None = None) -> dict[str, Any]:
    dropped = door.drop_entity(name, kind="model", data_source=data_source)
    return {"deleted": dropped.entity, "stripped_memories": dropped.stripped}


@in_their_words
def delete_datasource(door: Door, name: str) -> dict[str, Any]:
    dropped = door.drop_entity(name, kind="datasource")
    return {"deleted": dropped.entity, "stripped_memories": dropped.stripped}


def _inspected(door: Door, model_name: str, **shown: Any) -> Inspected:
    """A model that a source lists; NotFound for one of which there are only values that people promoted."""
    found = door.inspect(model_name, **shown)
    if found.sections["state"] == UNSOURCED:
        raise NotFound(f"Model {model_name!r} not found: no source lists it.")
    return found


@in_their_words
def edit_model(
    door: Door, model_name: str, remove: Mapping[str, Sequence[str]], data_source: str | None = None
) -> dict[str, Any]:
    """Remove columns, measures or aggregations from a model, as in `{"columns": ["amount"]}`: all of them, or none."""
    by_kind = checked_field("remove", REMOVE, remove)
    model = _inspected(door, model_name, data_source=data_source, sections=[_SHORT_SECTION]).model
    kinds = {each.canonical: each.kind for each in door.entities(model, limit=_MOST_LISTED).entities}
    faults = [
        Fault(f"remove.{listed}", f"{name!r} is a {kind} of {model}, not among its {listed}")
        for listed, names in by_kind.items()
        for name in names
        if (kind := kinds.get(f"{model}.{name}")) and f"{kind}s" != listed
    ]
    if faults:
        raise Invalid(faults)
    return edit_model_remove(door, model, [name for names in by_kind.values() for name in names])


@in_their_words
def edit_model_remove(
    door: Door, name: str, remove: Sequence[str], data_source: str | None = None
) -> dict[str, Any]:
    """Remove parts from a model by their names, whatever their kinds."""
    parts = remove if remove is not None else ()
    dropped = door.drop_entity(name, kind="model", data_source=data_source, parts=parts)
    return {
        "model": dropped.entity,
        "removed": [f"{dropped.entity}.{part.strip()}" for part in dict.fromkeys(parts)],
        "stripped_memories": dropped.stripped,
    }


def _hop(
    method: Callable[Concatenate[Any, P], Answer],
) -> Callable[Concatenate["SlayerClient", P], Coroutine[Any, Any, Answer]]:
    takes = signature(method)

    @wraps(method)
    async def call(self: "SlayerClient", /, *given: P.args, **named: P.kwargs) -> Answer:
        if self.door is None and self.elsewhere.has_route(method.__name__):
            asked = takes.bind(None, *given, **named).arguments
            del asked["door"]
            answer: Answer = await self.elsewhere.call(method.__name__, asked)
            return answer
        return await asyncio.to_thread(method, self.door or self.elsewhere.door, *given, **named)

    return call


class SlayerClient:
    """The client of the semantic layer. It uses a store directly, `SlayerClient(storage="memories.db")`, or a server,
    `SlayerClient(url="http://127.0.0.1:8321", key="onr_…")`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        storage: OnRecord | str | Path | None = None,
        key: str | None = None,
    ) -> None:
        if (url is None) == (storage is None):
            raise BadValueError([Fault("storage", "or url is required: give one of the two")])
        self.door: OnRecord | None = None
        if url is not None:
            self.elsewhere = RemoteServer(url, key)
        elif storage is not None:
            self.door = storage if isinstance(storage, OnRecord) else connect(storage)

    save_memory = _hop(save_memory)
    forget_memory = _hop(forget_memory)
    search = _hop(search)
    search_flat = _hop(search_flat)
    inspect_model = _hop(inspect_model)
    list_datasources = _hop(list_datasources)
    models_summary = _hop(models_summary)
    ingest_datasource_models = _hop(ingest_datasource_models)
    delete_model = _hop(delete_model)
    delete_datasource = _hop(delete_datasource)
    edit_model = _hop(edit_model)
    edit_model_remove = _hop(edit_model_remove)

    async def close(self) -> None:
        if self.door is None:
            await self.elsewhere.close()
        else:
            await asyncio.to_thread(self.door.close)
