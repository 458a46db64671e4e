"""Does a save merge exactly what it should, and a change touch exactly what was given?

Of one store: that PostgreSQL agrees with it on every save and every change is asked in test_time_machine.py.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord
from onrecord.errors import Invalid, VersionConflict
from onrecord.text import term_set
from tests.soak import tries

from .conftest import START, Stores, outcome

WORDS = (
    "oat",
    "milk",
    "lamp",
    "river",
    "cloud",
    "zebra",
    "order_id",
    "mydb.orders",
    "数据",
    "the",
    "of",
    "Café",
)
hints = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8, unique=True).map(" ".join)


def hour(number: int) -> datetime:
    return START + timedelta(hours=number)


def jaccard(left: str, right: str) -> float:
    """By counting, one word after the other."""
    one, other = term_set(left), term_set(right)
    shared = sum(1 for word in one if word in other)
    return shared / (len(one) + len(other) - shared)


# -- dedupe -------------------------------------------------------------------------------------------------


@settings(max_examples=tries(10, soaking=100))
@given(first=hints, second=hints)
@example("oat milk lamp", "oat milk lamp river cloud")  # 3 of 5: exactly at the border
@example("oat milk lamp river", "oat milk lamp cloud")  # 3 of 5 as well
@example("oat milk", "oat lamp")
@example("the of", "of the")
def test_hints_are_merged_when_six_of_ten_words_are_shared(stores: Stores, first: str, second: str) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember("one content", hint=first)
    second_time = door.remember("another content", hint=second)
    alike = jaccard(first, second)
    assert (second_time.outcome == "updated") == (alike >= 0.6), f"{alike} alike"
    if second_time.outcome == "updated":
        told = door.history("1").versions
        assert [version.memory.content for version in told] == ["one content", "another content"]


@settings(max_examples=tries(10, soaking=100))
@given(earlier=st.lists(hints, min_size=1, max_size=6, unique=True), hint=hints)
def test_of_several_alike_the_most_alike_is_updated_and_of_equals_the_oldest(
    stores: Stores, earlier: list[str], hint: str
) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    for number, each in enumerate(earlier):
        door.remember(f"content {number}", hint=each, dedupe=False)
    answer = door.remember("fresh content", hint=hint)
    scores = [jaccard(each, hint) for each in earlier]
    best = scores.index(max(scores)) + 1
    expected = str(best) if max(scores) >= 0.6 else str(len(earlier) + 1)
    assert answer.memory.id == expected, scores


@settings(max_examples=tries(10, soaking=100))
@given(contents=st.lists(st.sampled_from(["oat", "oat ", "Oat", "oat milk", "öat", "o\u0308at"]), max_size=8))
def test_identical_content_is_one_row_and_different_content_without_a_hint_never_merges(
    stores: Stores, contents: list[str]
) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    outcomes = [door.remember(content).outcome for content in contents]
    assert outcomes == [
        "unchanged" if content in contents[:place] else "created" for place, content in enumerate(contents)
    ]
    assert {memory.content for memory in door.browse().memories} == set(contents)
    assert all(memory.version == 1 for memory in door.browse().memories)


ROOMS: list[dict[str, Any]] = [
    {"scope": "tenant"},
    {"scope": "user"},
    {"scope": "session"},
    {"scope": "persona", "persona": "dba"},
    {"scope": "persona", "persona": "analyst"},
    {"scope": "system", "system": "billing"},
    {"scope": "system", "system": "hr"},
]
BASIC = {"memory.read", "memory.manage"}
WRITERS = [
    Caller(
        tenant="acme",
        user=user,
        personas={"dba", "analyst"},
        systems={"billing": grant, "hr": "read"},
        conversation="c1",
        actor=actor,
        permissions=rules,
    )
    for user, grant, actor, rules in (
        ("ann", "read", "person", BASIC),
        ("bob", "manage", "person", BASIC),
        ("ann", "read", "unattended", BASIC),
        ("bob", "manage", "unattended", BASIC),
        ("root", "read", "person", BASIC | {"memory.admin"}),
    )
]
writers = st.sampled_from(WRITERS)
rooms = st.sampled_from(ROOMS)


@settings(max_examples=tries(12, soaking=160))
@given(first=writers, room=rooms, second=writers, elsewhere=st.none() | rooms, by_hint=st.booleans())
@example(first=WRITERS[0], room=ROOMS[0], second=WRITERS[4], elsewhere=None, by_hint=False)
@example(first=WRITERS[0], room=ROOMS[5], second=WRITERS[1], elsewhere=None, by_hint=True)
def test_only_the_same_room_owner_and_waiting_merge(
    stores: Stores,
    first: Caller,
    room: dict[str, Any],
    second: Caller,
    elsewhere: dict[str, Any] | None,
    by_hint: bool,
) -> None:
    there = elsewhere or room
    manages = there["scope"] == "system" and (second.is_admin or second.manages(there["system"]))
    waits = [
        who.actor == "unattended" and where["scope"] not in ("user", "session")
        for who, where in ((first, room), (second, there))
    ]
    merges = room == there and waits[0] == waits[1] and (first.user == second.user or manages)
    # What a person wrote is left alone by a run, which proposes another text.
    merges = merges and not (by_hint and (first.actor, second.actor) == ("person", "unattended"))
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.as_caller(first).remember("oat milk", hint="what to drink", **room)
    content = "oat milk, cold" if by_hint else "oat milk"
    answer = door.as_caller(second).remember(content, hint="what to drink", **there)
    assert (answer.memory.id == "1") == merges, answer.outcome
    assert answer.memory.owner == (first if merges else second).user


@settings(max_examples=tries(8, soaking=80))
@given(
    how=st.sampled_from([{"id": "mine"}, {"dedupe": False}, {"supersedes": ["other"]}]), retired=st.booleans()
)
def test_a_save_that_says_where_it_goes_never_merges(
    stores: Stores, how: dict[str, Any], retired: bool
) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember("lamp", id="other")
    door.remember("oat milk", hint="what to drink")
    if retired:
        door.retire("1")
    assert door.remember("oat milk", hint="what to drink", **how).outcome == "created"
    plain = door.remember("river", hint="what to drink")
    assert plain.outcome == "updated", "the newest of them is live and alike"
    assert plain.memory.id != "1" or not retired, "what is retired never matches"


# -- supersede and move ------------------------------------------------------------------------------------


@settings(max_examples=tries(10, soaking=100))
@given(begins=st.integers(-3, 3), given_again=st.none() | st.integers(-3, 3), old=st.integers(-3, 3))
def test_what_is_superseded_ends_when_its_successor_begins_and_never_in_the_future(
    stores: Stores, begins: int, given_again: int | None, old: int
) -> None:
    """The successor may have been there before, with a beginning that this save does not mention."""
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember("oat", id="new", valid_from=hour(begins))
    door.remember("milk", id="old", valid_from=hour(old))
    again = {} if given_again is None else {"valid_from": hour(given_again)}
    answer = outcome(Invalid, door.remember, "oat", id="new", supersedes=["old"], **again)
    begins_at = hour(begins if given_again is None else given_again)
    assert isinstance(answer, Invalid) == (begins_at > START)
    ended = None if begins_at > START else max(begins_at, hour(old))
    assert door.show("old").memory.valid_to == ended


@settings(max_examples=tries(6, soaking=64))
@given(
    actor=st.sampled_from(["person", "agent", "unattended"]),
    rooms=st.lists(st.sampled_from(ROOMS), min_size=2, max_size=4),
)
def test_what_an_unattended_run_shows_to_others_waits_even_if_it_began_as_its_own_note(
    stores: Stores, actor: Any, rooms: list[dict[str, Any]]
) -> None:
    caller = replace(WRITERS[1], actor=actor)
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    shown = False
    for number, room in enumerate(rooms):
        memory = door.as_caller(caller).remember(f"oat {number}", id="a", **room).memory
        shown = shown or room["scope"] not in ("user", "session")
        assert memory.status == ("pending" if shown and actor == "unattended" else "active")
        assert (memory.scope, memory.conversation) == (room["scope"], "c1")
        assert memory.persona == room.get("persona")
        assert memory.system == room.get("system")
    assert door.doctor().healthy


# -- retire -------------------------------------------------------------------------------------------------


@settings(max_examples=tries(6, soaking=60))
@given(
    begins=st.integers(-3, 3),
    ends=st.none() | st.integers(-4, 4),
    again=st.lists(st.none() | st.integers(-4, 4), max_size=3),
)
def test_a_second_retirement_changes_nothing_whatever_it_says(
    stores: Stores, begins: int, ends: int | None, again: list[int | None]
) -> None:
    assume(ends is None or begins <= ends <= 0)
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember("oat milk", id="a", valid_from=hour(begins))
    first = door.retire("a", at=None if ends is None else hour(ends), reason="gone")
    assert first.changed
    assert first.memory.valid_to == (max(START, hour(begins)) if ends is None else hour(ends))
    told = door.history("a")
    for hours in again:
        stores.tick()
        second = door.retire("a", at=None if hours is None else hour(hours), reason="really")
        assert (second.changed, second.memory) == (False, first.memory)
    assert door.history("a") == told


# -- revise -------------------------------------------------------------------------------------------------

BEFORE: dict[str, Any] = {
    "content": "oat milk",
    "title": "Drinks",
    "hint": "what to drink",
    "kind": "preference",
    "dimension": "event",
    "tags": ("drink", "cold"),
    "category": "kitchen",
    "confidence": "low",
    "source": "a talk",
    "metadata": {"cups": 2},
    "entities": ("thing:milk", "memory:7"),
    "query": {"select": 1},
    "artifact": "report.pdf",
    "conversation": "c1",
    "valid_from": START - timedelta(days=2),
    "verified_at": START - timedelta(days=1),
    "always_inject": True,
}
AFTER: dict[str, Any] = {
    "content": "soy milk",
    "title": "Beverages",
    "hint": "what not to drink",
    "kind": "decision",
    "dimension": "knowledge",
    "tags": ("warm",),
    "category": None,
    "confidence": "high",
    "source": None,
    "metadata": {},
    "entities": (),
    "query": "select 2",
    "artifact": None,
    "conversation": None,
    "valid_from": datetime(2026, 1, 1, tzinfo=UTC),
    "verified_at": None,
    "always_inject": False,
    "status": "stale",
    "status_reason": "seen spoilt",
}
subsets = st.sets(st.sampled_from(sorted(AFTER)))


def record_of(door: OnRecord, id: str) -> dict[str, Any]:
    memory = door.show(id).memory
    return {name: getattr(memory, name) for name in AFTER}


@settings(max_examples=tries(6, soaking=64))
@given(given_fields=subsets, same=subsets)
def test_only_what_is_given_changes(stores: Stores, given_fields: set[str], same: set[str]) -> None:
    """Some fields are given their old value: they are given, but they do not change."""
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember(id="a", **BEFORE)
    before = record_of(door, "a")
    asked = {field: before[field] if field in same else AFTER[field] for field in given_fields}
    stores.tick()
    answer = door.revise("a", **asked)
    changed = given_fields - same
    assert record_of(door, "a") == before | asked
    assert set(answer.changed) == changed
    assert answer.memory.version == (2 if changed else 1)
    assert answer.memory.updated_at == (stores.clock() if changed else START)
    assert len(door.history("a").versions) == answer.memory.version


@settings(max_examples=tries(6, soaking=60))
@given(given_fields=st.sets(st.sampled_from(sorted(set(BEFORE) - {"content"}))))
def test_saving_an_id_again_replaces_only_what_is_given(stores: Stores, given_fields: set[str]) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember(id="a", **BEFORE)
    before = record_of(door, "a")
    stores.tick()
    answer = door.remember(BEFORE["content"], id="a", **{field: AFTER[field] for field in given_fields})
    assert record_of(door, "a") == before | {field: AFTER[field] for field in given_fields}
    assert answer.outcome == ("updated" if given_fields else "unchanged")
    assert answer.memory.created_at == START


@settings(max_examples=tries(8, soaking=80))
@given(kinds=st.lists(st.sampled_from(["content", "hint", "title"]), min_size=1, max_size=4))
def test_a_title_that_nobody_chose_follows_the_text(stores: Stores, kinds: list[str]) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember("content 0", id="a")
    said: dict[str, str] = {"content": "content 0"}
    for number, kind in enumerate(kinds, 1):
        said[kind] = f"{kind} {number}"
        door.revise("a", **{kind: said[kind]})
        expected = said.get("title") or said.get("hint") or said["content"]
        assert door.show("a").memory.title == expected


@settings(max_examples=tries(10, soaking=100))
@given(steps=st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["oat", "soy", "rice"])), max_size=6))
def test_an_expected_version_that_has_passed_changes_nothing(
    stores: Stores, steps: list[tuple[int, str]]
) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember("milk", id="a")
    for expected, content in steps:
        before = door.show("a").memory
        answer = outcome(VersionConflict, door.revise, "a", content=content, expected_version=expected)
        assert isinstance(answer, VersionConflict) == (expected != before.version)
        after = before if isinstance(answer, VersionConflict) else answer.memory
        assert door.show("a").memory == after
