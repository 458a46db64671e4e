"""WHAT must a database back end provide? The little that differs between SQLite and PostgreSQL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection, Dialect, Select

from onrecord.errors import OnRecordError, StoreUnavailable
from onrecord.store.ports.index import Coverage, Near
from onrecord.store.ports.store import CopyReport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onrecord.store.view import View


class Backend(Protocol):
    """An open database. Both kinds of transactions see one consistent state from begin to end."""

    #: What people are shown: where the data lives, without passwords.
    location: str
    #: The dialect's INSERT, which can upsert.
    insert: Callable[..., Any]
    #: The dialect with parameters by position, for statements run over many rows at once.
    positional: Dialect

    #: Whether other programs may keep tables in the same database.
    is_shared: bool
    #: The table that holds the version of the schema, as a statement of this database names it.
    version_table: str

    def exists(self) -> bool:
        """Whether there is a store to read; StoreUnavailable if the database belongs to another program. Changes
        nothing.
        """

    def is_gone(self) -> bool:
        """Whether the files of an opened store were deleted or replaced since this was first asked."""

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that cannot write and takes no lock that a writer waits for."""

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that commits at the end of the block, or leaves nothing."""

    def migrating(self) -> AbstractContextManager[Connection]:
        """A writing transaction that excludes every other migration, on a database that may be empty."""

    def distribute(self) -> list[str]:
        """Spread the tables over the servers of a cluster and return their names; StoreUnavailable if there is no
        cluster.
        """

    def explain(self, error: Exception) -> OnRecordError:
        """An error of the driver as a sentence for people, with what to do."""

    def backup(self, path: Path, report: CopyReport) -> bool:
        """Copy the whole database while others write, and report how far that is; False if only an export is possible."""

    def copy_aside(self, name: str) -> str | None:
        """Copy the whole database, as last committed, to this name next to it, replacing an earlier copy;
        returns its path, or None if there is no file of ours to copy.
        """

    def files(self) -> list[Path]:
        """The files on this machine that hold the data, including those that do not exist just now."""

    def integrity(self) -> Iterator[str]:
        """What the database itself finds wrong with its files."""

    def fetch(
        self, connection: Connection, statement: Select[Any], given: Mapping[str, Any]
    ) -> Sequence[Any]:
        """All rows of a statement that is built once and run often, with values as the driver returns them."""

    def nearest(
        self,
        view: "View",
        covered: Coverage,
        vector: "NDArray[Any]",
        most: int,
        later: str | None = None,
    ) -> list[Near]:
        """The memories of a tenant nearest to a vector that the caller may see: exact, nearest first. With an audience,
        those that have it, or will once they are approved.
        """

    def warm(self, view: "View", covered: Coverage) -> None:
        """Read what `nearest` needs, if this database keeps it in memory."""

    def similarity(
        self, view: "View", covered: Coverage, vector: "NDArray[Any]", rows: Sequence[int]
    ) -> list[Near]:
        """How similar some memories are to a vector, of those that have vectors."""

    def after_embedding(self) -> None:
        """Prepare the database for searching many vectors, if there are many."""

    def after_loading(self) -> None:
        """Update the database's statistics after many writes."""

    def after_erasing(self) -> str | None:
        """Make sure that erased bytes do not stay in the database's files; if they do for a while, say until when."""

    def close(self) -> None: ...


def not_distributed(location: str) -> StoreUnavailable:
    """The error for an attempt to distribute a store in files."""
    return StoreUnavailable(
        f"{location} is in files: only a PostgreSQL store can be distributed; nothing was changed. "
        "To move it there, export it and import it into one."
    )
