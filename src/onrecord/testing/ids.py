"""WHICH id does a memory get? A number that is never used again, a chosen name, or a global id."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from onrecord.errors import Conflict, Invalid, NotFound
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, person, refused
from onrecord.testing.heard import heard


class IdConformance(Conformance):
    """Ids that the store gives, and ids that people choose."""

    def test_an_omitted_id_is_the_next_whole_number(self, ann: OnRecord) -> None:
        assert [ann.remember(f"note {n}").memory.id for n in range(3)] == ["1", "2", "3"]

    def test_each_tenant_counts_for_itself(self, ann: OnRecord) -> None:
        ann.remember("here")
        elsewhere = ann.as_caller(person(tenant="beta"))
        assert elsewhere.remember("there").memory.id == "1"
        assert ann.remember("here again").memory.id == "2"

    def test_a_chosen_id_is_used_as_it_is(self, ann: OnRecord) -> None:
        assert ann.remember("a policy", id="kb.policy.42").memory.id == "kb.policy.42"
        assert ann.show("kb.policy.42").memory.content == "a policy"

    def test_a_chosen_number_moves_the_count_on(self, ann: OnRecord) -> None:
        ann.remember("chosen", id="40")
        assert ann.remember("next").memory.id == "41"

    def test_a_smaller_chosen_number_does_not_move_the_count_back(self, ann: OnRecord) -> None:
        ann.remember("chosen", id="40")
        ann.remember("smaller", id="3")
        assert ann.remember("next").memory.id == "41"

    @pytest.mark.parametrize("id", ["0077", "77a", "-77", "7.7", "٧٧", "７７", "7_7"])
    def test_only_pure_digits_without_a_leading_zero_move_the_count(self, ann: OnRecord, id: str) -> None:
        ann.remember("chosen", id=id)
        assert ann.remember("next").memory.id == "1"

    @pytest.mark.parametrize("id", ["1000001", "99999999999999999999", "9" * 200])
    def test_a_number_that_was_chosen_far_ahead_does_not_move_the_count(self, ann: OnRecord, id: str) -> None:
        ann.remember("chosen", id=id)
        assert ann.remember("next").memory.id == "1"
        assert ann.show(id).memory.content == "chosen"

    @pytest.mark.parametrize("room", [{"scope": "user"}, {"scope": "session"}, {"review": True}])
    def test_a_number_that_was_chosen_for_a_few_does_not_move_the_count(
        self, ann: OnRecord, root: OnRecord, room: dict[str, Any]
    ) -> None:
        """Whoever does not see it would be told of it by the next number of their own."""
        inside = ann.as_caller(ann.caller.inside("talk"))
        inside.remember("chosen", id="3", **room)
        bob = ann.as_caller(person("bob"))
        assert [bob.remember(f"next {n}").memory.id for n in range(2)] == ["1", "2"]
        assert root.doctor().problems == ()
        assert bob.remember("and next").memory.id == "4"
        inside.remember("chosen", id="9", **room)
        if "review" in room:
            root.approve("9")
        else:
            inside.remember("chosen", id="9", scope="tenant")
        assert bob.remember("after all see it").memory.id == "10"

    def test_a_number_that_was_chosen_before_the_count_came_there_is_passed_over(self, ann: OnRecord) -> None:
        for id in ("1000002", "1000001", "1000000"):
            ann.remember(f"chosen {id}", id=id)
        assert [ann.remember(f"next {n}").memory.id for n in range(2)] == ["1000003", "1000004"]

    def test_a_number_is_never_given_twice_even_when_its_memory_is_forgotten(self, ann: OnRecord) -> None:
        last = ann.remember("soon gone").memory.id
        ann.forget(last)
        assert ann.remember("another").memory.id == "2"

    def test_a_chosen_number_is_never_given_again_either(self, ann: OnRecord) -> None:
        ann.remember("chosen", id="9")
        ann.forget("9")
        assert ann.remember("next").memory.id == "10"

    @pytest.mark.parametrize("spelling", ["42", "#42", 42])
    def test_a_number_may_be_written_with_a_hash_or_as_a_number(self, ann: OnRecord, spelling: str) -> None:
        ann.remember("the answer", id="42")
        assert ann.show(spelling).memory.id == "42"

    @pytest.mark.parametrize(
        "id", ["a:b", "a/b", "a?b", "a#b", "a b", "a\tb", "a\nb", "a\x7fb", "", "x" * 201]
    )
    def test_an_id_that_cannot_be_written_in_an_address_is_refused(
        self, ann: OnRecord, store: Store, id: str
    ) -> None:
        with refused(Invalid, "id", by=store):
            ann.remember("note", id=id)

    def test_saving_an_existing_id_updates_it_and_keeps_when_it_was_created(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        first = ann.remember("before", id="k").memory
        later = clock.tick()
        saved = ann.remember("after", id="k")
        assert (saved.outcome, saved.memory.version, saved.memory.content) == ("updated", 2, "after")
        assert (saved.memory.created_at, saved.memory.updated_at) == (first.created_at, later)
        assert ann.show("k").memory == saved.memory

    def test_saving_an_existing_id_keeps_what_is_not_given(self, ann: OnRecord, clock: Clock) -> None:
        first = ann.remember(
            "before",
            id="k",
            kind="decision",
            tags=["one"],
            hint="a hint",
            source="a book",
            metadata={"a": 1},
            category="c",
            confidence="high",
            entities=["thing:x"],
            scope="user",
            valid_from="2020-01-01",
            always_inject=True,
        ).memory
        clock.tick()
        ann.remember("after", id="k", tags=["two"])
        kept = ann.show("k").memory
        for name in ("kind", "dimension", "hint", "source", "metadata", "category", "confidence", "entities"):
            assert getattr(kept, name) == getattr(first, name)
        assert (kept.scope, kept.valid_from, kept.always_inject) == ("user", first.valid_from, True)
        assert (kept.content, kept.tags) == ("after", ("two",))

    def test_saving_the_same_again_under_an_id_changes_nothing(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        first = ann.remember("same", id="k", tags=["one"]).memory
        clock.tick()
        again = ann.remember("same", id="k", tags=["one"])
        assert (again.outcome, again.memory) == ("unchanged", first)
        assert len(ann.history("k").versions) == 1

    def test_ids_that_differ_in_case_or_form_are_different(self, ann: OnRecord) -> None:
        for id in ("key", "Key", "k\u00e9y", "ke\u0301y", "01", "1"):
            assert ann.remember(f"of {id!a}", id=id).outcome == "created"
        assert ann.show("Key").memory.content == "of 'Key'"

    def test_an_id_that_another_keeps_is_refused_in_one_way_whatever_they_keep_under_it(
        self, ann: OnRecord, store: Store
    ) -> None:
        """That it cannot be used is all that is told: not by whom, for whom, or in which state."""
        ann = ann.as_caller(
            replace(ann.caller, personas={"chef"}, systems={"crm": "manage"}, conversation="talk")
        )
        rooms: list[dict[str, Any]] = [
            {"scope": "user"},
            {"scope": "session"},
            {"scope": "persona", "persona": "chef"},
            {"scope": "system", "system": "crm"},
            {"review": True},
        ]
        for number, room in enumerate(rooms):
            ann.remember(f"text {number}", id=f"k.{number}", **room)
        for id, room in (("k.5", {}), ("k.6", {"scope": "user"}), ("2", {"scope": "user"})):
            ann.remember(f"text {id}", id=id, **room)
        ann.remember("for herself now", id="k.5", scope="user")
        ann.retire("k.6")
        bob = ann.as_caller(person("bob"))
        refusals = []
        for id in (*(f"k.{number}" for number in range(7)), "2"):
            for ask in ({"scope": "user"}, {"dry_run": True}):
                with heard(store) as told, refused(Conflict, by=store) as why:
                    bob.remember("his", id=id, **ask)
                refusals.append((str(why.value).replace(id, "ID"), told))
        words, statements = zip(*refusals, strict=True)
        assert set(words) == {"The id ID cannot be used here. Choose another, or leave it out."}
        for start in (0, 1):
            assert all(each == statements[start] for each in statements[start::2])
        # Nothing of it moved the numbers that he is given.
        assert [bob.remember(f"his {n}").memory.id for n in range(2)] == ["1", "3"]

    def test_writers_at_once_never_get_the_same_number(self, ann: OnRecord) -> None:
        def save(number: int) -> str:
            return ann.remember(f"note {number}").memory.id

        with ThreadPoolExecutor(4) as pool:
            given = list(pool.map(save, range(24)))
        assert sorted(map(int, given)) == list(range(1, 25))


class GlobalIdConformance(Conformance):
    """Ids of global memories."""

    def test_a_global_memory_has_a_number_of_its_own_tenant(self, root: OnRecord) -> None:
        root.remember("of the tenant")
        assert root.remember("for all", scope="global").memory.id == "global:1"
        assert root.remember("of the tenant again").memory.id == "2"

    def test_every_tenant_reads_a_global_memory_by_the_same_id(self, root: OnRecord) -> None:
        root.remember("for all", scope="global")
        elsewhere = root.as_caller(person("eve", tenant="beta"))
        assert elsewhere.show("global:1").memory.content == "for all"

    def test_a_plain_id_with_global_scope_names_the_global_memory(self, root: OnRecord, clock: Clock) -> None:
        root.remember("of the tenant", id="5")
        assert root.remember("for all", id="5", scope="global").memory.id == "global:5"
        clock.tick()
        again = root.remember("for all, corrected", id="5", scope="global")
        assert (again.outcome, again.memory.id) == ("updated", "global:5")
        assert root.show("5").memory.content == "of the tenant"
        assert root.show("global:5").memory.content == "for all, corrected"

    def test_an_id_that_begins_with_global_means_the_global_scope(self, root: OnRecord) -> None:
        saved = root.remember("for all", id="global:rules").memory
        assert (saved.id, saved.scope) == ("global:rules", "global")

    def test_the_tenants_own_id_is_no_way_to_a_global_memory(self, root: OnRecord) -> None:
        root.remember("for all", scope="global", id="9")
        with pytest.raises(NotFound):
            root.show("9")

    def test_a_global_id_with_another_scope_is_refused(self, root: OnRecord, store: Store) -> None:
        with refused(Invalid, "scope", by=store):
            root.remember("for all", id="global:1", scope="user")
