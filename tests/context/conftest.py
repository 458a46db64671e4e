"""Doors to one store for the people and agents of one team, and what the tests read out of a frame."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.model.caller import Caller
from onrecord.model.limits import PERMISSIONS
from tests.databases import db

__all__ = ["db"]

Doors = Callable[..., OnRecord]


@pytest.fixture
def store_of(clock: Any) -> Iterator[OnRecord]:
    """The door of whoever runs a store in memory."""
    root = Caller(tenant="acme", user="root", permissions=frozenset(PERMISSIONS), operator=True)
    with connect(":memory:", caller=root, clock=clock) as door:
        yield door


@pytest.fixture
def door(store_of: OnRecord) -> Doors:
    """A door to that store for anyone: `door("ann", actor="agent")`."""

    def opened(user: str = "ann", **more: Any) -> OnRecord:
        return store_of.as_caller(Caller(**{"tenant": "acme", "user": user, **more}))

    return opened


@pytest.fixture
def ann(door: Doors) -> OnRecord:
    return door()


TAG = re.compile(r"^<(stored-notes-[0-9a-f]{12})>$", re.MULTILINE)


def inside(text: str) -> list[str]:
    """The lines within the one frame of a text, once it is certain that there is one and where it ends."""
    (tag,) = TAG.findall(text)
    before, _, rest = text.partition(f"<{tag}>\n")
    within, _, after = rest.partition(f"\n</{tag}>")
    assert tag not in (before + within + after).casefold()
    return within.split("\n")
