"""DO vectors follow their memories? Each belongs to the present text, is seen by the same callers, and is deleted with it."""

from dataclasses import replace
from typing import Any, Final

import pytest

from onrecord.errors import Invalid
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.limits import GLOBAL_TENANT, STATUSES
from onrecord.model.memory import Change
from onrecord.service import OnRecord
from onrecord.store.ports.index import Near
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    HOME,
    MOMENT,
    Clock,
    Conformance,
    administrator,
    browsed,
    covered,
    person,
    queued,
    recalled,
)
from onrecord.testing.embedder import StubEmbedder, StubEmbedders

#: So long that a save leaves the vectors to a job.
_LONG: Final = " ".join(f"word{number}" for number in range(1_200))


def alike(door: OnRecord, question: str, **ask: Any) -> list[str]:
    """The memories that a search by vectors alone finds."""
    return recalled(door, question, recipe="semantic", **ask)


def _nearest(door: OnRecord, store: Store, stub: StubEmbedder, text: str, most: int = 50) -> list[Near]:
    with store.reading(door.caller, door._clock()) as reading:
        return reading.index.near(stub.embed_query(text).vector, stub.model, most=most)


def _score(door: OnRecord, store: Store, stub: StubEmbedder, text: str) -> float:
    """How similar the only memory of the store is to a text."""
    (near,) = _nearest(door, store, stub, text)
    return near.score


def with_embedder(door: OnRecord, *embedders: StubEmbedder) -> OnRecord:
    """A door to the same store with these embedders; the first is in use."""
    return OnRecord(door._store, door.caller, clock=door._clock, embedders=StubEmbedders(*embedders))


class VectorConformance(Conformance):
    """How vectors change with their memory."""

    def test_a_memory_is_saved_with_its_vectors(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        saved = knowing.remember("the kestrel hovers", id="k")
        assert saved.degraded == ()
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))
        assert _score(knowing, store, stub, "the kestrel hovers") == pytest.approx(1.0, abs=1e-5)

    @pytest.mark.parametrize("model", [EmbeddingModel("another", 32), None])
    def test_a_change_that_fails_leaves_no_vectors_and_no_job(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock, model: EmbeddingModel | None
    ) -> None:
        kept = knowing.remember("kept").memory
        (passages,) = stub.embed_documents(["kept"])
        with pytest.raises(ZeroDivisionError), store.writing(knowing.caller, clock.now) as writing:
            assert writing.embed(kept, model, passages) is (model is not None)
            raise ZeroDivisionError
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))

    def test_what_a_transaction_gave_up_is_not_near_whoever_gets_its_number(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        first = knowing.remember("first").memory
        change = Change("remember", "ann", "person", clock.now)
        (passages,) = stub.embed_documents(["doomed"])
        with pytest.raises(ZeroDivisionError), store.writing(knowing.caller, clock.now) as writing:
            doomed = writing.add(replace(first, id="", content="doomed", title="doomed"), change)
            writing.embed(doomed, stub.model, passages)
            writing.index.near(passages[0].vector, stub.model, most=5)
            raise ZeroDivisionError
        with store.writing(knowing.caller, clock.now) as writing:
            heir = writing.add(replace(first, id="", content="heir", title="heir"), change)
        assert heir.place == doomed.place
        assert [near.row for near in _nearest(knowing, store, stub, "doomed")] == [1]

    def test_a_new_text_has_new_vectors(self, knowing: OnRecord, store: Store, stub: StubEmbedder) -> None:
        knowing.remember("the kestrel hovers", id="k")
        knowing.revise("k", content="a falcon dives")
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))
        assert _score(knowing, store, stub, "a falcon dives") == pytest.approx(1.0, abs=1e-5)
        assert _score(knowing, store, stub, "the kestrel hovers") < 0.9

    @pytest.mark.parametrize("change", [{"title": "a bird"}, {"hint": "when asked about birds"}])
    def test_title_and_hint_are_part_of_the_text(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, change: dict[str, str]
    ) -> None:
        knowing.remember("the kestrel hovers", id="k")
        knowing.revise("k", **change)
        assert len(stub.texts) == 2
        assert covered(store) == {"stub": 1}

    def test_a_new_text_whose_vectors_cannot_be_made_has_none(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        knowing.remember("the kestrel hovers", id="k")
        stub.down = "away"
        knowing.revise("k", content="a falcon dives")
        assert (covered(store), queued(store)) == ({}, (1, 0))
        stub.down = None
        assert alike(knowing, "kestrel") == []
        [note] = knowing.recall("kestrel").degraded
        assert note.startswith("semantic: 1 of 1 memories have no vectors yet; a worker makes them")

    def test_a_new_text_without_an_embedder_loses_the_old_vectors(
        self, knowing: OnRecord, ann: OnRecord, store: Store
    ) -> None:
        knowing.remember("the kestrel hovers", id="k")
        ann.revise("k", content="a falcon dives")
        assert covered(store) == {}
        assert alike(knowing, "kestrel") == []

    @pytest.mark.parametrize(
        "change",
        [
            {"tags": ["bird"]},
            {"kind": "skill"},
            {"confidence": "high"},
            {"metadata": {"about": "birds"}},
            {"entities": ["thing:bird"]},
            {"source": "a book"},
            {"status": "stale"},
            {"content": "the kestrel hovers"},
        ],
    )
    def test_other_changes_keep_the_vectors_and_make_none(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, change: dict[str, Any]
    ) -> None:
        knowing.remember("the kestrel hovers", id="k")
        knowing.revise("k", **change)
        assert stub.texts == ["the kestrel hovers"]
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))
        assert _score(knowing, store, stub, "the kestrel hovers") == pytest.approx(1.0, abs=1e-5)

    def test_saving_the_same_again_makes_no_vectors(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for _ in range(3):
            knowing.remember("the kestrel hovers")
        assert (stub.texts, covered(store)) == (["the kestrel hovers"], {"stub": 1})

    def test_a_memory_that_moves_to_other_eyes_takes_its_vectors_along(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        bob = knowing.as_caller(person("bob"))
        knowing.remember("the kestrel hovers", id="k", scope="user")
        assert (alike(knowing, "kestrel"), alike(bob, "kestrel")) == (["ann::k"], [])
        knowing.remember("the kestrel hovers", id="k", scope="tenant")
        assert (alike(knowing, "kestrel"), alike(bob, "kestrel")) == (["ann::k"], ["ann::k"])
        knowing.remember("the kestrel hovers", id="k", scope="user")
        assert (alike(knowing, "kestrel"), alike(bob, "kestrel")) == (["ann::k"], [])
        assert (stub.texts, covered(store)) == (["the kestrel hovers"], {"stub": 1})

    def test_what_is_retired_keeps_its_vectors_and_what_is_forgotten_has_none(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        knowing.remember("the kestrel hovers", id="k")
        knowing.retire("k")
        assert covered(store) == {"stub": 1}
        assert (alike(knowing, "kestrel"), alike(knowing, "kestrel", statuses=["archived"])) == ([], ["k"])
        knowing.forget("k")
        assert (covered(store), _nearest(knowing, store, stub, "kestrel")) == ({}, [])

    def test_a_job_is_forgotten_with_its_memory(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        knowing.remember("the kestrel hovers", id="k")
        assert queued(store) == (1, 0)
        knowing.forget("k")
        assert queued(store) == (0, 0)

    def test_the_same_text_is_not_embedded_again(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        root = knowing.as_caller(administrator())
        root.remember("for everyone", scope="global")
        for scope in ("tenant", "user"):
            knowing.remember("for everyone", scope=scope, id=scope)
        assert stub.texts == ["for everyone"]
        assert (covered(store), queued(store)) == ({"stub": 2}, (0, 0))
        stub.down = "away"
        assert knowing.remember("for everyone", id="another", tags=["x"]).degraded == ()

    def test_the_same_text_of_others_is_embedded_again_and_tells_nothing(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        knowing.remember("a secret", scope="user")
        elsewhere = knowing.as_caller(person(tenant="beta"))
        bob = knowing.as_caller(person("bob"))
        for door in (bob, elsewhere):
            door.remember("a secret", scope="user", id=f"of-{door.caller.tenant}-{door.caller.user}")
        assert stub.texts == ["a secret"] * 3
        stub.down = "away"
        for door in (bob, elsewhere):
            degraded = door.remember("another secret", scope="user").degraded
            assert degraded == door.remember("no secret", scope="user").degraded != ()

    def test_a_save_goes_on_without_an_embedder_that_answers(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        stub.down = "The stub is away."
        saved = knowing.remember("the kestrel hovers", id="k")
        assert saved.outcome == "created"
        assert saved.degraded == ("embed: The stub is away. It will be tried again later.",)
        assert (covered(store), queued(store)) == ({}, (1, 0))
        found = knowing.recall("kestrel")
        assert [hit.memory.id for hit in found.hits] == ["k"]
        assert any("The stub is away." in reason for reason in found.degraded)

    def test_a_long_text_is_left_to_a_worker(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        knowing.remember(_LONG, id="long")
        assert (stub.texts, queued(store)) == ([], (1, 0))
        assert knowing.worker.run_once() == (1, ())
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))
        (near,) = _nearest(knowing, store, stub, _LONG.rpartition("word1180")[2])
        assert near.passage > 10
        knowing.revise("long", content=f"{_LONG} and more")
        assert (covered(store), queued(store)) == ({}, (1, 0))


class NearConformance(Conformance):
    """Which memories a search by vectors finds, for which caller and time."""

    def test_the_nearest_come_first_and_no_more_than_wanted(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        words = [f"word{number}" for number in range(8)]
        for number in (3, 1, 8, 5):
            knowing.remember(" ".join(words[:number]), id=str(number))
        found = [_nearest(knowing, store, stub, " ".join(words), most) for most in (1, 2, 4, 50)]
        assert [len(each) for each in found] == [1, 2, 4, 4]
        assert all(each == found[-1][: len(each)] for each in found)
        assert alike(knowing, " ".join(words)) == ["8", "5", "3", "1"]
        assert [near.score for near in found[-1]] == sorted((near.score for near in found[-1]), reverse=True)

    def test_equals_come_in_the_order_of_saving_wherever_the_list_ends(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for number in range(12):
            knowing.remember("the kestrel hovers", id=str(number), tags=[str(number)])
        for most in (1, 5, 11, 12):
            found = _nearest(knowing, store, stub, "kestrel", most)
            assert [near.row for near in found] == sorted(near.row for near in found)
            assert [near.row for near in found] == [
                near.row for near in _nearest(knowing, store, stub, "kestrel")
            ][:most]

    def test_given_memories_are_as_near_as_a_search_finds_them(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        for text in ("the kestrel hovers", "a falcon dives", "owls"):
            knowing.remember(text)
        found = _nearest(knowing, store, stub, "the falcon")
        with store.reading(knowing.caller, clock.now) as reading:
            vector, keys = stub.embed_query("the falcon").vector, [near.key for near in found]
            assert sorted(
                reading.index.similarity(vector, stub.model, [*keys[1:], (keys[0][0], 99)])
            ) == sorted(found[1:])
            assert reading.index.similarity(vector, stub.model, []) == []
            assert reading.index.similarity(vector, EmbeddingModel("unknown", 32), keys) == []
            assert reading.index.near(vector, EmbeddingModel("stub", 32, "another file"), most=5) == []

    def test_the_tokens_of_the_nearest_passage_are_those_that_were_kept(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        knowing.remember(_LONG[:2_000], id="long")
        knowing.remember("owls", id="short")
        ((first, *_), _) = (stub.embed_documents([text])[0] for text in (_LONG[:2_000], "owls"))
        assert first.tokens is not None
        with store.reading(knowing.caller, clock.now) as reading:
            (found, *_) = reading.index.near(first.vector, stub.model, most=1)
            assert reading.index.tokens([found], stub.model) == {found.key: first.tokens.tobytes()}
            assert reading.index.tokens([], stub.model) == {}

    def test_a_model_may_have_no_tokens(self, ann: OnRecord, store: Store, clock: Clock) -> None:
        plain = StubEmbedder("plain", has_tokens=False)
        door = with_embedder(ann, plain)
        door.remember("the kestrel hovers", id="k")
        (near,) = _nearest(door, store, plain, "kestrel")
        with store.reading(door.caller, clock.now) as reading:
            assert reading.index.tokens([near], plain.model) == {}
        assert alike(door, "kestrel") == recalled(door, "kestrel") == ["k"]

    def test_global_memories_are_near_from_every_tenant_and_others_from_none(
        self, knowing: OnRecord, store: Store
    ) -> None:
        root = knowing.as_caller(administrator())
        root.remember("the kestrel hovers", scope="global", id="all")
        root.remember("the kestrel hovers too", id="own")
        assert covered(store, GLOBAL_TENANT) == {"stub": 1}
        for tenant, expected in ((HOME, ["global:all", "own"]), ("beta", ["global:all"])):
            for caller in (person(tenant=tenant), administrator(tenant=tenant)):
                assert sorted(alike(knowing.as_caller(caller), "the kestrel hovers")) == expected, caller

    def test_rows_of_the_same_number_in_two_tenants_are_not_mixed_up(
        self, knowing: OnRecord, store: Store
    ) -> None:
        doors = [knowing.as_caller(person(tenant=tenant)) for tenant in ("alpha", "beta")]
        for number in range(5):
            for door in doors:
                door.remember(f"{door.caller.tenant} bird {number}", id=str(number))
        doors[0].forget("3")
        for door, count in zip(doors, (4, 5), strict=True):
            found = door.recall("bird", recipe="semantic").hits
            assert len(found) == count
            assert {hit.memory.content.split()[0] for hit in found} == {door.caller.tenant}

    def test_only_what_was_true_and_known_at_the_time_is_near(self, knowing: OnRecord, clock: Clock) -> None:
        before = clock.now - MOMENT
        knowing.remember("the kestrel hovers", id="k")
        saved = clock.now
        ended = clock.tick()
        knowing.retire("k")
        clock.tick()
        assert alike(knowing, "kestrel") == []
        assert alike(knowing, "kestrel", as_of=saved) == ["k"]
        assert alike(knowing, "kestrel", as_of=before) == []
        assert alike(knowing, "kestrel", as_of=ended) == []
        assert alike(knowing, "kestrel", known_at=before) == []
        assert alike(knowing, "kestrel", known_at=clock.now, statuses=list(STATUSES)) == ["k"]

    def test_what_has_changed_since_is_not_near_by_what_it_says_now(
        self, knowing: OnRecord, clock: Clock
    ) -> None:
        knowing.remember("the kestrel hovers", id="changed")
        knowing.remember("the kestrel dives", id="same")
        then = clock.now
        clock.tick()
        knowing.revise("changed", content="a falcon perches")
        assert alike(knowing, "kestrel falcon", known_at=then) == ["same"]
        assert sorted(alike(knowing, "kestrel falcon")) == ["changed", "same"]

    def test_the_best_that_stand_are_found_behind_many_that_do_not(self, knowing: OnRecord) -> None:
        for number in range(150):
            knowing.remember("the kestrel hovers", id=f"old{number}", tags=[str(number)])
            knowing.retire(f"old{number}")
        knowing.remember("a kestrel in the far distance of the hills", id="standing")
        assert alike(knowing, "the kestrel hovers", limit=5) == ["standing"]


class CatchingUpConformance(Conformance):
    """How a store gets its missing vectors."""

    def test_what_was_saved_without_an_embedder_gets_its_vectors(
        self, ann: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for number in range(70):
            ann.remember(f"bird {number}", id=str(number))
        root = with_embedder(ann.as_caller(administrator()), stub)
        done = root.embed_missing()
        assert (done.model, done.embedded, done.failures) == ("stub", 70, ())
        assert (covered(store), queued(store)) == ({"stub": 70}, (0, 0))
        assert alike(root, "bird 17", limit=1) == ["17"]
        assert root.embed_missing().embedded == 0
        assert len(stub.texts) == 70

    def test_what_an_outage_left_behind_gets_its_vectors(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        for number in range(3):
            knowing.remember(f"bird {number}")
        root = knowing.as_caller(administrator())
        assert root.embed_missing().failures == ("away",)
        assert (covered(store), queued(store)) == ({}, (3, 0))
        stub.down = None
        assert root.embed_missing().embedded == 3
        assert (covered(store), queued(store)) == ({"stub": 3}, (0, 0))
        assert root.doctor().problems == ()

    def test_a_text_that_cannot_be_embedded_holds_up_no_other(
        self, ann: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for number in range(40):
            ann.remember(f"bird {number} {'poison' if number % 7 == 0 else ''}")
        stub.refused = "poison"
        root = with_embedder(ann.as_caller(administrator()), stub)
        done = root.embed_missing()
        assert (done.embedded, done.failures) == (34, ("The stub cannot embed poison.",))
        assert covered(store) == {"stub": 34}

    def test_vectors_can_be_made_anew(self, knowing: OnRecord, store: Store, stub: StubEmbedder) -> None:
        knowing.remember("the kestrel hovers", id="k")
        root = knowing.as_caller(administrator())
        assert root.embed_missing(anew=True).embedded == 1
        assert (stub.texts, covered(store)) == (["the kestrel hovers"] * 2, {"stub": 1})
        assert alike(root, "kestrel") == ["k"]

    def test_only_one_tenant_is_touched_unless_all_are_asked_for(
        self, ann: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for tenant in (HOME, "beta"):
            ann.as_caller(person(tenant=tenant)).remember("bird")
        root = with_embedder(ann.as_caller(administrator()), stub)
        assert root.embed_missing().embedded == 1
        assert (covered(store), covered(store, "beta")) == ({"stub": 1}, {})
        assert root.embed_missing(all_tenants=True).embedded == 1
        assert covered(store, "beta") == {"stub": 1}

    def test_without_an_embedder_it_is_refused(self, root: OnRecord) -> None:
        with pytest.raises(Invalid, match="embedder: none is configured"):
            root.embed_missing()

    def test_another_model_takes_over_when_it_knows_as_much(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        newer = StubEmbedder("newer", 48)
        for number in range(3):
            knowing.remember(f"bird {number}", id=str(number))
        door = with_embedder(knowing.as_caller(administrator()), newer, stub)
        stub.questions.clear()
        assert sorted(alike(door, "bird")) == ["0", "1", "2"]
        assert stub.questions == ["bird"]
        door.remember("bird 3", id="3")
        assert covered(store) == {"newer": 1, "stub": 3}
        assert door.embed_missing().embedded == 3
        assert covered(store) == {"newer": 4, "stub": 3}
        stub.questions.clear()
        assert sorted(alike(door, "bird")) == ["0", "1", "2", "3"]
        assert stub.questions == []
        status = {each.model: (each.indexed, each.current) for each in door.status().tenants[0].models}
        assert status == {"newer": (4, True), "stub": (3, False)}

    def test_a_change_takes_away_the_vectors_of_every_model(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        knowing.remember("the kestrel hovers", id="k")
        newer = StubEmbedder("newer", 48)
        door = with_embedder(knowing.as_caller(administrator()), newer, stub)
        door.embed_missing()
        assert covered(store) == {"newer": 1, "stub": 1}
        door.revise("k", content="a falcon dives")
        assert covered(store) == {"newer": 1}
        door.forget("k")
        assert covered(store) == {}
        assert door.doctor().problems == ()

    def test_what_was_imported_gets_its_vectors(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, tmp_path: Any
    ) -> None:
        for number in range(40):
            knowing.remember(f"bird {number}", id=str(number))
        path = str(tmp_path / "export.jsonl")
        knowing.as_caller(administrator()).export(path)
        heir = knowing.as_caller(administrator(tenant="heir"))
        heir.import_(path)
        assert (covered(store, "heir"), queued(store, "heir")) == ({}, (1, 0))
        while heir.worker.run_once() is not None:
            pass
        assert (covered(store, "heir"), queued(store, "heir")) == ({"stub": 40}, (0, 0))
        assert alike(heir, "bird 7", limit=1) == ["7"]
        other = knowing.as_caller(administrator(tenant="other"))
        other.import_(path)
        assert other.embed_missing().embedded == 40
        assert (covered(store, "other"), queued(store, "other")) == ({"stub": 40}, (0, 0))

    def test_everything_that_is_browsed_is_found_once_all_have_vectors(
        self, ann: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for number in range(25):
            ann.remember(f"bird {number}")
        root = with_embedder(ann.as_caller(administrator()), stub)
        root.embed_missing()
        assert set(alike(root, "bird", limit=50)) == set(browsed(root))
        assert root.recall("bird").degraded == ()
