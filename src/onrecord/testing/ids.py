"""WHICH id does a memory get? A number that is never used again, a chosen name, or a global id."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, OnRecordError
from onrecord.model import ids
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, administrator, person, refused, written
from onrecord.testing.executed_statements import executed_statements

#: What a stranger does with an id; each leaves nothing behind but the last.
_ATTEMPTS: Final[tuple[Callable[[OnRecord, str], Any], ...]] = (
    lambda door, id: door.show(id),
    lambda door, id: door.revise(id, content="his"),
    lambda door, id: door.forget(id),
    lambda door, id: door.remember("his", supersedes=[id]),
    lambda door, id: door.remember("his", id=id, dry_run=True),
    lambda door, id: door.remember("his", id=id, scope="user", dry_run=True),
    lambda door, id: door.remember("his", id=id, review=True, dry_run=True),
    lambda door, id: door.remember("his", id=id),
)


def _answer(
    attempt: Callable[[OnRecord, str], Any], door: OnRecord, id: str, store: Store
) -> tuple[Any, ...]:
    """What is told of an id, without the id, and by which statements."""
    with executed_statements(store) as statements:
        try:
            told = attempt(door, id)
            told = told.outcome, told.memory.id, told.memory.version, told.warnings
        except OnRecordError as refusal:
            told = f"{type(refusal).__name__}: {refusal}"
    return str(told).replace(id, "ID"), statements


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
        """Otherwise the next number of a user who does not see it would reveal it."""
        inside = ann.as_caller(ann.caller.inside("talk"))
        inside.remember("chosen", id="3", **room)
        bob = ann.as_caller(person("bob"))
        assert [bob.remember(f"next {n}").memory.id for n in range(3)] == ["1", "2", "3"]
        assert root.doctor().problems == ()
        inside.remember("chosen", id="9", **room)
        if "review" in room:
            root.approve("ann::9")
        else:
            inside.remember("chosen", id="9", scope="tenant")
        assert bob.remember("after all see it").memory.id == "4"

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

    def test_an_id_that_another_keeps_hidden_is_as_free_as_any(self, ann: OnRecord, store: Store) -> None:
        """Whoever tries it is told the same, by the same statements, and both have their own."""
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
        ann.remember("over", id="k.5", scope="user")
        ann.retire("k.5")
        ann.remember("a number", id="77", scope="user")
        names = [f"k.{number}" for number in range(6)]
        bob = ann.as_caller(person("bob"))
        for attempt in _ATTEMPTS:
            # A number moves the count on, so it is compared with a number.
            for free, held in (("free", names), ("76", ["77"])):
                expected = _answer(attempt, bob, free, store)
                assert [_answer(attempt, bob, id, store) for id in held] == [expected] * len(held)
        for id in names[:-1]:
            assert bob.show(id).memory.content == "his"
            assert ann.show(f"ann::{id}").memory.content == f"text {id[-1]}"
            assert ann.remember("hers again", id=id).memory.id == f"ann::{id}"

    def test_a_name_that_may_mean_two_is_not_guessed_at(self, ann: OnRecord, store: Store) -> None:
        bob = ann.as_caller(person("bob"))
        ann.remember("mine", id="k", scope="user")
        bob.remember("for all", id="k")
        bob.remember("beside", id="other")
        acts: list[Callable[[str], Any]] = [
            ann.show,
            ann.history,
            ann.neighbours,
            ann.forget,
            ann.retire,
            lambda id: ann.revise(id, tags=["t"]),
            lambda id: ann.relate(id, "supports", "other"),
            lambda id: ann.remember("new", supersedes=[id]),
            lambda id: ann.remember("new", entities=[f"memory:{id}"]),
            lambda id: ann.browse(entities=[f"memory:{id}"]),
            lambda id: ann.relations(source=id),
        ]
        for act in acts:
            with refused(Conflict, "k means two memories here: write ann::k for .* ::k for", by=store):
                act("k")
        assert [ann.show(id).memory.content for id in ("ann::k", "::k")] == ["mine", "for all"]
        assert bob.show("k").memory.id == bob.show("::k").memory.id == "k"
        about = ann.remember("about it", entities=["memory:::k"]).memory
        assert about.entities == ("memory:k",)
        assert [each.id for each in ann.browse(entities=["memory:::k"]).memories] == [about.id]
        ann.forget("ann::k")
        assert ann.show("k").memory.content == "for all"

    def test_a_name_alone_means_ones_own_wherever_an_id_is_taken(self, ann: OnRecord) -> None:
        ann.remember("mine", id="k", scope="user")
        other = ann.remember("other").memory.id
        assert ann.relate(other, "supports", "k").relation.target == "ann::k"
        assert len(ann.relations(target="k").relations) == len(ann.neighbours("k").edges) == 1
        about = ann.remember("about it", entities=["memory:k"]).memory
        assert about.entities == ("memory:ann::k",)
        assert [each.id for each in ann.browse(entities=["memory:k"]).memories] == [about.id]
        assert ann.revise(about.id, entities=["memory:k", "thing:x"]).memory.entities[0] == "memory:ann::k"
        assert ann.revise("k", content="mine still").memory.id == "ann::k"
        assert ann.add_check("k", kind="entity", entity="shop.orders").memory.id == "ann::k"
        assert ann.checks("k").memory == "ann::k"
        assert ann.give_feedback("k", question="which?", verdict="useful").changed
        assert [each.memory for each in ann.feedback(id="k").feedback] == ["ann::k"]
        assert ann.remember("instead", supersedes=["k"]).superseded == ("ann::k",)
        assert ann.forget("k").id == "ann::k"
        with pytest.raises(NotFound, match="No memory k that you can see"):
            ann.show("k")

    def test_a_reference_that_is_sent_back_as_it_was_read_means_the_same(self, ann: OnRecord) -> None:
        """Also where the writer has a memory of that name, and no longer sees the one that is meant."""
        bob = ann.as_caller(person("bob"))
        bob.remember("for all", id="k")
        ann.remember("about it", id="about", entities=["memory:k"])
        ann.remember("mine", id="ann::k", scope="user")
        for number in range(2):
            read = ann.show("about").memory.entities
            sent = [*read, f"thing:{number}"]
            assert ann.revise("about", entities=sent).memory.entities == tuple(sent)
            saved = ann.remember(f"about it {number}", id="about", entities=sent[::-1])
            assert saved.memory.entities == tuple(sent[::-1])
            bob.remember("his alone", id="k", scope="user")
        new = ann.revise("about", entities=["memory:::k", "memory:k"]).memory
        assert new.entities == ("memory:ann::k", "memory:k")

    def test_whoever_sees_what_ended_learns_no_id_of_what_few_see_instead(self, ann: OnRecord) -> None:
        bob = ann.as_caller(person("bob"))
        for number, scope in enumerate(("user", "tenant")):
            ann.remember("for all", id=f"k.{number}")
            ann.remember("instead", id=f"zqnew.{number}", scope=scope, supersedes=[f"k.{number}"])
        assert "zqnew" not in written([bob.show("k.0", background=True), bob.history("k.0")])
        assert bob.show("k.0").memory.status_reason == "superseded by another memory"
        assert bob.show("k.1").memory.status_reason == "superseded by zqnew.1"
        assert [edge.memory.id for edge in ann.neighbours("k.0").edges] == ["ann::zqnew.0"]

    def test_an_own_name_stays_when_more_may_see_it_and_an_open_one_when_fewer_may(
        self, ann: OnRecord, store: Store
    ) -> None:
        bob = ann.as_caller(person("bob"))
        ann.remember("mine", id="k", scope="user")
        assert ann.remember("for all", id="k", scope="tenant").memory.id == "ann::k"
        assert [door.show(id).memory.id for door in (ann, bob) for id in ("k", "::k", "ann::k")] == [
            "ann::k"
        ] * 6
        with refused(Forbidden, "You may read memory ann::k but not change it: it belongs to ann", by=store):
            bob.remember("his for all", id="k")
        # Not its past, when it was hers alone.
        assert [each.number for each in bob.history("k").versions] == [2]
        assert bob.remember("his own", id="bob::k", scope="user").memory.id == bob.show("k").memory.id
        assert ann.remember("mine again", id="k", scope="user").memory.id == "ann::k"
        with refused(NotFound, "No memory ann::k", by=store):
            bob.show("ann::k")
        ann.remember("open", id="open")
        assert ann.remember("closed", id="open", scope="user").memory.id == "open"
        assert ann.show("open").memory.content == "closed"

    def test_a_proposal_has_one_id_before_and_after_its_approval_and_everyone_finds_it_by_its_name_then(
        self, ann: OnRecord, root: OnRecord, store: Store
    ) -> None:
        robot, other = (
            ann.as_caller(person(name, actor="unattended", run="r")) for name in ("robot", "other")
        )
        told = robot.remember("we deploy on Mondays", id="k").memory.id
        note = robot.remember("about it", entities=["memory:k"], scope="user").memory
        with refused(NotFound, "No memory k", by=store):
            ann.show("k")
        assert (told, root.show("k").memory.id, root.approve("k").memory.id) == ("robot::k",) * 3
        for door in (ann, root, robot, other):
            assert [door.show(id).memory.id for id in ("k", "::k", told)] == [told] * 3
            assert door.history("k").versions[-1].memory.id == told
            assert door.neighbours("k").center.id == told
        assert root.remember("we deploy on Fridays", id="k").memory.id == told
        assert ann.remember("because of it", entities=["memory:k"]).memory.entities == (f"memory:{told}",)
        assert note.entities == (f"memory:{told}",)
        # Two of one name: neither approval is refused, and what has the name alone is the tenant's.
        second = other.remember("we deploy never", id="other::k").memory.id
        assert root.approve(second).memory.id == second
        with refused(
            Conflict, "k means 2 memories here: write the whole id of one, of other::k, robot::k", by=store
        ):
            ann.show("k")
        assert robot.show("k").memory.id == told
        assert root.forget(second).id == second
        assert root.remember("beside", supersedes=["k"]).superseded == (told,)
        assert root.forget("k").id == told

    def test_what_is_given_to_another_keeps_its_id_and_is_theirs_by_its_name(
        self, ann: OnRecord, root: OnRecord, store: Store
    ) -> None:
        ann.remember("hers", id="k", scope="user")
        maria = ann.as_caller(person("maria"))
        assert root.reassign("ann", "maria").memories == 1
        assert [maria.show(id).memory.id for id in ("k", "ann::k")] == ["ann::k"] * 2
        assert maria.remember("hers now", id="k").memory.id == "ann::k"
        with refused(NotFound, "No memory k", by=store):
            ann.show("k")
        assert root.reassign("maria", "ann").memories == 1
        assert ann.show("k").memory.content == "hers now"

    def test_what_others_keep_for_a_few_is_found_by_its_name_and_leaves_it_free(self, ann: OnRecord) -> None:
        cook, guest = (ann.as_caller(person(name, personas={"chef"})) for name in ("cook", "guest"))
        cook.remember("a recipe", id="k", scope="persona", persona="chef")
        assert guest.show("k").memory.id == "cook::k"
        assert guest.remember("his own", id="k", scope="user").memory.id == "guest::k"
        assert guest.show("k").memory.content == "his own"
        assert cook.show("k").memory.content == "a recipe"

    @pytest.mark.parametrize(
        "user", ["a", "a:b", "~", "~007e", "a b", "a/b?c#d", "\u3000", "é", "global", "x" * 200]
    )
    def test_every_user_has_ids_of_one_form(self, ann: OnRecord, user: str) -> None:
        door = ann.as_caller(person(user.strip() or "a\u3000b"))
        saved = door.remember("mine", id="k" * 200, scope="user").memory
        assert saved.id == ids.owned(door.caller.user, "k" * 200)
        assert ids.owner_of(saved.id) == door.caller.user
        assert not set(saved.id.partition("::")[0]) & set(":/?# ")
        assert not ids.is_global(saved.id)
        assert door.show(saved.id).memory == door.show("k" * 200).memory == saved
        door.forget("k" * 200)

    @pytest.mark.parametrize(
        "id", ["ann::", "~::k", "a~002Fb::k", "ann::a:b", "a b::k", "ann:k", "global::k", "global:ann::k"]
    )
    def test_an_id_that_names_no_owner_in_that_form_is_refused(
        self, ann: OnRecord, store: Store, id: str
    ) -> None:
        with refused(Invalid, "id", by=store):
            ann.remember("note", id=id)

    def test_nobody_gives_an_id_in_the_name_of_another(
        self, ann: OnRecord, root: OnRecord, store: Store
    ) -> None:
        for door in (ann, root):
            for ask in ({}, {"scope": "user"}):
                with refused(Forbidden, "There is no memory bob::k here", by=store):
                    door.remember("note", id="bob::k", **ask)

    @pytest.mark.parametrize("actor", ["person", "agent"])
    def test_an_import_gives_no_memory_an_id_that_names_another_than_its_owner(
        self, root: OnRecord, store: Store, tmp_path: Path, actor: Any
    ) -> None:
        """Otherwise the name alone would mean, for that user, what somebody else wrote and may change."""
        file = tmp_path / "all.jsonl"
        bobs = [root.as_caller(person("bob", tenant=tenant)) for tenant in ("acme", "beta")]
        for door in bobs:
            door.remember(f"his in {door.caller.tenant}", id="x", scope="user")
        root.export(str(file), all_tenants=True)
        written = file.read_text()
        file.write_text(written.replace('"owner":"bob"', '"owner":"eve"'))
        for door in bobs:
            door.forget("x")
        host = root.as_caller(administrator("host", actor=actor))
        with refused(Invalid, "has the id bob::x, but the memory was never bob's", by=store):
            host.import_(str(file), keep_tenants=True)
        assert [door.browse().memories for door in bobs] == [(), ()]
        file.write_text(written)
        host.import_(str(file), keep_tenants=True)
        assert [door.show("x").memory.content for door in bobs] == ["his in acme", "his in beta"]

    @pytest.mark.parametrize("write", [str, lambda id: id.hex, lambda id: str(id).upper()])
    def test_a_uuid_need_not_name_its_owner(self, ann: OnRecord, write: Callable[[UUID], str]) -> None:
        id = write(UUID("8d9c6a3e-52a1-4c0b-9f0e-0a2b7c1d4e5f"))
        assert ann.remember("hers", id=id, scope="user").memory.id == id
        assert ann.remember("hers", id=f"{id}0", scope="user").memory.id == f"ann::{id}0"

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

    def test_a_global_memory_has_no_users_name_in_front_of_its_id(self, root: OnRecord, store: Store) -> None:
        with refused(Invalid, "id: has a user's name in front", by=store):
            root.remember("for all", id="root::k", scope="global")

    def test_the_tenants_own_id_is_no_way_to_a_global_memory(self, root: OnRecord) -> None:
        root.remember("for all", scope="global", id="9")
        with pytest.raises(NotFound):
            root.show("9")

    def test_a_global_id_with_another_scope_is_refused(self, root: OnRecord, store: Store) -> None:
        with refused(Invalid, "scope", by=store):
            root.remember("for all", id="global:1", scope="user")
