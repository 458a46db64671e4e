"""WHO reads, and at which time? One caller and one state of one home, which every reading of rows shares."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CursorResult,
    FromClause,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    union_all,
)

from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW, When
from onrecord.store.audience import sees
from onrecord.store.coverage import read_coverage, seen_coverage
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.index import Coverage
from onrecord.store.rows import PAST, PRESENT, read_memory
from onrecord.store.tables import audience_counts, counters, facets, memories, versions
from onrecord.store.temporal_filters import AskedTimes, known_then, time_parameters
from onrecord.store.tenant import HomeAddress, of_home, same_home
from onrecord.store.transaction import Transaction
from onrecord.store.visibility import (
    Visibility,
    past_visible,
    visibility_of,
    visibility_parameters,
    visible,
    visible_by_id,
)


class View:
    """What a caller sees of one state of one home. Statements run here may use the predicates of visibility and time."""

    def __init__(
        self,
        transaction: Transaction,
        caller: Caller,
        now: datetime,
        address: HomeAddress,
        changes: int | None = None,
        *,
        is_settled: bool = True,
        begun: datetime | None = None,
    ) -> None:
        self.connection = transaction.connection
        self.backend = transaction.backend
        self.caller = caller = caller.among(address.home.tenant)
        self.now = now
        self.address = address
        #: Whether nothing changes meanwhile: its counters do not show yet what a transaction itself writes.
        self.is_settled = is_settled
        self.visibility: Visibility = visibility_of(caller)
        seen = visibility_parameters(caller, begun)
        self._parameters = address.parameters | seen | time_parameters(NOW, (), now)
        #: How often it was written to, where a transaction has read the counters already.
        self._changes = changes
        #: In how many records that the caller sees a term occurs, for the terms asked so far.
        self.counts: dict[str, int] = {}
        self._sees: dict[str, bool] = {}

    @property
    def tenant(self) -> int:
        """The number of the tenant; 0, which no tenant has, if it has no row."""
        return self.address.number or 0

    @property
    def place(self) -> tuple[int, int]:
        """The key under which this home's caches are found."""
        return self.tenant, self.home.collection.number

    @property
    def home(self) -> Home:
        return self.address.home

    @property
    def documents(self) -> int:
        """How many records the caller sees."""
        return self._seen.documents

    @property
    def words(self) -> int:
        """How many words these have together."""
        return self._seen.words

    @property
    def exists(self) -> bool:
        return self._changes is not None or self._state[0] is not None

    @property
    def changes(self) -> int:
        """How often it was written to."""
        return (self._state[0] if self._changes is None else self._changes) or 0

    @property
    def _seen(self) -> "VisibleCounts":
        return self._state[1]

    @cached_property
    def _state(self) -> tuple[int | None, "VisibleCounts"]:
        """The counters of the home. They are read when first needed: nearly every save and every lookup of names does
        without.
        """
        # A tenant that nobody wrote to has no row: it is empty, and reading must not create it.
        found = self.address.number is not None and self.fetch(_state(self.visibility))
        return (found[0][0], VisibleCounts(*found[0][1:])) if found else (None, VisibleCounts())

    @cached_property
    def has_references(self) -> bool:
        """Whether the caller sees anything with tags or references; which of the two is not counted apart."""
        return bool(self.fetch(_some_facet(self.visibility)))

    def sees(self, audience: str) -> bool:
        """The predicate of reading for data in memory."""
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
        """All rows of a statement that is built once and whose columns are as stored; cheaper than `execute`."""
        return self.backend.fetch(self.connection, statement, self._given(when, statuses) | more)

    def _given(self, when: When, statuses: Sequence[Status]) -> dict[str, Any]:
        if when is NOW and not statuses:
            return self._parameters
        return self._parameters | time_parameters(when, statuses, self.now)

    def memories(
        self, statement: Select[Any], when: When = NOW, statuses: Sequence[Status] = (), **more: Any
    ) -> list[Memory]:
        rows = self.run(statement, when, statuses, **more).all()
        return [read_memory(row, self.home.tenant) for row in rows]

    @cached_property
    def coverage(self) -> list[Coverage]:
        """How much of what the caller sees each model has embedded."""
        return read_coverage(self.fetch(seen_coverage(self.visibility)))


def source(
    visibility: Visibility, asked: AskedTimes, *, by_id: bool = False
) -> tuple[FromClause, Select[Any]]:
    """Where to read a record: the present row, or the version in force at `known_at`. Only what is visible today, and was
    from then on; `by_id`, also what one left behind.
    """
    seen = visible_by_id(visibility) if by_id else visible(memories, visibility)
    if not asked.known_at:
        return memories, select(*PRESENT).where(seen)
    joined = memories.join(versions, same_row(memories, versions))
    return versions, select(*PAST).select_from(joined).where(
        seen, known_then(versions), *returned_versions(visibility)
    )


def returned_versions(visibility: Visibility) -> Iterator[ColumnElement[bool]]:
    """Which versions of visible rows to return: those since which the caller could see every version."""
    return past_visible(versions.c.row, visibility, lambda later: later.c.version >= versions.c.version)


def same_row(left: FromClause, right: FromClause) -> ColumnElement[bool]:
    return and_(same_home(left, right), left.c.row == right.c.row)


def key_of(memory: Memory) -> tuple[int, int]:
    """The tenant and row of a memory that came from the store."""
    assert memory.place is not None
    return memory.place.tenant, memory.place.row


class VisibleCounts(NamedTuple):
    """The counts of the records that a caller sees."""

    documents: int = 0
    words: int = 0


@cache
def _state(visibility: Visibility) -> Select[Any]:
    """The number of changes and a `VisibleCounts`: the sums of all for who sees all, and of the audiences that are seen for others."""
    statement = select(counters.c.changes).where(of_home(counters))
    if visibility.is_admin:
        return statement.add_columns(counters.c.documents, counters.c.words)
    # PostgreSQL sums big integers to decimals.
    sums = (
        cast(func.coalesce(func.sum(audience_counts.c[name]), 0), BigInteger)
        for name in VisibleCounts._fields
    )
    seen = and_(same_home(counters, audience_counts), visible(audience_counts, visibility))
    return (
        statement.add_columns(*sums)
        .join_from(counters, audience_counts, seen, isouter=True)
        .group_by(counters.c.changes)
    )


@cache
def _some_facet(visibility: Visibility) -> Select[Any]:
    seen = visible(audience_counts, visibility)
    return (
        select(audience_counts.c.audience)
        .where(seen, audience_counts.c.facets > literal_column("0"))
        .limit(1)
    )


#: A memory by its id.
NAMED: Final = memories.c.id == bindparam("plain", type_=Text)


def called(visibility: Visibility) -> ColumnElement[bool]:
    """What a caller may mean by some ids as they wrote them: memories that have one of the `ids`, and those that they see
    whose ids are one of the `names` with a user's name in front. By the rows of both, so that databases look each up in its index.
    """
    has_id = select(memories.c.row).where(of_home(memories), one_of(memories.c.id, "ids"))
    is_filed = select(facets.c.row).where(visible(facets, visibility), one_of(facets.c.facet, "names"))
    return memories.c.row.in_(union_all(has_id, is_filed))
