"""HOW is it put together? The only place that names concrete back ends."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from recollect.aio import AsyncRecollect
from recollect.config import Config, load
from recollect.errors import StoreUnavailable
from recollect.model.caller import EVERY_SYSTEM, Caller
from recollect.model.limits import RULES
from recollect.providers.embedding import Embedder
from recollect.providers.opening import OpenedEmbedders, guarded, open_embedder, read_options
from recollect.remember.scrub import scrub_memory
from recollect.service import Progress, Recollect
from recollect.store.backend import Backend
from recollect.store.sql import SqlStore
from recollect.store.sqlite import SqliteBackend
from recollect.store.yaml import MEMORIES, YamlBackend

_YAML: Final = "yaml:"
#: A folder of such a name stands where a file was meant.
_DATABASE: Final = (".db", ".sqlite", ".sqlite3")


def connect(
    db: str | Path | None = None,
    *,
    caller: Caller | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    progress: Progress = lambda what, done, total: None,
    embedder: Embedder | str | None = None,
) -> Recollect:
    """Open a store: a file path, `:memory:`, a PostgreSQL DSN, or a folder (or `memories.yaml` in it) for one in YAML;
    without one, whatever is configured.

    The same goes for the embedder: its name, or one of your own.
    """
    config = load(
        db=None if db is None else str(db), embedder=embedder if isinstance(embedder, str) else None
    )
    options = read_options(
        url=config.embedder_url,
        key=config.embedder_key,
        dimensions=config.embedder_dimensions,
        timeout=config.embedder_timeout,
    )
    if embedder is None or isinstance(embedder, str):
        embedders = OpenedEmbedders(open_embedder(config.embedder, options), options)
    else:
        embedders = OpenedEmbedders(guarded(embedder), options)
    store = SqlStore(_backend(config.db, clock))
    return Recollect(
        store, caller or local_caller(config), clock=clock, progress=progress, embedders=embedders
    )


def connect_async(
    db: str | Path | None = None, *, caller: Caller | None = None, embedder: Embedder | str | None = None
) -> AsyncRecollect:
    """The same, for async programs. Opening is quick; call it before the loop is busy."""
    return AsyncRecollect(connect(db, caller=caller, embedder=embedder))


def local_caller(config: Config) -> Caller:
    """The owner of this machine, or whoever holds the database's password: they may do everything in their tenant."""
    return Caller(
        tenant=config.tenant,
        user=config.user,
        conversation=config.conversation,
        rules=frozenset(RULES),
        systems={EVERY_SYSTEM: "manage"},
        operator=True,
    )


def _backend(db: str, clock: Callable[[], datetime]) -> Backend:
    if db.startswith(("postgresql:", "postgres:", "postgresql+")):
        try:
            from recollect.store.postgres import PostgresBackend

            return PostgresBackend(db)
        except ModuleNotFoundError:
            raise StoreUnavailable(
                "PostgreSQL needs one more package: pip install 'recollect[postgres]'."
            ) from None
    if re.match(r"(host|dbname|port|user|service)=\S", db):
        raise StoreUnavailable("Write the PostgreSQL DSN as an address: postgresql://user@host/name.")
    if "://" in db and not db.startswith("sqlite:///"):
        raise StoreUnavailable(
            f"{db.split('://')[0]}:// is not a kind of store; give a file path or a PostgreSQL DSN."
        )
    if (yaml := _yaml_path(db)) is not None:
        return YamlBackend(yaml, clean=lambda memory: scrub_memory(memory)[0], clock=clock)
    path = db.removeprefix("sqlite:///")
    return SqliteBackend(None if path == ":memory:" else Path(path).expanduser())


def _yaml_path(db: str) -> Path | None:
    """The file of a store in YAML, if that is what is named: a folder, its `memories.yaml`, or `yaml:` before either."""
    path = Path(db.removeprefix(_YAML)).expanduser()
    if path.is_dir() and path.suffix not in _DATABASE:
        return path / MEMORIES
    if path.name.endswith(MEMORIES):
        return path
    if not db.startswith(_YAML):
        return None
    return path if path.suffix in (".yaml", ".yml") else path / MEMORIES
