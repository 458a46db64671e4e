"""WHICH vectors are missing without a job to make them? Those of memories saved without an embedder or under another
model, or moved in: a job is added where there are any.
"""

from datetime import datetime

from onrecord.jobs.waiting_switch import is_to_be_measured
from onrecord.model.collections import Home
from onrecord.model.embedding import EmbeddingModel
from onrecord.providers.embedding import Embedder
from onrecord.providers.guard import Guarded
from onrecord.store.ports.jobs import EMBED
from onrecord.store.ports.store import Store


class Reconciler:
    """Compares what is there with what has vectors. Cheap where nothing is missing: one statement for all homes."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._has_looked = False

    def __call__(self, now: datetime) -> None:
        """Ask for missing vectors. The first time in a process, jobs that were given up are tried again, too: the
        embedder may be another one, or be there again.
        """
        for home in self._lacking(self._embedder.model):
            with self._store.restoring(home) as restoring:
                if not self._has_looked:
                    restoring.jobs.retry_failed(now)
                restoring.jobs.ask(EMBED, now)
        self._has_looked = True

    def is_wanted(self) -> bool:
        """Whether vectors are missing; False if finding out needs a call to a service."""
        model = self._embedder.known_model if isinstance(self._embedder, Guarded) else None
        return model is not None and bool(self._lacking(model))

    def _lacking(self, model: EmbeddingModel) -> list[Home]:
        """Where vectors are missing, but for tenants whose own questions the model is to be measured on first."""
        lacking = self._store.lacking(model)
        if not lacking:
            return lacking
        with self._store.archive() as archive:
            return [home for home in lacking if not is_to_be_measured(archive, home, model)]
