"""WHICH records match? Words, references and vectors of a collection, as far as one caller may see it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from onrecord.model.embedding import EmbeddingModel
from onrecord.model.limits import Kind, Scope, Status
from onrecord.model.when import When
from onrecord.store.timestamps import datetime_of
from onrecord.text import Token

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


class Centroid(NamedTuple):
    """The mean vector of all passages, and how many there are."""

    vector: "NDArray[Any]"
    passages: int


class About(NamedTuple):
    """Which memories are about which of some things, and about how many in all; how many are about each; and how
    many memories there are."""

    holders: Mapping[Key, tuple[str, ...]]
    lengths: Mapping[Key, int]
    counts: Mapping[str, int]
    memories: int


class Coverage(NamedTuple):
    """How far a model has come in a tenant: `stamp` grows with every change, `dropped` whenever some vectors went.

    The numbers are of what the reader sees. `totals` are sums of the vectors of all passages, as float64: all of them
    together, or one sum for each audience.
    """

    tenant: int
    key: int
    model: EmbeddingModel
    memories: int
    passages: int
    totals: tuple[bytes, ...]
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
        return datetime_of(self.since)

    @property
    def created_at(self) -> datetime:
        return datetime_of(self.written)

    @property
    def updated_at(self) -> datetime:
        return datetime_of(self.changed)

    @property
    def is_verified(self) -> bool:
        return self.checked is not None


class Index(Protocol):
    """What words, references and vectors say of a collection, as far as one caller may see it."""

    @property
    def average_length(self) -> float:
        """How many words the records that the caller sees have on average."""

    @property
    def has_references(self) -> bool:
        """Whether any record is about something; where some have tags alone, it may say so too."""

    def match_terms(
        self, tokens: Sequence[Token], *, most: int, past: bool = False, subjects: bool = False
    ) -> list[Found]:
        """The memories that hold any of the terms, best first, exact; whether they stand is not yet looked at.

        With `subjects`, those that are about something in whose name they stand.
        """

    def match_past_terms(
        self, tokens: Sequence[Token], when: When, statuses: Sequence[Status] = ()
    ) -> list[tuple[Match, float]]:
        """Memories that have changed since, by the words they held when they were known so."""

    def rarity(self, wanted: Sequence[str]) -> dict[str, float]:
        """What each term weighs: much if few memories hold it."""

    def holders(self, terms: Sequence[str], *, most: int) -> dict[str, list[Key]]:
        """Which memories hold each of some terms, as far as several and no more than so many do."""

    def places(self, matches: Sequence[Match], pairs: Sequence[tuple[str, str]]) -> dict[Key, Places]:
        """Where the terms of some pairs stand in some memories of today.

        Pairs of which one term stands nowhere may be passed over: nothing holds them.
        """

    def near(self, vector: "NDArray[Any]", model: EmbeddingModel, *, most: int) -> list[Near]:
        """The memories nearest to a vector, nearest first, exact; whether they stand is not yet looked at."""

    def similarity(self, vector: "NDArray[Any]", model: EmbeddingModel, keys: Sequence[Key]) -> list[Near]:
        """How near some memories are, of those that have vectors."""

    def centroid(self, model: EmbeddingModel) -> Centroid:
        """What all passages that the caller sees have in common: what is no nearer than that has nothing to do with a
        question."""

    def tokens(self, passages: Sequence[Near], model: EmbeddingModel) -> dict[Key, bytes]:
        """The token vectors of some passages, as they were kept."""

    def coverage(self) -> list[Coverage]:
        """How far each model has come with what the caller sees, in each home."""

    def has_vectors(self, text_hash: str, model: EmbeddingModel) -> bool:
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
