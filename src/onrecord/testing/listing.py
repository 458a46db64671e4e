"""WHAT is there? Lists, last updated first, with filters and pages."""

from datetime import timedelta
from typing import Any

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

    @pytest.mark.parametrize(
        ("ask", "found"),
        [
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
            ({"system": "crm"}, "c"),
            ({"system": "erp"}, ""),
            ({"conversation": "talk"}, "fdcba"),
            ({"conversation": "other"}, ""),
            ({"updated_since": START + timedelta(seconds=3)}, "fd"),
            ({"updated_since": START + timedelta(seconds=3) + MOMENT}, "f"),
            ({"updated_before": START + timedelta(seconds=2)}, "ba"),
            ({"created_since": START + timedelta(seconds=5)}, "f"),
            ({"tags": ["x"], "entities": ["thing:lamp"]}, "a"),
            ({"kinds": ["skill"], "tags": ["x"]}, ""),
            ({"kinds": ["fact"], "statuses": ["stale"], "scopes": ["tenant"]}, "e"),
        ],
    )
    def test_each_filter_narrows(self, ann: OnRecord, clock: Clock, ask: dict[str, Any], found: str) -> None:
        door = ann.as_caller(person(systems={"crm": "manage"}, conversation="talk"))
        saves: tuple[dict[str, Any], ...] = (
            {"tags": ["x", "y"], "entities": ["thing:lamp"]},
            {"tags": ["x"], "entities": ["memory:4"], "kind": "user", "query": "SELECT 1"},
            {
                "kind": "skill",
                "scope": "system",
                "system": "crm",
                "entities": ["thing:lamp"],
                "tags": ["X"],
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
        assert "".join(browsed(door, **ask)) == found
        assert "".join(browsed(door, known_at=START + timedelta(days=1), **ask)) == found

    def test_what_is_pinned_to_none_is_listed_beside_a_conversation_if_wanted(self, ann: OnRecord) -> None:
        for id, conversation in (("here", "talk"), ("there", "other"), ("free", None)):
            ann.remember(f"note {id}", id=id, conversation=conversation)
        assert browsed(ann, conversation="talk") == ["here"]
        assert browsed(ann, conversation="talk", unpinned=True) == ["free", "here"]
        assert browsed(ann, conversation="unknown", unpinned=True) == ["free"]

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 12, 13])
    def test_pages_cover_everything_exactly_once(self, root: OnRecord, clock: Clock, limit: int) -> None:
        """Many were updated in the same moment, some are of the tenant and some are global."""
        for number in range(12):
            scope = "global" if number % 3 == 0 else "tenant"
            root.remember(f"note {number}", scope=scope, tags=["odd" if number % 2 else "even"])
            if number % 4 == 3:
                clock.tick()
        whole = browsed(root)
        assert len(set(whole)) == 12
        for ask in ({}, {"known_at": clock.now}, {"as_of": clock.now}):
            pages = _pages(root, limit, **ask)
            assert [id for page in pages for id in page] == whole
            assert all(len(page) == limit for page in pages[:-1])
            assert pages[-1], "a full page said that there is more"
        odd = browsed(root, tags=["odd"])
        assert [id for page in _pages(root, limit, tags=["odd"]) for id in page] == odd
        assert len(odd) == 6

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
