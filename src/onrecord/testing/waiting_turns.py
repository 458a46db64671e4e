"""IS no turn lost whose facts are extracted later, and is each read once? It waits as a row, and goes with its facts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from onrecord.errors import OnRecordError
from onrecord.model.advice import YES, AdviceInput, Advised, Task
from onrecord.model.caller import Caller
from onrecord.operation import StorePolicy
from onrecord.providers.advising import AdvisorState, Asker
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import HOME, Clock, Conformance, administrator, person

FACT: Final = "The user moves to Lisbon"
SECRET: Final = "ghp_" + "a1B2" * 9
_LEASE: Final = timedelta(minutes=2)
_DAY: Final = timedelta(days=1)


class StubAdvisor:
    """Says what a test tells it to, and does what the test wants while it is asked."""

    is_there = True

    def __init__(self) -> None:
        self.facts: tuple[str, ...] = (FACT,)
        #: Why it gives no advice, and whether it has replied nonetheless.
        self.note: str | None = None
        self.replies = True
        self.meanwhile: Callable[[], object] = lambda: None
        self.asked: list[tuple[AdviceInput, Asker]] = []

    def advise(self, task: Task, input: AdviceInput, by: Asker, model: str = YES) -> Advised:
        self.asked.append((input, by))
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        told = Advised(task=task, model="stub", applied=self.note is None, note=self.note, prompt="extract/0")
        return replace(told, said=() if self.note else self.facts, tokens_in=10 if self.replies else 0)

    def note_looked(self, tenant: str, *, asked: bool) -> None:
        """Nobody counts."""

    def state(self, tenant: str | None = None) -> AdvisorState | None:
        return None

    def listen(self, heard: Callable[[Advised], None]) -> None:
        """Nobody is told."""

    def close(self) -> None:
        """It has nothing open."""


class WaitingTurnConformance(Conformance):
    """Facts that a worker extracts."""

    @pytest.fixture
    def advisor(self) -> StubAdvisor:
        return StubAdvisor()

    @pytest.fixture
    def ann(self, store: Store, clock: Clock, advisor: StubAdvisor) -> OnRecord:
        door = OnRecord(store, person(), clock=clock)
        door.advisor = advisor
        return door

    @pytest.fixture
    def within(self, ann: OnRecord) -> OnRecord:
        return ann.as_caller(ann.caller.inside("talk"))

    def test_a_turn_waits_without_its_secrets_until_a_worker_saves_its_facts(
        self, within: OnRecord, root: OnRecord, store: Store, clock: Clock, advisor: StubAdvisor
    ) -> None:
        within.note_turn(f"I move to Lisbon, and my token is {SECRET}.")
        within.note_turn("Noted.", role="assistant", extract="yes", extract_later=True)
        said_at = clock.now
        assert (advisor.asked, facts(within), waiting(root)) == ([], [], (1, 0))
        with store.archive() as archive:
            row = archive.waiting_turn(HOME, 1)
        assert row is not None
        assert "Lisbon" in row.asked["user"]
        assert SECRET not in repr(row)
        clock.tick(hours=1)
        # A worker of another process: it knows nothing but the store.
        other = OnRecord(store, administrator(), clock=clock)
        other.advisor = advisor
        assert other.worker.run_once() == (0, ())
        [memory] = within.browse().memories
        assert (memory.content, memory.owner, memory.conversation) == (FACT, "ann", "talk")
        assert (memory.valid_from, memory.created_at) == (said_at, clock.now)
        assert memory.metadata["turn"]["at"] == f"{said_at:%Y-%m-%dT%H:%M:%SZ}"
        assert advisor.asked[0][1].caller.user == "ann"
        assert (waiting(root), other.worker.run_once(), len(advisor.asked)) == ((0, 0), None, 1)

    def test_a_turn_that_two_workers_read_is_saved_once(
        self, ann: OnRecord, clock: Clock, advisor: StubAdvisor
    ) -> None:
        """The first is taken to be dead while it asks; both get facts in other words."""
        ann.extract("I move to Lisbon.", scope="tenant", later=True)

        def second() -> None:
            clock.now += _LEASE
            advisor.facts = ("Ann is about to move to Lisbon",)
            ann.worker.run_once()
            advisor.facts = (FACT,)

        advisor.meanwhile = second
        ann.worker.run_once()
        assert (len(advisor.asked), facts(ann)) == (2, ["Ann is about to move to Lisbon"])
        assert ann.worker.run_once() is None

    @pytest.mark.parametrize("when", ["before", "meanwhile"])
    @pytest.mark.parametrize("gone", ["deleted", "cleared"])
    def test_a_turn_goes_with_its_conversation(
        self, within: OnRecord, root: OnRecord, store: Store, advisor: StubAdvisor, gone: str, when: str
    ) -> None:
        """Also while its facts are looked for: nothing of it is saved, and the conversation does not begin anew."""
        within.extract("I move to Lisbon.", later=True)

        def go() -> None:
            if gone == "deleted":
                within.delete_conversation("talk")
            else:
                within.clear_turns()

        if when == "before":
            go()
            with store.archive() as archive:
                assert archive.waiting_turn(HOME, 1) is None
        else:
            advisor.meanwhile = go
        within.worker.run_once()
        assert (facts(root), waiting(root), len(advisor.asked)) == ([], (0, 0), int(when == "meanwhile"))
        assert len(root.conversations().conversations) == (gone == "cleared")
        assert root.doctor().problems == ()

    def test_a_turn_goes_with_its_tenant(self, ann: OnRecord, root: OnRecord, store: Store) -> None:
        ann.extract("I move to Lisbon.", scope="tenant", later=True)
        root.erase_tenant(HOME, confirm=HOME)
        with store.archive() as archive:
            assert archive.waiting_turn(HOME, 1) is None
        assert ann.worker.run_once() is None

    def test_without_a_reply_it_is_tried_again_and_after_a_useless_one_it_is_not(
        self, ann: OnRecord, root: OnRecord, clock: Clock, advisor: StubAdvisor
    ) -> None:
        """For longer than a day, since a budget may be used up until its end."""
        ann.extract("I move to Lisbon.", scope="tenant", later=True)
        advisor.note, advisor.replies = "The advisor is away.", False
        assert ann.worker.run_once() == (0, ("The advisor is away.",))
        [failed] = root.status().tenants[0].failures
        assert (failed.name, failed.error, failed.attempts) == ("extract", "The advisor is away.", 1)
        begun = clock.now
        while waiting(root) == (1, 0):
            clock.now += timedelta(hours=3)
            ann.worker.run_once()
        assert clock.now - begun > _DAY
        assert waiting(root) == (0, 1)
        assert "dismiss-failures" in root.status().tenants[0].failures[0].cure
        assert root.dismiss_failures(name="extract").jobs == 1
        ann.extract("I move to Porto.", scope="tenant", later=True)
        advisor.note, advisor.replies = "Its reply cannot be read.", True
        assert ann.worker.run_once() == (0, ())
        assert (waiting(root), facts(ann)) == ((0, 0), [])

    def test_dismissing_failures_drops_their_turns(
        self, ann: OnRecord, root: OnRecord, store: Store, clock: Clock, advisor: StubAdvisor
    ) -> None:
        advisor.note, advisor.replies = "The advisor is away.", False
        ann.extract("I move to Lisbon.", scope="tenant", later=True)
        while waiting(root) == (1, 0):
            clock.now += timedelta(hours=3)
            ann.worker.run_once()
        root.dismiss_failures()
        with store.archive() as archive:
            assert archive.waiting_turn(HOME, 1) is None

    def test_a_fact_that_is_refused_takes_no_other_with_it(
        self, store: Store, clock: Clock, advisor: StubAdvisor
    ) -> None:
        """An unattended run may save two; what it extracts waits for review, and is the run's."""
        run = OnRecord(
            store,
            Caller(tenant=HOME, user="ann", actor="unattended", run="r1", conversation="talk"),
            clock=clock,
            policy=StorePolicy(saves_per_run=2),
        )
        run.advisor = advisor
        advisor.facts = ("One is first", "Two is second", "Three is third")
        run.extract("One, two and three.", later=True)
        run.worker.run_once()
        reader = run.as_caller(person(conversation="talk"))
        waits = reader.browse(statuses=["pending"]).memories
        assert {each.content for each in waits} == {"One is first", "Two is second"}
        assert run.worker.run_once() is None

    def test_a_memory_and_a_turn_of_one_number_have_nothing_in_common(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        ann.remember("The first memory.", id="first")
        ann.extract("I move to Lisbon.", scope="tenant", later=True)
        ann.forget("first")
        assert waiting(root) == (1, 0)
        assert root.doctor().problems == ()
        ann.worker.run_once()
        assert facts(ann) == [FACT]

    def test_whoever_left_the_conversation_saves_nothing_there(
        self, ann: OnRecord, root: OnRecord, advisor: StubAdvisor
    ) -> None:
        ann.register_conversation("talk")
        ann.share_conversation("talk", "bob")
        bob = ann.as_caller(person("bob", conversation="~ann/talk"))
        bob.extract("I move to Lisbon.", later=True)
        ann.unshare_conversation("talk", "bob")
        ann.worker.run_once()
        assert (facts(root), waiting(root)) == ([], (0, 0))
        with pytest.raises(OnRecordError, match="No conversation"):
            bob.extract("I move to Lisbon.", later=True)


def facts(door: OnRecord) -> list[str]:
    return [memory.content for memory in door.browse().memories]


def waiting(root: OnRecord) -> tuple[int, int]:
    """How many turns wait, and how many were given up."""
    told = [each for each in root.status().tenants if each.collection == "memories"]
    return sum(each.turns_waiting for each in told), sum(each.turns_failed for each in told)
