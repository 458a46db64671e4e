"""WHAT becomes of feedback? It is its user's, goes with its memory, and decides whether another embedder may take over."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound
from onrecord.jobs.reconciling import Reconciler
from onrecord.model.embedding import Passage
from onrecord.model.feedback import Feedback
from onrecord.model.limits import OWN_QUESTIONS
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.store.records import feedback as kept_feedback
from onrecord.testing.builders import Clock, Conformance, administrator, covered, person, refused
from onrecord.testing.embedder import StubEmbedder, StubEmbedders

_ASKED = "which column is revenue?"


class FeedbackConformance(Conformance):
    """Verdicts on hits: kept, listed, withdrawn, moved and erased."""

    def test_a_question_is_kept_only_while_the_tenant_keeps_questions(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        id = ann.remember("Revenue is net.").memory.id
        given = ann.give_feedback(id, "useful", _ASKED)
        assert (given.changed, given.feedback.question, given.feedback.verdict) == (True, None, "useful")  # type: ignore[union-attr]
        root.set_tenant(keep_questions=True)
        assert _said(ann) == [(id, "useful", None)]
        assert ann.give_feedback(id, "useful", _ASKED).changed
        assert _said(ann) == [(id, "useful", _ASKED)]
        root.set_tenant(keep_questions=False)
        assert _said(ann) == [(id, "useful", None)]

    def test_one_verdict_counts_for_a_hit_and_a_question_however_it_is_spelled(
        self, ann: OnRecord, root: OnRecord, clock: Clock
    ) -> None:
        root.set_tenant(keep_questions=True)
        id = ann.remember("Revenue is net.").memory.id
        first = ann.give_feedback(id, "useful", _ASKED)
        clock.tick()
        assert ann.give_feedback(id, "useful", _ASKED) == first.__class__(
            feedback=first.feedback, changed=False
        )
        ann.give_feedback(id, "not_useful", f"  {_ASKED.upper()} ")
        ann.give_feedback(id, "useful", "something else")
        assert [verdict for _, verdict, _ in _said(ann)] == ["useful", "not_useful"]
        assert [each.verdict for each in ann.feedback(question=_ASKED).feedback] == ["not_useful"]
        assert ann.give_feedback(id, "none", _ASKED).changed
        assert not ann.give_feedback(id, "none", _ASKED).changed
        assert len(_said(ann)) == 1

    def test_an_agent_does_not_replace_the_word_of_its_person(self, ann: OnRecord, store: Store) -> None:
        id = ann.remember("Revenue is net.").memory.id
        agent = ann.as_caller(person(actor="agent"))
        assert agent.give_feedback(id, "not_useful", _ASKED).changed
        assert ann.give_feedback(id, "useful", _ASKED).changed
        for verdict in ("not_useful", "none"):
            with refused(Forbidden, "their word stays", by=store):
                agent.give_feedback(id, verdict, _ASKED)
        assert [each.origin for each in ann.feedback().feedback] == ["person"]

    def test_secrets_are_taken_out_of_a_question(self, ann: OnRecord, root: OnRecord) -> None:
        root.set_tenant(keep_questions=True)
        id = ann.remember("Revenue is net.").memory.id
        secret = "ghp_" + "a1B2" * 9
        assert ann.give_feedback(id, "useful", f"what does {secret} open?").scrubbed == 1
        assert secret not in str(_said(ann))

    def test_members_see_their_own_feedback_an_admin_all_and_strangers_none(
        self, ann: OnRecord, root: OnRecord, store: Store
    ) -> None:
        root.set_tenant(keep_questions=True)
        shared, private = (
            ann.remember(f"In {scope}.", scope=scope).memory.id for scope in ("tenant", "user")
        )
        bob, abroad = ann.as_caller(person("bob")), ann.as_caller(administrator(tenant="beta"))
        for id in (shared, private):
            ann.give_feedback(id, "useful", _ASKED)
        bob.give_feedback(shared, "not_useful", "what bob asked")
        assert _said(bob) == [(shared, "not_useful", "what bob asked")]
        for ask in ({"user": "ann"}, {"id": private}, {"question": _ASKED}):
            assert bob.feedback(**ask).feedback == ()  # type: ignore[arg-type]
        assert len(root.feedback().feedback) == 3
        assert abroad.feedback().feedback == ()
        # What one does not see one cannot judge, and a missing memory is refused in the same words.
        said = []
        for id, door in ((private, bob), (shared, abroad), ("nowhere", bob)):
            with refused(NotFound, by=store) as failed:
                door.give_feedback(id, "useful", _ASKED)
            said.append(str(failed.value).replace(id, "…"))
        assert len(set(said)) == 1
        reader = ann.as_caller(person("bob", permissions=frozenset({"memory.read"})))
        assert len(reader.feedback().feedback) == 1
        with refused(Forbidden, "memory.manage", by=store):
            reader.give_feedback(shared, "useful", _ASKED)

    def test_a_page_tells_where_the_next_begins_and_nothing_of_others(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        id = ann.remember("Revenue is net.").memory.id
        bob = ann.as_caller(person("bob"))
        marks = []
        for others in (0, 7):
            for number in range(others):
                bob.give_feedback(id, "useful", f"bob {number}")
            for number in range(5):
                # Two of each moment.
                clock.tick(seconds=number % 2)
                ann.give_feedback(id, "none", f"ann {number}")
                ann.give_feedback(id, "useful", f"ann {number}")
            seen, after, found = [], None, 0
            while True:
                page = ann.feedback(limit=2, after=after)
                found += len(page.feedback)
                seen += [each.digest for each in page.feedback]
                if (after := page.next) is None:
                    break
                marks.append(after.split("-")[1])
            assert found == len(set(seen)) == 5
        assert marks[:2] == marks[2:]
        for wrong in ("nowhere", "1", "1-2-3", "-1-2", "1-٢"):
            with pytest.raises(Invalid):
                ann.feedback(after=wrong)

    def test_forgetting_a_memory_forgets_what_was_said_of_it_in_every_tenant(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        own, other = (ann.remember(f"Note {number}.").memory.id for number in (1, 2))
        shared = root.remember("For everyone.", scope="global").memory.id
        abroad = ann.as_caller(person(tenant="beta"))
        same = abroad.remember("Another of that number.").memory.id
        assert same == own
        for door in (ann, abroad):
            door.give_feedback(own, "useful", _ASKED)
            door.give_feedback(shared, "useful", _ASKED)
        ann.give_feedback(other, "useful", _ASKED)
        ann.forget(own)
        assert {memory for memory, _, _ in _said(ann)} == {shared, other}
        assert {memory for memory, _, _ in _said(abroad)} == {shared, same}
        root.forget(shared)
        assert [memory for memory, _, _ in _said(ann)] == [other]
        assert [memory for memory, _, _ in _said(abroad)] == [same]

    def test_feedback_moves_with_its_memories_and_not_to_another_of_their_id(
        self, ann: OnRecord, root: OnRecord, tmp_path: Path
    ) -> None:
        root.set_tenant(keep_questions=True)
        first, second = (ann.remember(f"Note {number}.").memory.id for number in (1, 2))
        for id in (first, second):
            ann.give_feedback(id, "useful", _ASKED)
        assert root.export(str(tmp_path / "all.jsonl")).feedback == 2
        moved = root.as_caller(administrator(tenant="beta"))
        assert moved.import_(str(tmp_path / "all.jsonl")).feedback == 2
        assert moved.import_(str(tmp_path / "all.jsonl")).feedback == 0
        assert [(each.user, each.question, each.at) for each in moved.feedback().feedback] == [
            (each.user, each.question, each.at) for each in root.feedback().feedback
        ]
        taken = root.as_caller(administrator(tenant="gamma"))
        taken.remember("Something else.", id=first)
        assert taken.import_(str(tmp_path / "all.jsonl"), skip_conflicts=True).feedback == 1
        assert [each.memory for each in taken.feedback().feedback] == [second]
        assert moved.doctor().healthy
        assert taken.doctor().healthy
        # Without its question a digest says nothing wrong; with another question it does.
        lines = (tmp_path / "all.jsonl").read_text().replace(_ASKED, "which column is profit?")
        (tmp_path / "changed.jsonl").write_text(lines)
        with pytest.raises(Invalid, match="digest"):
            root.as_caller(administrator(tenant="delta")).import_(str(tmp_path / "changed.jsonl"))

    def test_old_feedback_goes_and_so_does_the_oldest_of_one_who_gave_much(
        self, ann: OnRecord, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(kept_feedback, "FEEDBACK_OF_ONE", 3)
        id = ann.remember("Revenue is net.").memory.id
        bob = ann.as_caller(person("bob"))
        for number in range(5):
            clock.tick(hours=24)
            for door in (ann, bob)[: 1 + (number == 0)]:
                door.give_feedback(id, "useful", f"question {number}")
        assert (len(ann.feedback().feedback), len(bob.feedback().feedback)) == (3, 1)
        assert store.sweep_feedback(clock.now - timedelta(hours=36)) == 2
        assert (len(ann.feedback().feedback), len(bob.feedback().feedback)) == (2, 0)
        assert store.sweep_feedback(clock.now - timedelta(hours=36)) == 0


class _Bilingual(StubEmbedder):
    """Knows that `train17` and `zug17` are the same: what no word says."""

    def embed_query(self, text: str) -> Passage:
        return super().embed_query(re.sub(r"\btrain(?=\d)", "zug", text))


class MeasuredSwitchConformance(Conformance):
    """Another embedder takes over only if what people asked here is not answered worse by it."""

    @pytest.fixture
    def good(self) -> StubEmbedder:
        return _Bilingual("bilingual", 256)

    @pytest.fixture
    def poor(self) -> StubEmbedder:
        return StubEmbedder("poor", 256)

    def test_an_embedder_that_answers_worse_is_refused_and_leaves_nothing(
        self, store: Store, good: StubEmbedder, poor: StubEmbedder
    ) -> None:
        before, after = self._doors(store, good, poor)
        self._judged(before, OWN_QUESTIONS)
        held = covered(store)
        asked = _trains(before)
        with pytest.raises(Conflict, match=r"worse than bilingual.*recall@10 100\.0 → .*--anyway"):
            after.embed_missing()
        assert covered(store) == held
        assert _trains(after) == asked
        # Nor does a worker put it in use.
        reconciler = Reconciler(store, poor)
        assert not reconciler.is_wanted()
        reconciler(after.now)
        while after.worker.run_once():
            pass
        assert covered(store) == held
        [home] = [each for each in after.status().tenants if each.collection == "memories"]
        [cure] = [each.cure for each in home.models if each.current]
        assert "embed-missing` first measures" in (cure or "")
        done = after.embed_missing(anyway=True)
        assert (done.measured, covered(store)["poor"]) == ((), held["bilingual"])
        assert _trains(after) != asked

    def test_one_that_answers_better_takes_over_and_says_by_how_much(
        self, store: Store, good: StubEmbedder, poor: StubEmbedder
    ) -> None:
        before, after = self._doors(store, poor, good)
        self._judged(before, OWN_QUESTIONS)
        [measured] = after.embed_missing().measured
        assert (measured.before, measured.after, measured.questions) == ("poor", "bilingual", OWN_QUESTIONS)
        [recall, _] = measured.measures
        assert recall.name == "recall@10"
        assert recall.after == 1.0
        assert recall.low > 0
        assert covered(store)["bilingual"] == covered(store)["poor"]
        # Every text was embedded once.
        assert len(good.texts) == len(set(good.texts))
        assert after.embed_missing().measured == ()

    def test_one_that_cannot_embed_every_text_is_not_measured_and_does_not_take_over(
        self, store: Store, good: StubEmbedder, poor: StubEmbedder
    ) -> None:
        before, after = self._doors(store, good, poor)
        self._judged(before, OWN_QUESTIONS)
        asked = _trains(before)
        poor.refused = "zug7"
        done = after.embed_missing()
        assert done.failures
        assert "The stub cannot embed zug7" in (done.measured[0].note or "")
        assert _trains(after) == asked

    def test_too_little_feedback_says_so_and_stops_nothing(
        self, store: Store, good: StubEmbedder, poor: StubEmbedder
    ) -> None:
        before, after = self._doors(store, good, poor)
        self._judged(before, OWN_QUESTIONS - 1)
        [measured] = after.embed_missing().measured
        assert measured.measures == ()
        assert f"{OWN_QUESTIONS - 1} of at least {OWN_QUESTIONS}" in (measured.note or "")
        assert covered(store)["poor"] == covered(store)["bilingual"]

    def _doors(self, store: Store, first: StubEmbedder, second: StubEmbedder) -> tuple[OnRecord, OnRecord]:
        """An admin's door before a change of embedders, and after it."""
        before, after = (
            OnRecord(store, administrator(), clock=Clock(), embedders=each)
            for each in (StubEmbedders(first), StubEmbedders(second, first))
        )
        return before, after

    def _judged(self, door: OnRecord, questions: int) -> None:
        """Memories in one language, and questions in another that were judged."""
        door.set_tenant(keep_questions=True)
        for number in range(OWN_QUESTIONS + 10):
            id = door.remember(f"zug{number} f\u00e4hrt", alike="keep", dedupe=False).memory.id
            if number < questions:
                door.give_feedback(id, "useful", f"train{number}")


def _trains(door: OnRecord) -> list[list[str]]:
    return [[hit.memory.id for hit in door.recall(f"train{number}", limit=5).hits] for number in range(5)]


def _said(door: OnRecord) -> Sequence[tuple[str, str, str | None]]:
    found: tuple[Feedback, ...] = door.feedback().feedback
    return [(each.memory, each.verdict, each.question) for each in found]
