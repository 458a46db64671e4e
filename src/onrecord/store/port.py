"""WHAT does a store do? The port that the pipelines and the service speak to.

A reading is one consistent state; a writing is one transaction that lets no other writer into its tenant.
Both belong to one caller: there is no way to read or write without saying for whom.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from onrecord.model.answers import AuditEntry, Compared, Edge, Problem
from onrecord.model.answers import Key as ApiKey
from onrecord.model.caller import Caller
from onrecord.model.collections import Collection, Home
from onrecord.model.embedding import Model, Passage
from onrecord.model.limits import AuditOutcome, Kind, RelationName, Scope, Status
from onrecord.model.memory import Change, Memory, Relation, Version
from onrecord.model.requests import Browse, ListAudit, ListRelations, Neighbours
from onrecord.model.when import NOW, When
from onrecord.store.instants import moment_of
from onrecord.text import Token

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onrecord.store.papers import PaperArchive, PaperRestoring, Papers


#: Where the store keeps a memory: its tenant and its row. Of two, the lower one was saved first.
Key = tuple[int, int]


class Found(NamedTuple):
    """A memory that one channel has found, and how well it matches there."""

    key: Key
    score: float


class Places(NamedTuple):
    """How many words a memory has, and where some terms stand in it."""

    length: int
    positions: Mapping[str, tuple[int, ...]]


class Near(NamedTuple):
    """A memory whose vector is near: which of its passages is the nearest, and how near that is."""

    tenant: int
    row: int
    passage: int
    score: float

    @property
    def key(self) -> Key:
        return self.tenant, self.row


class About(NamedTuple):
    """Which memories are about which of some things, and about how many in all; how many are about each; and how
    many memories there are."""

    holders: Mapping[Key, tuple[str, ...]]
    lengths: Mapping[Key, int]
    counts: Mapping[str, int]
    memories: int


class Coverage(NamedTuple):
    """How far a model has come in a tenant: `stamp` grows with every change, `dropped` whenever some vectors went.

    `total` is the sum of the vectors of all passages, as float64.
    """

    tenant: int
    key: int
    model: Model
    memories: int
    passages: int
    total: bytes
    stamp: int
    dropped: int


class Match(NamedTuple):
    """A memory that stands at the time of a question: what its rank may depend on, but not yet its text.

    Times are kept as the store has them: of most candidates nobody asks.
    """

    key: Key
    id: str
    kind: Kind
    tags: tuple[str, ...]
    scope: Scope
    conversation: str | None
    since: int
    checked: int | None
    has_query: bool
    entities: tuple[str, ...]
    #: For whose eyes it is, in the words of the store.
    audience: str
    written: int
    changed: int

    @property
    def valid_from(self) -> datetime:
        return moment_of(self.since)

    @property
    def created_at(self) -> datetime:
        return moment_of(self.written)

    @property
    def updated_at(self) -> datetime:
        return moment_of(self.changed)

    @property
    def is_verified(self) -> bool:
        return self.checked is not None


class Erased(NamedTuple):
    """What went with a memory."""

    versions: int
    relations: int
    references: int


class Spent(NamedTuple):
    """How often a run has saved, and a key within 24 hours; and how often the key may, if that is bounded."""

    by_run: int
    by_key: int
    key_may: int | None


class Index(Protocol):
    """What words, references and vectors say of a collection, as far as one caller may see it."""

    @property
    def average_length(self) -> float:
        """How many words the records have on average, whoever sees them."""

    @property
    def has_references(self) -> bool:
        """Whether any record is about something; where some have tags alone, it may say so too."""

    def match_terms(self, tokens: Sequence[Token], *, most: int, past: bool = False) -> list[Found]:
        """The memories that hold any of the terms, best first, exact; whether they stand is not yet looked at."""

    def match_past_terms(
        self, tokens: Sequence[Token], when: When, statuses: Sequence[Status] = ()
    ) -> list[tuple[Match, float]]:
        """Memories that have changed since, by the words they held when they were known so."""

    def rarity(self, wanted: Sequence[str]) -> dict[str, float]:
        """What each term weighs: much if few memories hold it."""

    def holders(self, terms: Sequence[str], *, most: int) -> dict[str, list[Key]]:
        """Which memories hold each of some terms, as far as several and no more than so many of the tenant's do."""

    def places(self, matches: Sequence[Match], pairs: Sequence[tuple[str, str]]) -> dict[Key, Places]:
        """Where the terms of some pairs stand in some memories of today.

        Pairs of which one term stands nowhere may be passed over: nothing holds them.
        """

    def near(self, vector: "NDArray[Any]", model: Model, *, most: int) -> list[Near]:
        """The memories nearest to a vector, nearest first, exact; whether they stand is not yet looked at."""

    def similarity(self, vector: "NDArray[Any]", model: Model, keys: Sequence[Key]) -> list[Near]:
        """How near some memories are, of those that have vectors."""

    def mean_similarity(self, vector: "NDArray[Any]", model: Model) -> float:
        """How near all passages are on average: what is no nearer has nothing to do with it."""

    def tokens(self, passages: Sequence[Near], model: Model) -> dict[Key, bytes]:
        """The token vectors of some passages, as they were kept."""

    def coverage(self) -> list[Coverage]:
        """How far each model has come, in each home that is seen."""

    def has_vectors(self, text_hash: str, model: Model) -> bool:
        """Whether some memory that the caller sees has the vectors of this very text."""

    def about(
        self,
        references: Sequence[str],
        names: Sequence[str] = (),
        *,
        most: int,
        namesakes: int | None = None,
    ) -> About:
        """Which memories are about any of these, or of what is called so; of what very many are about, the newest.

        A name that more than so many `namesakes` have is passed over.
        """

    def joined(self, keys: Sequence[Key], when: When = NOW) -> list[tuple[Key, str, Key]]:
        """The relations of some memories, each from its own end to another that is seen; it may not stand."""

    def eligible(
        self, keys: Sequence[Key], when: When = NOW, statuses: Sequence[Status] = ()
    ) -> dict[Key, Match]:
        """Those of some memories that the caller sees and that count at the time of the question.

        As known at a time, only those that have not changed since.
        """

    def read(self, matches: Sequence[Match], when: When = NOW) -> list[Memory]:
        """The memories of some matches, in their order, as they stood at the time of the question; those the caller sees."""


class Reading(Protocol):
    """One consistent state of a collection, as far as one caller may see it."""

    #: What can be found by words, references and vectors.
    @property
    def index(self) -> Index: ...

    @property
    def size(self) -> int:
        """How many memories there are in the caller's tenants, whoever sees them."""

    @property
    def sees_global(self) -> bool:
        """Whether there are global memories beside the tenant's own."""

    def memory(self, id: str, when: When = NOW) -> Memory | None:
        """One memory; with a time, only if it was true then. Unknown and forbidden are both None."""

    def reading_of(self, collection: Collection) -> "Reading":
        """Another collection of the tenant, in the same state of the store."""

    def filed(self, facet: str) -> list[str]:
        """The ids of the tenant's own memories that are filed so, retired ones left out; in the order of saving."""

    def filed_memories(self, facet: str, *, gone: bool = False) -> list[Memory]:
        """The same, read whole; retired ones too if wanted."""

    def references(self, root: str) -> list[str]:
        """What the tenant's own memories are about that is this, or lies under it; of `memory:`, every memory."""

    def unasked(self, *, most: int) -> list[Memory]:
        """What the caller is told unasked, last updated first: active memories marked so whose text, as it stands, a
        person wrote or approved, and that are for the caller's own eyes; what an admin may look into is not."""

    def browse(self, ask: Browse) -> tuple[list[Memory], str | None]:
        """A page of memories, last updated first, and the mark of the next page."""

    def edges(self, center: Memory, ask: Neighbours) -> list[Edge]:
        """The relations around a memory, walked breadth first; one more than asked for if there are more."""

    def relations(self, ask: ListRelations) -> tuple[list[Relation], str | None]:
        """A page of the tenant's own edges, newest first, and the mark of the next page; both ends are seen."""

    def relation(self, id: str) -> Relation | None:
        """One of these edges by its number."""

    def versions(self, id: str) -> list[Version]:
        """The history of one memory, oldest first; empty for unknown and forbidden alike."""

    def compare(self, since: datetime, until: datetime) -> Compared:
        """How what is known differs between two times."""


class Writing(Reading, Protocol):
    """One transaction in one tenant. Nothing is seen by others until the block ends well."""

    def target(self, id: str) -> Memory:
        """A memory this caller may change, or NotFound or Forbidden."""

    def reviewable(self, id: str) -> Memory:
        """A memory that this caller may approve or turn down, though it be another's; or NotFound or Forbidden."""

    def spent(self) -> Spent:
        """What the caller's run and key have saved, this transaction included; no one else saves meanwhile."""

    def holder(self, id: str) -> Memory | None:
        """The memory that holds an id, or None if it is free; Conflict if it is not for the caller to see."""

    def similar(self, memory: Memory, *, by_hint_alone: bool = False) -> Memory | None:
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

    def writing_of(self, collection: Collection) -> "Writing":
        """Another collection of the tenant, in the same transaction."""

    def papers(self) -> "Papers":
        """What the caller's own tenant keeps beside its memories, in the same transaction."""

    def note(self, operation: str, subject: str | None = None) -> None:
        """A line of the audit about what is done to no memory, in the same transaction."""

    def strip(self, references: Sequence[str], change: Change) -> int:
        """Take references, and what lies under them by a dot, out of every memory of the tenant; gives how many changed."""

    def embed(self, memory: Memory, model: Model | None, passages: Sequence[Passage]) -> bool:
        """Give a memory of this transaction its vectors; if there are none, a job to make them, and False.

        Without passages those of the same text are taken, from a memory that the caller sees.
        """


class Dossier(NamedTuple):
    """A memory with everything known of its past, for moving it between stores."""

    id: str
    versions: tuple[Version, ...]


class Counters(NamedTuple):
    """The last numbers a tenant gave out; they move with an export so that no id is ever given twice."""

    last_id: str
    last_relation: int


#: The job of making the vectors of a memory, or of all that have none.
EMBED: Final = "embed"


class Job(NamedTuple):
    """Work that one worker has claimed for a while. `subject` is the row of a memory, or 0 for the whole tenant."""

    home: Home
    name: str
    subject: int
    attempts: int
    worker: str


class Archive(Protocol):
    """The whole of a store, past every caller, in one consistent state."""

    def homes(self) -> list[Home]:
        """Where there are records, or were, by the names that exports give them."""

    def count(self, home: Home) -> int: ...

    def counters(self, home: Home) -> Counters: ...

    def dossiers(self, home: Home, wanted: Sequence[str] | None = None) -> Iterator[Dossier]:
        """Every memory with its past, in the order in which they were saved; or only those of some ids."""

    def edges(self, home: Home) -> Iterator[Relation]:
        """Every relation, those taken back included."""

    def papers(self, tenant: str) -> "PaperArchive":
        """What a tenant keeps beside its memories."""

    def rows(self, home: Home, wanted: Sequence[int]) -> list[Memory]:
        """The memories in some rows, as they stand."""

    def unembedded(self, home: Home, model: Model, most: int, after: int = 0) -> list[Memory]:
        """Memories that have no vectors of this model, in the order of their rows."""

    def coverage(self, home: Home) -> list[Coverage]:
        """How far each model has come."""

    def jobs(self, home: Home) -> tuple[int, int]:
        """How many jobs wait, and how many have failed for good."""


class Restoring(Archive, Protocol):
    """One transaction in one tenant that takes in what was exported, or derives its index anew."""

    def restore(self, dossiers: Iterable[Dossier]) -> None:
        """Add memories with their past. Their ids must be free."""

    def restore_edges(self, edges: Sequence[Relation], counters: Counters) -> int:
        """Add relations that are not here yet; gives how many were new."""

    def restoring_papers(self) -> "PaperRestoring":
        """The same for what is kept beside memories, in the same transaction."""

    def reindex(self) -> tuple[int, int]:
        """Derive the index anew; gives how many memories and postings."""

    def keep_vectors(self, memory: Memory, model: Model, passages: Sequence[Passage]) -> bool:
        """Give a memory its vectors, if it still says what it said; False if it does not, or is gone."""

    def drop_vectors(self) -> None:
        """Give up every vector of the tenant, to be made anew."""

    def ask_for(self, job: str, due: datetime) -> None:
        """A job for the tenant as a whole."""

    def withdraw(self, job: str) -> None:
        """Take back a job for the tenant as a whole: there is nothing left to do."""

    def finish(self, done: Sequence[Job]) -> None:
        """Take away jobs that are done, unless they were asked for anew meanwhile."""

    def postpone(self, job: Job, due: datetime, error: str | None) -> None:
        """Try a job again later; without an error it has got on and counts as fresh."""

    def retry_failed(self, now: datetime) -> None:
        """Let jobs that were given up be tried again."""


class Claim(NamedTuple):
    """How it stands with a request that must not be done twice: `answered` comes with what was answered."""

    state: Literal["fresh", "in progress", "answered", "different"]
    status: int | None = None
    body: str | None = None


class Ledger(Protocol):
    """One transaction over keys, audit and requests: those of one tenant, or where it says so of all."""

    def add_key(self, key: ApiKey, hash: str) -> None:
        """A new key of the tenant it names; its id and its hash must be new."""

    def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, whosever it is; revoked and expired ones too."""

    def has_keys(self) -> bool:
        """Whether there was ever a key, of any tenant, that is still listed."""

    def all_keys(self) -> list[ApiKey]:
        """The keys of the tenant, oldest first; without a tenant, all of them."""

    def revoke(self, id: str, at: datetime) -> tuple[ApiKey, bool] | None:
        """A key that works no longer, and whether it was not revoked before; None if the tenant has no such key."""

    def note(
        self,
        caller: Caller,
        operation: str,
        at: datetime,
        subject: str | None = None,
        outcome: AuditOutcome = "done",
    ) -> None:
        """A line of the audit, in the next number of the tenant."""

    def page(self, ask: ListAudit) -> tuple[list[AuditEntry], str | None]:
        """Lines of the audit, newest first, and the mark of the next page."""

    def claim(self, user: str, key: str, operation: str, fingerprint: str, now: datetime) -> Claim:
        """Begin a request under a key that the sender chose, unless it was begun before; old ones are swept."""

    def keep(self, user: str, key: str, status: int, body: str) -> None:
        """What was answered to a request that was claimed."""

    def drop(self, user: str, key: str) -> None:
        """Let a request that was claimed, but not done, be sent again."""

    def secret(self) -> str | None:
        """What only those who hold the store know: by it processes believe what another of them has signed."""

    def keep_secret(self, secret: str) -> str:
        """Make this the secret of the store, unless it has one; gives the one it has."""


class Store(Protocol):
    """Where rows live. A save is on disk when its `writing` block has ended without an error."""

    location: str

    def reading(self, caller: Caller, now: datetime) -> AbstractContextManager[Reading]: ...

    def writing(
        self, caller: Caller, now: datetime, tenant: str | None = None
    ) -> AbstractContextManager[Writing]: ...

    def archive(self) -> AbstractContextManager[Archive]: ...

    def restoring(self, home: Home) -> AbstractContextManager[Restoring]: ...

    def ledger(self, tenant: str | None = None, *, writes: bool = True) -> AbstractContextManager[Ledger]:
        """Keys, audit and requests of a tenant. One that only looks waits for no one and keeps no one waiting."""

    def papers(
        self, caller: Caller, now: datetime, *, writes: bool = True
    ) -> AbstractContextManager["Papers"]:
        """What the caller's tenant keeps beside its memories. One that only looks waits for no one."""

    def make_room(self, tenant: str) -> bool:
        """A tenant to save in; False if it was there before."""

    def erase_tenant(self, tenant: str) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Everything of a tenant, for good; gives how many rows of each table went, and how many are left."""

    def rows_of(self, tenant: str) -> Mapping[str, int]:
        """How many rows of each table are of a tenant, tables without any left out."""

    def claim(self, worker: str, now: datetime, lease: timedelta, most: int) -> list[Job]:
        """Take due jobs of one tenant and one name; no one else takes them before the lease is over."""

    def problems(self, home: Home) -> Iterator[Problem]:
        """What does not agree in a home: windows, versions, index, edges, counters."""

    def store_problems(self) -> Iterator[Problem]:
        """What does not agree in the store as a whole."""

    def backup(self, path: Path) -> bool:
        """Copy the whole store while others write; False if an export must serve instead."""

    def settle(self) -> None:
        """Much was written: let the database take note of it."""

    def settle_vectors(self) -> None:
        """Many vectors were made: let the database prepare for searching them."""

    def note_reindexed(self) -> None:
        """Every tenant was reindexed: the index is of this version now."""

    def close(self) -> None: ...
