"""Stores that a whole module shares: making one costs more than an example, so they are emptied in between."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from recollect import Caller, Recollect, connect
from recollect.model.limits import RULES
from recollect.store.sqlite import SqliteBackend
from recollect.store.tables import metadata

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEEPER = Caller(tenant="acme", user="keeper", rules=frozenset(RULES), systems={"*": "manage"}, operator=True)


def outcome(error: type[Exception], call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a call gives back, or the error it was allowed to raise; any other error is a fault."""
    try:
        return call(*given, **named)
    except error as raised:
        return raised


class Stores:
    """The same empty store on each database, all on one clock."""

    def __init__(self, doors: dict[str, Recollect]) -> None:
        self.doors = doors
        self.now = START

    def __repr__(self) -> str:
        return "stores"

    def clock(self) -> datetime:
        return self.now

    def tick(self, **step: float) -> datetime:
        self.now += timedelta(**step or {"seconds": 1})
        return self.now

    def emptied(self, *names: str) -> dict[str, Recollect]:
        """The stores of some names (all, if none is given) without a row, and the clock set back."""
        self.now = START
        chosen = {name: door for name, door in self.doors.items() if not names or name in names}
        for door in chosen.values():
            # There is no operation that empties a store, and there should be none.
            with door._store._backend.writing() as connection:
                for table in metadata.sorted_tables:
                    if table.name != "store_facts":
                        connection.execute(delete(table))
            if isinstance(door._store._backend, SqliteBackend):
                # The next example's tenants have the same keys, and their vectors the same stamps.
                door._store._backend._vectors.clear()
        return chosen

    def as_caller(self, caller: Caller) -> dict[str, Recollect]:
        return {name: door.as_caller(caller) for name, door in self.doors.items()}


@pytest.fixture(scope="session")
def stores(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A SQLite file, SQLite in memory and PostgreSQL. Whoever uses them calls `emptied` first."""
    import psycopg

    schema = f"properties_{uuid.uuid4().hex}"
    folder: Path = tmp_path_factory.mktemp("properties")
    separator = "&" if "?" in postgres_server else "?"
    # Nothing here asks whether a commit survives a crash, so it need not wait for the disk.
    options = f"options=-csearch_path%3D{schema}%2Cpublic%20-csynchronous_commit%3Doff"
    with psycopg.connect(postgres_server, autocommit=True) as connection, ExitStack() as closing:
        connection.execute(f'CREATE SCHEMA "{schema}"')
        closing.callback(connection.execute, f'DROP SCHEMA "{schema}" CASCADE')
        patch = closing.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("RECOLLECT_CONFIG", str(folder / "no-config.toml"))
        patch.setenv("RECOLLECT_EMBEDDER", "none")
        shared = Stores({})
        for name, db in (
            ("sqlite-file", str(folder / "store.db")),
            ("sqlite-memory", ":memory:"),
            ("postgres", f"{postgres_server}{separator}{options}"),
        ):
            door = connect(db, caller=KEEPER, clock=shared.clock)
            shared.doors[name] = door
            closing.callback(door.close)
        yield shared
