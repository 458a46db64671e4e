"""WHAT was true at a time, and what did the store know then? `as_of`, `known_at`, history, and clocks that go backwards."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from onrecord.errors import Invalid, NotFound
from onrecord.model.memory import Change
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

DAY = timedelta(days=1)


class TrueThenConformance(Conformance):
    """`as_of`: what was true at a time."""

    @pytest.fixture
    def ferries(self, ann: OnRecord) -> OnRecord:
        """One memory that was true from ten to five days ago, and one that is still true."""
        ann.remember("the ferry goes hourly", id="past", valid_from=START - 10 * DAY)
        ann.remember("the ferry is white", id="always", valid_from=START - 100 * DAY)
        ann.relate("always", "supports", "past")
        ann.retire("past", at=START - 5 * DAY)
        return ann

    @pytest.mark.parametrize(
        ("moment", "true"),
        [
            (START - 10 * DAY - MOMENT, False),
            (START - 10 * DAY, True),
            (START - 5 * DAY - MOMENT, True),
            (START - 5 * DAY, False),
            (START, False),
        ],
    )
    def test_a_window_holds_its_first_moment_and_not_its_last(
        self, ferries: OnRecord, moment: datetime, true: bool
    ) -> None:
        expected = ["past"] if true else []
        assert [id for id in browsed(ferries, as_of=moment) if id == "past"] == expected
        assert [id for id in recalled(ferries, "ferry", as_of=moment) if id == "past"] == expected
        assert len(around(ferries, "always", as_of=moment)) == len(expected)
        assert len(ferries.show("always", as_of=moment).edges) == len(expected)
        if true:
            assert ferries.show("past", as_of=moment).memory.status == "archived"
            assert len(around(ferries, "past", as_of=moment)) == 1
        else:
            for read in (ferries.show, ferries.neighbours):
                with pytest.raises(NotFound, match="did not exist at that time"):
                    read("past", as_of=moment)

    def test_a_window_of_no_length_is_never_true(self, ferries: OnRecord) -> None:
        ferries.remember("never true", id="never")
        ferries.retire("never", at=START)
        for moment in (START - MOMENT, START, START + MOMENT):
            assert "never" not in browsed(ferries, as_of=moment)

    def test_what_becomes_true_later_is_listed_from_that_moment_on(
        self, ferries: OnRecord, clock: Clock
    ) -> None:
        ferries.remember("soon", id="soon", valid_from=START + DAY)
        for now, listed in ((START + DAY - MOMENT, False), (START + DAY, True)):
            clock.now = now
            assert ("soon" in browsed(ferries)) is listed
            assert ("soon" in recalled(ferries, "soon")) is listed
        clock.now = START
        assert ferries.show("soon").memory.id == "soon"
        assert "soon" in browsed(ferries, as_of=START + DAY)

    def test_what_waits_for_review_was_never_true(self, ferries: OnRecord) -> None:
        ferries.as_caller(person(actor="unattended")).remember("the ferry sank", id="rumour")
        rumour = "ann::rumour"
        assert rumour not in browsed(ferries, as_of=START) + recalled(ferries, "ferry", as_of=START)
        with pytest.raises(NotFound):
            ferries.show(rumour, as_of=START)
        assert ferries.show(rumour).memory.status == "pending"
        assert (
            browsed(ferries, statuses=["pending"])
            == recalled(ferries, "ferry", statuses=["pending"])
            == [rumour]
        )

    def test_what_has_gone_stale_was_true(self, ferries: OnRecord) -> None:
        ferries.revise("always", status="stale")
        assert browsed(ferries) == []
        assert browsed(ferries, as_of=START) == ["always"]

    def test_a_revision_corrects_what_was_true(self, ferries: OnRecord, clock: Clock) -> None:
        clock.tick()
        ferries.revise("always", content="the ferry is blue")
        assert ferries.show("always", as_of=START - 50 * DAY).memory.content == "the ferry is blue"
        assert recalled(ferries, "white", as_of=START - 50 * DAY) == []

    def test_statuses_and_a_time_narrow_together(self, ferries: OnRecord) -> None:
        assert browsed(ferries, statuses=["archived"], as_of=START - 7 * DAY) == ["past"]
        assert browsed(ferries, statuses=["archived"], as_of=START) == []
        assert recalled(ferries, "ferry", statuses=["archived"], as_of=START - 7 * DAY) == ["past"]
        assert recalled(ferries, "ferry", statuses=["archived"], as_of=START) == []

    @pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
    def test_the_ends_of_time_can_be_asked_for(self, ferries: OnRecord, moment: datetime) -> None:
        expected = ["always"] if moment.year > 1 else []
        assert browsed(ferries, as_of=moment) == recalled(ferries, "white", as_of=moment) == expected
        assert browsed(ferries, known_at=moment) == expected
        assert len(ferries.diff(moment).memories) == (0 if expected else 2)

    def test_a_time_in_another_zone_is_the_same_time(self, ferries: OnRecord) -> None:
        moment = (START - 10 * DAY).astimezone(timezone(timedelta(hours=9, minutes=30)))
        assert "past" in browsed(ferries, as_of=moment)
        assert "past" not in browsed(ferries, as_of=moment - MOMENT)


class KnownThenConformance(Conformance):
    """`known_at`: what the store held at a time."""

    @pytest.fixture
    def lamps(self, ann: OnRecord, clock: Clock) -> OnRecord:
        """A memory that was saved at START, revised one second later and retired after another second."""
        ann.remember("the lamp is red", id="k", tags=["old"], entities=["thing:old"])
        ann.remember("another lamp", id="other")
        ann.relate("other", "supports", "k")
        clock.tick()
        ann.revise("k", content="the lamp is green", tags=["new"], entities=["thing:new"])
        ann.unrelate("other", "supports", "k")
        clock.tick()
        ann.retire("k")
        clock.tick()
        return ann

    def test_nothing_is_known_before_it_was_saved(self, lamps: OnRecord) -> None:
        before = START - MOMENT
        assert browsed(lamps, known_at=before) == recalled(lamps, "lamp", known_at=before) == []
        for read in (lamps.show, lamps.neighbours):
            with pytest.raises(NotFound, match="did not exist at that time"):
                read("k", known_at=before)

    @pytest.mark.parametrize(
        ("after", "content"),
        [
            (timedelta(0), "the lamp is red"),
            (timedelta(seconds=1) - MOMENT, "the lamp is red"),
            (timedelta(seconds=1), "the lamp is green"),
            (timedelta(seconds=2) - MOMENT, "the lamp is green"),
        ],
    )
    def test_a_version_holds_from_its_change_to_the_next(
        self, lamps: OnRecord, after: timedelta, content: str
    ) -> None:
        moment = START + after
        shown = lamps.show("k", known_at=moment).memory
        assert (shown.content, shown.status, shown.valid_to) == (content, "active", None)
        (listed,) = [memory for memory in lamps.browse(known_at=moment).memories if memory.id == "k"]
        assert listed == shown
        (hit,) = [hit for hit in lamps.recall("lamp", known_at=moment).hits if hit.memory.id == "k"]
        assert hit.memory == shown

    def test_a_search_finds_the_words_that_were_known_then_and_no_others(self, lamps: OnRecord) -> None:
        assert recalled(lamps, "red", known_at=START) == ["k"]
        assert recalled(lamps, "green", known_at=START) == []
        assert recalled(lamps, "red", known_at=START + timedelta(seconds=1)) == []
        assert recalled(lamps, "green", known_at=START + timedelta(seconds=1)) == ["k"]
        assert recalled(lamps, "red") == recalled(lamps, "green") == []

    def test_old_and_new_are_ranked_alike(self, lamps: OnRecord, clock: Clock) -> None:
        """Old versions are scored outside the index, and get the same scores."""
        known = clock.now
        lamps.remember("a lamp of brass", id="twin", dedupe=False)
        lamps.remember("a lamp of brass", id="changed", dedupe=False)
        clock.tick()
        lamps.revise("changed", source="a catalogue")
        scores = {hit.memory.id: hit.score for hit in lamps.recall("brass lamp", known_at=known).hits}
        assert scores["twin"] == scores["changed"]

    def test_lists_show_what_was_active_then(self, lamps: OnRecord) -> None:
        assert "k" in browsed(lamps, known_at=START + timedelta(seconds=2) - MOMENT)
        assert "k" not in browsed(lamps, known_at=START + timedelta(seconds=2))
        late = START + timedelta(seconds=2)
        assert browsed(lamps, known_at=late, statuses=["archived"]) == ["k"]
        assert recalled(lamps, "green", known_at=late, statuses=["archived"]) == ["k"]

    def test_what_was_not_yet_true_then_is_not_listed(self, lamps: OnRecord, clock: Clock) -> None:
        lamps.remember("a lamp to come", id="soon", valid_from=clock.now + DAY)
        saved = clock.now
        clock.tick(days=2)
        assert "soon" in browsed(lamps)
        assert "soon" not in browsed(lamps, known_at=saved) + recalled(lamps, "lamp", known_at=saved)
        assert "soon" in browsed(lamps, known_at=saved + DAY)
        assert "soon" in recalled(lamps, "lamp", known_at=saved + DAY)

    def test_tags_and_references_are_those_of_then(self, lamps: OnRecord) -> None:
        later = START + timedelta(seconds=1)
        assert browsed(lamps, tags=["old"], known_at=START) == ["k"]
        assert (
            browsed(lamps, tags=["old"], known_at=later) == browsed(lamps, tags=["new"], known_at=START) == []
        )
        assert browsed(lamps, entities=["thing:old"], known_at=START) == ["k"]
        assert browsed(lamps, entities=["thing:new"], known_at=later) == ["k"]
        assert browsed(lamps, entities=["thing:new"], known_at=START) == []

    def test_edges_are_those_of_then(self, lamps: OnRecord) -> None:
        edge = [("other", "supports", "k")]
        for moment, known in (
            (START, edge),
            (START + timedelta(seconds=1) - MOMENT, edge),
            (START + timedelta(seconds=1), []),
        ):
            assert around(lamps, "k", known_at=moment) == around(lamps, "other", known_at=moment) == known
        (met,) = lamps.neighbours("other", known_at=START).edges
        assert met.memory.content == "the lamp is red"

    def test_both_axes_together(self, lamps: OnRecord, clock: Clock) -> None:
        """The validity in the version of that time decides, not the validity of today."""
        clock.tick()
        lamps.remember("a late report", id="late", valid_from=START - DAY)
        reported = clock.now
        clock.tick()
        lamps.retire("late", at=START - DAY / 2)
        assert browsed(lamps, as_of=START, known_at=reported) == ["late", "k", "other"]
        assert "late" not in browsed(lamps, as_of=START)
        assert "late" not in browsed(lamps, as_of=START, known_at=reported - MOMENT)
        assert recalled(lamps, "report", as_of=START, known_at=reported) == ["late"]
        assert lamps.show("late", as_of=START, known_at=reported).memory.status == "active"
        with pytest.raises(NotFound):
            lamps.show("late", as_of=START, known_at=clock.now)

    def test_who_may_see_it_is_decided_today(self, lamps: OnRecord, clock: Clock) -> None:
        bob = lamps.as_caller(person("bob"))
        lamps.remember("shared once", id="moved", scope="tenant")
        shared = clock.now
        assert bob.show("moved").memory.content == "shared once"
        clock.tick()
        lamps.remember("private now", id="moved", scope="user")
        for when in (None, shared):
            with pytest.raises(NotFound):
                bob.show("moved", known_at=when)
            assert recalled(bob, "shared private", known_at=when) == []
            assert "moved" not in browsed(bob, known_at=when)
        assert bob.diff(START - DAY).memories != ()
        assert "moved" not in [difference.id for difference in bob.diff(START - DAY).memories]
        assert lamps.show("moved", known_at=shared).memory.scope == "tenant"


class HistoryConformance(Conformance):
    """The history of one memory, and the differences between two times for all memories."""

    def test_every_change_is_one_version(self, ann: OnRecord, clock: Clock) -> None:
        ann.remember("one", id="k", entities=["memory:9"])
        ann.remember("nine", id="9")
        for change in (
            lambda: ann.remember("two", id="k"),
            lambda: ann.revise("k", content="three"),
            lambda: ann.forget("9"),
            lambda: ann.retire("k"),
        ):
            clock.tick()
            change()
        versions = ann.history("k").versions
        assert change_names(ann, "k") == ["remember", "remember", "revise", "forget", "retire"]
        assert [version.number for version in versions] == [1, 2, 3, 4, 5]
        assert [version.at for version in versions] == [START + timedelta(seconds=n) for n in range(5)]
        assert [version.until for version in versions] == [version.at for version in versions[1:]] + [None]
        assert versions[-1].memory == ann.show("k").memory
        assert versions[0].changed == ()
        assert {"status", "valid_to"} <= set(versions[-1].changed)

    def test_relations_are_no_versions_of_their_ends(self, ann: OnRecord) -> None:
        for id in "ab":
            ann.remember(f"note {id}", id=id)
        ann.relate("a", "supports", "b")
        ann.unrelate("a", "supports", "b")
        assert change_names(ann, "a") == change_names(ann, "b") == ["remember"]

    def test_a_difference_tells_what_was_added_revised_and_retired(self, ann: OnRecord, clock: Clock) -> None:
        for id in ("revised", "retired", "superseded", "untouched"):
            ann.remember(f"note of {id}", id=id)
        since = clock.now
        clock.tick()
        ann.remember("note of added", id="added")
        ann.revise("revised", content="something else", tags=["t"])
        ann.retire("retired")
        ann.remember("note of heir", id="heir", supersedes=["superseded"])
        compared = ann.diff(since)
        assert (compared.since, compared.until) == (since, clock.now)
        found = {difference.id: difference for difference in compared.memories}
        assert {id: difference.change for id, difference in found.items()} == {
            "added": "added",
            "revised": "revised",
            "retired": "retired",
            "superseded": "retired",
            "heir": "added",
        }
        revised = found["revised"]
        assert revised.before is not None
        assert (revised.before.content, revised.after.content) == ("note of revised", "something else")
        assert set(revised.changed) >= {"content", "tags"}
        assert found["added"].before is None
        assert [(edge.source, edge.target) for edge in compared.related] == [("heir", "superseded")]

    def test_a_difference_holds_the_changes_after_the_first_time_up_to_the_second(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        ann.remember("one", id="k")
        changed = clock.tick()
        ann.revise("k", content="two")
        clock.tick()
        ann.revise("k", content="three")
        for since, until, expected in (
            (START - MOMENT, START, ["added"]),
            (START, changed - MOMENT, []),
            (changed - MOMENT, changed, ["revised"]),
            (changed, changed, []),
            (START - MOMENT, changed, ["added"]),
        ):
            assert [found.change for found in ann.diff(since, until=until).memories] == expected
        (found,) = ann.diff(START, until=changed).memories
        assert found.after.content == "two"

    def test_a_difference_has_pages_that_hold_each_change_once_in_one_order(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        for id in "abcd":
            ann.remember(f"note {id}", id=id)
        ann.relate("a", "supports", "b")
        since = clock.now
        clock.tick()
        ann.revise("c", content="something else")
        for id in "efg":
            ann.remember(f"note {id}", id=id)
        ann.relate("e", "refines", "f")
        ann.relate("f", "refines", "g")
        ann.unrelate("a", "supports", "b")
        whole = ann.diff(since)
        assert whole.next is None
        for limit in (1, 2, 3, 7):
            pages = [ann.diff(since, limit=limit)]
            while pages[-1].next is not None:
                # What is saved later is on no page of this comparison.
                clock.tick()
                ann.remember(f"later {limit} {len(pages)}")
                pages.append(ann.diff(since, limit=limit, after=pages[-1].next))
            assert {page.until for page in pages} == {pages[0].until}
            sizes = [len(page.memories) + len(page.related) + len(page.unrelated) for page in pages]
            assert all(size == limit for size in sizes[:-1])
            assert 0 < sizes[-1] <= limit
            for name in ("memories", "related", "unrelated"):
                paged = [each for page in pages for each in getattr(page, name)]
                wanted = list(getattr(ann.diff(since, until=pages[0].until), name))
                assert paged == wanted

    def test_a_mark_that_no_difference_gave_is_refused(self, ann: OnRecord) -> None:
        for mark in ("1", "x~0~1~1", f"{START.isoformat()}~9~1~1", f"{START.isoformat()}~0~1~{2**70}"):
            with pytest.raises(Invalid, match="after: is not a page mark"):
                ann.diff(START, after=mark)

    def test_a_difference_tells_edges_drawn_and_taken_back(self, ann: OnRecord, clock: Clock) -> None:
        for id in "abc":
            ann.remember(f"note {id}", id=id)
        ann.relate("a", "supports", "b")
        since = clock.now
        clock.tick()
        ann.unrelate("a", "supports", "b")
        ann.relate("b", "refines", "c")
        compared = ann.diff(since)
        assert [(edge.source, edge.relation, edge.target) for edge in compared.related] == [
            ("b", "refines", "c")
        ]
        assert [(edge.source, edge.relation, edge.target) for edge in compared.unrelated] == [
            ("a", "supports", "b")
        ]
        assert ann.diff(clock.now).related == ann.diff(clock.now).unrelated == ()

    def test_a_difference_cannot_end_before_it_begins(self, ann: OnRecord, store: Store) -> None:
        with refused(Invalid, "until", by=store):
            ann.diff(START, until=START - MOMENT)


class ClockConformance(Conformance):
    """The order of changes is right even if the clock stands still or goes backwards."""

    def test_changes_in_the_same_moment_stay_in_order_and_the_last_one_counts(self, ann: OnRecord) -> None:
        ann.remember("one", id="k")
        for content in ("two", "three"):
            ann.revise("k", content=content)
        assert [version.memory.content for version in ann.history("k").versions] == ["one", "two", "three"]
        assert ann.show("k", known_at=START).memory.content == "three"
        assert browsed(ann, known_at=START) == recalled(ann, "three", known_at=START) == ["k"]
        assert recalled(ann, "one two", known_at=START) == []
        (found,) = ann.diff(START - MOMENT).memories
        assert (found.change, found.after.content) == ("added", "three")

    def test_a_clock_that_goes_back_never_moves_a_version_before_the_one_it_follows(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        ann.remember("one", id="k")
        clock.tick(hours=-1)
        ann.revise("k", content="two")
        first, second = ann.history("k").versions
        assert (first.at, first.until, second.at) == (START, START, START)
        assert ann.show("k").memory.updated_at == START
        assert ann.show("k", known_at=START).memory.content == "two"
        with pytest.raises(NotFound):
            ann.show("k", known_at=START - MOMENT)

    def test_a_clock_that_goes_back_still_retires_and_supersedes(self, ann: OnRecord, clock: Clock) -> None:
        for id in "ab":
            ann.remember(f"note {id}", id=id)
        clock.tick(hours=-1)
        assert ann.retire("a").memory.valid_to == START
        ann.remember("heir", id="c", supersedes=["b"])
        old = ann.show("b").memory
        assert (old.status, old.valid_to, old.updated_at) == ("superseded", START, START)
        assert ann.history("b").versions[-1].at == START

    def test_an_edge_is_never_taken_back_before_it_was_drawn(self, ann: OnRecord, clock: Clock) -> None:
        for id in "ab":
            ann.remember(f"note {id}", id=id)
        ann.relate("a", "supports", "b")
        clock.tick(hours=-1)
        assert ann.unrelate("a", "supports", "b").relation.removed_at == START

    def test_one_triple_is_never_known_twice_at_one_time(self, ann: OnRecord, clock: Clock) -> None:
        for id in "ab":
            ann.remember(f"note {id}", id=id)
        clock.tick(seconds=10)
        ann.relate("a", "supports", "b")
        clock.tick(seconds=10)
        ann.unrelate("a", "supports", "b")
        clock.tick(seconds=-5)
        ann.relate("a", "supports", "b")
        for second in range(25):
            assert len(around(ann, "a", known_at=START + timedelta(seconds=second))) <= 1

    def test_the_store_itself_keeps_versions_in_order(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        saved = ann.remember("one", id="k").memory
        earlier = Change("revise", "ann", "person", START - DAY)
        with store.writing(ann.caller, clock.now) as writing:
            writing.replace(saved, replace(saved, content="two"), earlier)
        first, second = ann.history("k").versions
        assert (first.until, second.at) == (START, START)
