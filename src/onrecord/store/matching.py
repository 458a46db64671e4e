"""WHICH rows match, for this caller and at this time? By words, by nearness and by what they are about."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Select, bindparam, func, literal_column, select

from onrecord.model import ids
from onrecord.model.embedding import Model, Passage
from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW, When
from onrecord.store import lexical
from onrecord.store.audience import audience_of
from onrecord.store.backend import Backend
from onrecord.store.candidate_cache import candidate_cache
from onrecord.store.index import entries_of, name_facet, reference_facet
from onrecord.store.instants import microseconds_of
from onrecord.store.moments import Asked, asked_of, listed
from onrecord.store.port import About, Coverage, Found, Key, Match, Near, Places
from onrecord.store.rows import as_stored, read_memory, read_words
from onrecord.store.several import one_of
from onrecord.store.tables import Instant, facets, memories, vectors
from onrecord.store.view import View, key_of, same_row, source
from onrecord.store.visibility import SEEN_TENANTS, Sight, visible
from onrecord.text import Token

if TYPE_CHECKING:
    from numpy.typing import NDArray


def holding(view: View, tokens: Sequence[Token], most: int, past: bool) -> list[Found]:
    known = lexical.statistics(view, [token.term for token in tokens], past=past)
    if not known.counts:
        return []
    found = lexical.search(view, known, most)
    return [Found((tenant, row), score / lexical.SCALE) for tenant, row, score in found]


def held_then(
    view: View, tokens: Sequence[Token], when: When, statuses: Sequence[Status]
) -> list[tuple[Match, float]]:
    """Slower, since old words are not indexed."""
    known = lexical.statistics(view, [token.term for token in tokens], past=True)
    found = []
    for memory in view.memories(_changed_since(view.sight, asked_of(when, statuses)), when, statuses):
        if score := lexical.score_entries(entries_of(memory), known):
            found.append((match_of(memory), score / lexical.SCALE))
    return sorted(found, key=lambda each: (-each[1], each[0].key))


@cache
def _changed_since(sight: Sight, asked: Asked) -> Select[Any]:
    record, statement = source(sight, asked)
    return statement.where(
        memories.c.recorded_at > bindparam("known_at", type_=Instant), listed(record, asked)
    )


def rarity(view: View, wanted: Iterable[str]) -> dict[str, float]:
    known = lexical.statistics(view, wanted, past=True)
    return {term: weight / lexical.SCALE for term, weight in known.weights.items()}


def places(view: View, matches: Sequence[Match], pairs: Iterable[tuple[str, str]]) -> dict[Key, Places]:
    # What nobody has counted may stand somewhere.
    possible = (pair for pair in pairs if 0 not in map(view.counts.get, pair))
    held = sorted({term for pair in possible for term in pair})
    if not matches or not held:
        return {}
    return lexical.positions(view, _somewhere(matches), held)


def _somewhere(matches: Sequence[Match]) -> dict[str, Any]:
    """The audiences too: they come before the rows in the index, and without them it is read from end to end."""
    return {
        "rows": sorted({match.key[1] for match in matches}),
        "audiences": sorted({match.audience for match in matches}),
    }


def near(view: View, backend: Backend, vector: "NDArray[Any]", model: Model, most: int) -> list[Near]:
    """In each tenant that the caller sees: its own, and the global one."""
    found = [backend.nearest(view, covered, vector, most) for covered in _of_model(view, model)]
    if len(found) == 1:
        return found[0]
    return sorted(chain.from_iterable(found), key=lambda each: (-each.score, each.key))[:most]


def nearness(
    view: View, backend: Backend, vector: "NDArray[Any]", model: Model, keys: Sequence[Key]
) -> list[Near]:
    found: list[Near] = []
    for covered in _of_model(view, model):
        rows = [row for tenant, row in keys if tenant == covered.tenant]
        found += backend.nearness(view, covered, vector, rows) if rows else []
    return found


def mean_nearness(view: View, vector: "NDArray[Any]", model: Model) -> float:
    import numpy as np

    covered = _of_model(view, model)
    total = sum(float(np.frombuffer(each.total, np.float64) @ vector) for each in covered)
    return total / max(sum(each.passages for each in covered), 1)


def _of_model(view: View, model: Model) -> list[Coverage]:
    return [each for each in view.coverage if each.model == model and each.memories]


def has_vectors(view: View, text_hash: str, model: Model) -> bool:
    """Only what the caller sees counts: else a save would tell whether someone has written this very text."""
    return _twin(view, text_hash, model) is not None


def passages_of(view: View, text_hash: str, model: Model) -> list[Passage]:
    """The vectors of a memory that the caller sees and that says the very same."""
    twin = _twin(view, text_hash, model)
    if twin is None:
        return []
    import numpy as np

    found = view.run(_PASSAGES, **twin).all()
    return [
        Passage(vector, None if packed is None else np.frombuffer(packed, np.int8))
        for vector, packed in found
    ]


def _twin(view: View, text_hash: str, model: Model) -> dict[str, Any] | None:
    for covered in _of_model(view, model):
        here: dict[str, Any] = {"home": covered.tenant, "model": covered.key}
        row = view.run(_same_text(view.sight), **here, text_hash=text_hash).scalar_one_or_none()
        if row is not None:
            return here | {"twin": row}
    return None


@cache
def _same_text(sight: Sight) -> Select[Any]:
    return (
        select(vectors.c.row)
        .where(
            vectors.c.tenant == bindparam("home"),
            vectors.c.text_hash == bindparam("text_hash"),
            # Written out, and the model made no column: else SQLite does not see that the index of texts is for this,
            # and goes through all vectors of the model.
            vectors.c.passage == literal_column("0"),
            vectors.c.model + literal_column("0") == bindparam("model"),
            visible(vectors, sight),
        )
        .limit(1)
    )


_PASSAGES: Final = (
    select(vectors.c.vector, vectors.c.tokens)
    .where(
        vectors.c.tenant == bindparam("home"),
        vectors.c.model == bindparam("model"),
        vectors.c.row == bindparam("twin"),
    )
    .order_by(vectors.c.passage)
)


def tokens_of(view: View, passages: Sequence[Near], model: Model) -> dict[Key, bytes]:
    wanted = {each.key: each.passage for each in passages}
    kept: dict[Key, bytes] = {}
    for covered in _of_model(view, model):
        rows = [row for tenant, row in wanted if tenant == covered.tenant]
        numbers = {wanted[covered.tenant, row] for row in rows}
        asked: dict[str, Any] = {
            "home": covered.tenant,
            "model": covered.key,
            "rows": rows,
            "numbers": sorted(numbers),
        }
        for row, passage, packed in view.fetch(_tokens(view.sight), **asked):
            if wanted[covered.tenant, row] == passage and packed is not None:
                kept[covered.tenant, row] = packed
    return kept


@cache
def _tokens(sight: Sight) -> Select[Any]:
    return select(vectors.c.row, vectors.c.passage, vectors.c.tokens).where(
        vectors.c.tenant == bindparam("home"),
        vectors.c.model == bindparam("model"),
        one_of(vectors.c.row, "rows"),
        one_of(vectors.c.passage, "numbers"),
        visible(vectors, sight),
    )


def about(
    view: View, references: Iterable[str], names: Iterable[str], most: int, namesakes: int | None = None
) -> About:
    called = {name_facet(each): each for each in names}
    asked = {reference_facet(each): each for each in references} | called
    found: Counter[str] = Counter()
    for facet, count in view.fetch(_COUNTS, facets=list(asked)) if asked else ():
        found[facet] += count
    counts = {
        facet: count
        for facet, count in found.items()
        if namesakes is None or count <= namesakes or facet not in called
    }
    rare = sorted(facet for facet, count in counts.items() if count <= most)
    rows = list(view.fetch(_holders(view.sight), facets=rare, most=len(rare) * most)) if rare else []
    for facet in sorted(counts.keys() - rare):
        rows += view.fetch(_holders(view.sight), facets=[facet], most=most)
    holders: dict[Key, tuple[str, ...]] = {}
    lengths: dict[Key, int] = {}
    for facet, tenant, row, entities in rows:
        holders[tenant, row] = (*holders.get((tenant, row), ()), asked[facet])
        lengths[tenant, row] = len(read_words(entities))
    return About(holders, lengths, {asked[facet]: count for facet, count in counts.items()}, view.documents)


_COUNTS: Final = (
    select(facets.c.facet, func.count())
    .where(facets.c.tenant.in_(SEEN_TENANTS), one_of(facets.c.facet, "facets"))
    # In the order of the index, so that nothing need be sorted to be counted.
    .group_by(facets.c.tenant, facets.c.facet)
)


@cache
def _holders(sight: Sight) -> Select[Any]:
    return (
        select(facets.c.facet, memories.c.tenant, memories.c.row, as_stored(memories.c.entities))
        .join_from(facets, memories, same_row(facets, memories))
        .where(facets.c.tenant.in_(SEEN_TENANTS), one_of(facets.c.facet, "facets"), visible(memories, sight))
        .order_by(facets.c.row.desc(), facets.c.facet)
        .limit(bindparam("most"))
    )


#: What is read of a candidate: enough to rank it, at a fraction of the cost of the whole memory.
_STANDING: Final = (
    "tenant row id kind tags scope conversation valid_from verified_at entities audience created_at updated_at"
).split()


def standing(view: View, keys: Iterable[Key], when: When, statuses: Sequence[Status]) -> dict[Key, Match]:
    # The row of today is read even for a question about what was known: it is the one that has not changed.
    statement = _among(view.sight, asked_of(When(as_of=when.as_of), statuses), when.known_at is not None)
    wanted = set(keys)
    kept = candidate_cache(view) if view.is_settled and when == NOW and not statuses else None
    known = {} if kept is None else kept.matches(view, wanted)
    wanted.difference_update(known)
    if not wanted:
        return known
    # Two tenants may have rows of the same number, so both parts of the key are looked at.
    rows = view.fetch(statement, when, statuses, rows=sorted({row for _, row in wanted}))
    fresh = [match for match in map(partial(_match, view.names), rows) if match.key in wanted]
    if kept is not None:
        kept.keep_matches(view, fresh)
    return known | {match.key: match for match in fresh}


@cache
def _among(sight: Sight, asked: Asked, unchanged: bool) -> Select[Any]:
    columns = [as_stored(memories.c[name]) for name in _STANDING]
    statement = select(*columns, memories.c.query.is_not(None)).where(
        visible(memories, sight), one_of(memories.c.row, "rows"), listed(memories, asked)
    )
    if unchanged:
        statement = statement.where(memories.c.recorded_at <= bindparam("known_at", type_=Instant))
    return statement


def _match(names: Mapping[int, str], values: Sequence[Any]) -> Match:
    tenant, row, id, kind, tags, scope, conversation, since, checked, entities, *rest = values
    audience, written, changed, has_query = rest
    return Match(
        (tenant, row),
        ids.spell(names[tenant], id),
        kind,
        read_words(tags),
        scope,
        conversation,
        since,
        checked,
        bool(has_query),
        read_words(entities),
        audience,
        written,
        changed,
    )


def match_of(memory: Memory) -> Match:
    return Match(
        key=key_of(memory),
        id=memory.id,
        kind=memory.kind,
        tags=memory.tags,
        scope=memory.scope,
        conversation=memory.conversation,
        since=microseconds_of(memory.valid_from),
        checked=None if memory.verified_at is None else microseconds_of(memory.verified_at),
        has_query=memory.query is not None,
        entities=memory.entities,
        audience=audience_of(memory),
        written=microseconds_of(memory.created_at),
        changed=microseconds_of(memory.updated_at),
    )


def read(view: View, matches: Sequence[Match], when: When) -> list[Memory]:
    if not matches:
        return []
    statement = _whole(view.sight, asked_of(When(known_at=when.known_at)))
    rows = view.fetch(statement, when, rows=sorted({match.key[1] for match in matches}))
    by_key = {key_of(memory): memory for memory in (read_memory(row, view.names) for row in rows)}
    return [by_key[match.key] for match in matches if match.key in by_key]


@cache
def _whole(sight: Sight, asked: Asked) -> Select[Any]:
    """Some rows by number. Two tenants may have the same numbers, so the reader looks at both parts of the key."""
    _, statement = source(sight, asked)
    return statement.where(one_of(memories.c.row, "rows"))
