"""WHERE is the index, and what if it is lost or damaged? It is rebuilt, since everything in it is derived.

Keys, the audit and others that are in no text file are in a database beside it, which is never rebuilt.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DatabaseError, OperationalError

from onrecord import private_files
from onrecord.errors import OnRecordError, StoreUnavailable
from onrecord.store.migrations import HEAD, migrate
from onrecord.store.ports.index import Coverage, Near
from onrecord.store.sqlite import SqliteBackend
from onrecord.store.tables import BESIDE
from onrecord.store.yaml.locking import FolderLock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onrecord.store.view import View

_FOLDER: Final = ".onrecord"
#: What it was called while the project had another name.
_FORMER_FOLDER: Final = ".recollect"
_STATE: Final = "state.db"
_OWNER: Final = "onrecord index"


def folder_beside(path: Path) -> Path | None:
    """The folder of the index and the lock; None if it cannot be written, as on a read-only disk."""
    try:
        private_files.make_folder(path.parent)
    except OSError as problem:
        raise StoreUnavailable(
            f"The folder of {path} cannot be made: {problem.strerror}. Choose another with --db."
        ) from None
    folder = path.parent / _FOLDER
    try:
        _take_over(path.parent / _FORMER_FOLDER, folder)
        _make(folder)
        return (
            folder
            if all(os.access(each, os.W_OK) for each in (path.parent, folder, *folder.iterdir()))
            else None
        )
    except OSError:
        return None


def _take_over(former: Path, folder: Path) -> None:
    """Rename the folder of the former name, with its keys and its audit; its index is rebuilt."""
    if not (former / _STATE).exists():
        return
    if folder.exists() and any(folder.iterdir()):
        raise StoreUnavailable(
            f"{former} holds keys and an audit, and so may {folder}. Stop what still runs under the former name, keep "
            "the folder that is right, and remove the other; nothing was changed."
        )
    # Another process may have come first.
    with suppress(FileNotFoundError):
        former.rename(folder)
        for index in folder.glob("index-*.db*"):
            index.unlink(missing_ok=True)


def _make(folder: Path) -> None:
    """Make the folder and exclude it from git: it is for this machine alone."""
    private_files.make_folder(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        with open(ignore, "w", encoding="utf-8", opener=private_files.opener) as file:
            file.write("*\n")


class IndexFile:
    """A SQLite index that may be deleted at any time; without a folder it is in memory."""

    def __init__(self, folder: Path | None, location: str) -> None:
        # Each version of OnRecord has its own index file.
        self._path = None if folder is None else folder / f"index-{HEAD}.db"
        self._opening = None if folder is None else FolderLock(folder / "opening", location)
        self._index = self._open()
        self._identity = self._identity_now()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        index = self.of_today()
        with index.reading() as connection:
            connection.info[_OWNER] = index
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        index = self.of_today()
        with index.writing() as connection:
            connection.info[_OWNER] = index
            yield connection

    def of_today(self) -> SqliteBackend:
        """The index at its path; a new one if someone has deleted it."""
        if self._identity_now() != self._identity:
            before, self._index = self._index, self._open()
            self._identity = self._identity_now()
            before.close()
        return self._index

    def nearest(
        self,
        view: "View",
        covered: Coverage,
        vector: "NDArray[Any]",
        most: int,
        later: str | None = None,
    ) -> list[Near]:
        return _owner(view).nearest(view, covered, vector, most, later)

    def warm(self, view: "View", covered: Coverage) -> None:
        _owner(view).warm(view, covered)

    def similarity(
        self, view: "View", covered: Coverage, vector: "NDArray[Any]", rows: Sequence[int]
    ) -> list[Near]:
        return _owner(view).similarity(view, covered, vector, rows)

    def explain(self, error: Exception) -> OnRecordError:
        return _explained(self._index, error)

    def close(self) -> None:
        self._index.close()

    def _open(self) -> SqliteBackend:
        """An index with its tables, which may be empty."""
        path = self._path
        if path is None or self._opening is None:
            return _migrated(None)
        if (path.parent / _STATE).exists() and (index := _sound(path)):
            return index
        with self._opening.held():
            _make(path.parent)
            _provide_state(path.parent / _STATE)
            # Another process may have come first.
            if index := _sound(path):
                return index
            # The log of an index that was deleted must not be taken for that of a new one.
            for each in (path, *(Path(f"{path}{suffix}") for suffix in ("-wal", "-shm"))):
                each.unlink(missing_ok=True)
            return _migrated(path)

    def _identity_now(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_dev, stat.st_ino


def _owner(view: "View") -> SqliteBackend:
    """The index that a view reads; another file with other vectors may have replaced it meanwhile."""
    index = view.connection.info[_OWNER]
    assert isinstance(index, SqliteBackend)
    return index


def _sound(path: Path) -> SqliteBackend | None:
    """The index, if it exists and is sound."""
    try:
        return _migrated(path) if path.exists() else None
    except (DatabaseError, UnicodeDecodeError):
        return None


def _migrated(path: Path | None) -> SqliteBackend:
    index = SqliteBackend(path, None if path is None else path.parent / _STATE)
    try:
        migrate(index)
        if path is not None:
            _leave_to_state(index)
    except OperationalError as problem:
        index.close()
        raise _explained(index, problem) from problem
    except BaseException:
        index.close()
        raise
    return index


def _leave_to_state(index: SqliteBackend) -> None:
    """Drop the tables from the index that the database beside it holds."""
    with index.reading() as connection:
        present = set(inspect(connection).get_table_names()) & {table.name for table in BESIDE}
    if present:
        with index.writing() as connection:
            for name in sorted(present):
                connection.exec_driver_sql(f"DROP TABLE IF EXISTS main.{name}")


def _provide_state(path: Path) -> None:
    """Make the database beside the index. It has all tables, so that it can take every future migration; only those
    without derived rows are used.
    """
    state = SqliteBackend(path)
    try:
        migrate(state)
    except (DatabaseError, UnicodeDecodeError) as broken:
        raise StoreUnavailable(
            f"{path}, which holds the keys and the audit, cannot be used ({getattr(broken, 'orig', broken)}). Bring it back "
            "from a backup; deleting it would revoke all keys and empty the audit. Nothing was changed."
        ) from broken
    finally:
        state.close()


def _explained(index: SqliteBackend, error: Exception) -> OnRecordError:
    explained = index.explain(error)
    if isinstance(error, DatabaseError) and not isinstance(error, OperationalError):
        return StoreUnavailable(
            f"The index is damaged ({getattr(error, 'orig', error)}). It is derived data: "
            f"delete {index.location}, and it is built again."
        )
    return explained
