"""HOW is SQL parsed at a bounded cost? By a library's parser, which reports its steps to us and is stopped at a
bound.

It tries one reading after another: each level of types within types doubles the cost, in a text of a few bytes.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.expressions import Expr


_PARSES: Final = ContextVar("parses", default=False)
#: Tokenizing this many characters takes about as long as one step of the parser.
_CHARACTERS_A_STEP: Final = 8


class TooManySteps(Exception):
    """Parsing this text costs more than the bound."""


class Steps:
    """How many steps are left; TooManySteps when there are none."""

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, count: int = 1) -> None:
        self.left -= count
        if self.left < 0:
            raise TooManySteps


class BoundedParsing:
    """One text, parsed in dialect after dialect until the steps run out."""

    def __init__(self, text: str, most: int) -> None:
        self._text, self._steps = text, Steps(most)

    def statements(self, dialect: str) -> list["Expr"]:
        """The statements in one dialect. Raises what the parser raises, or TooManySteps."""
        from sqlglot.dialects.dialect import Dialect

        with _silence():
            return self._parsed(Dialect.get_or_raise(dialect), dialect)

    def _parsed(self, spoken: "Dialect", dialect: str) -> list["Expr"]:
        self._steps.take(len(self._text) // _CHARACTERS_A_STEP)
        # Each token takes at least one step, so with more tokens than steps parsing cannot finish.
        words = spoken.tokenize(self._text)
        if len(words) > self._steps.left:
            raise TooManySteps
        parser = _counting(dialect)(dialect=spoken)
        parser.step = self._steps.take
        return [each for each in parser.parse(words, self._text) if each is not None]


def _is_told(_record: logging.LogRecord) -> bool:
    return not _PARSES.get()


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing that the parser says is logged: it quotes the statement, which may hold a password."""
    logging.getLogger("sqlglot").addFilter(_is_told)
    began = _PARSES.set(True)
    try:
        yield
    finally:
        _PARSES.reset(began)


@cache
def _counting(dialect: str) -> Any:
    """The parser of a dialect that calls `step` whenever it moves to another word, forward or back."""
    from sqlglot.dialects.dialect import Dialect

    kind: Any = Dialect.get_or_raise(dialect).parser_class

    class Counting(kind):  # type: ignore[misc]
        step: Callable[[], None]

        def _advance(self, times: int = 1) -> None:
            self.step()
            super()._advance(times)

    return Counting
