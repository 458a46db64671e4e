"""HOW is a store moved, checked and rebuilt? As a whole, unfiltered by caller."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from onrecord.model.collections import Home
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.limits import CheckState
from onrecord.model.memory import Memory, Relation, Version
from onrecord.store.ports.feedback import FeedbackArchive, FeedbackRestoring
from onrecord.store.ports.index import Coverage
from onrecord.store.ports.jobs import EMBED, Jobs, TroubledJob
from onrecord.store.ports.workspace import WaitingTurn, WorkspaceArchive, WorkspaceRestoring


class MemoryHistory(NamedTuple):
    """A memory with everything known of its past, for moving it between stores."""

    id: str
    versions: tuple[Version, ...]


class Counters(NamedTuple):
    """The last numbers that a tenant has used; they move with an export so that no id is given twice."""

    last_id: str
    last_relation: int


class Archive(Protocol):
    """The whole store in one consistent state, unfiltered by caller."""

    def homes(self) -> list[Home]:
        """The homes that hold or held records, by their names in exports."""

    def count(self, home: Home) -> int: ...

    def check_states(self, home: Home) -> Mapping[CheckState, int]:
        """How many memories that count as known have checks of which came this."""

    def counters(self, home: Home) -> Counters: ...

    def histories(self, home: Home, wanted: Sequence[str] | None = None) -> Iterator[MemoryHistory]:
        """Every memory with its history, in the order of saving; or only those of some ids."""

    def edges(self, home: Home) -> Iterator[Relation]:
        """Every relation, including removed ones."""

    def workspace(self, tenant: str) -> WorkspaceArchive:
        """The workspace of a tenant."""

    def feedback(self, tenant: str) -> FeedbackArchive:
        """The feedback of a tenant."""

    def rows(self, home: Home, wanted: Sequence[int]) -> list[Memory]:
        """The memories in some rows, in their present state."""

    def unembedded(self, home: Home, model: EmbeddingModel, most: int, after: int = 0) -> list[Memory]:
        """Memories that have no vectors of this model, in the order of their rows."""

    def unasked(self, home: Home, model: EmbeddingModel, most: int) -> list[Memory]:
        """The same without those that a job of their own waits for."""

    def present(
        self, home: Home, models: Sequence[EmbeddingModel]
    ) -> tuple[int, Mapping[EmbeddingModel, int]]:
        """How many memories are not archived, and how many of those have vectors of each model."""

    def coverage(self, home: Home) -> list[Coverage]:
        """How many memories each model has embedded."""

    def job_counts(self, home: Home, name: str = EMBED) -> tuple[int, int]:
        """How many jobs of a name are waiting, and how many have failed for good."""

    def waiting_turn(self, tenant: str, number: int) -> WaitingTurn | None:
        """A turn whose facts are to be extracted; None if it is gone."""

    def troubled(self, home: Home) -> list[TroubledJob]:
        """The jobs of a home, or of the whole store, that failed when they were last tried."""

    def due_next(self, name: str) -> datetime | None:
        """When a job of the whole store is due; None if no worker has ever known it."""


class Restoring(Archive, Protocol):
    """One transaction in one home that imports records, or rebuilds its index."""

    @property
    def jobs(self) -> Jobs:
        """The jobs of this home."""

    def restore(self, histories: Iterable[MemoryHistory]) -> None:
        """Add memories with their histories. Their ids must be free."""

    def restore_edges(self, edges: Sequence[Relation], counters: Counters) -> int:
        """Add relations that are not here yet; returns how many were new."""

    def restoring_workspace(self) -> WorkspaceRestoring:
        """The same for the workspace, in the same transaction."""

    def restoring_feedback(self) -> FeedbackRestoring:
        """The same for feedback, in the same transaction."""

    def reindex(self) -> tuple[int, int]:
        """Rebuild the index; returns the numbers of memories and postings."""

    def keep_vectors(self, memory: Memory, model: EmbeddingModel, passages: Sequence[Passage]) -> bool:
        """Store a memory's vectors if its text is still the same; False if it has changed or is gone."""

    def drop_vectors(self, of: EmbeddingModel | None = None) -> None:
        """Drop every vector of the home, so that all can be remade; or only those of one model."""
