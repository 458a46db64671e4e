"""WHAT would it do? A dry run goes through the whole transaction and then rolls it back, so its answer is exact."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


class _RollBack(BaseException):
    """Rolls a dry run back; only the dry run that raised it catches it."""


@dataclass(frozen=True, slots=True)
class DryRun:
    is_dry: bool

    def end(self) -> None:
        """Call it last in the transaction: a dry run ends here as if it had failed."""
        if self.is_dry:
            raise _RollBack


@contextmanager
def dry_run(is_dry: bool) -> Iterator[DryRun]:
    """Wraps a transaction that may be a dry run."""
    with suppress(_RollBack):
        yield DryRun(is_dry)
