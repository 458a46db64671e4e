"""HOW is a store moved, checked and rebuilt? The whole of it, past every caller."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from onrecord.model.collections import Home
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.memory import Memory, Relation, Version
from onrecord.store.ports.index import Coverage
from onrecord.store.ports.jobs import Jobs
from onrecord.store.ports.workspace import WorkspaceArchive, WorkspaceRestoring


class MemoryHistory(NamedTuple):
    """A memory with everything known of its past, for moving it between stores."""

    id: str
    versions: tuple[Version, ...]


class Counters(NamedTuple):
    """The last numbers a tenant gave out; they move with an export so that no id is ever given twice."""

    last_id: str
    last_relation: int


class Archive(Protocol):
    """The whole of a store, past every caller, in one consistent state."""

    def homes(self) -> list[Home]:
        """Where there are records, or were, by the names that exports give them."""

    def count(self, home: Home) -> int: ...

    def counters(self, home: Home) -> Counters: ...

    def histories(self, home: Home, wanted: Sequence[str] | None = None) -> Iterator[MemoryHistory]:
        """Every memory with its past, in the order in which they were saved; or only those of some ids."""

    def edges(self, home: Home) -> Iterator[Relation]:
        """Every relation, those taken back included."""

    def workspace(self, tenant: str) -> WorkspaceArchive:
        """What a tenant keeps beside its memories."""

    def rows(self, home: Home, wanted: Sequence[int]) -> list[Memory]:
        """The memories in some rows, as they stand."""

    def unembedded(self, home: Home, model: EmbeddingModel, most: int, after: int = 0) -> list[Memory]:
        """Memories that have no vectors of this model, in the order of their rows."""

    def coverage(self, home: Home) -> list[Coverage]:
        """How far each model has come."""

    def job_counts(self, home: Home) -> tuple[int, int]:
        """How many jobs wait, and how many have failed for good."""


class Restoring(Archive, Protocol):
    """One transaction in one home that takes in what was exported, or derives its index anew."""

    @property
    def jobs(self) -> Jobs:
        """What is to be done in this home later."""

    def restore(self, histories: Iterable[MemoryHistory]) -> None:
        """Add memories with their past. Their ids must be free."""

    def restore_edges(self, edges: Sequence[Relation], counters: Counters) -> int:
        """Add relations that are not here yet; gives how many were new."""

    def restoring_workspace(self) -> WorkspaceRestoring:
        """The same for what is kept beside memories, in the same transaction."""

    def reindex(self) -> tuple[int, int]:
        """Derive the index anew; gives how many memories and postings."""

    def keep_vectors(self, memory: Memory, model: EmbeddingModel, passages: Sequence[Passage]) -> bool:
        """Give a memory its vectors, if it still says what it said; False if it does not, or is gone."""

    def drop_vectors(self) -> None:
        """Give up every vector of the tenant, to be made anew."""
