"""IS everything consistent? Whether versions, index, vectors, edges and counters of a tenant fit its rows."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from sqlalchemy import Connection, FromClause, exists, func, not_, or_, select

from onrecord.model import ids
from onrecord.model.collections import MEMORIES, Home
from onrecord.model.findings import Problem
from onrecord.model.limits import ID_CHARACTERS, ID_NUMBERS
from onrecord.model.memory import Memory, Version, changed_fields
from onrecord.model.record import invariant_faults
from onrecord.store.audience import GLOBAL, TENANT, audience_of
from onrecord.store.index.entries import INDEX_VERSION, entries_of
from onrecord.store.index.vector_checks import (
    ExpectedVectors,
    expected_vectors,
    miscounts,
    stray_jobs,
    wrong_vectors,
)
from onrecord.store.list_parameters import one_of
from onrecord.store.records.archive import SqlArchive, built_by
from onrecord.store.records.feedback import stray_memories
from onrecord.store.records.queue import WHOLE_STORE
from onrecord.store.rows import content_hash
from onrecord.store.tables import (
    OF_TENANTS,
    SHARED,
    artifacts,
    audience_counts,
    conversation_members,
    conversations,
    counters,
    embedded,
    facets,
    memories,
    postings,
    relations,
    tenants,
    terms,
    versions,
)
from onrecord.store.tenant import of_home

_REINDEX: Final = "run `onrecord reindex`"
_FIX: Final = "run `onrecord doctor --fix`"
_EMBED: Final = "run `onrecord reindex`, then `onrecord embed-missing`"
#: What is counted for each audience.
_COUNTED: Final = ("documents", "words", "facets")
_RESTORE: Final = "restore this memory from a backup or an export"


def whole_store_problems(connection: Connection) -> Iterator[Problem]:
    built = built_by(connection)
    if built != INDEX_VERSION:
        yield Problem(
            check="index version",
            where="store",
            detail=f"the index was built by version {built}, this is {INDEX_VERSION}",
            cure=_REINDEX,
        )
    known = [*connection.execute(select(tenants.c.key)).scalars().all(), WHOLE_STORE.number]
    for table in OF_TENANTS:
        # Fails if a column is missing.
        connection.execute(select(table).limit(0))
        strays = connection.execute(
            select(func.count()).select_from(table).where(not_(one_of(table.c.tenant, "known"))),
            {"known": known},
        ).scalar_one()
        if strays:
            yield _orphans(table, strays, "store", "tenant")
    for table in SHARED:
        connection.execute(select(table).limit(0))


class Examination:
    """A check of one tenant, in one pass over its rows."""

    def __init__(self, connection: Connection, home: Home) -> None:
        self._connection = connection
        self._archive = SqlArchive(connection)
        self._home = home
        self._address = self._archive.address(home)
        self._here = self._address.parameters
        #: How many memories of each audience contain a term; and the memories, words and facets of each audience.
        self._terms: Counter[tuple[str, str]] = Counter()
        self._counts: dict[str, Counter[str]] = {}
        self._wanted: dict[int, ExpectedVectors] = {}

    def problems(self) -> Iterator[Problem]:
        indexed, derived = self._indexed(), self._derived()
        histories = self._archive.histories(self._home)
        history = next(histories, None)
        for memory in self._archive.memories(self._home):
            mine = history if history is not None and history.id == memory.id else None
            if mine is not None:
                history = next(histories, None)
            yield from self._row_problems(memory, derived.pop(_row(memory), None))
            yield from self._version_problems(memory, mine.versions if mine else ())
            self._wanted[_row(memory)] = expected_vectors(memory)
            if indexed.pop(_row(memory), 0) != self._expected(memory):
                yield self._problem(
                    "index", memory.id, "its postings or facets are not those of its text", _REINDEX
                )
        for row in sorted(indexed):
            yield self._problem("index", f"row {row}", "is indexed but does not exist", _REINDEX)
        yield from self._statistics_problems()
        yield from self._vector_problems()
        yield from self._orphan_problems()
        yield from self._feedback_problems()
        yield from self._counter_problems()

    def _problem(self, check: str, where: str, detail: str, cure: str) -> Problem:
        return Problem(check=check, where=f"{self._home}/{where}", detail=detail, cure=cure)

    def _indexed(self) -> dict[int, int]:
        """For each row the sum of the hashes of its index entries, since all entries would not fit in memory."""
        sums: Counter[int] = Counter()
        for table in (postings, facets):
            wanted = [
                column for column in table.columns if column.name not in ("tenant", "collection", "row")
            ]
            statement = select(table.c.row, *wanted).where(of_home(table))
            for row, *entry in self._connection.execute(
                statement.execution_options(yield_per=10_000), self._here
            ):
                sums[row] += hash(tuple(entry))
        return dict(sums)

    def _expected(self, memory: Memory) -> int:
        entries, audience = entries_of(memory, self._home.collection), audience_of(memory)
        counts = {"documents": 1, "words": entries.length, "facets": len(entries.facets)}
        self._counts.setdefault(audience, Counter()).update(counts)
        self._terms.update((term, audience) for term in entries.terms)
        held = ((term, audience, weight, entries.length, places) for term, weight, places in entries.postings)
        return sum(map(hash, held)) + sum(hash((facet, audience)) for facet in entries.facets)

    def _derived(self) -> dict[int, tuple[str, str]]:
        statement = select(memories.c.row, memories.c.audience, memories.c.content_hash)
        found = self._connection.execute(statement.where(of_home(memories)), self._here)
        return {row: (audience, digest) for row, audience, digest in found}

    def _row_problems(self, memory: Memory, derived: tuple[str, str] | None) -> Iterator[Problem]:
        for fault in invariant_faults(memory):
            yield self._problem("window", memory.id, str(fault), _RESTORE)
        if derived != (audience_of(memory), content_hash(memory.content)):
            yield self._problem(
                "row", memory.id, "its audience or content hash is not that of its record", _REINDEX
            )

    def _version_problems(self, memory: Memory, kept_versions: tuple[Version, ...]) -> Iterator[Problem]:
        if not kept_versions:
            yield self._problem("versions", memory.id, "it has no version at all", _RESTORE)
            return
        if [version.number for version in kept_versions] != list(range(1, len(kept_versions) + 1)):
            yield self._problem("versions", memory.id, "its versions are not numbered 1, 2, 3 …", _RESTORE)
        if (
            any(before.until != after.at for before, after in pairwise(kept_versions))
            or kept_versions[-1].until is not None
        ):
            yield self._problem("versions", memory.id, "the times of its versions do not join", _RESTORE)
        last = kept_versions[-1].memory
        if (last, last.place) != (memory, memory.place):
            names = ", ".join(changed_fields(last, memory)) or "its version"
            yield self._problem(
                "versions", memory.id, f"the row differs from its last version in {names}", _RESTORE
            )

    def _statistics_problems(self) -> Iterator[Problem]:
        statement = select(terms.c.term, terms.c.audience, terms.c.documents).where(of_home(terms))
        counted = {
            (term, audience): count
            for term, audience, count in self._connection.execute(statement, self._here)
        }
        if counted != self._terms:
            wrong = sorted(
                {
                    key[0]
                    for key in counted.keys() | self._terms.keys()
                    if counted.get(key) != self._terms.get(key)
                }
            )
            yield self._problem(
                "statistics", "terms", f"{len(wrong)} terms are miscounted ({wrong[0]} …)", _REINDEX
            )
        statement = select(audience_counts).where(of_home(audience_counts))
        recorded = {row.audience: row for row in self._connection.execute(statement, self._here)}
        wrong_counts = [
            each
            for each in recorded.keys() | self._counts.keys()
            if each not in recorded
            or {name: getattr(recorded[each], name) for name in _COUNTED} != self._counted_for(each)
        ]
        if wrong_counts:
            # Not named, since audiences contain names of people.
            detail = f"{len(wrong_counts)} audiences are miscounted"
            yield self._problem("statistics", "audiences", detail, _REINDEX)
        held = self._connection.execute(
            select(counters.c.documents, counters.c.words).where(of_home(counters)), self._here
        ).one()
        there = tuple(sum(counts[name] for counts in self._counts.values()) for name in _COUNTED[:2])
        if tuple(held) != there:
            detail = f"counts {held.documents} memories and {held.words} words, there are {there[0]} and {there[1]}"
            yield self._problem("statistics", "tenant", detail, _REINDEX)

    def _counted_for(self, audience: str) -> dict[str, int]:
        counts = self._counts.get(audience, Counter())
        return {name: counts[name] for name in _COUNTED}

    def _vector_problems(self) -> Iterator[Problem]:
        statement = select(embedded.c.model, embedded.c.name).where(of_home(embedded))
        names = dict(self._connection.execute(statement, self._here).all())
        for wrong in wrong_vectors(self._connection, self._address, self._wanted):
            yield self._problem(
                "vectors",
                f"row {wrong.row}",
                f"its vectors by {names.get(wrong.model, f'model {wrong.model}')} {wrong.reason}",
                _REINDEX if wrong.is_for_other_eyes else _EMBED,
            )
        for counted in miscounts(self._connection, self._address):
            name = names.get(counted.model, f"model {counted.model}")
            yield self._problem("vector counts", name, counted.detail, _REINDEX)
        if strays := stray_jobs(self._connection, self._address):
            yield self._problem("jobs", "tenant", f"{strays} jobs are about memories that are gone", _REINDEX)

    def _orphan_problems(self) -> Iterator[Problem]:
        for table, ends in ((versions, ["row"]), (relations, ["source", "target"])):
            missing = [
                not_(exists().where(of_home(memories), memories.c.row == table.c[end])) for end in ends
            ]
            strays = self._connection.execute(
                select(func.count()).select_from(table).where(of_home(table), or_(*missing)), self._here
            ).scalar_one()
            if strays:
                yield _orphans(table, strays, str(self._home), "memory")
        for table in (artifacts, conversation_members) if self._home.collection is MEMORIES else ():
            number = self._address.number or 0
            begun = exists().where(
                conversations.c.tenant == number, conversations.c.row == table.c.conversation
            )
            strays = self._connection.execute(
                select(func.count()).select_from(table).where(table.c.tenant == number, not_(begun))
            ).scalar_one()
            if strays:
                yield _orphans(table, strays, str(self._home), "conversation")

    def _feedback_problems(self) -> Iterator[Problem]:
        number = self._address.number or 0
        if self._home.collection is MEMORIES and (gone := stray_memories(self._connection, number)):
            detail = f"there is feedback on {len(gone)} memories that are gone"
            yield self._problem("feedback", "tenant", detail, _REINDEX)

    def _counter_problems(self) -> Iterator[Problem]:
        held = self._connection.execute(select(counters).where(of_home(counters)), self._here).one()
        names = select(memories.c.id, memories.c.audience).where(of_home(memories))
        named = dict(self._connection.execute(names, self._here).all())
        for id in sorted(filter(ids.is_too_long, named)):
            detail = (
                f"its id has {len(id)} characters and cannot be named (an id has at most {ID_CHARACTERS})"
            )
            yield self._problem("ids", f"{id[:20]}…", detail, _FIX)
        if int(held.last_id) >= ID_NUMBERS:
            detail = (
                f"the next id would be a number of {len(held.last_id)} digits, after one that someone chose"
            )
            yield self._problem("counters", "tenant", detail, _FIX)
        last_row, last_relation = (
            self._connection.execute(
                select(func.coalesce(func.max(column), 0)).where(of_home(column.table)), self._here
            ).scalar_one()
            for column in (memories.c.row, relations.c.id)
        )
        # A number that was chosen for a few is not counted, and passed over.
        is_behind = named.get(str(int(held.last_id) + 1)) in (TENANT, GLOBAL) or last_row > held.last_row
        if is_behind or last_relation > held.last_relation:
            yield self._problem("counters", "tenant", "a counter is behind the ids already given", _REINDEX)


def _row(memory: Memory) -> int:
    assert memory.place is not None
    return memory.place.row


def _orphans(table: FromClause, count: int, where: str, of: str) -> Problem:
    return Problem(
        check="orphans",
        where=where,
        detail=f"{count} rows of {table} belong to no {of}",
        cure="restore a backup",
    )
