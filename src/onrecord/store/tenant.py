"""WHERE does a record live? In a collection of a tenant, whom rows know by a number."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, and_, bindparam, select

from onrecord.model.collections import Collection, Home
from onrecord.store.backend import Backend
from onrecord.store.tables import tenants


class HomeAddress(NamedTuple):
    """A home as rows know it: by the number of its tenant. One that nobody has written to has none."""

    number: int | None
    home: Home

    @property
    def parameters(self) -> dict[str, Any]:
        """What fills `of_home`."""
        return {"in_tenant": self.number, "in_collection": self.home.collection.number}

    def beside(self, collection: Collection) -> "HomeAddress":
        return HomeAddress(self.number, self.home._replace(collection=collection))


def of_home(table: FromClause) -> ColumnElement[bool]:
    """Every statement over records names one tenant and one collection of it, by equality."""
    return and_(table.c.tenant == bindparam("in_tenant"), table.c.collection == bindparam("in_collection"))


def same_home(left: FromClause, right: FromClause) -> ColumnElement[bool]:
    return and_(left.c.tenant == right.c.tenant, left.c.collection == right.c.collection)


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


_NUMBER: Final = select(tenants.c.key).where(tenants.c.name == bindparam("wanted"))
