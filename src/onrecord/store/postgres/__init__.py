"""PostgreSQL: one server, many pods, the tenant first in every key."""

from onrecord.store import tables
from onrecord.store.postgres.backend import PostgresBackend, Timeouts

__all__ = ["PostgresBackend", "Timeouts"]

# Options of the tables for PostgreSQL only. In tables.py they would load this dialect for every SQLite store.
for _index in (index for table in tables.metadata.tables.values() for index in table.indexes):
    _index.dialect_kwargs["postgresql_where"] = _index.dialect_kwargs.get("sqlite_where")
tables.postings.primary_key.dialect_kwargs["postgresql_include"] = ["weight", "length"]
