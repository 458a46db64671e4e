"""SQLite: one file, many processes, no server."""

from recollect.store.sqlite.backend import SqliteBackend

__all__ = ["SqliteBackend"]
