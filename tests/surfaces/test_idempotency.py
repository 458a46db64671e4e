"""WHAT is kept of an answer, so that it can be given again? Names, and nothing that someone may want to be gone."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest

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


def test_what_was_deleted_since_is_not_told_again(server: Any) -> None:
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
