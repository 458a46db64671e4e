"""WHAT would it do? A dry run goes through the whole transaction and then rolls it back, so its answer is exact."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


class _TakenBack(BaseException):
    """Rolls a dry run back; only the trial that raised it catches it."""


@dataclass(frozen=True, slots=True)
class Trial:
    is_dry: bool

    def end(self) -> None:
        """Call it last in the transaction: a dry run ends here as if it had failed."""
        if self.is_dry:
            raise _TakenBack


@contextmanager
def tried(is_dry: bool) -> Iterator[Trial]:
    """Wraps a transaction that may be a dry run."""
    with suppress(_TakenBack):
        yield Trial(is_dry)
