"""A question on its way, made by hand; and a tenant of its own for each example."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st

from onrecord import Caller, OnRecord, connect
from onrecord.model.limits import PERMISSIONS
from onrecord.recall.draft import RecallDraft
from onrecord.recall.recall import Recall
from onrecord.recall.recipes import Fusion, Recipe
from onrecord.store.ports.index import Found, Key, Match, Near
from onrecord.store.timestamps import microseconds_of
from onrecord.testing.embedder import StubEmbedder
from tests.databases import db

__all__ = ["db"]

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = ("ferry", "harbour", "ledger", "orchard", "pepper", "quarry", "saddle", "thimble")
#: The channels in an order that is not that of their names.
CHANNELS = ("semantic", "graph", "references", "lexical")
ANN = Caller(tenant="acme", user="ann", conversation="here")


def a_match(key: Key, **known: Any) -> Match:
    usual: dict[str, Any] = {
        "id": str(key[1]),
        "kind": "fact",
        "tags": (),
        "scope": "tenant",
        "conversation": None,
    }
    usual |= {"has_query": False, "entities": (), "audience": "t", "checked": None}
    usual |= dict.fromkeys(("since", "written", "changed"), microseconds_of(NOW))
    for name, kept in (("valid_from", "since"), ("verified_at", "checked")):
        if known.get(name) is not None:
            usual[kept] = microseconds_of(known[name])
        known.pop(name, None)
    return Match(key=key, **{**usual, **known})


def a_draft(
    found: Mapping[str, Sequence[Found]],
    *,
    weights: Mapping[Any, float],
    fusion: Fusion = "weighted",
    matches: Mapping[Key, Match] | None = None,
    **ask: Any,
) -> RecallDraft:
    """What a question has found by the time its channels are fused."""
    keys = {each.key for listed in found.values() for each in listed}
    return RecallDraft(
        caller=ANN,
        ask=Recall("anything", **ask),
        now=NOW,
        recipe=Recipe(name="mine", weights=weights, fusion=fusion),
        found=found,
        nearest={each.key: Near(*each.key, 0, each.score) for each in found.get("semantic", ())},
        matches=matches or {key: a_match(key) for key in keys},
    )


@st.composite
def a_list(draw: st.DrawFn) -> tuple[Found, ...]:
    """What a channel finds: best first, equal ones in the order in which they were saved."""
    rows = draw(st.lists(st.integers(1, 12), unique=True, max_size=8))
    found = [Found((1, row), draw(st.integers(0, 1_000)) / 100) for row in rows]
    return tuple(sorted(found, key=lambda each: (-each.score, each.key)))


#: What some channels find.
finds = st.dictionaries(st.sampled_from(CHANNELS), a_list(), min_size=1)
weighings = st.fixed_dictionaries(
    {channel: st.integers(1, 100).map(lambda w: w / 100) for channel in CHANNELS}
)


class Ground:
    """One store in which every example has a tenant of its own."""

    def __init__(self, door: OnRecord) -> None:
        self._door = door
        self._tenants = count(1)

    def __repr__(self) -> str:
        return "ground"

    def empty(self, **who: Any) -> OnRecord:
        """A door to a tenant that nobody has written to."""
        usual = {"tenant": f"tenant{next(self._tenants)}", "user": "ann"}
        return self._door.as_caller(Caller(**{**usual, "permissions": frozenset(PERMISSIONS), **who}))


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    with connect(":memory:", clock=lambda: NOW, embedder=StubEmbedder(), caller=ANN) as door:
        yield Ground(door)


@pytest.fixture
def empty(ground: Ground) -> Callable[..., OnRecord]:
    return ground.empty


def days(many: float) -> timedelta:
    return timedelta(days=many)


def ids(hits: Sequence[Any]) -> list[str]:
    return [hit.memory.id for hit in hits]
