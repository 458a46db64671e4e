"""WHAT can be changed? One transaction in one tenant: rows, versions, index and counters together."""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property
from itertools import accumulate
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    Text,
    and_,
    case,
    cast,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from onrecord.errors import Conflict, Forbidden, HigherTier, StoreUnavailable, no_memory
from onrecord.model import ids
from onrecord.model.caller import GLOBAL_IS_GIVEN, Caller
from onrecord.model.checks import CheckRun
from onrecord.model.collections import ENTITIES, Collection
from onrecord.model.embedding import EmbeddingModel, Passage, embedded_text, text_hash
from onrecord.model.ledger import TenantSettings
from onrecord.model.limits import GLOBAL_TENANT, ID_CHARACTERS, RelationName
from onrecord.model.memory import Change, Memory, Relation, RowPlace
from onrecord.model.rights import is_common
from onrecord.model.tiers import ACTING, WORDS, is_outranked
from onrecord.model.workspace import ConversationKey
from onrecord.store.audience import GLOBAL, TENANT, audience_of, may_add
from onrecord.store.index.changes import IndexChanges
from onrecord.store.index.embeddings import Embeddings
from onrecord.store.index.entries import proposal_facet, reference_facet
from onrecord.store.locked_home import LockedHome
from onrecord.store.ports.jobs import EMBED, EXTRACT
from onrecord.store.ports.records import Alike, Erased, SaveCounts
from onrecord.store.ports.workspace import NamedConversation, WaitingTurn
from onrecord.store.prepared import Prepared
from onrecord.store.records import alike, duplicates, ledger
from onrecord.store.records.check_runs import drop_runs, keep_run
from onrecord.store.records.feedback import SqlWritableFeedback, drop_feedback_of
from onrecord.store.records.ledger import AuditNumbers
from onrecord.store.records.membership import spoken_in
from onrecord.store.records.people import forget_questions
from onrecord.store.records.queue import JobQueue
from onrecord.store.records.reading import SqlReading
from onrecord.store.records.requests import SqlRequests
from onrecord.store.records.workspace import SqlWritableWorkspace
from onrecord.store.rows import (
    PRESENT,
    AnyRow,
    Stored,
    present_row,
    read_memory,
    read_relation,
    record_of,
    version_row,
)
from onrecord.store.tables import audit, facets, memories, relations, tenants, versions
from onrecord.store.tenant import HomeAddress, of_home
from onrecord.store.timestamps import microseconds_of
from onrecord.store.transaction import Transaction
from onrecord.store.view import NAMED, View, called, key_of
from onrecord.store.visibility import Visibility, changeable, left_behind, visible_by_id, whose


class SqlWriting(SqlReading):
    """One transaction in one tenant. `finish` writes what was gathered; the back end commits."""

    def __init__(
        self,
        transaction: Transaction,
        caller: Caller,
        now: datetime,
        address: HomeAddress,
        here: NamedConversation | None = None,
        *,
        before: AbstractSet[int] | None = None,
    ) -> None:
        home = address.home
        if home.tenant not in (caller.tenant, GLOBAL_TENANT):
            raise Forbidden("A caller may write only in its own tenant and to global memories.")
        self._address = address
        self._home = home.tenant
        self._counters = LockedHome.take(transaction, address)
        self._pending = IndexChanges(home.collection)
        #: The rows that parts of the transaction have added before; None if they have changed nothing.
        self._before = before
        self._embeddings = Embeddings(transaction.connection, address, follows_changes=before is not None)
        self._jobs = JobQueue(transaction.connection, transaction.backend, address)
        self._changed = self._erased = False
        # The rows that this transaction found to be the caller's to change.
        self._own: set[tuple[int, int]] = set()
        # Others' rows that the tenant lets the caller correct, and not move.
        self._common: set[tuple[int, int]] = set()
        # Those that it added itself.
        self._new: set[tuple[int, int]] = set()
        self._others: dict[Collection, SqlWriting] = {}
        self._holds_caller = home.tenant == caller.tenant
        self._audit = AuditNumbers(transaction)
        self.requests = SqlRequests(transaction)
        self.residue: str | None = None
        held = {home.tenant: self._counters}
        super().__init__(transaction, caller, now, home.collection, held, is_settled=False, here=here)

    @cached_property
    def workspace(self) -> SqlWritableWorkspace:
        if self._home != self._caller.tenant:
            # An export includes a tenant that has saved nothing yet only if it has counters.
            LockedHome.take(self._transaction, self._view.address)
            self._holds_caller = True
            if self._spoken_in is not None and self._spoken_in.begun is None:
                # Until now someone else may have begun it.
                _, self._spoken_in = spoken_in(self._connection, self._view.tenant, self._caller)
        return SqlWritableWorkspace(
            self._connection, self._view.tenant, self._caller, self._spoken_in, self._now
        )

    @property
    def feedback(self) -> SqlWritableFeedback:
        self._hold_caller()
        return SqlWritableFeedback(self._connection, self._view.tenant, self._caller)

    @property
    def erased(self) -> bool:
        """Whether something was erased whose bytes must not stay in the files."""
        in_workspace = "workspace" in self.__dict__ and self.workspace.erased
        return self._erased or in_workspace or any(other.erased for other in self._others.values())

    def finish(self) -> None:
        for other in self._others.values():
            other.finish()
        if not self._changed:
            return
        self._write_index()
        self._embeddings.finish()
        self._counters.save(self._transaction)

    @contextmanager
    def part(self) -> "Iterator[SqlWriting]":
        assert not self._changed, "a transaction with parts changes nothing beside them"
        with self._connection.begin_nested():
            part = SqlWriting(self._transaction, self._caller, self._now, self._address, before=self._before)
            yield part
            part.finish()
        if part._changed:
            self._before = part._added

    def _write_index(self) -> None:
        self._counters.count_indexed(*self._pending.write(self._connection, self._transaction.statements))
        self._pending = IndexChanges(self._collection)

    def target(self, id: str, *, ends: bool = False) -> Memory:
        memory = self.named(id, ends=ends)
        if self.is_outranked(memory):
            raise HigherTier(
                f"The text of memory {id} is {WORDS[memory.tier]}: {ACTING[self._caller.actor]} may not change it directly. "
                "Revise or retire it, which is kept as a proposal, or let a person do it."
            )
        return memory

    def named(self, id: str, *, ends: bool = False, erases: bool = False, by_name: bool = False) -> Memory:
        found = self._changed_by(id, by_name)
        if not found:
            raise no_memory(id)
        return self._let(*self._the_one(id, found), ends=ends, erases=erases)

    def holder(self, id: str) -> Memory | None:
        found = self._changed_by(id, by_name=True)
        own = self._own_of(id, found)
        if own:
            # Otherwise whoever publishes a memory under this name would get what its user wants to keep private.
            return self._let(*found[own[0]][1])
        # What others keep for a few is no reason not to use its name for something new.
        everyones = {each: held for each, held in found.items() if _is_everyones(id, held[1][0])}
        return self._let(*self._the_one(id, everyones)) if everyones else None

    def _changed_by(self, id: str, by_name: bool) -> dict[str, tuple[str, tuple[Memory, AnyRow]]]:
        """The memories that are found by an id, with their owners, each with its row, which says whether the caller may
        change it.
        """
        view, wanted = self._named(id, by_name)
        rows = view.run(_target(view.visibility, by_name), **wanted).all() if view else ()
        read = [(read_memory(row, view.home.tenant), row) for row in rows] if view else []
        return {memory.id: (memory.owner, (memory, row)) for memory, row in read}

    def _let(self, memory: Memory, row: AnyRow, *, ends: bool = False, erases: bool = False) -> Memory:
        """The memory, if the caller may change it; otherwise Forbidden, with the reason."""
        id = memory.id
        if row.is_left and not row.may_change:
            if not ends and not erases:
                raise Forbidden(
                    f"You are no longer in the conversation of memory {id}: you may retire or forget it, not change it."
                )
        elif not row.may_change:
            if not is_common(memory, self._settings, ends=ends):
                given = memory.tenant == GLOBAL_TENANT
                why = f"changing it {GLOBAL_IS_GIVEN}" if given else f"it belongs to {memory.owner}"
                raise Forbidden(f"You may read memory {id} but not change it: {why}.")
            self._common.add(key_of(memory))
        self._let_change(memory)
        return memory

    def _let_change(self, memory: Memory) -> None:
        if not self.is_outranked(memory):
            self._own.add(key_of(memory))

    @cached_property
    def _settings(self) -> TenantSettings:
        """The tenant's settings, read only when they could make a difference."""
        return ledger.settings_of(self._connection, self._view.tenant)

    def is_outranked(self, memory: Memory) -> bool:
        # Records of the catalog come from sources, and have no tiers.
        if not self._collection.is_reviewed or not is_outranked(self._caller, memory):
            return False
        return is_outranked(self._caller, memory, self._settings.agents_share)

    def reviewable(self, id: str, *, by_name: bool = False) -> Memory:
        caller = self._caller
        memory = self.memory(id, by_name=by_name)
        if memory is None:
            raise no_memory(id)
        caller.require("memory.review")
        if caller.actor != "person":
            raise Forbidden("Only a person may review memories: use the key of a person.")
        if memory.scope == "global" and not caller.changes_global:
            raise Forbidden(f"Memory {id} is for every tenant: reviewing it {GLOBAL_IS_GIVEN}.")
        self._own.add(key_of(memory))
        return memory

    def save_counts(self) -> SaveCounts:
        return ledger.save_counts(self._connection, self._caller, self._hold_caller(), self._now)

    def note(self, operation: str, subject: str | None = None) -> None:
        caller = self._caller
        self._note(Change(operation, caller.user, caller.actor, self._now), subject)

    def _note(self, change: Change, subject: str | None) -> None:
        """Add a line to the audit of the caller's own tenant, and one for all other tenants if each of them sees the memory."""
        if self._collection.is_audited:
            number, caller = self._hold_caller(), self._caller
            line = ledger.audit_line(number, caller, change.by, change.origin, change.at)
            lines = [line]
            if self._home == GLOBAL_TENANT:
                everyones = self._counters.tenant
                lines.append(ledger.everyones_line(everyones, number, change.by, change.origin, change.at))
            done = {"operation": change.name, "outcome": "done", "subject": subject}
            for line in lines:
                entry = line | done | {"number": self._audit.next(line["tenant"])}
                self._transaction.statements.add_audit.run(self._connection, [entry])

    def _note_erased(self, memory: Memory, change: Change) -> None:
        """Note an erasure. An id that someone chose may reveal something of what is erased, so the audit drops it; a
        number does not.
        """
        if not self._collection.is_audited or ids.whole_number(ids.address(memory.id).id) is not None:
            return self._note(change, memory.id)
        for number in self._touched_tenants():
            erased_entries = update(audit).where(audit.c.tenant == number, audit.c.subject == memory.id)
            self._connection.execute(erased_entries.values(subject=None))
        return self._note(change, None)

    def _touched_tenants(self) -> dict[int, str]:
        """The tenants that may mention a memory of this home: its own, or for a global memory every tenant."""
        if self._home == GLOBAL_TENANT:
            return self._every_tenant()
        # The same id in another tenant, or among the global memories, is another memory.
        return {self._counters.tenant: self._home}

    def _every_tenant(self) -> dict[int, str]:
        found = self._connection.execute(select(tenants.c.key, tenants.c.name).order_by(tenants.c.key))
        return dict(found.all())

    def _hold_caller(self) -> int:
        """Lock the caller's tenant and return its number; a write to global memories does not hold it yet."""
        if not self._holds_caller:
            LockedHome.hold(self._connection, self._view.tenant)
            self._holds_caller = True
        return self._view.tenant

    def require_free(self, id: str) -> None:
        if self._is_taken(ids.address(id).id):
            raise Conflict(f"The id {id} cannot be used here. Choose another, or leave it out.")

    def similar(self, memory: Memory, *, by_hint_alone: bool = False) -> Memory | None:
        found = duplicates.find(self._home_view, memory, by_hint_alone)
        if found is not None:
            self._let_change(found)
        return found

    def alike(
        self, memory: Memory, model: EmbeddingModel, passages: Sequence[Passage], *, least: float
    ) -> list[Alike]:
        covered = self._embeddings.coverage(model)
        if covered is None or not passages:
            return []
        return alike.near(self._home_view, covered, memory, passages, least, without=self._added)

    @property
    def _added(self) -> AbstractSet[int]:
        """The rows that this transaction has added."""
        return (self._before or frozenset()) | {row for _, row in self._new}

    def _require_own(self, memory: Memory) -> None:
        """Look up again a row that this transaction did not find changeable: a value alone is no permission."""
        if key_of(memory) not in self._own and key_of(self.target(memory.id)) != key_of(memory):
            raise no_memory(memory.id)

    def _require_seen(self, memory: Memory) -> None:
        if key_of(memory) not in self._own:
            seen = self.memory(memory.id)
            if seen is None or key_of(seen) != key_of(memory):
                raise no_memory(memory.id)

    def add(self, memory: Memory, change: Change) -> Memory:
        in_place = (memory.scope == "global") == (self._home == GLOBAL_TENANT)
        if not in_place or not may_add(self._caller, memory):
            raise Forbidden(
                "You may add memories only in your own name, and only where you can see them yourself."
            )
        self._changed = True
        id = ids.address(memory.id).id if memory.id else self._next_id()
        self._count_past(id, memory)
        place = RowPlace(self._counters.tenant, self._counters.next_row(), change.at)
        added = replace(memory, tenant=self._home, id=ids.spell(self._home, id), version=1, place=place)
        record = record_of(added)
        collection = self._collection.number
        self._run(self._transaction.statements.add_memory, present_row(added, place, collection, id, record))
        self._run(
            self._transaction.statements.add_version,
            version_row(added, place, collection, change, None, record),
        )
        self._pending.add(added, place)
        self._own.add(key_of(added))
        self._new.add(key_of(added))
        self._note(change, added.id)
        return added

    def _count_past(self, id: str, memory: Memory) -> None:
        """Continue numbering after an id chosen for everyone; after one chosen for a few, the next would reveal it."""
        if audience_of(memory) in (TENANT, GLOBAL):
            self._counters.note_id(id)

    def _next_id(self) -> str:
        """The next number that is not taken. Chosen numbers far ahead, or visible to few, are skipped when the count reaches them."""
        while self._is_taken(id := self._counters.next_id()):
            pass
        if len(id) > ID_CHARACTERS:
            raise StoreUnavailable(
                f"The next id would have {len(id)} digits, more than an id may have; nothing was changed. "
                "Run `onrecord doctor --fix`."
            )
        return id

    def _is_taken(self, plain: str) -> bool:
        return self._home_view.run(_HOLDER, plain=plain).first() is not None

    def replace(self, before: Memory, after: Memory, change: Change) -> Memory:
        self._require_own(before)
        if key_of(before) in self._common and _reach(before) != _reach(after):
            raise Forbidden(
                f"You may correct memory {before.id} but not move it: only {before.owner} decides who sees it."
            )
        replaced = self._replace(before, after, change)
        self._note(change, replaced.id)
        return replaced

    def _replace(self, before: Memory, after: Memory, change: Change) -> Memory:
        self._changed = True
        old = _place(before)
        if self._pending.touches(old):
            self._write_index()
        place = RowPlace(old.tenant, old.row, max(change.at, old.recorded_at))
        changed = replace(after, version=before.version + 1, place=place)
        collection = self._collection.number
        record, key = record_of(changed), (place.tenant, collection, place.row)
        id = ids.address(before.id).id
        if place.tenant == self._counters.tenant:
            self._count_past(id, changed)
        row = present_row(changed, place, collection, id, record)
        self._run(self._transaction.statements.change_memory, (*row[len(key) :], *key))
        closed = microseconds_of(place.recorded_at)
        self._run(self._transaction.statements.close_version, (closed, *key, before.version))
        self._run(
            self._transaction.statements.add_version,
            version_row(changed, place, collection, change, None, record),
        )
        self._pending.swap(before, changed, place)
        if place.tenant == self._counters.tenant:
            self._embeddings.follow(before, changed, place)
        return changed

    def embed(self, memory: Memory, model: EmbeddingModel | None, passages: Sequence[Passage]) -> bool:
        # Not `target`: vectors only repeat the text, so a caller of a lower tier may add missing ones.
        if key_of(memory) not in self._own and key_of(self.named(memory.id)) != key_of(memory):
            raise no_memory(memory.id)
        place = _place(memory)
        if model is not None:
            digest = text_hash(embedded_text(memory))
            found = passages or self.index.passages_of(digest, model)
            is_new = place[:2] in self._new
            if self._embeddings.keep(memory, model, found, is_new=is_new):
                self._changed = True
                if not is_new:
                    # An earlier save may have left a job for these vectors.
                    self._jobs.drop(place.row)
                return True
        self._jobs.add(EMBED, self._now, place.row)
        return False

    def keep_check_run(self, memory: Memory, run: CheckRun) -> None:
        self._require_own(memory)
        keep_run(self._connection, self._transaction.backend, _place(memory).tenant, memory.id, run)

    def put_off(self, turn: WaitingTurn) -> None:
        self._jobs.add(EXTRACT, self._now, self.workspace.keep_turn(turn))

    def _run(self, statement: Prepared, row: Stored) -> None:
        statement.run_tuples(self._connection, [row])

    def erase(self, memory: Memory, change: Change) -> Erased:
        self._require_own(memory)
        # Proposals repeat much of the text that must be erased.
        for proposal in self._proposals_of(memory):
            self._own.add(key_of(proposal))
            self.erase(proposal, change)
        self._changed = True
        place = _place(memory)
        references = self._strip(f"memory:{memory.id}", place, change)
        if self._pending.touches(place):
            self._write_index()
        self._pending.remove(memory, place)
        joined = or_(relations.c.source == place.row, relations.c.target == place.row)
        edges = self._count_seen_edges(place.row, joined)
        # Not how many rows go: some may be a past that is another's.
        past = len(self.versions(memory.id))
        self._connection.execute(delete(relations).where(*self._here(relations), joined))
        for table in (versions, memories):
            self._connection.execute(delete(table).where(*self._here(table), table.c.row == place.row))
        self._embeddings.drop(memory, place.row)
        self._jobs.drop(place.row)
        drop_runs(self._connection, place.tenant, memory.id)
        self._erased = True
        self._note_erased(memory, change)
        self.requests.forget(self._touched_tenants(), memory.id)
        forget_questions(self._connection, self._touched_tenants(), memory.id)
        drop_feedback_of(self._connection, self._touched_tenants(), memory.id)
        return Erased(past, edges, references)

    def redact(self, memory: Memory, past: Mapping[int, Memory]) -> None:
        if self._collection is not ENTITIES:
            raise Forbidden(
                "Only old versions of the catalog can be rewritten; a memory can only be erased whole."
            )
        self._require_seen(memory)
        self._changed, self._erased = self._changed or bool(past), self._erased or bool(past)
        for number, clean in past.items():
            # The last version is what the row says, and changes with it alone.
            assert number < memory.version
            here = and_(
                *self._here(versions), versions.c.row == _place(memory).row, versions.c.version == number
            )
            kept = {name: getattr(clean, name) for name in ("content", "tags", "metadata")}
            self._connection.execute(update(versions).where(here).values(kept))

    def _count_seen_edges(self, row: int, joined: ColumnElement[bool]) -> int:
        """How many edges of a memory lead to one that the caller sees."""
        other = case((relations.c.source == row, relations.c.target), else_=relations.c.source)
        here = and_(*self._here(memories), *self._here(relations), memories.c.row == other, joined)
        audiences = self._connection.execute(select(memories.c.audience).where(here))
        return sum(map(self._home_view.sees, audiences.scalars()))

    def sees(self, memory: Memory) -> bool:
        return memory.owner == self._caller.user or self._home_view.sees(audience_of(memory))

    def _proposals_of(self, memory: Memory) -> list[Memory]:
        """The proposals to change a memory, by anyone, settled or not."""
        filed = select(facets.c.row).where(*self._here(facets), facets.c.facet == proposal_facet(memory.id))
        found = select(*PRESENT).where(*self._here(memories), memories.c.row.in_(filed))
        rows = self._connection.execute(found.order_by(memories.c.row)).all()
        return [read_memory(row, self._home) for row in rows]

    def _strip(self, reference: str, erased: RowPlace, change: Change) -> int:
        """Remove a reference from every memory of the tenant and its history, visible or not; returns how many of
        those the caller sees.
        """
        stripped = 0
        for key, name in sorted(self._touched_tenants().items()):
            view = self._view_of(name)
            if key != erased.tenant:
                LockedHome.hold(self._connection, key)
            for memory in self._referring(key, name, reference):
                if _place(memory)[:2] != erased[:2]:
                    self._replace(memory, _without(memory, reference), change)
                    stripped += view is not None and view.sees(audience_of(memory))
                    if key != erased.tenant:
                        LockedHome.note_change(self._transaction, self._address._replace(number=key))
            self._strip_past(key, reference)
        return stripped

    def writing_of(self, collection: Collection) -> "SqlWriting":
        if collection is self._collection:
            return self
        if collection not in self._others:
            there = self._address.beside(collection)
            other = SqlWriting(self._transaction, self._caller, self._now, there, self._spoken_in)
            # One caller, one audit: its numbers go on from one collection to the next.
            other._audit = self._audit
            self._others[collection] = other
        return self._others[collection]

    @property
    def _home_view(self) -> View:
        """The view of the home that this transaction writes to: the tenant's own, or the global one."""
        view = self._view_of(self._home)
        assert view is not None, "its counters are held"
        return view

    def _here(self, table: Table, tenant: int | None = None) -> tuple[ColumnElement[bool], ...]:
        number = self._address.number if tenant is None else tenant
        return table.c.tenant == number, table.c.collection == self._collection.number

    def strip(
        self, references: Sequence[str], change: Change, *, dry_run: bool = False
    ) -> dict[str, tuple[str, ...]]:
        """Remove references from live memories. Those that ended and old versions keep them: the thing is gone, not what was
        said of it. A memory keeps the names of entities that it proposes to edit: they may come back.
        """
        if not self._caller.is_admin:
            raise Forbidden("Only an admin may remove references from every memory.")
        gone = frozenset(references)
        referring = {
            key_of(memory): memory
            for reference in sorted(gone)
            for memory in self._referring(self._counters.tenant, self._home, reference, descendants=True)
        }
        lost: dict[str, tuple[str, ...]] = {}
        for memory in filter(lambda each: each.is_live, referring.values()):
            edited = {edit.entity for edit in memory.edits or ()}
            kept = tuple(each for each in memory.entities if each in edited or not _is_under(each, gone))
            if kept != memory.entities:
                lost[memory.id] = tuple(each for each in memory.entities if each not in kept)
                if not dry_run:
                    self._replace(memory, replace(memory, entities=kept), change)
        if lost and not dry_run:
            self._note(change, min(gone))
        return lost

    def attached(self, conversation: ConversationKey | None, artifacts: Sequence[str]) -> list[Memory]:
        if self._home != self._caller.tenant:
            raise Forbidden("Conversations and artifacts belong to the caller's own tenant.")
        which: list[ColumnElement[bool]] = [memories.c.artifact.in_(artifacts)] if artifacts else []
        if conversation is not None:
            there = and_(memories.c.conversation == conversation.id, whose(memories) == conversation.by)
            # The session memories of all its members change with it.
            changes = or_(memories.c.owner == self._caller.user, memories.c.scope == "session")
            which.append(there if self._caller.is_admin else and_(there, changes))
        if not which:
            return []
        here = select(*PRESENT).where(*self._here(memories), or_(*which)).order_by(memories.c.row)
        found = [read_memory(row, self._home) for row in self._connection.execute(here).all()]
        self._own.update(map(key_of, found))
        return found

    def _referring(
        self, tenant: int, name: str, reference: str, *, descendants: bool = False
    ) -> list[Memory]:
        wanted = facets.c.facet == reference_facet(reference)
        if descendants:
            # SQLite ignores case here; the caller checks each reference again.
            wanted = or_(wanted, facets.c.facet.startswith(reference_facet(reference) + ".", autoescape=True))
        holding = select(facets.c.row).where(*self._here(facets, tenant), wanted)
        found = select(*PRESENT).where(*self._here(memories, tenant), memories.c.row.in_(holding))
        return [read_memory(row, name) for row in self._connection.execute(found).all()]

    def _strip_past(self, tenant: int, reference: str) -> None:
        """Remove a reference from old versions, which have no index of references: the text of the list narrows the
        search, the list decides.
        """
        written = json.dumps(reference, ensure_ascii=False)
        holding = select(versions.c.row, versions.c.version, versions.c.entities).where(
            *self._here(versions, tenant), cast(versions.c.entities, Text).contains(written, autoescape=True)
        )
        for row, version, entities in self._connection.execute(holding).all():
            if reference in entities:
                kept = tuple(each for each in entities if each != reference)
                here = and_(
                    *self._here(versions, tenant), versions.c.row == row, versions.c.version == version
                )
                self._connection.execute(update(versions).where(here).values(entities=kept))

    def relate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> tuple[Relation, bool]:
        self._require_own(source)
        self._require_seen(target)
        if _place(source).tenant != _place(target).tenant:
            raise no_memory(target.id)
        existing = self._edge(source, relation, target)
        if existing is not None:
            return existing, False
        self._changed = True
        self._connection.execute(
            insert(relations),
            {
                "tenant": _place(source).tenant,
                "collection": self._collection.number,
                "id": self._counters.next_relation(),
                "source": _place(source).row,
                "relation": relation,
                "target": _place(target).row,
                "created_at": self._next_time(source, relation, target, change.at),
                "created_by": change.by,
            },
        )
        made = self._edge(source, relation, target)
        assert made is not None
        self._note(change, source.id)
        return made, True

    def unrelate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> Relation | None:
        self._require_own(source)
        existing = self._edge(source, relation, target)
        if existing is None:
            return None
        self._changed = True
        removed_at = max(change.at, existing.created_at)
        self._connection.execute(
            update(relations)
            .where(*self._here(relations, _place(source).tenant), relations.c.id == int(existing.id))
            .values(removed_at=removed_at, removed_by=change.by)
        )
        self._note(change, source.id)
        return replace(existing, removed_at=removed_at, removed_by=change.by)

    def _edge(self, source: Memory, relation: RelationName, target: Memory) -> Relation | None:
        row = self._connection.execute(
            select(relations).where(self._triple(source, relation, target), relations.c.removed_at.is_(None))
        ).one_or_none()
        return None if row is None else read_relation(row, source.id, target.id)

    def _triple(self, source: Memory, relation: RelationName, target: Memory) -> ColumnElement[bool]:
        return and_(
            *self._here(relations, _place(source).tenant),
            relations.c.source == _place(source).row,
            relations.c.target == _place(target).row,
            relations.c.relation == relation,
        )

    def _next_time(self, source: Memory, relation: RelationName, target: Memory, at: datetime) -> datetime:
        """A time for a new edge that is not before the end of its predecessor, even if the clock went back."""
        ended = self._connection.execute(
            select(func.max(relations.c.removed_at)).where(self._triple(source, relation, target))
        ).scalar_one()
        return at if ended is None else max(at, ended)


@cache
def _target(visibility: Visibility, by_name: bool) -> Select[Any]:
    allowed = changeable(memories, visibility).label("may_change")
    left = left_behind().label("is_left")
    return select(*PRESENT, allowed, left).where(
        visible_by_id(visibility), called(visibility) if by_name else NAMED
    )


def _is_everyones(given: str, memory: Memory) -> bool:
    """Whether a memory has the given id, or everyone in the tenant sees it."""
    tenant, id = ids.address(given)
    return memory.id == ids.spell(tenant or "", id) or audience_of(memory) == TENANT


def _reach(memory: Memory) -> tuple[object, ...]:
    """Who sees a memory, and where it is pinned."""
    return memory.scope, memory.persona, memory.system, memory.pinned


def _place(memory: Memory) -> RowPlace:
    assert memory.place is not None
    return memory.place


def _is_under(reference: str, gone: AbstractSet[str]) -> bool:
    """Whether a name lies under another by a dot; only in a catalog, since the id of a memory may contain dots."""
    if reference.startswith("memory:"):
        return reference in gone
    return not gone.isdisjoint(accumulate(reference.split("."), "{}.{}".format))


def _without(memory: Memory, reference: str) -> Memory:
    return replace(memory, entities=tuple(each for each in memory.entities if each != reference))


_HOLDER: Final = select(memories.c.row).where(of_home(memories), NAMED)
