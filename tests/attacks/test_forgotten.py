"""IS what was forgotten gone? From the log of SQLite, the rows of PostgreSQL, kept answers and every process's memory."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from mcp import Client
from sqlalchemy import select

from onrecord import OnRecord, connect
from onrecord.operation import StorePolicy
from onrecord.store.sqlite import SqliteBackend
from onrecord.store.tables import idempotency, metadata
from onrecord.testing.builders import administrator, person
from onrecord.testing.shop import write_source

from ..surfaces.conftest import Served, Shell, served, server, shell
from ..surfaces.test_mcp import Agent, introduce
from ..surfaces.test_mcp_transports import Site

__all__ = ["introduce", "served", "server", "shell"]

WORD = "quagga"


def bytes_of(path: Path) -> bytes:
    """A SQLite file, its log and whatever else lies beside it."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


class Reader:
    """Someone who reads the state as it is now, until told to stop."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT count(*) FROM memories").fetchone()

    def stop(self) -> None:
        self._connection.close()


@pytest.fixture
def reading() -> Iterator[Callable[[Path], Reader]]:
    begun: list[Reader] = []

    def begin(path: Path) -> Reader:
        begun.append(Reader(path))
        return begun[-1]

    yield begin
    for each in begun:
        each.stop()


def folded(door: OnRecord) -> None:
    """Until the store has done away with old pages."""
    backend: Any = door._store._backend  # type: ignore[attr-defined]
    assert isinstance(backend, SqliteBackend)
    assert backend._background._thread is not None
    backend._background._thread.join(600)


def test_copies_from_before_a_change_of_the_tables_are_named(tmp_path: Path, words_alone: None) -> None:
    path = tmp_path / "store.db"
    with connect(path) as door:
        note = door.remember(WORD).memory
        copy = shutil.copy(path, f"{path}.schema-0005")
        assert door.forget(note.id).warnings == (
            f"Copies of this store from before its tables changed may still hold it: {Path(copy).name}. "
            "Delete them if you need no way back.",
        )


def test_old_pages_go_when_the_reader_who_held_them_is_done(
    tmp_path: Path, reading: Callable[[Path], Reader]
) -> None:
    path = tmp_path / "store.db"
    with connect(path) as door:
        door.remember(f"The word is {WORD}.", id="k")
        reader = reading(path)
        [told] = door.forget("k").warnings
        assert "store.db-wal" in told
        assert WORD.encode() in bytes_of(path)
        reader.stop()
        folded(door)
        assert WORD.encode() not in bytes_of(path)


def test_where_nobody_reads_nothing_waits(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with connect(path) as door:
        door.remember(f"The word is {WORD}.", id="k")
        assert door.forget("k").warnings == ()
        assert WORD.encode() not in bytes_of(path)


def test_a_shell_says_that_old_pages_wait(shell: Shell, reading: Callable[[Path], Reader]) -> None:
    shell("remember", f"The word is {WORD}.")
    reading(Path("shell.db"))
    said = shell("forget", "1")
    assert said.code == 0
    assert "shell.db-wal" in said.out


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "one"}])
def test_a_server_says_that_old_pages_wait(
    server: Served, reading: Callable[[Path], Reader], key: dict[str, str]
) -> None:
    server.client.post("/v1/memories", json={"content": f"The word is {WORD}."})
    reading(Path(server.config.db))
    [told] = server.client.delete("/v1/memories/1", headers=key).json()["warnings"]
    assert "-wal" in told


def test_a_tool_says_that_old_pages_wait(
    server: Served, introduce: Callable[[Client], Agent], reading: Callable[[Path], Reader]
) -> None:
    server.client.post("/v1/memories", json={"content": f"The word is {WORD}."})
    key = server.make_key(user="ann", actor="person", permissions=["memory.read", "memory.manage"])
    reading(Path(server.config.db))
    agent = introduce(Site(server.url, server.parts.door).client("/mcp", key=key))
    assert "-wal" in str(agent.call("memory_forget", id="1").content)


def vacuumed(dsn: str) -> list[int]:
    """How many dead rows a vacuum of each table still finds to take out."""
    removed: list[int] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        if found := re.search(r"tuples: ([0-9]+) removed", notice.message_primary or ""):
            removed.append(int(found[1]))

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.add_notice_handler(note)
        connection.execute("VACUUM (VERBOSE) memories, versions, postings, facets, terms, idempotency, audit")
    return removed


@pytest.fixture
def own_database(postgres_server: str) -> Iterator[str]:
    """A database in which nobody else reads: to their tables, dead rows of all would have to wait for them."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE nobody_else")
        yield urlsplit(postgres_server)._replace(path="/nobody_else").geturl()
        connection.execute("DROP DATABASE nobody_else WITH (FORCE)")


def test_postgres_takes_dead_rows_out_of_their_pages(own_database: str) -> None:
    with connect(own_database) as door:
        for number in range(5):
            door.remember(f"Note {number}.")
        door.remember(f"The word is {WORD}.", id="k")
        door.revise("k", content=f"The word was {WORD}.")
        assert door.forget("k").warnings == ()
    found = vacuumed(own_database)
    assert found
    assert not any(found)


def test_postgres_says_that_old_rows_wait_for_a_reader(postgres_store: str) -> None:
    with connect(postgres_store) as door, psycopg.connect(postgres_store) as reader:
        door.remember(f"The word is {WORD}.", id="k")
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM memories")
        [told] = door.forget("k").warnings
        assert "VACUUM" in told


def kept(door: OnRecord) -> str:
    with door._store._backend.reading() as connection:  # type: ignore[attr-defined]
        return repr(connection.execute(select(idempotency)).all())


@pytest.fixture
def serving(db: str, served: Callable[..., Served]) -> Served:
    return served(db=db)


def test_a_save_that_was_forgotten_is_not_done_again_and_says_so(serving: Served) -> None:
    ask = {
        "json": {"content": f"The word is {WORD}.", "id": WORD},
        "headers": {"Idempotency-Key": f"{WORD} 1"},
    }
    gone = {"headers": {"Idempotency-Key": "gone"}}
    assert serving.client.post("/v1/memories", **ask).status_code == 201
    first = serving.client.delete(f"/v1/memories/{WORD}", **gone)
    again = serving.client.post("/v1/memories", **ask)
    assert again.status_code == 404
    assert "erased" in again.json()["detail"]
    assert serving.client.get("/v1/memories").json()["memories"] == []
    # Who asks again to forget it has told its id, and gets the answer with it.
    second = serving.client.delete(f"/v1/memories/{WORD}", **gone)
    # What must wait in the database is known only afterwards.
    told = [each.json() | {"warnings": []} for each in (first, second)]
    assert told[0] == told[1]
    assert second.headers["idempotent-replayed"] == "true"
    assert WORD not in kept(serving.parts.door)


def test_an_id_that_was_forgotten_and_given_anew_answers_for_no_former_request(serving: Served) -> None:
    """The retry would else be told what another has saved since."""
    ask = {"json": {"content": "Mine.", "id": "k"}, "headers": {"Idempotency-Key": "one"}}
    serving.client.post("/v1/memories", **ask)
    serving.client.delete("/v1/memories/k")
    serving.client.post("/v1/memories", json={"content": "Of another life.", "id": "k"})
    assert serving.client.post("/v1/memories", **ask).status_code == 404


def test_no_kept_answer_speaks_of_what_was_forgotten(serving: Served) -> None:
    """Neither an edge to it, nor a save that has superseded it, nor a proposal to change it."""
    robot = serving.make_key(user="ann", actor="agent", permissions=["memory.read", "memory.manage"])
    person = serving.make_key(user="ann", actor="person", permissions=["memory.read", "memory.manage"])
    with serving.connect(person) as ann, serving.connect(robot) as agent:

        def send(client: Any, method: str, path: str, body: Any = None) -> Any:
            named = {"Idempotency-Key": f"{method} {path} {json.dumps(body)}"}
            came = client.request(method, path, json=body, headers=named)
            assert came.status_code in (200, 201), came.text
            return came.json()

        send(
            ann, "POST", "/v1/memories", {"content": "The animal is extinct.", "id": WORD, "scope": "tenant"}
        )
        send(ann, "POST", "/v1/memories", {"content": "Another.", "id": "other", "scope": "tenant"})
        send(ann, "PUT", f"/v1/memories/{WORD}/relations/supports/other")
        proposed = send(agent, "PATCH", f"/v1/memories/{WORD}", {"content": f"The {WORD} lives."})
        assert proposed["proposal"] is not None
        # What a proposal says lies where it can be erased, and nowhere else.
        assert "lives" not in kept(serving.parts.door)
        send(ann, "DELETE", f"/v1/memories/{WORD}")
        assert send(ann, "POST", "/v1/memories", {"content": "Another.", "id": "other", "scope": "tenant"})
        assert WORD not in kept(serving.parts.door)
    assert holding(serving.parts.door) == []


def holding(door: OnRecord) -> list[str]:
    """The tables in which the word stands."""
    with door._store._backend.reading() as connection:  # type: ignore[attr-defined]
        return [
            table.name
            for table in metadata.tables.values()
            if WORD in repr(connection.execute(select(table)).all())
        ]


def test_nothing_of_what_was_promoted_and_taken_back_is_left(serving: Served, tmp_path: Path) -> None:
    """Neither in changesets, nor in the catalog's past, nor in kept answers of those who applied it and took it back."""
    here = serving.parts.door
    here.as_caller(here.caller, StorePolicy()).ingest(write_source(tmp_path))
    key = serving.make_key(
        user="ann", actor="person", permissions=["memory.read", "memory.manage", "memory.review"]
    )
    edits = [
        {"entity": "shop.orders.amount", "field": "description", "value": f"A {WORD}."},
        {"entity": "shop.orders", "field": "links", "key": f"https://{WORD}.example", "value": "See there"},
    ]
    with serving.connect(key) as ann:

        def send(method: str, path: str, **body: Any) -> Any:
            came = ann.request(
                method, path, json=body or None, headers={"Idempotency-Key": f"{method} {path}"}
            )
            assert came.status_code in (200, 201), came.text
            return came.json()

        id = send("POST", "/v1/memories", content=f"The {WORD} said so.", edits=edits)["memory"]["id"]
        send("POST", f"/v1/memories/{id}/approve")
        done = send("POST", "/v1/changesets", entity="shop.orders")["changeset"]
        again = send("POST", "/v1/changesets", entity="shop.orders")
        assert again["changeset"] == done
        refused = ann.request("DELETE", f"/v1/memories/{id}")
        assert (refused.status_code, "Roll changeset 1 back" in refused.json()["detail"]) == (409, True)
        send("POST", "/v1/changesets/1/roll-back", reason="wrong")
        assert "changesets" in holding(serving.parts.door)
        send("DELETE", f"/v1/memories/{id}")
    assert holding(serving.parts.door) == []


def test_each_process_drops_the_turns_of_a_conversation_that_another_has_deleted(db: str) -> None:
    ann = person("ann", conversation="talk")
    with connect(db, caller=ann) as here, connect(db, caller=ann) as there:
        for door in (here, there):
            door.note_turn(f"The word is {WORD}.")
        outside = there.as_caller(person("ann"))
        outside.delete_conversation("talk")
        for door in (there, here):
            assert door.turns().turns == ()
            assert WORD not in str(door.context(parts=["turns"]))
        assert here.note_turn("A new beginning.").turns == 1
        assert [turn.content for turn in here.turns().turns] == ["A new beginning."]


def test_each_process_drops_the_turns_of_a_conversation_that_has_begun_anew(db: str) -> None:
    ann = person("ann", conversation="talk")
    with connect(db, caller=ann) as here, connect(db, caller=ann) as there:
        here.note_turn(f"The word is {WORD}.")
        there.as_caller(person("ann")).delete_conversation("talk")
        there.note_turn("A new beginning.")
        assert here.note_turn("Hello.").turns == 1
        assert [turn.content for turn in here.turns().turns] == ["Hello."]


def test_each_process_drops_the_turns_of_a_tenant_that_another_has_erased(db: str) -> None:
    ann = person("ann", conversation="talk")
    with connect(db, caller=ann) as here, connect(db, caller=administrator()) as there:
        here.note_turn(f"The word is {WORD}.")
        there.erase_tenant(ann.tenant, confirm=ann.tenant)
        assert here.turns().turns == ()
