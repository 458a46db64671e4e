"""HOW is derived data healed? It is dropped and derived again from the rows, a tenant in a transaction."""

from collections.abc import Callable, Sequence

from onrecord.model.answers import Reindexed
from onrecord.model.collections import Home
from onrecord.store.ports.store import Store


def rebuild(
    store: Store, homes: Sequence[Home] | None, progress: Callable[[str, int, int | None], None]
) -> Reindexed:
    """Some tenants, or where none are named all of them: only then the whole index is known to be new."""
    with store.archive() as archive:
        there = archive.homes()
        wanted = there if homes is None else [home for home in homes if home in there]
        counts = {home: archive.count(home) for home in wanted}
    memories = postings = 0
    for home in counts:
        progress("reindexing", memories, sum(counts.values()))
        with store.restoring(home) as restoring:
            seen, written = restoring.reindex()
        memories, postings = memories + seen, postings + written
    if homes is None:
        store.note_reindexed()
    store.settle()
    progress("reindexing", memories, memories)
    return Reindexed(memories=memories, postings=postings)
