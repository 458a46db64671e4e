"""WAS it given at all? A value that is neither None nor anything a caller could mean."""

from enum import Enum
from typing import Final, TypeVar

Value = TypeVar("Value")


class Unset(Enum):
    """The type of `UNSET`, so that types can say `str | None | Unset`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET


def given(value: Value | Unset, otherwise: Value) -> Value:
    """The value, or what stands in for it when none was given."""
    return otherwise if isinstance(value, Unset) else value
