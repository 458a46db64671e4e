"""HOW is derived data repaired? It is dropped and derived again from the rows, one tenant in each transaction."""

from dataclasses import dataclass

from onrecord.care import homes
from onrecord.model.answer import Answer
from onrecord.model.request import Request
from onrecord.operation import Call, operation


@dataclass(frozen=True, slots=True)
class Reindex(Request):
    """Rebuild everything derived from the rows. The rows themselves are not touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed(Answer):
    """How much was indexed."""

    memories: int
    postings: int


@operation("write", "memory.admin", "POST /reindex")
def reindex(call: Call, ask: Reindex) -> Reindexed:
    """Rebuild the index; only after all tenants are done is the whole index recorded as new."""
    store, wanted = call.store, homes.examined(call)
    with store.archive() as archive:
        counts = {home: archive.count(home) for home in archive.homes() if wanted is None or home in wanted}
    memories = postings = 0
    for home in counts:
        call.progress("reindexing", memories, sum(counts.values()))
        with store.restoring(home) as restoring:
            seen, written = restoring.reindex()
        memories, postings = memories + seen, postings + written
    if wanted is None:
        store.note_reindexed()
    store.update_statistics()
    call.progress("reindexing", memories, memories)
    return Reindexed(memories=memories, postings=postings)
