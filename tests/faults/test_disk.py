"""Does a disk that is full, read-only, locked or damaged give a clear error and leave what is there readable?"""

import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onrecord import OnRecord, connect
from onrecord.errors import NotFound, StoreUnavailable
from onrecord.store.sqlite import backend as sqlite_backend
from tests.soak import tries

Whole = Callable[[OnRecord], list[str]]

MEMORIES = 60
DAMAGES = tries(12, soaking=100)


def test_a_full_disk_refuses_every_change_in_words_and_works_again_with_room(
    crew: Any, tmp_path: Path, whole: Whole
) -> None:
    db = tmp_path / "store.db"
    told = crew.start("small_files", db=str(db)).rest()
    kept = [line["id"] for line in told if "id" in line]
    assert_refused_for_lack_of_room(told[len(kept)])
    for line in told:
        # What is small may still fit, and is then done whole.
        if "act" in line and (line["kind"] or line["act"] in ("remember", "revise")):
            assert_refused_for_lack_of_room(line)
    assert told[-2]["shown"] == "kept before the disk was full"
    assert told[-2]["found"][0] == "before"
    assert told[-2]["healthy"]

    with connect(db) as door:
        whole(door)
        there = {memory.id: memory for memory in door.browse(limit=1000).memories}
    assert there.keys() == {"before", "doomed", told[-1]["after"], *kept}
    assert there["before"].version == 1, "a refused change left something behind"
    assert {path.name for path in tmp_path.iterdir()} <= {"store.db", "copy.db", "copy.jsonl", "whole.jsonl"}


def assert_refused_for_lack_of_room(told: dict[str, Any]) -> None:
    """A limit on the size of files is an I/O error to the database, a full disk is what it is."""
    assert told["kind"] == "StoreUnavailable"
    assert "could not be" in told["error"] or "no room" in told["error"] or "cannot be" in told["error"]
    assert "Traceback" not in told["error"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own that is quickly full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if made.returncode:
        pytest.skip(f"a disk of its own may not be mounted here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 512):
                pass
        except OSError:
            return filler
    raise AssertionError("the disk was larger than thought")


@pytest.mark.usefixtures(
    "words_alone"
)  # A disk is full of rows, whatever is in them; long texts are slowly embedded.
def test_a_disk_that_fills_up_while_the_store_is_open_is_said_to_be_full(
    small_disk: Path, whole: Whole
) -> None:
    long = " ".join(f"word{each}" for each in range(2_000))
    with connect(small_disk / "store.db") as door:
        door.remember("kept before the disk was full", id="before")
        before = whole(door)
        filler = fill_up(small_disk)
        for refused in (
            lambda: door.remember(long, supersedes=["before"]),
            lambda: door.revise("before", content=long),
            lambda: door.import_(export_of_many(small_disk.parent)),
        ):
            with pytest.raises(StoreUnavailable, match=r"no room left .* Free some space"):
                refused()
        with pytest.raises(StoreUnavailable, match="copy"):
            door.backup(str(small_disk / "copy.db"))
        with pytest.raises(StoreUnavailable, match="copy"):
            door.export(str(small_disk / "copy.jsonl"))
        assert not list(small_disk.glob("*copy*"))
        assert [hit.memory.id for hit in door.recall("kept").hits] == ["before"]
        assert whole(door) == before
        filler.unlink()
        door.revise("before", content=long)
        assert door.show("before").memory.content == long
        assert door.doctor().problems == ()


def export_of_many(folder: Path) -> str:
    path = folder / "many.jsonl"
    with connect(":memory:") as door:
        for number in range(100):
            door.remember(f"thing {number} " + " ".join(f"n{number}w{each}" for each in range(50)))
        door.export(str(path))
    return str(path)


def test_a_store_opened_on_a_full_disk_reads_and_sees_what_it_writes_once_there_is_room(
    small_disk: Path,
) -> None:
    with connect(small_disk / "store.db") as door:
        door.remember("kept before the disk was full", id="before")
    filler = fill_up(small_disk)
    with connect(small_disk / "store.db") as door:
        assert door.show("before").memory.content == "kept before the disk was full"
        with pytest.raises(StoreUnavailable):
            door.remember("no room for this")
        filler.unlink()
        door.remember("there is room for this", id="after")
        assert door.show("after").memory.content == "there is room for this"


def test_a_new_store_on_a_full_disk_is_refused_and_made_when_there_is_room(small_disk: Path) -> None:
    filler = fill_up(small_disk)
    with pytest.raises(StoreUnavailable):
        connect(small_disk / "store.db")
    filler.unlink()
    with connect(small_disk / "store.db") as door:
        door.remember("works")
        assert door.doctor().problems == ()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everyone may enter: pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="faults"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def protect(folder: Path, *, with_folder: bool) -> None:
    for path in folder.iterdir():
        path.chmod(0o444)
    if with_folder:
        folder.chmod(0o555)


def tell_unprivileged(crew: Any, db: Path) -> tuple[Any, dict[str, Any]]:
    hand = crew.start("unprivileged", db=str(db))
    told = hand.hear()
    if "cannot" in told:
        pytest.skip(f"rights cannot be given up here: {told['cannot']}")
    return hand, told


@pytest.mark.parametrize("with_folder", [True, False], ids=["file-and-folder", "file"])
def test_a_read_only_store_is_read_and_refuses_to_be_written(
    with_folder: bool, crew: Any, open_folder: Path
) -> None:
    db = open_folder / "store.db"
    with connect(db) as door:
        door.remember("kept in a read-only file", id="kept")
    if not with_folder:
        open_folder.chmod(0o777)
    protect(open_folder, with_folder=with_folder)
    before = db.read_bytes()
    hand, told = tell_unprivileged(crew, db)
    assert told == {"opened": True}
    assert hand.hear() == {"contents": ["kept in a read-only file"]}
    assert hand.hear() == {"found": ["kept"]}
    assert hand.hear() == {"healthy": True}
    refused = hand.hear()
    assert refused["kind"] == "StoreUnavailable"
    assert "cannot be written (read-only)" in refused["error"]
    assert db.read_bytes() == before


def test_what_a_killed_process_left_in_its_log_is_not_passed_over_in_a_read_only_folder(
    crew: Any, open_folder: Path
) -> None:
    db = open_folder / "store.db"
    connect(db).close()
    hand = crew.start("write_on", db=str(db))
    acknowledged = [hand.hear()["id"] for _ in range(3)]
    hand.kill()
    hand.rest()
    Path(f"{db}-shm").unlink()
    protect(open_folder, with_folder=True)
    _, told = tell_unprivileged(crew, db)
    # Reading the file alone would show a store without what was acknowledged, as if it had never been saved.
    assert told["opened"] is False
    assert told["kind"] == "StoreUnavailable"
    open_folder.chmod(0o755)
    for path in open_folder.iterdir():
        path.chmod(0o644)
    with connect(db) as door:
        assert all(door.show(id) for id in acknowledged)


def test_one_who_may_only_read_sees_what_others_write_meanwhile(crew: Any, open_folder: Path) -> None:
    db = open_folder / "store.db"
    with connect(db) as door:
        door.remember("kept in a read-only file", id="kept")
    protect(open_folder, with_folder=True)
    hand, _ = tell_unprivileged(crew, db)
    while "ready" not in hand.hear():
        pass
    open_folder.chmod(0o755)
    db.chmod(0o644)
    with connect(db) as door:
        door.remember("written meanwhile")
        hand.go()
        assert hand.hear() == {"contents": ["kept in a read-only file", "written meanwhile"]}


def test_a_new_store_in_a_read_only_folder_is_refused_in_words(crew: Any, open_folder: Path) -> None:
    open_folder.chmod(0o555)
    for db in (open_folder / "store.db", open_folder / "sub" / "store.db"):
        _, told = tell_unprivileged(crew, db)
        assert (told["opened"], told["kind"]) == (False, "StoreUnavailable")
        assert str(db) in told["error"]


@pytest.fixture(scope="module")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("filled") / "many.jsonl"
    with connect(":memory:") as door:
        for number in range(MEMORIES):
            door.remember(
                f"thing {number} is near thing{number % 7}",
                id=f"t{number}",
                tags=["near", f"tag{number % 5}"],
                entities=[f"memory:t{number // 2}"],
                metadata={"number": number},
            )
        door.export(str(path))
    with connect(path.parent / "store.db") as door:
        door.import_(str(path))
    return (path.parent / "store.db").read_bytes()


@pytest.fixture
def filled(filled_once: bytes, tmp_path: Path) -> Path:
    """A file with many memories, closed."""
    db = tmp_path / "store.db"
    db.write_bytes(filled_once)
    return db


@pytest.mark.parametrize(
    "bytes_of", [b"This is not a database.\n" * 400, b"\0" * 8192], ids=["text", "zeros"]
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(bytes_of: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(bytes_of)
    with pytest.raises(StoreUnavailable, match="is not a SQLite database"):
        connect(path)
    assert path.read_bytes() == bytes_of


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store.db"
    folder.mkdir()
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        connect(folder)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable, match="cannot be made"):
        connect(tmp_path / "file" / "store.db")


@pytest.mark.parametrize("size", [4096, 64, 3])
def test_damage_anywhere_is_found_and_gives_words_and_never_a_stack_trace(
    size: int, filled: Path, filled_once: bytes, whole: Whole
) -> None:
    """Whole pages and single bytes, in many places: what the doctor calls healthy holds all that was saved."""
    chance = random.Random(size)
    with connect(filled) as door:
        sound = whole(door)
    found = 0
    for _ in range(DAMAGES):
        at = chance.randrange(1, len(filled_once) // size) * size
        filled.write_bytes(filled_once[:at] + chance.randbytes(size) + filled_once[at + size :])
        try:
            door = connect(filled)
        except StoreUnavailable as problem:
            assert "damaged" in str(problem)
            found += 1
            continue
        with door:
            examined = door.doctor()
            found += not examined.healthy
            assert all(problem.cure for problem in examined.problems)
            assert not examined.healthy or whole(door) == sound
            use_it_all(door, filled.parent)
    # Some bytes of a file mean nothing.
    assert found


def use_it_all(door: OnRecord, folder: Path) -> None:
    """Whatever is asked of a damaged store, it answers, or says that it cannot."""
    for use in every_use(door, folder):
        try:
            use()
        except StoreUnavailable as problem:
            assert re.search("damaged|could not be|contradict each other", str(problem))
        except NotFound as problem:
            assert "No memory" in str(problem)


def every_use(door: OnRecord, folder: Path) -> list[Callable[[], Any]]:
    return [
        lambda: door.recall("thing near thing3"),
        lambda: door.browse(limit=1000),
        lambda: door.show("t7"),
        lambda: door.history("t9"),
        lambda: door.revise("t8", content="something else"),
        lambda: door.remember("one more thing"),
        lambda: door.forget("t3"),
        lambda: door.export(str(folder / "out.jsonl")),
        lambda: door.backup(str(folder / "copy.db")),
        lambda: door.reindex(),
    ]


def test_a_file_cut_in_half_is_said_to_be_damaged(filled: Path) -> None:
    whole = filled.read_bytes()
    filled.write_bytes(whole[: len(whole) // 8192 * 4096])
    try:
        with connect(filled) as door:
            examined = door.doctor()
    except StoreUnavailable as problem:
        assert "damaged" in str(problem)
    else:
        assert not examined.healthy


def test_a_value_that_was_garbled_is_found_by_the_doctor(filled: Path) -> None:
    """The database's own pages are sound, only what they hold is not ours any more."""
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("UPDATE memories SET metadata = '{broken' WHERE id = 't4'")
        connection.execute("UPDATE versions SET tags = '{broken' WHERE row = 6")
        connection.commit()
    with connect(filled) as door:
        assert not door.doctor().healthy
        use_it_all(door, filled.parent)


def test_readers_are_not_disturbed_by_one_who_holds_the_write_lock(filled: Path) -> None:
    with closing(sqlite3.connect(filled, isolation_level=None)) as other, connect(filled) as door:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE memories SET title = 'not committed'")
        assert door.show("t1").memory.title != "not committed"
        assert len(door.recall("thing").hits) == 10
        assert len(door.browse(limit=MEMORIES).memories) == MEMORIES
        assert door.doctor().problems == ()
        with connect(filled) as second:
            assert second.history("t1").versions


def test_a_writer_that_is_not_let_in_says_so_and_gets_in_later(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onrecord.store.sqlite.backend._BUSY_TIMEOUT_S", 0.05)
    with closing(sqlite3.connect(filled, isolation_level=None)) as other, connect(filled) as door:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another process"):
            door.remember("not now")
        other.execute("ROLLBACK")
        door.remember("now")


def test_forgetting_does_not_wait_for_those_who_read(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folding the log in would have to; with nobody else it leaves no trace of the text in any file."""
    # Whoever waits for its turn would wait here until the test is ended.
    monkeypatch.setattr(sqlite_backend, "_BUSY_TIMEOUT_S", 3600)
    with connect(filled) as door:
        door.remember("xyzzyplugh is secret", id="secret")
        with closing(sqlite3.connect(filled, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memories").fetchone()
            door.forget("secret")
        door.remember("plover is secret", id="other")
        door.forget("other")
        for path in filled.parent.iterdir():
            assert b"plover" not in path.read_bytes()
            assert b"xyzzyplugh" not in path.read_bytes()


@pytest.fixture
def reader_dsn(postgres_dsn: str) -> Iterator[str]:
    """The same store for one who has no right to write to it."""
    connect(postgres_dsn).close()
    role = f"reader_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_dsn, autocommit=True) as owner:
        (schema,) = owner.execute("SELECT current_schema()").fetchone() or ("",)
        owner.execute(f"CREATE ROLE {role}")
        owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
        yield f"{postgres_dsn} -crole%3D{role}"
        owner.execute(f"DROP OWNED BY {role}")
        owner.execute(f"DROP ROLE {role}")


def test_a_postgres_that_may_only_be_read_is_read_and_refuses_to_be_written(
    reader_dsn: str, postgres_dsn: str
) -> None:
    with connect(postgres_dsn) as door:
        door.remember("kept in a read-only database", id="kept")
    with connect(reader_dsn) as door:
        assert [hit.memory.id for hit in door.recall("kept").hits] == ["kept"]
        assert door.doctor().problems == ()
        for change in (
            lambda: door.remember("not to be kept"),
            lambda: door.revise("kept", content="not to be kept"),
            lambda: door.forget("kept"),
            lambda: door.reindex(),
        ):
            with pytest.raises(StoreUnavailable, match=r"permission denied.*Ask its owner"):
                change()
        assert door.show("kept").memory.content == "kept in a read-only database"


def test_a_server_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    for address in (f"localhost/postgres?host={tmp_path}", "127.0.0.1:1/postgres"):
        with pytest.raises(StoreUnavailable, match="cannot be reached") as problem:
            connect(f"postgresql://ann:hunter2hunter2@{address}")
        assert "hunter2" not in str(problem.value)
