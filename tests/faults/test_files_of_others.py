"""IS a file of another program left as it is? Not a byte of it changes, and nothing appears beside it, whoever looks."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from onrecord import connect
from onrecord.catalog.sources import open_source
from onrecord.errors import StoreUnavailable
from onrecord.store import legacy_tables

#: Leaves a file as a program leaves it that is killed while its log is not folded in, or its change half done.
KILLED = """
import os, sqlite3, sys
path, mode = sys.argv[1:]
there = sqlite3.connect(path, isolation_level=None)
there.execute(f"PRAGMA journal_mode={mode}")
there.execute("CREATE TABLE notes (text)")
there.execute("PRAGMA cache_spill=1")
there.execute("PRAGMA cache_size=1")
there.execute("BEGIN IMMEDIATE")
there.executemany("INSERT INTO notes VALUES (?)", [("x" * 1000,)] * 500)
if mode == "wal":
    there.execute("COMMIT")
os._exit(0)
"""


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file there. What the index of a log says is no part of the data: whoever reads may write to it."""
    return {
        each.name: (b"", 0) if each.name.endswith("-shm") else (each.read_bytes(), each.stat().st_mtime_ns)
        for each in sorted(folder.iterdir())
    }


def closed(mode: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
            theirs.execute(f"PRAGMA journal_mode={mode}")
            theirs.execute("CREATE TABLE notes (text)")
            theirs.execute("CREATE TABLE memories (text)")
            theirs.execute("INSERT INTO notes VALUES ('of someone else')")

    return make


def killed(mode: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        subprocess.run([sys.executable, "-c", KILLED, str(path), mode], check=True)

    return make


FOREIGN = {
    "closed, with a rollback journal": closed("delete"),
    "closed, made for a log": closed("wal"),
    "killed, with a log": killed("wal"),
    "killed in the middle of a change": killed("delete"),
}


@pytest.fixture(params=FOREIGN.values(), ids=FOREIGN.keys())
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    request.param(folder / "app.db")
    return folder / "app.db"


def test_a_file_of_another_program_is_refused_and_not_touched(foreign: Path) -> None:
    before = state(foreign.parent)
    with pytest.raises(StoreUnavailable, match=r"tables of another program \(.*notes.*nothing was changed"):
        connect(foreign)
    assert state(foreign.parent) == before


def test_looking_for_tables_of_an_older_program_does_not_touch_it_either(foreign: Path) -> None:
    before = state(foreign.parent)
    assert legacy_tables.read(foreign).rows == {}
    assert state(foreign.parent) == before


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_the_catalog_learns_from_a_file_without_touching_it(tmp_path: Path, mode: str) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    closed(mode)(folder / "app.db")
    before = state(folder)
    with connect(tmp_path / "ours.db") as door:
        assert door.ingest(str(folder / "app.db"), sample_values=3).added.models == 2
    assert state(folder) == before


def test_the_catalog_learns_from_the_log_of_a_program_that_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    killed("wal")(folder / "app.db")
    before = state(folder)
    [model] = open_source(str(folder / "app.db")).models()
    assert model.name == "notes"
    assert state(folder) == before


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_while_another_program_writes_its_file_is_refused_and_not_touched(tmp_path: Path, mode: str) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    closed(mode)(folder / "app.db")
    with closing(sqlite3.connect(folder / "app.db", isolation_level=None)) as theirs:
        theirs.execute("BEGIN IMMEDIATE")
        theirs.execute("INSERT INTO notes VALUES ('still being written')")
        before = state(folder)
        with pytest.raises(StoreUnavailable, match="tables of another program"):
            connect(folder / "app.db")
        assert state(folder) == before
        theirs.execute("COMMIT")
    with closing(sqlite3.connect(folder / "app.db")) as theirs:
        assert theirs.execute("PRAGMA journal_mode").fetchone() == (mode,)
        assert theirs.execute("SELECT count(*) FROM notes").fetchone() == (2,)


@pytest.mark.parametrize("content", [b"this is no database", b"SQLite format 3\x00" + b"\x01" * 4096])
def test_what_is_no_database_at_all_is_not_touched(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "app.db").write_bytes(content)
    before = state(folder)
    with pytest.raises(StoreUnavailable):
        connect(folder / "app.db")
    assert state(folder) == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "store.db").touch()
    with connect(tmp_path / "store.db") as door:
        assert door.remember("first").memory.id == "1"


def test_a_store_beside_tables_of_an_older_program_stays_one(tmp_path: Path) -> None:
    """Also one that was opened before with such tables in it, and one whose log was never folded in."""
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as older:
        older.execute("CREATE TABLE memory (id INTEGER PRIMARY KEY, namespace TEXT, content TEXT)")
    for number in ("1", "2"):
        with connect(tmp_path / "store.db") as door:
            assert door.remember(f"note {number}").memory.id == number


def test_an_open_store_keeps_its_locks_while_others_look(tmp_path: Path) -> None:
    """A look that did not go through SQLite would take them away, and another process would throw away the log."""
    db = tmp_path / "store.db"
    with connect(db) as door:
        door.remember("before", id="before")
        for _ in range(3):
            connect(db).close()
            legacy_tables.read(db)
            open_source(str(db)).fingerprints()
        # Another process that opens and closes the file would fold the log in and delete it, if ours were unlocked.
        look = f"from onrecord import connect; connect({str(db)!r}).close()"
        subprocess.run([sys.executable, "-c", look], check=True)
        assert Path(f"{db}-wal").exists()
        door.remember("after", id="after")
    with connect(db) as door:
        assert {memory.id for memory in door.browse().memories} == {"before", "after"}
