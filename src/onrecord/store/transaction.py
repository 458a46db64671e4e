"""WHAT does everything in one transaction share? The connection, and the store's prepared statements."""

from typing import NamedTuple

from sqlalchemy import Connection

from onrecord.store.backend import Backend
from onrecord.store.prepared import Statements
from onrecord.store.tenant import Tenants


class Transaction(NamedTuple):
    """An open transaction; whoever opened it commits."""

    connection: Connection
    backend: Backend
    statements: Statements
    tenants: Tenants
