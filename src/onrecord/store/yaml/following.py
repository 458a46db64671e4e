"""HOW does the index follow the files? It is rebuilt from the history, and then people's edits are applied to it.

The history holds the state of each memory when a program last wrote. If memories.yaml differs, a person has changed
it: a changed entry becomes a revision by `file`, a new entry a new memory, and a missing entry is forgotten.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection, and_, delete, select, update

from onrecord.errors import Fault, Invalid
from onrecord.model.caller import Caller
from onrecord.model.checks import Check, proposed
from onrecord.model.collections import Home
from onrecord.model.embedding import EmbeddingModel, Passage, embedded_text, text_hash
from onrecord.model.limits import GLOBAL_TENANT, PERMISSIONS
from onrecord.model.memory import Change, Memory, claim, with_checks
from onrecord.model.shapes import Faults
from onrecord.store.backend import Backend
from onrecord.store.index.embeddings import Embeddings
from onrecord.store.ports.archive import Counters
from onrecord.store.ports.jobs import EMBED, EXTRACT
from onrecord.store.prepared import Statements
from onrecord.store.records.archive import SqlArchive, SqlRestoring, note_index
from onrecord.store.records.queue import JobQueue
from onrecord.store.records.waiting_turns import numbers_of, tenants_waiting
from onrecord.store.records.writing import SqlWriting
from onrecord.store.tables import (
    audience_counts,
    counters,
    embedded,
    facets,
    jobs,
    memories,
    postings,
    relations,
    terms,
    vectors,
    versions,
)
from onrecord.store.tenant import HomeAddress, Tenants, of_home
from onrecord.store.transaction import Transaction
from onrecord.store.yaml.document import Slot, YamlDocument, YamlEntry
from onrecord.store.yaml.entries import (
    DEFAULT_TENANT,
    FILE,
    EntryKey,
    identity_of,
    key_of,
    memory_of,
)
from onrecord.store.yaml.history import ReadHistory

# How many faults an error lists.
_MOST_FAULTS: Final = 20
_DERIVED: Final = (memories, versions, relations, postings, terms, facets, audience_counts, jobs)

#: The vectors of a text, by the text and the model.
Kept = dict[tuple[str, EmbeddingModel], list[Passage]]
Clean = Callable[[Memory], Memory]


@dataclass(slots=True)
class FileIndex:
    """The index within one transaction, and the time of it."""

    connection: Connection
    statements: Statements
    backend: Backend
    now: datetime
    #: Removes secrets from entries that people write.
    clean: Clean

    @property
    def archive(self) -> SqlArchive:
        return SqlArchive(self.connection)

    @contextmanager
    def writing(self, tenant: str) -> Iterator[SqlWriting]:
        own = DEFAULT_TENANT if tenant == GLOBAL_TENANT else tenant
        caller = Caller(tenant=own, user=FILE, permissions=frozenset(PERMISSIONS))
        self.address(Home(own))
        writing = SqlWriting(self.transaction, caller, self.now, self.address(Home(tenant)))
        yield writing
        writing.finish()

    @property
    def transaction(self) -> Transaction:
        # A new `Tenants`, since a registration is lost if this transaction is rolled back.
        tenants = Tenants(self.backend, self.backend.writing)
        return Transaction(self.connection, self.backend, self.statements, tenants)

    def address(self, home: Home) -> HomeAddress:
        """The address of a home, registered in this transaction: all of this store is in one place."""
        return HomeAddress(self.transaction.tenants.register_in(self.connection, home.tenant), home)

    def change(self, name: str) -> Change:
        return Change(name, FILE, "import", self.now)


# From the history


def derive(index: FileIndex, history: ReadHistory) -> Kept:
    """Rebuild everything from the history; returns the vectors that were there, by text."""
    kept, archive = _vectors(index.connection), index.archive
    # A home that is gone from the history keeps its counters, since other processes compare its number of changes.
    emptied = {home for home in archive.homes() if archive.count(home)}
    for home in sorted(history.homes | emptied, key=str):
        address = index.address(home)
        for table in _DERIVED:
            index.connection.execute(delete(table).where(of_home(table)), address.parameters)
        none = {"documents": 0, "words": 0, "last_id": "0", "last_relation": 0}
        index.connection.execute(update(counters).where(of_home(counters)).values(none), address.parameters)
        restoring = SqlRestoring(index.transaction, address)
        restoring.drop_vectors()
        restoring.restore(history.histories.get(home, ()))
        restoring.restore_edges(history.edges.get(home, ()), history.counters.get(home, Counters("0", 0)))
        restoring.finish_embedding()
    for number in tenants_waiting(index.connection):
        # Their rows lie beside the index, and their jobs in it.
        queue = JobQueue(index.connection, index.backend, HomeAddress(number, Home(DEFAULT_TENANT)))
        for turn in numbers_of(index.connection, number):
            queue.add(EXTRACT, index.now, turn)
    note_index(index.connection, index.backend)
    return kept


def _vectors(connection: Connection) -> Kept:
    import numpy as np

    kept: Kept = {}
    model = (embedded.c.name, embedded.c.dimensions, embedded.c.file_hash)
    statement = select(vectors.c.text_hash, *model, vectors.c.vector, vectors.c.tokens, vectors.c.passage)
    same = (vectors.c[name] == embedded.c[name] for name in ("tenant", "collection", "model"))
    statement = statement.join_from(vectors, embedded, and_(*same))
    order = (vectors.c.tenant, vectors.c.collection, vectors.c.row, vectors.c.passage)
    for row in connection.execute(statement.order_by(*order)):
        passages = kept.setdefault(
            (row.text_hash, EmbeddingModel(row.name, row.dimensions, row.file_hash)), []
        )
        if len(passages) == row.passage:
            tokens = None if row.tokens is None else np.frombuffer(row.tokens, np.int8)
            passages.append(Passage(row.vector, tokens))
    return kept


def bring_back(index: FileIndex, kept: Kept) -> None:
    """Store the vectors of the memories again; a memory without any gets a job."""
    used = {model for _, model in kept}
    for home in index.archive.homes():
        address = index.archive.address(home)
        embeddings, missing = Embeddings(index.connection, address), 0
        for memory in list(index.archive.memories(home)):
            digest = text_hash(embedded_text(memory))
            held = [embeddings.keep(memory, model, kept.get((digest, model), ())) for model in used]
            missing += not all(held)
        embeddings.finish()
        if missing:
            JobQueue(index.connection, index.backend, address).add(EMBED, index.now)


# From the file


class EntriesMissing(Exception):
    """Entries are missing from a file that was changed a moment ago; perhaps it is still being written."""


class _Edit(NamedTuple):
    """An entry that is new, or differs from what is known."""

    slot: Slot
    memory: Memory
    known: Memory | None


def take_edits(index: FileIndex, document: YamlDocument, name: str, *, calm: bool) -> None:
    """Apply people's edits to the index. If the store has vectors, the new texts need them too."""
    archive = index.archive
    shown = [home for home in archive.homes() if home.collection.stands_in_file]
    known = {key_of(memory): memory for home in shown for memory in archive.memories(home)}
    edits = _edits(index, document, known, name)
    gone = known.keys() - {slot.key for slot in document.slots}
    if gone and not calm:
        raise EntriesMissing
    has_vectors = index.connection.execute(select(vectors.c.row).limit(1)).first() is not None
    for tenant in sorted({edit.memory.tenant for edit in edits}):
        with index.writing(tenant) as writing:
            for edit in edits:
                if edit.memory.tenant == tenant:
                    saved = _save(index, writing, edit)
                    edit.slot.key = key_of(saved)
                    if has_vectors:
                        writing.embed(saved, None, ())
    # Last, so that an entry that still refers to what is gone loses the reference.
    for tenant in sorted({key.tenant for key in gone}):
        with index.writing(tenant) as writing:
            for key in sorted(gone):
                if key.tenant == tenant:
                    writing.erase(writing.target(key.id), index.change("forget"))


def _save(index: FileIndex, writing: SqlWriting, edit: _Edit) -> Memory:
    memory = index.clean(_with_known_checks(edit.memory, edit.known))
    if edit.known is None:
        return writing.add(memory, index.change("remember"))
    after = replace(memory, updated_at=max(index.now, edit.known.updated_at))
    return writing.replace(edit.known, after, index.change("revise"))


def _with_known_checks(memory: Memory, known: Memory | None) -> Memory:
    """The memory without what only its file says of its checks: nobody approves one by an edit by hand, nor verifies it."""
    if not memory.checks:
        return memory
    there = {} if known is None else {each.definition: each for each in known.checks}
    says_the_same = known is not None and claim(known) == claim(memory)

    def checked(each: Check) -> Check:
        found = there.get(each.definition)
        return found if found is not None and says_the_same else proposed(each)

    return with_checks(memory, map(checked, memory.checks))


def _edits(
    index: FileIndex, document: YamlDocument, known: Mapping[EntryKey, Memory], name: str
) -> list[_Edit]:
    """The entries that differ from what is known. Every slot whose entry has an id gets its key."""
    edits, faults, first = [], list[Fault](), dict[EntryKey, tuple[int, Memory]]()
    for slot in list(document.slots):
        entry = slot.entry
        assert entry is not None
        try:
            key = _identity(entry)
            if key is not None and not Home.named(key.tenant).collection.stands_in_file:
                document.leave_out(slot)
                continue
            memory = memory_of(entry.values, index.now, known.get(key) if key else None)
        except Faults as wrong:
            faults += [_fault(name, entry, fault) for fault in wrong.faults]
            continue
        if key is None:
            edits.append(_Edit(slot, memory, None))
            continue
        if key in first:
            line, other = first[key]
            if _says_the_same(memory, other):
                document.leave_out(slot)
                continue
            again = f"the id {key.id} is used at line {line} already; give one of them another id, or none"
            faults.append(_fault(name, entry, Fault("id", again)))
            continue
        slot.key, first[key] = key, (entry.line_of("id"), memory)
        if memory != known.get(key):
            edits.append(_Edit(slot, memory, known.get(key)))
    if faults:
        raise Invalid(faults[:_MOST_FAULTS])
    # Those with an id first, so that none of these is given to another.
    return sorted(edits, key=lambda edit: not edit.memory.id)


def _says_the_same(memory: Memory, other: Memory) -> bool:
    """Whether two entries are the same apart from times: ids were numbers once, and a file may hold `42` and `"42"`."""
    times = {name: getattr(other, name) for name in ("created_at", "updated_at", "valid_from")}
    return replace(memory, **times) == other


def _identity(entry: YamlEntry) -> EntryKey | None:
    """Which memory an entry describes; None if it has no id yet, or an impossible one."""
    try:
        key = identity_of(entry.values)
    except ValueError:
        return None
    return key if key.id else None


def _fault(name: str, entry: YamlEntry, fault: Fault) -> Fault:
    return Fault(f"{name}, line {entry.line_of(fault.field)}, {fault.field}", fault.message)
