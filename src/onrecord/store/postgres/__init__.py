"""PostgreSQL: one server, many pods, the tenant first in every key."""

from onrecord.store import tables
from onrecord.store.postgres.backend import PostgresBackend, Timeouts

__all__ = ["PostgresBackend", "Timeouts"]

# What the tables say for PostgreSQL alone: said among them, it would load this dialect for every store in a file.
for _index in (index for table in tables.metadata.tables.values() for index in table.indexes):
    _index.dialect_kwargs["postgresql_where"] = _index.dialect_kwargs.get("sqlite_where")
tables.postings.primary_key.dialect_kwargs["postgresql_include"] = ["weight", "length"]
