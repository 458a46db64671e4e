"""WHAT is the state of the store? What has vectors, which jobs wait, and which have failed."""

from dataclasses import dataclass

from onrecord.care import homes
from onrecord.errors import ProviderError
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.collections import Home
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.store.ports.archive import Archive


@dataclass(frozen=True, slots=True)
class ShowStatus(Request):
    """Show the state of the store: where it is, how many memories have vectors, which jobs wait and which failed."""

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCoverage(Answer):
    """How many memories have vectors of a model; `current` is the one that new memories get."""

    model: str
    indexed: int
    expected: int
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantStatus(Answer):
    """The state of a tenant: its memories, waiting jobs, and failed ones."""

    tenant: str
    #: What is counted: `memories`, or `entities`, the records of what they are about.
    collection: str
    memories: int
    waiting: int
    failed: int
    models: tuple[ModelCoverage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus(Answer):
    """The state of the store. Without an embedder, `embedder` is None."""

    location: str
    embedder: str | None
    tenants: tuple[TenantStatus, ...]
    degraded: tuple[str, ...] = ()
    #: How many numbers a vector of the embedder has.
    dimensions: int | None = None


@operation("read", "memory.admin", "GET /status")
def status(call: Call, ask: ShowStatus) -> StoreStatus:
    there = homes.embedded(call, "The status of all tenants", ask.all_tenants)
    current, degraded = None, tuple[str, ...]()
    if call.embedders.current is not None:
        try:
            current = call.embedders.current.model
        except ProviderError as problem:
            degraded = (f"embedder: {problem}",)
    with call.store.archive() as archive:
        here = [_tenant(archive, home, current) for home in there]
    return StoreStatus(
        location=call.store.location,
        embedder=None if current is None else current.name,
        tenants=tuple(here),
        degraded=degraded,
        dimensions=None if current is None else current.dimensions,
    )


def _tenant(archive: Archive, home: Home, current: EmbeddingModel | None) -> TenantStatus:
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
