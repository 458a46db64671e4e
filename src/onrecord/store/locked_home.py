"""WHO is writing here now? The counters of a home, whose lock admits one writer at a time."""

from dataclasses import dataclass
from typing import Final, Self

from sqlalchemy import Connection, bindparam, select, update

from onrecord.model import ids
from onrecord.model.collections import MEMORIES, Home
from onrecord.model.limits import ID_LEAP
from onrecord.store.prepared import COUNTED
from onrecord.store.tables import counters, tenants
from onrecord.store.tenant import HomeAddress, Unregistered, of_home
from onrecord.store.transaction import Transaction


@dataclass(slots=True)
class LockedHome:
    """The counters of a collection while one transaction holds them."""

    tenant: int
    collection: int
    last_id: str
    last_row: int
    last_relation: int
    changes: int
    documents: int
    words: int

    @classmethod
    def take(cls, transaction: Transaction, address: HomeAddress) -> Self:
        """Wait for other writers and lock the counters; the first write makes the row. Unregistered if the tenant is
        gone.
        """
        connection, backend, statements = transaction.connection, transaction.backend, transaction.statements
        found = backend.fetch(connection, _LOCK, address.parameters)
        if not found:
            # Erasing a tenant deletes its name first, and so waits until this transaction ends.
            if connection.execute(_NAME_STAYS, {"number": address.number}).first() is None:
                raise Unregistered
            statements.add_counters.run(connection, [_fresh(address)])
            found = backend.fetch(connection, _LOCK, address.parameters)
        return cls(*found[0])

    @staticmethod
    def hold(connection: Connection, number: int) -> None:
        """Wait for a tenant's other writers without making a row: a tenant without one must not get one meanwhile."""
        here = HomeAddress(number, Home("", MEMORIES)).parameters
        if connection.execute(_LOCK, here).first() is None:
            if connection.execute(_HOLD_NAME, {"number": number}).first() is None:
                raise Unregistered
            connection.execute(_LOCK, here)

    @staticmethod
    def note_change(transaction: Transaction, address: HomeAddress) -> None:
        """Record a write to another home than this transaction's own, so that caches of it become invalid."""
        transaction.connection.execute(_CHANGED, address.parameters)

    def next_row(self) -> int:
        self.last_row += 1
        return self.last_row

    def next_relation(self) -> int:
        self.last_relation += 1
        return self.last_relation

    def next_id(self) -> str:
        self.last_id = str(int(self.last_id) + 1)
        return self.last_id

    def note_id(self, id: str) -> None:
        """Note an id that a caller chose. Only pure digits not far ahead move the next number on."""
        number, last = ids.whole_number(id), int(self.last_id)
        if number is not None and last < number <= last + ID_LEAP:
            self.last_id = id

    def count_indexed(self, documents: int, words: int) -> None:
        self.documents += documents
        self.words += words

    def save(self, transaction: Transaction) -> None:
        self.changes += 1
        transaction.statements.save_counters.run(transaction.connection, [_by_name(self)])


def _by_name(held: LockedHome) -> dict[str, object]:
    here = {"at_tenant": held.tenant, "at_collection": held.collection}
    return here | {name: getattr(held, name) for name in COUNTED}


def _fresh(address: HomeAddress) -> dict[str, object]:
    fresh: dict[str, object] = dict.fromkeys(COUNTED[1:], 0)
    home = {"tenant": address.number, "collection": address.home.collection.number}
    return fresh | home | {"last_id": "0"}


_BY_NUMBER: Final = select(tenants.c.key).where(tenants.c.key == bindparam("number"))
_NAME_STAYS: Final = _BY_NUMBER.with_for_update(read=True, key_share=True)
_HOLD_NAME: Final = _BY_NUMBER.with_for_update()
_LOCK: Final = select(counters).where(of_home(counters)).with_for_update()
_CHANGED: Final = update(counters).where(of_home(counters)).values(changes=counters.c.changes + 1)
