"""HOW is a statement run that is built once and asked often? Compiled once for its database, its values put in by position.

The library's own way looks for the compiled statement anew at each call, which in a small store costs more than its answer.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Dialect, Select


class Compiled(NamedTuple):
    """The text, and for each of its places the parameter's name, its value if it is fixed, and how it is written."""

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
    """As many are kept as there are statements."""
    compiled: Any = statement.compile(dialect=dialect)
    parameters = []
    for name in compiled.positiontup:
        bind = compiled.binds[name]
        write = bind.type.dialect_impl(dialect).bind_processor(dialect)
        fixed = bind.value if write is None or bind.value is None else write(bind.value)
        parameters.append((name, fixed, write))
    return Compiled(str(compiled), parameters)
