"""WHAT was learned about these things? Memories, example queries and entities by subject, each in a list of its own.

Three channels rank each kind by itself: what the memories are about, their words, and their meaning. As many take part
as may ever be told, whatever the caps. Ranks are added as reciprocals, so that a cap cuts a list and never changes its
order, nor that of another.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.ingest import staleness
from onrecord.catalog.queries import read_query
from onrecord.catalog.records import entity_of
from onrecord.catalog.resolution import Entities, Gathering, probe, resolve_leniently
from onrecord.catalog.stored import StoredCatalog
from onrecord.errors import Fault, Invalid, ProviderError
from onrecord.model.answers import EntityHit, Searched, SubjectHit
from onrecord.model.caller import Caller
from onrecord.model.catalog import MEMORY_PREFIX
from onrecord.model.collections import ENTITIES
from onrecord.model.embedding import Model, Passage
from onrecord.model.limits import BROWSE_LIMIT, RECALL_LIMIT
from onrecord.model.memory import Memory
from onrecord.model.requests import Browse, Recall, Search
from onrecord.providers.embedding import Embedder, Embedders
from onrecord.recall.draft import Draft, Tools, best_first
from onrecord.recall.fusion import by_rank
from onrecord.recall.lexical import raise_pairs
from onrecord.recall.recipes import recipe_named
from onrecord.recall.references import MOST_HOLDERS, rank
from onrecord.recall.semantic import knows_most
from onrecord.store.ports.index import About, Found, Key, Match
from onrecord.store.ports.records import Reading
from onrecord.store.ports.store import Store
from onrecord.text import question_terms
from onrecord.text.names import names_in, names_of

# So many of each kind take part, of each channel: as many as may ever be told.
_DEPTH: Final = RECALL_LIMIT
# So many are looked at first; a list that is still short looks further down.
_FIRST_LOOK: Final = 1_000
# Where there are enough of one kind, the other is looked for among so many and no further: often it does not exist.
_LAST_LOOK: Final = 4_000
# A name that more entities share says nothing of any one of them; their words do.
_MOST_NAMESAKES: Final = RECALL_LIMIT
# More than are looked at for words that stand together, so that these are always the same.
_FEWEST: Final = 26
# Usually enough to hold the newest of both kinds.
_PAGE: Final = 200
NOTHING_GIVEN: Final = "no entities, query, or question supplied; returning newest memories by recency."
NO_EMBEDDER: Final = "embedding channel skipped: no embedder is configured."


class _Inputs(NamedTuple):
    """What the question is about, and what of it was not understood."""

    entities: tuple[str, ...]
    warnings: tuple[str, ...]


def search(caller: Caller, ask: Search, store: Store, embedders: Embedders, now: datetime) -> Searched:
    with store.reading(caller, now) as reading:
        lookup = StoredCatalog(reading)
        _require_datasource(ask, lookup)
        inputs = _inputs(ask, lookup)
        question = (ask.question or "").strip()
        if not (ask.entities or ask.query is not None or question):
            return _newest(reading, ask, lookup)
        wanted = _wanted(reading, embedders) if question else []
    # A model is asked while nothing is held open.
    vectors, skipped = _embedded(question, wanted)
    with store.reading(caller, now) as reading:
        found = _Found(caller, ask, now, inputs, vectors, reading)
        learnings, queries = found.memories()
        entities = found.entities()
        stale = _stale(found.examples, found.lookup)
    no_embedder = [NO_EMBEDDER] if question and embedders.current is None else []
    warnings = (*inputs.warnings, *no_embedder, *skipped, *found.gaps, *stale)
    return Searched(
        memories=tuple(learnings),
        example_queries=tuple(queries),
        entities=tuple(entities),
        resolved_input_entities=inputs.entities,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _require_datasource(ask: Search, lookup: StoredCatalog) -> None:
    if ask.datasource is not None and ask.datasource not in lookup.datasources():
        known = ", ".join(lookup.datasources()) or "none"
        raise Invalid([Fault("datasource", f"{ask.datasource!r} not found; known: [{known}]")])


def _inputs(ask: Search, lookup: StoredCatalog) -> _Inputs:
    """Lenient: what means nothing is told and left out. Where there is no catalog, names stay as they were given."""
    gathering = Gathering()
    told = []
    for name in ask.entities:
        # A memory is there or not, whether or not there is a catalog.
        stays = lookup.is_empty and not name.startswith(MEMORY_PREFIX)
        told.append(Entities((name,), ()) if stays else resolve_leniently([name], lookup))
    if ask.query is not None:
        try:
            told.append(entities_of_query(read_query(ask.query), lookup))
        except Invalid as problem:
            told.append(Entities((), (f"query input dropped: {problem}",)))
    for each in told:
        gathering.take(each)
    entities = gathering.entities()
    return _Inputs(entities.canonicals, entities.warnings)


def _wanted(reading: Reading, embedders: Embedders) -> list[Embedder]:
    """Who can embed the question: of the memories and of the catalog, the model that knows most of each."""
    if embedders.current is None:
        return []
    found = {
        each.model: each
        for place in (reading, reading.reading_of(ENTITIES))
        if (each := _best(place, embedders.current, embedders)) is not None
    }
    return list(found.values())


def _best(place: Reading, current: Embedder, embedders: Embedders) -> Embedder | None:
    model = knows_most(place, current.model)
    return current if model == current.model else embedders.open(model)


def _embedded(
    question: str, embedders: Iterable[Embedder]
) -> tuple[dict[Model, tuple[Passage, float]], list[str]]:
    """The vector of the question by each model, with what any two texts score there; and why there is none."""
    vectors, skipped = {}, []
    for each in embedders:
        try:
            vectors[each.model] = each.embed_query(question), getattr(each, "unrelated", 0.0)
        except ProviderError as problem:
            skipped.append(f"embedding channel skipped: query embedding failed: {problem}")
    return vectors, skipped


@dataclass(slots=True)
class _Place:
    """Where something is searched: the memories or the catalog; and which of those found there count."""

    reading: Reading
    counts: Callable[[Match], bool]
    #: Whether what is found here may carry a query: those have a list of their own.
    has_queries: bool
    #: How many of each kind are needed at least.
    enough: int = _DEPTH
    matches: dict[Key, Match] = field(default_factory=dict)
    _looked: set[Key] = field(default_factory=set)
    _size: int | None = None

    def size_within(self, datasource: str) -> int:
        """How many there are about a datasource, counted once."""
        if self._size is None:
            inside = self.reading.references(datasource)
            self._size = len(self.reading.index.about(inside, most=MOST_HOLDERS).holders)
        return self._size

    def standing(self, keys: Iterable[Key]) -> None:
        fresh = [key for key in keys if key not in self._looked]
        self._looked.update(fresh)
        found = self.reading.eligible(fresh) if fresh else {}
        self.matches.update((key, match) for key, match in found.items() if self.counts(match))

    def ranked(self, search: Callable[[int], Sequence[Found]], beside: Iterable[Key] = ()) -> list[Found]:
        """Those that count, best first, with their true ranks: enough of each kind, and those found beside."""
        if not self.has_queries:
            return self._ranked_entities(search, set(beside))
        size = _FIRST_LOOK
        while True:
            found = search(size)
            self.standing(each.key for each in found)
            kept = [each for each in found if each.key in self.matches]
            queries = [each for each in kept if self.matches[each.key].has_query]
            suffice = len(queries) >= _DEPTH, len(kept) - len(queries) >= _DEPTH
            if len(found) < size or all(suffice) or (any(suffice) and size >= _LAST_LOOK):
                return self._deepest(kept)
            size *= 4

    def _deepest(self, kept: Sequence[Found]) -> list[Found]:
        """As many of each kind as take part."""
        left = {True: _DEPTH, False: _DEPTH}
        taken = []
        for each in kept:
            kind = self.matches[each.key].has_query
            if left[kind]:
                left[kind] -= 1
                taken.append(each)
        return taken

    def _ranked_entities(self, search: Callable[[int], Sequence[Found]], beside: set[Key]) -> list[Found]:
        """To look at one costs more than to rank it, so only those are looked at on which the order depends."""
        # What has the very name stands behind its parts, whose texts are shorter.
        depth = self.enough * (4 if beside else 1)
        # A few of the best may not count.
        size = depth + depth // 4
        while True:
            found = search(size)
            places = [at for at, each in enumerate(found) if each.key in beside]
            # One that is beside and not here may be the next of those that count.
            enough = self.enough if len(places) == len(beside) or len(found) < size else _DEPTH
            looked = max([enough + enough // 4, *(at + 1 for at in places)])
            for end in (looked, len(found)):
                self.standing(each.key for each in found[:end])
                kept = [each for each in found[:end] if each.key in self.matches]
                if len(kept) >= enough or end >= len(found) < size:
                    return kept[:_DEPTH]
            size = max(size * 4, _DEPTH + _DEPTH // 4)


class _Found:
    """The rankings of each channel, and what they come to."""

    def __init__(
        self,
        caller: Caller,
        ask: Search,
        now: datetime,
        inputs: _Inputs,
        vectors: Mapping[Model, tuple[Passage, float]],
        reading: Reading,
    ) -> None:
        self._caller, self._ask, self._now = caller, ask, now
        self._inputs, self._vectors = inputs, vectors
        self._question = (ask.question or "").strip()
        self._reading = reading
        self.lookup = StoredCatalog(reading)
        self._known: dict[str, bool] = {}
        self.gaps: list[str] = []
        self.examples: list[Memory] = []

    def memories(self) -> tuple[list[SubjectHit], list[SubjectHit]]:
        """The learnings and the example queries."""
        place = _Place(
            self._reading, lambda match: _is_inside(match.entities, self._ask.datasource), has_queries=True
        )
        rankings = {"references": self._about(place, self._inputs.entities, self._still_there)}
        rankings |= self._channels(place, self._still_there, "memories")
        learnings = self._best(place, rankings, False, self._ask.max_memories)
        queries = self._best(place, rankings, True, self._ask.max_example_queries)
        self.examples = [memory for memory, _ in queries]
        return [self._hit(*each) for each in learnings], [self._hit(*each) for each in queries]

    def entities(self) -> list[EntityHit]:
        """Only words and meaning find an entity: one that is given is known already."""
        # The first reference of a record is its own name, the others are what it is called elsewhere.
        place = _Place(
            self._reading.reading_of(ENTITIES),
            lambda match: _is_inside(match.entities[:1], self._ask.datasource),
            has_queries=False,
        )
        rankings = self._channels(place, lambda reference: True, "entities")
        return [
            EntityHit(
                id=str(entity_of(record)["canonical"]),
                kind=entity_of(record)["kind"],
                score=score,
                text=record.content,
            )
            for record, score in self._best(place, rankings, False, self._ask.max_entities)
        ]

    def _channels(self, place: _Place, is_known: Callable[[str], bool], noun: str) -> dict[str, list[Found]]:
        """What the question finds by the names in it, by its words, and by its meaning."""
        if not self._question or not place.reading.size:
            return {}
        terms = question_terms(self._question)
        model = next((each for each in self._vectors if each == knows_most(place.reading, each)), None)
        found = {"names": self._about(place, (), is_known, names_in(self._question))}
        if not place.has_queries and model is None:
            # Words and names decide: what comes after those that are told and has no name there cannot be told.
            place.enough = max(self._ask.max_entities, _FEWEST)
        found["lexical"] = (
            place.ranked(
                lambda most: place.reading.index.match_terms(terms, most=most),
                (each.key for each in found["names"]),
            )
            if terms
            else []
        )
        if place.has_queries:
            # Columns are called by everyday words: as a channel of its own, what memories are about outvoted what
            # they say.
            found = {"lexical": _followed(found["lexical"], found["names"])}
        if model is not None:
            found["semantic"] = self._near(place, model)
            known = sum(each.memories for each in place.reading.index.coverage() if each.model == model)
            if (missing := place.reading.size - known) > 0:
                self.gaps.append(
                    f"embedding channel: {missing} of {place.reading.size} {noun} have no vectors yet."
                )
        return found

    def _near(self, place: _Place, model: Model) -> list[Found]:
        passage, unrelated = self._vectors[model]

        def search(most: int) -> list[Found]:
            near = place.reading.index.near(passage.vector, model, most=most)
            return [Found(each.key, each.score) for each in near if each.score >= unrelated]

        return place.ranked(search)

    def _about(
        self,
        place: _Place,
        references: Sequence[str],
        is_known: Callable[[str], bool],
        names: Sequence[str] = (),
    ) -> list[Found]:
        """BM25 over what they are about, as far as that still exists, among those that count."""
        if not references and not names:
            return []
        namesakes = None if place.has_queries else _MOST_NAMESAKES
        about = place.reading.index.about(references, names, most=MOST_HOLDERS, namesakes=namesakes)
        place.standing(about.holders)
        holders: dict[Key, tuple[str, ...]] = {}
        lengths: dict[Key, int] = {}
        for key in about.holders.keys() & place.matches.keys():
            tags = [each for each in place.matches[key].entities if is_known(each)]
            called = {*tags, *(name for tag in tags for name in names_of(tag))} if names else set(tags)
            if held := _whole_names([each for each in about.holders[key] if each in called]):
                holders[key], lengths[key] = held, len(tags)
        if not holders:
            return []
        if self._ask.datasource is None:
            return rank(About(holders, lengths, about.counts, about.memories))
        counts = Counter(each for held in holders.values() for each in held)
        return rank(About(holders, lengths, counts, place.size_within(self._ask.datasource)))

    def _still_there(self, reference: str) -> bool:
        """Tags of what is gone neither count nor are shown; where there is no catalog, nothing can be said of them."""
        if reference not in self._known:
            self._known[reference] = self.lookup.is_empty or probe(reference, self.lookup)
        return self._known[reference]

    def _best(
        self, place: _Place, rankings: Mapping[str, Sequence[Found]], has_query: bool, most: int
    ) -> list[tuple[Memory, float]]:
        """The first of one kind, each ranked among its own kind alone."""
        mine = {
            channel: [each for each in ranking if place.matches[each.key].has_query is has_query]
            for channel, ranking in rankings.items()
        }
        if mine.get("lexical"):
            mine["lexical"] = self._with_pairs(place, mine["lexical"])
        best = _added_up(mine.values())[:most]
        memories = place.reading.read([place.matches[key] for key, _ in best])
        scores = {place.matches[key].id: score for key, score in best}
        return [(memory, scores[memory.id]) for memory in memories]

    def _with_pairs(self, place: _Place, found: list[Found]) -> list[Found]:
        draft = Draft(
            caller=self._caller,
            ask=Recall(self._question),
            now=self._now,
            recipe=recipe_named("lexical"),
            found={"lexical": found},
            matches=place.matches,
        )
        return list(raise_pairs(draft, Tools(opened=place.reading)).found["lexical"])

    def _hit(self, memory: Memory, score: float) -> SubjectHit:
        return SubjectHit(
            id=memory.id,
            score=score,
            text=memory.content,
            description=memory.hint,
            matched_entities=tuple(each for each in memory.entities if each in self._inputs.entities),
            query=memory.query,
        )


def _is_inside(references: Iterable[str], datasource: str | None) -> bool:
    return datasource is None or any(
        each == datasource or each.startswith(datasource + ".") for each in references
    )


def _whole_names(held: Sequence[str]) -> tuple[str, ...]:
    """Those that are not the end of another: `id` says nothing more of what is called `customer id`."""
    return tuple(each for each in held if not any(other.endswith(f" {each}") for other in held))


def _followed(first: Sequence[Found], then: Sequence[Found]) -> list[Found]:
    """One ranking after another, and those that are in both where they stand in the first."""
    seen = {each.key for each in first}
    rest = (Found(each.key, -1 / (1 + each.score)) for each in then if each.key not in seen)
    return [*first, *rest]


def _added_up(rankings: Iterable[Sequence[Found]]) -> list[Found]:
    """Reciprocal ranks; of equals, the one saved first."""
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for each, share in zip(ranking, by_rank(ranking, 1.0, 0.0), strict=True):
            scores[each.key] = scores.get(each.key, 0.0) + share
    return best_first(scores)


def _newest(reading: Reading, ask: Search, lookup: StoredCatalog) -> Searched:
    """The newest of each kind, by when they were first saved."""
    learnings: list[Memory] = []
    queries: list[Memory] = []
    mark: str | None = None
    while True:
        page, mark = reading.browse(Browse(limit=_PAGE if mark is None else BROWSE_LIMIT, after=mark))
        for memory in page:
            if _is_inside(memory.entities, ask.datasource):
                (learnings if memory.query is None else queries).append(memory)
        learnings = _newest_of(learnings, ask.max_memories)
        queries = _newest_of(queries, ask.max_example_queries)
        # Pages go by the last update, and nothing was saved after it was updated.
        if mark is None or (
            _is_settled(learnings, ask.max_memories, page[-1])
            and _is_settled(queries, ask.max_example_queries, page[-1])
        ):
            break
    return Searched(
        memories=tuple(map(_newest_hit, learnings)),
        example_queries=tuple(map(_newest_hit, queries)),
        warnings=(NOTHING_GIVEN, *_stale(queries, lookup)),
    )


def _newest_of(memories: list[Memory], most: int) -> list[Memory]:
    return sorted(memories, key=lambda each: (each.created_at, each.place), reverse=True)[:most]


def _is_settled(newest: Sequence[Memory], most: int, last: Memory) -> bool:
    """Whether none that comes later can be newer than those that were found."""
    return len(newest) >= most and all(each.created_at > last.updated_at for each in newest)


def _newest_hit(memory: Memory) -> SubjectHit:
    return SubjectHit(
        id=memory.id, score=0.0, text=memory.content, description=memory.hint, query=memory.query
    )


def _stale(examples: Sequence[Memory], lookup: StoredCatalog) -> list[str]:
    """Example queries that name what is no longer there; they are shown as they are."""
    told = []
    for memory in examples:
        reason = None if lookup.is_empty else staleness(memory, lookup)
        if reason is not None:
            told.append(
                f"example_query memory:{memory.id}: attached query has stale references ({reason}); re-save to clean."
            )
    return told
