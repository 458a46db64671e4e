"""HOW is derived data healed? It is dropped and derived again from the rows, a tenant in a transaction."""

from collections.abc import Callable, Sequence

from onrecord.model.answers import Reindexed
from onrecord.store.port import Store


def rebuild(
    store: Store, tenants: Sequence[str] | None, progress: Callable[[str, int, int | None], None]
) -> Reindexed:
    """Some tenants, or where none are named all of them: only then the whole index is known to be new."""
    with store.archive() as archive:
        there = archive.tenants()
        wanted = there if tenants is None else [tenant for tenant in tenants if tenant in there]
        counts = {tenant: archive.count(tenant) for tenant in wanted}
    memories = postings = 0
    for tenant in counts:
        progress("reindexing", memories, sum(counts.values()))
        with store.restoring(tenant) as restoring:
            seen, written = restoring.reindex()
        memories, postings = memories + seen, postings + written
    if tenants is None:
        store.note_reindexed()
    store.settle()
    progress("reindexing", memories, memories)
    return Reindexed(memories=memories, postings=postings)
