"""HOW is a SQLite file opened, read, written and copied? WAL, full sync, one writer at a time, readers that never write."""

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from glob import escape
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Engine, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import Pool, QueuePool, StaticPool

from onrecord import private_files
from onrecord.errors import OnRecordError, StoreUnavailable
from onrecord.store import legacy_tables
from onrecord.store.backend import not_distributed
from onrecord.store.ports.store import CopyReport
from onrecord.store.presence import MARKS, foreign
from onrecord.store.sqlite.copying import reported
from onrecord.store.sqlite.fetching import DIALECT, fetch
from onrecord.store.sqlite.vectors import VectorCache
from onrecord.store.sqlite_read_only import opened_read_only, table_names
from onrecord.store.tables import VERSION_TABLE

_BUSY_TIMEOUT_S: Final = 60
_CHECKPOINT_TIMEOUT_MS: Final = 200
_CHECKPOINT_AGAIN_S: Final = 0.5
_LOOK_AGAIN_S: Final = (0.0005, 0.004)
_READERS: Final = 8
_PAGE_CACHE_KIB: Final = 32 * 1024
# The most that SQLite maps; this reserves addresses, not memory. The rest of a larger file is read by pages, which takes
# half as long again.
_MAPPED_BYTES: Final = 0x7FFF0000
_SETTINGS: Final = (
    "synchronous=FULL",
    "secure_delete=ON",
    "temp_store=MEMORY",
    f"cache_size=-{_PAGE_CACHE_KIB}",
    f"mmap_size={_MAPPED_BYTES}",
)
#: Settings that an attached file does not take over from its connection.
_ATTACHED_SETTINGS: Final = ("synchronous=FULL", "secure_delete=ON")


class SqliteBackend:
    """One SQLite file, or a database in memory that ends with the process."""

    insert = staticmethod(sqlite.insert)
    is_shared = False
    positional: Dialect = DIALECT
    fetch = staticmethod(fetch)

    def __init__(self, path: Path | None, beside: Path | None = None) -> None:
        """Tables that are not in the file are looked for in the file `beside`, in the same transactions."""
        self._path = path
        self.version_table = VERSION_TABLE if beside is None else f"beside.{VERSION_TABLE}"
        self.location = str(path) if path else "in memory, gone when this process ends"
        # One writer at a time in this process; in memory there is one connection, so readers take turns with it too.
        self._turn = threading.RLock()
        self._known_as: tuple[int, int] | None = None
        self._background = _BackgroundCheckpoint(partial(self._checkpoint, 0))
        self._vectors = VectorCache()
        self.nearest = self._vectors.nearest
        self.similarity = self._vectors.similarity
        self.warm = self._vectors.warm
        if path:
            self._writer = _engine(partial(_connect_writer, path), "IMMEDIATE", beside, pool_size=1)
            self._reader = _engine(partial(_connect_reader, path), "DEFERRED", beside, pool_size=_READERS)
        else:
            self._writer = self._reader = _engine(
                partial(_connect, ":memory:"), "IMMEDIATE", poolclass=StaticPool
            )

    def is_gone(self) -> bool:
        if self._path is None:
            return False
        try:
            found = self._path.stat()
        except OSError:
            return True
        self._known_as = self._known_as or (found.st_dev, found.st_ino)
        return self._known_as != (found.st_dev, found.st_ino)

    def exists(self) -> bool:
        if self._path is None or not self._path.exists():
            return self._path is None
        try:
            _refuse_strangers(self._path)
        except sqlite3.DatabaseError as problem:
            if problem.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise self.explain(problem) from problem
            # Any other fault shows when the file is read, which changes nothing either.
        return True

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._read_connection() as connection, connection.begin():
            yield connection

    @contextmanager
    def _read_connection(self) -> Iterator[Connection]:
        with nullcontext() if self._path else self._turn, self._reader.connect() as connection:
            if isinstance(connection.connection.driver_connection, _Unlocked):
                # Such a connection does not see later writes, so it is not reused.
                connection.detach()
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._turn, self._writer.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        if self._path is not None:
            _create(self._path)
        with self.writing() as connection:
            yield connection

    def explain(self, error: Exception) -> OnRecordError:
        reason = str(getattr(error, "orig", None) or error)
        for sign, meaning in _MEANINGS:
            if sign in reason:
                return StoreUnavailable(meaning.format(path=self.location, reason=reason))
        if isinstance(error, PoolTimeout):
            return StoreUnavailable(
                f"{self.location} is busy: too many threads of this process wait for it. Try again."
            )
        return StoreUnavailable(f"{self.location} could not be used: {reason}. Nothing was changed.")

    def backup(self, path: Path, report: CopyReport) -> bool:
        with reported(path, self._bytes(), report):
            self._copy(path)
        return True

    def _bytes(self) -> int:
        return 0 if self._path is None else self._path.stat().st_size

    def _copy(self, path: Path) -> None:
        with self._read_connection() as connection:
            source = connection.connection.driver_connection
            try:
                with closing(sqlite3.connect(path)) as target:
                    # All pages in one step: the copy is the state of one moment, and WAL lets writers go on meanwhile.
                    source.backup(target)  # type: ignore[union-attr]
            except sqlite3.Error as problem:
                raise StoreUnavailable(
                    f"{self.location} could not be copied to {path}: {problem}. Check both disks."
                ) from problem

    def copy_aside(self, name: str) -> str | None:
        if self._path is None:
            return None
        copy = self._path.with_name(f"{self._path.name}.{name}")
        try:
            # Always under one name: if this process is killed, the next one removes what it left.
            with private_files.replacing(copy, copy.with_name(f"{copy.name}.part")) as partial:
                self._copy(partial)
        except OSError as problem:
            raise StoreUnavailable(
                f"{self.location} could not be copied to {copy} before its tables change: "
                f"{problem.strerror or problem}; nothing was changed."
            ) from None
        return str(copy)

    def files(self) -> list[Path]:
        if self._path is None:
            return []
        its = (self._path.name, *(f"{self._path.name}{suffix}" for suffix in ("-wal", "-shm")))
        return [*map(self._path.with_name, its), *self._copies()]

    def _copies(self) -> list[Path]:
        """The copies made before the tables changed."""
        assert self._path is not None
        return sorted(self._path.parent.glob(f"{escape(self._path.name)}.schema-*"))

    def integrity(self) -> Iterator[str]:
        with self.reading() as connection:
            try:
                lines = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            except DatabaseError as broken:
                # A file that is too damaged for the check is a finding as well.
                lines = [broken.orig]
        yield from (str(line) for line in lines if line != "ok")

    def after_loading(self) -> None:
        """SQLite's plans for our statements do not depend on statistics."""

    def after_embedding(self) -> None:
        """Vectors are searched in memory; there is nothing to prepare."""

    def distribute(self) -> list[str]:
        raise not_distributed(self.location)

    def after_erasing(self) -> str | None:
        if self._path is None:
            return None
        left = []
        # Deleted cells are overwritten (secure_delete); the log may still hold their old pages until it is folded in.
        if not self._checkpoint(_CHECKPOINT_TIMEOUT_MS):
            self._background.begin()
            left.append(
                f"It is erased, but someone still reads the state before, so its old pages wait in {self._path.name}-wal: "
                "they go when the reader is done and a process that writes to this store runs, at the latest when the last "
                "closes it."
            )
        if copies := [copy.name for copy in self._copies()]:
            left.append(
                "Copies of this store from before its tables changed may still hold it: "
                f"{', '.join(copies)}. Delete them if you need no way back."
            )
        return " ".join(left) or None

    def _checkpoint(self, wait_ms: int) -> bool:
        """Move the log into the file and truncate it; False if a reader still needs it.

        Waiting for readers blocks writers, so it does not wait long.
        """
        with suppress(Exception), self._turn, self._writer.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.execute(f"PRAGMA busy_timeout={wait_ms}")
            try:
                # A row for each file, which says first whether it was in use.
                results = [
                    driver.execute(f"PRAGMA {schema}.wal_checkpoint(TRUNCATE)").fetchone()
                    for _, schema, _ in driver.execute("PRAGMA database_list").fetchall()
                ]
                return not any(is_busy for is_busy, _, _ in results)
            finally:
                driver.execute("PRAGMA busy_timeout=1")
        return False

    def close(self) -> None:
        self._background.end()
        # Never while another thread uses a connection: SQLite would crash.
        with self._turn:
            self._vectors.clear()
            self._reader.dispose()
            self._writer.dispose()


class _BackgroundCheckpoint:
    """Tries in the background to remove erased pages, until nobody reads them any more."""

    def __init__(self, checkpoint: Callable[[], bool]) -> None:
        self._checkpoint = checkpoint
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._try, daemon=True)
                self._thread.start()

    def _try(self) -> None:
        while not self._ended.wait(_CHECKPOINT_AGAIN_S) and not self._checkpoint():
            pass

    def end(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()


def _engine(
    connect: Any, begin: str, beside: Path | None = None, poolclass: type[Pool] = QueuePool, **pool: Any
) -> Engine:
    if poolclass is QueuePool:
        pool |= {"max_overflow": 0, "pool_timeout": _BUSY_TIMEOUT_S}
    engine = create_engine("sqlite://", creator=connect, poolclass=poolclass, **pool)

    if beside is not None:

        @event.listens_for(engine, "connect")
        def _attach(connection: sqlite3.Connection, _: object) -> None:
            connection.execute("ATTACH DATABASE ? AS beside", (str(beside),))
            for setting in _ATTACHED_SETTINGS:
                connection.execute(f"PRAGMA beside.{setting}")

    # The driver begins a transaction only at the first write, when two writers may both have read already.
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if begin == "IMMEDIATE":
            _wait_for_the_lock(connection)
        else:
            connection.exec_driver_sql(f"BEGIN {begin}")

    return engine


def _wait_for_the_lock(connection: Connection) -> None:
    """Begin to write. SQLite's own waiting sleeps longer and longer while others come and go; ours looks often."""
    deadline = time.monotonic() + _BUSY_TIMEOUT_S
    while True:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return
        except OperationalError as problem:
            if "locked" not in str(problem.orig) or time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(*_LOOK_AGAIN_S))


def _connect_writer(path: Path) -> sqlite3.Connection:
    connection = _connect(str(path))
    try:
        _switch_to_wal(connection)
        connection.execute("PRAGMA busy_timeout=1")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class _Unlocked(sqlite3.Connection):
    """Reads a file without locks and log: correct only if there is no log."""


def _connect_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection; if even the log's index cannot be made, the file alone is read."""
    try:
        return _tried(_connect(path.absolute().as_uri() + "?mode=rw", uri=True))
    except sqlite3.OperationalError as problem:
        if "locked" in str(problem) or not path.exists() or _has_log(path):
            raise
        with suppress(sqlite3.OperationalError):
            return _tried(_connect(path.absolute().as_uri() + "?immutable=1", uri=True, factory=_Unlocked))
        raise problem


def _has_log(path: Path) -> bool:
    """Whether some saves are only in the log so far."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _tried(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A reader that has read once: only then does a damaged file show."""
    try:
        connection.execute("PRAGMA query_only=ON")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        connection.close()
        raise
    return connection


def _connect(
    target: str, *, uri: bool = False, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    connection = sqlite3.connect(
        target,
        uri=uri,
        factory=factory,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except (sqlite3.Error, UnicodeDecodeError):
        connection.close()
        raise
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work side by side. The switch ignores the busy timeout, so wait for it here."""
    deadline = time.monotonic() + _BUSY_TIMEOUT_S
    while connection.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _refuse_strangers(path: Path) -> None:
    """Refuse another program's file before we touch it: even the switch to a log would change it."""
    with opened_read_only(path, _BUSY_TIMEOUT_S) as connection:
        names = table_names(connection)
        taken = [] if names & MARKS else sorted(names - legacy_tables.known_in(connection))
    if taken:
        raise foreign(str(path), taken)


def _create(path: Path) -> None:
    """Make the file readable by its owner alone; SQLite gives its log the same mode. If it cannot be made, SQLite
    says why.
    """
    try:
        private_files.make_folder(path.parent)
    except OSError as problem:
        raise StoreUnavailable(
            f"The folder of {path} cannot be made: {problem.strerror}. Choose another with --db."
        ) from None
    with suppress(OSError):
        private_files.make_file(path)


_MEANINGS: Final = (
    (
        "database is locked",
        f"{{path}} was locked by another process for {_BUSY_TIMEOUT_S} seconds; nothing was changed. Try again.",
    ),
    ("disk is full", "There is no room left for {path}; nothing was changed. Free some space and try again."),
    ("readonly", "{path} cannot be written (read-only); nothing was changed. It can still be read."),
    ("unable to open", "{path} cannot be opened ({reason}). Check that it exists and that you may read it."),
    ("not a database", "{path} is not a SQLite database. Give another file with --db."),
    *(
        (
            sign,
            "{path} is damaged ({reason}). Run `onrecord doctor`, and restore a backup if it cannot be mended.",
        )
        for sign in ("malformed", "not decode to UTF-8", "codec can't decode")
    ),
    (
        "disk I/O error",
        "{path} could not be read or written ({reason}); nothing was changed. Check the disk.",
    ),
)
