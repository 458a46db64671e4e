"""WHAT does a question carry from layer to layer?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from onrecord.model import limits
from onrecord.model.caller import Caller
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.limits import Kind
from onrecord.model.memory import Memory
from onrecord.model.when import When
from onrecord.model.workspace import ConversationKey
from onrecord.providers.embedding import Embedder
from onrecord.recall.hits import Hit
from onrecord.recall.recipes import Recipe
from onrecord.store.ports.filters import MemoryCriteria
from onrecord.store.ports.index import Asking, Found, Index, Key, Match, Near
from onrecord.store.ports.records import Reading
from onrecord.text import Token
from onrecord.text.times import Window

if TYPE_CHECKING:
    from dataclasses import replace as replace

    from numpy.typing import NDArray

    from onrecord.recall.recall import Recall
else:

    def replace(draft: "RecallDraft", /, **changes: Any) -> "RecallDraft":
        """Like `dataclasses.replace`, whose loop over every field costs more than most layers."""
        new = object.__new__(RecallDraft)
        vars(new).update(vars(draft))
        vars(new).update(changes)
        return new


class ScorePiece(NamedTuple):
    """A part of a score; a plain tuple, since there are hundreds and few are shown."""

    channel: str
    rank: int
    score: float
    share: float


#: Returns the best results of a channel, as many as asked for.
Search = Callable[[int], Sequence[Found]]
#: The score of a memory in a channel, whether or not it is among the channel's results; 0 for none.
Scorer = Callable[[Match], float]
Boosts = tuple[tuple[str, float], ...]


class ReservedPlaces(NamedTuple):
    """Memories with reserved places: which they are, how many places, and how far to look for them."""

    holds: Callable[[Match], bool]
    places: int
    farthest: float


class CandidateFilter(NamedTuple):
    """Which memories a question is limited to beyond its request, and how many of each channel take part."""

    #: Which of those that the caller sees; None for all.
    counts: Callable[[Match], bool] | None
    pool: int
    first_look: int
    reserved: tuple[ReservedPlaces, ...] = ()


class PageMark(NamedTuple):
    """Which hits of an order are wanted: how many places the first answer had, and how many hits followed it.

    All pages are parts of one order.
    """

    first: int
    followed: int

    def __str__(self) -> str:
        return f"{self.first}.{self.followed}"


def page_after(mark: str | None) -> PageMark | None:
    """The page that a mark leads to; ValueError if no answer gave it."""
    if mark is None:
        return None
    first, _, followed = mark.partition(".")
    numbers = [
        int(each) for each in (first, followed) if each.isascii() and each.isdigit() and len(each) <= 6
    ]
    if len(numbers) < 2 or not 1 <= numbers[0] <= limits.RECALL_LIMIT:
        raise ValueError("is not a page mark from an earlier answer; leave it out to start at the best")
    return PageMark(*numbers)


@dataclass(frozen=True, kw_only=True)
class RecallDraft:
    """An answer in progress. What is known of a memory is stored under its key; each layer adds its part."""

    caller: Caller
    ask: "Recall"
    now: datetime
    recipe: Recipe
    among: CandidateFilter | None = None
    #: The conversation in which the question is asked, known once the store is open.
    conversation: ConversationKey | None = None
    #: The lineage neighbours of the given things, each with its thing.
    neighbours: Mapping[str, str] = field(default_factory=dict)
    #: What the question says: its words, the kinds and times it mentions, and its vector.
    terms: tuple[Token, ...] = ()
    kinds: tuple[Kind, ...] = ()
    windows: tuple[Window, ...] = ()
    vector: Passage | None = None
    model: EmbeddingModel | None = None
    #: The weight of each of its words.
    rarity: Mapping[str, float] = field(default_factory=dict)
    #: What each channel found, best first, and how to ask it for more.
    found: Mapping[str, Sequence[Found]] = field(default_factory=dict)
    searches: Mapping[str, Search] = field(default_factory=dict)
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    #: Whether a channel had more results than took part.
    is_cut: bool = False
    #: How many results each channel brings, where that is not what the recipe says.
    depth: int | None = None
    #: Those that only a deeper look found; they come after all others.
    farther: frozenset[Key] = frozenset()
    nearest: Mapping[Key, Near] = field(default_factory=dict)
    #: How well a memory matches each token of the question.
    met: Mapping[Key, "NDArray[Any]"] = field(default_factory=dict)
    #: Which of these count for this caller at this time.
    matches: Mapping[Key, Match] = field(default_factory=dict)
    #: The score of each: the sum of its parts, times its boosts.
    parts: Mapping[Key, tuple[ScorePiece, ...]] = field(default_factory=dict)
    boosts: Mapping[Key, Boosts] = field(default_factory=dict)
    #: The highest and the lowest similarity of the results, the ends of the scale of similarity.
    marks: tuple[float, float] | None = None
    #: Whether the turns of conversations among them ask something.
    asking: Mapping[Key, Asking] = field(default_factory=dict)
    #: The hit and the reference or relation that led to a memory.
    paths: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    #: The estimated relevance of each, and that of the best before the floor removed any.
    relevance: Mapping[Key, float] = field(default_factory=dict)
    best_relevance: float = 0.0
    #: Memories that were read already, since an advisor saw them.
    read: Mapping[Key, Memory] = field(default_factory=dict)
    #: The hits of the answer, best first; example queries may have a list of their own.
    chosen: tuple[Key, ...] = ()
    queries: tuple[Key, ...] = ()
    hits: tuple[Hit, ...] = ()
    query_hits: tuple[Hit, ...] = ()
    #: The mark of the hits that follow, if there are more.
    next: str | None = None
    tokens: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def when(self) -> When:
        return When(self.ask.as_of, self.ask.known_at)

    @property
    def only(self) -> MemoryCriteria | None:
        """The other limits on memories; a match already shows its kind, scope and times."""
        ask = self.ask
        narrows = ask.only_dimensions, ask.only_tags, ask.only_entities, ask.only_owners, ask.only_metadata
        if not any(narrows) and ask.proposal is None and not ask.only_verified:
            return None
        return MemoryCriteria(
            dimensions=ask.only_dimensions,
            tags=ask.only_tags,
            entities=ask.only_entities,
            owners=ask.only_owners,
            proposal=ask.proposal,
            check_states=("verified",) if ask.only_verified else (),
            statuses=ask.statuses,
            as_of=ask.as_of,
            known_at=ask.known_at,
        )

    @property
    def pool(self) -> int:
        """How many results each channel brings: more than are shown, since later layers reorder them, above all with
        vectors. It does not depend on how many are asked for, so that nobody's first hit does.
        """
        if self.among is not None:
            return self.among.pool
        if self.depth is not None:
            return self.depth
        return self.recipe.pool if self.vector is not None else self.recipe.pool // 2

    @property
    def page(self) -> "PageMark":
        return page_after(self.ask.after) or PageMark(self.ask.limit, 0)

    @property
    def wanted(self) -> int:
        """How many hits the pages have up to this one."""
        page = self.page
        return page.first if self.ask.after is None else page.first + page.followed + self.ask.limit

    def pool_of(self, channel: str) -> int:
        """The same of one channel: where fields come first, of what holds the words more are looked at."""
        return (
            max(self.pool, self.recipe.worded) if channel == "lexical" and self.among is None else self.pool
        )

    def score(self, key: Key) -> float:
        total = 0.0
        for part in self.parts[key]:
            total += part[3]
        for _, factor in self.boosts.get(key, ()):
            total *= factor
        return total

    def ranked(self) -> list[Key]:
        ranked = [each.key for each in best_first({key: self.score(key) for key in self.parts})]
        return sorted(ranked, key=self.farther.__contains__) if self.farther else ranked


def best_first(scores: Mapping[Key, float]) -> list[Found]:
    """Sorted by score; of two equal ones, the one saved first."""
    # Plain tuples, negated: to sort by a function of each would take twice as long.
    return [Found(key, -score) for score, key in sorted([(-score, key) for key, score in scores.items()])]


def with_part(
    draft: RecallDraft, channel: str, found: Sequence[Found], shares: Sequence[float]
) -> RecallDraft:
    """The draft with one more part of the score of some memories, given best first."""
    parts = dict(draft.parts)
    for rank, (each, share) in enumerate(zip(found, shares, strict=True), 1):
        parts[each.key] = (*parts.get(each.key, ()), ScorePiece(channel, rank, each.score, share))
    return replace(draft, parts=parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallTools:
    """What a layer may use. Layers before the search have no reading: they may ask a model."""

    embedder: Embedder | None = None
    opened: Reading | None = None

    @property
    def reading(self) -> Reading:
        assert self.opened is not None
        return self.opened

    @property
    def index(self) -> Index:
        return self.reading.index


def boosted(draft: RecallDraft, name: str, factors: Mapping[Key, float]) -> RecallDraft:
    """The draft with some memories raised or lowered by a factor, which is recorded in their reasons."""
    if not factors:
        return draft
    raised = {key: (*draft.boosts.get(key, ()), (name, factor)) for key, factor in factors.items()}
    return replace(draft, boosts={**draft.boosts, **raised})
