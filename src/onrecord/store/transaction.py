"""WHAT does everything in one transaction share? The connection, and what the store prepared for all of them."""

from typing import NamedTuple

from sqlalchemy import Connection

from onrecord.store.backend import Backend
from onrecord.store.prepared import Statements
from onrecord.store.tenant import Tenants


class Transaction(NamedTuple):
    """A transaction that has begun; whoever opened it commits."""

    connection: Connection
    backend: Backend
    statements: Statements
    tenants: Tenants
