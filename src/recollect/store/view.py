"""THROUGH whose eyes, and at which time? What every reading of rows shares: one connection, one caller, one state."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, CursorResult, FromClause, Select, and_, bindparam, select

from recollect.model import ids
from recollect.model.caller import Caller
from recollect.model.limits import GLOBAL_TENANT, Status
from recollect.model.memory import Memory
from recollect.model.when import NOW, When
from recollect.store.embeddings import coverage
from recollect.store.moments import Asked, known_then, time_parameters
from recollect.store.port import Coverage
from recollect.store.rows import PAST, PRESENT, read_memory
from recollect.store.tables import memories, tenants, versions
from recollect.store.visibility import Sight, sight_of, sight_parameters, visible


class View:
    """A caller's sight of one consistent state. Every statement run here may use the predicates of sight and time."""

    def __init__(self, connection: Connection, caller: Caller, now: datetime) -> None:
        self.connection = connection
        self.caller = caller
        self.now = now
        self.sight: Sight = sight_of(caller)
        # A tenant that nobody wrote to has no row: it is empty, and reading must not create it.
        rows = connection.execute(_TENANTS, {"own": caller.tenant}).all()
        self.names: dict[int, str] = {row.key: row.name for row in rows}
        #: How many memories there are in these tenants, and how many words they have together.
        self.documents, self.words = (
            sum(column) for column in zip((0, 0), *(row[2:4] for row in rows), strict=True)
        )
        self.sees_global = any(row.name == GLOBAL_TENANT and row.documents for row in rows)
        self.has_relations = any(row.last_relation for row in rows)
        self.keys = sorted(self.names)
        #: In how many memories a term stands, as far as it was asked for.
        self.counts: dict[str, int] = {}
        self._sight_parameters = sight_parameters(caller, self.keys)

    def run(
        self, statement: Select[Any], when: When = NOW, statuses: Sequence[Status] = (), **more: Any
    ) -> CursorResult[*tuple[Any, ...]]:
        times = time_parameters(when, statuses, self.now)
        return self.connection.execute(statement, self._sight_parameters | times | more)

    def memories(
        self, statement: Select[Any], when: When = NOW, statuses: Sequence[Status] = (), **more: Any
    ) -> list[Memory]:
        return [read_memory(row, self.names) for row in self.run(statement, when, statuses, **more).all()]

    @cached_property
    def coverage(self) -> list[Coverage]:
        """How far each model has come in these tenants."""
        return coverage(self.connection, self.keys)

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


NAMED: Final = and_(memories.c.tenant == bindparam("home"), memories.c.id == bindparam("plain"))
_TENANTS: Final = select(
    tenants.c.key, tenants.c.name, tenants.c.documents, tenants.c.words, tenants.c.last_relation
).where(tenants.c.name.in_([bindparam("own"), GLOBAL_TENANT]))
