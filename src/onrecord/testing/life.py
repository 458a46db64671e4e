"""WHAT can happen to a memory? It is saved, revised, retired and superseded."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, VersionConflict
from onrecord.model.limits import DIMENSION_OF, KINDS
from onrecord.model.memory import Change
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    MOMENT,
    START,
    Clock,
    Conformance,
    around,
    browsed,
    change_names,
    everything,
    person,
    recalled,
    refused,
)

#: Every field of a save, with texts that a careless store would change.
_FULL: Final[dict[str, Any]] = {
    "content": "Grüße\r\n 日本語 👩‍👩‍👧 עברית e\u0301 'quoted' \"twice\" \\ % _ \u200b",
    "id": "full",
    "kind": "decision",
    "dimension": "relationship",
    "title": "A title; DROP TABLE memories",
    "hint": "when asked\nabout everything",
    "tags": ("b", "a", "Ä", "x:y"),
    "category": "cat'egory",
    "confidence": "low",
    "source": "page 7 — \"q\"",
    "metadata": {"n": 1, "f": 1.5, "b": True, "nothing": None, "deep": [{"x": ["ü"]}], "big": 2**70},
    "entities": ("memory:4", "thing:a \"b\"", "db.table"),
    "query": {"sql": "SELECT 1"},
    "artifact": "report 5",
    "scope": "user",
    "conversation": "talk",
    "verified_at": START - timedelta(days=2),
    "valid_from": START - timedelta(days=3) + MOMENT,
    "always_inject": True,
}  # fmt: skip


class RememberConformance(Conformance):
    """Saving a memory."""

    def test_a_save_comes_back_as_it_was_given(self, ann: OnRecord) -> None:
        saved = ann.remember(**_FULL).memory
        shown = ann.show("full").memory
        assert shown == saved
        for name, value in (_FULL | {"id": "ann::full"}).items():
            assert getattr(shown, name) == value, name

    def test_a_query_may_be_a_text(self, ann: OnRecord) -> None:
        assert ann.remember("note", id="k", query="SELECT 1").memory.query == "SELECT 1"
        assert ann.show("k").memory.query == "SELECT 1"

    def test_what_was_written_down_elsewhere_keeps_its_time(self, ann: OnRecord, clock: Clock) -> None:
        then = clock.now - timedelta(days=400)
        ann.remember("note", id="k", created_at=then)
        kept = ann.show("k").memory
        assert kept.created_at == kept.updated_at == kept.valid_from == then
        assert [version.at for version in ann.history("k").versions] == [clock.now]
        later = clock.tick()
        changed = ann.remember("another note", id="k", created_at=later).memory
        assert (changed.created_at, changed.updated_at) == (then, later)
        ann.remember("true since", id="v", created_at=then, valid_from=later)
        assert ann.show("v").memory.valid_from == later

    def test_what_is_left_out_has_its_default(self, ann: OnRecord, clock: Clock) -> None:
        saved = ann.remember("First line.\nSecond line.").memory
        assert (saved.kind, saved.dimension, saved.confidence, saved.scope) == (
            "fact",
            "knowledge",
            "medium",
            "tenant",
        )
        assert (saved.title, saved.status, saved.owner, saved.origin) == (
            "First line.",
            "active",
            "ann",
            "person",
        )
        assert (saved.valid_from, saved.created_at, saved.updated_at) == (clock.now,) * 3
        assert (saved.tags, saved.entities, saved.metadata, saved.valid_to) == ((), (), {}, None)

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_kind_has_its_dimension(self, ann: OnRecord, kind: str) -> None:
        assert ann.remember("note", kind=kind).memory.dimension == DIMENSION_OF[kind]  # type: ignore[index]

    def test_every_fault_of_a_save_is_told_at_once(self, ann: OnRecord, store: Store) -> None:
        with refused(Invalid, by=store) as failed:
            ann.remember("", kind="rumour", tags=[""], scope="system", valid_from="soon", id="a b")
        assert {fault.field for fault in failed.value.faults} >= {
            "content",
            "kind",
            "tags",
            "system",
            "valid_from",
            "id",
        }

    def test_a_block_that_fails_leaves_nothing(self, ann: OnRecord, store: Store, clock: Clock) -> None:
        first = ann.remember("kept").memory
        before = everything(store)
        change = Change("remember", "ann", "person", clock.now)

        def fail() -> None:
            with store.writing(ann.caller, clock.now) as writing:
                second = writing.add(replace(first, id="", content="never seen"), change)
                writing.replace(first, replace(first, content="never changed"), change)
                writing.relate(second, "supports", first, change)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        assert everything(store) == before
        assert recalled(ann, "never seen changed") == []


class ReviseConformance(Conformance):
    """Revising a memory."""

    def test_only_what_is_given_changes(self, ann: OnRecord, clock: Clock) -> None:
        before = ann.remember(**_FULL).memory
        later = clock.tick()
        revised = ann.revise("full", tags=["new"])
        assert revised.changed == ("tags",)
        assert revised.memory == replace(before, tags=("new",), updated_at=later, version=2)
        assert ann.show("full").memory == revised.memory

    def test_what_may_be_empty_can_be_taken_away(self, ann: OnRecord) -> None:
        ann.remember(**_FULL)
        cleared = ("hint", "category", "source", "query", "artifact", "verified_at", "conversation")
        revised = ann.revise("full", **dict.fromkeys(cleared), tags=[], entities=[], metadata={}).memory
        assert [getattr(revised, name) for name in cleared] == [None] * len(cleared)
        assert (revised.tags, revised.entities, revised.metadata) == ((), (), {})
        assert ann.show("full").memory == revised

    def test_a_title_that_nobody_chose_follows_the_text(self, ann: OnRecord) -> None:
        ann.remember("Old text", id="derived")
        ann.remember("Old text, too", id="chosen", title="Chosen")
        assert ann.revise("derived", content="New text").memory.title == "New text"
        assert ann.revise("chosen", content="New text, too").memory.title == "Chosen"

    def test_the_expected_version_lets_a_revision_through(self, ann: OnRecord) -> None:
        ann.remember("one", id="k")
        assert ann.revise("k", expected_version=1, content="two").memory.version == 2

    def test_another_version_than_expected_fails_rather_than_overwrite(
        self, ann: OnRecord, store: Store
    ) -> None:
        ann.remember("one", id="k")
        ann.revise("k", content="two")
        with refused(VersionConflict, "version 2, not 1", by=store):
            ann.revise("k", expected_version=1, content="three")

    def test_a_revision_that_says_nothing_new_is_no_version(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        ann.remember("same", id="k", tags=["a"])
        before = everything(store)
        clock.tick()
        assert ann.revise("k", content="same", tags=["a"]).changed == ()
        assert everything(store) == before

    def test_every_revision_is_in_the_history_with_who_and_when(self, ann: OnRecord, clock: Clock) -> None:
        ann.as_caller(person(actor="agent")).remember("one", id="k")
        later = clock.tick()
        ann.revise("k", content="two", kind="decision")
        first, second = ann.history("k").versions
        assert (first.change, first.by, first.origin, first.at, first.until) == (
            "remember",
            "ann",
            "agent",
            START,
            later,
        )
        assert (second.change, second.by, second.origin, second.at, second.until) == (
            "revise",
            "ann",
            "person",
            later,
            None,
        )
        assert (first.memory.content, second.memory.content) == ("one", "two")
        assert {"content", "kind"} <= set(second.changed)
        assert second.memory.origin == "person"

    def test_an_unknown_memory_cannot_be_revised(self, ann: OnRecord, store: Store) -> None:
        with refused(NotFound, "No memory 9", by=store):
            ann.revise("9", content="x")


class RetireConformance(Conformance):
    """Retiring a memory that is no longer true."""

    def test_a_retired_memory_leaves_the_lists_and_stays_readable(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("the harbour is open", id="k")
        later = clock.tick()
        retired = ann.retire("k", reason="closed for winter")
        assert retired.changed
        assert (retired.memory.status, retired.memory.valid_to) == ("archived", later)
        assert retired.memory.status_reason == "closed for winter"
        assert ann.show("k").memory == retired.memory
        assert (browsed(ann), recalled(ann, "harbour")) == ([], [])
        assert browsed(ann, statuses=["archived"]) == recalled(ann, "harbour", statuses=["archived"]) == ["k"]
        assert change_names(ann, "k") == ["remember", "retire"]

    @pytest.mark.parametrize("back", [timedelta(0), MOMENT, timedelta(days=1)])
    def test_it_may_have_ended_in_the_past(self, ann: OnRecord, clock: Clock, back: timedelta) -> None:
        ann.remember("note", id="k", valid_from=START - timedelta(days=1))
        assert ann.retire("k", at=START - back).memory.valid_to == START - back

    @pytest.mark.parametrize("ahead", [MOMENT, timedelta(days=1)])
    def test_it_cannot_end_in_the_future(self, ann: OnRecord, store: Store, ahead: timedelta) -> None:
        ann.remember("note", id="k")
        with refused(Invalid, "future", by=store):
            ann.retire("k", at=START + ahead)

    def test_it_cannot_end_before_it_became_true(self, ann: OnRecord, store: Store, clock: Clock) -> None:
        ann.remember("note", id="k")
        clock.tick()
        with refused(Invalid, "before the memory became true", by=store):
            ann.retire("k", at=START - MOMENT)

    def test_what_was_to_become_true_later_never_was(self, ann: OnRecord) -> None:
        starts = START + timedelta(days=1)
        ann.remember("tomorrow", id="k", valid_from=starts)
        retired = ann.retire("k").memory
        assert (retired.valid_from, retired.valid_to) == (starts, starts)
        assert browsed(ann, as_of=starts) == []

    def test_a_second_call_changes_nothing_and_says_so(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        ann.remember("note", id="k")
        first = ann.retire("k", reason="first").memory
        before = everything(store)
        clock.tick()
        again = ann.retire("k", at=START, reason="second")
        assert (again.changed, again.memory) == (False, first)
        assert everything(store) == before

    def test_what_is_retired_no_longer_changes_and_the_error_says_the_way_out(
        self, ann: OnRecord, store: Store
    ) -> None:
        ann.remember("note", id="k")
        ann.retire("k")
        with refused(Conflict, "new memory", by=store):
            ann.remember("again", id="k")
        with refused(Conflict, "new memory", by=store):
            ann.revise("k", content="again")

    @pytest.mark.parametrize("status", ["pending", "stale"])
    def test_every_live_memory_can_be_retired(self, ann: OnRecord, status: str) -> None:
        if status == "pending":
            ann.as_caller(person(actor="unattended")).remember("note", id="k")
        else:
            ann.remember("note", id="k")
            ann.revise("k", status="stale")
        assert ann.show("k").memory.status == status
        assert ann.retire("k").memory.status == "archived"

    def test_a_stale_memory_is_live_but_not_listed(self, ann: OnRecord) -> None:
        ann.remember("note", id="k")
        revised = ann.revise("k", status="stale", status_reason="not checked for a year").memory
        assert (revised.valid_to, revised.status_reason) == (None, "not checked for a year")
        assert (browsed(ann), browsed(ann, statuses=["stale"])) == ([], ["k"])
        ann.revise("k", status="active")
        assert browsed(ann) == ["k"]


class SupersedeConformance(Conformance):
    """Saving a memory that replaces others."""

    def test_the_old_ones_end_where_the_new_one_begins(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("tea at four", id="a")
        ann.remember("tea at half past four", id="b")
        later = clock.tick()
        saved = ann.remember("tea at five", id="c", supersedes=["a", "#b"])
        assert saved.superseded == ("a", "b")
        for id in ("a", "b"):
            old = ann.show(id).memory
            assert (old.status, old.valid_to, old.status_reason) == ("superseded", later, "superseded by c")
            assert change_names(ann, id) == ["remember", "supersede"]
            assert ann.history(id).versions[-1].at == later
        assert around(ann, "c") == [("c", "supersedes", "a"), ("c", "supersedes", "b")]
        assert browsed(ann) == ["c"]

    def test_at_every_moment_one_of_them_is_true(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("old", id="a", valid_from="2020-01-01")
        clock.tick()
        turned = START - timedelta(days=30)
        ann.remember("new", id="b", valid_from=turned, supersedes=["a"])
        assert browsed(ann, as_of=turned - MOMENT) == ["a"]
        assert browsed(ann, as_of=turned) == ["b"]

    def test_one_that_began_later_than_the_new_one_was_never_true(self, ann: OnRecord) -> None:
        ann.remember("old", id="a")
        ann.remember("new", id="b", valid_from="2020-01-01", supersedes=["a"])
        assert ann.show("a").memory.valid_to == START
        assert browsed(ann, as_of=START) == ["b"]

    def test_it_cannot_begin_in_the_future(self, ann: OnRecord, store: Store) -> None:
        ann.remember("old", id="a")
        with refused(Invalid, "future", by=store):
            ann.remember("new", valid_from=START + MOMENT, supersedes=["a"])

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_one_unknown_id_and_nothing_is_written(self, ann: OnRecord, store: Store, place: int) -> None:
        wanted = [ann.remember("old one").memory.id, ann.remember("old two").memory.id]
        wanted.insert(place, "99")
        with refused(NotFound, "No memory 99", by=store):
            ann.remember("new", supersedes=wanted)

    def test_one_retired_id_and_nothing_is_written(self, ann: OnRecord, store: Store) -> None:
        ann.remember("old", id="a")
        ann.remember("older", id="b")
        ann.retire("b")
        with refused(Conflict, "Already retired: b", by=store):
            ann.remember("new", supersedes=["a", "b"])

    def test_one_id_of_somebody_else_and_nothing_is_written(self, ann: OnRecord, store: Store) -> None:
        ann.remember("mine", id="a")
        ann.as_caller(person("bob")).remember("his", id="b")
        with refused(Forbidden, "belongs to bob", by=store):
            ann.remember("new", supersedes=["a", "b"])

    @pytest.mark.parametrize("named", [{"id": "a"}, {"id": "#a"}])
    def test_a_memory_cannot_supersede_itself(
        self, ann: OnRecord, store: Store, named: dict[str, str]
    ) -> None:
        ann.remember("old", id="a")
        with refused(Invalid, "itself", by=store):
            ann.remember("new", supersedes=["a"], **named)

    @pytest.mark.parametrize("id", ["a", "global:a"])
    def test_a_global_memory_cannot_supersede_itself(self, root: OnRecord, store: Store, id: str) -> None:
        root.remember("old", id="a", scope="global")
        with refused(Invalid, "itself", by=store):
            root.remember("new", id=id, scope="global", supersedes=["global:a"])

    def test_global_and_other_memories_do_not_supersede_each_other(
        self, root: OnRecord, store: Store
    ) -> None:
        root.remember("of the tenant", id="a")
        root.remember("for all", id="global:a")
        with refused(Invalid, "global", by=store):
            root.remember("new", supersedes=["global:a"])
        with refused(Invalid, "global", by=store):
            root.remember("new", supersedes=["a"], scope="global")

    def test_an_existing_memory_can_supersede_others(self, ann: OnRecord) -> None:
        ann.remember("one", id="a")
        ann.remember("two", id="b")
        saved = ann.remember("both", id="a", supersedes=["b"])
        assert (saved.outcome, saved.superseded) == ("updated", ("b",))
        assert around(ann, "a") == [("a", "supersedes", "b")]
