"""WHERE does a record live? In a collection of a tenant; rows hold the tenant's number."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, and_, bindparam, select

from onrecord.model.collections import Collection, Home
from onrecord.store.backend import Backend
from onrecord.store.list_parameters import one_of
from onrecord.store.tables import tenants


class HomeAddress(NamedTuple):
    """A home with the number of its tenant, which its rows hold; None if nothing was written to it yet."""

    number: int | None
    home: Home

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of `of_home`."""
        return {"in_tenant": self.number, "in_collection": self.home.collection.number}

    def beside(self, collection: Collection) -> "HomeAddress":
        return HomeAddress(self.number, self.home._replace(collection=collection))


def of_home(table: FromClause) -> ColumnElement[bool]:
    """The condition of every statement over records: one tenant and one collection of it, by equality."""
    return and_(table.c.tenant == bindparam("in_tenant"), table.c.collection == bindparam("in_collection"))


def same_home(left: FromClause, right: FromClause) -> ColumnElement[bool]:
    return and_(left.c.tenant == right.c.tenant, left.c.collection == right.c.collection)


class Unregistered(Exception):
    """A tenant has no number, or has lost it; the next tenant of its name gets another. Without a name it is that of
    the home.
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.name = name


class Tenants:
    """The numbers of tenants, looked up in every transaction and never cached: a restored backup may have other
    numbers.
    """

    def __init__(self, backend: Backend, begin: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._backend = backend
        self._begin = begin

    def look_up(self, connection: Connection, name: str) -> int | None:
        found = self._backend.fetch(connection, _NUMBER, {"wanted": name})
        return found[0][0] if found else None

    def look_up_all(self, connection: Connection, names: Sequence[str]) -> dict[str, int]:
        """The numbers of those that have one, by one statement."""
        return dict(map(tuple, self._backend.fetch(connection, _NUMBERS, {"wanted": names})))

    def register(self, name: str) -> None:
        """Give tenants numbers, in a transaction of its own: with many servers all must learn of it, and no save
        should wait.
        """
        with self._begin() as connection:
            self.register_in(connection, name)

    def register_in(self, connection: Connection, name: str) -> int:
        """The same inside an open transaction."""
        fresh = self._backend.insert(tenants).values(name=name)
        connection.execute(fresh.on_conflict_do_nothing(index_elements=["name"]))
        return int(connection.execute(_NUMBER, {"wanted": name}).scalar_one())


_NUMBER: Final = select(tenants.c.key).where(tenants.c.name == bindparam("wanted"))
_NUMBERS: Final = select(tenants.c.name, tenants.c.key).where(one_of(tenants.c.name, "wanted"))
