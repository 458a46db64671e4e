"""WHAT is attached to another tool's answer? What the caller may know of the things in it, newest first, once."""

from typing import Any

import pytest

from onrecord.model.limits import PERMISSIONS
from onrecord.service import OnRecord
from onrecord.store.index.entries import reference_facet
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, person, shown_ids

ORDERS = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)"
VISITS = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.visits,PROD)"


def attached(door: OnRecord, answer: Any, **more: Any) -> list[str]:
    return shown_ids(door.attach(answer, **more).memories)


class AttachConformance(Conformance):
    """Memories beside an answer."""

    @pytest.mark.parametrize(
        "answer",
        [
            {"urn": ORDERS},
            [{"rows": [[{"deep": [ORDERS]}]]}],
            {ORDERS: 3},
            f"No such column in {ORDERS}.",
            f"(see {ORDERS}, or ask)",
            f'{{"result": "{ORDERS}"}}',
        ],
    )
    def test_what_is_known_of_a_thing_is_told_wherever_it_is_mentioned(
        self, ann: OnRecord, answer: Any
    ) -> None:
        ann.remember("Refunds are negative", id="orders", entities=[ORDERS])
        ann.remember("Bots are in it", id="visits", entities=[VISITS])
        seen = ann.attach(answer)
        assert shown_ids(seen.memories) == ["orders"]
        assert seen.references == (ORDERS,)
        assert "Refunds are negative" in seen.text
        assert attached(ann, {}, arguments=answer) == ["orders"]

    @pytest.mark.parametrize("answer", [None, 7, "", [], {}, "nothing of ours", {"urn": "urn:li:"}])
    def test_an_answer_that_mentions_nothing_known_gets_nothing(self, ann: OnRecord, answer: Any) -> None:
        ann.remember("Refunds are negative", entities=[ORDERS])
        seen = ann.attach(answer)
        assert (seen.text, seen.tokens, seen.memories, seen.references) == ("", 0, (), ())

    def test_the_newest_of_each_thing_comes_first_in_the_order_of_mention(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        for id, urn in (("old", ORDERS), ("seen", VISITS), ("new", ORDERS)):
            ann.remember(f"note {id}", id=id, entities=[urn])
            clock.tick()
        assert attached(ann, [VISITS, ORDERS, VISITS]) == ["seen", "new", "old"]
        assert attached(ann, [VISITS], arguments=[ORDERS]) == ["new", "seen", "old"]
        clock.tick()
        ann.revise("old", content="it changed")
        assert attached(ann, [ORDERS, VISITS]) == ["old", "seen", "new"]
        found = ann.attach([ORDERS, VISITS], limit=1)
        assert (shown_ids(found.memories), found.omitted) == (["old"], ("seen", "new"))

    def test_nobody_is_told_what_is_not_for_their_eyes(self, ann: OnRecord) -> None:
        bob = ann.as_caller(person("bob"))
        bob.remember("his own", id="own", scope="user", entities=[ORDERS])
        bob.remember("for all", id="all", entities=[ORDERS])
        beta = ann.as_caller(person("ann", tenant="beta"))
        beta.remember("of beta", id="beta", entities=[ORDERS])
        admin = ann.as_caller(person("root", permissions=frozenset(PERMISSIONS), operator=True))
        admin.remember("for everyone", id="every", scope="global", entities=[ORDERS])
        assert attached(ann, ORDERS) == attached(admin, ORDERS) == ["all", "global:every"]
        assert attached(bob, ORDERS) == ["all", "global:every", "bob::own"]
        assert attached(beta, ORDERS) == ["beta", "global:every"]

    def test_what_waits_is_told_to_nobody_and_only_what_is_active_is_told(self, ann: OnRecord) -> None:
        robot = ann.as_caller(person("robot", actor="unattended", run="night"))
        assert robot.remember("proposed", id="waits", entities=[ORDERS]).memory.status == "pending"
        for id, status in (("stale", "stale"), ("archived", "archived")):
            ann.remember(f"note {id}", id=id, entities=[ORDERS])
            ann.revise(id, status="stale") if status == "stale" else ann.retire(id)
        reviewer = ann.as_caller(person("root", permissions=frozenset(PERMISSIONS)))
        for door in (ann, robot, reviewer):
            seen = door.attach(ORDERS)
            assert (seen.memories, seen.omitted, seen.references, seen.text) == ((), (), (), "")
        reviewer.approve("robot::waits")
        assert attached(ann, ORDERS) == ["robot::waits"]

    def test_the_same_text_is_told_once(self, ann: OnRecord) -> None:
        for id in ("a", "b"):
            ann.remember("Refunds are negative", id=id, entities=[ORDERS], dedupe=False)
        seen = ann.attach(ORDERS)
        assert (shown_ids(seen.memories), seen.omitted) == (["b"], ())

    def test_a_conversation_is_told_once_unless_it_changed(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("Refunds are negative", id="one", entities=[ORDERS])
        ann.remember("Bots are in it", id="two", entities=[VISITS])
        here = ann.as_caller(person(conversation="talk"))
        assert attached(here, ORDERS) == ["one"]
        again = ann.attach([ORDERS, VISITS], conversation="talk")
        assert (shown_ids(again.memories), again.repeated) == (["two"], ("one",))
        assert attached(here, [ORDERS, VISITS], again=True) == ["one", "two"]
        silent = here.attach([ORDERS, VISITS])
        assert (silent.text, silent.memories, silent.repeated) == ("", (), ("one", "two"))
        clock.tick()
        ann.revise("one", content="Refunds are positive")
        assert attached(here, [ORDERS, VISITS]) == ["one"]
        # In another conversation, and for another member, nothing of it was attached yet.
        assert attached(ann, ORDERS, conversation="other") == attached(ann, ORDERS) == ["one"]
        assert attached(ann.as_caller(person("bob", conversation="talk")), ORDERS) == ["one"]

    def test_a_conversation_that_was_begun_anew_is_told_again(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("Refunds are negative", id="one", entities=[ORDERS])
        ann.register_conversation("talk")
        assert attached(ann, ORDERS, conversation="talk") == ["one"]
        assert attached(ann, ORDERS, conversation="talk") == []
        ann.delete_conversation("talk")
        clock.tick()
        ann.register_conversation("talk")
        assert attached(ann, ORDERS, conversation="talk") == ["one"]

    def test_it_fits_its_tokens_and_at_least_one_is_told(self, ann: OnRecord) -> None:
        for id in ("a", "b", "c"):
            ann.remember(f"{id} is known. " + "It is so. " * 20, id=id, title=id, entities=[ORDERS])
        everything = ann.attach(ORDERS)
        assert (len(everything.memories), everything.omitted) == (3, ())
        some = ann.attach(ORDERS, max_tokens=everything.tokens - 1)
        assert (shown_ids(some.memories), some.omitted) == (["c", "b"], ("a",))
        assert some.tokens < everything.tokens
        assert "#a" in some.text
        ann.remember("long " * 10_000, id="long", title="long", entities=[VISITS])
        for most in (0, 300):
            cut = ann.attach(VISITS, max_tokens=most)
            assert shown_ids(cut.memories) == ["long"]
            assert "(cut; read #long for the rest)" in cut.text
        assert cut.tokens <= 300

    def test_the_newest_under_each_name_are_found_by_their_place_in_the_list(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        for number in range(6):
            ann.remember(f"note {number}", id=f"m{number}", entities=[f"thing:{number % 3}"])
        facets = [reference_facet(f"thing:{number}") for number in (2, 7, 0, 1)]
        with store.reading(ann.caller, clock()) as reading:
            found = [(name[-1], memory.id) for name, memory in reading.newest(facets, each=2, most=5)]
            assert found == [("2", "m5"), ("0", "m3"), ("1", "m4"), ("2", "m2"), ("0", "m0")]
            assert reading.newest([], each=1, most=1) == []
            assert [each.id for _, each in reading.newest(facets, each=1, most=9)] == ["m5", "m3", "m4"]
