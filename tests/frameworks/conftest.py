"""A store for a framework to use. These tests also run where nothing is installed but that framework (`make adapters`), so what they
need is here.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from onrecord import Caller, OnRecord, connect


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **step: float) -> None:
        self.now += timedelta(**step)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(tmp_path: Path, clock: Clock) -> Iterator[OnRecord]:
    """A store of ann's, in a file."""
    with connect(tmp_path / "memory.db", clock=clock, caller=Caller(tenant="shop", user="ann")) as opened:
        yield opened


@pytest.fixture
def admin(door: OnRecord) -> OnRecord:
    """The same store for someone who sees everything in it."""
    everything = frozenset({"memory.read", "memory.manage", "memory.review", "memory.admin"})
    return door.as_caller(Caller(tenant="shop", user="eve", permissions=everything))


@pytest.fixture
def bob(door: OnRecord) -> OnRecord:
    return door.as_caller(Caller(tenant="shop", user="bob"))
