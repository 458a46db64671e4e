"""HOW did the tables come to be? Numbered steps for both databases, applied with their record in one transaction."""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, column, inspect, select, table

from onrecord.errors import StoreUnavailable
from onrecord.store import older_tables
from onrecord.store.archive import note_index
from onrecord.store.backend import Backend
from onrecord.store.tables import metadata

#: The last step in `versions/`; a test keeps it true.
HEAD: Final = "0004"

#: A name of our own, since another program may keep its record of migrations in the same schema.
VERSION_TABLE: Final = "onrecord_version"
_RECORD: Final = table(VERSION_TABLE, column("version_num"))


def migrate(backend: Backend) -> None:
    """Bring a store up to date. One that is so already is only read."""
    stand = _stand(backend) if backend.exists() else None
    if stand == HEAD:
        return
    # Said before the write lock is waited for, and also where the store cannot be written.
    _check_known(stand, backend.location)
    with backend.migrating() as connection:
        # Another process may have come first while we waited for the lock.
        if (stand := _read_stand(connection)) != HEAD:
            _check_known(stand, backend.location)
            if stand is None:
                _check_free(connection, backend)
            _upgrade(connection)
            if stand is None:
                note_index(connection, backend)


def _stand(backend: Backend) -> str | None:
    with backend.reading() as connection:
        return _read_stand(connection)


def _read_stand(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(select(_RECORD.c.version_num)).scalar_one_or_none()
    return None if found is None else str(found)


def _check_known(stand: str | None, location: str) -> None:
    steps = {path.name.split("_")[0] for path in (Path(__file__).parent / "versions").glob("[0-9]*.py")}
    if stand is not None and stand not in steps:
        raise StoreUnavailable(
            f"{location} was written by a newer OnRecord (schema {stand}, this one knows {HEAD}). "
            "Update OnRecord to open it; nothing was changed."
        )


def _check_free(connection: Connection, backend: Backend) -> None:
    """A new store is not built over something else."""
    inspector = inspect(connection)
    present = set(inspector.get_table_names()) - older_tables.known(inspector)
    taken = sorted(present & set(metadata.tables)) if backend.is_shared else sorted(present)
    if taken:
        raise StoreUnavailable(
            f"{backend.location} holds tables of another program ({', '.join(taken[:3])}). "
            "Give another database with --db; nothing was changed."
        )


def _upgrade(connection: Connection) -> None:
    # Heavy to import, and needed only when there is something to do.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
