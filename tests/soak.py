"""HOW often is a promise tried? A few times in each run of the tests, and many times in a soak (`make soak`)."""

import os
from collections.abc import Iterable
from typing import Final, TypeVar

SOAKING: Final = "ONRECORD_TEST_SOAK" in os.environ
Case = TypeVar("Case")


def tries(usual: int, soaking: int) -> int:
    """How many examples, rounds, kills or rows: few in each run, more in a soak."""
    return soaking if SOAKING else usual


def some(cases: Iterable[Case], usual: int) -> list[Case]:
    """Of many cases that differ in little so many, from the first to the last; in a soak all of them."""
    known = list(cases)
    if SOAKING or len(known) <= usual:
        return known
    return [known[number * (len(known) - 1) // (usual - 1)] for number in range(usual)]
