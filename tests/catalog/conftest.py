"""The catalog is tried on one database."""

from tests.databases import db

__all__ = ["db"]
