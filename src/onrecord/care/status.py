"""HOW does the store stand? What has vectors, what waits, and what was given up."""

from collections.abc import Sequence

from onrecord.errors import ProviderError
from onrecord.model.answers import ModelCoverage, StoreStatus, TenantStatus
from onrecord.model.collections import Home
from onrecord.model.embedding import Model
from onrecord.providers.embedding import Embedders
from onrecord.store.ports.archive import Archive
from onrecord.store.ports.store import Store


def look(store: Store, embedders: Embedders, homes: Sequence[Home]) -> StoreStatus:
    current, degraded = None, tuple[str, ...]()
    if embedders.current is not None:
        try:
            current = embedders.current.model
        except ProviderError as problem:
            degraded = (f"embedder: {problem}",)
    with store.archive() as archive:
        here = [_tenant(archive, home, current) for home in homes]
    return StoreStatus(
        location=store.location,
        embedder=None if current is None else current.name,
        tenants=tuple(here),
        degraded=degraded,
    )


def _tenant(archive: Archive, home: Home, current: Model | None) -> TenantStatus:
    memories, (waiting, failed) = archive.count(home), archive.job_counts(home)
    indexed = {each.model: each.memories for each in archive.coverage(home) if each.memories}
    if current is not None:
        indexed.setdefault(current, 0)
    return TenantStatus(
        tenant=home.tenant,
        collection=home.collection.name,
        memories=memories,
        waiting=waiting,
        failed=failed,
        models=tuple(
            ModelCoverage(model=model.name, indexed=count, expected=memories, current=model == current)
            for model, count in indexed.items()
        ),
    )
