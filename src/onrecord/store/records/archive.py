"""HOW is the whole store read and refilled? For moving, checking and rebuilding it, unfiltered by caller."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    and_,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from onrecord.errors import StoreUnavailable, invalid
from onrecord.model import ids
from onrecord.model.collections import BY_NUMBER, MEMORIES, Home
from onrecord.model.embedding import EmbeddingModel, Passage, embedded_text
from onrecord.model.limits import ID_CHARACTERS, ID_NUMBERS, LIVE, CheckState
from onrecord.model.memory import Change, Memory, Relation, RowPlace, Version
from onrecord.store.audience import audience_of
from onrecord.store.backend import Backend
from onrecord.store.coverage import COVERAGE, read_coverage
from onrecord.store.index.changes import IndexChanges
from onrecord.store.index.embeddings import Embeddings
from onrecord.store.index.entries import INDEX_VERSION
from onrecord.store.index.vector_checks import ExpectedVectors, expected_vectors, mend
from onrecord.store.list_parameters import one_of
from onrecord.store.locked_home import LockedHome
from onrecord.store.ports.archive import Counters, MemoryHistory
from onrecord.store.ports.index import Coverage
from onrecord.store.ports.jobs import EMBED, STORE, TroubledJob
from onrecord.store.ports.workspace import WaitingTurn
from onrecord.store.prepared import Statements
from onrecord.store.records.facts import fact, keep_fact
from onrecord.store.records.feedback import SqlFeedbackArchive, drop_strays
from onrecord.store.records.queue import MOST_ATTEMPTS, WHOLE_STORE, JobQueue, due_next, troubled
from onrecord.store.records.waiting_turns import waiting_turn
from onrecord.store.records.workspace_archive import SqlWorkspaceArchive
from onrecord.store.rows import (
    PAST,
    PRESENT,
    VERSION_COLUMNS,
    Stored,
    content_hash,
    present_row,
    read_memory,
    read_relation,
    read_version,
    record_of,
    version_row,
)
from onrecord.store.tables import (
    audience_counts,
    audit,
    counters,
    facets,
    jobs,
    memories,
    postings,
    relations,
    tenants,
    terms,
    vectors,
    versions,
)
from onrecord.store.tenant import HomeAddress, Tenants, of_home, same_home
from onrecord.store.transaction import Transaction
from onrecord.store.view import same_row

_BATCH: Final = 500
_INDEX_FACT: Final = "index"


class SqlArchive:
    """The whole store in one consistent state."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def homes(self) -> list[Home]:
        """The homes that hold or held records, by their names in exports."""
        names = dict(self._connection.execute(select(tenants.c.key, tenants.c.name)).all())
        held = self._connection.execute(select(counters.c.tenant, counters.c.collection)).all()
        found = [Home(names[tenant], BY_NUMBER[number]) for tenant, number in held if tenant in names]
        return sorted(found, key=lambda home: home.spelled)

    def address(self, home: Home) -> HomeAddress:
        number = select(tenants.c.key).where(tenants.c.name == home.tenant)
        return HomeAddress(self._connection.execute(number).scalar_one_or_none(), home)

    def counters(self, home: Home) -> Counters:
        row = self._connection.execute(_COUNTERS, self.address(home).parameters).one()
        return Counters(row.last_id, row.last_relation)

    def count(self, home: Home) -> int:
        return int(self._connection.execute(_COUNT, self.address(home).parameters).scalar_one())

    def check_states(self, home: Home) -> Mapping[CheckState, int]:
        rows = self._connection.execute(_CHECK_STATES, self.address(home).parameters)
        return {state: int(many) for state, many in rows}

    def memories(self, home: Home) -> Iterator[Memory]:
        """Every memory in its present state, in the order of rows."""
        here = self.address(home).parameters
        with self._connection.execute(_EVERY.execution_options(yield_per=_BATCH), here) as rows:
            for row in rows:
                yield read_memory(row, home.tenant)

    def histories(self, home: Home, wanted: Sequence[str] | None = None) -> Iterator[MemoryHistory]:
        """Every memory with its history, in the order of rows; or only those of some ids."""
        here = self.address(home).parameters
        statement = _PASTS.execution_options(yield_per=_BATCH)
        if wanted is not None:
            # Most memories of an import are new, and one query by id shows that.
            named = [ids.address(id).id for id in wanted]
            rows = self._connection.execute(_HELD, {**here, "named": named}).scalars().all()
            if not rows:
                return
            statement = statement.where(memories.c.row.in_(sorted(rows)))
        with self._connection.execute(statement, here) as every:
            for _, group in groupby(every, key=lambda row: row.row):
                history = tuple(read_version(row, home.tenant, None) for row in group)
                yield MemoryHistory(history[-1].memory.id, history)

    def rows(self, home: Home, wanted: Sequence[int]) -> list[Memory]:
        """The memories in some rows, in their present state."""
        statement = _EVERY.where(one_of(memories.c.row, "wanted"))
        found = self._connection.execute(statement, {**self.address(home).parameters, "wanted": list(wanted)})
        return [read_memory(row, home.tenant) for row in found.all()]

    def unembedded(self, home: Home, model: EmbeddingModel, most: int, after: int = 0) -> list[Memory]:
        """Memories that have no vectors of this model, in the order of their rows."""
        return self._without(home, model, most, memories.c.row > after)

    def unasked(self, home: Home, model: EmbeddingModel, most: int) -> list[Memory]:
        """The same without those that a job of their own waits for."""
        return self._without(home, model, most, ~exists().where(*_JOB_OF_ITS_OWN))

    def _without(
        self, home: Home, model: EmbeddingModel, most: int, which: ColumnElement[bool]
    ) -> list[Memory]:
        key = next((each.key for each in self.coverage(home) if each.model == model), 0)
        statement = _EVERY.where(which, ~exists().where(*_held_by(key))).limit(most)
        found = self._connection.execute(statement, self.address(home).parameters)
        return [read_memory(row, home.tenant) for row in found.all()]

    def present(
        self, home: Home, models: Sequence[EmbeddingModel]
    ) -> tuple[int, Mapping[EmbeddingModel, int]]:
        """How many memories are not archived, and how many of those have vectors of each model."""
        here = self.address(home).parameters
        whole = self.count(home)
        archived = int(self._connection.execute(_ARCHIVED, here).scalar_one())
        known = {each.model: each for each in self.coverage(home)}
        counts = {model: known[model].memories if model in known else 0 for model in models}
        for model, count in counts.items():
            # Where all have vectors, the archived ones have, too.
            if archived and count:
                held = _ARCHIVED.where(exists().where(*_held_by(known[model].key)))
                counts[model] = count - int(self._connection.execute(held, here).scalar_one())
        return whole - archived, counts

    def troubled(self, home: Home) -> list[TroubledJob]:
        """The jobs of a home, or of the whole store, that failed when they were last tried."""
        return troubled(self._connection, WHOLE_STORE if home == STORE else self.address(home))

    def due_next(self, name: str) -> datetime | None:
        """When a job of the whole store is due; None if no worker has ever known it."""
        return due_next(self._connection, name)

    def coverage(self, home: Home) -> list[Coverage]:
        """How many memories each model has embedded."""
        return read_coverage(self._connection.execute(COVERAGE, self.address(home).parameters).all())

    def waiting_turn(self, tenant: str, number: int) -> WaitingTurn | None:
        """A turn whose facts are to be extracted; None if it is gone."""
        return waiting_turn(self._connection, self.address(Home(tenant)).number, number)

    def job_counts(self, home: Home, name: str = EMBED) -> tuple[int, int]:
        """How many jobs of a name are waiting, and how many have failed for good."""
        failed = func.count().filter(jobs.c.attempts >= MOST_ATTEMPTS)
        counts = select(func.count() - failed, failed).where(of_home(jobs), jobs.c.name == name)
        waiting, given_up = self._connection.execute(counts, self.address(home).parameters).one()
        return int(waiting), int(given_up)

    def edges(self, home: Home) -> Iterator[Relation]:
        """Every relation, including removed ones."""
        for row in self._connection.execute(_EDGES, self.address(home).parameters):
            source, target = (ids.spell(home.tenant, id) for id in (row.source_id, row.target_id))
            yield read_relation(row, source, target)

    def workspace(self, tenant: str) -> SqlWorkspaceArchive:
        return SqlWorkspaceArchive(self._connection, self.address(Home(tenant)).number or 0)

    def feedback(self, tenant: str) -> SqlFeedbackArchive:
        return SqlFeedbackArchive(self._connection, self.address(Home(tenant)).number or 0)


class SqlRestoring(SqlArchive):
    """One transaction in one tenant that imports records, or rebuilds its index."""

    def __init__(self, transaction: Transaction, address: HomeAddress) -> None:
        super().__init__(transaction.connection)
        self._transaction = transaction
        self._statements = transaction.statements
        self._address = address
        self._home = address.home
        self._here = address.parameters
        self._counters = LockedHome.take(transaction, address)
        self._embeddings = Embeddings(transaction.connection, address)
        self.jobs = JobQueue(transaction.connection, transaction.backend, address)

    def finish_embedding(self) -> None:
        self._embeddings.finish()

    def restore(self, histories: Iterable[MemoryHistory]) -> None:
        """Add memories with their histories. Their ids must be free."""
        index, present, past, newest = IndexChanges(self._home.collection), [], [], []
        collection = self._home.collection.number
        for history in histories:
            *older, last = history.versions
            place = RowPlace(self._counters.tenant, self._counters.next_row(), last.at)
            plain = ids.address(history.id).id
            self._counters.note_id(plain)
            past += [_past_row(place, collection, version) for version in older]
            present.append(present_row(last.memory, place, collection, plain, record_of(last.memory)))
            newest.append((place.row, last))
            index.add(last.memory, place)
        self._statements.add_memory.run_tuples(self._connection, present)
        self._statements.add_version.run_tuples(self._connection, past)
        self._statements.copy_to_versions.run(self._connection, _alike(self._address, newest))
        self._counters.count_indexed(*index.write(self._connection, self._statements))
        self._counters.save(self._transaction)

    def restore_edges(self, edges: Sequence[Relation], counters: Counters) -> int:
        """Add relations that are not here and whose memories are, and remove those that were removed since; returns
        how many were new.
        """
        self._counters.note_id(counters.last_id)
        self._counters.last_relation = max(self._counters.last_relation, counters.last_relation)
        here = list(self.edges(self._home)) if edges else []
        known, taken = set(map(_triple, here)), {int(edge.id) for edge in here}
        # The same relation, whether it is active or removed, has the same triple and creation time.
        lives = {(*_triple(edge)[:3], edge.created_at): edge for edge in here}
        rows = self._rows_of({end for edge in edges for end in (edge.source, edge.target)})
        added = 0
        for edge in edges:
            if _triple(edge) in known:
                continue
            if same := lives.get((*_triple(edge)[:3], edge.created_at)):
                if same.removed_at is None:
                    self._end_edge(same, edge)
                    known.discard(_triple(same))
                continue
            number = self._counters.next_relation() if int(edge.id) in taken else int(edge.id)
            self._counters.last_relation = max(self._counters.last_relation, number)
            taken.add(number)
            if edge.removed_at is None:
                # Only one relation of a triple can be active; two removed ones may be equal.
                known.add(_triple(edge))
            added += 1
            values = _edge_row(self._address, number, rows[edge.source], rows[edge.target], edge)
            self._connection.execute(insert(relations), values)
        self._counters.save(self._transaction)
        return added

    def _end_edge(self, known: Relation, ended: Relation) -> None:
        its = (of_home(relations), relations.c.id == int(known.id))
        taken_back = {"removed_at": ended.removed_at, "removed_by": ended.removed_by}
        self._connection.execute(update(relations).where(*its).values(taken_back), self._here)

    def restoring_workspace(self) -> SqlWorkspaceArchive:
        """The workspace in this transaction, which holds the tenant's lock."""
        return SqlWorkspaceArchive(self._connection, self._counters.tenant)

    def restoring_feedback(self) -> SqlFeedbackArchive:
        """Feedback in this transaction."""
        return SqlFeedbackArchive(self._connection, self._counters.tenant)

    def _rows_of(self, wanted: set[str]) -> dict[str, int]:
        named = {ids.address(id).id: id for id in wanted}
        found = self._connection.execute(
            select(memories.c.id, memories.c.row).where(of_home(memories), memories.c.id.in_(sorted(named))),
            self._here,
        )
        rows = {named[id]: row for id, row in found}
        if missing := sorted(wanted - rows.keys()):
            raise invalid("relation", f"connects memories that do not exist here: {', '.join(missing[:5])}")
        return rows

    def reindex(self) -> tuple[int, int]:
        """Drop everything derived from the tenant's rows and derive it again; returns the numbers of memories and
        postings.
        """
        self._heal_rows()
        self._heal_counters()
        self._heal_ids()
        self._heal_feedback()
        for table in (postings, terms, facets, audience_counts):
            self._connection.execute(delete(table).where(of_home(table)), self._here)
        self._counters.documents = self._counters.words = 0
        memories_seen = postings_written = 0
        index, wanted = IndexChanges(self._home.collection), dict[int, ExpectedVectors]()
        for memory in list(self.memories(self._home)):
            assert memory.place is not None
            index.add(memory, memory.place)
            wanted[memory.place.row] = expected_vectors(memory)
            memories_seen += 1
            if index.size > 100_000:
                postings_written += index.size
                self._counters.count_indexed(*index.write(self._connection, self._statements))
                index = IndexChanges(self._home.collection)
        postings_written += index.size
        self._counters.count_indexed(*index.write(self._connection, self._statements))
        self._counters.save(self._transaction)
        mend(self._connection, self._address, wanted)
        return memories_seen, postings_written

    def keep_vectors(self, memory: Memory, model: EmbeddingModel, passages: Sequence[Passage]) -> bool:
        """Store a memory's vectors if its text is still the same; False if it has changed or is gone."""
        assert memory.place is not None
        present = self.rows(self._home, [memory.place.row])
        if not present or embedded_text(present[0]) != embedded_text(memory):
            return False
        kept = self._embeddings.keep(present[0], model, passages)
        if kept:
            self.jobs.drop(memory.place.row)
        return kept

    def drop_vectors(self, of: EmbeddingModel | None = None) -> None:
        """Drop every vector of the home, so that all can be remade; or only those of one model."""
        self._embeddings.clear(of)

    def _heal_rows(self) -> None:
        """Rewrite the columns that repeat a part of the record for the sake of indexes."""
        statement = select(memories.c.row, memories.c.audience, memories.c.content_hash)
        found = self._connection.execute(statement.where(of_home(memories)), self._here).all()
        written = {row: (audience, digest) for row, audience, digest in found}
        for memory in list(self.memories(self._home)):
            assert memory.place is not None
            right = {"audience": audience_of(memory), "content_hash": content_hash(memory.content)}
            if written.get(memory.place.row) != tuple(right.values()):
                here = (of_home(memories), memories.c.row == memory.place.row)
                self._connection.execute(update(memories).where(*here).values(right), self._here)

    def _heal_ids(self) -> None:
        """Give the next free number to a memory whose number has more digits than an id may have: nobody could name
        it.
        """
        too_long = select(memories.c.row, memories.c.id).where(
            of_home(memories), func.length(memories.c.id) > ID_CHARACTERS
        )
        for row, before in self._connection.execute(too_long.order_by(memories.c.row), self._here).all():
            if not ids.is_too_long(before):
                continue
            after = self._counters.next_id()
            while self._connection.execute(_HELD, {**self._here, "named": [after]}).first() is not None:
                after = self._counters.next_id()
            here = (of_home(memories), memories.c.row == row)
            self._connection.execute(update(memories).where(*here).values(id=after), self._here)
            entries = (audit.c.tenant == self._address.number, audit.c.subject == before)
            self._connection.execute(update(audit).where(*entries).values(subject=after))

    def _heal_feedback(self) -> None:
        """Remove feedback about memories that are gone."""
        if self._home.collection is MEMORIES:
            drop_strays(self._connection, self._counters.tenant)

    def _heal_counters(self) -> None:
        """Correct a counter that would give a number twice, or that is far beyond all ids and would give an unusable
        one.
        """
        named = self._connection.execute(select(memories.c.id).where(of_home(memories)), self._here).scalars()
        if int(self._counters.last_id) >= ID_NUMBERS:
            self._counters.last_id = "0"
        for number in sorted(number for id in named if (number := ids.whole_number(id)) is not None):
            self._counters.note_id(str(number))
        last_row, last_relation = (
            self._connection.execute(
                select(func.coalesce(func.max(column), 0)).where(of_home(column.table)), self._here
            ).scalar_one()
            for column in (memories.c.row, relations.c.id)
        )
        self._counters.last_row = max(self._counters.last_row, last_row)
        self._counters.last_relation = max(self._counters.last_relation, last_relation)


def _held_by(key: int) -> tuple[ColumnElement[bool], ...]:
    """Whether a memory has vectors of a model."""
    return same_row(vectors, memories), vectors.c.passage == 0, vectors.c.model == key


_JOB_OF_ITS_OWN: Final = (
    same_home(jobs, memories),
    jobs.c.name == EMBED,
    jobs.c.subject == memories.c.row,
)
_ARCHIVED: Final = (
    select(func.count())
    .select_from(memories)
    .where(of_home(memories), memories.c.status.not_in(sorted(LIVE)))
)
_HELD: Final = select(memories.c.row).where(of_home(memories), one_of(memories.c.id, "named"))
_EVERY: Final = select(*PRESENT).where(of_home(memories)).order_by(memories.c.row)
_COUNT: Final = select(func.count()).select_from(memories).where(of_home(memories))
_CHECK_STATES: Final = (
    select(memories.c.check_state, func.count())
    .where(of_home(memories), memories.c.check_state.is_not(None), memories.c.status.in_(sorted(LIVE)))
    .group_by(memories.c.check_state)
)
_COUNTERS: Final = select(counters).where(of_home(counters))
_PASTS: Final = (
    select(*PAST, *VERSION_COLUMNS)
    .join_from(memories, versions, same_row(memories, versions))
    .where(of_home(memories))
    .order_by(memories.c.row, versions.c.version)
)
_SOURCE, _TARGET = memories.alias("source_memory"), memories.alias("target_memory")


def _end(memory: FromClause, row: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(of_home(memory), memory.c.row == row)


_EDGES: Final = (
    select(relations, _SOURCE.c.id.label("source_id"), _TARGET.c.id.label("target_id"))
    .join(_SOURCE, _end(_SOURCE, relations.c.source))
    .join(_TARGET, _end(_TARGET, relations.c.target))
    .where(of_home(relations))
    .order_by(relations.c.id)
)


def derive_index(connection: Connection, backend: Backend) -> None:
    """Rebuild the index of every home if another version has built it.

    A home with a damaged row keeps its index: the store opens, and `doctor` says what is wrong.
    """
    if built_by(connection) == INDEX_VERSION:
        return
    archive, is_whole = SqlArchive(connection), True
    transaction = Transaction(connection, backend, Statements(backend), Tenants(backend, backend.writing))
    for home in archive.homes():
        before = connection.begin_nested()
        try:
            SqlRestoring(transaction, archive.address(home)).reindex()
        except StoreUnavailable:
            before.rollback()
            is_whole = False
        else:
            before.commit()
    if is_whole:
        note_index(connection, backend)


def built_by(connection: Connection) -> str | None:
    """Which analyzer and weights the index was built with."""
    return fact(connection, _INDEX_FACT)


def note_index(connection: Connection, backend: Backend) -> None:
    """Record that the whole index is built with the analyzer and weights of this version."""
    keep_fact(connection, backend, _INDEX_FACT, INDEX_VERSION)


def _alike(address: HomeAddress, newest: Iterable[tuple[int, Version]]) -> Iterator[dict[str, object]]:
    """Groups of neighbouring rows that the same author changed in the same way."""
    for (change, by, origin), rows in groupby(
        newest, key=lambda each: (each[1].change, each[1].by, each[1].origin)
    ):
        numbers = [row for row, _ in rows]
        yield {
            "as_change": change,
            "as_changed_by": by,
            "as_changed_as": origin,
            "at_tenant": address.number,
            "at_collection": address.home.collection.number,
            "first": numbers[0],
            "last": numbers[-1],
        }


def _past_row(place: RowPlace, collection: int, version: Version) -> Stored:
    there = RowPlace(place.tenant, place.row, version.at)
    change = Change(version.change, version.by, version.origin, version.at)
    return version_row(version.memory, there, collection, change, version.until, record_of(version.memory))


def _triple(edge: Relation) -> tuple[object, ...]:
    """What identifies an edge: its triple, and for a removed edge its times too."""
    times = (edge.created_at, edge.removed_at) if edge.removed_at else ()
    return edge.source, edge.relation, edge.target, *times


def _edge_row(
    address: HomeAddress, number: int, source: int, target: int, edge: Relation
) -> dict[str, object]:
    return {
        "tenant": address.number,
        "collection": address.home.collection.number,
        "id": number,
        "source": source,
        "relation": edge.relation,
        "target": target,
        "created_at": edge.created_at,
        "created_by": edge.created_by,
        "removed_at": edge.removed_at,
        "removed_by": edge.removed_by,
    }
