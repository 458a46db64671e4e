"""WHAT do checks read in tests? A small warehouse in a SQLite file, and a machine that is set to read it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from onrecord import OnRecord, connect
from onrecord.testing.builders import Clock


class Warehouse:
    """The database that is checked; `change` is what happens to it meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.path, self.files = folder / "warehouse.db", folder / "files"
        self.files.mkdir()
        self.change("create table stores (id integer, name text)")
        self.change("insert into stores values (1, 'Bonn'), (2, 'Lyon'), (3, 'Oslo')")

    def change(self, sql: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.executescript(sql)

    @property
    def names(self) -> list[str]:
        with closing(sqlite3.connect(self.path)) as connection:
            return [name for (name,) in connection.execute("select name from stores order by id")]


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    made = Warehouse(tmp_path)
    there = (
        f"warehouse=sqlite:///{made.path}, files=folder:///{made.files}, gone=sqlite:///{tmp_path}/gone.db"
    )
    monkeypatch.setenv("ONRECORD_CHECK_CONNECTIONS", there)
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    return made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(warehouse: Warehouse, tmp_path: Path, clock: Clock) -> Iterator[OnRecord]:
    """The door of a person who reviews."""
    with connect(tmp_path / "memories.db", clock=clock) as opened:
        yield opened
