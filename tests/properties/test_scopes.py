"""Does each caller read exactly what the design says, and change exactly what it says?

Reading is asked of both databases; that they agree on every change by any caller is asked in test_time_machine.py.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord
from onrecord.errors import Forbidden, NotFound, OnRecordError
from tests.soak import tries

from .conftest import KEEPER, Stores, outcome

USERS = ("ann", "bob")
PERSONAS = ("dba", "analyst")
SYSTEMS = ("billing", "hr", "BILLING", "bill%")
CONVERSATIONS = ("c1", "c2")
# Names that would be mistaken for another's if a scope were told by its name, or a pattern taken for a text.
TRICKY = ("t", "g", "u:ann", "*", "%", "None")

users = st.sampled_from((*USERS, *USERS, *USERS, *TRICKY))
tenants = st.sampled_from(("acme", "acme", "acme", "umbra"))
conversations = st.sampled_from((*CONVERSATIONS, "None"))


@st.composite
def callers(draw: st.DrawFn) -> Caller:
    more = [set(), set(), set(), {"memory.admin"}, {"memory.global"}, {"memory.admin", "memory.global"}]
    rules = {"memory.read", "memory.manage"} | draw(st.sampled_from(more))
    systems = st.dictionaries(
        st.sampled_from(("*", "*", *SYSTEMS)), st.sampled_from(["read", "manage"]), max_size=2
    )
    return Caller(
        tenant=draw(tenants),
        user=draw(users),
        personas=draw(st.sets(st.sampled_from((*PERSONAS, "None", "%")), max_size=2)),
        systems=draw(systems),
        conversation=draw(st.none() | conversations),
        permissions=rules,
    )


@st.composite
def saves(draw: st.DrawFn) -> tuple[Caller, dict[str, Any]]:
    """A memory in any room, saved by an admin who may go everywhere, under any user's name."""
    scope = draw(st.sampled_from(["global", "tenant", "persona", "user", "system", "system", "session"]))
    owner = Caller(
        tenant=draw(tenants), user=draw(users), permissions={"memory.manage", "memory.admin", "memory.global"}
    )
    room: dict[str, Any] = {"scope": scope}
    if scope == "persona":
        room["persona"] = draw(st.sampled_from((*PERSONAS, "None", "%")))
    if scope == "system":
        room["system"] = draw(st.sampled_from((*SYSTEMS, "*")))
    if scope == "session" or draw(st.booleans()):
        room["conversation"] = draw(conversations)
    return owner, room


def may_read(caller: Caller, owner: Caller, room: dict[str, Any]) -> bool:
    """Who sees what: the whole of it."""
    return room["scope"] == "global" or (caller.tenant == owner.tenant and (caller.is_admin or {
        "tenant": True,
        "persona": room.get("persona") in caller.personas,
        "user": owner.user == caller.user,
        "system": room.get("system") in caller.systems or "*" in caller.systems,
        # Nothing is shared here, so of one name each has a conversation of their own.
        "session": (owner.user, room.get("conversation")) == (caller.user, caller.conversation),
    }[room["scope"]]))  # fmt: skip


def may_change(caller: Caller, owner: Caller, room: dict[str, Any]) -> bool:
    """Who may change it, on top of seeing it: an admin, its owner, or for a system whoever manages that; and what is global
    whoever was given that."""
    if room["scope"] == "global":
        return "memory.global" in caller.permissions
    granted = {caller.systems.get(room.get("system", "")), caller.systems.get("*")}
    manages = room["scope"] == "system" and "manage" in granted
    mine = owner.user == caller.user or manages
    return may_read(caller, owner, room) and (caller.is_admin or mine)


def ways_to_read(door: OnRecord, ids: list[str]) -> dict[str, set[str]]:
    """What is found by each way of reading, among the given ids."""

    def reached(read: Callable[[str], Any]) -> set[str]:
        return {id for id in ids if not isinstance(outcome(NotFound, read, id), NotFound)}

    return {
        "browse": {memory.id for memory in door.browse(limit=1000).memories},
        "recall": {hit.memory.id for hit in door.recall("oat", limit=200).hits},
        "diff": {each.id for each in door.diff("2000-01-01").memories},
        "known_at": {memory.id for memory in door.browse(limit=1000, known_at="2030-01-01").memories},
        "show": reached(door.show),
        "history": reached(door.history),
        "neighbours": reached(door.neighbours),
    }


@settings(max_examples=tries(4, soaking=75))
@given(saved=st.lists(saves(), min_size=1, max_size=6), readers=st.lists(callers(), min_size=1, max_size=3))
def test_a_caller_reads_what_is_meant_for_them_and_nothing_else(
    stores: Stores, saved: list[tuple[Caller, dict[str, Any]]], readers: list[Caller]
) -> None:
    for name, door in stores.emptied("sqlite-memory", "postgres").items():
        ids = save_all(door, saved)
        for reader in readers:
            mine = {id for id, (owner, room) in zip(ids, saved, strict=True) if may_read(reader, owner, room)}
            for way, found in ways_to_read(door.as_caller(reader), ids).items():
                assert found == mine, f"{reader} reads by {way} on {name}"


def save_all(door: OnRecord, saved: list[tuple[Caller, dict[str, Any]]]) -> list[str]:
    """Each under an id that no other tenant uses, so that an id alone says which memory is meant."""
    ids = []
    for number, (owner, room) in enumerate(saved):
        made = door.as_caller(owner).remember(
            f"oat {number}", id=f"m{number}" if room["scope"] != "global" else f"global:m{number}", **room
        )
        assert made.outcome == "created"
        ids.append(made.memory.id)
    return ids


CHANGES: dict[str, Callable[[OnRecord, str], Any]] = {
    "revise": lambda door, id: door.revise(id, content="changed"),
    "retire": lambda door, id: door.retire(id),
    "forget": lambda door, id: door.forget(id),
    "save onto": lambda door, id: door.remember("changed", id=id),
    "supersede": lambda door, id: door.remember(
        "changed", supersedes=[id], scope="global" if id.startswith("global:") else "tenant"
    ),
}


@settings(max_examples=tries(20, soaking=250))
@given(save=saves(), caller=callers(), way=st.sampled_from(sorted(CHANGES)))
def test_a_caller_changes_what_they_may_and_learns_nothing_of_the_rest(
    stores: Stores, save: tuple[Caller, dict[str, Any]], caller: Caller, way: str
) -> None:
    for name, door in stores.emptied("sqlite-memory").items():
        (id,) = save_all(door, [save])
        owner = door.as_caller(save[0])
        before = owner.history(id)
        error = outcome(OnRecordError, CHANGES[way], door.as_caller(caller), id)
        case = f"{way} by {caller} on {name}: {error}"
        if may_change(caller, *save):
            assert not isinstance(error, OnRecordError), case
            assert way == "forget" or owner.history(id) != before, case
            continue
        assert owner.history(id) == before, case
        elsewhere = caller.tenant != save[0].tenant and not id.startswith("global:")
        if way == "save onto" and elsewhere:
            assert not isinstance(error, OnRecordError), (
                f"an id is free in every tenant that does not hold it: {case}"
            )
        elif way not in ("save onto", "supersede") and not may_read(caller, *save):
            assert type(error) is NotFound, case
            unknown = outcome(OnRecordError, CHANGES[way], door.as_caller(caller), "unknown")
            assert str(error).replace(id, "unknown") == str(unknown), case
        else:
            assert isinstance(error, OnRecordError), case
            assert not isinstance(error, Forbidden) or may_read(caller, *save), case


@settings(max_examples=tries(10, soaking=100))
@given(one=saves(), other=saves(), caller=callers())
def test_an_edge_needs_both_ends_to_be_seen_and_its_source_to_be_changeable(
    stores: Stores, one: tuple[Caller, dict[str, Any]], other: tuple[Caller, dict[str, Any]], caller: Caller
) -> None:
    for name, door in stores.emptied("sqlite-memory").items():
        source, target = save_all(door, [one, other])
        error = outcome(OnRecordError, door.as_caller(caller).relate, source, "supports", target)
        case = f"relate by {caller} on {name}: {error}"
        together = source.startswith("global:") == target.startswith("global:")
        if not (may_read(caller, *one) and may_read(caller, *other) and together):
            assert type(error) is NotFound, case
        elif not may_change(caller, *one):
            assert type(error) is Forbidden, case
        else:
            assert error.created, case


@settings(max_examples=tries(10, soaking=100))
@given(save=saves(), caller=callers())
def test_pinning_to_a_conversation_hides_nothing(
    stores: Stores, save: tuple[Caller, dict[str, Any]], caller: Caller
) -> None:
    owner, room = save
    if room["scope"] == "session":
        return
    for name, door in stores.emptied("sqlite-memory").items():
        pinned = save_all(door, [(owner, room | {"conversation": "c1"})])
        seen = {memory.id for memory in door.as_caller(caller).browse().memories}
        assert seen == (set(pinned) if may_read(caller, owner, room) else set()), name


def test_the_keeper_of_these_tests_is_no_admin_elsewhere(stores: Stores) -> None:
    """The other tests here rely on it: an admin of one tenant is nobody in another."""
    for door in stores.emptied("sqlite-memory").values():
        door.remember("oat")
        stranger = door.as_caller(Caller(tenant="umbra", user=KEEPER.user, permissions=KEEPER.permissions))
        assert stranger.browse().memories == ()
