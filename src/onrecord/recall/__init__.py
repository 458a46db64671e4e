"""HOW does a question become an answer? Read LAYERS top to bottom: that is the whole pipeline.

READ runs first and holds no connection, so a layer there may ask a model. FIND, ORDER and SHARE run on one
consistent state of the store.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Final

from onrecord.errors import ProviderError
from onrecord.model.answers import Note, Recalled
from onrecord.model.caller import Caller
from onrecord.model.embedding import Model
from onrecord.model.requests import Recall
from onrecord.providers.embedding import Embedder, Embedders
from onrecord.recall.boosts import (
    boost_kind_and_tags,
    boost_pinned,
    boost_times,
    boost_verified,
    decay_with_age,
)
from onrecord.recall.channels import keep_eligible
from onrecord.recall.draft import Draft, Tools
from onrecord.recall.fusion import fuse
from onrecord.recall.graph import expand_links
from onrecord.recall.lexical import raise_pairs, search_lexical, weigh_words
from onrecord.recall.neighbours import boost_next_turn
from onrecord.recall.question import embed_question, read_kinds, read_windows, read_words
from onrecord.recall.recipes import recipe_named
from onrecord.recall.references import search_references
from onrecord.recall.rerank import diversify, rerank
from onrecord.recall.semantic import compare_others, knows_most, search_semantic, without_vectors
from onrecord.recall.sharing import fit_tokens, read_hits, share_places
from onrecord.recall.term_counts import count_terms
from onrecord.store.ports.records import Reading
from onrecord.store.ports.store import Store

Layer = Callable[[Draft, Tools], Draft]

READ: Final[tuple[Layer, ...]] = (read_words, read_kinds, read_windows, embed_question)
FIND: Final[tuple[Layer, ...]] = (
    weigh_words,
    search_lexical,
    search_semantic,
    search_references,
    keep_eligible,
    compare_others,
    raise_pairs,
    count_terms,
)
ORDER: Final[tuple[Layer, ...]] = (
    fuse,
    rerank,
    boost_next_turn,
    expand_links,
    boost_kind_and_tags,
    boost_times,
    boost_pinned,
    boost_verified,
    decay_with_age,
    diversify,
)
SHARE: Final[tuple[Layer, ...]] = (share_places, read_hits, fit_tokens)
LAYERS: Final[tuple[Layer, ...]] = (*READ, *FIND, *ORDER, *SHARE)


@dataclass(slots=True)
class Run:
    """One way through the layers: times each, and goes on without one that fails for want of a provider."""

    draft: Draft
    explain: bool = False
    trace: list[Note] = field(default_factory=list)

    def through(self, layers: tuple[Layer, ...], tools: Tools) -> None:
        for layer in layers:
            if layer.__name__ in self.draft.recipe.without:
                continue
            started, failed = perf_counter(), None
            try:
                self.draft = layer(self.draft, tools)
            except ProviderError as problem:
                failed = str(problem)
            if self.explain or failed:
                ms = (perf_counter() - started) * 1000
                count = _count(self.draft)
                self.trace.append(Note(name=layer.__name__, ms=ms, candidates=count, failed=failed))


def run(caller: Caller, ask: Recall, store: Store, embedders: Embedders, now: datetime) -> Recalled:
    """Ask with the model that knows most: after a change of models that is the old one, until the new has caught up."""
    recipe = recipe_named(ask.recipe)
    embedder, asked_before = embedders.current, False
    while True:
        done = Run(Draft(caller=caller, ask=ask, now=now, recipe=recipe), ask.explain)
        done.through(READ, Tools(embedder=embedder))
        with store.reading(caller, now) as reading:
            older = None if asked_before else _knows_more(reading, done.draft.model, embedders)
            if older is None:
                done.through((*FIND, *ORDER, *SHARE), Tools(embedder=embedder, opened=reading))
                return _answer(done, ask, _gaps(done.draft, reading, embedder))
        embedder, asked_before = older, True


def _knows_more(reading: Reading, model: Model | None, embedders: Embedders) -> Embedder | None:
    """The embedder of another model that has more of these memories' vectors, if it can still be asked."""
    if model is None:
        return None
    best = knows_most(reading, model)
    return None if best == model else embedders.open(best)


def _gaps(draft: Draft, reading: Reading, embedder: Embedder | None) -> tuple[str, ...]:
    """What the answer lacks although nothing failed: an embedder, or the vectors of some memories."""
    if "semantic" not in draft.recipe.weights or not draft.ask.question.strip():
        return ()
    if embedder is None:
        return ("semantic: no embedder is configured",)
    if draft.model is None:
        return ()
    missing = without_vectors(reading, draft.model)
    return (f"semantic: {missing} of {reading.size} memories have no vectors yet",) if missing > 0 else ()


def _answer(done: Run, ask: Recall, gaps: tuple[str, ...]) -> Recalled:
    draft = done.draft
    failures = tuple(f"{note.name}: {note.failed}" for note in done.trace if note.failed)
    return Recalled(
        hits=draft.hits,
        queries=draft.query_hits,
        ranking=draft.recipe.name,
        channels=tuple(sorted(draft.found)),
        tokens=draft.tokens,
        degraded=failures + gaps,
        warnings=draft.warnings,
        trace=tuple(done.trace) if ask.explain else (),
    )


def _count(draft: Draft) -> int:
    """How many memories are still in question."""
    if draft.hits or draft.query_hits:
        return len(draft.hits) + len(draft.query_hits)
    if draft.parts:
        return len(draft.parts)
    return len(draft.matches) or len({each.key for found in draft.found.values() for each in found})
