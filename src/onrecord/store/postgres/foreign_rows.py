"""WHAT does another program keep in its tables? Whole tables of a PostgreSQL database, read in one state and left as they
are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import column, create_engine, func, literal_column, make_url, select, table
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from onrecord.errors import StoreUnavailable

_CONNECT_TIMEOUT_S: Final = 10

Row = Mapping[str, Any]


def foreign_rows(dsn: str, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[Row]]:
    """The rows of some tables as JSON objects, without the columns that are named; a table that is not there has none."""
    try:
        url = make_url(dsn).set(drivername="postgresql+psycopg")
    except ArgumentError:
        raise StoreUnavailable(
            "The database address is not a PostgreSQL DSN such as postgresql://user@host/name."
        ) from None
    engine = create_engine(
        url, connect_args={"connect_timeout": _CONNECT_TIMEOUT_S}, poolclass=NullPool
    ).execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    rows: dict[str, list[Row]] = {}
    try:
        with engine.connect() as connection:
            for name, without in wanted.items():
                there = connection.execute(select(func.to_regclass(name))).scalar_one() is not None
                rows[name] = (
                    [dict(row[0]) for row in connection.execute(_whole(name, without))] if there else []
                )
    except SQLAlchemyError as problem:
        place = url.set(drivername="postgresql").render_as_string(hide_password=True)
        raise StoreUnavailable(f"{place} cannot be read ({type(problem).__name__}).") from None
    finally:
        engine.dispose()
    return rows


def _whole(name: str, without: Sequence[str]) -> Any:
    """Each row as one JSON object, whichever columns it has."""
    rows = table(name, column("id"))
    whole: Any = func.to_jsonb(literal_column(f'"{name}"'))
    for each in without:
        whole = whole.op("-")(each)
    return select(whole).select_from(rows).order_by(rows.c.id)
