"""DOES a save repeat a memory? When it updates that memory, and when it must not."""

from typing import Any

import pytest

from onrecord.service import OnRecord
from onrecord.testing.builders import Clock, Conformance, browsed, change_names, person


class DedupeConformance(Conformance):
    """Saves that repeat an existing memory."""

    def test_identical_content_twice_is_one_row(self, ann: OnRecord, clock: Clock) -> None:
        first = ann.remember("the very same").memory
        clock.tick()
        again = ann.remember("the very same")
        assert (again.outcome, again.memory) == ("unchanged", first)
        assert (browsed(ann), change_names(ann, "1")) == (["1"], ["remember"])

    def test_identical_content_with_something_new_updates_in_place(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("the very same", kind="decision")
        clock.tick()
        again = ann.remember("the very same", tags=["new"])
        assert (again.outcome, again.memory.id, again.memory.tags) == ("updated", "1", ("new",))
        assert again.memory.kind == "decision"

    def test_the_same_content_may_stand_twice_where_hints_alone_are_looked_at(self, ann: OnRecord) -> None:
        ann.remember("the very same", hint="kestrel")
        again = ann.remember("the very same", hint="falcon", by_hint_alone=True)
        assert (again.outcome, browsed(ann)) == ("created", ["2", "1"])
        assert ann.remember("another", hint="falcon", by_hint_alone=True).memory.id == "2"

    def test_different_contents_without_hints_are_never_merged(self, ann: OnRecord) -> None:
        for content in ("the lamp is red", "the lamp is red.", "the lamp is Red", "the lamp is  red"):
            assert ann.remember(content).outcome == "created"

    def test_a_similar_hint_updates_in_place_and_the_old_text_stays_in_the_history(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        first = ann.remember("port 80", hint="web server listening port").memory
        later = clock.tick()
        again = ann.remember("port 443", hint="Listening ports of the web server")
        assert (again.outcome, again.memory.id, again.memory.content) == ("updated", first.id, "port 443")
        assert (again.memory.created_at, again.memory.updated_at) == (first.created_at, later)
        assert [version.memory.content for version in ann.history(first.id).versions] == [
            "port 80",
            "port 443",
        ]

    @pytest.mark.parametrize(
        ("hint", "outcome"),
        [
            ("alpha beta gamma epsilon", "updated"),  # three of five: exactly 0.6
            ("alpha beta gamma", "updated"),
            ("alpha beta gamma delta epsilon zeta", "updated"),  # four of six
            ("alpha beta gamma delta epsilon zeta eta", "created"),  # four of seven
            ("alpha beta epsilon", "created"),  # two of five
            ("epsilon", "created"),
        ],
    )
    def test_hints_are_similar_from_six_tenths_of_their_words(
        self, ann: OnRecord, hint: str, outcome: str
    ) -> None:
        ann.remember("one", hint="alpha beta gamma delta")
        assert ann.remember("two", hint=hint).outcome == outcome

    def test_the_most_similar_hint_is_the_one_that_is_meant(self, ann: OnRecord) -> None:
        ann.remember("one", id="far", hint="alpha beta gamma delta")
        ann.remember("two", id="near", hint="alpha beta gamma epsilon")
        ann.remember("three", id="far-too", hint="alpha beta gamma zeta")
        assert ann.remember("four", hint="gamma epsilon beta alpha").memory.id == "near"

    def test_a_hint_on_one_side_alone_merges_nothing(self, ann: OnRecord) -> None:
        ann.remember("alpha beta gamma", id="plain")
        assert ann.remember("something", hint="alpha beta gamma").outcome == "created"
        assert ann.remember("something else").outcome == "created"

    def test_a_hint_without_words_merges_nothing(self, ann: OnRecord) -> None:
        ann.remember("one", hint="!!!")
        assert ann.remember("two", hint="!!!").outcome == "created"

    def test_hints_in_other_scripts_are_compared_too(self, ann: OnRecord) -> None:
        ann.remember("eins", hint="東京の天気予報")
        assert ann.remember("zwei", hint="東京の天気予報は").outcome == "updated"

    @pytest.mark.parametrize(("given", "kept"), [({}, True), ({"always_inject": False}, False)])
    def test_what_is_told_unasked_stays_so_unless_given(
        self, ann: OnRecord, given: dict[str, Any], kept: bool
    ) -> None:
        ann.remember("one", hint="house rules", always_inject=True)
        agent = ann.as_caller(person(actor="agent"))
        assert agent.remember("two", hint="house rules", **given).memory.always_inject is kept

    @pytest.mark.parametrize("apart", [{"id": "mine"}, {"dedupe": False}])
    def test_a_save_with_its_own_id_or_told_not_to_is_a_row_of_its_own(
        self, ann: OnRecord, apart: dict[str, Any]
    ) -> None:
        ann.remember("the same", hint="house rules")
        assert ann.remember("the same", hint="house rules", **apart).outcome == "created"

    def test_a_save_that_supersedes_is_a_row_of_its_own(self, ann: OnRecord) -> None:
        ann.remember("the same", id="a")
        saved = ann.remember("the same", supersedes=["a"])
        assert (saved.outcome, saved.memory.id) == ("created", "1")

    def test_what_is_retired_is_not_met_again(self, ann: OnRecord) -> None:
        ann.remember("the same", hint="house rules")
        ann.retire("1")
        assert ann.remember("the same", hint="house rules").memory.id == "2"

    def test_rooms_are_kept_apart(self, ann: OnRecord) -> None:
        caller = person(
            personas={"chef", "baker"}, systems={"crm": "manage", "erp": "manage"}, conversation="talk"
        )
        door = ann.as_caller(caller)
        rooms: list[dict[str, Any]] = [
            {"scope": "tenant"},
            {"scope": "user"},
            {"scope": "session"},
            {"scope": "persona", "persona": "chef"},
            {"scope": "persona", "persona": "baker"},
            {"scope": "system", "system": "crm"},
            {"scope": "system", "system": "erp"},
        ]
        for room in rooms:
            assert door.remember("the same", hint="house rules", **room).outcome == "created", room
        for room in rooms:
            assert door.remember("the same", hint="house rules", **room).outcome == "unchanged", room
        other_talk = ann.as_caller(caller.inside("another talk"))
        assert other_talk.remember("the same", scope="session").outcome == "created"

    def test_a_tenant_and_the_global_memories_are_kept_apart(self, root: OnRecord) -> None:
        root.remember("the same")
        assert root.remember("the same", scope="global").memory.id == "global:1"
        assert root.remember("the same", scope="global").outcome == "unchanged"

    @pytest.mark.parametrize("scope", ["tenant", "persona"])
    def test_what_belongs_to_another_person_is_a_new_row(self, ann: OnRecord, scope: str) -> None:
        shared = {"personas": frozenset({"chef"})}
        ann.as_caller(person("ann", **shared)).remember("the same", hint="house rules", scope=scope)
        saved = ann.as_caller(person("bob", **shared)).remember("the same", hint="house rules", scope=scope)
        assert (saved.outcome, saved.memory.owner) == ("created", "bob")
        assert ann.as_caller(person("ann", **shared)).show("1").memory.version == 1

    def test_even_an_admin_repeats_others_in_a_row_of_its_own(self, ann: OnRecord, root: OnRecord) -> None:
        ann.remember("the same")
        assert root.remember("the same").memory.owner == "root"

    @pytest.mark.parametrize(("grant", "outcome"), [("manage", "updated"), ("read", "created")])
    def test_in_a_system_its_manager_updates_what_anyone_saved(
        self, ann: OnRecord, grant: str, outcome: str
    ) -> None:
        ann.as_caller(person(systems={"crm": "read"})).remember("the same", scope="system", system="crm")
        bob = ann.as_caller(person("bob", systems={"crm": grant}))
        saved = bob.remember("the same", scope="system", system="crm", tags=["new"])
        assert saved.outcome == outcome
        assert saved.memory.owner == ("ann" if outcome == "updated" else "bob")

    def test_what_waits_for_review_is_kept_apart_unless_it_says_the_very_same(self, ann: OnRecord) -> None:
        unattended = ann.as_caller(person(actor="unattended"))
        assert ann.remember("the same", hint="house rules").memory.status == "active"
        assert unattended.remember("the same", hint="house rules").outcome == "unchanged"
        proposed = unattended.remember("another", hint="house rules")
        assert (proposed.outcome, proposed.memory.status) == ("created", "pending")
        assert unattended.remember("another", hint="house rules").outcome == "unchanged"
        assert ann.remember("the same", hint="house rules").memory.id == "1"
