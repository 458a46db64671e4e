"""Does an embedder that fails, hangs or talks nonsense ever cost a save, a search, or the truth of a vector?"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from onrecord import OnRecord, connect
from onrecord.care.status import ModelCoverage, TenantStatus
from onrecord.errors import ProviderError
from onrecord.model.embedding import EmbeddingModel, Passage, embedded_text
from onrecord.providers.guard import Guarded
from onrecord.store.records import queue
from onrecord.store.tables import jobs, vectors
from onrecord.testing.embedder import StubEmbedder

#: Long enough for a stub on a busy machine, short enough to wait for one that hangs.
TIMEOUT_S = 0.2


class Moody:
    """An embedder of words that does as it is told to; what it embedded in a good mood is counted."""

    def __init__(self) -> None:
        self._stub = StubEmbedder("moody")
        self.mood: Callable[[Moody, list[Passage]], Any] | None = None
        self.released = Event()
        self.made: Counter[str] = Counter()
        self.calls = 0

    @property
    def model(self) -> EmbeddingModel:
        if self.mood is nameless:
            raise ConnectionError("nobody says who this is")
        return self._stub.model

    def embed_query(self, text: str) -> Passage:
        self.calls += 1
        passage = self._stub.embed_query(text)
        return passage if self.mood is None else self.mood(self, [passage])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        self.calls += 1
        every = self._stub.embed_documents(texts)
        if self.mood is not None:
            return [(each,) for each in self.mood(self, [passages[0] for passages in every])]
        self.made.update(texts)
        return every

    def right(self, text: str) -> Any:
        """The vector that a text should have."""
        return StubEmbedder().embed_documents([text])[0][0].vector


def raises(moody: Moody, passages: list[Passage]) -> Any:
    raise RuntimeError("out of memory")


def raises_what_it_should(moody: Moody, passages: list[Passage]) -> Any:
    raise ProviderError("The service is closed on Sundays.")


def nameless(moody: Moody, passages: list[Passage]) -> Any:
    return passages


def hangs(moody: Moody, passages: list[Passage]) -> Any:
    moody.released.wait()
    return passages


def answers_nan(moody: Moody, passages: list[Passage]) -> Any:
    return [Passage(np.full_like(each.vector, np.nan), each.tokens) for each in passages]


def answers_infinity(moody: Moody, passages: list[Passage]) -> Any:
    return [Passage(np.full_like(each.vector, np.inf), each.tokens) for each in passages]


def answers_zeros(moody: Moody, passages: list[Passage]) -> Any:
    return [Passage(np.zeros_like(each.vector), each.tokens) for each in passages]


def answers_another_dimension(moody: Moody, passages: list[Passage]) -> Any:
    return [Passage(each.vector[:-1], each.tokens) for each in passages]


def answers_whole_numbers(moody: Moody, passages: list[Passage]) -> Any:
    return [Passage(np.ones(len(each.vector), np.int64), each.tokens) for each in passages]


def answers_words(moody: Moody, passages: list[Passage]) -> Any:
    return ["a vector" for _ in passages]


Mood = Callable[[Moody, list[Passage]], Any]
MOODS: dict[Mood, str] = {
    raises: "out of memory",
    raises_what_it_should: "closed on Sundays",
    nameless: "nobody says who this is",
    hangs: "did not answer within",
    answers_nan: "not finite",
    answers_infinity: "not finite",
    answers_zeros: "zero",
    answers_another_dimension: "dimensions",
    answers_whole_numbers: "int64",
    answers_words: "instead of a Passage",
}
#: The others show nothing there that SQLite does not: what they answer never comes near the database.
ON_POSTGRES = (raises, answers_zeros)
CASES = [(mood, "sqlite") for mood in MOODS] + [(mood, "postgres") for mood in ON_POSTGRES]


def named(case: Any) -> str:
    return case if isinstance(case, str) else str(case.__name__)


class Now:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **step: float) -> None:
        self.now += timedelta(**step)


@pytest.fixture
def moody() -> Iterator[Moody]:
    moody = Moody()
    yield moody
    # Threads that hang end with the test.
    moody.released.set()


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def opening(moody: Moody, now: Now) -> Iterator[Callable[[str], OnRecord]]:
    """Open a store whose embedder is asked again at once, however often it failed."""
    doors: list[OnRecord] = []

    def open_store(db: str) -> OnRecord:
        guarded = Guarded(moody, timeout_s=TIMEOUT_S, patience=1_000_000)
        doors.append(connect(db, clock=now, embedder=guarded))
        return doors[-1]

    yield open_store
    for door in doors:
        door.close()


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    def of(backend: str) -> str:
        return str(
            tmp_path / "store.db" if backend == "sqlite" else request.getfixturevalue("postgres_store")
        )

    return of


def stood(door: OnRecord) -> tuple[TenantStatus, ModelCoverage | None]:
    """How the tenant stands, and how far the present model has come in it."""
    (tenant,) = door.status().tenants
    return tenant, next((model for model in tenant.models if model.current), None)


def kept(door: OnRecord) -> dict[int, Any]:
    """Every vector in the store, by its row; each memory of these tests has one passage."""
    with door._store._backend.reading() as connection:
        rows = connection.execute(select(vectors.c.row, vectors.c.vector)).all()
    found = dict(rows)
    assert len(found) == len(rows)
    return found


def waiting(door: OnRecord) -> int:
    with door._store._backend.reading() as connection:
        return len(connection.execute(select(jobs.c.subject)).all())


def assert_all_true(door: OnRecord, moody: Moody) -> None:
    """Each memory has the vector of its present text, nothing else has one, and nothing waits."""
    memories = door.browse(limit=100, statuses=["active", "archived"]).memories
    there = {memory.place.row: moody.right(embedded_text(memory)) for memory in memories if memory.place}
    found = kept(door)
    assert found.keys() == there.keys()
    for row, vector in found.items():
        assert vector == pytest.approx(there[row], abs=1e-6)
    tenant, covered = stood(door)
    assert (tenant.memories, tenant.waiting, tenant.failed, waiting(door)) == (len(there), 0, 0, 0)
    assert covered is not None
    live = sum(memory.is_live for memory in memories)
    assert (covered.indexed, covered.expected) == (live, live)


@pytest.mark.parametrize(("mood", "backend"), CASES, ids=named)
class TestMoods:
    """Whatever it does wrong."""

    def test_saves_are_kept_and_say_what_is_put_off(
        self, mood: Mood, backend: str, moody: Moody, opening: Any, address: Any
    ) -> None:
        door = opening(address(backend))
        moody.mood = mood
        saved = door.remember("the ferry leaves at nine", id="ferry")
        assert saved.outcome == "created"
        (reason,) = saved.degraded
        assert reason.startswith("embed: ")
        assert MOODS[mood] in reason
        assert door.revise("ferry", content="the ferry leaves at ten").changed == ("title", "content")
        assert door.remember("the ferry leaves at ten").outcome == "unchanged"
        assert door.show("ferry").memory.content == "the ferry leaves at ten"
        assert kept(door) == {}
        assert waiting(door) == 1
        moody.mood = None
        tenant, covered = stood(door)
        assert (tenant.memories, tenant.waiting, tenant.failed) == (1, 1, 0)
        assert covered is not None
        assert covered.indexed == 0

    def test_searches_answer_by_words_and_say_why(
        self, mood: Mood, backend: str, moody: Moody, opening: Any, address: Any
    ) -> None:
        db = address(backend)
        opening(db).remember("the ferry leaves at nine", id="before")
        door = opening(db)
        moody.mood = mood
        door.remember("the ferry comes back at six", id="during")
        answer = door.recall("ferry")
        assert sorted(hit.memory.id for hit in answer.hits) == ["before", "during"]
        assert any("embed_question: " in reason and MOODS[mood] in reason for reason in answer.degraded)
        assert "semantic" not in answer.channels

    def test_once_it_is_well_every_text_is_embedded_once(
        self, mood: Mood, backend: str, moody: Moody, opening: Any, address: Any
    ) -> None:
        door = opening(address(backend))
        moody.mood = mood
        for number in range(3):
            door.remember(f"the ferry leaves at {number}")
        moody.mood = None
        assert door.recall("ferry").degraded == (
            "semantic: 3 of 3 memories have no vectors yet; a worker makes them, `embed-missing` at once",
        )
        answer = door.embed_missing()
        assert (answer.embedded, answer.failures) == (3, ())
        assert_all_true(door, moody)
        assert set(moody.made.values()) == {1}
        assert door.recall("ferry").degraded == ()
        calls = moody.calls
        assert door.embed_missing().embedded == 0
        assert door.worker.run_once() is None
        assert moody.calls == calls

    def test_once_it_is_well_the_worker_embeds_every_text_once(
        self, mood: Mood, backend: str, moody: Moody, opening: Any, address: Any, now: Now
    ) -> None:
        door = opening(address(backend))
        moody.mood = mood
        for number in range(3):
            door.remember(f"the ferry leaves at {number}")
        done, failures = door.worker.run_once()
        assert (done, len(failures)) == (0, 3)
        assert all(MOODS[mood] in failure for failure in failures)
        assert (kept(door), waiting(door)) == ({}, 3)
        moody.mood = None
        now.tick(hours=1)
        worker = door.worker
        while worker.run_once() is not None:
            pass
        assert_all_true(door, moody)
        assert set(moody.made.values()) == {1}


class TestWithout:
    """No embedder at all."""

    def test_everything_goes_on_by_words_and_vectors_come_with_an_embedder(
        self, shared_db: str, moody: Moody, opening: Any, now: Now
    ) -> None:
        with connect(shared_db, clock=now, embedder="none") as door:
            saved = door.remember("the ferry leaves at nine", id="ferry")
            assert (saved.outcome, saved.degraded) == ("created", ())
            answer = door.recall("ferry")
            assert [hit.memory.id for hit in answer.hits] == ["ferry"]
            assert answer.degraded == ("semantic: no embedder is configured",)
            assert door.worker.run_once() is None
            assert door.status().embedder is None
        door = opening(shared_db)
        assert door.embed_missing().embedded == 1
        assert_all_true(door, moody)

    def test_what_changed_without_an_embedder_has_no_vector_of_its_old_text(
        self, shared_db: str, moody: Moody, opening: Any, now: Now
    ) -> None:
        opening(shared_db).remember("the ferry leaves at nine", id="ferry")
        with connect(shared_db, clock=now, embedder="none") as door:
            door.revise("ferry", content="a thimble of pepper")
            assert kept(door) == {}
        door = opening(shared_db)
        door.embed_missing()
        assert_all_true(door, moody)


class TestPatience:
    """An embedder that fails again and again is left alone for a while."""

    def test_it_is_asked_no_more_until_the_pause_is_over(self, moody: Moody, now: Now) -> None:
        time = [0.0]
        guarded = Guarded(moody, patience=3, pause_s=30, clock=lambda: time[0])
        with connect(":memory:", clock=now, embedder=guarded) as door:
            moody.mood = raises
            for number in range(5):
                assert door.remember(f"the ferry leaves at {number}").degraded
            assert moody.calls == 3
            moody.mood = None
            (reason,) = door.recall("ferry").degraded
            assert "not called" in reason
            assert "RuntimeError" in reason
            time[0] += 31
            assert door.embed_missing().embedded == 5
            assert_all_true(door, moody)


class TestSomeOfIt:
    """What is wrong only now and then, or only with something."""

    def test_very_large_and_very_small_vectors_are_kept_at_unit_length(
        self, moody: Moody, opening: Any
    ) -> None:
        door = opening(":memory:")
        for number, scale in enumerate((1e300, 1e-30)):
            moody.mood = lambda moody, passages, scale=scale: [
                Passage(each.vector.astype(np.float64) * scale, each.tokens) for each in passages
            ]
            assert door.remember(f"the ferry leaves at {number}").degraded == ()
        assert_all_true(door, moody)
        assert door.recall("the ferry leaves at 1", recipe="semantic").hits[0].memory.id == "2"

    def test_one_text_that_cannot_be_embedded_holds_up_no_other(self, moody: Moody, opening: Any) -> None:
        def balks(moody: Moody, passages: list[Passage]) -> Any:
            poison = moody.right("pepper").tolist()
            if any(each.vector.tolist() == poison for each in passages):
                raise RuntimeError("allergic")
            return passages

        door = opening(":memory:")
        moody.mood = raises
        for text in ("ferry", "pepper", "thimble"):
            door.remember(text, id=text)
        moody.mood = balks
        answer = door.embed_missing()
        assert answer.embedded == 2
        assert len(answer.failures) == 1
        assert "allergic" in answer.failures[0]
        assert len(kept(door)) == 2
        assert door.recall("thimble", recipe="semantic").hits[0].memory.id == "thimble"

    def test_fewer_answers_than_texts_are_believed_of_none(self, moody: Moody, opening: Any) -> None:
        door = opening(":memory:")
        moody.mood = raises
        for number in range(3):
            door.remember(f"the ferry leaves at {number}")
        moody.mood = lambda moody, passages: passages[:-1]
        answer = door.embed_missing()
        assert answer.embedded == 0
        assert "returned vectors for 0 texts" in answer.failures[0]
        assert kept(door) == {}
        moody.mood = None
        assert door.embed_missing().embedded == 3
        assert_all_true(door, moody)

    def test_a_job_that_failed_for_good_is_told_of_and_taken_up_when_someone_asks(
        self, moody: Moody, opening: Any, now: Now
    ) -> None:
        door = opening(":memory:")
        moody.mood = raises
        door.remember("the ferry leaves at nine")
        for _ in range(queue.MOST_ATTEMPTS):
            assert door.worker.run_once() is not None
            now.tick(hours=1)
        assert door.worker.run_once() is None
        assert stood(door)[0].failed == 1
        moody.mood = None
        assert door.embed_missing().embedded == 1
        assert_all_true(door, moody)


class TestMeanwhile:
    """What changes while the embedder is at work, or waits for it."""

    @pytest.mark.parametrize("by", ["embed_missing", "worker"])
    def test_a_text_that_changed_while_it_was_embedded_keeps_no_vector_of_the_old_one(
        self, by: str, tmp_path: Path, moody: Moody, opening: Any, now: Now
    ) -> None:
        door, other = opening(str(tmp_path / "store.db")), Moody()
        other.mood = raises
        with connect(tmp_path / "store.db", clock=now, embedder=Guarded(other)) as elsewhere:
            elsewhere.remember("the ferry leaves at nine", id="ferry")

            def dawdles(moody: Moody, passages: list[Passage]) -> Any:
                elsewhere.revise("ferry", content="a thimble of pepper")
                return passages

            moody.mood = dawdles
            embed(door, by)
        assert (kept(door), waiting(door)) == ({}, 1)
        moody.mood = None
        embed(door, by)
        assert_all_true(door, moody)

    def test_a_save_that_makes_vectors_takes_away_the_job_to_make_them(
        self, moody: Moody, opening: Any
    ) -> None:
        door = opening(":memory:")
        moody.mood = raises
        for id in ("again", "revised", "moved", "gone"):
            door.remember(f"the ferry leaves at {id}", id=id)
        moody.mood = None
        assert door.remember("the ferry leaves at again").outcome == "unchanged"
        door.revise("revised", content="the ferry leaves at ten")
        door.remember("the ferry leaves at moved", id="moved", scope="user")
        door.forget("gone")
        assert_all_true(door, moody)
        assert door.worker.run_once() is None

    def test_what_was_imported_is_embedded_by_the_worker_once(
        self, moody: Moody, opening: Any, tmp_path: Path
    ) -> None:
        path, many = str(tmp_path / "export.jsonl"), 70
        with connect(":memory:") as source:
            for number in range(many):
                source.remember(f"the ferry leaves at {number}")
            source.export(path)
        door = opening(":memory:")
        moody.mood = raises
        door.import_(path)
        assert stood(door)[0].waiting == 1
        moody.mood = None
        worker = door.worker
        while worker.run_once() is not None:
            pass
        assert_all_true(door, moody)
        assert set(moody.made.values()) == {1}


def embed(door: OnRecord, by: str) -> None:
    if by == "worker":
        door.worker.run_once()
    else:
        door.embed_missing()


steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["remember", "revise", "again", "retire", "forget", "work", "embed", "recall", "move"]
        ),
        st.integers(0, 3),
        st.sampled_from(
            [None, None, raises, answers_zeros, answers_nan, answers_another_dimension, nameless]
        ),
    ),
    max_size=14,
)


class TestWhateverHappens:
    """A life with an embedder of changing moods."""

    @settings(max_examples=25)
    @example(lived=[("remember", 0, raises), ("move", 0, None)])
    @given(lived=steps)
    def test_in_the_end_every_vector_is_that_of_its_text(
        self, lived: list[tuple[str, int, Mood | None]]
    ) -> None:
        moody, now = Moody(), Now()
        with connect(":memory:", clock=now, embedder=Guarded(moody, patience=1_000_000)) as door:
            for turn, (act, which, mood) in enumerate(lived):
                moody.mood = mood
                now.tick(hours=2)
                live(door, act, f"m{which}", f"turn {turn} is about {which}")
                for vector in kept(door).values():
                    assert np.linalg.norm(vector) == pytest.approx(1)
            moody.mood = None
            door.remember("the last word")
            door.embed_missing()
            assert_all_true(door, moody)
            assert door.recall("the last word").degraded == ()


def live(door: OnRecord, act: str, id: str, text: str) -> None:
    """One step of a life; what is not there cannot change."""
    there = {memory.id: memory for memory in door.browse(statuses=["active", "archived"]).memories}
    if act == "recall":
        door.recall(text)
    elif act == "work":
        door.worker.run_once()
    elif act == "embed":
        try:
            door.embed_missing()
        except ProviderError:
            assert door.status().degraded
    elif act == "remember" and id not in there:
        door.remember(text, id=id)
    elif id in there and there[id].is_live:
        change(door, act, id, text, there[id].content)


def change(door: OnRecord, act: str, id: str, text: str, present: str) -> None:
    if act == "revise":
        door.revise(id, content=text)
    elif act == "again":
        door.remember(present)
    elif act == "retire":
        door.retire(id)
    elif act == "forget":
        door.forget(id)
    elif act == "move":
        door.remember(present, id=id, scope="user")
