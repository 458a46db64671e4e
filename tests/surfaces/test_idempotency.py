"""WHAT is kept of an answer, so that it can be given again? Names, and nothing that someone may want to be gone."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord
from onrecord.operation import StorePolicy
from onrecord.surfaces.rest.declared import of_faces
from onrecord.testing.shop import ENTITY, described, write_source

KEY = {"Idempotency-Key": "one"}


def kept(server: Any) -> str:
    with closing(sqlite3.connect(server.config.db)) as connection:
        return str(connection.execute("SELECT operation, body FROM idempotency").fetchall())


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/memories", {"content": "The word is quagga."}, "memory"),
        ("/v1/workspace/conversations", {"title": "The word is quagga."}, "conversation"),
        ("/v1/workspace/artifacts", {"path": "quagga.md", "content": "x", "conversation": "1"}, "artifact"),
    ],
)
def test_an_answer_is_given_again_and_what_it_says_is_kept_in_one_place(
    server: Any, path: str, body: dict[str, Any], field: str
) -> None:
    server.client.post("/v1/workspace/conversations", json={"title": "Animals"})
    first, second = (server.client.post(path, json=body, headers=KEY) for _ in range(2))
    assert "quagga" in first.text
    assert second.json()[field] == first.json()[field]
    assert second.headers["idempotent-replayed"] == "true"
    assert "quagga" not in kept(server)


def test_many_at_once_are_saved_once(server: Any) -> None:
    body = {
        "memories": [{"content": "The word is quagga."}, {"content": "Bad.", "supersedes": ["999"]}],
        "on_fault": "skip",
    }
    first, second = (server.client.post("/v1/memories/batch", json=body, headers=KEY) for _ in range(2))
    assert (first.status_code, second.json()) == (200, first.json())
    assert second.headers["idempotent-replayed"] == "true"
    server.client.delete("/v1/memories/1")
    gone = server.client.post("/v1/memories/batch", json=body, headers=KEY)
    assert gone.status_code == 404


def test_an_answer_kept_under_former_names_is_given_again_under_those_of_today(server: Any) -> None:
    server.client.post("/v1/memories", json={"content": "Prices include VAT.", "review": True})
    server.client.post("/v1/memories/1/reject", json={"reason": "not in March"})
    body = {"content": "Prices include VAT.", "review": True}
    first = server.client.post("/v1/memories", json=body, headers=KEY).json()
    assert (first["outcome"], first["rejected"][0]["id"]) == ("rejected", "1")
    with closing(sqlite3.connect(server.config.db)) as connection, connection:
        connection.execute("""UPDATE idempotency SET body = replace(body, '"rejected"', '"turned_down"')""")
    assert '"turned_down": [{' in kept(server)
    again = server.client.post("/v1/memories", json=body, headers=KEY)
    assert (again.headers["idempotent-replayed"], again.json()) == ("true", first)


def test_what_was_deleted_since_is_not_given_again(server: Any) -> None:
    made = server.client.post("/v1/workspace/conversations", json={"title": "Animals"}, headers=KEY).json()
    gone = [
        server.client.delete(
            f"/v1/workspace/conversations/{made['conversation']['id']}", headers={"Idempotency-Key": "two"}
        )
        for _ in range(2)
    ]
    assert [each.status_code for each in gone] == [200, 200]
    assert (
        server.client.post("/v1/workspace/conversations", json={"title": "Animals"}, headers=KEY).status_code
        == 404
    )


def test_a_question_is_asked_again_so_that_nothing_outlives_what_was_forgotten(server: Any) -> None:
    id = server.client.post("/v1/memories", json={"content": "The word is quagga."}).json()["memory"]["id"]
    asked = {"json": {"question": "Which word is it, quagga?"}, "headers": KEY}
    assert "quagga" in server.client.post("/v1/recall", **asked).json()["hits"][0]["memory"]["content"]
    server.client.delete(f"/v1/memories/{id}")
    assert not server.client.post("/v1/recall", **asked).json()["hits"]
    assert "quagga" not in kept(server)


def test_what_was_only_tried_is_tried_again(server: Any) -> None:
    body = {"content": "The word is quagga.", "dry_run": True}
    first, second = (server.client.post("/v1/memories", json=body, headers=KEY) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert second.json()["dry_run"]
    assert "location" not in first.headers
    assert "idempotent-replayed" not in second.headers


def test_the_same_change_of_another_version_is_another_request(server: Any) -> None:
    server.client.post("/v1/memories", json={"content": "The word is quagga."})
    said = [
        server.client.patch(
            "/v1/memories/1", json={"tags": ["zoo"]}, headers=KEY | {"If-Match": f'"{version}"'}
        )
        for version in (1, 1, 2)
    ]
    assert [each.status_code for each in said] == [200, 200, 422]
    assert said[1].headers["idempotent-replayed"] == "true"


def test_two_keys_are_one_too_many(server: Any) -> None:
    twice = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    said = server.client.post("/v1/memories", json={"content": "The word is quagga."}, headers=twice)
    assert said.status_code == 422
    assert "twice" in said.text


#: Every write of a face's routes, on a store that `furnished` has filled; each is sent twice.
TRANSLATED: dict[str, tuple[str, str, Any]] = {
    "create_entry": (
        "POST",
        "/v1/memory/entries",
        {"type": "learning", "title": "T", "content": "quagga", "supersedes_ids": [1]},
    ),
    "patch_entry": ("PATCH", "/v1/memory/entries/1", {"content": "quagga", "title": "New"}),
    "delete_entry": ("DELETE", "/v1/memory/entries/1", None),
    "invalidate_entry": ("POST", "/v1/memory/entries/1/invalidate", {"when": 9_999}),
    "create_relation": (
        "POST",
        "/v1/memory/relations",
        {"source_id": 1, "target_id": 2, "relation": "refines"},
    ),
    "delete_relation": ("DELETE", "/v1/memory/relations/1", None),
    "create_conversation": ("POST", "/v1/conversations", {"title": "quagga"}),
    "delete_conversation": ("DELETE", "/v1/conversations/1", None),
    "write_artifact": ("POST", "/v1/conversations/1/artifacts", {"path": "new.md", "content": "quagga"}),
    "delete_artifact": ("DELETE", "/v1/conversations/1/artifacts/1", None),
    "delete_any_artifact": ("DELETE", "/v1/artifacts/1", None),
    "put_agent": ("PUT", "/v1/agents/scout", {"name": "scout"}),
    "erase_tenant": ("DELETE", "/v1/admin/tenants/other", None),
    "save_memory": ("POST", "/memories", {"learning": "quagga", "linked_entities": ["memory:1"]}),
    "forget_memory": ("DELETE", "/memories/1", None),
    "put_record": ("PUT", "/api/v1/admin/memory/records/1", {"content": "quagga and okapi"}),
    "delete_record": ("DELETE", "/api/v1/admin/memory/records/1", None),
    "put_insight": (
        "PUT",
        "/api/v1/admin/knowledge/insights/insight",
        {"insight_text": "quagga and okapi"},
    ),
    "put_insight_status": (
        "PUT",
        "/api/v1/admin/knowledge/insights/insight/status",
        {"status": "rejected", "review_notes": "quagga"},
    ),
    "roll_back_changeset": ("POST", "/api/v1/admin/knowledge/changesets/1/rollback", None),
}


#: Whoever runs the server, who alone may erase a tenant here.
OPERATOR = "or_op_" + "a" * 40


@pytest.fixture
def furnished(served: Any) -> Any:
    server = served(operator_key=OPERATOR, embedder="none")
    server.client.headers["Authorization"] = f"Bearer {OPERATOR}"
    door = server.parts.door
    door.remember("One.")
    door.remember("Two.")
    door.relate("1", "supports", "2")
    door.register_conversation()
    door.write_artifact("a.md", "x", conversation="1")
    door.as_caller(replace(door.caller, tenant="other")).remember("Elsewhere.")
    return server


def _curate(door: OnRecord, folder: Path) -> None:
    """An insight that waits, and a changeset."""
    door.remember("Refunds are counted by hand.", id="insight", review=True)
    door.as_caller(door.caller, StorePolicy()).ingest(write_source(folder / "source"))
    door.remember("Orders are counted at noon.", id="applied", edits=[described("quagga", ENTITY)])
    door.approve("applied")
    door.apply(ENTITY)


@pytest.mark.parametrize("name", TRANSLATED)
def test_in_the_words_of_others_too_a_write_is_done_once(furnished: Any, name: str, tmp_path: Path) -> None:
    method, path, body = TRANSLATED[name]
    if "/knowledge/" in path:
        _curate(furnished.parts.door, tmp_path)

    def send() -> Any:
        return furnished.client.request(method, path, json=body, headers=KEY)

    first = send()
    assert first.status_code in (200, 201), first.text
    assert "idempotent-replayed" not in first.headers
    before = everything(furnished)
    second = send()
    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert second.headers["idempotent-replayed"] == "true"
    assert everything(furnished) == before
    assert "quagga" not in kept(furnished)


def test_every_write_of_a_faces_routes_is_tried_under_a_key() -> None:
    routes = [each for http in of_faces() for each in http.routes if each.method != "GET"]
    assert {each.name for each in routes if each.is_one_write} == {*TRANSLATED, "search"}
    assert {each.name for each in routes if not each.is_one_write} == {"slash", "reindex", "dismiss_failures"}


def everything(server: Any) -> dict[str, Any]:
    """All rows of the store but those that say when something was last done."""
    with closing(sqlite3.connect(server.config.db)) as connection:
        tables = ("memories", "versions", "relations", "conversations", "artifacts", "audit", "idempotency")
        return {each: connection.execute(f"SELECT * FROM {each}").fetchall() for each in tables}


def test_what_has_changed_since_is_not_done_again_in_the_words_of_others(furnished: Any) -> None:
    client = furnished.client
    entry = {"type": "learning", "title": "T", "content": "quagga"}
    assert client.patch("/v1/memory/entries/1", json={"content": "quagga"}, headers=KEY).status_code == 200
    client.post("/v1/memory/entries/1/invalidate", json={})
    said = client.patch("/v1/memory/entries/1", json={"content": "quagga"}, headers=KEY)
    assert (said.status_code, "was done before" in said.json()["error"]) == (409, True)
    made = client.post("/v1/memory/entries", json=entry, headers={"Idempotency-Key": "two"}).json()
    client.delete(f"/v1/memory/entries/{made['id']}")
    said = client.post("/v1/memory/entries", json=entry, headers={"Idempotency-Key": "two"})
    assert (said.status_code, "has been erased" in said.json()["error"]) == (404, True)
    assert len(furnished.parts.door.browse().memories) == 1


def test_a_key_of_another_request_is_refused_in_the_words_of_others(furnished: Any) -> None:
    furnished.client.post("/v1/memories", json={"content": "Three."}, headers=KEY)
    body = {"type": "learning", "title": "T", "content": "Three."}
    said = furnished.client.post("/v1/memory/entries", json=body, headers=KEY)
    assert (said.status_code, "another request" in said.json()["error"]) == (400, True)
    said = furnished.client.post("/v1/memory/entries", json=body, headers={"Idempotency-Key": "x" * 201})
    assert (said.status_code, "printable" in said.json()["error"]) == (400, True)
    assert len(furnished.parts.door.browse().memories) == 3


def test_that_it_is_there_already_is_said_again_too(furnished: Any) -> None:
    body = {"source_id": 1, "target_id": 2, "relation": "supports"}
    said = [furnished.client.post("/v1/memory/relations", json=body, headers=KEY) for _ in range(2)]
    assert [(each.status_code, each.json()["existing_id"]) for each in said] == [(409, 1)] * 2


def test_a_text_of_commands_is_no_single_write(furnished: Any) -> None:
    said = furnished.client.post("/v1/slash", json={"text": "/mem add fact T -- x"}, headers=KEY)
    assert (said.status_code, "protects one write" in said.json()["error"]) == (400, True)
    assert len(furnished.parts.door.browse().memories) == 2
