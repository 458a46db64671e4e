"""WHAT else does a program of the arbiter runtime keep over HTTP? Conversations, their files, and working notes."""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..surfaces.conftest import Served
from .test_arbiter_http import ENTRIES, add, refused

CONVERSATIONS, ARTIFACTS, PADS = "/v1/conversations", "/v1/artifacts", "/v1/memory"
MEGABYTE = 1024 * 1024


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    served = Served(db=str(tmp_path / "served.db"), worker="no")
    yield served
    served.stop()


@pytest.fixture
def talk(server: Served) -> Any:
    """A conversation."""
    return server.client.post(CONVERSATIONS, json={"title": "Planning", "agent_id": "index"}).json()["id"]


def write(
    server: Served, talk: Any, path: str = "notes/plan.md", content: str = "A plan.", **more: Any
) -> Any:
    said = server.client.post(
        f"{CONVERSATIONS}/{talk}/artifacts", json={"path": path, "content": content, **more}
    )
    assert said.status_code in (200, 201), said.text
    return said.json()["artifact"]


class TestConversations:
    def test_a_conversation_is_made_read_listed_and_deleted(self, server: Served) -> None:
        made = server.client.post(CONVERSATIONS, json={"title": "Q3 planning", "agent_id": "index"})
        assert made.status_code == 201
        told = made.json()
        assert (told["id"], told["title"], told["agent_id"]) == (1, "Q3 planning", "index")
        assert told["created_at"] == told["updated_at"]
        assert server.client.get(f"{CONVERSATIONS}/1").json() == told
        second = server.client.post(CONVERSATIONS, json={}).json()
        assert server.client.get(CONVERSATIONS).json() == {"conversations": [second, told], "count": 2}
        assert server.client.get(CONVERSATIONS, params={"limit": 1}).json()["conversations"] == [second]
        before = {"before_updated_at": told["created_at"] - 1}
        assert server.client.get(CONVERSATIONS, params=before).json()["count"] == 0
        assert server.client.delete(f"{CONVERSATIONS}/1").json() == {"deleted": True}
        refused(server.client.get(f"{CONVERSATIONS}/1"), 404, "conversation 1 not found")
        refused(server.client.delete(f"{CONVERSATIONS}/1"), 404, "conversation 1 not found")

    @pytest.mark.parametrize("body", [{"title": "x" * 201}, {"title": 5}, {"agent_id": 5}, []])
    def test_a_body_with_faults_is_400(self, server: Served, body: Any) -> None:
        refused(server.client.post(CONVERSATIONS, json=body), 400)

    def test_deleting_one_unpins_its_entries_and_removes_its_files(self, server: Served, talk: Any) -> None:
        artifact = write(server, talk)["id"]
        id = add(server, "kestrel", conversation_id=talk, artifact_id=artifact)
        server.client.delete(f"{CONVERSATIONS}/{talk}")
        told = server.client.get(f"{ENTRIES}/{id}").json()
        assert (told["conversation_id"], told["artifact_id"]) == (None, None)
        refused(server.client.get(f"{ARTIFACTS}/{artifact}"), 404, "artifact 1 not found")


class TestFiles:
    def test_a_file_is_written_and_written_over_under_one_id(self, server: Served, talk: Any) -> None:
        where = f"{CONVERSATIONS}/{talk}/artifacts"
        body = {"path": "output/report.md", "content": "# Report", "mime_type": "text/markdown"}
        first = server.client.post(where, json=body)
        assert (first.status_code, first.json()["created"]) == (201, True)
        told = first.json()["artifact"]
        assert (told["path"], told["mime_type"], told["size"]) == ("output/report.md", "text/markdown", 8)
        assert told["sha256"] == hashlib.sha256(b"# Report").hexdigest()
        assert told["conversation_id"] == talk
        again = server.client.post(where, json=body | {"content": "Less"})
        assert (again.status_code, again.json()["created"]) == (200, False)
        assert again.json()["artifact"]["id"] == told["id"]
        assert again.json()["conversation_used_bytes"] == 4
        assert server.client.get(f"{ARTIFACTS}/{told['id']}").json() == again.json()["artifact"]

    def test_files_are_listed_for_a_conversation_and_for_all(self, server: Served, talk: Any) -> None:
        other = server.client.post(CONVERSATIONS, json={}).json()["id"]
        a, b, c = write(server, talk, "a"), write(server, talk, "b"), write(server, other, "a")
        told = server.client.get(f"{CONVERSATIONS}/{talk}/artifacts").json()
        assert (told["conversation_id"], told["artifacts"], told["count"]) == (talk, [b, a], 2)
        assert told["bytes_used"] == 14
        assert server.client.get(ARTIFACTS).json()["artifacts"] == [c, b, a]

    def test_the_raw_bytes_come_with_their_kind_and_their_tag(self, server: Served, talk: Any) -> None:
        raw = bytes(range(256))
        told = write(server, talk, "a.bin", b64encode(raw).decode(), encoding="base64", mime_type="image/png")
        said = server.client.get(f"{ARTIFACTS}/{told['id']}/raw")
        assert (said.content, said.headers["content-type"]) == (raw, "image/png")
        assert said.headers["etag"] == f'"{told["sha256"]}"'
        assert said.headers["x-content-type-options"] == "nosniff"
        known = server.client.get(
            f"{CONVERSATIONS}/{talk}/artifacts/{told['id']}/raw",
            headers={"If-None-Match": said.headers["etag"]},
        )
        assert (known.status_code, known.content) == (304, b"")

    def test_a_file_that_says_nothing_of_its_kind_is_a_stream_of_bytes(
        self, server: Served, talk: Any
    ) -> None:
        told = write(server, talk, content="naïve 🙂")
        assert told["mime_type"] == "application/octet-stream"
        assert server.client.get(f"{ARTIFACTS}/{told['id']}/raw").text == "naïve 🙂"

    @pytest.mark.parametrize(
        ("path", "kept"), [("a\\b\\c.txt", "a/b/c.txt"), ("a//b///c/", "a/b/c"), ("ünï.md", "ünï.md")]
    )
    def test_a_path_is_brought_to_its_one_form(self, server: Served, talk: Any, path: str, kept: str) -> None:
        assert write(server, talk, path)["path"] == kept

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "x" * 257,
            "x" * 129,
            "/etc/passwd",
            "\\\\server\\x",
            "C:\\x",
            "a/../b",
            "..",
            "./x",
            ".env",
            "a/.git/b",
            "a\x00b",
            "a\nb",
            "CON",
            "con.txt",
            "PRN.log",
            "a/COM3",
            "LPT9.dat",
        ],
    )
    def test_a_path_that_leads_elsewhere_is_400(self, server: Served, talk: Any, path: str) -> None:
        said = server.client.post(f"{CONVERSATIONS}/{talk}/artifacts", json={"path": path, "content": "x"})
        refused(said, 400, "invalid path")
        assert server.client.get(ARTIFACTS).json()["count"] == 0

    @pytest.mark.parametrize("body", [{"path": "a"}, {"content": "x"}, {"path": 5, "content": "x"}, {}])
    def test_a_file_without_a_path_or_a_content_is_400(self, server: Served, talk: Any, body: Any) -> None:
        refused(server.client.post(f"{CONVERSATIONS}/{talk}/artifacts", json=body), 400, "path and content")

    def test_a_file_of_a_megabyte_fits_and_one_byte_more_does_not(self, server: Served, talk: Any) -> None:
        where = f"{CONVERSATIONS}/{talk}/artifacts"
        write(server, talk, "whole", "x" * MEGABYTE)
        for content in ("x" * (MEGABYTE + 1), "é" * (MEGABYTE // 2 + 1), "x" * (2 * MEGABYTE)):
            said = server.client.post(where, json={"path": "more", "content": content})
            refused(said, 413, "too large")
        told = server.client.get(where).json()
        assert (told["count"], told["bytes_used"]) == (1, MEGABYTE)
        assert write(server, talk, "whole", "less")["size"] == 4

    def test_a_conversation_that_is_full_is_413(
        self, server: Served, talk: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("onrecord.workspace.artifacts.CONVERSATION_BYTES", 10)
        write(server, talk, "a", "x" * 8)
        said = server.client.post(f"{CONVERSATIONS}/{talk}/artifacts", json={"path": "b", "content": "xxx"})
        refused(said, 413, "No room")
        assert write(server, talk, "a", "x" * 10)["size"] == 10

    def test_an_unknown_conversation_has_no_files(self, server: Served) -> None:
        for method, path in (
            ("POST", "77/artifacts"),
            ("GET", "77/artifacts"),
            ("GET", "77/artifacts/1"),
            ("GET", "77/artifacts/1/raw"),
            ("DELETE", "77/artifacts/1"),
        ):
            said = server.client.request(
                method, f"{CONVERSATIONS}/{path}", json={"path": "a", "content": "x"}
            )
            refused(said, 404, "conversation 77 not found")

    def test_a_file_is_deleted_and_entries_lose_their_link(self, server: Served, talk: Any) -> None:
        artifact = write(server, talk)["id"]
        id = add(server, "kestrel", artifact_id=artifact)
        assert server.client.delete(f"{ARTIFACTS}/{artifact}").json() == {"deleted": True}
        assert server.client.get(f"{ENTRIES}/{id}").json()["artifact_id"] is None
        refused(server.client.delete(f"{ARTIFACTS}/{artifact}"), 404)
        refused(server.client.get(f"{ARTIFACTS}/{artifact}/raw"), 404)

    def test_a_single_read_has_the_file_and_a_list_its_number(self, server: Served, talk: Any) -> None:
        artifact = write(server, talk)
        body = {"type": "reference", "title": "The plan", "artifact_id": artifact["id"]}
        made = server.client.post(ENTRIES, json=body).json()
        assert made["artifact"] == artifact
        assert server.client.get(f"{ENTRIES}/{made['id']}").json() == made
        (told,) = server.client.get(ENTRIES).json()["entries"]
        assert told["artifact_id"] == artifact["id"]
        assert "artifact" not in told

    def test_a_link_is_set_and_cleared_by_a_patch(self, server: Served, talk: Any) -> None:
        artifact, id = write(server, talk), add(server, "The plan")
        linked = server.client.patch(f"{ENTRIES}/{id}", json={"artifact_id": artifact["id"]}).json()
        assert (linked["artifact_id"], linked["artifact"]) == (artifact["id"], artifact)
        cleared = server.client.patch(f"{ENTRIES}/{id}", json={"artifact_id": None}).json()
        assert cleared["artifact_id"] is None
        assert "artifact" not in cleared
        refused(server.client.patch(f"{ENTRIES}/{id}", json={"artifact_id": 77}), 400, "does not exist")
        refused(server.client.patch(f"{ENTRIES}/{id}", json={"artifact_id": "1"}), 400, "artifact_id")

    def test_a_file_of_another_conversation_is_read_by_way_of_an_entry(
        self, server: Served, talk: Any
    ) -> None:
        other = server.client.post(CONVERSATIONS, json={}).json()["id"]
        artifact = write(server, talk)["id"]
        id = add(server, "The plan", artifact_id=artifact)
        stranger = add(server, "Of something else")
        there = f"{CONVERSATIONS}/{other}/artifacts/{artifact}"
        for via in ({}, {"via": f"mem:{stranger}"}, {"via": "mem:77"}):
            for path in (there, f"{there}/raw"):
                refused(server.client.get(path, params=via), 404, "artifact 1 not found")
        for via in (f"mem:{id}", f"mem:#{id}"):
            assert server.client.get(there, params={"via": via}).json()["id"] == artifact
            assert server.client.get(f"{there}/raw", params={"via": via}).text == "A plan."
        refused(server.client.get(there, params={"via": str(id)}), 400, "mem:<entry_id>")
        refused(server.client.delete(there), 404)
        own = server.client.get(f"{CONVERSATIONS}/{talk}/artifacts/{artifact}")
        assert own.status_code == 200


class TestInsideAConversation:
    """With a header that says where the program is."""

    @pytest.fixture
    def inside(self, server: Served) -> Iterator[Any]:
        client = server.connect(**{"OnRecord-Conversation": "here"})
        yield client
        client.close()

    def test_files_of_another_conversation_need_an_entry(
        self, server: Served, talk: Any, inside: Any
    ) -> None:
        artifact = write(server, talk)["id"]
        id = add(server, "The plan", artifact_id=artifact)
        refused(inside.get(f"{ARTIFACTS}/{artifact}/raw"), 404)
        assert inside.get(f"{ARTIFACTS}/{artifact}/raw", params={"via": f"mem:{id}"}).text == "A plan."

    def test_nobody_gets_from_one_conversation_into_another_by_a_path(
        self, server: Served, talk: Any, inside: Any
    ) -> None:
        artifact = write(server, talk)["id"]
        for path in ("", f"/{artifact}", f"/{artifact}/raw"):
            refused(inside.get(f"{CONVERSATIONS}/{talk}/artifacts{path}"), 404)
        body = {"path": "a", "content": "x"}
        refused(inside.post(f"{CONVERSATIONS}/{talk}/artifacts", json=body), 404)


class TestScratchpads:
    def test_one_that_was_never_written_is_empty_and_no_error(self, server: Served) -> None:
        said = server.client.get(f"{PADS}/researcher")
        assert (said.status_code, said.json()) == (
            200,
            {"agent_id": "researcher", "kind": "agent", "exists": False, "size": 0, "content": ""},
        )
        assert server.client.get(PADS).json() == {"tenant_id": "default", "count": 0, "entries": []}

    def test_notes_are_read_as_a_whole_and_listed(self, server: Served) -> None:
        door = server.parts.door
        door.append_scratchpad("look at Paris", agent="researcher")
        door.append_scratchpad("for all of us")
        told = server.client.get(f"{PADS}/researcher").json()
        assert (told["exists"], told["kind"]) == (True, "agent")
        assert told["content"].endswith(" -->\nlook at Paris\n")
        assert told["size"] == len(told["content"].encode())
        shared = server.client.get(f"{PADS}/shared").json()
        assert (shared["kind"], shared["agent_id"], shared["exists"]) == ("shared", "shared", True)
        listed = server.client.get(PADS).json()
        assert listed["entries"] == [
            {"kind": "shared", "agent_id": "", "size": shared["size"]},
            {"kind": "agent", "agent_id": "researcher", "size": told["size"]},
        ]

    @pytest.mark.parametrize(
        "agent",
        ["..%2Fx", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "a%20b", "a.b", "x" * 65, "%C3%A9", "a%00b", "a/b"],
    )
    def test_a_name_that_leads_elsewhere_is_400(self, server: Served, agent: str) -> None:
        refused(server.client.get(f"{PADS}/{agent}"), 400, "invalid agent id")

    def test_notes_are_no_entries(self, server: Served) -> None:
        server.parts.door.append_scratchpad("a kestrel", agent="researcher")
        assert server.client.get(ENTRIES, params={"q": "kestrel"}).json()["count"] == 0
