"""DOES what is kept beside memories end? Lines of the audit after their days, in every tenant, and no number comes twice."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from onrecord import connect, upkeep
from onrecord.jobs import worker
from onrecord.operation import StorePolicy
from onrecord.testing.builders import Clock, administrator
from onrecord.testing.embedder import StubEmbedder

from ..surfaces.conftest import Shell, shell

__all__ = ["shell"]


def test_lines_of_the_audit_are_deleted_after_their_days(
    db: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONRECORD_AUDIT_DAYS", "30")
    with connect(db, caller=administrator(), clock=clock, embedder="none") as root:
        other = root.as_caller(administrator(tenant="beta", operator=False))
        for door in (root, root, other, other):
            door.remember(f"Note of {door.caller.tenant}.", dedupe=False)
        clock.tick(days=31)
        root.remember("Of today.")
        sweeping = root.worker
        sweeping.begin()
        # Of a tenant that has done nothing since, the last line stays: by it the next is numbered.
        assert set(iter(sweeping.run_once, None)) == {(0, ())}
        assert [each.number for each in root.audit().entries] == [3]
        assert [each.number for each in other.audit().entries] == [2]
        assert other.remember("Of today, too.").memory.id == "3"
        assert [each.number for each in other.audit().entries] == [3, 2]
        assert sweeping.run_once() is None
        clock.tick(hours=1)
        assert set(iter(sweeping.run_once, None)) == {(0, ())}
        assert [each.number for each in other.audit().entries] == [3]


def test_what_was_put_off_is_done_though_the_audit_cannot_be_swept(
    db: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_REST_S", 0)
    monkeypatch.setenv("ONRECORD_DB_STATEMENT_TIMEOUT", "1")
    stop, failed, done = threading.Event(), list[str](), list[int]()

    def report(made: int, failures: tuple[str, ...]) -> None:
        done.append(made)
        failed.extend(failures)
        if made or len(failed) > 3:
            stop.set()

    embedder = StubEmbedder()

    with connect(db, clock=clock, embedder=embedder) as door:
        # Too long to be embedded as it is saved.
        door.remember("word " * 1_500)
        with out_of_reach("audit", db):
            known = upkeep.doers(door._store, door._embedders, StorePolicy(audit_kept=timedelta(days=1)))
            worker.Worker(door._store, known, clock).run(stop, report)
    assert (len(failed), sum(done)) == (1, 1)


@contextmanager
def out_of_reach(table: str, db: str) -> Iterator[None]:
    """A table that nobody else can use: in PostgreSQL it is locked, and from a file it is gone."""
    if db.startswith("postgresql:"):
        with psycopg.connect(db) as line:
            line.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            yield
    else:
        with closing(sqlite3.connect(db)) as file:
            file.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
            yield


def test_where_nothing_is_set_the_audit_is_kept(db: str, clock: Clock) -> None:
    with connect(db, caller=administrator(), clock=clock, embedder="none") as root:
        for number in range(3):
            root.remember(f"Note {number}.")
        clock.tick(days=10_000)
        root.worker.begin()
        assert set(iter(root.worker.run_once, None)) <= {(0, ())}
        assert len(root.audit().entries) == 3


def test_the_command_that_does_what_was_put_off_deletes_them_too(shell: Shell, tmp_path: Path) -> None:
    with connect(tmp_path / "shell.db", clock=Clock(), embedder="none") as door:
        for number in range(3):
            door.remember(f"Note {number}.")
    assert len(shell("audit", "--json").json["entries"]) == 3
    assert shell.process("work", "--once", ONRECORD_AUDIT_DAYS="1", ONRECORD_EMBEDDER="none").code == 0
    assert len(shell("audit", "--json").json["entries"]) == 1
