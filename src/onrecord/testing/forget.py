"""WHAT does forgetting erase? Everything of the memory, and nothing of others."""

import pytest

from onrecord.errors import NotFound
from onrecord.model.collections import Home
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
    person,
    recalled,
    refused,
)
from onrecord.text import question_terms


class ForgetConformance(Conformance):
    """Erasing memories."""

    def test_nothing_of_a_forgotten_memory_is_found_at_any_time(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("zanzibar", id="k")
        clock.tick()
        ann.revise("k", content="zanzibar again")
        clock.tick()
        assert ann.forget("k").versions == 2
        for when in (None, START, clock.now):
            with pytest.raises(NotFound):
                ann.show("k", known_at=when)
            assert (browsed(ann, known_at=when), recalled(ann, "zanzibar", known_at=when)) == ([], [])
        with pytest.raises(NotFound):
            ann.history("k")
        assert ann.diff(START - MOMENT).memories == ()

    def test_its_edges_go_with_it_in_both_directions_and_from_the_past(
        self, ann: OnRecord, store: Store
    ) -> None:
        for id in "abc":
            ann.remember(f"note {id}", id=id)
        ann.relate("a", "supports", "b")
        ann.relate("b", "refines", "a")
        ann.relate("b", "supports", "c")
        ann.relate("a", "supports", "c")
        ann.unrelate("b", "supports", "c")
        assert ann.forget("b").relations == 3
        assert around(ann, "a") == [("a", "supports", "c")]
        with store.archive() as archive:
            assert len(list(archive.edges(Home(ann.caller.tenant)))) == 1

    def test_every_reference_to_it_goes_and_no_other(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("four", id="4")
        others = (
            "memory:42",
            "memory:44",
            "memory:0.4",
            "memory:global:4",
            "thing:memory:4",
            "4",
            "memory:4x",
        )
        ann.remember("refers", id="a", entities=["memory:4", *others])
        ann.remember("refers not", id="b", entities=list(others))
        untouched = ann.show("b").memory
        clock.tick()
        assert ann.forget("4").references == 1
        assert ann.show("a").memory.entities == others
        assert ann.show("b").memory == untouched
        assert change_names(ann, "a") == ["remember", "forget"]
        assert browsed(ann, entities=["memory:4"]) == []
        assert set(browsed(ann, entities=["memory:42"])) == {"a", "b"}

    def test_forgetting_4_never_touches_42(self, ann: OnRecord) -> None:
        for id in ("4", "42"):
            ann.remember(f"number {id}", id=id)
        ann.remember("next to it", id="k", entities=["memory:42"])
        ann.relate("k", "supports", "42")
        ann.forget("4")
        assert ann.show("42").memory.content == "number 42"
        assert ann.show("k").memory.version == 1
        assert around(ann, "k") == [("k", "supports", "42")]

    def test_references_go_from_the_past_too(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("four", id="4")
        ann.remember("once referred", id="a", entities=["memory:42", "memory:4"])
        ann.revise("a", entities=["thing:x"])
        clock.tick()
        ann.forget("4")
        assert [version.memory.entities for version in ann.history("a").versions] == [
            ("memory:42",),
            ("thing:x",),
        ]

    def test_references_go_from_memories_that_others_keep_to_themselves(self, ann: OnRecord) -> None:
        bob = ann.as_caller(person("bob"))
        ann.remember("four", id="4")
        bob.remember("bob's own", id="b", scope="user", entities=["memory:4"])
        ann.forget("4")
        assert bob.show("b").memory.entities == ()

    def test_the_same_id_elsewhere_is_another_memory(self, root: OnRecord) -> None:
        elsewhere = root.as_caller(person("eve", tenant="beta"))
        root.remember("for all", id="global:a", entities=["memory:4", "memory:global:4"])
        elsewhere.remember("four", id="4")
        elsewhere.remember("refers", id="a", entities=["memory:4"])
        root.remember("four", id="4")
        assert root.forget("4").references == 0
        assert elsewhere.show("4").memory.content == "four"
        assert elsewhere.show("a").memory.entities == ("memory:4",)
        assert root.show("global:a").memory.entities == ("memory:4", "memory:global:4")

    def test_a_forgotten_global_memory_is_forgotten_everywhere(self, root: OnRecord) -> None:
        elsewhere = root.as_caller(person("eve", tenant="beta"))
        root.remember("for all", id="global:4")
        for door in (root, elsewhere):
            door.remember("number 4 of a tenant", id="4")
            door.remember("refers", id="a", entities=["memory:global:4", "memory:4"])
        # The answer does not count memories of another tenant.
        assert root.forget("global:4").references == 1
        for door in (root, elsewhere):
            assert door.show("a").memory.entities == ("memory:4",)
            assert door.show("4").memory.content == "number 4 of a tenant"

    def test_what_ranks_in_other_tenants_forgets_a_global_memory_too(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        eve = person("eve", tenant="beta")
        root.remember("for all", id="global:4")
        root.as_caller(eve).remember("refers", entities=["memory:global:4"])

        def ranked_by() -> list[tuple[str, ...]]:
            with store.reading(eve, clock.now) as reading:
                keys = [each.key for each in reading.index.match_terms(question_terms("refers"), most=9)]
                return [match.entities for match in reading.eligible(keys).values()]

        assert ranked_by() == [("memory:global:4",)]
        root.forget("global:4")
        assert ranked_by() == [()]

    def test_a_memory_that_refers_to_itself_can_be_forgotten(self, ann: OnRecord) -> None:
        ann.remember("round", id="4", entities=["memory:4"])
        assert ann.forget("4").references == 0
        with pytest.raises(NotFound):
            ann.show("4")

    def test_a_retired_memory_can_be_forgotten(self, ann: OnRecord) -> None:
        ann.remember("note", id="k")
        ann.retire("k")
        assert ann.forget("k").versions == 2

    def test_a_freed_id_starts_a_new_life(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("first life", id="k")
        ann.forget("k")
        later = clock.tick()
        saved = ann.remember("second life", id="k").memory
        assert (saved.version, saved.created_at) == (1, later)
        assert change_names(ann, "k") == ["remember"]
        assert recalled(ann, "first") == []

    def test_forgetting_twice_says_that_there_is_none(self, ann: OnRecord, store: Store) -> None:
        ann.remember("note", id="k")
        ann.forget("k")
        with refused(NotFound, "No memory k", by=store):
            ann.forget("k")
