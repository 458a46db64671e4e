"""DOES a process stop writing once a newer version has changed the tables under it?

And what of a migration that is killed: is the store what it was, or what it is to become, and nothing between?
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onrecord import OnRecord, connect
from onrecord.errors import StoreUnavailable
from onrecord.model.collections import Home
from onrecord.store.ports.jobs import EMBED
from tests.soak import some

from ..former_name.conftest import (
    LEFT_BEHIND,
    former,
    former_postgres,
    former_sqlite,
    former_yaml,
    held,
    lines,
)

__all__ = ["former", "former_postgres", "former_sqlite", "former_yaml"]

WRITES: dict[str, Callable[[OnRecord], object]] = {
    "remember": lambda door: door.remember("Too late."),
    "revise": lambda door: door.revise("kept", title="Too late."),
    "forget": lambda door: door.forget("kept"),
    "create_key": lambda door: door.create_key(label="late"),
    "register_conversation": lambda door: door.register_conversation("late"),
    "append_scratchpad": lambda door: door.append_scratchpad("Too late.", agent="planner"),
    "create_tenant": lambda door: door.create_tenant("late"),
    "erase_tenant": lambda door: door.erase_tenant("default", confirm="default"),
    "reindex": lambda door: door.reindex(),
    "import": lambda door: door.import_(str(LEFT_BEHIND / "sqlite.jsonl"), keep_tenants=True),
    "ingest": lambda door: door.ingest(str(Path(__file__).parents[2] / "examples" / "shop")),
}


@pytest.fixture(params=["sqlite-file", "postgres", "yaml"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_dsn"))
    path = tmp_path / ("store.db" if request.param == "sqlite-file" else "yaml")
    if request.param == "yaml":
        path.mkdir()
    return str(path)


def move_on(place: str, copy: str | None = None) -> None:
    """What a newer version would have done: its own step, and where the store as it was is kept."""
    note = f"INSERT INTO store_facts VALUES ('copy before migration', '{copy}')"
    if place.startswith("postgresql:"):
        with psycopg.connect(place) as there:
            there.execute("UPDATE onrecord_version SET version_num = '9999'")
            if copy:
                there.execute(note)
        return
    path = Path(place, ".onrecord", "state.db") if Path(place).is_dir() else Path(place)
    with closing(sqlite3.connect(path)) as here, here:
        here.execute("UPDATE onrecord_version SET version_num = '9999'")
        if copy:
            here.execute(note)


def test_nothing_is_written_from_then_on_and_all_that_was_is_there(place: str) -> None:
    with connect(place) as door:
        door.remember("Kept.", id="kept")
        before = door.browse().memories
        move_on(place)
        for name, write in WRITES.items():
            with pytest.raises(StoreUnavailable, match=r"schema 9999 .*nothing was changed.*Restart"):
                write(door)
                pytest.fail(f"{name} went through")
        assert door.browse().memories == before
        assert [hit.memory.id for hit in door.recall("kept").hits] == ["kept"]


def test_no_worker_claims_anything(place: str) -> None:
    now = datetime.now(UTC)
    with connect(place) as door, door._store.restoring(Home("default")) as restoring:
        restoring.jobs.add(EMBED, now)
    with connect(place) as door:
        move_on(place)
        with pytest.raises(StoreUnavailable, match="schema 9999"):
            door._store.claim("late", now, timedelta(minutes=1), 1, ["embed"])


def test_the_refusal_names_the_copy_to_go_back_to(tmp_path: Path) -> None:
    db = str(tmp_path / "store.db")
    with connect(db) as door:
        move_on(db, copy="/backups/store.db.schema-0004")
        with pytest.raises(StoreUnavailable, match=r"To go back.*/backups/store\.db\.schema-0004"):
            door.remember("Too late.")
    with pytest.raises(
        StoreUnavailable, match=r"newer OnRecord.*To go back.*/backups/store\.db\.schema-0004"
    ):
        connect(db)


def test_a_question_to_tables_that_are_no_longer_there_says_why(tmp_path: Path) -> None:
    db = str(tmp_path / "store.db")
    with connect(db) as door:
        door.remember("Kept.")
        with closing(sqlite3.connect(db)) as newer, newer:
            newer.execute("ALTER TABLE memories RENAME TO records")
        move_on(db)
        with pytest.raises(StoreUnavailable, match="schema 9999"):
            door.browse()


def test_the_same_on_postgres(postgres_dsn: str) -> None:
    with connect(postgres_dsn) as door:
        door.remember("Kept.")
        with psycopg.connect(postgres_dsn) as newer:
            newer.execute("ALTER TABLE memories RENAME COLUMN title TO heading")
        move_on(postgres_dsn)
        with pytest.raises(StoreUnavailable, match="schema 9999"):
            door.browse()


def test_a_migration_waits_for_whoever_writes(postgres_dsn: str) -> None:
    with connect(postgres_dsn) as door:
        with (
            door._store._begin(),
            psycopg.connect(postgres_dsn) as migrating,
            pytest.raises(psycopg.errors.LockNotAvailable),
        ):
            migrating.execute("LOCK TABLE onrecord_version IN ACCESS EXCLUSIVE MODE NOWAIT")
        with psycopg.connect(postgres_dsn) as migrating:
            migrating.execute("LOCK TABLE onrecord_version IN ACCESS EXCLUSIVE MODE NOWAIT")


#: Where a migration is killed: what stands there in the code kills the process instead.
POINTS = {
    "while the copy is made": ("onrecord.store.sqlite.backend:Path", "replace"),
    "amid the steps": ("onrecord.store.migrations", "_upgrade"),
    "before the commit": ("onrecord.store.migrations", "_note_copy"),
    "right after the commit": ("onrecord.store.migrations:_log", "warning"),
}


#: In a soak at all of them everywhere.
KILLED = [
    *(("sqlite", point) for point in POINTS),
    *((kind, point) for kind in ("postgres", "yaml") for point in some([*POINTS][1:], 2)),
]


@pytest.mark.parametrize(("kind", "point"), KILLED)
def test_a_migration_that_is_killed_is_taken_up_again(
    point: str, kind: str, former: Callable[[str], str], crew: Any, tmp_path: Path
) -> None:
    db = former(kind)
    owner, name = POINTS[point]
    assert crew.start("die_in", db=db, owner=owner, name=name).rest() == []
    with connect(db) as door:
        door.export(str(tmp_path / "now.jsonl"), all_tenants=True)
        assert door.doctor().problems == ()
        assert len(door.list_keys().keys) == 3
    kept = LEFT_BEHIND / f"{'yaml' if kind == 'yaml' else 'sqlite'}.jsonl"
    assert lines(tmp_path / "now.jsonl") == held(kept, with_own_ids=kind != "yaml")
    assert list(tmp_path.rglob("*.part")) == []
