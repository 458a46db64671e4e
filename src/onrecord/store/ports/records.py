"""WHAT is kept, and who may see and change it? Memories, their history and their relations.

A reading is one consistent state; a writing is one transaction that excludes other writers of its tenant.
Both belong to one caller: there is no way to read or write without saying for whom.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from onrecord.model.checks import CheckRun
from onrecord.model.collections import Collection
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.findings import Compared, Edge, Group
from onrecord.model.limits import RelationName, Status
from onrecord.model.memory import Change, Memory, Relation, Version
from onrecord.model.when import NOW, When
from onrecord.model.workspace import ConversationKey
from onrecord.store.ports.changesets import Changesets, WritableChangesets
from onrecord.store.ports.feedback import KeptFeedback, WritableFeedback
from onrecord.store.ports.filters import (
    ChangeFilter,
    MemoryCriteria,
    MemoryFilter,
    RelationFilter,
    RelationWalk,
    TallyFilter,
)
from onrecord.store.ports.index import Asking, Index, Key, Match
from onrecord.store.ports.ledger import Requests
from onrecord.store.ports.workspace import WaitingTurn, Workspace, WritableWorkspace


class Erased(NamedTuple):
    """What was erased with a memory."""

    versions: int
    relations: int
    references: int


class SaveCounts(NamedTuple):
    """How often a run has saved, and a key within 24 hours; and how often the key may, if there is a limit."""

    by_run: int
    by_key: int
    key_may: int | None


class Rejection(NamedTuple):
    """Who rejected a proposal, when and why."""

    by: str
    at: datetime
    reason: str | None


class Alike(NamedTuple):
    """A memory that says nearly the same: how similar its vector is, and its rejection, if it was rejected."""

    memory: Memory
    score: float
    rejected: Rejection | None = None


class Relations(Protocol):
    """The relations between memories, if the caller sees both ends."""

    def around(self, center: Memory, ask: RelationWalk) -> list[Edge]:
        """The relations around a memory, breadth first; one more than asked for if there are more."""

    def joined(self, keys: Sequence[Key], when: When = NOW) -> list[tuple[Key, str, Key]]:
        """The relations of some memories, each from its own end to the other, which may not count at the time asked."""

    def page(self, ask: RelationFilter) -> tuple[list[Relation], str | None]:
        """A page of the tenant's own relations, newest first, and the mark of the next page."""

    def one(self, id: str) -> Relation | None:
        """One of the tenant's own relations, by number."""


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
        """The workspace of the caller's own tenant."""

    @property
    def changesets(self) -> Changesets:
        """What was promoted into the catalog of the caller's own tenant."""

    @property
    def feedback(self) -> KeptFeedback:
        """Which hits were useful, as far as the caller may see that."""

    @property
    def size(self) -> int:
        """How many memories the caller sees, the global ones among them."""

    @property
    def sees_global(self) -> bool:
        """Whether the caller also sees global memories."""

    def check_runs(self, memory: Memory) -> tuple[CheckRun, ...]:
        """The last runs of the checks of a memory of the tenant, the newest first; those since the caller sees it."""

    def reading_of(self, collection: Collection) -> "Reading":
        """Another collection of the tenant, in the same state of the store."""

    def memory(self, id: str, when: When = NOW, *, by_name: bool = False) -> Memory | None:
        """One memory; with a time, only if it was true then. None if it is unknown or not visible.

        What the caller saved in another's conversation, and left behind there, is visible to them so. With `by_name`, the id
        is as the caller wrote it: `kb.x` means their own memory of that name, or else the tenant's; Conflict if they see both.
        """

    def meant(self, given: Sequence[str]) -> list[str]:
        """The full ids of the memories that the caller means by some ids as they wrote them, by one statement; see `memory`. An
        id of which they see no memory stays as it is.
        """

    def seen(self, wanted: Sequence[str]) -> set[str]:
        """Which of these ids are memories that the caller sees, by one statement for all of a tenant."""

    def eligible(
        self, keys: Sequence[Key], when: When = NOW, statuses: Sequence[Status] = ()
    ) -> dict[Key, Match]:
        """Those of some memories that the caller sees and that count at the time of the question.

        For a question about what was known at a time, only those that have not changed since.
        """

    def read(self, matches: Sequence[Match], when: When = NOW) -> list[Memory]:
        """The memories of some matches, in their order, as they were at the time of the question; those the caller sees."""

    def narrow(self, keys: Sequence[Key], only: MemoryCriteria, metadata: Mapping[str, Any]) -> set[Key]:
        """Those of some memories that match, and whose metadata has these values."""

    def saved_before(self, keys: Sequence[Key]) -> dict[Key, Key]:
        """For each of some memories the one that was saved before it, of those that the caller sees."""

    def saved_after(self, keys: Sequence[Key]) -> dict[Key, Key]:
        """The same, of those that were saved after them."""

    def asking(self, keys: Sequence[Key]) -> dict[Key, Asking]:
        """Whether some memories ask something."""

    def openings(self, keys: Sequence[Key]) -> dict[Key, str]:
        """The beginnings of some texts, as long as a definition may be."""

    def filed(self, facet: str) -> list[str]:
        """The ids of the tenant's own memories filed under this name, without retired ones, in the order of saving."""

    def filed_memories(self, facet: str, when: When = NOW, *, gone: bool = False) -> list[Memory]:
        """The same as whole memories, with retired ones on request; as they were known at a time, those that are filed
        under this name today.
        """

    def filed_under(self, facets: Sequence[str]) -> list[Memory]:
        """The tenant's own memories under any of some names, each once, in the order of saving, by one statement;
        retired ones are left out.
        """

    def recorded_since(self, since: datetime, *, most: int, after: int = 0) -> list[Memory]:
        """The tenant's own memories that were last written since a time, retired ones too, in that order; of those
        written at that very time, the ones of later rows than `after`.
        """

    def newest(
        self, facets: Sequence[str], *, each: int, most: int, statuses: Sequence[Status] = ()
    ) -> list[tuple[str, Memory]]:
        """The memories saved last under each of some names, the global ones among them, by one statement for each home.

        At most `each` under one name and `most` in all. The last of every name come first, in the order of the names.
        Only active ones, unless statuses are given.
        """

    def proposals(self, id: str, *, gone: bool = False) -> list[Memory]:
        """The waiting proposals to change a memory that the caller sees, in the order of saving; with `gone`, also those that
        have ended.
        """

    def references(self, root: str) -> list[str]:
        """The references of memories, global ones too, to this entity or to what lies under it, such as the fields of a
        dataset by their URNs; for `memory:`, to any memory.
        """

    def unasked(self, *, most: int) -> list[Memory]:
        """The memories that the caller's agent gets without asking, last updated first: active ones marked so, whose
        present text a person wrote or approved, and that are for the caller personally; what only an admin may see
        is left out.
        """

    def near_to(self, memory: Memory, model: EmbeddingModel, *, least: float) -> list[Alike]:
        """The memories for the same readers whose vectors are at least so similar to those of one that is kept, most similar
        first: live ones of anyone, and rejected ones; the caller sees all of them.
        """

    def rejected_with_content(self, memory: Memory) -> list[Alike]:
        """The rejected memories for the same readers with the same content, newest first, that the caller sees."""

    def browse(self, ask: MemoryFilter) -> tuple[list[Memory], str | None]:
        """A page of memories, and the mark of the next page."""

    def count(self, ask: MemoryCriteria) -> int:
        """How many memories match."""

    def tally(self, ask: TallyFilter) -> list[Group]:
        """Groups of memories that share a value, the largest first; the request's limit is not applied."""

    def versions(self, id: str, *, by_name: bool = False) -> list[Version]:
        """The history of one memory since the caller can see it, oldest first; empty if it is unknown or not visible. For
        `by_name` see `memory`.
        """

    def compare(self, ask: ChangeFilter) -> Compared:
        """A page of changes between two times; the later one is the time of this reading unless given."""

    def moments(self, *, before: datetime, most: int) -> list[datetime]:
        """When memories changed: the latest moments up to, not including, a time, latest first."""


class Writing(Reading, Protocol):
    """One transaction in one tenant. Others do not see it until the block ends without an error."""

    #: A sentence about what remains of erased data, and until when; set when the block ends, None if nothing remains.
    residue: str | None

    @property
    def workspace(self) -> WritableWorkspace:
        """The workspace of the caller's own tenant, in the same transaction."""

    @property
    def changesets(self) -> WritableChangesets:
        """The changesets of the caller's own tenant, in the same transaction."""

    @property
    def feedback(self) -> WritableFeedback:
        """Which hits were useful, in the same transaction."""

    @property
    def requests(self) -> Requests:
        """Requests that must not be done twice, in the same transaction."""

    def part(self) -> AbstractContextManager["Writing"]:
        """A part of this transaction that an error in it takes back alone. A transaction with parts changes nothing beside
        them.
        """

    def target(self, id: str, *, ends: bool = False) -> Memory:
        """A memory that this caller may change; otherwise NotFound, Forbidden, or HigherTier if only its tier
        prevents it.

        With `ends`, the change ends the memory, which a tenant may allow all of its members.
        """

    def named(self, id: str, *, ends: bool = False, erases: bool = False, by_name: bool = False) -> Memory:
        """The same whatever its tier: a memory that the caller may change, or propose to change.

        With `ends` or `erases`, also one of the caller's own in a conversation that they are no longer in. For `by_name` see
        `memory`.
        """

    def is_outranked(self, memory: Memory) -> bool:
        """Whether the text of a memory is of a higher tier than the caller."""

    def sees(self, memory: Memory) -> bool:
        """Whether the caller sees a memory or owns it; counts in answers include only such memories."""

    def reviewable(self, id: str, *, by_name: bool = False) -> Memory:
        """A memory that this caller may approve or reject, even another user's; otherwise NotFound or Forbidden. For `by_name`
        see `memory`.
        """

    def save_counts(self) -> SaveCounts:
        """How much the caller's run and key have saved, including this transaction; no one else saves meanwhile."""

    def holder(self, id: str) -> Memory | None:
        """The memory that a save under this id changes, of any tier: the caller's own of that name, or else the tenant's.
        None if they see neither.
        """

    def require_free(self, id: str) -> None:
        """Conflict if a memory has this id, whether or not the caller sees it."""

    def similar(self, memory: Memory, *, by_hint_alone: bool = False) -> Memory | None:
        """The live memory that this one repeats, by content or by its given hint, if the caller may change it; of any
        tier.
        """

    def alike(
        self, memory: Memory, model: EmbeddingModel, passages: Sequence[Passage], *, least: float
    ) -> list[Alike]:
        """The memories for the same readers whose vectors are at least so similar, most similar first: live ones of the
        same owner, and rejected ones that the caller sees. What this transaction has added is not among them.
        """

    def keep_check_run(self, memory: Memory, run: CheckRun) -> None:
        """Keep a run of the checks of a memory beside it; the oldest of many goes."""

    def add(self, memory: Memory, change: Change) -> Memory:
        """Add a row and its first version; an empty id becomes the tenant's next whole number."""

    def replace(self, before: Memory, after: Memory, change: Change) -> Memory:
        """Replace the row by its state after a change, and add the version."""

    def erase(self, memory: Memory, change: Change) -> Erased:
        """Erase a row with its versions, index entries, edges, every reference to it, and proposals to change it.
        Edges and references are counted if the caller sees their other end.
        """

    def redact(self, memory: Memory, past: Mapping[int, Memory]) -> None:
        """Replace the texts of old versions of a catalog record, for any caller, so that none of them keeps erased
        text.
        """

    def relate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> tuple[Relation, bool]:
        """An edge, and whether it is new."""

    def unrelate(
        self, source: Memory, relation: RelationName, target: Memory, change: Change
    ) -> Relation | None:
        """The removed relation, if there was one."""

    def writing_of(self, collection: Collection) -> "Writing":
        """Another collection of the tenant, in the same transaction."""

    def attached(self, conversation: ConversationKey | None, artifacts: Sequence[str]) -> list[Memory]:
        """The memories that change with something deleted: those of session scope in a conversation, and the caller's own
        that are pinned to it, or for an admin all of them; and those linked to some artifacts, visible or not, since a link must lead somewhere.
        """

    def put_off(self, turn: WaitingTurn) -> None:
        """Keep a turn of the conversation that the caller is in, if any, with a job to extract its facts."""

    def note(self, operation: str, subject: str | None = None) -> None:
        """Add a line to the audit that is about no memory, in the same transaction."""

    def strip(
        self, references: Sequence[str], change: Change, *, dry_run: bool = False
    ) -> dict[str, tuple[str, ...]]:
        """Remove references, and those under them by a dot, from every live memory of the tenant, but for those that it
        proposes to edit; returns what each memory lost, or would lose on a dry run.
        """

    def embed(self, memory: Memory, model: EmbeddingModel | None, passages: Sequence[Passage]) -> bool:
        """Store the vectors of a memory of this transaction; without any, add a job to make them and return False.

        Without passages, the vectors of a memory with the same text are taken, if the caller sees it.
        """
