"""HOW is a store spread over many servers? Citus puts a tenant's rows on that tenant's server, and the rest on every
server.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import ARRAY, Connection, Text, bindparam, text
from sqlalchemy.exc import DBAPIError

from onrecord.errors import StoreUnavailable
from onrecord.store.tables import OF_TENANTS, SHARED, VERSION_TABLE, counters

#: In this order: the first of a tenant's tables says where the tenant lies, and the others follow it.
EVERYWHERE: Final = tuple(table.name for table in SHARED)
BY_TENANT: Final = (
    counters.name,
    *(table.name for table in OF_TENANTS if table is not counters),
)


def distribute(fence: Connection, worker: Connection, location: str) -> list[str]:
    """Spread the tables that are not spread yet, and return their names. `fence` keeps writers out; `worker` commits
    table by table.

    If it stops midway, the next call continues with the remaining tables. Copying all in one transaction would make
    Citus choose between speed and order, and refuse some of it.
    """
    _check_extension(fence, location)
    spread = _spread(worker)
    done = []
    try:
        for name in (each for each in (*EVERYWHERE, *BY_TENANT) if each not in spread):
            worker.exec_driver_sql(statement_for(name))
            done.append(name)
        if VERSION_TABLE not in spread:
            # Last, and by the one who has it locked.
            fence.exec_driver_sql(statement_for(VERSION_TABLE))
            done.append(VERSION_TABLE)
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise StoreUnavailable(
            f"{location} could not be distributed: {reason}. {_so_far(done)} "
            "Fix that, then run the same command again: it continues with the rest."
        ) from error
    return done


def statement_for(name: str) -> str:
    if name not in BY_TENANT:
        return f"SELECT create_reference_table('{name}')"
    beside = "none" if name == counters.name else counters.name
    return f"SELECT create_distributed_table('{name}', 'tenant', colocate_with => '{beside}')"


def statements() -> Iterator[str]:
    """All statements for a store of which nothing is spread yet."""
    return map(statement_for, (*EVERYWHERE, *BY_TENANT, VERSION_TABLE))


def _check_extension(connection: Connection, location: str) -> None:
    if connection.execute(_INSTALLED).scalar_one():
        return
    raise StoreUnavailable(
        f"{location} has no extension citus, which spreads tables over servers; nothing was changed. Install the package "
        "(postgresql-NN-citus-MM, or an image such as citusdata/citus) on every server, add citus to "
        "shared_preload_libraries, and run CREATE EXTENSION citus in this database."
    )


def _spread(connection: Connection) -> set[str]:
    names = [*EVERYWHERE, *BY_TENANT, VERSION_TABLE]
    return set(connection.execute(_SPREAD, {"names": names}).scalars())


def _so_far(done: Sequence[str]) -> str:
    return f"Done so far: {', '.join(done)}." if done else "Nothing was changed."


_INSTALLED: Final = text("SELECT count(*) FROM pg_extension WHERE extname = 'citus'")
# Hashed by a column, or whole on every server: a table may also be known to Citus and lie in one place.
_SPREAD: Final = text(
    "SELECT name FROM unnest(:names) AS name JOIN pg_dist_partition ON logicalrelid = to_regclass(name) "
    "WHERE partmethod = 'h' OR repmodel = 't'"
).bindparams(bindparam("names", type_=ARRAY(Text)))
