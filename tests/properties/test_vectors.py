"""ARE vectors kept true whatever happens? After any changes each memory's vectors are those of its present text."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord
from onrecord.errors import Conflict, NotFound
from onrecord.model.embedding import embedded_text
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from tests.soak import tries

ANN = Caller(tenant="acme", user="ann")
BOB = replace(ANN, user="bob")
WORDS = ["kestrel", "falcon", "owl", "heron"]

id_ = st.sampled_from(["1", "2", "3"])
text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
change = st.one_of(
    st.tuples(st.just("remember"), id_, text, st.sampled_from(["user", "tenant"])),
    st.tuples(st.just("revise"), id_, text),
    st.tuples(st.just("tag"), id_, text),
    st.tuples(st.sampled_from(["retire", "forget"]), id_),
    st.tuples(st.sampled_from(["go away", "come back", "embed", "embed anew", "work", "reindex", "ask"])),
)


class Life:
    """One store that lives through changes, and what its embedder could and could not do."""

    def __init__(self, door: OnRecord) -> None:
        self.stub = StubEmbedder()
        self.root = OnRecord(door._store, door.caller, clock=door._clock, embedders=StubEmbedders(self.stub))
        self.ann, self.bob = (self.root.as_caller(caller) for caller in (ANN, BOB))

    def change(self, name: str, id: str = "", said: str = "", scope: str = "") -> None:
        match name:
            case "remember":
                self.ann.remember(said, id=id, scope=scope)
            case "revise":
                self.ann.revise(id, content=said)
            case "tag":
                self.ann.revise(id, tags=said.split())
            case "retire" | "forget":
                getattr(self.ann, name)(id)
            case "go away" | "come back":
                self.stub.down = "away" if name == "go away" else None
            case "embed" | "embed anew":
                self.root.embed_missing(anew=name == "embed anew")
            case "work":
                self.root.worker.run_once()
            case "reindex":
                self.root.reindex()
            case "ask":
                self.ann.recall("kestrel", recipe="semantic")

    def check(self) -> None:
        """Each memory that has vectors is exactly as near to any text as one that was made of its text just now."""
        assert self.root.doctor().problems == ()
        fresh = StubEmbedder()
        query = fresh.embed_query("kestrel owl").vector
        for door in (self.ann, self.bob, self.root):
            seen = {
                memory.place[:2]: memory
                for memory in door.browse(
                    statuses=["active", "stale", "pending", "superseded", "archived"]
                ).memories
                if memory.place is not None
            }
            with door._store.reading(door.caller, door._clock()) as reading:
                found = {near.key: near.score for near in reading.index.near(query, fresh.model, most=50)}
                assert found == {
                    near.key: near.score
                    for near in reading.index.similarity(query, fresh.model, sorted(seen))
                }
                if door is self.root:
                    assert len(found) == sum(each.memories for each in reading.index.coverage())
                    middle = reading.index.centroid(fresh.model)
                    assert middle.passages == len(found)
                    mean = sum(found.values()) / max(len(found), 1)
                    assert float(middle.vector @ query) == pytest.approx(mean, abs=2e-6)
            assert found.keys() <= seen.keys()
            for key, score in found.items():
                ((passage,),) = fresh.embed_documents([embedded_text(seen[key])])
                assert score == pytest.approx(float(passage.vector @ query), abs=2e-6)

    def catch_up(self) -> None:
        self.stub.down = None
        self.root.embed_missing(all_tenants=True)
        with self.root._store.archive() as archive:
            for tenant in archive.homes():
                count = archive.count(tenant)
                assert sum(each.memories for each in archive.coverage(tenant)) == count
                assert archive.job_counts(tenant) == (0, 0)


@pytest.mark.slow
@settings(max_examples=tries(4, soaking=80))
@given(changes=st.lists(change, max_size=12))
def test_vectors_are_those_of_the_present_texts_after_any_changes(
    stores: Any, changes: list[tuple[str, ...]]
) -> None:
    for life in lives(stores):
        for each in changes:
            stores.tick()
            try:
                life.change(*each)
            except (NotFound, Conflict):
                # There is no such memory, or it is retired.
                continue
            life.check()
        life.catch_up()
        life.check()


def lives(stores: Any) -> Iterator[Life]:
    # In memory nothing is done otherwise than in a file.
    for name in ("sqlite-file", "postgres"):
        yield Life(stores.emptied(name)[name])
