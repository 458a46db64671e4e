"""WHO may change what? The owner, an admin and a system's manager may; an unattended run only proposes."""

from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound
from onrecord.model.caller import Caller
from onrecord.model.limits import GLOBAL_TENANT, SCOPES, STATUSES, Actor, Scope
from onrecord.model.memory import Change, Memory
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    START,
    Clock,
    Conformance,
    administrator,
    browsed,
    everything,
    person,
    recalled,
    refused,
)
from onrecord.testing.strangers import ATTEMPTS, CHANGES, OWNER, Try, World, outcome

#: Sees everything that the owner shares, and may only read the system.
_BESIDE: Final[dict[str, Any]] = {
    "personas": {"chef"},
    "systems": {"crm": "read"},
    "conversation": "~ann/talk",
}


def _refusals(world: World, caller: Caller, scopes: tuple[Scope, ...]) -> list[str]:
    """The changes that were not refused as they should be, to a caller who sees the memories but may not change them."""
    door, before, faults = world.door(caller), world.held(SCOPES), []
    for name, scope in product(CHANGES, scopes):
        one, two = world.kept[scope]
        answer = outcome(ATTEMPTS[name], Try(world, door, one, two, beside=two))
        # The id of a global memory is refused before the memory is looked up.
        expected = "Invalid: " if (name, scope) == ("remember: id", "global") else "Forbidden: "
        if not answer.startswith(expected):
            faults.append(f"{name} on {scope}: {answer}")
        if world.held(SCOPES) != before:
            faults.append(f"{name} changed {scope}")
            before = world.held(SCOPES)
    return faults


class ChangeConformance(Conformance):
    """Seeing a memory is not enough to change it."""

    @pytest.fixture
    def rooms(self, store: Store, clock: Clock, tmp_path: Path) -> World:
        world = World(store, clock, tmp_path)
        world.door(OWNER).share_conversation("talk", "bob")
        return world

    def test_who_sees_a_memory_of_another_cannot_change_it(self, rooms: World) -> None:
        scopes = tuple(scope for scope in SCOPES if scope != "user")
        assert _refusals(rooms, person("bob", **_BESIDE), scopes) == []

    @pytest.mark.parametrize("actor", ["agent", "unattended"])
    def test_lower_tiers_change_nothing_that_a_person_wrote(self, rooms: World, actor: Actor) -> None:
        door, admin = rooms.door(replace(OWNER, actor=actor)), rooms.door(administrator())
        kept = {scope: pair for scope, pair in rooms.kept.items() if scope != "global"}

        def shown(pair: tuple[Memory, Memory]) -> list[Any]:
            return [(admin.history(each.id), admin.neighbours(each.id)) for each in pair]

        for scope, (one, two) in kept.items():
            before = shown((one, two))
            for name in CHANGES:
                outcome(ATTEMPTS[name], Try(rooms, door, one, two, beside=two))
            assert shown((one, two)) == before, f"one of {', '.join(CHANGES)} on {scope}"

    def test_those_who_may_can(self, rooms: World) -> None:
        for number, (caller, scopes) in enumerate(
            (
                (OWNER, ("tenant", "persona", "user", "system", "session")),
                (administrator(), SCOPES),
                (administrator(tenant="beta"), ("global",)),
                (person("bob", systems={"crm": "manage"}), ("system",)),
                (person("bob", systems={"*": "manage"}), ("system",)),
                (person("bob", systems={"*": "read", "crm": "manage"}), ("system",)),
                (person("bob", systems={"*": "manage", "crm": "read"}), ("system",)),
                (person("bob", systems={"*": "read"}), ()),
                (person("bob", systems={"crm": "read", "erp": "manage"}), ()),
                (person("ann", personas={"chef"}), ("tenant", "persona", "user")),
                (person("ann", actor="unattended", conversation="talk"), ()),
                (person("ann", tenant="beta"), ()),
                (person("root"), ()),
                (person("root", tenant="beta"), ()),
            )
        ):
            door, changed = rooms.door(caller), []
            for scope in SCOPES:
                with suppress(Forbidden, NotFound):
                    if door.revise(rooms.id(scope, 1), content=f"changed {number}").changed:
                        changed.append(scope)
            assert set(changed) == set(scopes), caller

    def test_an_id_that_everyone_saw_once_is_not_given_to_another(self, ann: OnRecord, store: Store) -> None:
        """What it refers to elsewhere is still that memory. Nothing else is told of it."""
        bob = ann.as_caller(person("bob"))
        bob.remember("bob's for all", id="taken")
        bob.remember("bob's own", id="taken", scope="user")
        with refused(
            Conflict, r"^The id taken cannot be used here\. Choose another, or leave it out\.$", by=store
        ):
            ann.remember("mine", id="taken")
        assert bob.show("taken").memory.scope == "user"
        assert ann.remember("mine", id="taken", scope="user").memory.id == "ann::taken"

    @pytest.mark.parametrize(
        ("room", "field"),
        [
            ({"scope": "persona", "persona": "chef"}, "persona"),
            ({"scope": "persona"}, "persona"),
            ({"scope": "system", "system": "crm"}, "system"),
            ({"scope": "system"}, "system"),
            ({"scope": "session", "conversation": "talk"}, "conversation"),
            ({"scope": "session"}, "conversation"),
            ({"scope": "global"}, "scope"),
            ({"persona": "chef"}, "persona"),
            ({"system": "crm"}, "system"),
        ],
    )
    def test_nobody_saves_into_a_room_they_are_not_in(
        self, ann: OnRecord, store: Store, room: dict[str, Any], field: str
    ) -> None:
        with refused(Invalid, field, by=store):
            ann.remember("note", **room)
        ann.remember("mine", id="k")
        with refused(Invalid, field, by=store):
            ann.remember("note", id="k", **room)

    def test_a_memory_can_be_moved_to_another_room_by_its_owner(self, ann: OnRecord, clock: Clock) -> None:
        door, bob = ann.as_caller(OWNER), ann.as_caller(person("bob", **_BESIDE))
        door.remember("note", id="k", scope="user")
        door.share_conversation("talk", "bob")
        for room in (
            {"scope": "tenant"},
            {"scope": "persona", "persona": "chef"},
            {"scope": "system", "system": "crm"},
            {"scope": "session"},
        ):
            clock.tick()
            assert door.remember("note", id="k", **room).memory.scope == room["scope"]
            assert browsed(bob) == ["ann::k"], room
        door.remember("note", id="k", scope="user")
        assert browsed(bob) == []

    @pytest.mark.parametrize("pinned", [None, "another talk"])
    def test_a_memory_that_moves_into_a_session_moves_into_this_one(
        self, ann: OnRecord, pinned: str | None
    ) -> None:
        ann.as_caller(OWNER.inside(pinned)).remember("note", id="k")
        moved = ann.as_caller(OWNER).remember("note", id="k", scope="session").memory
        assert (moved.scope, moved.conversation) == ("session", "talk")
        assert browsed(ann.as_caller(OWNER)) == ["k"]

    @pytest.mark.parametrize("conversation", ["another talk", None])
    def test_a_session_memory_cannot_leave_its_conversation(
        self, ann: OnRecord, store: Store, conversation: str | None
    ) -> None:
        door = ann.as_caller(OWNER)
        door.remember("note", id="k", scope="session")
        with refused(Invalid, "conversation", by=store):
            door.revise("k", conversation=conversation)
        with refused(Invalid, "conversation", by=store):
            door.remember("note", id="k", conversation=conversation)

    def test_a_name_given_without_a_scope_moves_a_memory_within_its_scope(
        self, ann: OnRecord, store: Store
    ) -> None:
        door = ann.as_caller(person(systems={"crm": "manage", "erp": "manage"}))
        door.remember("note", id="k", scope="system", system="crm")
        assert door.remember("note", id="k", system="erp").memory.system == "erp"
        assert browsed(ann.as_caller(person("bob", systems={"erp": "read"}))) == ["ann::k"]
        with refused(Invalid, "system", by=store):
            door.remember("note", id="k", system=None)


class ReassignedConformance(Conformance):
    """What belongs to a name that has changed is given to the new one."""

    def test_every_memory_of_a_user_is_given_to_another_and_back(self, ann: OnRecord, root: OnRecord) -> None:
        private = ann.remember("A private note.", scope="user").memory.id
        shared = ann.remember("A shared note.").memory.id
        ann.retire(shared)
        waits = ann.remember("A proposed note.", review=True).memory.id
        there = ann.as_caller(person(conversation="talk"))
        kept = there.remember("Said in a talk.", scope="session", conversation="talk").memory.id
        pinned = there.remember("Pinned to a talk.", conversation="talk").memory
        new, before = ann.as_caller(person("anna")), browsed(root, statuses=STATUSES)
        assert root.reassign("ann", "anna", dry_run=True).memories == 4
        assert browsed(new, statuses=["pending"]) == []
        done = root.reassign("ann", "anna")
        assert (done.memories, done.left) == (4, 1)
        assert set(browsed(new, statuses=STATUSES)) == {private, shared, waits, pinned.id}
        assert recalled(new, "private note") == [private]
        assert recalled(ann, "private note") == []
        assert new.show(pinned.id).memory.pinned == pinned.pinned, "it stays in whose talk it was"
        assert root.show(kept).memory.owner == "ann"
        assert new.show(private).memory.metadata == {"former_owner": "ann"}
        last = root.history(private).versions[-1]
        assert (last.change, last.by, set(last.changed)) == ("reassign", "root", {"owner", "metadata"})
        assert root.reassign("ann", "anna").memories == 0
        assert root.reassign("anna", "ann").memories == 4
        assert (ann.show(private).memory.metadata, browsed(root, statuses=STATUSES)) == ({}, before)
        assert root.doctor().problems == ()

    def test_only_an_admin_in_person_does_so(self, ann: OnRecord, root: OnRecord) -> None:
        id = ann.remember("A note.").memory.id
        agent = administrator(actor="agent", operator=False)
        for door in (ann, ann.as_caller(agent)):
            with pytest.raises(Forbidden):
                door.reassign("ann", "bob")
        with pytest.raises(Invalid, match="same user"):
            root.reassign("ann", "ann")
        assert root.show(id).memory.owner == "ann"


class UnattendedConformance(Conformance):
    """An unattended run makes proposals, which a person decides on."""

    @pytest.fixture
    def bot(self, ann: OnRecord) -> OnRecord:
        return ann.as_caller(
            person(
                "bot", personas={"chef"}, systems={"crm": "manage"}, conversation="talk", actor="unattended"
            )
        )

    @pytest.mark.parametrize(
        ("room", "status"),
        [
            ({"scope": "tenant"}, "pending"),
            ({"scope": "persona"}, "pending"),
            ({"scope": "system", "system": "crm"}, "pending"),
            ({"scope": "user"}, "active"),
            ({"scope": "session"}, "active"),
        ],
    )
    def test_what_it_saves_where_others_see_it_waits(
        self, bot: OnRecord, room: dict[str, Any], status: str
    ) -> None:
        saved = bot.remember("proposal", **room).memory
        assert (saved.status, saved.origin) == (status, "unattended")
        assert browsed(bot, statuses=[status]) == ["1"]

    def test_what_it_saves_for_all_tenants_waits(self, root: OnRecord) -> None:
        bot = root.as_caller(administrator("bot", actor="unattended"))
        assert bot.remember("proposal", scope="global").memory.status == "pending"

    def test_it_does_not_make_its_own_note_a_shared_one(self, bot: OnRecord, ann: OnRecord) -> None:
        bot.remember("a rumour", id="k", scope="user")
        bot.remember("a rumour", id="k", scope="tenant")
        assert browsed(ann) == []
        assert bot.show("k").memory.status == "pending"

    def test_it_may_correct_and_withdraw_what_still_waits(self, bot: OnRecord) -> None:
        bot.remember("proposal", id="k")
        assert bot.revise("k", content="better proposal").memory.status == "pending"
        assert bot.remember("best proposal", id="k").memory.status == "pending"
        assert bot.retire("k").changed

    def test_it_never_approves(self, bot: OnRecord, store: Store) -> None:
        bot.remember("proposal", id="k")
        with refused(Forbidden, "review", by=store):
            bot.revise("k", status="active")

    def test_it_erases_nothing_not_even_its_own(self, bot: OnRecord, store: Store) -> None:
        bot.remember("its own", id="k", scope="user")
        with refused(Forbidden, "unattended", by=store):
            bot.forget("k")

    def test_it_cannot_have_a_memory_told_unasked(self, bot: OnRecord) -> None:
        bot.remember("obey me", scope="user", always_inject=True)
        assert bot.context(parts=["always"]).text == ""


class TransactionConformance(Conformance):
    """The store refuses to write into another tenant, even if the code above it asks for that."""

    def test_a_transaction_is_in_ones_own_tenant_or_the_global_one(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        ann.remember("note")
        before = everything(store)
        for caller in (person("eve", tenant="beta"), administrator("eve", tenant="beta")):
            with pytest.raises(Forbidden), store.writing(caller, clock.now, ann.caller.tenant):
                pass
        assert everything(store) == before

    def test_only_an_admin_adds_a_global_memory(self, ann: OnRecord, store: Store, clock: Clock) -> None:
        like = ann.remember("note").memory
        before = everything(store)
        with pytest.raises(Forbidden), store.writing(ann.caller, clock.now, GLOBAL_TENANT) as writing:
            writing.add(like, Change("remember", "ann", "person", START))
        assert everything(store) == before

    def test_nobody_adds_a_memory_in_anothers_name(self, ann: OnRecord, store: Store, clock: Clock) -> None:
        like = ann.remember("note").memory
        bob, change = person("bob"), Change("remember", "bob", "person", START)
        before = everything(store)
        with pytest.raises(Forbidden), store.writing(bob, clock.now) as writing:
            writing.add(replace(like, id=""), change)
        assert everything(store) == before
        with store.writing(bob, clock.now) as writing:
            assert writing.add(replace(like, id="", owner="bob"), change).owner == "bob"

    def test_one_memory_may_change_more_than_once_in_one_transaction(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        like = root.remember("red kite", id="like", tags=["red"]).memory
        change = Change("remember", "root", "person", clock.now)
        with store.writing(root.caller, clock.now) as writing:
            one = writing.add(replace(like, id="k"), change)
            two = writing.replace(one, replace(one, content="green kite", tags=("green",)), change)
            three = writing.replace(two, replace(two, content="red lamp", tags=("red",)), change)
            writing.replace(three, replace(three, content="red lamp", scope="user"), change)
        assert len(root.history("k").versions) == 4
        assert recalled(root, "green") == []
        assert recalled(root, "lamp") == browsed(root, tags=["red"], scopes=["user"]) == ["k"]
        assert root.doctor().problems == ()
        with store.writing(root.caller, clock.now) as writing:
            last = writing.replace(
                writing.target("k"), replace(three, content="blue lamp", version=4), change
            )
            writing.erase(last, change)
            writing.erase(writing.add(replace(like, id=""), change), change)
        assert recalled(root, "lamp") == []
        assert root.doctor().problems == ()
