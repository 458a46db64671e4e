"""WHICH statements is a database told? They are compared where what one cannot see must not even cost one more."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from sqlalchemy import Engine, event

from onrecord.store.compiled import compiled_for
from onrecord.store.ports.store import Store


@contextmanager
def heard(store: Store) -> Iterator[list[str]]:
    """The text of every statement that runs meanwhile, also of those that a back end takes straight to its driver."""
    told: list[str] = []
    backend: Any = store._backend  # type: ignore[attr-defined]
    plain = backend.fetch

    def fetch(connection: Any, statement: Any, given: Any) -> Sequence[Any]:
        told.append(compiled_for(backend.positional, statement).text)
        return plain(connection, statement, given)  # type: ignore[no-any-return]

    def hear(connection: Any, cursor: Any, sql: str, *rest: Any) -> None:
        told.append(sql.replace("\n", " "))

    with patch.object(backend, "fetch", fetch):
        event.listen(Engine, "before_cursor_execute", hear)
        try:
            yield told
        finally:
            event.remove(Engine, "before_cursor_execute", hear)
