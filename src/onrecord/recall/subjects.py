"""WHAT was learned about these things? Memories, example queries and entities by subject, each in a list of its own.

A search runs the same layers as any question, over the memories and over the catalog. Each list is then ordered by
itself, out of as many results as could ever be shown: so a cap cuts its list, and changes neither its order nor
another list. Nothing is raised for its conversation, kind or age.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.known_names import meant
from onrecord.catalog.queries import read_query
from onrecord.catalog.records import entity_of
from onrecord.catalog.resolution import Entities, Gathering, missing_datasource, resolve_leniently
from onrecord.catalog.staleness import broken_query
from onrecord.catalog.stored import StoredCatalog
from onrecord.errors import Fault, Invalid, invalid
from onrecord.model import limits, rules
from onrecord.model.advice import RERANK_WHEN, Advised, RerankWhen
from onrecord.model.agent import AGENT_NAME, agent_faults
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.catalog import MEMORY_PREFIX, EntityKind
from onrecord.model.collections import ENTITIES
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.limits import BROWSE_LIMIT, CheckState, Tier
from onrecord.model.memory import Memory
from onrecord.model.request import ADVISED, MAYBE_NAME, ONLY_VERIFIED, Request, ask
from onrecord.model.rules import ListOf, OrNone
from onrecord.operation import Call, operation
from onrecord.providers.embedding import Embedder, Embedders
from onrecord.recall.advice import EXPAND, RERANK, RERANK_FINE, WHEN
from onrecord.recall.boosts import sink_failed
from onrecord.recall.channels import keep_eligible
from onrecord.recall.datasources import lower_other_datasources
from onrecord.recall.definitions import boost_definitions
from onrecord.recall.draft import RecallDraft, RecallTools, replace
from onrecord.recall.fusion import fuse
from onrecord.recall.graduated import weigh_fields
from onrecord.recall.graph import expand_links
from onrecord.recall.lexical import raise_pairs, search_lexical, weigh_words
from onrecord.recall.places import SearchPlace, is_example, is_inside, is_learning
from onrecord.recall.question import embed_question, read_words
from onrecord.recall.recall import MIN_RELEVANCE, Recall, filled
from onrecord.recall.recipes import recipe_named
from onrecord.recall.relevance import judge_relevance
from onrecord.recall.rerank import diversify, rerank
from onrecord.recall.run import Layer, Run
from onrecord.recall.semantic import compare_others, coverage_gap, knows_most, search_semantic
from onrecord.recall.subject_advice import SubjectAdvice, SubjectFound, SubjectLists, join_lists
from onrecord.recall.term_counts import count_terms
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.index import Match
from onrecord.store.ports.records import Reading
from onrecord.workspace.agents import settings_of


@dataclass(frozen=True, slots=True)
class Search(Request):
    """Find what was learned about some things: by entities, by a draft of a query, by a question, or all of these.

    Notes, example queries and entities each have a list of their own, and a cap that changes no other list. What
    cannot be resolved becomes a warning; without any input, the newest memories are returned.
    """

    question: str | None = ask(
        OrNone(rules.Text(at_most=limits.QUESTION_CHARACTERS)),
        "A question in plain words.",
        None,
        positional=True,
    )
    entities: Sequence[str] = ask(
        ListOf(rules.Text(at_most=limits.ENTITY_CHARACTERS), at_most=limits.ENTITIES),
        "Models, columns or measures, in any form that names them.",
        (),
    )
    query: Mapping[str, Any] | None = ask(OrNone(rules.Json()), "A draft of a query over models.", None)
    datasource: str | None = ask(MAYBE_NAME, "Only what is about this datasource.", None)
    max_memories: int = ask(rules.Integer(0, limits.RECALL_LIMIT), "How many notes at most.", 5)
    max_example_queries: int = ask(
        rules.Integer(0, limits.RECALL_LIMIT), "How many example queries at most.", 2
    )
    max_entities: int = ask(rules.Integer(0, limits.RECALL_LIMIT), "How many entities at most.", 5)
    min_relevance: float | None = ask(OrNone(rules.Fraction()), MIN_RELEVANCE, None)
    only_verified: bool = ask(rules.FLAG, ONLY_VERIFIED, False)
    recipe: str = ask(rules.NAME, "Which way of searching: auto, lexical, semantic, entity, graph …", "auto")
    agent: str | None = ask(
        OrNone(AGENT_NAME),
        "The agent whose settings say what an advisor does, where this request does not.",
        None,
    )
    expand: str | None = ask(ADVISED, EXPAND, None)
    rerank: str | None = ask(ADVISED, RERANK, None)
    rerank_fine: str | None = ask(ADVISED, RERANK_FINE, None)
    rerank_when: RerankWhen | None = ask(OrNone(rules.Choice(RERANK_WHEN)), WHEN, None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectHit(Answer):
    """A memory found by what it is about, its words or its meaning; `query` is its example query, if it has one.

    `author` wrote the text, and `tier` says as what.
    """

    id: str
    score: float
    relevance: float
    text: str
    author: str
    tier: Tier
    description: str | None = None
    matched_entities: tuple[str, ...] = ()
    query: Mapping[str, Any] | str | None = None
    #: What came of its checks, if it has any.
    check_state: CheckState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityHit(Answer):
    """An entity that matches the question itself."""

    id: str
    kind: EntityKind
    score: float
    relevance: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched(Answer):
    """Notes, example queries and entities, each best first; what the input was resolved to; and what an advisor did."""

    memories: tuple[SubjectHit, ...] = ()
    example_queries: tuple[SubjectHit, ...] = ()
    entities: tuple[EntityHit, ...] = ()
    resolved_input_entities: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    advice: tuple[Advised, ...] = ()


READ: Final[tuple[Layer, ...]] = (read_words, embed_question)
#: After these comes `Place.search_subjects`.
FIND: Final[tuple[Layer, ...]] = (weigh_words, search_lexical, search_semantic, keep_eligible)
#: Each list is put in order by itself. Memories about the same tables all share something, so none leads to another.
ORDER: Final[tuple[Layer, ...]] = (
    compare_others,
    raise_pairs,
    count_terms,
    weigh_fields,
    fuse,
    rerank,
    boost_definitions,
    lower_other_datasources,
    sink_failed,
    diversify,
    judge_relevance,
)
ORDER_ENTITIES: Final[tuple[Layer, ...]] = (
    *ORDER[:-3],
    expand_links,
    *ORDER[-3:],
)
#: The highest floor for entities. Relevance is calibrated on notes; columns have few words and are rarely named in questions.
#: Of 774 questions about 75 tables .65 % fall below this, and 44 % of those about other things; at .02 it would be 10 % and
#: 92 %.
_ENTITY_FLOOR: Final = 0.001
# Usually enough for the newest notes and the newest example queries.
_PAGE: Final = 200
NOTHING_GIVEN: Final = "no entities, query, or question supplied; returning newest memories by recency."
NO_EMBEDDER: Final = "embedding channel skipped: no embedder is configured."
NOT_EMBEDDED: Final = "embedding channel skipped: query embedding failed"


class _Inputs(NamedTuple):
    """The entities in the input, and what could not be resolved."""

    entities: tuple[str, ...]
    warnings: tuple[str, ...]


@operation("read", "memory.read", "POST /search")
def search(call: Call, ask: Search) -> Searched:
    embedders = call.embedders
    recipe, question = recipe_named(ask.recipe), (ask.question or "").strip()
    with call.reading() as reading:
        lookup = StoredCatalog(reading)
        _require_datasource(ask, lookup)
        inputs = _inputs(ask, lookup, reading)
        if not (ask.entities or ask.query is not None or question):
            return _newest(reading, ask, lookup)
        draft = RecallDraft(
            caller=call.caller,
            ask=Recall(
                question,
                entities=inputs.entities,
                min_relevance=ask.min_relevance,
                only_verified=ask.only_verified,
            ),
            now=call.now,
            recipe=recipe,
        )
        places = reading, reading.reading_of(ENTITIES)
        knowing = [_knowing(draft, place, embedders) for place in places]
    # Advisor and embedder are called while no reading is open.
    advisor = SubjectAdvice(call, _wanted(call, ask, question))
    variants = [
        replace(draft, ask=dataclasses.replace(draft.ask, question=each)) for each in advisor.questions()
    ]
    readings = [_read(each, knowing, embedders) for each in variants]
    with call.reading() as reading:
        memories = SearchPlace(reading, ask.datasource, knowing[0], is_catalog=False)
        catalog = SearchPlace(reading.reading_of(ENTITIES), ask.datasource, knowing[1], is_catalog=True)
        listed = join_lists([_all_lists(drafts, ask, (memories, catalog), advisor) for drafts, _ in readings])
        first, skipped = readings[0]
        gaps = [*_gaps(first[0], reading, "memories"), *_gaps(first[1], catalog.reading, "entities")]
        stale = _stale([found.memory for found in listed.queries], memories.lookup)
    listed = advisor.ordered(listed).cut(ask.max_memories, ask.max_example_queries, ask.max_entities)
    shown_stale = [stale[found.memory.id] for found in listed.queries if found.memory.id in stale]
    return Searched(
        memories=tuple(_hit(found, inputs.entities) for found in listed.learnings),
        example_queries=tuple(_hit(found, inputs.entities) for found in listed.queries),
        entities=tuple(map(_entity_hit, listed.entities)),
        resolved_input_entities=inputs.entities,
        warnings=tuple(dict.fromkeys((*inputs.warnings, *skipped, *gaps, *shown_stale))),
        advice=advisor.advised,
    )


def _wanted(call: Call, ask: Search, question: str) -> Recall:
    """What is asked of an advisor: by the request, or by its agent."""
    if ask.agent is not None:
        ask = filled(ask, settings_of(call, ask.agent))
    return Recall(
        question,
        agent=ask.agent,
        expand=ask.expand,
        rerank=ask.rerank,
        rerank_fine=ask.rerank_fine,
        rerank_when=ask.rerank_when,
    )


def _all_lists(
    drafts: Sequence[RecallDraft],
    ask: Search,
    places: tuple[SearchPlace, SearchPlace],
    advisor: SubjectAdvice,
) -> SubjectLists:
    """The lists for a question, as long as they are shown, or as an advisor needs them."""
    memories, catalog = places
    deep = advisor.depth
    caps = (is_learning, deep(ask.max_memories)), (is_example, deep(ask.max_example_queries))
    learnings, queries = _lists(drafts[0], memories, ORDER, caps)
    recipe = drafts[1].recipe
    for_entities = dataclasses.replace(recipe, floor=min(recipe.floor, _ENTITY_FLOOR), keeps_far=True)
    # Only memories have checks: a question for verified ones hides no entity.
    for_all = dataclasses.replace(drafts[1].ask, only_verified=False)
    listed = replace(drafts[1], recipe=for_entities, ask=for_all)
    (entities,) = _lists(listed, catalog, ORDER_ENTITIES, [(is_learning, deep(ask.max_entities))])
    return SubjectLists(learnings, queries, entities)


def _require_datasource(ask: Search, lookup: StoredCatalog) -> None:
    if ask.datasource is not None and ask.datasource not in lookup.datasources():
        raise invalid("datasource", missing_datasource(ask.datasource, lookup.datasources()))


def _inputs(ask: Search, lookup: StoredCatalog, reading: Reading) -> _Inputs:
    """Resolve the input leniently: what cannot be resolved becomes a warning. Without a catalog, names stay as given."""
    gathering = Gathering()
    resolved = []
    for name in meant(ask.entities, reading):
        # References to memories are checked even without a catalog.
        stays = lookup.is_empty and not name.startswith(MEMORY_PREFIX)
        resolved.append(Entities((name,), ()) if stays else resolve_leniently([name], lookup))
    if ask.query is not None:
        try:
            resolved.append(entities_of_query(read_query(ask.query), lookup))
        except Invalid as problem:
            resolved.append(Entities((), (f"query input dropped: {problem}",)))
    for each in resolved:
        gathering.take(each)
    entities = gathering.entities()
    return _Inputs(entities.canonicals, entities.warnings)


def _knowing(draft: RecallDraft, reading: Reading, embedders: Embedders) -> Embedder | None:
    """The embedder for the question: that of the model with most vectors."""
    current = embedders.current
    if current is None or not _asks_meaning(draft):
        return None
    model = knows_most(reading, current.model)
    return current if model == current.model else embedders.open(model)


def _asks_meaning(draft: RecallDraft) -> bool:
    return bool(draft.ask.question) and "semantic" in draft.recipe.weights


def _read(
    draft: RecallDraft, knowing: Sequence[Embedder | None], embedders: Embedders
) -> tuple[list[RecallDraft], list[str]]:
    """The question as each embedder reads it, each asked once; and why one could not."""
    runs: dict[EmbeddingModel | None, Run] = {}
    models = [None if each is None else each.model for each in knowing]
    for model, embedder in zip(models, knowing, strict=True):
        if model not in runs:
            runs[model] = Run(draft)
            runs[model].through(READ, RecallTools(embedder=embedder))
    skipped = [NO_EMBEDDER] if embedders.current is None and _asks_meaning(draft) else []
    skipped += [f"{NOT_EMBEDDED}: {note.failed}" for run in runs.values() for note in run.trace]
    return [runs[model].draft for model in models], skipped


def _lists(
    draft: RecallDraft,
    place: SearchPlace,
    order: tuple[Layer, ...],
    caps: Sequence[tuple[Callable[[Match], bool], int]],
) -> list[list[SubjectFound]]:
    """The results in a place, in a list for each kind, best first."""
    if not any(most for _, most in caps):
        return [[] for _ in caps]
    tools = RecallTools(embedder=place.embedder, opened=place.reading)
    run = Run(replace(draft, among=place.among))
    run.through((*FIND, place.search_subjects), tools)
    found, lists = run.draft, []
    for holds, most in caps:
        run.draft = _only(found, holds)
        if most and run.draft.matches:
            run.through(order, tools)
        best = run.draft.ranked()[:most]
        memories = place.reading.read([run.draft.matches[key] for key in best])
        scores = {
            run.draft.matches[key].id: (run.draft.score(key), run.draft.relevance.get(key, 1.0))
            for key in best
        }
        lists.append([SubjectFound(memory, *scores[memory.id]) for memory in memories])
    return lists


def _only(draft: RecallDraft, holds: Callable[[Match], bool]) -> RecallDraft:
    """The draft limited to one list; leads may only go to members of it."""
    found = {
        channel: [each for each in ranking if holds(draft.matches[each.key])]
        for channel, ranking in draft.found.items()
    }
    matches = {each.key: draft.matches[each.key] for ranking in found.values() for each in ranking}
    assert draft.among is not None
    counts = draft.among.counts
    among = draft.among._replace(counts=lambda match: holds(match) and (counts is None or counts(match)))
    return replace(draft, found=found, matches=matches, among=among)


def _gaps(draft: RecallDraft, reading: Reading, noun: str) -> list[str]:
    """What could not be searched by meaning, since it has no vectors yet."""
    gap = "" if draft.model is None else coverage_gap(reading, draft.model, noun)
    return [f"embedding channel: {gap}."] if gap else []


def _hit(found: SubjectFound, asked: Sequence[str] = ()) -> SubjectHit:
    memory = found.memory
    return SubjectHit(
        id=memory.id,
        score=found.score,
        relevance=round(found.relevance, 4),
        text=memory.content,
        author=memory.author,
        tier=memory.tier,
        description=memory.hint,
        matched_entities=tuple(each for each in memory.entities if each in asked),
        query=memory.query,
        check_state=memory.check_state,
    )


def _entity_hit(found: SubjectFound) -> EntityHit:
    known = entity_of(found.memory)
    return EntityHit(
        id=str(known["canonical"]),
        kind=known["kind"],
        score=found.score,
        relevance=round(found.relevance, 4),
        text=found.memory.content,
    )


def _newest(reading: Reading, ask: Search, lookup: StoredCatalog) -> Searched:
    """The newest of each kind, by when they were first saved."""
    queries = _newest_with(reading, ask, has_query=True)
    return Searched(
        memories=tuple(
            _hit(SubjectFound(memory, 0.0, 0.0)) for memory in _newest_with(reading, ask, has_query=False)
        ),
        example_queries=tuple(_hit(SubjectFound(memory, 0.0, 0.0)) for memory in queries),
        warnings=(NOTHING_GIVEN, *_stale(queries, lookup).values()),
    )


def _newest_with(reading: Reading, ask: Search, *, has_query: bool) -> list[Memory]:
    most = ask.max_example_queries if has_query else ask.max_memories
    states: tuple[CheckState, ...] = ("verified",) if ask.only_verified else ()
    newest: list[Memory] = []
    mark: str | None = None
    while most:
        limit = _PAGE if mark is None else BROWSE_LIMIT
        page, mark = reading.browse(
            MemoryFilter(has_query=has_query, check_states=states, limit=limit, after=mark)
        )
        newest += [memory for memory in page if is_inside(memory.entities, ask.datasource)]
        newest = _newest_of(newest, most)
        # Pages go by the last update, and nothing was saved after it was updated.
        if mark is None or _is_settled(newest, most, page[-1]):
            break
    return newest


def _newest_of(memories: list[Memory], most: int) -> list[Memory]:
    return sorted(memories, key=lambda each: (each.created_at, each.place), reverse=True)[:most]


def _is_settled(newest: Sequence[Memory], most: int, last: Memory) -> bool:
    """Whether nothing that comes later can be newer than what was found."""
    return len(newest) >= most and all(each.created_at > last.updated_at for each in newest)


def _stale(examples: Sequence[Memory], lookup: StoredCatalog) -> dict[str, str]:
    """Example queries that name missing entities, by id; they are shown as they are."""
    warnings = {}
    for memory in examples:
        reason = None if lookup.is_empty else broken_query(memory, lookup)
        if reason is not None:
            warnings[memory.id] = (
                f"example_query memory:{memory.id}: attached query has stale references ({reason}); re-save to clean."
            )
    return warnings
