"""DOES it answer over HTTP as it does at home? A real server on this machine, and a real client."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from onrecord.features import OPERATIONS
from onrecord.model.wire import to_json
from onrecord.operation import StorePolicy
from tests.recall.test_lineage import a_manifest

Starting = Callable[..., Any]


def remembered(server: Any, content: str = "Revenue is net of refunds.", **fields: Any) -> Any:
    said = server.client.post("/v1/memories", json={"content": content, **fields})
    assert said.status_code in (200, 201), said.text
    return said.json()["memory"]


def problem(said: Any, status: int) -> Any:
    """The problem that came back, in the one shape that all have."""
    assert said.status_code == status, said.text
    assert said.headers["content-type"] == "application/problem+json"
    told = said.json()
    assert told["status"] == status
    assert told["type"].startswith("urn:onrecord:")
    assert told["title"]
    assert told["detail"]
    assert told["request"] == said.headers["x-request-id"]
    return told


class TestAnswers:
    def test_a_new_memory_is_201_with_its_address_and_the_same_again_is_200(self, server: Any) -> None:
        said = server.client.post("/v1/memories", json={"content": "Deploys are frozen on Fridays."})
        assert said.status_code == 201
        assert said.headers["location"] == "/v1/memories/1"
        assert server.client.get(said.headers["location"]).json()["memory"] == said.json()["memory"]
        again = server.client.post("/v1/memories", json={"content": "Deploys are frozen on Fridays."})
        assert (again.status_code, again.json()["outcome"]) == (200, "unchanged")

    def test_an_answer_is_what_the_door_gives_as_json(self, server: Any) -> None:
        remembered(server)
        assert server.client.get("/v1/memories/1").json() == to_json(server.parts.door.show("1"))

    def test_fields_of_a_query_are_read_as_their_rules_want(self, server: Any) -> None:
        remembered(server, tags=["a"])
        remembered(server, "Refunds take ten days.", tags=["b"], kind="decision")
        remembered(server, "Nobody asks for this.", tags=["c"])
        page = server.client.get("/v1/memories", params={"tags": ["a", "b"], "limit": "1"}).json()
        assert len(page["memories"]) == 1
        kinds = server.client.get("/v1/memories?kinds=decision,learning").json()
        assert [each["id"] for each in kinds["memories"]] == ["2"]
        then = server.client.get("/v1/memories/1?as_of=2020-01-01")
        assert "did not exist at that time" in problem(then, 404)["detail"]

    def test_a_model_is_asked_for_by_any_of_its_names(self, server: Any, tmp_path: Path) -> None:
        """A path takes a URN, also one with a slash in it."""
        at_the_machine = server.parts.door.as_caller(server.parts.door.caller, StorePolicy())
        at_the_machine.ingest(
            a_manifest(tmp_path / "manifest.json", {"orders": []}, relation="ware/house.public")
        )
        urn = "urn:li:dataset:(urn:li:dataPlatform:postgres,ware/house.public.orders,PROD)"
        for name in (urn, "shop.orders", "orders"):
            told = server.client.get(f"/v1/models/{quote(name, safe='')}")
            assert (told.status_code, told.json()["model"]) == (200, "shop.orders")
            inside = server.client.get("/v1/entities", params={"inside": name}).json()
            assert [each["canonical"] for each in inside["entities"]] == [
                "shop.orders.day",
                "shop.orders.total",
            ]
        assert "nowhere" in problem(server.client.get("/v1/entities?inside=nowhere"), 422)["detail"]

    def test_pages_are_joined_by_links(self, server: Any) -> None:
        for number in range(5):
            remembered(server, f"Note {number}.", dedupe=False)
        seen, where = [], "/v1/memories?limit=2&statuses=active"
        while where:
            said = server.client.get(where)
            seen += [each["id"] for each in said.json()["memories"]]
            where = said.links["next"]["url"] if "next" in said.links else None
        assert seen == ["5", "4", "3", "2", "1"]

    def test_a_question_is_answered(self, server: Any) -> None:
        remembered(server)
        told = server.client.post("/v1/recall", json={"question": "what is revenue?"}).json()
        assert [hit["memory"]["id"] for hit in told["hits"]] == ["1"]

    def test_a_memory_lives_and_ends(self, server: Any) -> None:
        remembered(server)
        remembered(server, "Refunds take ten days.")
        related = server.client.put("/v1/memories/1/relations/supports/2")
        assert related.json()["created"] is True
        assert len(server.client.get("/v1/memories/1/neighbours").json()["edges"]) == 1
        assert server.client.delete("/v1/memories/1/relations/supports/2").status_code == 200
        assert server.client.post("/v1/memories/1/retire", json={"reason": "sold"}).json()["changed"] is True
        assert server.client.delete("/v1/memories/1").json()["versions"] >= 2
        problem(server.client.get("/v1/memories/1"), 404)

    def test_the_conversation_comes_from_a_header(self, server: Any) -> None:
        said = server.client.post(
            "/v1/memories", json={"content": "Here."}, headers={"OnRecord-Conversation": "c1"}
        )
        assert said.json()["memory"]["conversation"] == "c1"

    def test_head_is_get_without_a_body(self, server: Any) -> None:
        remembered(server)
        said = server.client.head("/v1/memories/1")
        assert (said.status_code, said.content, said.headers["etag"]) == (200, b"", '"1"')

    def test_text_of_every_script_comes_back_as_it_went(self, server: Any) -> None:
        for text in (
            "Ärger über Größe",
            "売上は返金後",
            "مبيعات",
            "a\tb\n'; DROP TABLE memories; --",
            "🧠 </script>",
            "${7*7}",
        ):
            told = remembered(server, text, title="<b>&</b>", tags=["<i>"], dedupe=False)
            assert told["content"] == text
            assert server.client.get(f"/v1/memories/{told['id']}").json()["memory"]["content"] == text


class TestVersions:
    def test_the_tag_of_a_memory_is_its_version(self, server: Any) -> None:
        remembered(server)
        assert server.client.get("/v1/memories/1").headers["etag"] == '"1"'
        said = server.client.patch("/v1/memories/1", json={"title": "Net"}, headers={"If-Match": '"1"'})
        assert (said.status_code, said.headers["etag"]) == (200, '"2"')

    def test_a_change_of_an_old_version_is_412_with_if_match_and_409_without(self, server: Any) -> None:
        remembered(server)
        server.client.patch("/v1/memories/1", json={"title": "Net"})
        lost = server.client.patch("/v1/memories/1", json={"title": "Lost"}, headers={"If-Match": '"1"'})
        assert "at version 2, not 1" in problem(lost, 412)["detail"]
        lost = server.client.patch("/v1/memories/1", json={"title": "Lost", "expected_version": 1})
        assert problem(lost, 409)["type"] == "urn:onrecord:version-conflict"
        assert server.client.get("/v1/memories/1").json()["memory"]["title"] == "Net"

    def test_what_is_known_is_not_sent_again_until_it_changes(self, server: Any) -> None:
        remembered(server)
        remembered(server, "Refunds take ten days.")
        known = {"If-None-Match": server.client.get("/v1/memories/1").headers["etag"]}
        said = server.client.get("/v1/memories/1", headers=known)
        assert (said.status_code, said.content) == (304, b"")
        server.client.put("/v1/memories/1/relations/supports/2")
        related = server.client.get("/v1/memories/1", headers=known)
        assert related.status_code == 200
        tag = {"If-Match": related.headers["etag"]}
        assert server.client.patch("/v1/memories/1", json={"title": "Net"}, headers=tag).status_code == 200

    def test_a_condition_that_cannot_be_kept_is_refused(self, server: Any) -> None:
        remembered(server)
        problem(server.client.delete("/v1/memories/1", headers={"If-Match": '"1"'}), 422)
        problem(server.client.patch("/v1/memories/1", json={"title": "x"}, headers={"If-Match": "W/1"}), 412)
        both = {"title": "x", "expected_version": 1}
        problem(server.client.patch("/v1/memories/1", json=both, headers={"If-Match": '"1"'}), 422)
        assert server.client.get("/v1/memories/1").headers["etag"] == '"1"'


class TestRepeating:
    def test_a_write_under_a_key_is_done_once_and_answered_alike(self, server: Any) -> None:
        ask = {"json": {"content": "Once.", "dedupe": False}, "headers": {"Idempotency-Key": "k-1"}}
        first, second = (server.client.post("/v1/memories", **ask) for _ in range(2))
        assert (first.status_code, second.status_code) == (201, 201)
        assert first.json()["memory"] == second.json()["memory"]
        assert second.headers["idempotent-replayed"] == "true"
        assert second.headers["etag"] == first.headers["etag"]
        assert len(server.client.get("/v1/memories").json()["memories"]) == 1

    def test_a_key_is_for_one_request(self, server: Any) -> None:
        headers = {"Idempotency-Key": "k-1"}
        server.client.post("/v1/memories", json={"content": "One."}, headers=headers)
        other = server.client.post("/v1/memories", json={"content": "Two."}, headers=headers)
        assert problem(other, 422)["faults"][0]["field"] == "Idempotency-Key"

    def test_what_failed_may_be_sent_again(self, server: Any) -> None:
        headers = {"Idempotency-Key": "k-1"}
        problem(server.client.post("/v1/memories/1/retire", headers=headers), 404)
        remembered(server)
        assert server.client.post("/v1/memories/1/retire", headers=headers).status_code == 200

    def test_what_is_kept_of_an_answer_holds_no_text(self, server: Any) -> None:
        ask = {"json": {"content": "Zanzibar is closed."}, "headers": {"Idempotency-Key": "k-1"}}
        server.client.post("/v1/memories", **ask)
        server.client.delete("/v1/memories/1")
        problem(server.client.post("/v1/memories", **ask), 404)
        server.stop()
        files = [path.read_bytes() for path in server.folder.iterdir() if path.is_file()]
        assert not any(b"Zanzibar" in held for held in files)

    def test_many_at_once_under_one_key_write_once(self, server: Any) -> None:
        ask = {"json": {"content": "Once.", "dedupe": False}, "headers": {"Idempotency-Key": "k-1"}}
        statuses: list[int] = []

        def send() -> None:
            with server.connect() as client:
                statuses.append(client.post("/v1/memories", **ask).status_code)

        threads = [threading.Thread(target=send) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(statuses) <= {201, 409}
        assert len(server.client.get("/v1/memories").json()["memories"]) == 1


class TestMoving:
    def test_an_export_comes_back_by_an_import(self, served: Starting) -> None:
        here = served(db=":memory:")
        remembered(here)
        exported = here.client.get("/v1/export")
        assert exported.headers["content-type"] == "application/jsonl"
        lines = [json.loads(line) for line in exported.text.splitlines()]
        assert lines[0]["memories"] == 1
        there = served(db=":memory:")
        headers = {"Content-Type": "application/jsonl"}
        said = there.client.post("/v1/import", content=exported.content, headers=headers)
        assert (said.status_code, said.json()["added"]) == (200, 1)
        assert there.client.get("/v1/memories/1").json()["memory"]["content"] == "Revenue is net of refunds."
        again = there.client.post("/v1/import", content=exported.content, headers=headers)
        assert again.json()["unchanged"] == 1

    def test_files_of_the_server_are_out_of_reach(self, server: Any) -> None:
        problem(server.client.get("/v1/export?path=/tmp/stolen.jsonl"), 422)
        said = server.client.post(
            "/v1/import?path=/etc/passwd", content=b"{}", headers={"Content-Type": "application/jsonl"}
        )
        problem(said, 422)
        problem(server.client.post("/v1/ingest", json={"path": "/etc"}), 403)

    def test_what_is_no_export_is_refused_line_by_line(self, server: Any) -> None:
        problem(server.client.post("/v1/import", json={}), 415)
        headers = {"Content-Type": "application/x-ndjson"}
        told = problem(server.client.post("/v1/import", content=b"nonsense\n", headers=headers), 422)
        assert "body, line 1" in told["detail"]
        assert "/tmp" not in told["detail"]


class TestErrors:
    def test_every_fault_comes_at_once_with_its_field(self, server: Any) -> None:
        ask = {"content": "x", "kind": "facts", "confidence": "certain"}
        told = problem(server.client.post("/v1/memories", json=ask), 422)
        assert [fault["field"] for fault in told["faults"]] == ["kind", "confidence"]

    def test_an_unknown_field_is_named_with_the_nearest(self, server: Any) -> None:
        told = problem(server.client.post("/v1/memories", json={"content": "x", "titel": "y"}), 422)
        assert "did you mean title?" in told["detail"]
        told = problem(server.client.get("/v1/memories?limits=3"), 422)
        assert "did you mean limit?" in told["detail"]

    def test_a_field_in_two_places_is_refused(self, server: Any) -> None:
        problem(server.client.patch("/v1/memories/1", json={"id": "2", "title": "x"}), 422)
        problem(server.client.get("/v1/memories?limit=1&limit=2"), 422)
        problem(server.client.post("/v1/memories?kind=fact", json={"content": "x"}), 422)

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (b"{", "not JSON"),
            (b"nonsense", "not JSON"),
            (b'{"content": "\xff"}', "not UTF-8"),
            (b'{"content": NaN}', "NaN"),
            (b'{"content": "a", "content": "b"}', "appears twice"),
            (b"[1]", "must be a JSON object"),
            (b'"text"', "must be a JSON object"),
            (b"null", "must be a JSON object"),
            (b'{"metadata": ' + b'{"a":' * 60 + b"1" + b"}" * 61, "nested deeper"),
            (b"[" * 100_000, "nested deeper"),
            (b'{"content": ' + b"[" * 500 + b"]" * 500 + b"}", "nested deeper"),
            (b'{"limit": ' + b"9" * 5_000 + b"}", "cannot be read"),
        ],
    )
    def test_an_unreadable_body_is_400(self, server: Any, body: bytes, reason: str) -> None:
        headers = {"Content-Type": "application/json"}
        told = problem(server.client.post("/v1/memories", content=body, headers=headers), 400)
        assert reason in told["detail"]

    def test_text_that_cannot_be_stored_is_a_fault_not_a_failure(self, server: Any) -> None:
        headers = {"Content-Type": "application/json"}
        for escape in (b"\\u0000", b"\\ud800"):
            body = b'{"content": "a' + escape + b'b"}'
            told = problem(server.client.post("/v1/memories", content=body, headers=headers), 422)
            assert told["faults"][0]["field"] == "content"
        problem(server.client.get("/v1/memories/%00"), 422)
        problem(server.client.get("/v1/memories?tags=%ff%00"), 422)

    @pytest.mark.parametrize(
        "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
    )
    def test_a_body_of_another_kind_is_415(self, server: Any, kind: str) -> None:
        headers = {"Content-Type": kind} if kind else {}
        problem(server.client.post("/v1/memories", content=b'{"content": "x"}', headers=headers), 415)

    def test_a_body_that_is_too_large_is_413_whether_it_says_so_or_not(self, server: Any) -> None:
        large = b'{"content": "' + b"a" * 2_200_000 + b'"}'
        headers = {"Content-Type": "application/json"}
        problem(server.client.post("/v1/memories", content=large, headers=headers), 413)

        def parts() -> Any:
            yield from (b"a" * 65_536 for _ in range(40))

        with server.connect() as client:
            problem(client.post("/v1/memories", content=parts(), headers=headers), 413)

    def test_what_is_not_there_is_404_and_what_cannot_be_done_405(self, server: Any) -> None:
        for path in ("/v1", "/v1/", "/v1/moons", "/v2/memories", "/v1/memories/", "/v1/keys/", "/docs"):
            problem(server.client.get(path), 404)
        for path in ("/health/live", "/openapi.json", "/metrics"):
            assert "GET" in problem(server.client.post(path), 405)["detail"]
        said = server.client.put("/v1/memories", json={})
        problem(said, 405)
        assert said.headers["allow"] == "GET, HEAD, OPTIONS, POST"

    @pytest.mark.parametrize(
        "path",
        [
            "/v1/memories/..%2f..%2fetc%2fpasswd",
            "/v1/memories/%2e%2e",
            "/v1//memories",
            "/v1/memories/1/../2",
            "/v1/memories/1%2fhistory",
            "/v1/memories/%5c..%5c",
            "/v1/memories/1;admin=true",
            "/%76%31/memories/1/",
            "//v1/memories",
        ],
    )
    def test_tricks_with_a_path_lead_nowhere(self, server: Any, path: str) -> None:
        server.parts.door.remember("secret plans")
        answer = server.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert answer.split(b" ", 2)[1] in (b"404", b"422"), answer
        assert b"secret plans" not in answer

    def test_a_failure_of_ours_tells_nothing_of_itself(
        self, server: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*given: Any, **named: Any) -> Any:
            raise RuntimeError("secret plans")

        monkeypatch.setattr(server.parts.store, "reading", fail)
        said = server.client.get("/v1/memories/1")
        problem(said, 500)
        assert "secret" not in said.text
        assert any(line.get("error") == "RuntimeError" for line in server.log)
        assert "secret" not in str(server.log)


class TestRequestIds:
    def test_a_sane_id_is_taken_and_given_back_and_others_are_not(self, server: Any) -> None:
        said = server.client.get("/health/live", headers={"X-Request-Id": "abc-1"})
        assert said.headers["x-request-id"] == "abc-1"
        for odd in ("a b", "x" * 65, "<script>"):
            said = server.client.get("/health/live", headers={"X-Request-Id": odd})
            assert len(said.headers["x-request-id"]) == 32

    def test_the_audit_knows_the_request(self, server: Any) -> None:
        said = server.client.post("/v1/memories", json={"content": "x"}, headers={"X-Request-Id": "r-7"})
        assert said.status_code == 201
        assert server.client.get("/v1/audit").json()["entries"][0]["request"] == "r-7"


def test_every_operation_with_a_route_is_there(server: Any) -> None:
    for operation in OPERATIONS:
        if operation.route is not None:
            method, _, path = operation.route.partition(" ")
            said = server.client.request("TRACE", "/v1" + path.replace("{", "").replace("}", ""))
            assert method in problem(said, 405)["detail"], operation.name
