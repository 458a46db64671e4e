"""HOW is derived data healed? It is dropped and derived again from the rows, a tenant in a transaction."""

from collections.abc import Callable

from recollect.model.answers import Reindexed
from recollect.store.port import Store


def rebuild(store: Store, progress: Callable[[str, int, int | None], None]) -> Reindexed:
    with store.archive() as archive:
        counts = {tenant: archive.count(tenant) for tenant in archive.tenants()}
    memories = postings = 0
    for tenant in counts:
        progress("reindexing", memories, sum(counts.values()))
        with store.restoring(tenant) as restoring:
            seen, written = restoring.reindex()
        memories, postings = memories + seen, postings + written
    store.note_reindexed()
    store.settle()
    progress("reindexing", memories, memories)
    return Reindexed(memories=memories, postings=postings)
