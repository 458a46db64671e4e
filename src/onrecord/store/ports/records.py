"""WHAT is kept, and who may see and change it? Memories, their history and their relations.

A reading is one consistent state; a writing is one transaction that lets no other writer into its tenant.
Both belong to one caller: there is no way to read or write without saying for whom.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from onrecord.model.collections import Collection
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.findings import Compared, Edge
from onrecord.model.limits import RelationName, Status
from onrecord.model.memory import Change, Memory, Relation, Version
from onrecord.model.when import NOW, When
from onrecord.store.ports.filters import ChangeFilter, MemoryFilter, RelationFilter, RelationWalk
from onrecord.store.ports.index import Index, Key, Match
from onrecord.store.ports.ledger import Requests
from onrecord.store.ports.workspace import Workspace, WritableWorkspace


class Erased(NamedTuple):
    """What went with a memory."""

    versions: int
    relations: int
    references: int


class SaveCounts(NamedTuple):
    """How often a run has saved, and a key within 24 hours; and how often the key may, if that is bounded."""

    by_run: int
    by_key: int
    key_may: int | None


class Relations(Protocol):
    """The edges between memories, as far as both of their ends are seen."""

    def around(self, center: Memory, ask: RelationWalk) -> list[Edge]:
        """Those around a memory, walked breadth first; one more than asked for if there are more."""

    def joined(self, keys: Sequence[Key], when: When = NOW) -> list[tuple[Key, str, Key]]:
        """Those of some memories, each from its own end to the other, which may not be eligible."""

    def page(self, ask: RelationFilter) -> tuple[list[Relation], str | None]:
        """A page of the tenant's own, newest first, and the mark of the next page."""

    def one(self, id: str) -> Relation | None:
        """One of the tenant's own by its number."""


class Reading(Protocol):
    """One consistent state of a collection, as far as one caller may see it."""

    @property
    def index(self) -> Index:
        """What can be found by words, references and vectors."""

    @property
    def relations(self) -> Relations:
        """What is related to what."""

    @property
    def workspace(self) -> Workspace:
        """What the caller's own tenant keeps beside its memories."""

    @property
    def size(self) -> int:
        """How many memories the caller sees, the global ones among them."""

    @property
    def sees_global(self) -> bool:
        """Whether the caller sees global memories beside the tenant's own."""

    def reading_of(self, collection: Collection) -> "Reading":
        """Another collection of the tenant, in the same state of the store."""

    def memory(self, id: str, when: When = NOW) -> Memory | None:
        """One memory; with a time, only if it was true then. Unknown and forbidden are both None."""

    def eligible(
        self, keys: Sequence[Key], when: When = NOW, statuses: Sequence[Status] = ()
    ) -> dict[Key, Match]:
        """Those of some memories that the caller sees and that count at the time of the question.

        As known at a time, only those that have not changed since.
        """

    def read(self, matches: Sequence[Match], when: When = NOW) -> list[Memory]:
        """The memories of some matches, in their order, as they stood at the time of the question; those the caller sees."""

    def saved_before(self, keys: Sequence[Key]) -> dict[Key, Key]:
        """For each of some memories the one that was saved before it, of those that the caller sees."""

    def filed(self, facet: str) -> list[str]:
        """The ids of the tenant's own memories that are filed so, retired ones left out; in the order of saving."""

    def filed_memories(self, facet: str, *, gone: bool = False) -> list[Memory]:
        """The same, read whole; retired ones too if wanted."""

    def proposals(self, id: str) -> list[Memory]:
        """What waits for review and would change a memory, as far as the caller sees it; in the order of saving."""

    def references(self, root: str) -> list[str]:
        """What the tenant's own memories are about that is this, or lies under it; of `memory:`, every memory."""

    def unasked(self, *, most: int) -> list[Memory]:
        """What the caller is told unasked, last updated first: active memories marked so whose text, as it stands, a
        person wrote or approved, and that are for the caller's own eyes; what an admin may look into is not."""

    def browse(self, ask: MemoryFilter) -> tuple[list[Memory], str | None]:
        """A page of memories, last updated first, and the mark of the next page."""

    def versions(self, id: str) -> list[Version]:
        """The history of one memory, oldest first; empty for unknown and forbidden alike."""

    def compare(self, ask: ChangeFilter) -> Compared:
        """A page of how what is known differs between two times; the later one is that of this reading if none is given."""


class Writing(Reading, Protocol):
    """One transaction in one tenant. Nothing is seen by others until the block ends well."""

    #: What lingers of something erased, and until when, in words; known once the block has ended, None if nothing does.
    residue: str | None

    @property
    def workspace(self) -> WritableWorkspace:
        """What the caller's own tenant keeps beside its memories, in the same transaction."""

    @property
    def requests(self) -> Requests:
        """Requests that must not be done twice, in the same transaction."""

    def target(self, id: str, *, ends: bool = False) -> Memory:
        """A memory this caller may change, or NotFound or Forbidden; HigherTier where only its tier stands in the way.

        With `ends` it is to end, which a tenant may leave to all of its members.
        """

    def named(self, id: str, *, ends: bool = False) -> Memory:
        """The same whatever its tier: one that the caller may change, or else propose to change."""

    def is_outranked(self, memory: Memory) -> bool:
        """Whether what a memory says is of a higher tier than the caller."""

    def reviewable(self, id: str) -> Memory:
        """A memory that this caller may approve or turn down, though it be another's; or NotFound or Forbidden."""

    def save_counts(self) -> SaveCounts:
        """What the caller's run and key have saved, this transaction included; no one else saves meanwhile."""

    def holder(self, id: str) -> Memory | None:
        """The memory that holds an id, whatever its tier, or None if it is free; Conflict if it is not for the caller to
        see."""

    def similar(self, memory: Memory, *, by_hint_alone: bool = False) -> Memory | None:
        """The live memory that this one repeats, by content or by its given hint, if the caller may change it; of any
        tier."""

    def add(self, memory: Memory, change: Change) -> Memory:
        """A new row and its first version; an empty id becomes the tenant's next whole number."""

    def replace(self, before: Memory, after: Memory, change: Change) -> Memory:
        """The row as it stands after a change, and the version that says so."""

    def erase(self, memory: Memory, change: Change) -> Erased:
        """A row with its versions, index entries, edges, every reference to it, and what was proposed to change it; edges
        and references are counted as far as the caller sees their other end."""

    def relate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> tuple[Relation, bool]:
        """An edge, and whether it is new."""

    def unrelate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> Relation | None:
        """The edge that was taken back, if there was one."""

    def writing_of(self, collection: Collection) -> "Writing":
        """Another collection of the tenant, in the same transaction."""

    def attached(self, conversation: str | None, artifacts: Sequence[str]) -> list[Memory]:
        """The memories of the tenant that are pinned to a conversation or linked to one of some files, whoever sees
        them: to be changed because of what they belong to."""

    def note(self, operation: str, subject: str | None = None) -> None:
        """A line of the audit about what is done to no memory, in the same transaction."""

    def strip(
        self, references: Sequence[str], change: Change, *, dry_run: bool = False
    ) -> dict[str, tuple[str, ...]]:
        """Take references, and what lies under them by a dot, out of every memory of the tenant; gives what each that
        changed has lost, or on a dry run would lose."""

    def embed(self, memory: Memory, model: EmbeddingModel | None, passages: Sequence[Passage]) -> bool:
        """Give a memory of this transaction its vectors; if there are none, a job to make them, and False.

        Without passages those of the same text are taken, from a memory that the caller sees.
        """
