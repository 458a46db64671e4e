"""HOW is another program's database opened without changing it? Read-only, in one state, with its password kept out of
messages.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from onrecord.errors import StoreUnavailable, invalid
from onrecord.store.sqlite_read_only import connect_read_only

URL_SCHEMES: Final = ("sqlite:///", "postgresql://", "postgresql+psycopg://")
_SQLITE: Final = ("sqlite", "sqlite+pysqlite")
_POSTGRES: Final = ("postgresql", "postgresql+psycopg", "postgres")
_CONNECT_TIMEOUT_S: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseAccess:
    """Where a database is, its name, and a read-only way in."""

    name: str
    location: str
    details: Mapping[str, Any]
    make_engine: Callable[[], Engine]
    #: What no message may contain, not even one of the driver.
    secrets: tuple[str, ...] = ()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One state of the database. Raises StoreUnavailable where it cannot be reached or read."""
        try:
            with self.make_engine().connect() as connection, connection.begin():
                yield connection
        except ModuleNotFoundError:
            raise StoreUnavailable(
                "Reading from PostgreSQL needs one more package: pip install 'onrecord[postgres]'."
            ) from None
        except (SQLAlchemyError, OSError) as problem:
            # Without the cause: it may carry the address with its password.
            raise StoreUnavailable(
                f"{self.location} cannot be read ({self._reason(problem)}); nothing was changed. "
                "Check that it is there, and that you may read it."
            ) from None

    def _reason(self, problem: Exception) -> str:
        lines = str(getattr(problem, "orig", None) or problem).strip().splitlines()
        reason = lines[0] if lines else type(problem).__name__
        for secret in self.secrets:
            reason = reason.replace(secret, "***")
        return reason


def access_by_address(given: str) -> DatabaseAccess:
    scheme = given.partition("://")[0]
    if scheme not in (*_SQLITE, *_POSTGRES):
        raise invalid(
            "catalog", f"{scheme}:// is not a kind of database that can be read; {', '.join(URL_SCHEMES)} are"
        )
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        raise invalid(
            "catalog", "is not an address such as postgresql://user@host/name or sqlite:///file.db"
        ) from None
    if scheme in _POSTGRES:
        return _postgres(url)
    if not url.database or url.database == ":memory:":
        raise invalid("catalog", "names no file; write sqlite:/// and the path of one")
    return access_to_file(Path(url.database))


def access_to_file(path: Path) -> DatabaseAccess:
    path = path.expanduser()
    return DatabaseAccess(
        name=path.stem,
        location=str(path),
        details={"type": "sqlite", "database": path.name},
        make_engine=partial(_sqlite_engine, path),
    )


def _sqlite_engine(path: Path) -> Engine:
    if not path.is_file():
        raise StoreUnavailable(f"There is no SQLite file at {path}, and none was created. Check the path.")
    engine = create_engine("sqlite://", creator=partial(connect_read_only, path), poolclass=NullPool)

    # The driver begins a transaction only to write; without one, each statement would see another state.
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _postgres(url: URL) -> DatabaseAccess:
    asked = {key: value if isinstance(value, str) else value[-1] for key, value in url.query.items()}
    host, port = url.host or asked.get("host"), str(url.port or asked.get("port", ""))
    database = url.database or asked.get("dbname") or url.username or "postgres"
    place = {
        "type": "postgresql",
        "host": host,
        "port": int(port) if port.isdecimal() else None,
        "database": database,
    }
    shown = URL.create("postgresql", username=url.username, host=host, port=url.port, database=database)
    secrets = {str(url.password or ""), asked.get("password", ""), asked.get("sslpassword", "")}
    return DatabaseAccess(
        name=database,
        location=shown.render_as_string(),
        details={key: value for key, value in place.items() if value},
        make_engine=partial(_postgres_engine, url),
        secrets=tuple(sorted(secrets - {""}, key=len, reverse=True)),
    )


def _postgres_engine(url: URL) -> Engine:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={"connect_timeout": _CONNECT_TIMEOUT_S} if "connect_timeout" not in url.query else {},
        isolation_level="REPEATABLE READ",
        poolclass=NullPool,
    )
    return engine.execution_options(postgresql_readonly=True)
