"""HOW does a store get the vectors that it lacks? Tenant by tenant, and what cannot be done is told."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from onrecord.errors import Fault, Invalid
from onrecord.jobs.embedding import embed_missing
from onrecord.model.answers import EmbeddedMissing
from onrecord.model.collections import Home
from onrecord.model.requests import EmbedMissing
from onrecord.providers.embedding import Embedders
from onrecord.store.ports.jobs import EMBED
from onrecord.store.ports.store import Store

Progress = Callable[[str, int, int | None], None]


def embed_tenants(
    store: Store,
    embedders: Embedders,
    homes: Sequence[Home],
    ask: EmbedMissing,
    now: datetime,
    progress: Progress,
) -> EmbeddedMissing:
    embedder = embedders.current
    if embedder is None:
        raise Invalid([Fault("embedder", "none is configured; set ONRECORD_EMBEDDER, for instance to e5")])
    # Said before any work is begun, if it cannot be reached.
    model = embedder.model
    done, failures = 0, list[str]()
    for home in homes:
        with store.restoring(home) as restoring:
            restoring.jobs.retry_failed(now)
            if ask.anew:
                restoring.drop_vectors()
        batch = embed_missing(store, embedder, home, partial(progress, f"embedding {home}"))
        done += batch.done
        failures += batch.failures
        with store.restoring(home) as restoring:
            # Looked at where nobody else writes: what an import brings meanwhile keeps its job.
            if not restoring.unembedded(home, model, 1):
                restoring.jobs.withdraw(EMBED)
    store.settle_vectors()
    return EmbeddedMissing(model=model.name, embedded=done, failures=tuple(dict.fromkeys(failures)))
