"""WHERE does a search by subject look? In the memories, or in the catalog; and which are about which things."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from onrecord.catalog.known_names import known_names
from onrecord.catalog.resolution import probe
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.limits import RECALL_LIMIT
from onrecord.providers.embedding import Embedder
from onrecord.recall.channels import eligible_of
from onrecord.recall.draft import (
    CandidateFilter,
    RecallDraft,
    RecallTools,
    ReservedPlaces,
    best_first,
    replace,
)
from onrecord.recall.references import MOST_HOLDERS, rank
from onrecord.store.ports.index import Found, Key, Match, ReferenceCounts
from onrecord.store.ports.records import Reading
from onrecord.text.names import names_in, names_of, words_of

#: How many of each list each channel brings: as many as an answer can ever show, so that no cap changes an order.
DEPTH: Final = RECALL_LIMIT
#: How many memories are looked at first; for a list that is still too short, more are.
FIRST_LOOK: Final = 1_000
#: If one kind has enough, the other is looked for among this many only, since there may be none.
LAST_LOOK: Final = 4_000
#: A name that more entities share is not used as a name; its words still count.
MOST_NAMESAKES: Final = RECALL_LIMIT

#: The weight of a word in the name of a referenced entity, relative to one in the text.
SUBJECT_SHARE: Final = 0.25


class SearchPlace:
    """The memories or the catalog, limited to a datasource."""

    def __init__(
        self, reading: Reading, datasource: str | None, embedder: Embedder | None, *, is_catalog: bool
    ) -> None:
        self.reading = reading
        self.embedder = embedder
        self._datasource = datasource
        self._is_catalog = is_catalog
        self._known: dict[str, bool] = {}

    @cached_property
    def lookup(self) -> StoredCatalog:
        return StoredCatalog(self.reading)

    @property
    def among(self) -> CandidateFilter:
        """The limits of a search here: those of the datasource, and enough for each list."""
        counts = None if self._datasource is None else self._counts
        if self._is_catalog:
            return CandidateFilter(counts, DEPTH, DEPTH + DEPTH // 4)
        reserved = tuple(ReservedPlaces(holds, DEPTH, LAST_LOOK) for holds in (is_learning, is_example))
        return CandidateFilter(counts, DEPTH, FIRST_LOOK, reserved)

    def _counts(self, match: Match) -> bool:
        # The first reference of an entity is its own name, the others are what it is called elsewhere.
        return is_inside(match.entities[:1] if self._is_catalog else match.entities, self._datasource)

    def search_subjects(self, draft: RecallDraft, tools: RecallTools) -> RecallDraft:
        """Find what is about the given things, or about those that the question names."""
        if "references" not in draft.recipe.weights or not tools.index.has_references:
            return draft
        names = names_in(draft.ask.question)
        if self._is_catalog:
            # An entity that is given is known already.
            return self._with(draft, tools, "references", (), names)
        given = known_names(draft.ask.entities, self.reading)
        # Another name of what is there counts as the thing itself.
        self._known.update(dict.fromkeys(given, True))
        draft = self._with(draft, tools, "references", given)
        if draft.recipe.reads_subjects:
            return self._with_subject_words(draft, tools)
        # Columns have everyday names: a reference to one makes a memory a candidate, and adds nothing to its score.
        return self._with(draft, tools, "lexical", (), names)

    def _with_subject_words(self, draft: RecallDraft, tools: RecallTools) -> RecallDraft:
        """The draft with the words of references counted as if they were in the text."""
        found = tools.index.match_terms(draft.terms, most=LAST_LOOK, subjects=True)
        by_reference = {each.key: each.score for each in found}
        unmatched = [key for key in by_reference if key not in draft.matches]
        matches = {**draft.matches, **eligible_of(draft, tools, unmatched)} if unmatched else draft.matches
        wanted = {token.term for token in draft.terms}
        scores = {each.key: each.score for each in draft.found.get("lexical", ())}
        for key in by_reference.keys() & matches.keys():
            there = filter(self._is_there, matches[key].entities)
            if any(wanted & words_of(reference) for reference in there):
                scores[key] = scores.get(key, 0.0) + SUBJECT_SHARE * by_reference[key]
        if not scores:
            return replace(draft, matches=matches)
        return replace(draft, matches=matches, found={**draft.found, "lexical": best_first(scores)})

    def _with(
        self,
        draft: RecallDraft,
        tools: RecallTools,
        channel: str,
        references: Sequence[str],
        names: Sequence[str] = (),
    ) -> RecallDraft:
        """The draft with what is about some things, after what the channel has found already."""
        if not references and not names:
            return draft
        namesakes = MOST_NAMESAKES if self._is_catalog else None
        about = tools.index.about(references, names, most=MOST_HOLDERS, namesakes=namesakes)
        unmatched = [key for key in about.holders if key not in draft.matches]
        matches = {**draft.matches, **eligible_of(draft, tools, unmatched)} if unmatched else draft.matches
        counted = self._counted(about, matches, bool(names))
        if not counted.holders:
            return replace(draft, matches=matches)
        ranked = rank(counted)
        if self._is_catalog:
            ranked = _own_names_first(ranked, counted, matches)
        found = _followed(draft.found.get(channel, ()), ranked)
        return replace(draft, matches=matches, found={**draft.found, channel: found})

    def _counted(
        self, about: ReferenceCounts, matches: Mapping[Key, Match], by_name: bool
    ) -> ReferenceCounts:
        """What is about them, if it counts at the time asked and still exists."""
        holders: dict[Key, tuple[str, ...]] = {}
        lengths: dict[Key, int] = {}
        for key in about.holders.keys() & matches.keys():
            tags = [each for each in matches[key].entities if self._is_there(each)]
            called = {*tags, *(name for tag in tags for name in names_of(tag))} if by_name else set(tags)
            if held := _whole_names([each for each in about.holders[key] if each in called]):
                holders[key], lengths[key] = held, len(tags)
        if self._datasource is None or not holders:
            return ReferenceCounts(holders, lengths, about.counts, about.memories)
        counts = Counter(each for held in holders.values() for each in held)
        return ReferenceCounts(holders, lengths, counts, self._size_within)

    def _is_there(self, reference: str) -> bool:
        """Whether the subject exists: tags of a missing entity do not count. Without a catalog everything counts."""
        if reference not in self._known:
            self._known[reference] = self._is_catalog or self.lookup.is_empty or probe(reference, self.lookup)
        return self._known[reference]

    @cached_property
    def _size_within(self) -> int:
        """How many records are about the datasource."""
        assert self._datasource is not None
        inside = self.reading.references(self._datasource)
        return len(self.reading.index.about(inside, most=MOST_HOLDERS).holders)


def is_learning(match: Match) -> bool:
    return not match.has_query


def is_example(match: Match) -> bool:
    return match.has_query


def is_inside(references: Iterable[str], datasource: str | None) -> bool:
    return datasource is None or any(
        each == datasource or each.startswith(datasource + ".") for each in references
    )


def _whole_names(held: Sequence[str]) -> tuple[str, ...]:
    """The names that are not the end of another: `id` adds nothing to `customer id`."""
    return tuple(each for each in held if not any(other.endswith(f" {each}") for other in held))


def _own_names_first(
    ranked: Sequence[Found], about: ReferenceCounts, matches: Mapping[Key, Match]
) -> list[Found]:
    """Of entities that match a name equally well, those that bear it alone come first: `orders.customer_id` is called
    customer id, `customers.id` only together with its model.
    """

    def borrows(key: Key) -> bool:
        return names_of(matches[key].entities[0])[-1:] not in [(held,) for held in about.holders[key]]

    return sorted(ranked, key=lambda each: (-each.score, borrows(each.key), each.key))


def _followed(first: Sequence[Found], then: Sequence[Found]) -> Sequence[Found]:
    """One ranking after another; those in both keep their place in the first."""
    if not first:
        return then
    seen = {each.key for each in first}
    return [*first, *(Found(each.key, -1 / (1 + each.score)) for each in then if each.key not in seen)]
