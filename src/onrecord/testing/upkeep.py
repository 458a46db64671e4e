"""IS what is missing made by itself? Jobs that come back, done by one worker at a time, even if a worker dies."""

from datetime import timedelta
from typing import Any, Final

import pytest

from onrecord.errors import ProviderError
from onrecord.jobs.worker import Periodic, Worker
from onrecord.model.collections import Home
from onrecord.service import OnRecord
from onrecord.store.ports.jobs import EMBED, RECONCILE
from onrecord.store.ports.store import Store
from onrecord.store.records.queue import MOST_ATTEMPTS
from onrecord.testing.builders import HOME, Clock, Conformance, administrator, covered, queued
from onrecord.testing.embedder import StubEmbedder
from onrecord.testing.embedding import with_embedder

_HOUR: Final = timedelta(hours=1)


def worked(door: OnRecord) -> int:
    """How many memories a worker that starts makes vectors of, until nothing is due."""
    worker, made = door.worker, 0
    worker.begin()
    while (did := worker.run_once()) is not None:
        made += did[0]
    return made


class UpkeepConformance(Conformance):
    """What a worker does without being asked."""

    def test_what_was_saved_without_an_embedder_gets_vectors_once_a_worker_starts(
        self, ann: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for number in range(40):
            ann.remember(f"bird {number}")
        assert worked(with_embedder(ann, stub)) == 40
        assert (covered(store), queued(store)) == ({"stub": 40}, (0, 0))

    def test_so_does_what_was_saved_under_another_model(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        knowing.remember("bird")
        newer = with_embedder(knowing, StubEmbedder("newer", 48), stub)
        assert worked(newer) == 1
        assert covered(store) == {"newer": 1, "stub": 1}

    def test_and_what_a_running_worker_was_not_told_of_at_its_next_look(
        self, ann: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        knowing = with_embedder(ann, stub)
        assert worked(knowing) == 0
        ann.remember("bird")
        worker = knowing.worker
        assert (worker.is_wanted(), worker.run_once()) == (False, None)
        clock.tick(minutes=15)
        assert [did for did in iter(worker.run_once, None) if any(did)] == [(1, ())]

    def test_a_text_that_is_refused_holds_up_none_of_those_after_it(
        self, ann: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for number in range(70):
            ann.remember(f"bird {number} {'poison' if number % 7 == 0 else ''}")
        stub.refused = "poison"
        knowing = with_embedder(ann, stub)
        assert worked(knowing) == 60
        # Each of the others has a job of its own, which is tried again and given up by itself.
        assert (covered(store), queued(store)) == ({"stub": 60}, (10, 0))
        (failed,) = with_embedder(ann.as_caller(administrator()), stub).status().tenants[0].failures
        assert (failed.name, failed.jobs, failed.error) == (EMBED, 10, "The stub cannot embed poison.")

    def test_what_was_given_up_is_tried_again_by_the_next_worker_that_starts(
        self, knowing: OnRecord, store: Store, stub: StubEmbedder, clock: Clock
    ) -> None:
        stub.down = "The stub is away."
        knowing.remember("bird")
        worker = knowing.worker
        while queued(store) != (0, 1):
            worker.run_once()
            clock.tick(hours=1)
        (failed,) = knowing.as_caller(administrator()).status().tenants[0].failures
        assert (failed.attempts, failed.error, failed.next_try) == (MOST_ATTEMPTS, "The stub is away.", None)
        assert "`onrecord embed-missing`" in failed.cure
        stub.down = None
        assert worked(knowing) == 1
        assert (covered(store), queued(store)) == ({"stub": 1}, (0, 0))

    def test_what_is_archived_is_no_gap_and_gets_vectors_all_the_same(
        self, ann: OnRecord, store: Store, stub: StubEmbedder
    ) -> None:
        for number in range(3):
            ann.remember(f"bird {number}", id=str(number))
        ann.retire("1")
        knowing = with_embedder(ann.as_caller(administrator()), stub)

        def coverage_now() -> tuple[int, int, bool]:
            (model,) = knowing.status().tenants[0].models
            return model.indexed, model.expected, model.cure is None

        assert coverage_now() == (0, 2, False)
        with store.archive() as archive:
            kept = {memory.id: memory for memory in archive.unembedded(Home(HOME), stub.model, 9)}
        for id in ("0", "2"):
            with store.restoring(Home(HOME)) as restoring:
                restoring.keep_vectors(kept[id], stub.model, stub.embed_documents([kept[id].content])[0])
        assert coverage_now() == (2, 2, True)
        assert worked(knowing) == 1
        assert (coverage_now(), covered(store)) == ((2, 2, True), {"stub": 3})

    def test_a_text_that_is_revised_without_an_embedder_loses_its_vector_and_gets_the_next(
        self, knowing: OnRecord, ann: OnRecord, store: Store
    ) -> None:
        knowing.remember("bird", id="b")
        ann.revise("b", confidence="low")
        assert covered(store) == {"stub": 1}
        ann.revise("b", content="fish")
        assert covered(store) == {}
        assert worked(knowing) == 1

    def test_status_tells_who_makes_what_is_missing(
        self, ann: OnRecord, stub: StubEmbedder, clock: Clock
    ) -> None:
        ann.remember("bird")
        knowing = with_embedder(ann.as_caller(administrator()), stub)

        def cure() -> str | None:
            return knowing.status().tenants[0].models[0].cure

        assert cure() is not None
        assert str(cure()).startswith("no worker looks after this store")
        knowing.worker.begin()
        assert str(cure()).startswith("a worker makes them by itself")
        clock.tick(hours=1)
        assert str(cure()).startswith("no worker looks after this store")
        assert worked(knowing) == 1
        assert cure() is None


class PeriodicConformance(Conformance):
    """Jobs of the whole store that come back."""

    def _worker(self, store: Store, clock: Clock, do: Any) -> Worker:
        return Worker(store, {"chore": Periodic(do, _HOUR)}, clock)

    def test_it_is_done_at_the_start_and_each_time_it_is_due(self, store: Store, clock: Clock) -> None:
        done = list[Any]()
        worker = self._worker(store, clock, done.append)
        assert worker.run_once() is None
        worker.begin()
        assert [worker.run_once(), worker.run_once()] == [(0, ()), None]
        clock.now += _HOUR
        assert [worker.run_once(), worker.run_once()] == [(0, ()), None]
        assert done == [clock.now - _HOUR, clock.now]

    def test_of_several_workers_one_does_it(self, store: Store, clock: Clock) -> None:
        done = list[str]()
        workers = [self._worker(store, clock, lambda now, name=name: done.append(name)) for name in "ab"]
        for worker in workers:
            worker.begin()
        assert [worker.run_once() for worker in workers] == [(0, ()), None]
        assert done == ["a"]

    def test_one_that_is_being_done_is_not_begun_again_by_a_worker_that_starts(
        self, store: Store, clock: Clock
    ) -> None:
        late = list[object]()

        def slow(now: object) -> None:
            other = self._worker(store, clock, late.append)
            other.begin()
            assert other.run_once() is None

        worker = self._worker(store, clock, slow)
        worker.begin()
        assert worker.run_once() == (0, ())
        assert late == []

    def test_one_whose_worker_was_killed_is_taken_over_after_its_lease(
        self, store: Store, clock: Clock
    ) -> None:
        class Killed(BaseException):
            pass

        def die(now: object) -> None:
            raise Killed

        dying, done = self._worker(store, clock, die), list[object]()
        dying.begin()
        with pytest.raises(Killed):
            dying.run_once()
        heir = self._worker(store, clock, done.append)
        heir.begin()
        assert heir.run_once() is None
        clock.tick(minutes=1)
        assert (heir.run_once(), len(done)) == ((0, ()), 1)

    @pytest.mark.parametrize(
        ("problem", "message"),
        [(ProviderError("Away."), "Away."), (KeyError("lost"), "KeyError: 'lost'")],
        ids=["expected", "a fault of ours"],
    )
    def test_one_that_fails_is_named_and_tried_again_for_ever(
        self, store: Store, clock: Clock, root: OnRecord, problem: Exception, message: str
    ) -> None:
        def fail(now: object) -> None:
            raise problem

        worker = self._worker(store, clock, fail)
        worker.begin()
        for attempt in range(1, MOST_ATTEMPTS + 5):
            assert worker.run_once() == (0, (message,))
            (failed,) = root.status().failures
            assert (failed.name, failed.attempts, failed.error) == ("chore", attempt, message)
            assert "tries again by itself" in failed.cure
            assert failed.next_try is not None
            clock.now = failed.next_try
        mended = self._worker(store, clock, lambda now: None)
        assert (mended.run_once(), root.status().failures) == ((0, ()), ())

    def test_only_who_runs_the_store_is_told_of_its_jobs(
        self, store: Store, clock: Clock, root: OnRecord
    ) -> None:
        worker = self._worker(store, clock, {}.__getitem__)
        worker.begin()
        worker.run_once()
        other = root.as_caller(administrator(tenant="beta", operator=False))
        assert (len(root.status().failures), other.status().failures) == (1, ())

    def test_it_belongs_to_no_tenant(self, store: Store, clock: Clock, root: OnRecord) -> None:
        root.remember("bird")
        self._worker(store, clock, lambda now: None).begin()
        with store.archive() as archive:
            assert archive.homes() == [Home(HOME)]
        assert (queued(store), root.doctor().problems) == ((0, 0), ())
        store.erase_tenant(HOME)
        worker = self._worker(store, clock, lambda now: None)
        assert worker.run_once() == (0, ())

    def test_of_those_who_would_start_a_worker_one_at_a_time_does(self, store: Store, clock: Clock) -> None:
        ones = [self._worker(store, clock, lambda now: None) for _ in range(2)]
        assert [each.takes_turn(_HOUR) for each in (*ones, ones[0])] == [True, False, False]
        clock.now += _HOUR
        assert [each.takes_turn(_HOUR) for each in reversed(ones)] == [True, False]

    def test_a_worker_claims_only_what_it_can_do(
        self, store: Store, clock: Clock, knowing: OnRecord, stub: StubEmbedder
    ) -> None:
        stub.down = "away"
        knowing.remember("bird")
        with store.jobs() as jobs:
            jobs.ask(RECONCILE, clock.now)
        done = list[object]()
        worker = self._worker(store, clock, done.append)
        worker.begin()
        assert ([worker.run_once(), worker.run_once()], len(done)) == ([(0, ()), None], 1)
        assert queued(store) == (1, 0)
