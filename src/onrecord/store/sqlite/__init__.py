"""SQLite: one file, many processes, no server."""

from onrecord.store.sqlite.backend import SqliteBackend

__all__ = ["SqliteBackend"]
