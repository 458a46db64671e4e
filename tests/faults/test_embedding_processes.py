"""Do vectors stay true while several processes save, search, embed, die and change models?"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import and_, select

from onrecord import OnRecord, connect
from onrecord.care.status import ModelCoverage
from onrecord.model.embedding import EmbeddingModel, embedded_text
from onrecord.providers.guard import Guarded
from onrecord.store.tables import embedded, jobs, vectors
from onrecord.testing.embedder import StubEmbedder
from tests.soak import tries

from .embedding_worker import ANN, changing_models, text_of

TURNS = tries(8, soaking=64)
MEMORIES = tries(70, soaking=200)
#: For these it is enough to be more than two workers claim at once.
PUT_OFF = tries(24, soaking=200)
SEARCHES = tries(25, soaking=60)
JOBS_AT_ONCE = 4


@pytest.fixture
def stub() -> StubEmbedder:
    return StubEmbedder(dimensions=64)


@pytest.fixture
def door(shared_db: str, stub: StubEmbedder) -> Iterator[OnRecord]:
    with connect(shared_db, caller=ANN, embedder=Guarded(stub, patience=1_000_000)) as door:
        yield door


def kept(door: OnRecord, model: EmbeddingModel) -> dict[int, Any]:
    """Every vector of a model by its row; each memory of these tests has one passage."""
    statement = select(vectors.c.row, vectors.c.vector).join(
        embedded, and_(*(embedded.c[name] == vectors.c[name] for name in ("tenant", "collection", "model")))
    )
    with door._store._backend.reading() as connection:
        rows = connection.execute(statement.where(embedded.c.name == model.name)).all()
    found = dict(rows)
    assert len(found) == len(rows)
    return found


def waiting(door: OnRecord) -> int:
    with door._store._backend.reading() as connection:
        return len(connection.execute(select(jobs.c.subject)).all())


def covered(door: OnRecord, model: EmbeddingModel) -> ModelCoverage:
    (tenant,) = door.status().tenants
    return next(each for each in tenant.models if each.model == model.name)


def assert_all_embedded(door: OnRecord, stub: StubEmbedder) -> None:
    """Each memory has the one vector of its text, the counts say so, and nothing waits."""
    memories = door.browse(limit=1_000).memories
    found = kept(door, stub.model)
    assert sorted(found) == sorted(memory.place.row for memory in memories if memory.place)
    for memory in memories:
        assert memory.place is not None
        right = stub.embed_documents([embedded_text(memory)])[0][0].vector
        assert found[memory.place.row] == pytest.approx(right, abs=1e-6)
    counted = covered(door, stub.model)
    assert (counted.indexed, counted.expected) == (len(memories), len(memories))
    assert waiting(door) == 0


def nearest(door: OnRecord, question: str) -> list[str]:
    answer = door.recall(question, recipe="semantic")
    assert answer.degraded == ()
    return [hit.memory.id for hit in answer.hits]


class TestVisibility:
    """What another process has done is seen by the next search, whatever is cached."""

    def test_each_change_is_seen_by_the_next_search(self, crew: Any, door: OnRecord, shared_db: str) -> None:
        for number in range(5):
            door.remember(text_of(number), id=str(number))
        assert nearest(door, text_of(3))[0] == "3"
        writer = crew.start("change_in_turns", db=shared_db)
        writer.hear()
        for _ in range(TURNS):
            writer.go()
            told = writer.hear()
            found = nearest(door, told["by"])
            if "there" in told:
                assert found[0] == told["there"]
            else:
                assert told["gone"] not in found
        assert nearest(door, text_of(3))[0] == "3"

    def test_what_is_saved_is_found_while_the_next_is_being_saved(
        self, crew: Any, door: OnRecord, shared_db: str
    ) -> None:
        door = changing_models(door, StubEmbedder("new", 64))
        writer = crew.start("save_on", db=shared_db, first=0, many=tries(20, soaking=50))
        writer.hear()
        writer.go()
        for told in writer.each():
            assert nearest(door, told["by"])[0] == told["there"]
        assert_all_embedded(door, StubEmbedder("new", 64))


class TestWorkers:
    """Work that was put off is done once, and outlives whoever was at it."""

    def put_off(self, door: OnRecord, stub: StubEmbedder) -> None:
        stub.down = "The stub is away."
        for number in range(PUT_OFF):
            assert door.remember(text_of(number)).degraded
        stub.down = None
        assert waiting(door) == PUT_OFF

    def test_two_workers_share_the_work_and_do_nothing_twice(
        self, crew: Any, door: OnRecord, stub: StubEmbedder, shared_db: str
    ) -> None:
        self.put_off(door, stub)
        told = heard([crew.start("work", db=shared_db) for _ in range(2)])
        done = Counter(text for line in told for text in line["texts"])
        assert done == Counter({text_of(number): 1 for number in range(PUT_OFF)})
        assert_all_embedded(door, stub)

    def test_what_a_killed_worker_had_claimed_is_done_by_the_next(
        self, crew: Any, door: OnRecord, stub: StubEmbedder, shared_db: str
    ) -> None:
        self.put_off(door, stub)
        doomed = crew.start("work", db=shared_db, stops_at=JOBS_AT_ONCE + 2)
        doomed.hear()
        doomed.go()
        before = until_it_stops(doomed)
        other = heard([crew.start("work", db=shared_db)])
        doomed.kill()
        left = waiting(door)
        assert left == PUT_OFF - len(before) - len(other) > 0, "what is claimed is left alone"
        assert heard([crew.start("work", db=shared_db)]) == []
        after = heard([crew.start("work", db=shared_db, hours=1)])
        assert len(after) == left
        done = Counter(text for line in (*before, *other, *after) for text in line["texts"])
        assert done == Counter({text_of(number): 1 for number in range(PUT_OFF)})
        assert_all_embedded(door, stub)

    def test_what_nobody_put_off_is_found_and_made_though_a_worker_is_killed_at_it(
        self, crew: Any, door: OnRecord, stub: StubEmbedder, shared_db: str
    ) -> None:
        without = OnRecord(door._store, ANN)
        for number in range(PUT_OFF):
            without.remember(text_of(number))
        assert waiting(door) == 0
        doomed = crew.start("work", db=shared_db, stops_at=1, begins=True)
        doomed.hear()
        doomed.go()
        until_it_stops(doomed)
        doomed.kill()
        assert heard([crew.start("work", db=shared_db, begins=True)]) == [], "what is claimed is left alone"
        heard([crew.start("work", db=shared_db, hours=1, begins=True) for _ in range(2)])
        assert [model.indexed for model in door.status().tenants[0].models] == [PUT_OFF]

    def test_embedding_what_is_missing_beside_a_worker_does_no_harm(
        self, crew: Any, door: OnRecord, stub: StubEmbedder, shared_db: str
    ) -> None:
        self.put_off(door, stub)
        stopped = crew.start("work", db=shared_db, stops_at=5)
        stopped.hear()
        stopped.go()
        until_it_stops(stopped)
        assert door.embed_missing().failures == ()
        assert_all_embedded(door, stub)
        stopped.go()
        stopped.rest()
        assert_all_embedded(door, stub)


class TestChangeOfModels:
    """Another model takes over when it knows as much as the old one, and not a moment before."""

    @pytest.fixture
    def old(self) -> StubEmbedder:
        return StubEmbedder("old", 64)

    @pytest.fixture
    def new(self) -> StubEmbedder:
        return StubEmbedder("new", 64)

    def test_the_old_model_is_asked_until_the_new_one_has_caught_up(
        self, crew: Any, door: OnRecord, shared_db: str, old: StubEmbedder, new: StubEmbedder
    ) -> None:
        before, after = changing_models(door, old, new), changing_models(door, new, old)
        for number in range(MEMORIES):
            before.remember(text_of(number), id=str(number))
        changing = crew.start("change_models", db=shared_db, waits=True)
        changing.hear()
        changing.go()
        batches = 0
        while "batch" in changing.hear():
            for number in (batches, MEMORIES - 1 - batches):
                question = f"{text_of(number)} batch{batches}"
                assert nearest(after, question)[0] == str(number)
                assert old.questions[-1] == question
            batches += 1
            changing.go()
        assert batches > 2
        assert nearest(after, text_of(7))[0] == "7"
        assert old.questions[-1] != text_of(7)
        assert_all_embedded(after, new)

    def test_what_is_saved_during_the_change_is_found_and_gets_the_new_vectors(
        self, crew: Any, door: OnRecord, shared_db: str, old: StubEmbedder, new: StubEmbedder
    ) -> None:
        before, after = changing_models(door, old, new), changing_models(door, new, old)
        for number in range(MEMORIES):
            before.remember(text_of(number), id=str(number))
        changing = crew.start("change_models", db=shared_db, waits=True)
        changing.hear()
        changing.go()
        changing.hear()
        # One program is set to the new model already, the other was started before and still runs with the old.
        assert after.remember("quarry", id="by-new").degraded == ()
        assert before.remember("orchard", id="by-old").degraded == ()
        for program in (before, after):
            for word, id in (("quarry", "by-new"), ("orchard", "by-old")):
                answer = program.recall(word)
                assert answer.hits[0].memory.id == id
                assert answer.degraded == (
                    f"semantic: 1 of {MEMORIES + 2} memories have no vectors yet; a worker makes them, `embed-missing` at once",
                )
        changing.go()
        while "batch" in changing.hear():
            changing.go()
        assert_all_embedded(after, new)
        for program in (before, after):
            assert nearest(program, "quarry")[0] == "by-new"
            assert nearest(program, "orchard")[0] == "by-old"

    @pytest.mark.slow
    def test_nobody_who_searches_or_saves_meanwhile_notices(
        self, crew: Any, door: OnRecord, shared_db: str, old: StubEmbedder, new: StubEmbedder
    ) -> None:
        before, after = changing_models(door, old, new), changing_models(door, new, old)
        for number in range(MEMORIES):
            before.remember(text_of(number), id=str(number))
        told = heard(
            [
                crew.start("change_models", db=shared_db, waits=False),
                crew.start("save_on", db=shared_db, first=MEMORIES, many=20),
                *(crew.start("search_on", db=shared_db, many=MEMORIES, times=SEARCHES) for _ in range(2)),
            ]
        )
        searches = [line for line in told if "wanted" in line]
        assert len(searches) == 2 * SEARCHES
        for line in searches:
            assert all("have no vectors yet" in reason for reason in line["why"])
            # By vectors alone a few cannot be found while neither model has them all, and the answer says so.
            assert line["first"] == [line["wanted"]] or (line["recipe"] == "semantic" and line["why"])
        assert_all_embedded(after, new)
        assert len(kept(after, old.model)) == MEMORIES


def heard(hands: list[Any]) -> list[dict[str, Any]]:
    """What some processes tell until they end, all set off together; an error in any of them fails the test here."""
    for hand in hands:
        hand.hear()
    for hand in hands:
        hand.go()
    with ThreadPoolExecutor(len(hands)) as listening:
        return [line for told in listening.map(lambda hand: hand.rest(), hands) for line in told]


def until_it_stops(hand: Any) -> list[dict[str, Any]]:
    """What a worker has done before the text that it waits at."""
    done = []
    while not (told := hand.hear())["stops"]:
        done.append(told)
    return done
