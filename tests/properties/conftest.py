"""Stores that a whole module shares: making one costs more than an example, so they are emptied in between."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.model.limits import PERMISSIONS
from tests.schemas import address, new_schema
from tests.stores import empty

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEEPER = Caller(
    tenant="acme", user="keeper", permissions=frozenset(PERMISSIONS), systems={"*": "manage"}, operator=True
)


def outcome(error: type[Exception], call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a call gives back, or the error it was allowed to raise; any other error is a fault."""
    try:
        return call(*given, **named)
    except error as raised:
        return raised


class Stores:
    """The same empty store on each database, all on one clock."""

    def __init__(self, doors: dict[str, OnRecord]) -> None:
        self.doors = doors
        self.now = START

    def __repr__(self) -> str:
        return "stores"

    def clock(self) -> datetime:
        return self.now

    def tick(self, **step: float) -> datetime:
        self.now += timedelta(**step or {"seconds": 1})
        return self.now

    def emptied(self, *names: str) -> dict[str, OnRecord]:
        """The stores of some names (all, if none is given) without a row, and the clock set back."""
        self.now = START
        chosen = {name: door for name, door in self.doors.items() if not names or name in names}
        for door in chosen.values():
            # There is no operation that empties a store, and there should be none.
            empty(door._store)
        return chosen

    def as_caller(self, caller: Caller) -> dict[str, OnRecord]:
        return {name: door.as_caller(caller) for name, door in self.doors.items()}


@pytest.fixture(scope="session")
def stores(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A SQLite file, SQLite in memory and PostgreSQL. Whoever uses them calls `emptied` first."""
    folder: Path = tmp_path_factory.mktemp("properties")
    with psycopg.connect(postgres_server, autocommit=True) as connection, ExitStack() as closing:
        schema = closing.enter_context(new_schema(connection))
        patch = closing.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("ONRECORD_CONFIG", str(folder / "no-config.toml"))
        # Any text goes in here, and each only once: what vectors promise for any text is in test_vectors.py.
        patch.setenv("ONRECORD_EMBEDDER", "none")
        shared = Stores({})
        for name, db in (
            ("sqlite-file", str(folder / "store.db")),
            ("sqlite-memory", ":memory:"),
            ("postgres", address(postgres_server, schema)),
        ):
            door = connect(db, caller=KEEPER, clock=shared.clock)
            shared.doors[name] = door
            closing.callback(door.close)
        yield shared
