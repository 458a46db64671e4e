"""WHICH statements does a database execute? Tests compare them where hidden things must not cost even one statement more."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from sqlalchemy import Engine, event

from onrecord.store.compiled import compiled_for
from onrecord.store.ports.store import Store


@contextmanager
def executed_statements(store: Store) -> Iterator[list[str]]:
    """The text of every statement that runs meanwhile, also of those that a back end sends straight to its driver."""
    statements: list[str] = []
    backend: Any = store._backend  # type: ignore[attr-defined]
    plain = backend.fetch

    def fetch(connection: Any, statement: Any, given: Any) -> Sequence[Any]:
        statements.append(compiled_for(backend.positional, statement).text)
        return plain(connection, statement, given)  # type: ignore[no-any-return]

    def hear(connection: Any, cursor: Any, sql: str, *rest: Any) -> None:
        statements.append(sql.replace("\n", " "))

    with patch.object(backend, "fetch", fetch):
        event.listen(Engine, "before_cursor_execute", hear)
        try:
            yield statements
        finally:
            event.remove(Engine, "before_cursor_execute", hear)
