"""WHAT would it do? A transaction is gone through to its end and then taken back, so that the answer is the true one."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


class _TakenBack(BaseException):
    """Nobody but the trial that raised it may catch it."""


@dataclass(frozen=True, slots=True)
class Trial:
    is_dry: bool

    def end(self) -> None:
        """The last thing inside the transaction: a dry run leaves it as if it had failed."""
        if self.is_dry:
            raise _TakenBack


@contextmanager
def tried(is_dry: bool) -> Iterator[Trial]:
    """Goes around a transaction that may be a dry run."""
    with suppress(_TakenBack):
        yield Trial(is_dry)
