"""WHO writes? A tenant's row holds its counters, and its lock lets one writer in at a time."""

from dataclasses import asdict, dataclass
from typing import Final, Self

from sqlalchemy import Connection, bindparam, select, update

from onrecord.model import ids
from onrecord.store.prepared import Statements
from onrecord.store.tables import store_facts, tenants


@dataclass(slots=True, kw_only=True)
class LockedTenant:
    """A tenant's counters while one transaction holds its row."""

    key: int
    name: str
    last_id: str
    last_row: int
    last_relation: int
    changes: int
    documents: int
    words: int

    @classmethod
    def take(cls, connection: Connection, statements: Statements, name: str) -> Self:
        """Wait for the tenant's other writers; the row is made at the first write."""
        row = connection.execute(_LOCK, {"wanted": name}).mappings().one_or_none()
        if row is None:
            connection.execute(_LOCK_NEW)
            statements.add_tenant.run(connection, [_fresh(name)])
            row = connection.execute(_LOCK, {"wanted": name}).mappings().one()
        return cls(**row)

    @staticmethod
    def hold(connection: Connection, name: str) -> None:
        """Wait for the tenant's other writers without making a row: one that has none must not get one meanwhile."""
        if connection.execute(_LOCK, {"wanted": name}).first() is None:
            connection.execute(_LOCK_NEW)
            connection.execute(_LOCK, {"wanted": name})

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
        """An id that a caller chose: only pure digits move the next number on."""
        number = ids.whole_number(id)
        if number is not None and number > int(self.last_id):
            self.last_id = id

    def count_indexed(self, documents: int, words: int) -> None:
        self.documents += documents
        self.words += words

    def save(self, connection: Connection) -> None:
        self.changes += 1
        connection.execute(_SAVE, {"tenant_key": self.key, **asdict(self)})


def _fresh(name: str) -> dict[str, object]:
    return {"name": name, "last_id": "0"} | dict.fromkeys(_COUNTERS[1:], 0)


_COUNTERS: Final = ("last_id", "last_row", "last_relation", "changes", "documents", "words")
_LOCK: Final = select(tenants).where(tenants.c.name == bindparam("wanted")).with_for_update()
#: Held by whoever makes the row of a tenant, or relies on there being none.
_LOCK_NEW: Final = select(store_facts).with_for_update()
_SAVE: Final = (
    update(tenants)
    .where(tenants.c.key == bindparam("tenant_key"))
    .values({name: bindparam(name) for name in _COUNTERS})
)
