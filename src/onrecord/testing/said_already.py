"""WAS it saved already, or rejected before? What a save lists as similar, what it supersedes, and what is not proposed again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from onrecord.model.limits import STATUSES
from onrecord.remember.remember import Remembered
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, administrator, around, browsed, change_names, person
from onrecord.testing.embedder import PASSAGE_WORDS, StubEmbedder

_SAID: Final = "the orders table is refreshed every night at two"
#: The same in almost the same words.
_AGAIN: Final = "The orders table is refreshed every night at two!"
#: Near, and another fact.
_OTHERWISE: Final = "the orders table is refreshed every night at five"
_WAITING: Final = ["pending"]


def _near(saved: Remembered) -> list[str]:
    return [each.id for each in saved.similar]


class SaidAlreadyConformance(Conformance):
    """What is near by meaning is listed, and superseded only where words agree."""

    def test_what_was_said_already_is_told_with_its_likeness(self, knowing: OnRecord) -> None:
        knowing.remember("kestrels hover over meadows")
        knowing.remember(_SAID, title="when orders come")
        saved = knowing.remember(_OTHERWISE)
        assert (saved.outcome, saved.superseded, saved.rejected) == ("created", (), ())
        (near,) = saved.similar
        assert (near.id, near.title, 0.65 <= near.likeness < 1) == ("2", "when orders come", True)
        assert _near(knowing.remember("kites are red", alike="tell")) == []
        assert _near(knowing.remember(_AGAIN, alike="keep")) == []

    @pytest.mark.parametrize(
        ("given", "later", "is_listed"),
        [
            pytest.param({}, None, True, id="active"),
            pytest.param({}, lambda door: door.revise("1", status="stale"), True, id="stale"),
            pytest.param({"review": True}, None, True, id="one's own that waits"),
            pytest.param({}, lambda door: door.retire("1"), False, id="archived"),
            pytest.param({}, lambda door: door.remember("kites", supersedes=["1"]), False, id="superseded"),
            pytest.param({"scope": "user"}, None, False, id="for other readers"),
        ],
    )
    def test_only_what_counts_for_the_same_readers_is_told(
        self, knowing: OnRecord, given: Any, later: Callable[[OnRecord], Any] | None, is_listed: bool
    ) -> None:
        said = knowing.remember(_SAID, id="1", **given).memory.id
        if later is not None:
            later(knowing)
        assert _near(knowing.remember(_OTHERWISE)) == ([said] if is_listed else [])

    @pytest.mark.parametrize("given", [{}, {"review": True}, {"scope": "user"}])
    def test_what_another_said_is_not_told(self, knowing: OnRecord, given: Any) -> None:
        knowing.remember(_SAID, **given)
        for caller in (person("bob"), administrator()):
            assert _near(knowing.as_caller(caller).remember(_OTHERWISE)) == []

    def test_whoever_changes_a_memory_is_not_before_it(self, knowing: OnRecord) -> None:
        knowing.remember(_SAID, id="a")
        assert _near(knowing.remember(_OTHERWISE, id="a")) == []
        assert _near(knowing.remember(_AGAIN, supersedes=["a"])) == []

    def test_the_same_in_almost_the_same_words_is_superseded_if_the_save_says_so(
        self, knowing: OnRecord, clock: Clock
    ) -> None:
        knowing.remember(_SAID)
        clock.tick()
        assert knowing.remember(_AGAIN, alike="supersede", dry_run=True).superseded == ("1",)
        saved = knowing.remember(_AGAIN, alike="supersede")
        assert (saved.superseded, saved.similar) == (("1",), ())
        assert knowing.show("1").memory.status == "superseded"
        assert around(knowing, "2") == [("2", "supersedes", "1")]

    def test_what_is_stale_is_superseded_too_and_what_was_superseded_never_again(
        self, knowing: OnRecord, clock: Clock
    ) -> None:
        knowing.remember(_SAID)
        knowing.revise("1", status="stale")
        for content, superseded in ((_AGAIN, "1"), (f"{_SAID}.", "2")):
            clock.tick()
            saved = knowing.remember(content, alike="supersede", dedupe=False)
            assert (saved.superseded, saved.similar) == ((superseded,), ())
        assert browsed(knowing) == ["3"]

    @pytest.mark.parametrize(
        ("said", "content"),
        [
            ("stores 9001-9099 are outlet stores of ours", "stores 8001-8099 are outlet stores of ours"),
            (
                "sales_daily is refreshed every night for everyone",
                "sales_weekly is refreshed every night for everyone",
            ),
            (_SAID, "the orders table is not refreshed every night at two"),
            (_SAID, "the orders table is never refreshed every night at two"),
            ("run the big export job before the import", "run the big export job after the import"),
            ("the import of big orders comes from Kiel", "the import of big orders comes from Rome"),
            ("wait at most 5 ms for the answer of it", "wait at most 5 s for the answer of it"),
            (
                "the big contract of ours ends on 2025-03-31",
                "the big contract of ours ends on 2025-03-30",
            ),
            ("big orders flow from Kiel to Rome each day", "big orders flow from Rome to Kiel each day"),
        ],
    )
    def test_another_number_name_or_the_opposite_is_told_and_never_superseded(
        self, knowing: OnRecord, said: str, content: str
    ) -> None:
        knowing.remember(said)
        saved = knowing.remember(content, alike="supersede")
        assert (saved.superseded, _near(saved)) == ((), ["1"])
        assert browsed(knowing) == ["2", "1"]

    @pytest.mark.parametrize(
        "more",
        [{"entities": ["orders"]}, {"kind": "decision"}, {"query": "select 1"}],
        ids=lambda more: next(iter(more)),
    )
    def test_the_same_words_about_something_else_are_told_and_never_superseded(
        self, knowing: OnRecord, more: dict[str, Any]
    ) -> None:
        knowing.remember(_SAID, **more)
        saved = knowing.remember(_AGAIN, alike="supersede")
        assert (saved.superseded, _near(saved)) == ((), ["1"])

    def test_saves_of_the_same_come_down_to_one_however_many_came_before(
        self, knowing: OnRecord, clock: Clock
    ) -> None:
        """A long chain of superseded ones must not hide the one that counts."""
        for number in range(20):
            clock.tick()
            knowing.remember(_SAID + "!" * number, alike="supersede")
        assert browsed(knowing) == ["20"]
        assert [_status(knowing, id) for id in ("1", "19")] == ["superseded", "superseded"]

    def test_a_higher_tier_is_told_and_not_superseded_by_a_lower_one(self, knowing: OnRecord) -> None:
        knowing.remember(_SAID)
        agent = knowing.as_caller(person(actor="agent"))
        saved = agent.remember(_AGAIN, alike="supersede")
        assert (saved.outcome, saved.superseded, _near(saved)) == ("created", (), ["1"])
        assert knowing.remember(_SAID + ".", alike="supersede").superseded == ("1", "2")

    def test_what_becomes_true_later_supersedes_nothing_by_itself(
        self, knowing: OnRecord, clock: Clock
    ) -> None:
        knowing.remember(_SAID)
        saved = knowing.remember(_AGAIN, alike="supersede", valid_from=clock.now.replace(year=2100))
        assert (saved.superseded, _near(saved)) == ((), ["1"])

    def test_a_save_that_waits_supersedes_at_its_approval_and_a_rejection_brings_back(
        self, knowing: OnRecord, clock: Clock
    ) -> None:
        knowing.remember(_SAID)
        before = knowing.show("1").memory
        waits = knowing.remember(_AGAIN, alike="supersede", review=True)
        assert (waits.outcome, waits.superseded) == ("proposed", ())
        assert knowing.show("1").memory == before
        root = knowing.as_caller(administrator())
        root.approve("2")
        assert _status(root, "1") == "superseded"
        clock.tick()
        rejected = root.reject("2", reason="not so")
        assert rejected.restored == ("1",)
        assert replace(knowing.show("1").memory, updated_at=before.updated_at, version=1) == before
        assert (browsed(knowing), around(knowing, "1")) == (["1"], [])
        assert change_names(knowing, "1") == ["remember", "supersede", "reject"]
        assert root.reject("2").restored == ()

    def test_what_waits_is_replaced_by_the_same_that_waits_and_does_not_come_back(
        self, knowing: OnRecord, clock: Clock
    ) -> None:
        first = knowing.remember(_SAID, review=True, alike="supersede").memory.id
        clock.tick()
        again = knowing.remember(_AGAIN, review=True, alike="supersede", dedupe=False)
        assert again.superseded == (first,)
        assert browsed(knowing, statuses=_WAITING) == [again.memory.id]
        counts = knowing.remember(_AGAIN, alike="supersede", dedupe=False)
        assert counts.superseded == (), "what counts at once leaves what waits to its reviewer"
        knowing.forget(counts.memory.id)
        reviewer = knowing.as_caller(administrator())
        reviewer.approve(again.memory.id)
        reviewer.reject(again.memory.id)
        assert browsed(knowing, statuses=_WAITING) == []
        assert knowing.show(first).memory.status == "superseded"

    def test_without_an_embedder_a_save_tells_nothing(
        self, ann: OnRecord, knowing: OnRecord, stub: StubEmbedder
    ) -> None:
        knowing.remember(_SAID)
        assert ann.remember(_OTHERWISE, alike="supersede").similar == ()
        stub.down = "The model sleeps."
        saved = knowing.remember(_AGAIN, alike="supersede")
        assert (saved.outcome, saved.similar, saved.superseded) == ("created", (), ())
        assert [note.partition(":")[0] for note in saved.degraded] == ["embed"]

    def test_a_text_is_embedded_once_to_be_compared(self, knowing: OnRecord, stub: StubEmbedder) -> None:
        knowing.remember(_SAID)
        knowing.as_caller(person("bob")).remember(_SAID)
        assert _near(knowing.as_caller(person("bob")).remember(_AGAIN)) == ["2"]
        assert stub.texts == [_SAID, _AGAIN]

    def test_of_a_long_text_every_passage_must_be_near(self, knowing: OnRecord) -> None:
        first, second, third = (
            " ".join(f"{letter}{number}" for number in range(PASSAGE_WORDS)) for letter in "abc"
        )
        knowing.remember(f"{first} {second}")
        assert _near(knowing.remember(f"{first} {third}")) == []
        assert _near(knowing.remember(f"{first} {second} and more")) == ["1"]


class RejectedConformance(Conformance):
    """A rejection is remembered."""

    @pytest.fixture
    def eve(self, knowing: OnRecord) -> OnRecord:
        """A reviewer's door."""
        permissions = frozenset({"memory.read", "memory.manage", "memory.review"})
        return knowing.as_caller(person("eve", permissions=permissions))

    @pytest.fixture
    def rejected(self, knowing: OnRecord, eve: OnRecord, clock: Clock) -> Remembered:
        """A proposal of Ann's that Eve rejected a second later."""
        saved = knowing.remember(_SAID, review=True)
        clock.tick()
        eve.reject(saved.memory.id, reason="it is five")
        clock.tick(days=3)
        return saved

    @pytest.mark.parametrize("content", [_SAID, _AGAIN])
    def test_the_same_is_not_proposed_again_and_the_answer_says_who_rejected_it_when_and_why(
        self, knowing: OnRecord, rejected: Remembered, clock: Clock, content: str
    ) -> None:
        again = knowing.remember(content, review=True)
        assert (again.outcome, again.memory.id) == ("rejected", rejected.memory.id)
        (before,) = again.rejected
        assert (before.id, before.by, before.reason, before.is_same) == ("1", "eve", "it is five", True)
        assert (clock.now - before.at).days == 3
        assert again.warnings == (
            f"Not proposed again: the same as #1, rejected by eve on {before.at:%Y-%m-%d} (it is five). "
            "To propose it all the same, say what_is_new.",
        )
        assert browsed(knowing, statuses=STATUSES) == ["1"]

    def test_what_is_new_is_kept_for_the_reviewer(
        self, knowing: OnRecord, eve: OnRecord, rejected: Remembered
    ) -> None:
        new = "moved to two in May, password=hunter2-Xy9!kk"
        again = knowing.remember(_AGAIN, review=True, what_is_new=new)
        assert (again.outcome, [each.is_same for each in again.rejected]) == ("created", [True])
        waits = eve.show(again.memory.id).memory
        assert waits.proposes is not None
        assert waits.proposes.what_is_new is not None
        assert waits.proposes.what_is_new.startswith("moved to two in May")
        assert "hunter2" not in waits.proposes.what_is_new
        assert eve.approve(again.memory.id).memory.status == "active"

    def test_no_option_lets_the_very_same_wait_again(self, knowing: OnRecord, rejected: Remembered) -> None:
        for more in ({"alike": "keep"}, {"dedupe": False}, {"by_hint_alone": True}, {"dry_run": True}):
            assert knowing.remember(_SAID, review=True, **more).outcome == "rejected"  # type: ignore[arg-type]

    def test_without_vectors_the_very_same_is_remembered(self, ann: OnRecord, rejected: Remembered) -> None:
        assert ann.remember(_SAID, review=True).outcome == "rejected"
        assert ann.remember(_AGAIN, review=True).outcome == "created"

    def test_what_is_only_like_it_waits_and_the_answer_says_so(
        self, knowing: OnRecord, rejected: Remembered
    ) -> None:
        for content, more in ((_OTHERWISE, {}), (_SAID, {"entities": ["orders"]})):
            saved = knowing.remember(content, review=True, **more)  # type: ignore[arg-type]
            assert (saved.outcome, saved.memory.status) == ("created", "pending")
            assert [(each.id, each.is_same) for each in saved.rejected] == [("1", False)]
            assert saved.warnings[0].startswith("Like #1, rejected by eve on ")

    def test_what_does_not_wait_is_saved(self, knowing: OnRecord, rejected: Remembered) -> None:
        saved = knowing.remember(_SAID)
        assert (saved.outcome, saved.memory.status, saved.rejected) == ("created", "active", ())

    def test_who_does_not_see_the_rejected_one_learns_nothing_of_it(
        self, knowing: OnRecord, eve: OnRecord, rejected: Remembered
    ) -> None:
        saved = knowing.as_caller(person("bob")).remember(_SAID, review=True)
        assert (saved.outcome, saved.rejected, saved.similar) == ("created", (), ())
        assert len(saved.warnings) == 1
        assert eve.remember(_SAID, review=True).outcome == "rejected"

    def test_nor_does_who_proposes_it_to_other_readers(self, knowing: OnRecord, rejected: Remembered) -> None:
        saved = knowing.remember(_SAID, review=True, scope="user")
        assert (saved.outcome, saved.rejected) == ("created", ())

    def test_what_its_owner_withdrew_was_not_rejected(self, knowing: OnRecord) -> None:
        knowing.remember(_SAID, review=True)
        knowing.retire("1")
        assert knowing.remember(_SAID, review=True).outcome == "created"

    def test_a_rejection_after_the_approval_is_remembered_for_all_who_saw_it(
        self, knowing: OnRecord, eve: OnRecord
    ) -> None:
        knowing.remember(_SAID, review=True)
        eve.approve("1")
        eve.reject("1", reason="wrong after all")
        again = knowing.as_caller(person("bob", actor="unattended")).remember(_AGAIN)
        assert (again.outcome, again.rejected[0].reason) == ("rejected", "wrong after all")

    def test_a_revision_that_was_rejected_is_not_proposed_again(
        self, knowing: OnRecord, eve: OnRecord
    ) -> None:
        knowing.remember(_SAID, id="a")
        agent = knowing.as_caller(person(actor="agent"))
        proposed = agent.remember(_OTHERWISE, id="a")
        assert proposed.outcome == "proposed"
        eve.reject(proposed.memory.id, reason="it is two")
        again = agent.remember(_OTHERWISE, id="a")
        assert (again.outcome, again.rejected[0].reason) == ("rejected", "it is two")
        assert agent.remember(_OTHERWISE, id="a", tags=["new"]).outcome == "proposed"
        renewed = agent.remember(_OTHERWISE, id="a", what_is_new="asked the owner")
        assert renewed.memory.proposes is not None
        assert (renewed.outcome, renewed.memory.proposes.what_is_new) == ("proposed", "asked the owner")
        assert knowing.show("a").memory.content == _SAID

    def test_what_counts_already_is_not_proposed_beside_itself(self, ann: OnRecord, store: Store) -> None:
        ann.remember(_SAID)
        assert ann.remember(_SAID, review=True).outcome == "unchanged"
        tagged = ann.remember(_SAID, tags=["new"], review=True)
        assert (tagged.outcome, tagged.memory.status) == ("proposed", "pending")
        ann.as_caller(administrator()).approve(tagged.memory.id)
        assert browsed(ann, statuses=["active", "pending"]) == ["1"]
        assert ann.show("1").memory.tags == ("new",)


def _status(door: OnRecord, id: str) -> str:
    return door.show(id).memory.status
