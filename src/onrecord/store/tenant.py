"""WHO writes, and where? Tenants by number, and the counters of a collection, whose lock lets one writer in at a time."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import ColumnElement, Connection, FromClause, and_, bindparam, select, update

from onrecord.model import ids
from onrecord.model.collections import MEMORIES, Collection, Home
from onrecord.store.backend import Backend
from onrecord.store.prepared import Statements
from onrecord.store.tables import counters, tenants


class Address(NamedTuple):
    """A home as rows know it: by the number of its tenant. One that nobody has written to has none."""

    number: int | None
    home: Home

    @property
    def parameters(self) -> dict[str, Any]:
        """What fills `of_home`."""
        return {"in_tenant": self.number, "in_collection": self.home.collection.number}

    def beside(self, collection: Collection) -> "Address":
        return Address(self.number, self.home._replace(collection=collection))


def of_home(table: FromClause) -> ColumnElement[bool]:
    """Every statement over records names one tenant and one collection of it, by equality."""
    return and_(table.c.tenant == bindparam("in_tenant"), table.c.collection == bindparam("in_collection"))


class Unregistered(Exception):
    """A tenant has no number, or no longer: whoever comes under its name gets another. Without a name, that of the home."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.name = name


class Tenants:
    """The numbers of tenants. Looked up in every transaction, never kept: after a restored backup another may have one."""

    def __init__(self, backend: Backend, begin: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._backend = backend
        self._begin = begin

    def look_up(self, connection: Connection, name: str) -> int | None:
        found = self._backend.fetch(connection, _NUMBER, {"wanted": name})
        return found[0][0] if found else None

    def register(self, name: str) -> None:
        """In a transaction of its own: where tenants lie on many servers, all of them learn of it, and no save waits."""
        with self._begin() as connection:
            self.register_in(connection, name)

    def register_in(self, connection: Connection, name: str) -> int:
        """The same in a transaction that is under way."""
        fresh = self._backend.insert(tenants).values(name=name)
        connection.execute(fresh.on_conflict_do_nothing(index_elements=["name"]))
        return int(connection.execute(_NUMBER, {"wanted": name}).scalar_one())


@dataclass(slots=True, kw_only=True)
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
    def take(cls, connection: Connection, statements: Statements, address: Address) -> Self:
        """Wait for the other writers; the row is made at the first write. Unregistered if the tenant is gone."""
        assert address.number is not None
        row = connection.execute(_LOCK, address.parameters).mappings().one_or_none()
        if row is None:
            # Whoever erases a tenant takes its name away first, and so waits until we are done.
            if connection.execute(_NAME_STAYS, {"number": address.number}).first() is None:
                raise Unregistered
            statements.add_counters.run(connection, [_fresh(address)])
            row = connection.execute(_LOCK, address.parameters).mappings().one()
        return cls(**row)

    @staticmethod
    def hold(connection: Connection, number: int) -> None:
        """Wait for a tenant's other writers without making a row: one that has none must not get one meanwhile."""
        here = Address(number, Home("", MEMORIES)).parameters
        if connection.execute(_LOCK, here).first() is None:
            if connection.execute(_HOLD_NAME, {"number": number}).first() is None:
                raise Unregistered
            connection.execute(_LOCK, here)

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
        # Where it is stays out of what is set: of a distributed table, the tenant cannot be.
        here = {"in_tenant": self.tenant, "in_collection": self.collection}
        connection.execute(_SAVE, here | {name: getattr(self, name) for name in _COUNTERS})


def _fresh(address: Address) -> dict[str, object]:
    fresh: dict[str, object] = dict.fromkeys(_COUNTERS[1:], 0)
    home = {"tenant": address.number, "collection": address.home.collection.number}
    return fresh | home | {"last_id": "0"}


_COUNTERS: Final = ("last_id", "last_row", "last_relation", "changes", "documents", "words")
_NUMBER: Final = select(tenants.c.key).where(tenants.c.name == bindparam("wanted"))
_BY_NUMBER: Final = select(tenants.c.key).where(tenants.c.key == bindparam("number"))
_NAME_STAYS: Final = _BY_NUMBER.with_for_update(read=True, key_share=True)
_HOLD_NAME: Final = _BY_NUMBER.with_for_update()
_LOCK: Final = select(counters).where(of_home(counters)).with_for_update()
_SAVE: Final = update(counters).where(of_home(counters)).values({name: bindparam(name) for name in _COUNTERS})
