"""WHAT can a program of the arbiter runtime do over HTTP? Entries, their life in time, relations and the graph."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from onrecord.errors import Invalid
from onrecord.faces.arbiter import entries
from onrecord.faces.arbiter.fields import TYPES
from onrecord.model.caller import Caller
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.rest.bodies import BODY_BYTES

from ..surfaces.conftest import Served

ENTRIES, RELATIONS = "/v1/memory/entries", "/v1/memory/relations"
SHAPE = [
    "id",
    "tenant_id",
    "type",
    "title",
    "content",
    "source",
    "tags",
    "artifact_id",
    "created_at",
    "updated_at",
    "valid_from",
    "valid_to",
    "conversation_id",
    "author",
    "tier",
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A server on an empty store, as it is configured when nothing is."""
    served = Served(db=str(tmp_path / "served.db"), worker="no")
    yield served
    served.stop()


def add(server: Served, title: str, type: str = "project", **more: Any) -> Any:
    """The id of a new entry."""
    said = server.client.post(ENTRIES, json={"type": type, "title": title, **more})
    assert said.status_code == 201, said.text
    return said.json()["id"]


def listed(server: Served, **query: Any) -> list[Any]:
    """The ids that a list has."""
    said = server.client.get(ENTRIES, params=query)
    assert said.status_code == 200, said.text
    told = said.json()
    assert told["count"] == len(told["entries"])
    return [each["id"] for each in told["entries"]]


def relate(server: Served, source: Any, relation: str, target: Any) -> Any:
    body = {"source_id": source, "relation": relation, "target_id": target}
    said = server.client.post(RELATIONS, json=body)
    assert said.status_code == 201, said.text
    return said.json()


def refused(said: Any, status: int = 400, *words: str) -> str:
    """The one shape of an error there, and the words in it."""
    assert said.status_code == status, said.text
    assert said.headers["content-type"] == "application/json"
    told = said.json()
    assert set(told) <= {"error", "existing_id"}
    for word in words:
        assert word in told["error"]
    return str(told["error"])


class TestEntries:
    def test_every_list_says_who_wrote_an_entry_and_as_what(self, server: Served) -> None:
        door = server.parts.door
        mine = add(server, "A kestrel")
        theirs = door.as_caller(replace(door.caller, actor="agent", user="bot")).remember("A kestrel hovers.")
        whose = {mine: ("ann", "person"), int(theirs.memory.id): ("bot", "agent")}
        for path, query in ((ENTRIES, {}), (ENTRIES, {"q": "kestrel"}), ("/v1/memory/graph", {})):
            told = server.client.get(path, params=query).json()["entries"]
            assert {each["id"]: (each["author"], each["tier"]) for each in told} == whose, (path, query)

    def test_an_entry_comes_back_with_all_its_fields(self, server: Served) -> None:
        conversation = server.client.post("/v1/conversations", json={"title": "Planning"}).json()["id"]
        body = {
            "type": "reference",
            "title": "Honeycomb pricing",
            "content": "It has a number: 130.",
            "source": "https://example.com/pricing",
            "tags": ["pricing", "vendor"],
            "conversation_id": conversation,
        }
        made = server.client.post(ENTRIES, json=body)
        assert made.status_code == 201
        told = made.json()
        assert list(told) == SHAPE
        assert {name: told[name] for name in body} == body
        assert told["created_at"] == told["updated_at"] == told["valid_from"]
        assert (told["id"], told["valid_to"], told["artifact_id"]) == (1, None, None)
        assert (told["author"], told["tier"]) == ("ann", "person")
        assert server.client.get(f"{ENTRIES}/1").json() == told

    def test_what_is_left_out_is_empty(self, server: Served) -> None:
        told = server.client.post(ENTRIES, json={"type": "user", "title": "Likes tea"}).json()
        assert (told["content"], told["source"], told["tags"]) == ("", "", [])
        assert (told["artifact_id"], told["conversation_id"]) == (None, None)
        assert listed(server, q="tea") == [1]

    @pytest.mark.usefixtures("words_alone")  # with vectors, what is unrelated comes too
    def test_an_entry_with_a_title_alone_stays_one_when_it_is_renamed(self, server: Served) -> None:
        id = add(server, "Ledger")
        told = server.client.patch(f"{ENTRIES}/{id}", json={"title": "Orchard"}).json()
        assert (told["title"], told["content"]) == ("Orchard", "")
        assert (listed(server, q="orchard"), listed(server, q="ledger")) == ([id], [])
        assert (
            server.client.patch(f"{ENTRIES}/{id}", json={"content": "Orchard"}).json()["content"] == "Orchard"
        )
        assert server.client.patch(f"{ENTRIES}/{id}", json={"content": ""}).json()["content"] == ""

    @pytest.mark.parametrize("type", TYPES)
    def test_each_of_the_six_types_is_kept(self, server: Served, type: str) -> None:
        assert server.client.get(f"{ENTRIES}/{add(server, 'A title', type)}").json()["type"] == type

    def test_what_others_keep_as_a_finer_kind_has_one_of_the_six_types(self, server: Served) -> None:
        for kind in ("fact", "decision", "skill", "preference", "workflow", "summary"):
            server.parts.door.remember(f"a {kind}", kind=kind)  # type: ignore[arg-type]
        told = {each["content"]: each["type"] for each in server.client.get(ENTRIES).json()["entries"]}
        assert told["a fact"] == "reference"
        assert set(told.values()) <= set(TYPES)
        assert len(listed(server, type="learning")) == 2

    def test_two_entries_of_the_same_words_are_two(self, server: Served) -> None:
        assert [add(server, "Same", content="same") for _ in range(3)] == [1, 2, 3]

    def test_a_patch_of_the_title_leaves_the_content(self, server: Served) -> None:
        id = add(server, "Before", content="the text", tags=["x"], source="here")
        told = server.client.patch(f"{ENTRIES}/{id}", json={"title": "After"})
        assert told.status_code == 200
        told = told.json()
        assert (told["title"], told["content"], told["tags"], told["source"]) == (
            "After",
            "the text",
            ["x"],
            "here",
        )

    def test_a_patch_changes_every_field_that_it_may(self, server: Served) -> None:
        id = add(server, "Before", content="text")
        change = {"title": "t", "content": "c", "source": "s", "tags": ["a", "b"], "type": "learning"}
        told = server.client.patch(f"{ENTRIES}/{id}", json=change).json()
        assert {name: told[name] for name in change} == change
        cleared = server.client.patch(f"{ENTRIES}/{id}", json={"source": "", "tags": []}).json()
        assert (cleared["source"], cleared["tags"]) == ("", [])

    @pytest.mark.parametrize("field", ["conversation_id", "valid_from", "valid_to", "id", "titel"])
    def test_a_patch_of_what_cannot_be_patched_says_so_and_changes_nothing(
        self, server: Served, field: str
    ) -> None:
        id = add(server, "Before", content="text")
        said = server.client.patch(f"{ENTRIES}/{id}", json={"title": "After", field: 5})
        refused(said, 400, f"'{field}' cannot be patched", *entries.PATCHABLE)
        assert server.client.get(f"{ENTRIES}/{id}").json()["title"] == "Before"

    def test_an_empty_patch_of_a_live_entry_is_fine(self, server: Served) -> None:
        id = add(server, "Unchanged")
        said = server.client.patch(f"{ENTRIES}/{id}", json={})
        assert (said.status_code, said.json()["title"]) == (200, "Unchanged")

    def test_a_deleted_entry_is_not_found(self, server: Served) -> None:
        id = add(server, "Gone soon")
        assert server.client.delete(f"{ENTRIES}/{id}").json() == {"deleted": True}
        refused(server.client.get(f"{ENTRIES}/{id}"), 404, "entry 1 not found")
        refused(server.client.delete(f"{ENTRIES}/{id}"), 404, "not found")
        refused(server.client.patch(f"{ENTRIES}/{id}", json={"title": "x"}), 404, "not found")

    def test_ids_of_our_own_are_taken_too(self, server: Served) -> None:
        server.parts.door.remember("a policy", id="kb.policy")
        assert server.client.get(f"{ENTRIES}/kb.policy").json()["id"] == "kb.policy"
        assert server.client.get(f"{ENTRIES}/%23kb.policy").status_code == 200


class TestLimits:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ({"title": ""}, ("title", "200")),
            ({"title": "   "}, ("title", "200")),
            ({"title": "x" * 201}, ("title", "200", "201")),
            ({"title": "é" * 101}, ("title", "202")),
            ({"title": None}, ("title",)),
            ({"type": "fact"}, ("invalid type", "fact", "learning")),
            ({"type": None}, ("invalid type",)),
            ({"type": ["user"]}, ("invalid type",)),
            ({"content": "x" * (64 * 1024 + 1)}, ("content", "64 KiB")),
            ({"content": "é" * (32 * 1024 + 1)}, ("content", "64 KiB")),
            ({"content": 5}, ("content",)),
            ({"source": "x" * 201}, ("source", "200")),
            ({"source": 5}, ("source",)),
            ({"tags": ["x"] * 33}, ("tags", "32")),
            ({"tags": [""]}, ("tag length", "64")),
            ({"tags": ["x" * 65]}, ("tag length", "64")),
            ({"tags": ["é" * 33]}, ("tag length", "66")),
            ({"tags": ["ok", 5]}, ("tags entries", "5")),
            ({"tags": "x"}, ("tags", "array")),
            ({"tags": None}, ("tags", "array")),
            ({"artifact_id": -1}, ("artifact_id", "≥ 0")),
            ({"artifact_id": "7"}, ("artifact_id",)),
            ({"artifact_id": True}, ("artifact_id",)),
            ({"artifact_id": 7}, ("artifact_id", "does not exist", "7")),
            ({"conversation_id": 7}, ("conversation_id", "does not exist", "7")),
            ({"conversation_id": -1}, ("conversation_id", "does not exist")),
            ({"conversation_id": [1]}, ("conversation_id", "does not exist")),
            ({"created_at": -1}, ("created_at", "≥ 0")),
            ({"created_at": "now"}, ("created_at",)),
            ({"created_at": 1e300}, ("created_at",)),
            ({"supersedes_ids": 7}, ("supersedes_ids", "array of positive ids")),
            ({"supersedes_ids": [0]}, ("supersedes_ids", "only positive ids")),
            ({"supersedes_ids": [-1]}, ("supersedes_ids", "only positive ids")),
            ({"supersedes_ids": [1.5]}, ("supersedes_ids", "only positive ids")),
            ({"supersedes_ids": [True]}, ("supersedes_ids", "only positive ids")),
            ({"supersedes_ids": [88]}, ("supersedes_ids", "#88 does not exist")),
        ],
    )
    def test_a_field_outside_its_limits_is_400_in_its_own_words(
        self, server: Served, body: dict[str, Any], words: tuple[str, ...]
    ) -> None:
        said = server.client.post(ENTRIES, json={"type": "user", "title": "fine", **body})
        refused(said, 400, *words)
        assert listed(server) == []

    def test_a_field_at_its_limit_is_kept(self, server: Served) -> None:
        body = {
            "title": "é" * 100,
            "content": "é" * (32 * 1024),
            "source": "x" * 200,
            "tags": [f"{number:064}" for number in range(32)],
        }
        told = server.client.get(f"{ENTRIES}/{add(server, **body)}").json()
        assert {name: told[name] for name in body} == body

    @pytest.mark.parametrize("field", ["title", "content", "source", "tags", "type", "artifact_id"])
    def test_a_patch_has_the_same_limits(self, server: Served, field: str) -> None:
        id = add(server, "fine", content="text")
        wrong = {"tags": "x", "type": "fact", "artifact_id": "7"}.get(field, "x" * 70_000)
        refused(server.client.patch(f"{ENTRIES}/{id}", json={field: wrong}), 400, field)
        assert server.client.get(f"{ENTRIES}/{id}").json()["title"] == "fine"

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"{", "invalid JSON"),
            (b"", "invalid type"),
            (b"[]", "JSON object"),
            (b'"text"', "JSON object"),
            (b"null", "JSON object"),
            (b'{"type": "user", "title": "\xff"}', "invalid JSON"),
            (b'{"type": "user", "title": "half \\ud83d"}', "surrogate"),
            (b'{"type": "user", "title": "zero \\u0000"}', "title"),
            (b'{"type": "user", "type": "user", "title": "x"}', "twice"),
        ],
    )
    def test_a_body_that_is_no_object_is_400(self, server: Served, body: bytes, words: str) -> None:
        said = server.client.post(ENTRIES, content=body, headers={"Content-Type": "application/json"})
        refused(said, 400, words)

    def test_json_is_read_whatever_kind_it_is_said_to_be(self, server: Served) -> None:
        said = server.client.post(ENTRIES, content=b'{"type": "user", "title": "x"}')
        assert said.status_code == 201

    def test_characters_beyond_the_basic_plane_count_as_four_bytes_and_come_back_whole(
        self, server: Served
    ) -> None:
        escaped = json.dumps({"type": "user", "title": "🙂" * 50, "content": "🙂" * (16 * 1024)})
        assert "\\ud83d\\ude42" in escaped
        headers = {"Content-Type": "application/json"}
        told = server.client.post(ENTRIES, content=escaped.encode(), headers=headers)
        assert told.status_code == 201, told.text
        assert told.json()["title"] == "🙂" * 50
        assert server.client.get(f"{ENTRIES}/1").json()["content"] == "🙂" * (16 * 1024)
        longer = json.dumps({"type": "user", "title": "🙂" * 51}).encode()
        refused(server.client.post(ENTRIES, content=longer, headers=headers), 400, "204")

    def test_a_body_beyond_all_bounds_is_413_in_the_same_shape(self, server: Served) -> None:
        refused(server.client.post(ENTRIES, content=b" " * (BODY_BYTES + 1)), 413)

    def test_a_method_that_there_is_not_is_405_in_the_same_shape(self, server: Served) -> None:
        said = server.client.put(ENTRIES, json={})
        refused(said, 405, "GET, HEAD, POST")
        assert said.headers["allow"] == "GET, HEAD, POST"

    def test_head_tells_as_much_as_get_without_the_body(self, server: Served) -> None:
        said = server.client.head(ENTRIES)
        assert (said.status_code, said.content) == (200, b"")


class TestBrowsing:
    def test_the_last_updated_comes_first_and_a_limit_holds(self, server: Served) -> None:
        for number in range(3):
            add(server, f"note {number}", created_at=1_000 + number)
        assert listed(server) == [3, 2, 1]
        assert listed(server, limit=1) == [3]
        server.client.patch(f"{ENTRIES}/1", json={"title": "changed"})
        assert listed(server) == [1, 3, 2]

    def test_a_type_is_a_filter_here(self, server: Served) -> None:
        a, b, c = (add(server, kind, kind) for kind in ("user", "project", "reference"))
        assert listed(server, type="project") == [b]
        assert listed(server, type="project, user") == [b, a]
        assert listed(server, type="") == [c, b, a]
        refused(
            server.client.get(ENTRIES, params={"type": "project,projects"}),
            400,
            "invalid type filter: projects",
        )

    def test_a_tag_is_a_filter_on_the_whole_tag(self, server: Served) -> None:
        first = add(server, "one", tags=["deploy"])
        add(server, "two", tags=["deployment", 'odd"tag'])
        assert listed(server, tag="deploy") == [first]
        assert listed(server, tag="depl%") == listed(server, tag="Deploy") == []

    @pytest.mark.usefixtures("words_alone")  # with vectors, what is unrelated comes too
    def test_a_query_finds_content(self, server: Served) -> None:
        add(server, "one", content="something else")
        id = add(server, "two", content="the kestrel flies")
        assert listed(server, q="kestrel") == [id]
        assert listed(server, q="nothing alike") == []

    def test_a_cursor_of_updates_is_strict(self, server: Served) -> None:
        for number in range(4):
            add(server, f"kestrel {number}", created_at=1_000 + number)
        assert listed(server, before_updated_at=1_002) == [2, 1]
        assert sorted(listed(server, before_updated_at=1_002, q="kestrel")) == [1, 2]

    def test_pages_by_the_last_update_cover_entries_that_were_written_just_now(self, server: Served) -> None:
        id = add(server, "now")
        written = server.client.get(f"{ENTRIES}/{id}").json()["updated_at"]
        assert listed(server, before_updated_at=written) == []
        assert listed(server, before_updated_at=written + 1) == [id]

    def test_since_is_the_time_of_writing(self, server: Served) -> None:
        for number in range(4):
            add(server, f"kestrel {number}", created_at=1_000 + number)
        server.client.patch(f"{ENTRIES}/1", json={"title": "kestrel"})
        assert listed(server, since=1_002) == [4, 3]
        assert sorted(listed(server, since=1_002, q="kestrel")) == [3, 4]

    @pytest.mark.parametrize("limit", ["0", "-1", "many"])
    def test_a_limit_that_is_none_becomes_50(self, server: Served, limit: str) -> None:
        for number in range(52):
            server.parts.door.remember(f"kestrel {number}", kind="project")
        assert len(listed(server, limit=limit)) == len(listed(server, limit=limit, q="kestrel")) == 50
        assert len(listed(server, limit=52)) == 52

    def test_a_limit_beyond_200_becomes_200(self, server: Served) -> None:
        for _ in range(202):
            server.parts.door.remember("kestrel", kind="project", dedupe=False)
        for limit in ("201", "100000"):
            assert len(listed(server, limit=limit)) == len(listed(server, limit=limit, q="kestrel")) == 200

    @pytest.mark.parametrize("name", ["as_of", "since", "before_updated_at"])
    @pytest.mark.parametrize("value", ["-1", "yesterday", "nan", "1e300"])
    def test_a_time_that_is_none_is_400(self, server: Served, name: str, value: str) -> None:
        refused(server.client.get(ENTRIES, params={name: value}), 400, name)

    def test_entries_of_one_conversation_come_with_those_that_are_pinned_to_none(
        self, server: Served
    ) -> None:
        here, there = (server.client.post("/v1/conversations", json={}).json()["id"] for _ in range(2))
        pinned = add(server, "kestrel here", conversation_id=here)
        add(server, "kestrel there", conversation_id=there)
        free = add(server, "kestrel free")
        assert listed(server, conversation_id=here) == [free, pinned]
        assert listed(server, conversation_id=here, q="kestrel") == [pinned, free]

    @pytest.mark.parametrize("name", ["99", "-1", "0x1", "no such"])
    def test_an_unknown_conversation_filter_is_400_and_not_everything(
        self, server: Served, name: str
    ) -> None:
        add(server, "note")
        for more in ({}, {"q": "note"}, {"q": "note", "graduated": "true"}):
            said = server.client.get(ENTRIES, params={"conversation_id": name, **more})
            refused(said, 400, "conversation_id", name)


class TestTime:
    def test_a_time_of_writing_in_seconds_or_milliseconds_sets_all_three(self, server: Served) -> None:
        for given in (1_700_000_000, 1_700_000_000_000, 1_700_000_000_500):
            told = server.client.post(
                ENTRIES, json={"type": "user", "title": "then", "created_at": given}
            ).json()
            assert told["created_at"] == told["updated_at"] == told["valid_from"] == 1_700_000_000

    def test_a_time_of_writing_of_0_is_now(self, server: Served) -> None:
        told = server.client.post(ENTRIES, json={"type": "user", "title": "now", "created_at": 0}).json()
        assert abs(told["created_at"] - time.time()) < 60

    def test_an_invalidated_entry_leaves_the_lists_and_stays_readable_in_the_past(
        self, server: Served
    ) -> None:
        id = add(server, "kestrel", content="true once", created_at=1_000)
        said = server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": 2_000})
        assert (said.status_code, said.json()) == (200, {"invalidated": True, "id": id})
        assert listed(server) == listed(server, q="kestrel") == []
        refused(server.client.get(f"{ENTRIES}/{id}"), 404, "not found")
        (told,) = server.client.get(ENTRIES, params={"as_of": 1_500}).json()["entries"]
        assert (told["id"], told["content"], told["valid_from"], told["valid_to"]) == (
            id,
            "true once",
            1_000,
            2_000,
        )

    @pytest.mark.parametrize("query", [{}, {"q": "kestrel"}, {"type": "project"}])
    @pytest.mark.parametrize(
        ("as_of", "there"), [(999, False), (1_000, True), (1_999, True), (2_000, False), (2_001, False)]
    )
    def test_the_window_is_half_open_on_both_paths(
        self, server: Served, query: dict[str, str], as_of: int, there: bool
    ) -> None:
        id = add(server, "kestrel", created_at=1_000)
        server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": 2_000})
        assert listed(server, as_of=as_of, **query) == ([id] if there else [])

    def test_the_window_is_half_open_in_the_seconds_that_are_told_of_now(self, server: Served) -> None:
        id = add(server, "kestrel", created_at=1_000)
        server.client.post(f"{ENTRIES}/{id}/invalidate")
        end = server.client.get(ENTRIES, params={"as_of": 1_500}).json()["entries"][0]["valid_to"]
        assert (listed(server, as_of=end), listed(server, as_of=end - 1)) == ([], [id])
        new = add(server, "fresh")
        since = server.client.get(f"{ENTRIES}/{new}").json()["valid_from"]
        assert new in listed(server, as_of=since)
        assert new not in listed(server, as_of=since - 1)

    def test_as_of_0_is_as_of_now(self, server: Served) -> None:
        assert [add(server, "note")] == listed(server, as_of=0)

    def test_a_second_invalidation_is_404_and_changes_nothing(self, server: Served) -> None:
        id = add(server, "kestrel", created_at=1_000)
        server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": 2_000})
        again = server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": 3_000})
        refused(again, 404, "not found or already invalidated")
        refused(server.client.post(f"{ENTRIES}/77/invalidate"), 404, "not found or already invalidated")
        assert (listed(server, as_of=1_999), listed(server, as_of=2_000)) == ([id], [])

    @pytest.mark.parametrize("when", [-1, "yesterday", True, [1]])
    def test_a_time_of_ending_that_is_none_is_400(self, server: Served, when: Any) -> None:
        id = add(server, "kestrel")
        said = server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": when})
        refused(said, 400, "'when' must be a non-negative epoch")
        assert listed(server) == [id]

    @pytest.mark.parametrize("body", [b"", b"{}", b'{"when": 0}', b'{"when": null}'])
    def test_without_a_time_an_entry_ends_now(self, server: Served, body: bytes) -> None:
        id = add(server, "kestrel")
        said = server.client.post(
            f"{ENTRIES}/{id}/invalidate", content=body, headers={"Content-Type": "application/json"}
        )
        assert said.json() == {"invalidated": True, "id": id}

    def test_an_entry_may_end_in_the_second_in_which_it_was_written(self, server: Served) -> None:
        id = add(server, "kestrel")
        written = server.client.get(f"{ENTRIES}/{id}").json()["valid_from"]
        assert server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": written}).status_code == 200

    def test_an_end_before_the_beginning_closes_the_window_where_it_opened(self, server: Served) -> None:
        id = add(server, "kestrel", created_at=5_000)
        said = server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": 2_000}).json()
        assert (said["invalidated"], said["id"], said["valid_to"]) == (True, id, 5_000)
        assert "'when' lies before the entry began" in said["note"]
        for moment in (1_999, 2_000, 4_999, 5_000, 5_001):
            assert listed(server, as_of=moment) == []
        kept = server.parts.door.show(str(id)).memory
        assert kept.valid_to == kept.valid_from

    def test_an_end_that_only_waits_for_a_person_closes_nothing_and_does_not_say_so(
        self, server: Served
    ) -> None:
        door = server.parts.door
        agent = door.as_caller(replace(door.caller, actor="agent"))
        id = str(add(server, "A person's", created_at=5_000))
        for when in (None, 2_000):
            told = entries.invalidate_entry(agent, id, {"when": when})
            assert (told["invalidated"], "valid_to" in told) == (False, False)
            assert "proposal" in told
            assert ("will be closed" in told.get("note", "")) is (when is not None)
        assert server.client.get(f"{ENTRIES}/{id}").json()["valid_to"] is None

    def test_an_end_in_the_future_is_refused_by_its_name_there(self, server: Served) -> None:
        id = add(server, "Later")
        said = server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": 9_999_999_999})
        refused(said, 400, "'when' must not be in the future")

    def test_an_invalidated_entry_is_not_patched_but_deleted(self, server: Served) -> None:
        id = add(server, "kestrel", created_at=1_000)
        server.client.post(f"{ENTRIES}/{id}/invalidate", json={"when": 2_000})
        for body in ({"title": "x"}, {}):
            refused(server.client.patch(f"{ENTRIES}/{id}", json=body), 404, "not found")
        assert server.client.delete(f"{ENTRIES}/{id}").json() == {"deleted": True}
        assert listed(server, as_of=1_500) == []

    def test_an_entry_that_vanishes_while_it_is_patched_is_410(
        self, server: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        id = add(server, "kestrel")
        whole = entries.entry_fields

        def slow(door: Any, *given: Any) -> dict[str, Any]:
            server.parts.door.forget(str(id))
            return whole(door, *given)

        monkeypatch.setattr(entries, "entry_fields", slow)
        refused(server.client.patch(f"{ENTRIES}/{id}", json={"title": "x"}), 410, "vanished")


class TestSuperseding:
    def test_others_end_with_a_new_entry_and_relations_say_so(self, server: Served) -> None:
        a, b = add(server, "Honeycomb wins", created_at=1_000), add(server, "It costs 130", created_at=1_000)
        said = server.client.post(
            ENTRIES, json={"type": "learning", "title": "Both", "supersedes_ids": [a, f"#{b}"]}
        )
        assert said.status_code == 201
        told = said.json()
        assert told["supersedes_manual"] == {"requested": [a, b], "invalidated": [a, b]}
        assert listed(server) == [told["id"]]
        edges = server.client.get(RELATIONS, params={"source_id": told["id"]}).json()["relations"]
        assert [(edge["relation"], edge["target_id"]) for edge in edges] == [
            ("supersedes", b),
            ("supersedes", a),
        ]
        for id in (a, b):
            refused(server.client.get(f"{ENTRIES}/{id}"), 404)

    @pytest.mark.parametrize("bad", [88, "over"])
    def test_one_bad_id_and_nothing_is_written(self, server: Served, bad: Any) -> None:
        good, over = add(server, "good"), add(server, "over")
        server.client.post(f"{ENTRIES}/{over}/invalidate")
        ids = [good, over if bad == "over" else bad]
        said = server.client.post(ENTRIES, json={"type": "learning", "title": "new", "supersedes_ids": ids})
        refused(said, 400, "supersedes_ids", f"#{ids[1]}")
        assert listed(server) == [good]
        assert server.client.get(RELATIONS).json() == {"relations": [], "count": 0}
        assert add(server, "next") == 3

    def test_an_empty_list_supersedes_nothing(self, server: Served) -> None:
        told = server.client.post(ENTRIES, json={"type": "user", "title": "x", "supersedes_ids": []}).json()
        assert list(told) == SHAPE


class TestRelations:
    def test_a_relation_has_its_shape_and_is_listed_newest_first(self, server: Served) -> None:
        a, b, c = (add(server, name) for name in "abc")
        made = relate(server, a, "supports", b)
        assert list(made) == ["id", "tenant_id", "source_id", "target_id", "relation", "created_at"]
        assert (made["id"], made["source_id"], made["target_id"], made["relation"]) == (1, a, b, "supports")
        second = relate(server, b, "refines", c)
        assert server.client.get(RELATIONS).json() == {"relations": [second, made], "count": 2}
        for query, found in (
            ({"source_id": a}, [made]),
            ({"target_id": c}, [second]),
            ({"relation": "supports"}, [made]),
            ({"source_id": a, "relation": "refines"}, []),
            ({"limit": 1}, [second]),
            ({"limit": 0}, [second, made]),
            ({"limit": 5_000}, [second, made]),
        ):
            assert server.client.get(RELATIONS, params=query).json()["relations"] == found

    def test_a_relation_that_there_is_tells_its_number(self, server: Served) -> None:
        a, b = add(server, "a"), add(server, "b")
        made = relate(server, a, "supports", b)
        body = {"source_id": a, "target_id": b, "relation": "supports"}
        said = server.client.post(RELATIONS, json=body)
        refused(said, 409, "already exists")
        assert said.json()["existing_id"] == made["id"]
        relate(server, a, "refines", b)
        relate(server, b, "supports", a)

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ({"target_id": 1}, "self-loops not allowed"),
            ({"target_id": "#1"}, "self-loops not allowed"),
            ({"target_id": 77}, "entries belong to different tenants"),
            ({"source_id": 77}, "entries belong to different tenants"),
            ({"relation": "likes"}, "invalid relation 'likes'"),
            ({"relation": None}, "invalid relation"),
            ({"source_id": None}, "source_id and target_id are required"),
            ({"target_id": 0}, "source_id and target_id are required"),
            ({"target_id": "a b"}, "target_id"),
        ],
    )
    def test_what_cannot_be_related_is_400(self, server: Served, body: dict[str, Any], words: str) -> None:
        add(server, "a"), add(server, "b")
        whole = {"source_id": 1, "target_id": 2, "relation": "supports", **body}
        refused(server.client.post(RELATIONS, json=whole), 400, words)
        assert server.client.get(RELATIONS).json()["count"] == 0

    def test_an_entry_that_is_over_is_still_related(self, server: Served) -> None:
        a, b = add(server, "a"), add(server, "b")
        server.client.post(f"{ENTRIES}/{b}/invalidate")
        assert relate(server, a, "supersedes", b)["target_id"] == b
        assert relate(server, b, "relates_to", a)["source_id"] == b

    def test_relations_outlive_the_end_of_an_entry_but_not_its_deletion(self, server: Served) -> None:
        a, b = add(server, "a"), add(server, "b")
        relate(server, a, "supports", b)
        server.client.post(f"{ENTRIES}/{b}/invalidate")
        assert server.client.get(RELATIONS).json()["count"] == 1
        server.client.delete(f"{ENTRIES}/{b}")
        assert server.client.get(RELATIONS).json()["count"] == 0

    def test_a_relation_is_deleted_by_its_number(self, server: Served) -> None:
        a, b = add(server, "a"), add(server, "b")
        id = relate(server, a, "supports", b)["id"]
        assert server.client.delete(f"{RELATIONS}/{id}").json() == {"deleted": True}
        refused(server.client.delete(f"{RELATIONS}/{id}"), 404, "relation 1 not found")
        refused(server.client.delete(f"{RELATIONS}/none"), 404, "not found")
        assert relate(server, a, "supports", b)["id"] == 2

    @pytest.mark.parametrize(
        ("query", "words"),
        [({"relation": "likes"}, "invalid relation filter"), ({"source_id": "a b"}, "source_id")],
    )
    def test_a_filter_that_is_none_is_400(self, server: Served, query: dict[str, str], words: str) -> None:
        refused(server.client.get(RELATIONS, params=query), 400, words)


class TestGraph:
    def test_the_graph_has_relations_of_which_both_ends_are_there(self, server: Served) -> None:
        a, b, c, d = (add(server, kind, kind) for kind in ("project", "reference", "project", "user"))
        kept, cut = relate(server, a, "supports", c), relate(server, a, "supports", b)
        over = relate(server, d, "refines", a)
        server.client.post(f"{ENTRIES}/{d}/invalidate")
        whole = server.client.get("/v1/memory/graph").json()
        assert list(whole) == ["tenant_id", "entries", "relations"]
        assert [each["id"] for each in whole["entries"]] == [c, b, a]
        assert whole["relations"] == [cut, kept]
        assert over not in whole["relations"]
        some = server.client.get("/v1/memory/graph", params={"type": "project"}).json()
        assert ([each["id"] for each in some["entries"]], some["relations"]) == ([c, a], [kept])
        refused(server.client.get("/v1/memory/graph", params={"type": "x"}), 400, "invalid type filter: x")

    def test_a_graph_of_several_pages_written_in_one_second_is_whole(
        self, server: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(entries, "_PAGE", 50)
        door = server.parts.door
        then = datetime(2026, 1, 1, tzinfo=UTC)
        for number in range(1, 112):
            door.remember(f"note {number}", kind="project", created_at=then, dedupe=False)
            if number > 1:
                door.relate("1", "supports", str(number))
        told = server.client.get("/v1/memory/graph").json()
        assert (len(told["entries"]), len(told["relations"])) == (111, 110)


class TestAdvisors:
    def test_what_needs_an_advisor_is_answered_with_a_note(self, server: Served) -> None:
        body = {"type": "user", "title": "Likes tea", "auto_tag": "a-model", "supersede": "b-model"}
        told = server.client.post(ENTRIES, json=body).json()
        for name, model, lists in (
            ("auto_tag", "a-model", ("added",)),
            ("supersede", "b-model", ("candidates", "invalidated")),
        ):
            assert (told[name]["model"], told[name]["applied"]) == (model, False)
            assert all(told[name][each] == [] for each in lists)
            assert "no advisor is configured" in told[name]["note"]
        assert told["tags"] == []

    def test_a_search_goes_on_without_the_advisor(self, server: Served) -> None:
        for name in ("kestrel one", "kestrel two"):
            add(server, name)
        plain = server.client.get(ENTRIES, params={"q": "kestrel"}).json()
        asked = {"q": "kestrel", "expand": "x", "rerank": "y", "rerank_fine": "z"}
        told = server.client.get(ENTRIES, params=asked).json()
        assert told["entries"] == plain["entries"]
        assert told["expansion"]["applied"] is told["rerank"]["applied"] is False
        assert (told["expansion"]["model"], told["expansion"]["queries"]) == ("x", [])
        assert (told["rerank"]["model"], told["rerank"]["fine_model"]) == ("y", "z")
        for block in ("expansion", "rerank"):
            assert "no advisor is configured" in told[block]["note"]
        assert set(plain) == {"entries", "count"}


class TestTenants:
    @pytest.fixture
    def keys(self, server: Served) -> Iterator[Callable[..., Any]]:
        """Makes a client of a tenant: `keys("acme")`."""
        clients: list[Any] = []

        def client(tenant: str, **headers: str) -> Any:
            root = Caller(tenant=tenant, user="root", permissions=frozenset(PERMISSIONS))
            server.parts.authenticator.forget_keys()
            secret = server.parts.door.as_caller(root).create_key(label=tenant, user="ann").secret
            clients.append(server.connect(secret, **headers))
            return clients[-1]

        yield client
        for each in clients:
            each.close()

    def test_nobody_sees_or_touches_what_is_another_tenants(self, server: Served, keys: Any) -> None:
        acme, beta = keys("acme"), keys("beta")
        conversation = acme.post("/v1/conversations", json={}).json()["id"]
        artifact = acme.post(
            f"/v1/conversations/{conversation}/artifacts", json={"path": "a.md", "content": "text"}
        ).json()["artifact"]["id"]
        for title in ("kestrel one", "kestrel two"):
            assert acme.post(ENTRIES, json={"type": "user", "title": title}).status_code == 201
        body = {"source_id": 1, "target_id": 2, "relation": "supports"}
        assert acme.post(RELATIONS, json=body).status_code == 201

        assert (
            beta.get(ENTRIES).json()["count"]
            == beta.get(ENTRIES, params={"q": "kestrel"}).json()["count"]
            == 0
        )
        assert beta.get(RELATIONS).json()["count"] == 0
        assert beta.get("/v1/memory/graph").json() == {"tenant_id": "beta", "entries": [], "relations": []}
        assert beta.get("/v1/conversations").json()["count"] == beta.get("/v1/artifacts").json()["count"] == 0
        for method, path, sent in (
            ("GET", f"{ENTRIES}/1", None),
            ("PATCH", f"{ENTRIES}/1", {"title": "mine"}),
            ("POST", f"{ENTRIES}/1/invalidate", {}),
            ("DELETE", f"{ENTRIES}/1", None),
            ("DELETE", f"{RELATIONS}/1", None),
            ("GET", f"/v1/conversations/{conversation}", None),
            ("DELETE", f"/v1/conversations/{conversation}", None),
            ("GET", f"/v1/conversations/{conversation}/artifacts", None),
            ("POST", f"/v1/conversations/{conversation}/artifacts", {"path": "b", "content": "c"}),
            ("GET", f"/v1/artifacts/{artifact}", None),
            ("GET", f"/v1/artifacts/{artifact}/raw?via=mem:1", None),
            ("DELETE", f"/v1/artifacts/{artifact}", None),
        ):
            refused(beta.request(method, path, json=sent), 404)
        for field, value in (("conversation_id", conversation), ("artifact_id", artifact)):
            said = beta.post(ENTRIES, json={"type": "user", "title": "x", field: value})
            refused(said, 400, f"{field} does not exist for this tenant")
        refused(beta.get(ENTRIES, params={"conversation_id": conversation}), 400, "conversation_id")
        said = beta.post(ENTRIES, json={"type": "user", "title": "x", "supersedes_ids": [1]})
        refused(said, 400, "#1 does not exist for this tenant")
        assert beta.post(ENTRIES, json={"type": "user", "title": "own"}).json()["tenant_id"] == "beta"
        refused(beta.post(RELATIONS, json=body), 400, "entries belong to different tenants")
        assert acme.get(ENTRIES).json()["count"] == 2

    def test_who_has_no_key_is_401_in_the_same_shape(self, server: Served, keys: Any) -> None:
        keys("acme")
        for key in ("", "Bearer atr_" + "0" * 64):
            said = server.client.get(ENTRIES, headers={"Authorization": key} if key else {})
            refused(said, 401)
            assert "www-authenticate" in said.headers

    def test_an_entry_written_inside_a_conversation_is_pinned_to_it(self, server: Served, keys: Any) -> None:
        inside = keys("acme", **{"OnRecord-Conversation": "talk"})
        told = inside.post(ENTRIES, json={"type": "user", "title": "here"}).json()
        assert told["conversation_id"] == "talk"
        free = {"type": "user", "title": "free", "conversation_id": None}
        assert inside.post(ENTRIES, json=free).json()["conversation_id"] is None
        assert inside.get(ENTRIES, params={"conversation_id": "talk"}).json()["count"] == 2


class TestErasingTenants:
    """DELETE /v1/admin/tenants/{id}: for whoever runs the server."""

    KEY = "an-operator-s-secret-of-more-than-32-characters"

    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[Served]:
        served = Served(db=str(tmp_path / "served.db"), worker="no", operator_key=self.KEY)
        yield served
        served.stop()

    def admin(self, server: Served) -> Any:
        """The client of another tenant's admin."""
        secret = server.make_key(label="beta", tenant="beta", permissions=["memory.admin"])
        return server.connect(secret)

    def test_whoever_runs_the_server_erases_a_tenant_with_everything_in_it(self, server: Served) -> None:
        with self.admin(server) as beta, server.connect(self.KEY) as operator:
            add_by(beta)
            own = add_by(operator)
            assert operator.delete("/v1/admin/tenants/beta").json() == {"deleted": True}
            refused(operator.delete("/v1/admin/tenants/beta"), 404, "tenant beta not found")
            assert [each.name for each in server.parts.door.list_tenants().tenants] == ["default"]
            assert operator.get(f"{ENTRIES}/{own}").status_code == 200

    def test_the_admin_of_a_tenant_erases_none_here_not_even_its_own(self, server: Served) -> None:
        with self.admin(server) as admin:
            add_by(admin)
            for tenant in ("beta", "default"):
                refused(admin.delete(f"/v1/admin/tenants/{tenant}"), 403, "the operator of the store")
            assert admin.get(ENTRIES).json()["count"] == 1

    def test_another_secret_is_nobody(self, server: Served) -> None:
        with server.connect(self.KEY.replace("secret", "sesame")) as stranger:
            assert stranger.delete("/v1/admin/tenants/default").status_code == 401

    @pytest.mark.parametrize("secret", ["short", "with blanks in it, however long the secret may be"])
    def test_a_secret_that_is_none_is_refused_at_the_start(self, tmp_path: Path, secret: str) -> None:
        with pytest.raises(Invalid, match="operator_key"):
            Served(db=str(tmp_path / "other.db"), operator_key=secret)


def add_by(client: Any) -> Any:
    return client.post(ENTRIES, json={"type": "user", "title": "Likes tea"}).json()["id"]
