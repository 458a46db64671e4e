"""IS there a store? A database with the table of our migrations is one."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import inspect

from onrecord.errors import NoStore, StoreUnavailable
from onrecord.store.backend import Backend
from onrecord.store.tables import FORMER_VERSION_TABLE, VERSION_TABLE

#: A database with these tables is a store, whatever other tables it has.
MARKS: Final = frozenset({VERSION_TABLE, FORMER_VERSION_TABLE})


def require_store(backend: Backend) -> None:
    """For commands that only read: if there is no store, raise instead of making one or answering for it."""
    if not backend.exists():
        raise no_store(backend.location)
    with backend.reading() as connection:
        if not any(map(inspect(connection).has_table, sorted(MARKS))):
            raise no_store(backend.location)


def foreign(location: str, tables: Sequence[str]) -> StoreUnavailable:
    """The error for a database that belongs to another program."""
    return StoreUnavailable(
        f"{location} holds tables of another program ({', '.join(tables[:3])}). "
        "Give another database with --db; nothing was changed."
    )


def no_store(location: str) -> NoStore:
    return NoStore(
        f"There is no store at {location}. The first save makes one, as `onrecord remember` does; "
        "if there should be one already, check --db or ONRECORD_DB."
    )
