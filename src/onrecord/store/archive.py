"""HOW is the whole store read and refilled? Past every caller, for moving, checking and rebuilding it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, update

from onrecord.errors import Fault, Invalid
from onrecord.model import ids
from onrecord.model.embedding import Model, Passage, embedded_text
from onrecord.model.memory import Change, Memory, Place, Relation, Version
from onrecord.store import queue
from onrecord.store.audience import audience_of
from onrecord.store.backend import Backend
from onrecord.store.embeddings import COVERAGE, Embeddings, read_coverage
from onrecord.store.index import INDEX_VERSION
from onrecord.store.index_changes import IndexChanges
from onrecord.store.misfits import Wanted, mend, wanted_of
from onrecord.store.paper_archive import SqlPaperArchive
from onrecord.store.port import Counters, Coverage, Dossier, Job
from onrecord.store.prepared import Statements
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
from onrecord.store.several import one_of
from onrecord.store.tables import (
    facets,
    jobs,
    memories,
    models,
    postings,
    relations,
    store_facts,
    tenants,
    terms,
    vectors,
    versions,
)
from onrecord.store.tenant import LockedTenant

_BATCH: Final = 500
INDEX_FACT: Final = "index"


class SqlArchive:
    """The whole store in one consistent state."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def tenants(self) -> list[str]:
        return sorted(self._connection.execute(select(tenants.c.name)).scalars())

    def key(self, tenant: str) -> int | None:
        return self._connection.execute(
            select(tenants.c.key).where(tenants.c.name == tenant)
        ).scalar_one_or_none()

    def counters(self, tenant: str) -> Counters:
        row = self._connection.execute(select(tenants).where(tenants.c.name == tenant)).one()
        return Counters(row.last_id, row.last_relation)

    def count(self, tenant: str) -> int:
        held = select(func.count()).select_from(memories).where(memories.c.tenant == self.key(tenant))
        return int(self._connection.execute(held).scalar_one())

    def memories(self, tenant: str) -> Iterator[Memory]:
        """Every memory as it stands, in the order of their rows."""
        key = self.key(tenant)
        if key is not None:
            statement = select(*PRESENT).where(memories.c.tenant == key).order_by(memories.c.row)
            for row in self._connection.execute(statement.execution_options(yield_per=_BATCH)):
                yield read_memory(row, {key: tenant})

    def dossiers(self, tenant: str, wanted: Sequence[str] | None = None) -> Iterator[Dossier]:
        """Every memory with its past, in the order of their rows; or only those of some ids."""
        key = self.key(tenant)
        if key is None:
            return
        if wanted is not None:
            # Most of what an import brings is not here yet, and one look at the ids says so.
            named = [ids.address(id).id for id in wanted]
            here = self._connection.execute(_HELD, {"home": key, "named": named}).scalars().all()
            if not here:
                return
        same_row = (memories.c.tenant == versions.c.tenant) & (memories.c.row == versions.c.row)
        statement = (
            select(*PAST, *VERSION_COLUMNS)
            .join_from(memories, versions, same_row)
            .where(memories.c.tenant == key)
            .order_by(memories.c.row, versions.c.version)
            .execution_options(yield_per=_BATCH)
        )
        if wanted is not None:
            statement = statement.where(memories.c.row.in_(sorted(here)))
        for _, rows in groupby(self._connection.execute(statement), key=lambda row: row.row):
            told = tuple(read_version(row, {key: tenant}, None) for row in rows)
            yield Dossier(told[-1].memory.id, told)

    def rows(self, tenant: str, wanted: Sequence[int]) -> list[Memory]:
        """The memories in some rows, as they stand."""
        key = self.key(tenant)
        statement = select(*PRESENT).where(memories.c.tenant == key, one_of(memories.c.row, "wanted"))
        found = self._connection.execute(statement.order_by(memories.c.row), {"wanted": list(wanted)})
        return [read_memory(row, {row[0]: tenant}) for row in found.all()]

    def unembedded(self, tenant: str, model: Model, most: int, after: int = 0) -> list[Memory]:
        """Memories that have no vectors of this model, in the order of their rows."""
        key = self.key(tenant)
        held = exists().where(
            vectors.c.tenant == memories.c.tenant,
            vectors.c.row == memories.c.row,
            vectors.c.passage == 0,
            vectors.c.model == models.c.key,
            *(models.c[name] == value for name, value in model._asdict().items()),
        )
        statement = select(*PRESENT).where(memories.c.tenant == key, memories.c.row > after, ~held)
        found = self._connection.execute(statement.order_by(memories.c.row).limit(most))
        return [read_memory(row, {row[0]: tenant}) for row in found.all()]

    def coverage(self, tenant: str) -> list[Coverage]:
        """How far each model has come."""
        key = self.key(tenant)
        homes = {"homes": [] if key is None else [key]}
        return read_coverage(self._connection.execute(COVERAGE, homes).all())

    def jobs(self, tenant: str) -> tuple[int, int]:
        """How many jobs wait, and how many have failed for good."""
        failed = func.count().filter(jobs.c.attempts >= queue.MOST_ATTEMPTS)
        counts = select(func.count() - failed, failed).where(jobs.c.tenant == self.key(tenant))
        waiting, given_up = self._connection.execute(counts).one()
        return int(waiting), int(given_up)

    def edges(self, tenant: str) -> Iterator[Relation]:
        """Every relation, those taken back included."""
        source, target = memories.alias("source_memory"), memories.alias("target_memory")
        statement = (
            select(relations, source.c.id.label("source_id"), target.c.id.label("target_id"))
            .join(source, (source.c.tenant == relations.c.tenant) & (source.c.row == relations.c.source))
            .join(target, (target.c.tenant == relations.c.tenant) & (target.c.row == relations.c.target))
            .where(relations.c.tenant == self.key(tenant))
            .order_by(relations.c.id)
        )
        for row in self._connection.execute(statement):
            yield read_relation(row, ids.spell(tenant, row.source_id), ids.spell(tenant, row.target_id))

    def papers(self, tenant: str) -> SqlPaperArchive:
        return SqlPaperArchive(self._connection, tenant)


class SqlRestoring(SqlArchive):
    """One transaction in one tenant that takes in what was exported, or derives its index anew."""

    def __init__(self, connection: Connection, statements: Statements, backend: Backend, tenant: str) -> None:
        super().__init__(connection)
        self._statements = statements
        self._backend = backend
        self._tenant = LockedTenant.take(connection, statements, tenant)
        self._embeddings = Embeddings(connection, backend, self._tenant.key)

    def finish_embedding(self) -> None:
        self._embeddings.finish()

    def restore(self, dossiers: Iterable[Dossier]) -> None:
        """Add memories with their past. Their ids must be free."""
        index, present, past, newest = IndexChanges(), [], [], []
        for dossier in dossiers:
            *older, last = dossier.versions
            place = Place(self._tenant.key, self._tenant.next_row(), last.at)
            plain = ids.address(dossier.id).id
            self._tenant.note_id(plain)
            past += [_past_row(place, version) for version in older]
            present.append(present_row(last.memory, place, plain, record_of(last.memory)))
            newest.append((place.row, last))
            index.add(last.memory, place)
        self._statements.add_memory.run_tuples(self._connection, present)
        self._statements.add_version.run_tuples(self._connection, past)
        self._statements.copy_to_versions.run(self._connection, _alike(self._tenant.key, newest))
        self._tenant.count_indexed(*index.write(self._connection, self._statements))
        self._tenant.save(self._connection)

    def restore_edges(self, edges: Sequence[Relation], counters: Counters) -> int:
        """Add relations whose ends are here and whose triple is not; gives how many were new."""
        self._tenant.note_id(counters.last_id)
        self._tenant.last_relation = max(self._tenant.last_relation, counters.last_relation)
        here = list(self.edges(self._tenant.name)) if edges else []
        known, taken = set(map(_triple, here)), {int(edge.id) for edge in here}
        rows = self._rows_of({end for edge in edges for end in (edge.source, edge.target)})
        added = 0
        for edge in edges:
            if _triple(edge) in known:
                continue
            number = self._tenant.next_relation() if int(edge.id) in taken else int(edge.id)
            self._tenant.last_relation = max(self._tenant.last_relation, number)
            taken.add(number)
            if edge.removed_at is None:
                # Only one of a triple can stand; two taken back within one moment may well look alike.
                known.add(_triple(edge))
            added += 1
            values = _edge_row(self._tenant.key, number, rows[edge.source], rows[edge.target], edge)
            self._connection.execute(insert(relations), values)
        self._tenant.save(self._connection)
        return added

    def restoring_papers(self) -> SqlPaperArchive:
        """In this transaction, which holds the tenant's row."""
        return self.papers(self._tenant.name)

    def _rows_of(self, wanted: set[str]) -> dict[str, int]:
        named = {ids.address(id).id: id for id in wanted}
        found = self._connection.execute(
            select(memories.c.id, memories.c.row).where(
                memories.c.tenant == self._tenant.key, memories.c.id.in_(sorted(named))
            )
        )
        rows = {named[id]: row for id, row in found}
        if missing := sorted(wanted - rows.keys()):
            raise Invalid([Fault("relation", f"joins memories that are not here: {', '.join(missing[:5])}")])
        return rows

    def reindex(self) -> tuple[int, int]:
        """Drop what is derived from the tenant's rows and derive it again; gives memories and postings."""
        self._heal_rows()
        self._heal_counters()
        for table in (postings, terms, facets):
            self._connection.execute(delete(table).where(table.c.tenant == self._tenant.key))
        self._tenant.documents = self._tenant.words = 0
        memories_seen = postings_written = 0
        index, wanted = IndexChanges(), dict[int, Wanted]()
        for memory in list(self.memories(self._tenant.name)):
            assert memory.place is not None
            index.add(memory, memory.place)
            wanted[memory.place.row] = wanted_of(memory)
            memories_seen += 1
            if index.size > 100_000:
                postings_written += index.size
                self._tenant.count_indexed(*index.write(self._connection, self._statements))
                index = IndexChanges()
        postings_written += index.size
        self._tenant.count_indexed(*index.write(self._connection, self._statements))
        self._tenant.save(self._connection)
        mend(self._connection, self._tenant.key, wanted)
        return memories_seen, postings_written

    def keep_vectors(self, memory: Memory, model: Model, passages: Sequence[Passage]) -> bool:
        """Give a memory its vectors, if it still says what it said; False if it does not, or is gone."""
        assert memory.place is not None
        present = self.rows(self._tenant.name, [memory.place.row])
        if not present or embedded_text(present[0]) != embedded_text(memory):
            return False
        kept = self._embeddings.keep(present[0], model, passages)
        if kept:
            queue.drop(self._connection, self._tenant.key, memory.place.row)
        return kept

    def drop_vectors(self) -> None:
        """Give up every vector of the tenant, to be made anew."""
        self._embeddings.clear()

    def ask_for(self, job: str, due: datetime) -> None:
        """A job for the tenant as a whole."""
        queue.add(self._connection, self._backend, self._tenant.key, job, 0, due)

    def withdraw(self, job: str) -> None:
        """Take back a job for the tenant as a whole."""
        queue.withdraw(self._connection, self._tenant.key, job)

    def finish(self, done: Sequence[Job]) -> None:
        queue.finish(self._connection, self._tenant.key, done)

    def postpone(self, job: Job, due: datetime, error: str | None) -> None:
        queue.postpone(self._connection, self._tenant.key, job, due, error)

    def retry_failed(self, now: datetime) -> None:
        queue.retry_failed(self._connection, self._tenant.key, now)

    def _heal_rows(self) -> None:
        """What a row says a second time, for the sake of its indexes, follows from its record."""
        statement = select(memories.c.row, memories.c.audience, memories.c.content_hash)
        found = self._connection.execute(statement.where(memories.c.tenant == self._tenant.key)).all()
        written = {row: (audience, digest) for row, audience, digest in found}
        for memory in list(self.memories(self._tenant.name)):
            assert memory.place is not None
            right = {"audience": audience_of(memory), "content_hash": content_hash(memory.content)}
            if written.get(memory.place.row) != tuple(right.values()):
                here = (memories.c.tenant == self._tenant.key) & (memories.c.row == memory.place.row)
                self._connection.execute(update(memories).where(here).values(right))

    def _heal_counters(self) -> None:
        """A counter that is behind would give a number twice."""
        for id in self._connection.execute(
            select(memories.c.id).where(memories.c.tenant == self._tenant.key)
        ).scalars():
            self._tenant.note_id(id)
        last_row, last_relation = (
            self._connection.execute(
                select(func.coalesce(func.max(column), 0)).where(column.table.c.tenant == self._tenant.key)
            ).scalar_one()
            for column in (memories.c.row, relations.c.id)
        )
        self._tenant.last_row = max(self._tenant.last_row, last_row)
        self._tenant.last_relation = max(self._tenant.last_relation, last_relation)


_HELD: Final = select(memories.c.row).where(
    memories.c.tenant == bindparam("home"), one_of(memories.c.id, "named")
)


def note_index(connection: Connection, backend: Backend) -> None:
    """Record which analyzer and weights the index was built with."""
    fact = backend.insert(store_facts).values(name=INDEX_FACT, value=INDEX_VERSION)
    connection.execute(fact.on_conflict_do_update(index_elements=["name"], set_={"value": INDEX_VERSION}))


def _alike(tenant: int, newest: Iterable[tuple[int, Version]]) -> Iterator[dict[str, object]]:
    """Rows in a row that were changed in the same way by the same one, together."""
    for (change, by, origin), rows in groupby(
        newest, key=lambda each: (each[1].change, each[1].by, each[1].origin)
    ):
        numbers = [row for row, _ in rows]
        yield {
            "as_change": change,
            "as_changed_by": by,
            "as_changed_as": origin,
            "at_tenant": tenant,
            "first": numbers[0],
            "last": numbers[-1],
        }


def _past_row(place: Place, version: Version) -> Stored:
    there = Place(place.tenant, place.row, version.at)
    change = Change(version.change, version.by, version.origin, version.at)
    return version_row(version.memory, there, change, version.until, record_of(version.memory))


def _triple(edge: Relation) -> tuple[object, ...]:
    """What makes an edge the same: among those that stand, its triple; among those taken back, their times too."""
    times = (edge.created_at, edge.removed_at) if edge.removed_at else ()
    return edge.source, edge.relation, edge.target, *times


def _edge_row(tenant: int, number: int, source: int, target: int, edge: Relation) -> dict[str, object]:
    return {
        "tenant": tenant,
        "id": number,
        "source": source,
        "relation": edge.relation,
        "target": target,
        "created_at": edge.created_at,
        "created_by": edge.created_by,
        "removed_at": edge.removed_at,
        "removed_by": edge.removed_by,
    }
