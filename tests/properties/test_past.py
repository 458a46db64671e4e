"""Is each caller told exactly what a memory said while it was for them, however often it was widened and narrowed?"""

from datetime import datetime
from itertools import takewhile
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord
from onrecord.errors import NotFound
from tests.soak import tries

from .conftest import Stores, outcome
from .test_scopes import CONVERSATIONS, PERSONAS, SYSTEMS, USERS, callers, may_read

Room = dict[str, Any]
rooms: st.SearchStrategy[Room] = st.one_of(
    st.just({"scope": "tenant"}),
    st.just({"scope": "tenant"}),
    st.just({"scope": "user"}),
    st.sampled_from(PERSONAS).map(lambda name: {"scope": "persona", "persona": name}),
    st.sampled_from(SYSTEMS).map(lambda name: {"scope": "system", "system": name}),
    st.sampled_from(CONVERSATIONS).map(lambda name: {"scope": "session", "conversation": name}),
)
#: Each change goes somewhere, and may come at the same moment as the one before.
changes = st.lists(st.tuples(rooms, st.booleans()), min_size=2, max_size=6)


def saw(caller: Caller, owner: Caller, room: Room) -> bool:
    """Who was told: those for whom it was, and whose it is, unless it was a system's."""
    is_own = caller.user == owner.user and caller.tenant == owner.tenant and room["scope"] != "system"
    return is_own or may_read(caller, owner, room)


def told_to(caller: Caller, owner: Caller, past: list[Room]) -> list[int]:
    """The numbers of the versions back to the first, from the last, that was not for the caller."""
    if not may_read(caller, owner, past[-1]):
        return []
    since = list(takewhile(lambda room: saw(caller, owner, room), reversed(past)))
    return list(range(len(past) - len(since) + 1, len(past) + 1))


@settings(max_examples=tries(6, soaking=200))
@given(user=st.sampled_from(USERS), changes=changes, readers=st.lists(callers(), min_size=1, max_size=3))
def test_a_caller_is_told_the_past_since_it_was_for_them_and_no_more(
    stores: Stores, user: str, changes: list[tuple[Room, bool]], readers: list[Caller]
) -> None:
    owner = Caller(tenant="acme", user=user, permissions={"memory.admin"})
    past = [room for room, _ in changes]
    for name, door in stores.emptied("sqlite-memory", "postgres").items():
        stood = _happened(stores, door.as_caller(owner), changes)
        for reader in readers:
            told = told_to(reader, owner, past)
            expected = {moment: number for moment, number in stood.items() if number in told}
            case = f"{reader} on {name}"
            assert _numbers(door.as_caller(reader)) == told, case
            for way, found in _known(door.as_caller(reader), list(stood)).items():
                assert found == expected, f"{way} by {case}"
            for since in stood:
                until, now = max(stood), expected.get(max(stood))
                moved = now is not None and now != stood[since]
                difference = [(expected.get(since), now)] if moved else []
                assert _differences(door.as_caller(reader), since, until) == difference, f"diff by {case}"


def _happened(stores: Stores, door: OnRecord, changes: list[tuple[Room, bool]]) -> dict[datetime, int]:
    """What happened to one memory; which version stood at each moment."""
    stood = {}
    for number, (room, ticks) in enumerate(changes, 1):
        if ticks:
            stores.tick()
        door.remember(f"oat {number}", id="k", **room)
        stood[stores.now] = number
    return stood


def _numbers(door: OnRecord) -> list[int]:
    told = outcome(NotFound, door.history, "k")
    return [] if isinstance(told, NotFound) else [each.number for each in told.versions]


def _known(door: OnRecord, moments: list[datetime]) -> dict[str, dict[datetime, int]]:
    """Which version is told of each moment, by every way to ask."""

    def shown(moment: datetime) -> list[int]:
        found = outcome(NotFound, door.show, "k", known_at=moment)
        return [] if isinstance(found, NotFound) else [found.memory.version]

    ways = {
        "show": shown,
        "browse": lambda moment: [each.version for each in door.browse(known_at=moment).memories],
        "recall": lambda moment: [hit.memory.version for hit in door.recall("oat", known_at=moment).hits],
    }
    return {
        way: {moment: number for moment in moments for number in ask(moment)} for way, ask in ways.items()
    }


def _differences(door: OnRecord, since: datetime, until: datetime) -> list[tuple[int | None, int]]:
    found = door.diff(since, until=until).memories
    return [(each.before and each.before.version, each.after.version) for each in found]
