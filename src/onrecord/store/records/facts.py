"""WHAT is known of the store as a whole? A few texts by their names."""

from typing import Final

from sqlalchemy import Connection, bindparam, select

from onrecord.store.backend import Backend
from onrecord.store.tables import store_facts

_FACT: Final = select(store_facts.c.value).where(store_facts.c.name == bindparam("wanted"))


def fact(connection: Connection, name: str) -> str | None:
    return connection.execute(_FACT, {"wanted": name}).scalar_one_or_none()


def keep_fact(connection: Connection, backend: Backend, name: str, value: str) -> None:
    kept = backend.insert(store_facts).values(name=name, value=value)
    connection.execute(kept.on_conflict_do_update(index_elements=["name"], set_={"value": value}))
