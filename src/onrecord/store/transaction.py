"""WHAT does everything in one transaction share? The connection, and the store's prepared statements."""

from dataclasses import dataclass, field

from sqlalchemy import Connection

from onrecord.model.limits import GLOBAL_TENANT
from onrecord.store.backend import Backend
from onrecord.store.prepared import Statements
from onrecord.store.tenant import Tenants


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction; its opener commits it."""

    connection: Connection
    backend: Backend
    statements: Statements
    tenants: Tenants
    _numbers: dict[str, int | None] = field(default_factory=dict)

    def number_of(self, tenant: str) -> int | None:
        """The number of a tenant that is read, as it was when first asked for; None if nobody has written there."""
        if tenant not in self._numbers:
            # A caller who reads their own memories nearly always reads the global ones too.
            wanted = (tenant, GLOBAL_TENANT)
            found = self.tenants.look_up_all(self.connection, wanted)
            self._numbers.update((name, found.get(name)) for name in wanted)
        return self._numbers[tenant]
