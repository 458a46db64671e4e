"""WHERE can a change be interrupted? Before each of its statements and commits."""

import threading
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Connection, Engine, event

_WRITES: Final = ("INSERT", "UPDATE", "DELETE", "CREATE", "ALTER")


def stop_before(statement: int | None, stop: Callable[[Connection], object]) -> Callable[[], None]:
    """Stop this thread just before its nth statement from now on, where a commit counts as one.

    If none is named, before the first commit of something written. What is given back takes this away again.
    """
    thread, said, has_written = threading.get_ident(), 0, False

    def step(*told: Any) -> None:
        nonlocal said, has_written
        # A commit has no words.
        words = told[2].lstrip() if told[2:] else ""
        # Rows that are gone already are vacuumed afterwards, by another thread; that is no part of what is done.
        if threading.get_ident() != thread or words.startswith("VACUUM"):
            return
        said += 1
        if said == statement or (statement is None and has_written and not words):
            stop(told[0])
        has_written = words.startswith(_WRITES) or (has_written and bool(words))

    names = ("before_cursor_execute", "commit")
    for name in names:
        event.listen(Engine, name, step)

    def end() -> None:
        for name in names:
            event.remove(Engine, name, step)

    return end
