"""HOW does a frequent statement run fast? It is compiled once for its database, and takes its
values by position.

SQLAlchemy looks up the compiled statement at each call, which in a small store costs more than the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Dialect, Select


class Compiled(NamedTuple):
    """The SQL text, and for each place in it the parameter's name, its value if fixed, and how to write it."""

    text: str
    parameters: Sequence[tuple[str, Any, Callable[[Any], Any] | None]]

    def values(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            [
                fixed if name not in given else given[name] if write is None else write(given[name])
                for name, fixed, write in self.parameters
            ]
        )


@cache
def compiled_for(dialect: Dialect, statement: Select[Any]) -> Compiled:
    """The compiled form of a statement for a database; one is kept for each statement."""
    compiled: Any = statement.compile(dialect=dialect)
    parameters = []
    for name in compiled.positiontup:
        bind = compiled.binds[name]
        write = bind.type.dialect_impl(dialect).bind_processor(dialect)
        fixed = bind.value if write is None or bind.value is None else write(bind.value)
        parameters.append((name, fixed, write))
    return Compiled(str(compiled), parameters)
