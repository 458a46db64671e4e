"""The catalog is tried on one database."""

from tests.databases import db
from tests.datahub import hub, shop

__all__ = ["db", "hub", "shop"]
