"""HOW did the tables come to be? Numbered steps for both databases, applied with their record in one transaction."""

import logging
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import Connection, Text, column, delete, inspect, select, table
from sqlalchemy.exc import DBAPIError, ProgrammingError

from onrecord.errors import StoreUnavailable
from onrecord.store import legacy_tables
from onrecord.store.backend import Backend
from onrecord.store.presence import foreign
from onrecord.store.tables import FORMER_VERSION_TABLE, VERSION_TABLE, metadata, store_facts

#: The last step.
HEAD: Final = max(path.name[:4] for path in Path(__file__).with_name("versions").glob("[0-9]*.py"))

#: Where a store says which copy of it was made before its tables last changed.
_COPY: Final = "copy before migration"
_log: Final = logging.getLogger("onrecord.store")


class SchemaVersion(NamedTuple):
    """The schema of a store: its last step (None if it has no tables of ours), and the table that records it."""

    step: str | None = None
    table: str = VERSION_TABLE

    @property
    def is_current(self) -> bool:
        return self == SchemaVersion(HEAD)


def migrate(backend: Backend) -> None:
    """Bring a store up to date. A current store is only read; an older one in a file is copied first."""
    schema = _read_schema(backend) if backend.exists() else SchemaVersion()
    if schema.is_current:
        return
    # Said before the write lock is waited for, and also where the store cannot be written.
    _check_known(schema, backend)
    with backend.migrating() as connection:
        # Another process may have come first while we waited for the lock.
        schema = _schema_of(connection)
        if schema.is_current:
            return
        _check_known(schema, backend)
        # Only needed when there is something to do.
        from onrecord.store.records.archive import derive_index, note_index

        if schema.step is None:
            _check_free(connection, backend)
            _upgrade(connection)
            note_index(connection, backend)
            return
        copy = backend.copy_aside(f"schema-{schema.step}")
        _take_over(connection, schema)
        _upgrade(connection)
        derive_index(connection, backend)
        _note_copy(connection, backend, copy)
    _log.warning(
        "%s was made by an earlier version and has been brought up to schema %s. %s",
        backend.location,
        HEAD,
        _way_back(copy),
    )


def check_not_moved_on(connection: Connection, backend: Backend) -> None:
    """The fence: once a newer version has changed the tables, a process of this version writes nothing more.

    Every writing transaction asks this first. On PostgreSQL the read locks the table until the transaction ends,
    which a migration waits for; on SQLite no one else writes meanwhile.
    """
    step = connection.exec_driver_sql(f"SELECT version_num FROM {backend.version_table}").scalar_one_or_none()
    if step != HEAD:
        raise moved_on(connection, backend, step)


def has_moved_on(backend: Backend) -> StoreUnavailable | None:
    """Whether a statement failed because the tables are no longer those that this process knows."""
    # The error itself says what is damaged, closed or out of reach.
    with suppress(DBAPIError, UnicodeDecodeError), backend.reading() as connection:
        schema = _schema_of(connection)
        if schema.step not in (None, HEAD):
            return moved_on(connection, backend, schema.step)
    return None


def moved_on(connection: Connection, backend: Backend, step: str | None) -> StoreUnavailable:
    return StoreUnavailable(
        f"{backend.location} was brought to schema {step or 'unknown'} while this process ran, which knows {HEAD}; "
        f"nothing was changed. Restart it with the OnRecord that the store belongs to now. {_way_back(_copy_of(connection))}"
    )


def _way_back(copy: str | None) -> str:
    if copy is None:
        return "To go back, restore a backup from before."
    return f"To go back, there is a copy of it as it was: {copy}"


def _read_schema(backend: Backend) -> SchemaVersion:
    """A first look without a lock; a migration that is running just now is found by the look under the lock."""
    try:
        with backend.reading() as connection:
            return _schema_of(connection)
    except ProgrammingError:
        return SchemaVersion()


def _schema_of(connection: Connection) -> SchemaVersion:
    present = inspect(connection).get_table_names()
    for name in (VERSION_TABLE, FORMER_VERSION_TABLE):
        if name in present:
            found = connection.execute(select(table(name, column("version_num", Text)).c.version_num))
            return SchemaVersion(found.scalar_one_or_none(), name)
    return SchemaVersion()


def _check_known(schema: SchemaVersion, backend: Backend) -> None:
    steps = {path.name.split("_")[0] for path in (Path(__file__).parent / "versions").glob("[0-9]*.py")}
    if schema.step is not None and schema.step not in steps:
        with backend.reading() as connection:
            copy = _copy_of(connection)
        raise StoreUnavailable(
            f"{backend.location} was written by a newer OnRecord (schema {schema.step}, this one knows {HEAD}). "
            f"Update OnRecord to open it; nothing was changed. {_way_back(copy)}"
        )


def _take_over(connection: Connection, schema: SchemaVersion) -> None:
    """Rename the record of migrations of a store that was made under the former name."""
    if schema.table != VERSION_TABLE:
        connection.exec_driver_sql(f"ALTER TABLE {schema.table} RENAME TO {VERSION_TABLE}")


def _note_copy(connection: Connection, backend: Backend, copy: str | None) -> None:
    connection.execute(delete(store_facts).where(store_facts.c.name == _COPY))
    if copy is not None:
        connection.execute(backend.insert(store_facts).values(name=_COPY, value=copy))


def _copy_of(connection: Connection) -> str | None:
    found = connection.execute(select(store_facts.c.value).where(store_facts.c.name == _COPY))
    return found.scalar_one_or_none()


def _check_free(connection: Connection, backend: Backend) -> None:
    """Refuse to build a new store over something else."""
    inspector = inspect(connection)
    present = set(inspector.get_table_names()) - legacy_tables.known(inspector)
    taken = sorted(present & set(metadata.tables)) if backend.is_shared else sorted(present)
    if taken:
        raise foreign(backend.location, taken)


def _upgrade(connection: Connection) -> None:
    # Heavy to import, and needed only when there is something to do.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
