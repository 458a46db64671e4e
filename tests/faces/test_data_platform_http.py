"""WHICH routes do programs of a data platform find? Those of an admin over all records, and of a person over their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from onrecord.model.limits import PERMISSIONS
from tests.surfaces.conftest import Served

ADMIN, PORTAL = "/api/v1/admin", "/api/v1/portal"
RECORDS = f"{ADMIN}/memory/records"
ANN, BOB, CHIEF = "ann@example.com", "bob@example.com", "chief@example.com"
URN = "urn:li:dataset:(urn:li:dataPlatform:trino,hive.sales.orders,PROD)"


class House:
    """A server with seven records of two people on it, and a client for each who asks."""

    def __init__(self, server: Served) -> None:
        self.server = server
        key = server.make_key(user=CHIEF, permissions=list(PERMISSIONS[:4]), personas=["analyst"])
        self.chief = server.connect(key)
        self.ann = server.connect(server.make_key(user=ANN, personas=["analyst"]))
        self.bob = server.connect(server.make_key(user=BOB))
        self.made = [
            self.save(self.ann, f"Ann's selling season {number}.", dimension=dimension, category="correction")
            for number, dimension in enumerate(["knowledge", "event", "knowledge"])
        ]
        self.made.append(self.save(self.ann, "The orders are in UTC.", entities=[URN], persona="analyst"))
        self.bobs = [
            self.save(self.bob, f"Bob's private season {number}.", scope="user") for number in range(3)
        ]

    def save(self, client: httpx2.Client, content: str, **more: Any) -> str:
        if "persona" in more:
            more["scope"] = "persona"
        told = client.post("/v1/memories", json={"content": content, **more})
        assert told.status_code in (200, 201), told.text
        return str(told.json()["memory"]["id"])


@contextmanager
def opened(db: Path, **settings: str) -> Iterator[House]:
    server = Served(db=str(db), worker="no", **settings)
    house = House(server)
    yield house
    for client in (house.chief, house.ann, house.bob):
        client.close()
    server.stop()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for all tests that change nothing."""
    with opened(tmp_path_factory.mktemp("platform") / "store.db", embedder="none") as house:
        yield house


@pytest.fixture
def own_house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path / "store.db", embedder="none") as house:
        yield house


def ids(answer: httpx2.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["data"]]


def refused(answer: httpx2.Response, status: int) -> str:
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert told["status"] == status
    return str(told["detail"])


def test_an_admin_lists_the_records_of_everyone_page_by_page(house: House) -> None:
    everything = ids(house.chief.get(RECORDS))
    assert everything == [*house.made, *house.bobs][::-1]
    page = house.chief.get(RECORDS, params={"page": 2, "per_page": 3})
    assert ids(page) == everything[3:6]
    assert {name: page.json()[name] for name in ("total", "page", "per_page")} == {
        "total": 7,
        "page": 2,
        "per_page": 3,
    }
    assert house.chief.get(RECORDS, params={"per_page": 5_000}).json()["per_page"] == 100
    assert house.chief.get(RECORDS, params={"per_page": -1, "page": 0}).json()["page"] == 1


@pytest.mark.parametrize(
    ("asked", "which"),
    [
        ({"dimension": "event"}, [1]),
        ({"category": "correction"}, [2, 1, 0]),
        ({"created_by": ANN}, [3, 2, 1, 0]),
        ({"persona": "analyst"}, [3]),
        ({"entity_urn": URN}, [3]),
        ({"status": "archived"}, []),
        ({"since": "2999-01-01T00:00:00Z"}, []),
        ({"until": "2999-01-01T00:00:00Z", "created_by": ANN, "dimension": "event"}, [1]),
        ({"source": "nobody"}, None),
    ],
)
def test_filters_narrow_what_an_admin_lists(
    house: House, asked: dict[str, str], which: list[int] | None
) -> None:
    answer = house.chief.get(RECORDS, params=asked)
    if which is None:
        assert "must be one of" in refused(answer, 400)
        return
    assert ids(answer) == [house.made[number] for number in which]
    assert answer.json()["total"] == len(which)


def test_statistics_count_what_one_sees_and_no_more(own_house: House) -> None:
    own_house.chief.delete(f"{RECORDS}/{own_house.made[0]}")
    all_of_it = own_house.chief.get(f"{RECORDS}/stats").json()
    assert all_of_it == {
        "by_dimension": {"knowledge": 6, "event": 1},
        "by_category": {"correction": 3, "": 4},
        "by_status": {"active": 6, "archived": 1},
        "total": 7,
    }
    mine = own_house.ann.get(f"{PORTAL}/memory/records/stats").json()
    assert (mine["total"], mine["by_status"]) == (4, {"active": 3, "archived": 1})
    assert own_house.bob.get(f"{PORTAL}/memory/records/stats").json()["total"] == 3
    assert own_house.chief.get(f"{PORTAL}/memory/records/stats").json()["total"] == 0, "an admin's own"
    narrowed = own_house.chief.get(f"{RECORDS}/stats", params={"dimension": "event"}).json()
    assert (narrowed["by_dimension"], narrowed["total"]) == ({"event": 1}, 1)


def test_one_record_is_read_changed_and_archived(own_house: House) -> None:
    one = f"{RECORDS}/{own_house.made[1]}"
    record = own_house.chief.get(one).json()
    assert (record["created_by"], record["dimension"], record["status"]) == (ANN, "event", "active")
    told = own_house.chief.put(one, json={"content": "The season began early.", "metadata": {"a": 1}})
    assert (told.status_code, told.json()) == (200, {"status": "ok"})
    record = own_house.chief.get(one).json()
    assert (record["content"], record["metadata"], record["created_by"]) == (
        "The season began early.",
        {"a": 1},
        ANN,
    )
    assert own_house.chief.delete(one).json() == {"status": "ok"}
    assert own_house.chief.get(one).json()["status"] == "archived"
    assert "archived" in refused(own_house.chief.put(one, json={"content": "Too late to say so."}), 409)
    assert own_house.chief.delete(one).json() == {"status": "ok"}
    assert ids(own_house.chief.get(RECORDS, params={"status": "archived"})) == [own_house.made[1]]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"content": "short"}, "at least 10 bytes"),
        ({"dimension": "purple"}, "must be one of: knowledge"),
        ({"confidence": "sure"}, "must be one of: high"),
        ({"colour": "red"}, "is not a field of a change"),
        ({"content": 7}, "must be a text"),
        ({"metadata": [1]}, "must be a JSON object"),
    ],
)
def test_what_is_wrong_with_a_change_is_told(house: House, body: dict[str, Any], told: str) -> None:
    one = f"{RECORDS}/{house.made[0]}"
    before = house.chief.get(one).json()
    assert told in refused(house.chief.put(one, json=body), 400)
    assert house.chief.get(one).json() == before


def test_what_is_not_there_is_not_found(house: House) -> None:
    for id in ("0" * 32, "no%20id"):
        assert refused(house.chief.get(f"{RECORDS}/{id}"), 404) == "record not found"
        assert refused(house.chief.put(f"{RECORDS}/{id}", json={}), 404) == "record not found"
        assert refused(house.chief.delete(f"{RECORDS}/{id}"), 404) == "record not found"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", RECORDS),
        ("GET", f"{RECORDS}/stats"),
        ("GET", f"{RECORDS}/1"),
        ("PUT", f"{RECORDS}/1"),
        ("DELETE", f"{RECORDS}/1"),
        ("GET", f"{ADMIN}/embedding/status"),
        ("GET", f"{ADMIN}/index-jobs"),
    ],
)
def test_the_routes_of_an_admin_are_for_admins(house: House, method: str, path: str) -> None:
    body = {"json": {"content": "Something else entirely."}} if method == "PUT" else {}
    refused(house.ann.request(method, path, **body), 403)
    refused(house.server.client.request(method, path, **body), 401)
    assert ids(house.chief.get(RECORDS, params={"status": "archived"})) == []


def test_a_person_lists_and_searches_their_own_alone(own_house: House) -> None:
    mine = own_house.ann.get(f"{PORTAL}/memory/records", params={"limit": 2, "offset": 1})
    assert ids(mine) == own_house.made[::-1][1:3]
    assert {name: mine.json()[name] for name in ("total", "limit", "offset")} == {
        "total": 4,
        "limit": 2,
        "offset": 1,
    }
    found = own_house.ann.get(f"{PORTAL}/memory/records/search", params={"q": "season"})
    assert sorted(ids(found)) == sorted(own_house.made[:3])
    assert all(0 < each["score"] < 1 for each in found.json()["data"])
    assert found.json()["total"] == 3
    assert ids(own_house.bob.get(f"{PORTAL}/memory/records/search", params={"q": "Ann selling"})) == []
    assert ids(own_house.chief.get(f"{PORTAL}/memory/records/search", params={"q": "season"})) == []
    narrowed = {"q": "season", "dimension": "event", "limit": 1}
    assert ids(own_house.ann.get(f"{PORTAL}/memory/records/search", params=narrowed)) == [own_house.made[1]]
    own_house.chief.delete(f"{RECORDS}/{own_house.made[0]}")
    archived = {"q": "season", "status": "archived"}
    assert ids(own_house.ann.get(f"{PORTAL}/memory/records/search", params=archived)) == [own_house.made[0]]
    assert "'q' is required" in refused(own_house.ann.get(f"{PORTAL}/memory/records/search"), 400)


def test_a_misnamed_parameter_is_refused(house: House) -> None:
    assert "dimension" in refused(house.chief.get(RECORDS, params={"dimensions": "event"}), 400)
    assert "whole number" in refused(house.chief.get(RECORDS, params={"page": "two"}), 400)
    assert "is not a field of this address" in refused(
        house.ann.get(f"{PORTAL}/memory/records", params={"created_by": BOB}), 400
    )


def test_without_an_embedder_it_is_unconfigured(house: House) -> None:
    provider = {"kind": "noop", "model": "", "dimension": 0, "status": "unconfigured"}
    assert house.chief.get(f"{ADMIN}/embedding/status").json() == provider
    assert house.chief.get(f"{ADMIN}/index-jobs").json() == {"provider": provider, "kinds": []}


def test_coverage_says_how_many_records_have_their_vectors(tmp_path: Path) -> None:
    with opened(tmp_path / "store.db") as house:
        provider = house.chief.get(f"{ADMIN}/embedding/status").json()
        assert provider == {"kind": "built-in", "model": "e5-small-int8", "dimension": 384, "status": "ok"}
        told = house.chief.get(f"{ADMIN}/index-jobs").json()
        assert told["provider"] == provider
        [kind] = told["kinds"]
        assert kind == {
            "kind": "memory",
            "verdict": "healthy",
            "pending": 0,
            "running": 0,
            "succeeded": 7,
            "failed": 0,
            "unresolved_failures": 0,
            "coverage": {"indexed": 7, "expected": 7, "expected_known": True},
        }
        [record] = house.ann.get(f"{PORTAL}/memory/records", params={"limit": 1}).json()["data"]
        assert record["embedding_model"] == "e5-small-int8"
