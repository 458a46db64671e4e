"""WHAT can be read? Every statement carries the visibility predicate; visibility is always that of today."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    exists,
    literal,
    or_,
    select,
    tuple_,
)

from onrecord.errors import Fault, Invalid
from onrecord.model.answers import Compared, Difference, Edge
from onrecord.model.caller import Caller
from onrecord.model.embedding import Model
from onrecord.model.limits import Status
from onrecord.model.memory import Memory, Relation, Version, changed_fields
from onrecord.model.requests import Browse, ListRelations, Neighbours
from onrecord.model.when import NOW, When
from onrecord.store import lexical, matching, walking
from onrecord.store.audience import audiences_of
from onrecord.store.backend import Backend
from onrecord.store.index import OF_SOME_SYSTEM, reference_facet, tag_facet, unasked_facet
from onrecord.store.moments import Asked, asked_of, listed, true_then
from onrecord.store.port import About, Coverage, Found, Key, Match, Near, Places
from onrecord.store.rows import PAST, PRESENT, VERSION_COLUMNS, read_memory, read_relation, read_version
from onrecord.store.several import one_of
from onrecord.store.tables import facets, memories, relations, versions
from onrecord.store.view import NAMED, View, key_of, same_row, source
from onrecord.store.visibility import SEEN_TENANTS, Sight, visible
from onrecord.text import Token

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SqlReading:
    """One consistent state of the store, as far as one caller may see it."""

    def __init__(
        self,
        connection: Connection,
        backend: Backend,
        caller: Caller,
        now: datetime,
        *,
        is_settled: bool = True,
    ) -> None:
        self._backend = backend
        self._view = View(connection, backend, caller, now, is_settled=is_settled)

    @property
    def size(self) -> int:
        return int(self._view.documents)

    @property
    def has_references(self) -> bool:
        return self._view.has_references

    @property
    def sees_global(self) -> bool:
        return self._view.sees_global

    @property
    def average_length(self) -> float:
        return float(self._view.words / max(self._view.documents, 1))

    def memory(self, id: str, when: When = NOW) -> Memory | None:
        statement = _named(self._view.sight, asked_of(when))
        found = self._view.memories(statement, when, **self._view.address(id))
        return found[0] if found else None

    def catalog(self) -> "SqlReading":
        view = self._view
        caller = view.caller.in_catalog
        return SqlReading(view.connection, self._backend, caller, view.now, is_settled=view.is_settled)

    def filed(self, facet: str) -> list[str]:
        found = self._view.fetch(_filed(self._view.sight), facet=facet, **self._view.address("any"))
        return [id for (id,) in found]

    def filed_memories(self, facet: str, *, gone: bool = False) -> list[Memory]:
        home = self._view.address("any")
        found = self._view.fetch(_filed(self._view.sight, whole=True, gone=gone), facet=facet, **home)
        return [read_memory(row, self._view.names) for row in found]

    def references(self, root: str) -> list[str]:
        found = self._view.run(
            _references(self._view.sight), root=root, **self._view.address("any")
        ).scalars()
        # SQLite takes capitals for small letters where it looks for a beginning.
        above = root if root.endswith(":") else root + "."
        told = (facet.removeprefix(reference_facet("")) for facet in found)
        return sorted(each for each in told if each == root or each.startswith(above))

    def unasked(self, *, most: int) -> list[Memory]:
        wanted = list(map(unasked_facet, audiences_of(self._view.caller)))
        if self._view.sight.sees_every_system:
            wanted.append(OF_SOME_SYSTEM)
        return self._view.memories(_unasked(self._view.sight), wanted=wanted, most=most)

    def browse(self, ask: Browse) -> tuple[list[Memory], str | None]:
        when = When(ask.as_of, ask.known_at)
        record, statement = source(self._view.sight, asked_of(when))
        statement = statement.where(
            listed(record, asked_of(when, ask.statuses)), *_filters(record, ask), *_facet_filters(ask, when)
        ).order_by(record.c.updated_at.desc(), memories.c.tenant.desc(), memories.c.row.desc())
        if ask.after is not None:
            place = (record.c.updated_at, memories.c.tenant, memories.c.row)
            # Without their types a time would be compared as text, which SQLite holds to be after every number.
            mark = tuple_(*_read_mark(ask.after), types=[column.type for column in place])
            statement = statement.where(tuple_(*place) < mark)
        if when.known_at is None:
            found = self._view.memories(statement.limit(ask.limit + 1), when, ask.statuses)
        else:
            every = self._view.memories(statement, when, ask.statuses)
            found = list(islice((memory for memory in every if _carries(memory, ask)), ask.limit + 1))
        page = found[: ask.limit]
        return page, _mark(page[-1]) if len(found) > ask.limit else None

    def holding(self, terms: Sequence[Token], *, most: int, past: bool = False) -> list[Found]:
        return matching.holding(self._view, terms, most, past)

    def held_then(
        self, terms: Sequence[Token], when: When, statuses: Sequence[Status] = ()
    ) -> list[tuple[Match, float]]:
        return matching.held_then(self._view, terms, when, statuses)

    def rarity(self, terms: Sequence[str]) -> dict[str, float]:
        return matching.rarity(self._view, terms)

    def holders(self, terms: Sequence[str], *, most: int) -> dict[str, list[Key]]:
        return lexical.holders(self._view, terms, most)

    def places(self, matches: Sequence[Match], pairs: Sequence[tuple[str, str]]) -> dict[Key, Places]:
        return matching.places(self._view, matches, pairs)

    def near(self, vector: "NDArray[Any]", model: Model, *, most: int) -> list[Near]:
        return matching.near(self._view, self._backend, vector, model, most)

    def nearness(self, vector: "NDArray[Any]", model: Model, keys: Sequence[Key]) -> list[Near]:
        return matching.nearness(self._view, self._backend, vector, model, keys)

    def mean_nearness(self, vector: "NDArray[Any]", model: Model) -> float:
        return matching.mean_nearness(self._view, vector, model)

    def tokens(self, near: Sequence[Near], model: Model) -> dict[Key, bytes]:
        return matching.tokens_of(self._view, near, model)

    def coverage(self) -> list[Coverage]:
        return self._view.coverage

    def has_vectors(self, text_hash: str, model: Model) -> bool:
        return matching.has_vectors(self._view, text_hash, model)

    def about(
        self,
        references: Sequence[str],
        names: Sequence[str] = (),
        *,
        most: int,
        namesakes: int | None = None,
    ) -> About:
        return matching.about(self._view, references, names, most, namesakes)

    def joined(self, keys: Sequence[Key], when: When = NOW) -> list[tuple[Key, str, Key]]:
        return walking.joined(self._view, keys, when) if self._view.has_relations else []

    def standing(
        self, keys: Sequence[Key], when: When = NOW, statuses: Sequence[Status] = ()
    ) -> dict[Key, Match]:
        return matching.standing(self._view, keys, when, statuses)

    def read(self, matches: Sequence[Match], when: When = NOW) -> list[Memory]:
        return matching.read(self._view, matches, when)

    def edges(self, center: Memory, ask: Neighbours) -> list[Edge]:
        return walking.walk(self._view, center, ask)

    def relations(self, ask: ListRelations) -> tuple[list[Relation], str | None]:
        return walking.listed(self._view, ask)

    def relation(self, id: str) -> Relation | None:
        return walking.one(self._view, id)

    def versions(self, id: str) -> list[Version]:
        told: list[Version] = []
        for row in self._view.run(_history(self._view.sight), **self._view.address(id)):
            told.append(read_version(row, self._view.names, told[-1].memory if told else None))
        return told

    def compare(self, since: datetime, until: datetime) -> Compared:
        later = self._stood_at(until, versions.c.recorded_at > since)
        changed = exists().where(
            same_row(memories, _OTHER), _OTHER.c.recorded_at > since, _OTHER.c.recorded_at <= until
        )
        earlier = {key_of(memory): memory for memory in self._stood_at(since, changed)}
        return Compared(
            since=since,
            until=until,
            memories=tuple(_difference(earlier.get(key_of(after)), after) for after in later),
            related=self._edges_touched(relations.c.created_at, since, until),
            unrelated=self._edges_touched(relations.c.removed_at, since, until),
        )

    def _stood_at(self, moment: datetime, condition: ColumnElement[bool]) -> list[Memory]:
        when = When(known_at=moment)
        _, statement = source(self._view.sight, asked_of(when))
        ordered = statement.where(condition).order_by(memories.c.tenant, memories.c.row)
        return self._view.memories(ordered, when)

    def _edges_touched(
        self, column: ColumnElement[Any], since: datetime, until: datetime
    ) -> tuple[Relation, ...]:
        rows = self._view.run(
            select(relations)
            .where(relations.c.tenant.in_(self._view.keys), column > since, column <= until)
            .order_by(relations.c.tenant, relations.c.id)
        ).all()
        found = []
        for tenant in self._view.keys:
            mine = [row for row in rows if row.tenant == tenant]
            both = {end for row in mine for end in (row.source, row.target)}
            ends = walking.standing(self._view, tenant, both, NOW)
            found += [
                read_relation(row, ends[row.source].id, ends[row.target].id)
                for row in mine
                if row.source in ends and row.target in ends
            ]
        return tuple(found)


_OTHER: Final = versions.alias("other")


@cache
def _named(sight: Sight, asked: Asked) -> Select[Any]:
    record, statement = source(sight, asked)
    return statement.where(NAMED, *true_then(record, asked))


@cache
def _references(sight: Sight) -> Select[Any]:
    beginning = literal(reference_facet("")).concat(bindparam("root", type_=Text))
    return (
        select(facets.c.facet)
        .join_from(facets, memories, same_row(facets, memories))
        .where(
            facets.c.tenant == bindparam("home"),
            facets.c.facet.startswith(beginning),
            visible(memories, sight),
        )
        .distinct()
    )


@cache
def _filed(sight: Sight, whole: bool = False, gone: bool = False) -> Select[Any]:
    found = (
        select(*PRESENT if whole else [memories.c.id])
        .join_from(facets, memories, same_row(facets, memories))
        .where(
            facets.c.tenant == bindparam("home"),
            facets.c.facet == bindparam("facet"),
            visible(memories, sight),
        )
        .order_by(facets.c.row)
    )
    return found if gone else found.where(memories.c.valid_to.is_(None))


@cache
def _unasked(sight: Sight) -> Select[Any]:
    # By distinct rows, since one may be filed both under its own system and among those of every system.
    filed = (
        select(facets.c.tenant, facets.c.row)
        .where(facets.c.tenant.in_(SEEN_TENANTS), one_of(facets.c.facet, "wanted"))
        .distinct()
        .subquery()
    )
    return (
        select(*PRESENT)
        .join_from(filed, memories, same_row(filed, memories))
        .where(visible(memories, sight), listed(memories, asked_of(NOW)), _vouched_for())
        .order_by(memories.c.updated_at.desc(), memories.c.tenant.desc(), memories.c.row.desc())
        .limit(bindparam("most", type_=Integer))
    )


def _vouched_for() -> ColumnElement[bool]:
    """A person wrote the very text that a memory has now, or approved it when it had that text.

    That a person made the memory is not enough: an agent may have written something else into it since. What came from
    a file or an import is by whom it says that it is.
    """
    before = versions.alias("before")
    earlier = exists().where(same_row(before, versions), before.c.version == versions.c.version - 1)
    by_a_person = or_(
        versions.c.changed_as == "person",
        and_(versions.c.changed_as == "import", versions.c.origin == "person"),
    )
    wrote_it = and_(by_a_person, ~earlier.where(before.c.content == versions.c.content))
    approved_it = and_(
        versions.c.approved_at.is_not(None),
        ~earlier.where(before.c.approved_at == versions.c.approved_at),
    )
    return exists().where(
        same_row(memories, versions), versions.c.content == memories.c.content, or_(wrote_it, approved_it)
    )


@cache
def _history(sight: Sight) -> Select[Any]:
    return (
        select(*PAST, *VERSION_COLUMNS)
        .join_from(memories, versions, same_row(memories, versions))
        .where(visible(memories, sight), NAMED)
        .order_by(versions.c.version)
    )


def _facet_filters(ask: Browse, when: When) -> Iterator[ColumnElement[bool]]:
    """Tags and references through their index, which knows the present only."""
    if when.known_at is not None:
        return
    for wanted in (list(map(tag_facet, ask.tags)), list(map(reference_facet, ask.entities))):
        if wanted:
            yield exists().where(same_row(memories, facets), facets.c.facet.in_(wanted))


def _filters(record: FromClause, ask: Browse) -> Iterator[ColumnElement[bool]]:
    for name, wanted in (("kind", ask.kinds), ("dimension", ask.dimensions), ("scope", ask.scopes)):
        if wanted:
            yield record.c[name].in_(wanted)
    if ask.system is not None:
        yield record.c.system == ask.system
    if ask.conversation is not None:
        pinned = record.c.conversation == ask.conversation
        yield or_(pinned, record.c.conversation.is_(None)) if ask.unpinned else pinned
    if ask.created_since is not None:
        yield record.c.created_at >= ask.created_since
    if ask.updated_since is not None:
        yield record.c.updated_at >= ask.updated_since
    if ask.updated_before is not None:
        yield record.c.updated_at < ask.updated_before


def _carries(memory: Memory, ask: Browse) -> bool:
    """The facet filters for an old version, whose facets are no longer indexed."""
    return (not ask.tags or bool(set(ask.tags) & set(memory.tags))) and (
        not ask.entities or bool(set(ask.entities) & set(memory.entities))
    )


def _mark(memory: Memory) -> str:
    return f"{memory.updated_at.isoformat()}~{key_of(memory)[0]}~{key_of(memory)[1]}"


def _read_mark(mark: str) -> tuple[datetime, int, int]:
    try:
        written, tenant, row = mark.split("~")
        moment = datetime.fromisoformat(written).astimezone(UTC)
        if not (0 <= int(tenant) < 2**31 and 0 <= int(row) < 2**63):
            raise ValueError("no such row")
        return moment, int(tenant), int(row)
    except (ValueError, OverflowError):
        raise Invalid([Fault("after", "is not a mark that a page gave; start without it")]) from None


def _difference(before: Memory | None, after: Memory) -> Difference:
    retired = before is not None and before.is_live and not after.is_live
    return Difference(
        id=after.id,
        change="added" if before is None else "retired" if retired else "revised",
        before=before,
        after=after,
        changed=changed_fields(before, after) if before else (),
    )
