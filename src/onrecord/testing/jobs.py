"""IS each job done once? One worker at a time claims it; a failed job is repeated a few times and then given up."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Final

import pytest

from onrecord.model.collections import Home
from onrecord.model.memory import Memory
from onrecord.service import OnRecord
from onrecord.store.ports.jobs import EMBED, Job
from onrecord.store.ports.store import Store
from onrecord.store.records.queue import MOST_ATTEMPTS
from onrecord.testing.builders import HOME, Clock, Conformance, administrator, covered, person, queued
from onrecord.testing.embedder import StubEmbedder

_LEASE: Final = timedelta(minutes=5)


def _claim(store: Store, clock: Clock, worker: str = "one", most: int = 100) -> list[Job]:
    return store.claim(worker, clock.now, _LEASE, most, [EMBED])


class JobConformance(Conformance):
    """The queue, as workers use it."""

    @pytest.fixture
    def waiting(self, knowing: OnRecord, stub: StubEmbedder) -> list[Memory]:
        """Three memories that got no vectors because the embedder failed; the second was revised after that."""
        stub.down = "away"
        saved = [knowing.remember(f"bird {number}", id=str(number)).memory for number in range(3)]
        knowing.revise("1", content="another bird")
        stub.down = None
        return saved

    def test_a_memory_has_one_job_however_often_it_asked(
        self, waiting: list[Memory], store: Store, clock: Clock
    ) -> None:
        assert queued(store) == (3, 0)
        claimed = _claim(store, clock)
        assert [(job.home.tenant, job.name, job.attempts, job.worker) for job in claimed] == [
            (HOME, EMBED, 1, "one")
        ] * 3
        assert [job.subject for job in claimed] == [memory.place.row for memory in waiting if memory.place]

    def test_a_job_is_claimed_by_one_worker_until_its_lease_is_over(
        self, waiting: list[Memory], store: Store, clock: Clock
    ) -> None:
        first = _claim(store, clock, "one", most=2)
        assert len(first) == 2
        assert [job.subject for job in _claim(store, clock, "two")] == [3]
        clock.now += _LEASE - timedelta(microseconds=1)
        assert _claim(store, clock, "two") == []
        clock.tick()
        again = _claim(store, clock, "three")
        assert [(job.subject, job.attempts) for job in again] == [(1, 2), (2, 2), (3, 2)]

    def test_a_worker_that_comes_too_late_takes_nothing_from_the_next(
        self, waiting: list[Memory], store: Store, clock: Clock
    ) -> None:
        late = _claim(store, clock, "late")
        clock.now += 2 * _LEASE
        _claim(store, clock, "next")
        with store.restoring(Home(HOME)) as restoring:
            restoring.jobs.finish(late)
            restoring.jobs.postpone(late[0], clock.now, "too late")
        assert (queued(store), _claim(store, clock, "another")) == ((3, 0), [])

    def test_what_is_done_is_taken_away(self, waiting: list[Memory], store: Store, clock: Clock) -> None:
        claimed = _claim(store, clock, most=2)
        with store.restoring(Home(HOME)) as restoring:
            restoring.jobs.finish(claimed)
        assert queued(store) == (1, 0)

    def test_what_was_asked_for_anew_while_it_was_done_is_not_lost(
        self, waiting: list[Memory], knowing: OnRecord, store: Store, clock: Clock, stub: StubEmbedder
    ) -> None:
        claimed = _claim(store, clock)
        stub.down = "away"
        knowing.revise("0", content="changed meanwhile")
        with store.restoring(Home(HOME)) as restoring:
            restoring.jobs.finish(claimed)
        assert queued(store) == (1, 0)
        (again,) = _claim(store, clock, "two")
        assert (again.subject, again.attempts) == (1, 1)

    def test_what_failed_waits_and_counts(self, waiting: list[Memory], store: Store, clock: Clock) -> None:
        (job,) = _claim(store, clock, most=1)
        later = clock.now + timedelta(seconds=30)
        with store.restoring(Home(HOME)) as restoring:
            restoring.jobs.postpone(job, later, "the reason")
        assert 1 not in [each.subject for each in _claim(store, clock, "two")]
        clock.now = later
        (again,) = _claim(store, clock, "three")
        assert (again.subject, again.attempts) == (1, 2)

    def test_what_gets_on_counts_as_fresh(self, waiting: list[Memory], store: Store, clock: Clock) -> None:
        for _ in range(3):
            (job,) = _claim(store, clock, most=1)
            assert job.attempts == 1
            with store.restoring(Home(HOME)) as restoring:
                restoring.jobs.postpone(job, clock.now - timedelta(days=1), None)

    def test_what_fails_too_often_is_given_up_until_someone_asks(
        self, waiting: list[Memory], store: Store, clock: Clock
    ) -> None:
        for attempt in range(1, MOST_ATTEMPTS + 1):
            claimed = _claim(store, clock)
            assert {job.attempts for job in claimed} == {attempt}
            with store.restoring(Home(HOME)) as restoring:
                for job in claimed:
                    restoring.jobs.postpone(job, clock.now, "the reason")
        assert (_claim(store, clock), queued(store)) == ([], (0, 3))
        with store.restoring(Home(HOME)) as restoring:
            restoring.jobs.retry_failed(clock.now)
        assert queued(store) == (3, 0)
        assert {job.attempts for job in _claim(store, clock)} == {1}

    def test_only_what_was_given_up_is_dismissed(
        self, waiting: list[Memory], store: Store, clock: Clock
    ) -> None:
        with store.restoring(Home(HOME)) as restoring:
            assert restoring.jobs.dismiss() == 0
        for _ in range(MOST_ATTEMPTS):
            claimed = _claim(store, clock, most=2)
            with store.restoring(Home(HOME)) as restoring:
                for job in claimed:
                    restoring.jobs.postpone(job, clock.now - timedelta(days=1), "the reason")
        assert queued(store) == (1, 2)
        with store.restoring(Home(HOME)) as restoring:
            assert (restoring.jobs.dismiss("other"), restoring.jobs.dismiss(EMBED)) == (0, 2)
        assert queued(store) == (1, 0)

    def test_a_claim_is_of_one_tenant(
        self, knowing: OnRecord, store: Store, clock: Clock, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        for tenant in ("alpha", "beta"):
            for number in range(2):
                knowing.as_caller(person(tenant=tenant)).remember(f"bird {number}")
            clock.tick()
        claims = [_claim(store, clock) for _ in range(3)]
        assert [[job.home.tenant for job in jobs] for jobs in claims] == [["alpha"] * 2, ["beta"] * 2, []]

    def test_a_job_for_the_tenant_is_one_of_its_own(
        self, store: Store, knowing: OnRecord, clock: Clock
    ) -> None:
        knowing.remember("bird")
        for _ in range(2):
            with store.restoring(Home(HOME)) as restoring:
                restoring.jobs.add(EMBED, clock.now)
        assert [job.subject for job in _claim(store, clock)] == [0]

    def test_a_job_is_not_due_before_its_time(self, store: Store, knowing: OnRecord, clock: Clock) -> None:
        knowing.remember("bird")
        with store.restoring(Home(HOME)) as restoring:
            restoring.jobs.add(EMBED, clock.now + timedelta(seconds=1))
        assert _claim(store, clock) == []
        clock.tick()
        assert len(_claim(store, clock)) == 1

    def test_workers_at_once_never_claim_the_same(
        self, knowing: OnRecord, store: Store, clock: Clock, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        for number in range(40):
            knowing.remember(f"bird {number}")

        def work(name: str) -> list[int]:
            taken: list[int] = []
            while claimed := _claim(store, clock, name, most=3):
                taken += [job.subject for job in claimed]
            return taken

        with ThreadPoolExecutor(4) as workers:
            taken = list(workers.map(work, "abcd"))
        # A worker that finds every row locked gets no job; the jobs stay for others.
        subjects = sorted(subject for each in taken for subject in each)
        subjects += [job.subject for job in _claim(store, clock, "last")]
        assert sorted(subjects) == list(range(1, 41))


class WorkerConformance(Conformance):
    """What a worker does with the jobs that it claims."""

    def test_a_worker_does_what_was_put_off(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        for number in range(20):
            knowing.remember(f"bird {number}")
        stub.down = None
        worker, done = knowing.worker, 0
        while (did := worker.run_once()) is not None:
            assert did[1] == ()
            done += did[0]
        assert (done, covered(store), queued(store)) == (20, {"stub": 20}, (0, 0))

    def test_a_worker_without_an_embedder_claims_nothing(
        self, knowing: OnRecord, ann: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        stub.down = "away"
        knowing.remember("bird")
        assert ann.worker.run_once() is None
        assert [job.attempts for job in _claim(store, clock)] == [1]

    def test_an_embedder_that_stays_away_is_asked_ever_more_rarely(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        stub.down = "The stub is away."
        knowing.remember("bird")
        waits = []
        for _ in range(MOST_ATTEMPTS):
            began = clock.now
            while (did := knowing.worker.run_once()) is None:
                clock.tick(seconds=1 if clock.now - began < timedelta(minutes=1) else 60)
            assert did == (0, ("The stub is away.",))
            waits.append(clock.now - began)
        assert waits[1:5] == [timedelta(seconds=seconds) for seconds in (2, 4, 8, 16)]
        assert waits == sorted(waits)
        assert waits[-1] <= timedelta(hours=1, minutes=1)
        assert (queued(store), knowing.worker.run_once()) == ((0, 1), None)
        stub.down = None
        assert knowing.as_caller(administrator()).embed_missing().embedded == 1
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))

    def test_a_text_that_is_refused_holds_up_no_other_job(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        for text in ("bird", "poison", "fish"):
            knowing.remember(text)
        stub.down, stub.refused = None, "poison"
        assert knowing.worker.run_once() == (2, ("The stub cannot embed poison.",))
        assert (covered(store), queued(store)) == ({"stub": 2}, (1, 0))

    def test_two_workers_that_embed_the_same_memory_keep_it_once(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        stub.down = "away"
        saved = knowing.remember("bird").memory
        (passages,) = StubEmbedder().embed_documents(["bird"])
        for _ in range(2):
            with store.restoring(Home(HOME)) as restoring:
                assert restoring.keep_vectors(saved, stub.model, passages)
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))

    def test_vectors_of_a_text_that_has_changed_meanwhile_are_not_kept(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        old = knowing.remember("bird", id="k").memory
        gone = knowing.remember("fish", id="gone").memory
        knowing.revise("k", content="falcon")
        knowing.forget("gone")
        (passages,) = StubEmbedder().embed_documents(["bird"])
        with store.restoring(Home(HOME)) as restoring:
            assert not restoring.keep_vectors(old, stub.model, passages)
            assert not restoring.keep_vectors(gone, stub.model, passages)
        assert (covered(store), queued(store)) == ({}, (1, 0))

    def test_a_job_whose_memory_is_gone_or_has_its_vectors_ends_quietly(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        knowing.remember("bird")
        with store.restoring(Home(HOME)) as restoring:
            restoring.jobs.add(EMBED, clock.now)
        assert knowing.worker.run_once() == (0, ())
        assert queued(store) == (0, 0)
