"""WHICH rows match, for this caller and at this time? By words, by vectors and by what they are about."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Select, bindparam, func, literal_column, select

from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.model.when import When
from onrecord.store.audience import audience_of
from onrecord.store.backend import Backend
from onrecord.store.index import lexical
from onrecord.store.index.entries import entries_of, name_facet, reference_facet, subject_term
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.index import Centroid, Coverage, Found, Key, Match, Near, Places, ReferenceCounts
from onrecord.store.rows import as_stored, read_words
from onrecord.store.tables import TimestampColumn, facets, memories, vectors
from onrecord.store.temporal_filters import AskedTimes, asked_of, listed
from onrecord.store.tenant import of_home
from onrecord.store.timestamps import microseconds_of
from onrecord.store.view import View, key_of, same_row, source
from onrecord.store.visibility import Visibility, visible
from onrecord.text import Token

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SqlIndex:
    """What words, references and vectors find in a collection, as far as one caller may see it."""

    def __init__(self, backend: Backend, views: Sequence[View]) -> None:
        self._backend = backend
        self._views = views

    @property
    def average_length(self) -> float:
        return float(
            sum(view.words for view in self._views) / max(sum(view.documents for view in self._views), 1)
        )

    @property
    def has_references(self) -> bool:
        return any(view.has_references for view in self._views)

    # Words

    def match_terms(
        self, tokens: Sequence[Token], *, most: int, past: bool = False, subjects: bool = False
    ) -> list[Found]:
        terms = [subject_term(token.term) if subjects else token.term for token in tokens]
        known = lexical.statistics(self._views, terms, past=past)
        if not known.counts:
            return []
        found = lexical.search(self._views, known, most)
        return [Found((tenant, row), score / lexical.SCALE) for tenant, row, score in found]

    def match_past_terms(
        self, tokens: Sequence[Token], when: When, statuses: Sequence[Status] = ()
    ) -> list[tuple[Match, float]]:
        """Memories by words of old versions; slower, since those words are not indexed."""
        known = lexical.statistics(self._views, [token.term for token in tokens], past=True)
        found = []
        for view in self._views:
            statement = _changed_since(view.visibility, asked_of(when, statuses))
            for memory in view.memories(statement, when, statuses):
                if score := lexical.score_entries(entries_of(memory, view.home.collection), known):
                    found.append((match_of(memory), score / lexical.SCALE))
        return sorted(found, key=lambda each: (-each[1], each[0].key))

    def rarity(self, wanted: Sequence[str]) -> dict[str, float]:
        known = lexical.statistics(self._views, wanted, past=True)
        return {term: weight / lexical.SCALE for term, weight in known.weights.items()}

    def holders(self, terms: Sequence[str], *, most: int) -> dict[str, list[Key]]:
        return lexical.holders(self._views, terms, most)

    def places(self, matches: Sequence[Match], pairs: Sequence[tuple[str, str]]) -> dict[Key, Places]:
        found: dict[Key, Places] = {}
        for view in self._views:
            mine = [match for match in matches if match.key[0] == view.tenant]
            # A term that was not counted may still occur.
            possible = (pair for pair in pairs if 0 not in (_counted(self._views, term) for term in pair))
            held = sorted({term for pair in possible for term in pair})
            if mine and held:
                found |= lexical.positions(view, _somewhere(mine), held)
        return found

    # Vectors

    def near(self, vector: "NDArray[Any]", model: EmbeddingModel, *, most: int) -> list[Near]:
        found = [
            self._backend.nearest(view, covered, vector, most) for view, covered in self._covered_by(model)
        ]
        if len(found) == 1:
            return found[0]
        return sorted(chain.from_iterable(found), key=lambda each: (-each.score, each.key))[:most]

    def similarity(self, vector: "NDArray[Any]", model: EmbeddingModel, keys: Sequence[Key]) -> list[Near]:
        found: list[Near] = []
        for view, covered in self._covered_by(model):
            rows = [row for tenant, row in keys if tenant == covered.tenant]
            found += self._backend.similarity(view, covered, vector, rows) if rows else []
        return found

    def centroid(self, model: EmbeddingModel) -> Centroid:
        import numpy as np

        total, passages = np.zeros(model.dimensions), 0
        for _, covered in self._covered_by(model):
            # In one order, whatever the database's, since sums of floats depend on it.
            for part in sorted(covered.totals):
                total += np.frombuffer(part, np.float64)
            passages += covered.passages
        return Centroid(total / max(passages, 1), passages)

    def coverage(self) -> list[Coverage]:
        return [covered for view in self._views for covered in view.coverage]

    def warm(self, model: EmbeddingModel) -> None:
        for view, covered in self._covered_by(model):
            self._backend.warm(view, covered)

    def embedded(self, keys: Sequence[Key]) -> dict[Key, str]:
        names: dict[Key, str] = {}
        for view in self._views:
            rows = [row for tenant, row in keys if tenant == view.tenant]
            for covered in view.coverage if rows else ():
                for (row,) in view.fetch(_embedded(view.visibility), model=covered.key, rows=rows):
                    names[view.tenant, row] = covered.model.name
        return names

    def passages_of(self, text_hash: str, model: EmbeddingModel) -> list[Passage]:
        """The vectors of a visible memory with exactly this text. Others do not count: a save would reveal that someone
        has written it.
        """
        twin = self._twin(text_hash, model)
        if twin is None:
            return []
        import numpy as np

        view, here = twin
        return [
            Passage(vector, None if packed is None else np.frombuffer(packed, np.int8))
            for vector, packed in view.run(_PASSAGES, **here).all()
        ]

    def tokens(self, passages: Sequence[Near], model: EmbeddingModel) -> dict[Key, bytes]:
        wanted = {each.key: each.passage for each in passages}
        kept: dict[Key, bytes] = {}
        for view, covered in self._covered_by(model):
            rows = [row for tenant, row in wanted if tenant == covered.tenant]
            numbers = {wanted[covered.tenant, row] for row in rows}
            asked: dict[str, Any] = {"model": covered.key, "rows": rows, "numbers": sorted(numbers)}
            for row, passage, packed in view.fetch(_tokens(view.visibility), **asked):
                if wanted[covered.tenant, row] == passage and packed is not None:
                    kept[covered.tenant, row] = packed
        return kept

    def _covered_by(self, model: EmbeddingModel) -> list[tuple[View, Coverage]]:
        return [
            (view, each)
            for view in self._views
            for each in view.coverage
            if each.model == model and each.memories
        ]

    def _twin(self, text_hash: str, model: EmbeddingModel) -> tuple[View, dict[str, Any]] | None:
        for view, covered in self._covered_by(model):
            here: dict[str, Any] = {"model": covered.key}
            row = view.run(_same_text(view.visibility), **here, text_hash=text_hash).scalar_one_or_none()
            if row is not None:
                return view, here | {"twin": row}
        return None

    # References

    def about(
        self,
        references: Sequence[str],
        names: Sequence[str] = (),
        *,
        most: int,
        namesakes: int | None = None,
    ) -> ReferenceCounts:
        called = {name_facet(each): each for each in names}
        asked = {reference_facet(each): each for each in references} | called
        found: Counter[str] = Counter()
        for view in self._views if asked else ():
            for facet, count in view.fetch(_counts(view.visibility), facets=list(asked)):
                found[facet] += count
        counts = {
            facet: count
            for facet, count in found.items()
            if namesakes is None or count <= namesakes or facet not in called
        }
        rare = sorted(facet for facet, count in counts.items() if count <= most)
        rows = self._holding(rare, len(rare) * most) if rare else []
        for facet in sorted(counts.keys() - rare):
            rows += self._holding([facet], most)
        holders: dict[Key, tuple[str, ...]] = {}
        lengths: dict[Key, int] = {}
        for facet, tenant, row, entities in rows:
            holders[tenant, row] = (*holders.get((tenant, row), ()), asked[facet])
            lengths[tenant, row] = len(read_words(entities))
        holders_of = {asked[facet]: count for facet, count in counts.items()}
        return ReferenceCounts(holders, lengths, holders_of, sum(view.documents for view in self._views))

    def _holding(self, wanted: Sequence[str], most: int) -> list[Any]:
        """The newest rows filed under these keys, of every home."""
        found = [
            row
            for view in self._views
            for row in view.fetch(_holders(view.visibility), facets=wanted, most=most)
        ]
        if len(self._views) > 1:
            found.sort(key=lambda row: (-row[2], row[0]))
        return found[:most]


def _counted(views: Sequence[View], term: str) -> int | None:
    """In how many records a term occurs; None if it was not counted."""
    counts = [view.counts.get(term) for view in views]
    return None if None in counts else sum(filter(None, counts))


@cache
def _changed_since(visibility: Visibility, asked: AskedTimes) -> Select[Any]:
    record, statement = source(visibility, asked)
    return statement.where(
        memories.c.recorded_at > bindparam("known_at", type_=TimestampColumn), listed(record, asked)
    )


def _somewhere(matches: Sequence[Match]) -> dict[str, Any]:
    """A condition on audience and row: audiences come first in the index, and without them it would be read from end
    to end.
    """
    return {
        "rows": sorted({match.key[1] for match in matches}),
        "audiences": sorted({match.audience for match in matches}),
    }


@cache
def _same_text(visibility: Visibility) -> Select[Any]:
    return (
        select(vectors.c.row)
        .where(
            vectors.c.text_hash == bindparam("text_hash"),
            # Written out, and the model made no column: else SQLite does not see that the index of texts is for this,
            # and goes through all vectors of the model.
            vectors.c.passage == literal_column("0"),
            vectors.c.model + literal_column("0") == bindparam("model"),
            visible(vectors, visibility),
        )
        .limit(1)
    )


_PASSAGES: Final = (
    select(vectors.c.vector, vectors.c.tokens)
    .where(of_home(vectors), vectors.c.model == bindparam("model"), vectors.c.row == bindparam("twin"))
    .order_by(vectors.c.passage)
)


@cache
def _tokens(visibility: Visibility) -> Select[Any]:
    return select(vectors.c.row, vectors.c.passage, vectors.c.tokens).where(
        vectors.c.model == bindparam("model"),
        one_of(vectors.c.row, "rows"),
        one_of(vectors.c.passage, "numbers"),
        visible(vectors, visibility),
    )


@cache
def _embedded(visibility: Visibility) -> Select[Any]:
    return select(vectors.c.row).where(
        vectors.c.model == bindparam("model"),
        one_of(vectors.c.row, "rows"),
        vectors.c.passage == literal_column("0"),
        visible(vectors, visibility),
    )


@cache
def _counts(visibility: Visibility) -> Select[Any]:
    return (
        select(facets.c.facet, func.count())
        .where(visible(facets, visibility), one_of(facets.c.facet, "facets"))
        # In the order of the index, so that nothing need be sorted to be counted.
        .group_by(facets.c.facet)
    )


@cache
def _holders(visibility: Visibility) -> Select[Any]:
    return (
        select(facets.c.facet, memories.c.tenant, memories.c.row, as_stored(memories.c.entities))
        .join_from(facets, memories, same_row(facets, memories))
        .where(of_home(facets), one_of(facets.c.facet, "facets"), visible(memories, visibility))
        .order_by(facets.c.row.desc(), facets.c.facet)
        .limit(bindparam("most"))
    )


def match_of(memory: Memory) -> Match:
    return Match(
        key=key_of(memory),
        id=memory.id,
        kind=memory.kind,
        tags=memory.tags,
        scope=memory.scope,
        conversation=memory.pinned,
        since=microseconds_of(memory.valid_from),
        checked=None if memory.verified_at is None else microseconds_of(memory.verified_at),
        has_query=memory.query is not None,
        entities=memory.entities,
        audience=audience_of(memory),
        written=microseconds_of(memory.created_at),
        changed=microseconds_of(memory.updated_at),
        check_state=memory.check_state,
    )
