"""WHAT does a store do? The port that the pipelines and the service speak to.

A reading is one consistent state; a writing is one transaction that lets no other writer into its tenant.
Both belong to one caller: there is no way to read or write without saying for whom.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from recollect.model.answers import Compared, Edge, Problem
from recollect.model.caller import Caller
from recollect.model.limits import Kind, RelationName, Status
from recollect.model.memory import Change, Memory, Relation, Version
from recollect.model.requests import Browse, Neighbours
from recollect.model.when import NOW, When
from recollect.text import Token


class Match(NamedTuple):
    """A memory that holds words of a question: what its rank may depend on, but not yet its text.

    `key` is where the store keeps it; of two with equal scores, the one with the lower key was saved first.
    """

    key: tuple[int, int]
    id: str
    kind: Kind
    tags: tuple[str, ...]
    conversation: str | None
    score: float
    positions: Mapping[str, tuple[int, ...]]


class Erased(NamedTuple):
    """What went with a memory."""

    versions: int
    relations: int
    references: int


class Reading(Protocol):
    """One consistent state of the store, as far as one caller may see it."""

    def memory(self, id: str, when: When = NOW) -> Memory | None:
        """One memory; with a time, only if it was true then. Unknown and forbidden are both None."""

    def browse(self, ask: Browse) -> tuple[list[Memory], str | None]:
        """A page of memories, last updated first, and the mark of the next page."""

    def match(
        self, terms: Sequence[Token], *, most: int, when: When = NOW, statuses: Sequence[Status] = ()
    ) -> list[Match]:
        """The memories that hold any of the terms, best first, exact."""

    def read(self, matches: Sequence[Match], when: When = NOW) -> list[Memory]:
        """The memories of some matches, in their order, as they stood at the time of the question; those the caller sees."""

    def edges(self, center: Memory, ask: Neighbours) -> list[Edge]:
        """The relations around a memory, walked breadth first; one more than asked for if there are more."""

    def versions(self, id: str) -> list[Version]:
        """The history of one memory, oldest first; empty for unknown and forbidden alike."""

    def compare(self, since: datetime, until: datetime) -> Compared:
        """How what is known differs between two times."""


class Writing(Reading, Protocol):
    """One transaction in one tenant. Nothing is seen by others until the block ends well."""

    def target(self, id: str) -> Memory:
        """A memory this caller may change, or NotFound or Forbidden."""

    def holder(self, id: str) -> Memory | None:
        """The memory that holds an id, or None if it is free; Conflict if it is not for the caller to see."""

    def similar(self, memory: Memory) -> Memory | None:
        """The live memory that this one repeats, by content or by its given hint, if the caller may change it."""

    def add(self, memory: Memory, change: Change) -> Memory:
        """A new row and its first version; an empty id becomes the tenant's next whole number."""

    def replace(self, before: Memory, after: Memory, change: Change) -> Memory:
        """The row as it stands after a change, and the version that says so."""

    def erase(self, memory: Memory, change: Change) -> Erased:
        """A row with its versions, index entries, edges and every reference to it."""

    def relate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> tuple[Relation, bool]:
        """An edge, and whether it is new."""

    def unrelate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> Relation | None:
        """The edge that was taken back, if there was one."""


class Dossier(NamedTuple):
    """A memory with everything known of its past, for moving it between stores."""

    id: str
    versions: tuple[Version, ...]


class Counters(NamedTuple):
    """The last numbers a tenant gave out; they move with an export so that no id is ever given twice."""

    last_id: str
    last_relation: int


class Archive(Protocol):
    """The whole of a store, past every caller, in one consistent state."""

    def tenants(self) -> list[str]: ...

    def count(self, tenant: str) -> int: ...

    def counters(self, tenant: str) -> Counters: ...

    def dossiers(self, tenant: str, wanted: Sequence[str] | None = None) -> Iterator[Dossier]:
        """Every memory with its past, in the order in which they were saved; or only those of some ids."""

    def edges(self, tenant: str) -> Iterator[Relation]:
        """Every relation, those taken back included."""


class Restoring(Archive, Protocol):
    """One transaction in one tenant that takes in what was exported, or derives its index anew."""

    def restore(self, dossiers: Iterable[Dossier]) -> None:
        """Add memories with their past. Their ids must be free."""

    def restore_edges(self, edges: Sequence[Relation], counters: Counters) -> int:
        """Add relations that are not here yet; gives how many were new."""

    def reindex(self) -> tuple[int, int]:
        """Derive the index anew; gives how many memories and postings."""


class Store(Protocol):
    """Where rows live. A save is on disk when its `writing` block has ended without an error."""

    location: str

    def reading(self, caller: Caller, now: datetime) -> AbstractContextManager[Reading]: ...

    def writing(
        self, caller: Caller, now: datetime, tenant: str | None = None
    ) -> AbstractContextManager[Writing]: ...

    def archive(self) -> AbstractContextManager[Archive]: ...

    def restoring(self, tenant: str) -> AbstractContextManager[Restoring]: ...

    def problems(self, tenant: str) -> Iterator[Problem]:
        """What does not agree in a tenant: windows, versions, index, edges, counters."""

    def store_problems(self) -> Iterator[Problem]:
        """What does not agree in the store as a whole."""

    def backup(self, path: Path) -> bool:
        """Copy the whole store while others write; False if an export must serve instead."""

    def settle(self) -> None:
        """Much was written: let the database take note of it."""

    def note_reindexed(self) -> None:
        """Every tenant was reindexed: the index is of this version now."""

    def close(self) -> None: ...
