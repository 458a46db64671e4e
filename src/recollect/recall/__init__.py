"""HOW does a question become an answer? Read LAYERS top to bottom: that is the whole pipeline."""

from collections.abc import Callable
from datetime import datetime
from time import perf_counter
from typing import Final

from recollect.errors import ProviderError
from recollect.model.answers import Note, Recalled
from recollect.model.caller import Caller
from recollect.model.requests import Recall
from recollect.recall.boosts import boost_kind_and_tags, boost_pinned
from recollect.recall.closeness import boost_closeness
from recollect.recall.cut import cut, read_hits
from recollect.recall.draft import Draft, Tools
from recollect.recall.lexical import search_lexical
from recollect.recall.question import read_question
from recollect.store.port import Store

Layer = Callable[[Draft, Tools], Draft]

LAYERS: Final[tuple[Layer, ...]] = (
    read_question,
    search_lexical,
    boost_closeness,
    boost_kind_and_tags,
    boost_pinned,
    cut,
    read_hits,
)


def run(
    caller: Caller, ask: Recall, store: Store, now: datetime, layers: tuple[Layer, ...] = LAYERS
) -> Recalled:
    """Run each layer; one that fails for want of a provider is noted and skipped, so a search goes on without it."""
    draft, trace = Draft(caller=caller, ask=ask, now=now), list[Note]()
    with store.reading(caller, now) as reading:
        tools = Tools(reading=reading)
        for layer in layers:
            started, failed = perf_counter(), None
            try:
                draft = layer(draft, tools)
            except ProviderError as problem:
                failed = str(problem)
            ms = (perf_counter() - started) * 1000
            trace.append(Note(name=layer.__name__, ms=ms, candidates=len(draft.candidates), failed=failed))
    return Recalled(
        hits=draft.hits,
        ranking="lexical",
        degraded=tuple(f"{note.name}: {note.failed}" for note in trace if note.failed),
        trace=tuple(trace) if ask.explain else (),
    )
