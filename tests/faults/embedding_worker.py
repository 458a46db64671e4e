"""WHAT does a process do with vectors in a fault test? Jobs for those that `worker.py` forks."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from onrecord import Caller, OnRecord, connect
from onrecord.model.embedding import Passage
from onrecord.model.limits import PERMISSIONS
from onrecord.providers.guard import Guarded
from onrecord.testing.embedder import StubEmbedder, StubEmbedders

ANN = Caller(
    tenant="default", user="ann", permissions=frozenset(PERMISSIONS), systems={"*": "manage"}, operator=True
)


def text_of(number: int) -> str:
    """A memory that shares no word with another."""
    return f"alpha{number} beta{number} gamma{number}"


class Watched(StubEmbedder):
    """Does something each time before it embeds documents."""

    def __init__(self, name: str, watch: Callable[[Sequence[str]], None]) -> None:
        super().__init__(name, 64)
        self._watch = watch

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        self._watch(texts)
        return super().embed_documents(texts)


def changing_models(
    door: OnRecord, current: StubEmbedder, *others: StubEmbedder, caller: Caller = ANN
) -> OnRecord:
    """The same store for a program that is set to one model and can still ask others."""
    embedders = StubEmbedders(Guarded(current), *map(Guarded, others))
    return OnRecord(door._store, caller, embedders=embedders)


def change_in_turns(parent: Any, db: str) -> None:
    """Save, revise and forget, one thing each time it is told to, and tell by which words it is or was to be found."""
    with connect(db, caller=ANN, embedder=StubEmbedder(dimensions=64)) as memory:
        parent.gate()
        for turn in count():
            id, kept = f"passing{turn}", f"staying{turn}"
            memory.remember(text_of(1_000 + turn), id=id)
            _told(parent, there=id, by=text_of(1_000 + turn))
            memory.revise(id, content=text_of(2_000 + turn))
            _told(parent, there=id, by=text_of(2_000 + turn))
            memory.remember(text_of(3_000 + turn), id=kept)
            _told(parent, there=kept, by=text_of(3_000 + turn))
            memory.forget(id)
            _told(parent, gone=id, by=text_of(2_000 + turn))


def _told(parent: Any, **what: str) -> None:
    parent.tell(**what)
    parent.wait()


def save_on(parent: Any, db: str, first: int, many: int) -> None:
    """Save one memory after another without waiting for anyone."""
    with connect(db, caller=ANN, embedder="none") as door:
        memory = changing_models(door, StubEmbedder("new", 64), StubEmbedder("old", 64))
        parent.gate()
        for number in range(first, first + many):
            parent.tell(there=memory.remember(text_of(number), id=str(number)).memory.id, by=text_of(number))


def work(parent: Any, db: str, hours: float = 0, stops_at: int | None = None, begins: bool = False) -> None:
    """Do what is due (so many hours from now) until nothing is; at the nth text, wait for ever. One that begins looks for
    what is missing, too.
    """
    asked = count(1)

    def watch(texts: Sequence[str]) -> None:
        stops = next(asked) == stops_at
        parent.tell(texts=list(texts), stops=stops)
        if stops:
            parent.wait()

    def clock() -> datetime:
        return datetime.now(UTC) + timedelta(hours=hours)

    with connect(db, caller=ANN, clock=clock, embedder=Watched("stub", watch)) as memory:
        parent.gate()
        worker = memory.worker
        if begins:
            worker.begin()
        while worker.run_once() is not None:
            pass


def change_models(parent: Any, db: str, waits: bool) -> None:
    """Make the new model's vectors for all that is there; if it waits, before each batch until told to go on."""

    def watch(texts: Sequence[str]) -> None:
        if waits:
            parent.tell(batch=len(texts))
            parent.wait()

    with connect(db, caller=ANN, embedder="none") as door:
        memory = changing_models(door, Watched("new", watch), StubEmbedder("old", 64))
        parent.gate()
        parent.tell(embedded=memory.embed_missing().embedded)


def search_on(parent: Any, db: str, many: int, times: int) -> None:
    """Ask for one memory after another, each time in other words, and tell what came first."""
    with connect(db, caller=ANN, embedder="none") as door:
        memory = changing_models(door, StubEmbedder("new", 64), StubEmbedder("old", 64))
        parent.gate()
        for turn in range(times):
            number, recipe = turn * 7 % many, ("auto", "semantic")[turn % 2]
            answer = memory.recall(f"{text_of(number)} turn{turn}", recipe=recipe)
            first = [hit.memory.id for hit in answer.hits[:1]]
            parent.tell(wanted=str(number), first=first, recipe=recipe, why=answer.degraded)


JOBS = (change_in_turns, save_on, work, change_models, search_on)
