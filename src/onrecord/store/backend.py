"""WHAT must a database bring? The little that differs between SQLite and PostgreSQL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection, Dialect, Select

from onrecord.errors import OnRecordError, StoreUnavailable
from onrecord.store.ports.index import Coverage, Near

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onrecord.store.view import View


class Backend(Protocol):
    """A database that is ready for use. Both transactions see one consistent state from begin to end."""

    #: What people are shown: where the data lives, without passwords.
    location: str
    #: The dialect's INSERT, which can upsert.
    insert: Callable[..., Any]
    #: The dialect with parameters by position, for statements run over many rows at once.
    positional: Dialect

    #: Whether other programs may keep tables of their own beside ours.
    is_shared: bool
    #: The table that says how far the store has come, by the name that a statement of this database finds it under.
    version_table: str

    def exists(self) -> bool:
        """Whether there is a database to read at all; StoreUnavailable if it is another program's alone. Changes nothing."""

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that cannot write and takes no lock that a writer waits for."""

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that commits at the end of the block, or leaves nothing."""

    def migrating(self) -> AbstractContextManager[Connection]:
        """A writing transaction that excludes every other migration, on a database that may be empty."""

    def distribute(self) -> list[str]:
        """Spread the tables over the servers of a cluster, and say which; StoreUnavailable where there is none."""

    def explain(self, error: Exception) -> OnRecordError:
        """What a driver's error means to a person, and what to do."""

    def backup(self, path: Path) -> bool:
        """Copy the whole database while others write; False if an export must serve instead."""

    def copy_aside(self, name: str) -> str | None:
        """Keep a copy of the whole, as last committed, beside it under this name, in place of an earlier one; gives where
        it is, None where there is no file of ours to copy."""

    def files(self) -> list[Path]:
        """The files of this machine that hold the data, also those that are not there just now."""

    def integrity(self) -> Iterator[str]:
        """What the database itself finds wrong with its files."""

    def fetch(
        self, connection: Connection, statement: Select[Any], given: Mapping[str, Any]
    ) -> Sequence[Any]:
        """All rows of a statement that is built once and run often, as the driver gives them."""

    def nearest(self, view: "View", covered: Coverage, vector: "NDArray[Any]", most: int) -> list[Near]:
        """The memories of a tenant that are nearest to a vector, of those for the caller's eyes: exact, nearest first."""

    def similarity(
        self, view: "View", covered: Coverage, vector: "NDArray[Any]", rows: Sequence[int]
    ) -> list[Near]:
        """How near some memories are, of those that have vectors."""

    def after_embedding(self) -> None:
        """Let the database prepare for searching many vectors, if there are many."""

    def after_loading(self) -> None:
        """Let the database take note that much was written, so that it reads well from now on."""

    def after_erasing(self) -> str | None:
        """Make sure that erased bytes do not linger in the database's own files; where they do for a while, say until when."""

    def close(self) -> None: ...


def not_distributed(location: str) -> StoreUnavailable:
    """What a store in files says to whoever would spread it."""
    return StoreUnavailable(
        f"{location} is in files: only a PostgreSQL store can be distributed; nothing was changed. "
        "To move it there, export it and import it into one."
    )
