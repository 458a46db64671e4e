"""WHICH records match? Words, references and vectors of a collection, as far as one caller may see it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.limits import CheckState, Kind, Scope, Status
from onrecord.model.when import When
from onrecord.model.workspace import ConversationKey
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
    """How many words a memory has, the positions of some terms in it, and which of these are in its title, hint or
    tags too.
    """

    length: int
    positions: Mapping[str, tuple[int, ...]]
    labels: frozenset[str] = frozenset()


class Near(NamedTuple):
    """A memory with a near vector: its nearest passage, and how similar that is."""

    tenant: int
    row: int
    passage: int
    score: float

    @property
    def key(self) -> Key:
        return self.tenant, self.row


class Asking(NamedTuple):
    """Whether a text holds a question, and whether it ends with one."""

    anywhere: bool
    at_the_end: bool


class Centroid(NamedTuple):
    """The mean vector of all passages, and how many there are."""

    vector: "NDArray[Any]"
    passages: int


class ReferenceCounts(NamedTuple):
    """Which memories are about which of some things, and about how many in all; how many are about each; and how many
    memories there are.
    """

    holders: Mapping[Key, tuple[str, ...]]
    lengths: Mapping[Key, int]
    counts: Mapping[str, int]
    memories: int


class Coverage(NamedTuple):
    """How many memories a model has embedded in a tenant: `stamp` grows with every change, `dropped` whenever vectors
    are removed.

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
    """A memory that counts at the time of a question: everything its rank may depend on, without its text.

    Times stay in the store's form, since most candidates never need them.
    """

    key: Key
    id: str
    kind: Kind
    tags: tuple[str, ...]
    scope: Scope
    conversation: ConversationKey | None
    since: int
    checked: int | None
    has_query: bool
    entities: tuple[str, ...]
    #: Who may see it, as the store writes that down.
    audience: str
    written: int
    changed: int
    check_state: CheckState | None = None

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
        """By its checks, or else by someone."""
        return self.check_state == "verified" or (self.check_state != "failed" and self.checked is not None)


class Index(Protocol):
    """What words, references and vectors find in a collection, as far as one caller may see it."""

    @property
    def average_length(self) -> float:
        """How many words the records that the caller sees have on average."""

    @property
    def has_references(self) -> bool:
        """Whether any record is about something; may also be True if records only have tags."""

    def match_terms(
        self, tokens: Sequence[Token], *, most: int, past: bool = False, subjects: bool = False
    ) -> list[Found]:
        """The memories that contain any of the terms, best first, exact; whether they count at the time asked is
        checked later.

        With `subjects`, also memories about something whose name contains the terms.
        """

    def match_past_terms(
        self, tokens: Sequence[Token], when: When, statuses: Sequence[Status] = ()
    ) -> list[tuple[Match, float]]:
        """Memories that have changed since, by the words that they contained at the time asked about."""

    def rarity(self, wanted: Sequence[str]) -> dict[str, float]:
        """The weight of each term: high if few memories contain it."""

    def holders(self, terms: Sequence[str], *, most: int) -> dict[str, list[Key]]:
        """Which memories contain each of some terms, for terms that at least two and at most so many contain."""

    def places(self, matches: Sequence[Match], pairs: Sequence[tuple[str, str]]) -> dict[Key, Places]:
        """The positions of the terms of some pairs in some present memories.

        A pair may be left out if one of its terms occurs nowhere.
        """

    def near(self, vector: "NDArray[Any]", model: EmbeddingModel, *, most: int) -> list[Near]:
        """The memories nearest to a vector, nearest first, exact; whether they count at the time asked is checked
        later.
        """

    def similarity(self, vector: "NDArray[Any]", model: EmbeddingModel, keys: Sequence[Key]) -> list[Near]:
        """How similar some memories are to a vector, of those that have vectors."""

    def centroid(self, model: EmbeddingModel) -> Centroid:
        """The mean vector of all passages that the caller sees. A text no nearer to a question than that has nothing to
        do with it.
        """

    def tokens(self, passages: Sequence[Near], model: EmbeddingModel) -> dict[Key, bytes]:
        """The stored token vectors of some passages."""

    def coverage(self) -> list[Coverage]:
        """How many memories that the caller sees each model has embedded, in each home."""

    def passages_of(self, text_hash: str, model: EmbeddingModel) -> list[Passage]:
        """The vectors of exactly this text, if a memory that the caller sees has them."""

    def warm(self, model: EmbeddingModel) -> None:
        """Read what a search by vectors needs, so that a transaction need not while others wait for it."""

    def embedded(self, keys: Sequence[Key]) -> dict[Key, str]:
        """The name of the model that made the vectors of each of some memories, of those that have any; the newest
        model, if several did.
        """

    def about(
        self,
        references: Sequence[str],
        names: Sequence[str] = (),
        *,
        most: int,
        namesakes: int | None = None,
    ) -> ReferenceCounts:
        """Which memories are about any of these names; the newest, if very many are.

        A name that more than `namesakes` things share is ignored.
        """
