"""WHAT comes back from the care of a store?"""

from dataclasses import dataclass, field

from onrecord.model.answers.base import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported(Answer):
    """How much an export wrote, and where. `scratchpads` and `agents` count those that have notes, or are set."""

    path: str
    memories: int
    versions: int
    relations: int
    conversations: int = 0
    artifacts: int = 0
    scratchpads: int = 0
    agents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Answer):
    """How much an import added, what it found unchanged, and what it left alone because something else is in its place.

    `added` and `unchanged` count memories, the others what is named; `workspace_unchanged` is for all of the last four.
    """

    added: int
    unchanged: int
    relations: int
    conflicts: tuple[str, ...] = ()
    conversations: int = 0
    artifacts: int = 0
    scratchpads: int = 0
    agents: int = 0
    workspace_unchanged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp(Answer):
    """Where the copy is."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Answer):
    """One thing that does not agree, where it is, and what mends it."""

    check: str
    where: str
    detail: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined(Answer):
    """What the doctor found."""

    memories: int
    problems: tuple[Problem, ...] = field(default=())

    @property
    def healthy(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedMissing(Answer):
    """How many memories got their vectors, and why others did not."""

    model: str
    embedded: int
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCoverage(Answer):
    """How many memories have vectors of a model; `current` is the one that new memories get."""

    model: str
    indexed: int
    expected: int
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantStatus(Answer):
    """How a tenant stands: its memories, what waits to be done, and what was given up."""

    tenant: str
    #: What is counted: `memories`, or `entities`, the records of what they are about.
    collection: str
    memories: int
    waiting: int
    failed: int
    models: tuple[ModelCoverage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus(Answer):
    """How the store stands. Without an embedder, `embedder` is None."""

    location: str
    embedder: str | None
    tenants: tuple[TenantStatus, ...]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed(Answer):
    """How much was indexed anew."""

    memories: int
    postings: int
