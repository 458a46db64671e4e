"""THROUGH whose eyes, and at which time? What every reading of rows shares: one connection, one caller, one state."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    FromClause,
    Select,
    and_,
    bindparam,
    exists,
    select,
)

from onrecord.model import ids
from onrecord.model.caller import Caller
from onrecord.model.limits import CATALOG_PREFIX, GLOBAL_TENANT, Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW, When
from onrecord.store.audience import sees
from onrecord.store.backend import Backend
from onrecord.store.embeddings import COVERAGE, read_coverage
from onrecord.store.moments import Asked, known_then, time_parameters
from onrecord.store.port import Coverage
from onrecord.store.rows import PAST, PRESENT, read_memory
from onrecord.store.tables import facets, memories, tenants, versions
from onrecord.store.visibility import Sight, sight_of, sight_parameters, visible


class View:
    """A caller's sight of one consistent state. Every statement run here may use the predicates of sight and time."""

    def __init__(
        self,
        connection: Connection,
        backend: Backend,
        caller: Caller,
        now: datetime,
        *,
        is_settled: bool = True,
    ) -> None:
        self.connection = connection
        self.backend = backend
        self.caller = caller
        self.now = now
        #: Whether nothing changes meanwhile: what a transaction writes itself, its counters do not tell yet.
        self.is_settled = is_settled
        self.sight: Sight = sight_of(caller)
        # A tenant that nobody wrote to has no row: it is empty, and reading must not create it.
        rows = [_Tenant(*row) for row in backend.fetch(connection, _TENANTS, {"own": caller.tenant})]
        if caller.tenant.startswith(CATALOG_PREFIX):
            # A catalog holds entities alone; what is for everyone stands beside the memories.
            rows = [row for row in rows if row.name == caller.tenant]
        self.names: dict[int, str] = {row.key: row.name for row in rows}
        #: How often each was written to.
        self.changes: dict[int, int] = {row.key: row.changes for row in rows}
        #: How many memories there are in these tenants, and how many words they have together.
        self.documents = sum(row.documents for row in rows)
        self.words = sum(row.words for row in rows)
        self.sees_global = any(row.name == GLOBAL_TENANT and row.documents for row in rows)
        self.has_relations = any(row.last_relation for row in rows)
        self.has_references = any(row.has_references for row in rows)
        self.keys = sorted(self.names)
        #: In how many memories a term stands, as far as it was asked for.
        self.counts: dict[str, int] = {}
        self._sees: dict[str, bool] = {}
        self._parameters = sight_parameters(caller, self.keys) | time_parameters(NOW, (), now)

    def sees(self, audience: str) -> bool:
        """The predicate of reading, for what is kept in memory."""
        seen = self._sees.get(audience)
        if seen is None:
            seen = self._sees[audience] = sees(self.caller, audience)
        return seen

    def run(
        self, statement: Select[Any], when: When = NOW, statuses: Sequence[Status] = (), **more: Any
    ) -> CursorResult[*tuple[Any, ...]]:
        return self.connection.execute(statement, self._given(when, statuses) | more)

    def fetch(
        self, statement: Select[Any], when: When = NOW, statuses: Sequence[Status] = (), **more: Any
    ) -> Sequence[Any]:
        """The same for a statement that is built once and whose columns are as stored: all rows, at less cost."""
        return self.backend.fetch(self.connection, statement, self._given(when, statuses) | more)

    def _given(self, when: When, statuses: Sequence[Status]) -> dict[str, Any]:
        if when is NOW and not statuses:
            return self._parameters
        return self._parameters | time_parameters(when, statuses, self.now)

    def memories(
        self, statement: Select[Any], when: When = NOW, statuses: Sequence[Status] = (), **more: Any
    ) -> list[Memory]:
        return [read_memory(row, self.names) for row in self.run(statement, when, statuses, **more).all()]

    @cached_property
    def coverage(self) -> list[Coverage]:
        """How far each model has come in these tenants."""
        return read_coverage(self.backend.fetch(self.connection, COVERAGE, {"homes": self.keys}))

    def address(self, id: str) -> dict[str, Any]:
        """What fills `NAMED` for an id as people write it; a tenant that does not exist has no key."""
        home, plain = ids.address(id)
        wanted = home or self.caller.tenant
        return {
            "home": next((key for key, name in self.names.items() if name == wanted), None),
            "plain": plain,
        }


def source(sight: Sight, asked: Asked) -> tuple[FromClause, Select[Any]]:
    """Where a record is read: the present row, or the version that stood at `known_at`. Only what is visible today."""
    if not asked.known_at:
        return memories, select(*PRESENT).where(visible(memories, sight))
    joined = memories.join(versions, same_row(memories, versions))
    return versions, select(*PAST).select_from(joined).where(visible(memories, sight), known_then(versions))


def same_row(left: FromClause, right: FromClause) -> ColumnElement[bool]:
    return and_(left.c.tenant == right.c.tenant, left.c.row == right.c.row)


def key_of(memory: Memory) -> tuple[int, int]:
    """The tenant and row of a memory that came from the store."""
    assert memory.place is not None
    return memory.place.tenant, memory.place.row


class _Tenant(NamedTuple):
    key: int
    name: str
    documents: int
    words: int
    last_relation: int
    changes: int
    has_references: bool


NAMED: Final = and_(memories.c.tenant == bindparam("home"), memories.c.id == bindparam("plain"))
_TENANTS: Final = select(
    tenants.c.key,
    tenants.c.name,
    tenants.c.documents,
    tenants.c.words,
    tenants.c.last_relation,
    tenants.c.changes,
    # Of tags or references: which of them cannot be asked by order, since databases order punctuation differently.
    exists().where(facets.c.tenant == tenants.c.key).label("has_references"),
).where(tenants.c.name.in_([bindparam("own"), GLOBAL_TENANT]))
