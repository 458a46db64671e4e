"""PostgreSQL: one server, many pods, the tenant first in every key."""

from onrecord.store.postgres.backend import PostgresBackend

__all__ = ["PostgresBackend"]
