"""HOW does a text become a row? Read the two tuples top to bottom: that is the whole write path.

PREPARE runs first and holds no connection, so a step there may ask a model. COMMIT runs inside the one
transaction in which the tenant has no other writer, so what it finds is still true when it writes.
"""

from collections.abc import Callable
from datetime import datetime
from time import perf_counter
from typing import Any, Final

from onrecord.model.answers import Note, Remembered
from onrecord.model.caller import Caller
from onrecord.model.limits import SAVES_PER_RUN
from onrecord.model.requests import Remember
from onrecord.providers.embedding import Embedder
from onrecord.remember.check import check
from onrecord.remember.dedupe import dedupe
from onrecord.remember.draft import Draft, Tools
from onrecord.remember.embed import embed, keep_vectors
from onrecord.remember.enter import enter
from onrecord.remember.link import link
from onrecord.remember.refer import refer
from onrecord.remember.save import save
from onrecord.remember.scrub import scrub
from onrecord.remember.supersede import supersede
from onrecord.remember.trial import tried
from onrecord.remember.within_limits import within_limits
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store

PREPARE: Final[tuple[Callable[[Draft, Tools], Draft], ...]] = (check, scrub, embed)
COMMIT: Final[tuple[Callable[[Draft, Writing, Tools], Draft], ...]] = (
    link,
    enter,
    refer,
    dedupe,
    save,
    within_limits,
    supersede,
    keep_vectors,
)
STEPS: Final[tuple[Callable[..., Draft], ...]] = (*PREPARE, *COMMIT)


def run(
    caller: Caller,
    ask: Remember,
    store: Store,
    now: datetime,
    embedder: Embedder | None = None,
    saves_per_run: int = SAVES_PER_RUN,
) -> Remembered:
    """Run each step; the answer comes after the commit."""
    trace: list[Note] = []
    draft = Draft(caller=caller, ask=ask, now=now)
    tools = Tools(store=store, embedder=embedder, saves_per_run=saves_per_run)
    for prepare in PREPARE:
        draft = _timed(prepare, trace, draft, tools)
    with tried(ask.dry_run) as trial, store.writing(caller, now, draft.home) as writing:
        for commit in COMMIT:
            draft = _timed(commit, trace, draft, writing, tools)
        trial.end()
    return Remembered(
        memory=draft.ready,
        outcome=draft.outcome,
        scrubbed=draft.scrubbed,
        superseded=draft.superseded,
        degraded=draft.degraded,
        warnings=draft.warnings,
        trace=tuple(trace),
        dry_run=ask.dry_run,
    )


def _timed(step: Callable[..., Draft], trace: list[Note], *arguments: Any) -> Draft:
    started = perf_counter()
    draft = step(*arguments)
    trace.append(Note(name=step.__name__, ms=(perf_counter() - started) * 1000))
    return draft
