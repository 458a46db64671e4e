"""WHO sees old versions? Sharing a memory with more people shows them its present text; its older texts stay hidden from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import pytest

from onrecord.errors import Conflict, NotFound
from onrecord.service import OnRecord
from onrecord.testing.builders import (
    MOMENT,
    START,
    Clock,
    Conformance,
    administrator,
    person,
    written,
)

_BEFORE_ALL: Final = START - MOMENT
#: Where a memory is saved, another caller who sees it there, and one of the same tenant who does not.
_ROOMS: Final[dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]] = {
    "user": ({"scope": "user"}, {}, {"permissions": {"memory.read", "memory.review"}}),
    "persona": ({"scope": "persona", "persona": "chef"}, {"personas": {"chef"}}, {"personas": {"baker"}}),
    "system": (
        {"scope": "system", "system": "crm"},
        {"systems": {"crm": "read"}},
        {"systems": {"erp": "read"}},
    ),
    "every system": ({"scope": "system", "system": "crm"}, {"systems": {"*": "read"}}, {"personas": {"crm"}}),
    "session": ({"scope": "session"}, {"conversation": "~ann/talk"}, {"conversation": "~ann/talk"}),
}
#: What is called `k` by Ann, who began it for herself.
_K: Final = "ann::k"
_ANN: Final = person("ann", personas={"chef"}, systems={"crm": "manage"}, conversation="talk")


class PastConformance(Conformance):
    """Each caller sees the versions of a memory since it was shared with that caller."""

    @pytest.mark.parametrize("room", _ROOMS)
    def test_widening_publishes_the_present_text_alone(self, ann: OnRecord, clock: Clock, room: str) -> None:
        placed, inside, outside = _ROOMS[room]
        ann = ann.as_caller(_ANN)
        ann.register_conversation("talk")
        ann.share_conversation("talk", "carol")
        moments = _widened(ann, clock, placed)
        for caller in (person("bob", **outside), person("bob")):
            # When the first, the last secret and the last open text stood.
            assert _leaks(ann.as_caller(caller), moments[::2]) == [], caller
            assert _numbers(ann.as_caller(caller)) == [4, 5]
        seen_by = (_ANN, person("ann"), administrator(), *([person("carol", **inside)] if inside else []))
        # The versions in a system are for those who may read the system, and not for their author as such.
        readers = [each for each in seen_by if each != person("ann") or placed["scope"] != "system"]
        for caller in readers:
            assert _numbers(ann.as_caller(caller)) == [1, 2, 3, 4, 5], caller
            assert set(_leaks(ann.as_caller(caller), moments)) == set(_WAYS), caller

    def test_what_checks_found_before_a_widening_stays_with_its_owner(
        self, ann: OnRecord, root: OnRecord, clock: Clock
    ) -> None:
        ann.remember("a plan", id="k", scope="user")
        root.add_check(_K, kind="entity", entity="thing:plan")
        clock.tick()
        root.check(_K)
        clock.tick()
        ann.remember("a plan", id="k", scope="tenant")
        bob, numbers = ann.as_caller(person("bob")), list[list[int]]()
        for _ in range(2):
            numbers.append([len(door.checks(_K).runs) for door in (ann, root, bob)])
            clock.tick()
            root.check(_K)
        assert numbers == [[1, 1, 0], [2, 2, 1]]

    def test_what_was_taken_back_does_not_return_with_the_next_widening(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        for content, scope in (("open", "tenant"), ("closed", "user"), ("open again", "tenant")):
            ann.remember(content, id="k", scope=scope)
            clock.tick()
        bob = ann.as_caller(person("bob"))
        assert [each.memory.content for each in bob.history("k").versions] == ["open again"]
        ann.remember(id="k", content="closed again", scope="user")
        with pytest.raises(NotFound, match="No memory k that you can see"):
            bob.history("k")

    def test_before_a_widening_it_did_not_exist_until_then(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("closed", id="k", scope="user")
        widened = clock.tick()
        ann.remember("open", id="k", scope="tenant")
        with pytest.raises(NotFound) as refused:
            ann.as_caller(person("bob")).show(_K, known_at=widened - MOMENT)
        assert f"recorded on {widened.isoformat()}" in str(refused.value)

    def test_whoever_erases_a_memory_is_told_of_no_past_that_is_anothers(self, ann: OnRecord) -> None:
        ann = ann.as_caller(_ANN)
        manager = ann.as_caller(person("bob", systems={"crm": "manage"}))
        for door, versions in ((manager, 1), (ann, 2)):
            ann.remember("mine", id="k", scope="user")
            ann.remember("for all of it", id="k", scope="system", system="crm")
            assert door.forget(_K, dry_run=True).versions == versions
            assert door.forget(_K).versions == versions

    def test_changes_at_one_moment_are_told_apart_all_the_same(self, ann: OnRecord) -> None:
        for content, scope in (
            ("zqsecret", "user"),
            ("zqsecret too", "user"),
            ("open", "tenant"),
            ("more", "tenant"),
        ):
            ann.remember(content, id="k", scope=scope)
        assert _numbers(ann.as_caller(person("bob"))) == [3, 4]

    def test_a_moment_of_change_is_told_to_those_who_see_that_change(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        moments = _widened(ann, clock, {"scope": "user"})
        written = sorted({each.at for each in ann.history("k").versions}, reverse=True)
        assert list(ann.moments().moments) == written
        assert len(written) == len(moments)
        bob = ann.as_caller(person("bob"))
        seen = [each.at for each in reversed(bob.history("k").versions)]
        assert list(bob.moments().moments) == seen
        assert list(bob.moments(limit=1).moments) == seen[:1]
        assert list(bob.moments(before=seen[0]).moments) == seen[1:]
        ann.forget("k")
        assert ann.moments().moments == bob.moments().moments == ()

    def test_what_waited_is_told_from_its_approval_on(self, ann: OnRecord, clock: Clock) -> None:
        waiting = ann.as_caller(person("nightly", actor="unattended", run="r"))
        saved = waiting.remember("zqsecret draft", scope="tenant").memory
        clock.tick()
        waiting.revise(saved.id, content="a fit draft")
        clock.tick()
        reviewer = ann.as_caller(person("rose", permissions={"memory.read", "memory.review"}))
        reviewer.approve(saved.id)
        for door, numbers in ((ann, [3]), (waiting, [1, 2, 3]), (reviewer, [1, 2, 3])):
            assert [each.number for each in door.history(saved.id).versions] == numbers, door.caller

    def test_an_edge_of_before_is_told_to_those_who_saw_both_ends(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("open", id="open")
        ann.remember("zqsecret", id="k", scope="user")
        drawn = clock.tick()
        ann.relate("open", "supports", "k")
        stood = clock.tick()
        ann.unrelate("open", "supports", "k")
        gone = clock.tick()
        ann.remember("shown", id="k", scope="tenant")
        clock.tick()
        for door, edges in ((ann, 1), (ann.as_caller(person("bob")), 0)):
            assert len(door.diff(drawn - MOMENT, until=stood - MOMENT).related) == edges
            assert len(door.diff(stood - MOMENT, until=gone).unrelated) == edges
            assert len(door.neighbours("open", known_at=stood - MOMENT).edges) == edges

    def test_what_was_proposed_before_a_widening_is_approved_by_whoever_saw_what_it_is_about(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        """A reviewer who may not see the text of that time gets the error that the memory has changed since."""
        reviews = {"memory.read", "memory.manage", "memory.review"}
        rose, robin = (
            ann.as_caller(person(name, permissions=reviews, systems=systems))
            for name, systems in (("rose", {"crm": "read", "erp": "read"}), ("robin", {"erp": "read"}))
        )
        ann = ann.as_caller(person("ann", systems={"*": "manage"}))
        for id in ("seen", "unseen"):
            ann.remember(f"{id} plan", id=id, scope="system", system="crm")
            clock.tick()
            agent = ann.as_caller(person("bot", actor="agent", systems={"*": "manage"}))
            proposal = agent.revise(f"ann::{id}", content=f"{id} plan, bettered").proposal
            assert proposal is not None
            ann.remember(f"{id} plan", id=id, scope="system", system="erp")
            agent.remember(proposal.content, id=proposal.id, scope="system", system="erp")
            clock.tick()
            if id == "seen":
                assert rose.approve(proposal.id).memory.content == "seen plan, bettered"
            else:
                with pytest.raises(Conflict, match="has changed since this was proposed"):
                    robin.approve(proposal.id)


def _widened(ann: OnRecord, clock: Clock, placed: dict[str, Any]) -> list[datetime]:
    """Save a memory with three texts for few callers, then with two for the whole tenant; returns the time of each."""
    moments = []
    for content, more in (
        ("zqsecret plan", placed),
        ("zqsecret second plan", {}),
        ("zqsecret third plan", {}),
        ("a plan for all", {"scope": "tenant"}),
        ("a better plan for all", {}),
    ):
        ann.remember(content, id="k", entities=["thing:plan"], **more)
        moments.append(clock.now)
        clock.tick()
    return moments


def _numbers(door: OnRecord) -> list[int]:
    return [each.number for each in door.history(_K).versions]


def _leaks(door: OnRecord, moments: Sequence[datetime]) -> list[str]:
    """The questions whose answer contains the secret."""
    return [
        way
        for way, ask in _WAYS.items()
        if any("zqsecret" in written(outcome) for outcome in _outcomes(ask, door, moments))
    ]


def _outcomes(
    ask: Callable[[OnRecord, datetime], Any], door: OnRecord, moments: Sequence[datetime]
) -> Iterator[Any]:
    for moment in moments:
        try:
            yield ask(door, moment)
        except NotFound as refusal:
            yield str(refusal)


_WAYS: Final[Mapping[str, Callable[[OnRecord, datetime], Any]]] = {
    "history": lambda door, moment: door.history(_K),
    "show": lambda door, moment: door.show(_K, known_at=moment),
    "neighbours": lambda door, moment: door.neighbours(_K, known_at=moment),
    "browse": lambda door, moment: door.browse(known_at=moment),
    "browse what was true": lambda door, moment: door.browse(known_at=moment, as_of=moment),
    "recall": lambda door, moment: [hit.memory for hit in door.recall("zqsecret", known_at=moment).hits],
    "recall by what it is about": lambda door, moment: [
        hit.memory for hit in door.recall("plan", entities=["thing:plan"], known_at=moment).hits
    ],
    "diff since": lambda door, moment: door.diff(moment),
    "diff until": lambda door, moment: door.diff(_BEFORE_ALL, until=moment),
}
