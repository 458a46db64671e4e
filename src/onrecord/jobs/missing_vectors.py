"""HOW do memories without vectors get them? In batches, outside every transaction; a vector is kept only if the text
is still the same.

Doing a batch twice does no harm: vectors are stored once for a text, and a memory that has changed meanwhile has a
job of its own.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from onrecord.errors import ProviderError
from onrecord.jobs.waiting_switch import is_to_be_measured
from onrecord.model.collections import Home
from onrecord.model.embedding import embedded_text
from onrecord.model.memory import Memory
from onrecord.providers.embedding import Embedder, embed_texts
from onrecord.store.ports.jobs import EMBED, Job
from onrecord.store.ports.store import Store

#: So many memories are embedded and kept at a time.
BATCH: Final = 32
_FIRST_WAIT: Final = timedelta(seconds=2)
_LONGEST_WAIT: Final = timedelta(hours=1)


class Embedded(NamedTuple):
    """The result of a batch: how many memories got their vectors, and why the others did not."""

    done: int
    failures: tuple[str, ...] = ()


class _Batch(NamedTuple):
    """The same, with the memories that failed."""

    done: int
    failed: tuple[tuple[Memory, str], ...] = ()

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(reason for _, reason in self.failed)


def embed_batch(store: Store, embedder: Embedder, home: Home, memories: Sequence[Memory]) -> _Batch:
    """Embed texts and store their vectors. If a batch fails, each text is tried alone, so that one bad text blocks no
    other.
    """
    try:
        texts = list(map(embedded_text, memories))
        passages = embed_texts(embedder, texts)
    except ProviderError as problem:
        if len(memories) <= 1:
            return _Batch(0, tuple((memory, str(problem)) for memory in memories))
        alone = [embed_batch(store, embedder, home, [memory]) for memory in memories]
        return _Batch(sum(each.done for each in alone), tuple(each for one in alone for each in one.failed))
    with store.restoring(home) as restoring:
        kept = [
            restoring.keep_vectors(memory, embedder.model, found)
            for memory, found in zip(memories, passages, strict=True)
        ]
    return _Batch(sum(kept))


def embed_missing(
    store: Store, embedder: Embedder, home: Home, progress: Callable[[int, int], None]
) -> Embedded:
    """Embed every memory of a home that has no vectors of the embedder's model, for whatever reason."""
    done, failures, after = 0, list[str](), 0
    with store.archive() as archive:
        expected = archive.count(home) - sum(
            each.memories for each in archive.coverage(home) if each.model == embedder.model
        )
    while True:
        with store.archive() as archive:
            memories = archive.unembedded(home, embedder.model, BATCH, after)
        if not memories:
            return Embedded(done, tuple(failures))
        batch = embed_batch(store, embedder, home, memories)
        done += batch.done
        failures += batch.failures
        after = max(memory.place.row for memory in memories if memory.place)
        progress(done + len(failures), expected)


def do_jobs(store: Store, embedder: Embedder, jobs: Sequence[Job], now: datetime) -> Embedded:
    """Do the jobs of one claim, all of one home."""
    home = jobs[0].home
    done, failures = 0, list[str]()
    for job in jobs:
        with store.archive() as archive:
            if job.subject:
                memories = archive.rows(home, [job.subject])
            elif is_to_be_measured(archive, home, embedder.model):
                # All of them at once would put another model in use: `embed-missing` does that.
                memories = []
            else:
                memories = archive.unasked(home, embedder.model, BATCH)
        batch = embed_batch(store, embedder, home, memories)
        done += batch.done
        failures += batch.failures
        with store.restoring(home) as restoring:
            if batch.failed and not batch.done:
                restoring.jobs.postpone(job, now + wait_after(job.attempts), batch.failures[0])
                continue
            for memory, reason in batch.failed:
                # It gets a job of its own, so that it holds up none of those after it.
                assert memory.place is not None
                restoring.jobs.fail(memory.place.row, EMBED, now + wait_after(1), reason)
            if job.subject or len(memories) < BATCH:
                restoring.jobs.finish([job])
            else:
                # There may be more: the job goes on from here, for whichever worker comes next.
                restoring.jobs.postpone(job, now, None)
    return Embedded(done, tuple(failures))


def wait_after(attempts: int) -> timedelta:
    """How long to wait after a failure: twice as long each time, up to an hour."""
    return min(_FIRST_WAIT * 2.0 ** max(attempts - 1, 0), _LONGEST_WAIT)
