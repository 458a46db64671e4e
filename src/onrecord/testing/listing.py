"""WHAT does browsing list? Memories, the last updated first, with filters and pages."""

from datetime import timedelta
from typing import Any, Final

import pytest

from onrecord.errors import Invalid
from onrecord.service import OnRecord
from onrecord.testing.builders import MOMENT, START, Clock, Conformance, browsed, person, shown_ids


def _pages(door: OnRecord, limit: int, **ask: Any) -> list[list[str]]:
    pages, mark = [], None
    while True:
        page = door.browse(limit=limit, after=mark, **ask)
        pages.append(shown_ids(page.memories))
        mark = page.next
        assert len(pages) < 100, "the marks lead in a circle"
        if mark is None:
            return pages


#: What is asked of six memories, and which of them are listed.
_FILTERS: Final[tuple[tuple[dict[str, Any], str], ...]] = (
    ({}, "fdcba"),
    ({"kinds": ["skill"]}, "c"),
    ({"kinds": ["skill", "decision"]}, "dc"),
    ({"dimensions": ["event"]}, "d"),
    ({"dimensions": ["event", "entity"]}, "db"),
    ({"tags": ["x"]}, "ba"),
    ({"tags": ["x", "z"]}, "dba"),
    ({"tags": ["X"]}, "c"),
    ({"tags": ["nobody's"]}, ""),
    ({"scopes": ["user"]}, "d"),
    ({"scopes": ["profile"]}, "ba"),
    ({"scopes": ["system", "session"]}, "fc"),
    ({"statuses": ["stale"]}, "e"),
    ({"statuses": ["stale", "active"]}, "efdcba"),
    ({"entities": ["thing:lamp"]}, "ca"),
    ({"entities": ["memory:4"]}, "b"),
    ({"entities": ["memory:#4"]}, "b"),
    ({"entities": ["thing:lamps"]}, ""),
    ({"has_query": True}, "cb"),
    ({"has_query": False}, "fda"),
    ({"has_query": True, "tags": ["x"]}, "b"),
    ({"persona": "chef"}, ""),
    ({"system": "crm"}, "c"),
    ({"system": "erp"}, ""),
    ({"conversation": "talk"}, "fdcba"),
    ({"conversation": "other"}, ""),
    ({"updated_since": START + timedelta(seconds=3)}, "fd"),
    ({"updated_since": START + timedelta(seconds=3) + MOMENT}, "f"),
    ({"updated_before": START + timedelta(seconds=2)}, "ba"),
    ({"created_since": START + timedelta(seconds=5)}, "f"),
    ({"created_before": START + timedelta(seconds=2)}, "ba"),
    ({"created_before": START + timedelta(seconds=2) + MOMENT}, "cba"),
    ({"categories": ["billing"]}, "a"),
    ({"categories": ["billing", "Billing"]}, "ba"),
    ({"confidences": ["low"]}, "b"),
    ({"confidences": ["low", "medium"]}, "fdcba"),
    ({"sources": ["a wiki"]}, "c"),
    ({"owners": ["ann"]}, "fdcba"),
    ({"owners": ["bob"]}, ""),
    ({"order": "created"}, "fdcba"),
    ({"skip": 2}, "cba"),
    ({"skip": 9}, ""),
    ({"tags": ["x"], "entities": ["thing:lamp"]}, "a"),
    ({"kinds": ["skill"], "tags": ["x"]}, ""),
    ({"kinds": ["fact"], "statuses": ["stale"], "scopes": ["tenant"]}, "e"),
)


class BrowseConformance(Conformance):
    """Browsing."""

    def test_the_last_updated_comes_first(self, ann: OnRecord, clock: Clock) -> None:
        for id in "abc":
            ann.remember(f"note {id}", id=id)
            clock.tick()
        assert browsed(ann) == ["c", "b", "a"]
        ann.revise("a", content="changed")
        assert browsed(ann) == ["a", "c", "b"]
        clock.tick()
        ann.relate("b", "supports", "c")
        assert browsed(ann) == ["a", "c", "b"]

    def test_in_the_same_moment_the_last_saved_comes_first(self, ann: OnRecord) -> None:
        for id in ("b", "c", "a"):
            ann.remember(f"note {id}", id=id)
        assert browsed(ann) == ["a", "c", "b"]

    def test_an_empty_store_has_an_empty_page(self, ann: OnRecord) -> None:
        page = ann.browse()
        assert (page.memories, page.next) == ((), None)

    def test_each_filter_narrows(self, ann: OnRecord, clock: Clock) -> None:
        door = ann.as_caller(person(systems={"crm": "manage"}, conversation="talk"))
        saves: tuple[dict[str, Any], ...] = (
            {"tags": ["x", "y"], "entities": ["thing:lamp"], "category": "billing"},
            {
                "tags": ["x"],
                "entities": ["memory:4"],
                "kind": "user",
                "category": "Billing",
                "confidence": "low",
                "query": "SELECT 1",
            },
            {
                "kind": "skill",
                "scope": "system",
                "system": "crm",
                "entities": ["thing:lamp"],
                "tags": ["X"],
                "source": "a wiki",
                "query": {"source_model": "orders"},
            },
            {"kind": "decision", "scope": "user", "tags": ["z", "xx"]},
            {"tags": ["stale"]},
            {"scope": "session"},
        )
        for id, save in zip("abcdef", saves, strict=True):
            door.remember(f"note {id}", id=id, **save)
            clock.tick()
        door.revise("e", status="stale")
        for ask, found in _FILTERS:
            for known_at in (None, START + timedelta(days=1)):
                page = door.browse(known_at=known_at, count=True, **ask)
                assert "".join(each.removeprefix("ann::") for each in shown_ids(page.memories)) == found, (
                    ask,
                    known_at,
                )
                assert page.total == (5 if "skip" in ask else len(found)), (ask, known_at)

    def test_what_is_pinned_to_none_is_listed_beside_a_conversation_if_wanted(self, ann: OnRecord) -> None:
        for id, conversation in (("here", "talk"), ("there", "other"), ("free", None)):
            ann.remember(f"note {id}", id=id, conversation=conversation)
        assert browsed(ann, conversation="talk") == ["here"]
        assert browsed(ann, conversation="talk", unpinned=True) == ["free", "here"]
        assert browsed(ann, conversation="unknown", unpinned=True) == ["free"]

    def test_the_last_written_down_comes_first_if_asked_for(self, ann: OnRecord, clock: Clock) -> None:
        for id in "abc":
            ann.remember(f"note {id}", id=id)
            clock.tick()
        ann.revise("a", content="changed")
        assert browsed(ann) == ["a", "c", "b"]
        assert browsed(ann, order="created") == ["c", "b", "a"]
        assert _pages(ann, 1, order="created") == [["c"], ["b"], ["a"]]
        with pytest.raises(Invalid, match="after"):
            ann.browse(order="created", after=ann.browse(limit=1).next)

    def test_a_page_that_leaves_some_out_is_the_same_as_the_one_that_its_mark_leads_to(
        self, root: OnRecord
    ) -> None:
        for number in range(9):
            root.remember(f"note {number}", scope="global" if number % 3 == 0 else "tenant")
        pages = _pages(root, 2)
        assert [shown_ids(root.browse(limit=2, skip=2 * page).memories) for page in range(5)] == pages
        first = root.browse(limit=2, count=True)
        assert shown_ids(root.browse(limit=2, skip=2, after=first.next).memories) == pages[2]
        assert (first.total, root.browse(limit=2, after=first.next, count=True).total) == (9, 9)
        assert root.browse().total is None

    def test_pages_cover_everything_exactly_once(self, root: OnRecord, clock: Clock) -> None:
        """Many of the memories were updated at the same time, and some of them are global."""
        for number in range(12):
            scope = "global" if number % 3 == 0 else "tenant"
            root.remember(f"note {number}", scope=scope, tags=["odd" if number % 2 else "even"])
            if number % 4 == 3:
                clock.tick()
        whole, odd = browsed(root), browsed(root, tags=["odd"])
        assert (len(set(whole)), len(set(odd))) == (12, 6)
        for limit in (1, 2, 3, 7, 12, 13):
            for ask in ({}, {"known_at": clock.now}, {"as_of": clock.now}):
                pages = _pages(root, limit, **ask)
                assert [id for page in pages for id in page] == whole
                assert all(len(page) == limit for page in pages[:-1])
                assert pages[-1], "a full page said that there is more"
            assert [id for page in _pages(root, limit, tags=["odd"]) for id in page] == odd

    def test_what_is_saved_meanwhile_does_not_shift_the_pages(self, ann: OnRecord, clock: Clock) -> None:
        for id in "abcd":
            ann.remember(f"note {id}", id=id)
            clock.tick()
        first = ann.browse(limit=2)
        ann.remember("note e", id="e")
        assert shown_ids(ann.browse(limit=2, after=first.next).memories) == ["b", "a"]

    @pytest.mark.parametrize(
        "mark",
        ["x", "1", "~~", "a~b~c", "2026-01-01", "2026-01-01T00:00:00+00:00~1", "2026-01-01T00:00:00+00:00~x~1",
         "2026-01-01T00:00:00+00:00~1~99999999999999999999", "2026-01-01T00:00:00+00:00~99999999999999999999~1",
         "0001-01-01T00:00:00+14:00~1~1", "2026-01-01T00:00:00+00:00~-1~-1~-1"],
    )  # fmt: skip
    def test_a_mark_that_no_page_gave_is_refused(self, ann: OnRecord, mark: str) -> None:
        ann.remember("note")
        with pytest.raises(Invalid, match="after"):
            ann.browse(after=mark)

    @pytest.mark.parametrize("limit", [0, -1, 1_001, True, "5"])
    def test_a_page_has_a_sensible_size(self, ann: OnRecord, limit: Any) -> None:
        with pytest.raises(Invalid, match="limit"):
            ann.browse(limit=limit)


def _tally(door: OnRecord, by: str, **ask: Any) -> list[tuple[str | None, int]]:
    return [(each.value, each.memories) for each in door.tally(by, **ask).groups]


class TallyConformance(Conformance):
    """Counting by a field."""

    @pytest.fixture
    def full(self, root: OnRecord, clock: Clock) -> OnRecord:
        """Memories of two owners and a global one, some of them not active."""
        bob = root.as_caller(person("bob"))
        bob.remember("one", id="b1", tags=["x"], entities=["thing:lamp"], category="billing", kind="decision")
        clock.tick()
        bob.remember(
            "two", id="b2", tags=["x", "y%_"], entities=["thing:lamp", "thing:lamps"], confidence="low"
        )
        clock.tick()
        root.remember("three", id="r1", category="billing", source="wiki", tags=["tag:x"])
        root.remember("four", id="r2", scope="global", kind="decision", tags=["x"])
        root.remember("five", id="r3", scope="user")
        root.remember("six", id="r4")
        clock.tick()
        root.retire("r4")
        root.revise("r3", status="stale")
        return root

    @pytest.mark.parametrize(
        ("by", "groups"),
        [
            ("status", [("active", 4), ("archived", 1), ("stale", 1)]),
            ("kind", [("decision", 2), ("fact", 2)]),
            ("dimension", [("event", 2), ("knowledge", 2)]),
            ("category", [("billing", 2), (None, 2)]),
            ("confidence", [("medium", 3), ("low", 1)]),
            ("source", [(None, 3), ("wiki", 1)]),
            ("scope", [("tenant", 3), ("global", 1)]),
            ("owner", [("bob", 2), ("root", 2)]),
            ("tag", [("x", 3), ("y%_", 1), ("tag:x", 1)]),
            ("entity", [("thing:lamp", 2), ("thing:lamps", 1)]),
        ],
    )
    def test_each_value_is_counted_the_largest_first_and_of_these_the_oldest(
        self, full: OnRecord, clock: Clock, by: str, groups: list[tuple[str | None, int]]
    ) -> None:
        assert _tally(full, by) == groups
        assert _tally(full, by, known_at=clock.now) == groups
        assert full.tally(by).total == (6 if by == "status" else 4)

    def test_it_tells_when_the_oldest_of_each_was_written_down(self, full: OnRecord) -> None:
        oldest = {each.value: each.oldest - START for each in full.tally("kind").groups}
        assert oldest == {"decision": timedelta(0), "fact": timedelta(seconds=1)}

    def test_filters_narrow_it_and_groups_beyond_the_limit_are_counted(self, full: OnRecord) -> None:
        assert _tally(full, "owner", categories=["billing"]) == [("bob", 1), ("root", 1)]
        assert _tally(full, "status", statuses=["stale", "pending"]) == [("stale", 1)]
        assert _tally(full, "kind", tags=["nobody's"]) == []
        assert _tally(full, "tag", tags=["y%_"]) == [("x", 1), ("y%_", 1)]
        assert _tally(full, "entity", entities=["thing:lamps"], has_query=False) == [
            ("thing:lamp", 1),
            ("thing:lamps", 1),
        ]
        few = full.tally("tag", limit=1)
        assert [(each.value, each.memories) for each in few.groups] == [("x", 3)]
        assert (few.omitted, few.total) == (2, 4)

    def test_nobody_is_counted_whom_the_caller_does_not_see(self, full: OnRecord) -> None:
        bob = full.as_caller(person("bob"))
        assert _tally(bob, "status") == [("active", 4), ("archived", 1)]
        assert bob.tally("status", scopes=["user"]).total == 0
        stranger = full.as_caller(person("bob", tenant="beta"))
        assert _tally(stranger, "owner") == [("root", 1)]
