"""WHAT do all suites use? A clock that the test moves, callers, fixtures, and short forms of questions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from onrecord.errors import OnRecordError
from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.limits import PERMISSIONS, Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW, When
from onrecord.model.wire import to_json
from onrecord.service import OnRecord
from onrecord.store.ports.index import Match
from onrecord.store.ports.records import Reading
from onrecord.store.ports.store import Store
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from onrecord.text import question_terms

START: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
#: The smallest step of time; tests look just before and just after the end of a window.
MOMENT: Final = timedelta(microseconds=1)
HOME: Final = "acme"
# More than any test saves.
_EVERY: Final = 1_000_000


class Clock:
    """A clock that the test moves, forwards or backwards."""

    def __init__(self, start: datetime = START) -> None:
        self.now = start

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **step: float) -> datetime:
        """Move the clock by `step`, or by one second; returns the new time."""
        self.now += timedelta(**step or {"seconds": 1})
        return self.now


def person(user: str = "ann", **more: Any) -> Caller:
    """A caller of the home tenant who may read and write."""
    return Caller(**{"tenant": HOME, "user": user, **more})


def administrator(user: str = "root", **more: Any) -> Caller:
    """A caller with every permission in a tenant, who also runs the store unless `operator` is False."""
    return person(user, permissions=frozenset(PERMISSIONS), **{"operator": True, **more})


class Conformance:
    """The fixtures of all suites. A class that inherits a suite adds one fixture, `store`: an empty store."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError("give a fixture `store`: an empty store, closed when the test ends")

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def ann(self, store: Store, clock: Clock) -> OnRecord:
        """A person's door."""
        return OnRecord(store, person(), clock=clock)

    @pytest.fixture
    def stub(self) -> StubEmbedder:
        """An embedder that the test controls."""
        return StubEmbedder()

    @pytest.fixture
    def knowing(self, store: Store, clock: Clock, stub: StubEmbedder) -> OnRecord:
        """A person's door to a store that keeps vectors."""
        return OnRecord(store, person(), clock=clock, embedders=StubEmbedders(stub))

    @pytest.fixture
    def root(self, ann: OnRecord) -> OnRecord:
        """An admin's door to the same store."""
        return ann.as_caller(administrator())


def covered(store: Store, tenant: str = HOME) -> dict[str, int]:
    """How many memories have vectors of each model."""
    with store.archive() as archive:
        return {each.model.name: each.memories for each in archive.coverage(Home(tenant)) if each.memories}


def queued(store: Store, tenant: str = HOME) -> tuple[int, int]:
    """How many jobs wait, and how many have failed for good."""
    with store.archive() as archive:
        return archive.job_counts(Home(tenant))


def everything(store: Store) -> dict[str, Any]:
    """Everything in a store, whoever may see it, to compare before and after."""
    with store.archive() as archive:
        return {
            str(home): (archive.counters(home), list(archive.histories(home)), list(archive.edges(home)))
            for home in archive.homes()
        }


def holdings(store: Store) -> dict[str, Any]:
    """The same without the counters, which a refused request may move."""
    return {tenant: held[1:] for tenant, held in everything(store).items() if any(held[1:])}


@contextmanager
def refused(
    kind: type[OnRecordError], text: str | None = None, *, by: Store
) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Assert that the block raises this error and changes nothing in the store `by`."""
    before = everything(by)
    with pytest.raises(OnRecordError, match=text) as failed:
        yield failed
    assert type(failed.value) is kind, failed.value
    assert everything(by) == before


def change_names(door: OnRecord, id: str) -> list[str]:
    """The names of the changes in a memory's history."""
    return [version.change for version in door.history(id).versions]


def shown_ids(memories: tuple[Memory, ...] | list[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def browsed(door: OnRecord, **ask: Any) -> list[str]:
    return shown_ids(door.browse(**ask).memories)


def recalled(door: OnRecord, question: str, **ask: Any) -> list[str]:
    return [hit.memory.id for hit in door.recall(question, **ask).hits]


def matched(
    reading: Reading, question: str, *, most: int, when: When = NOW, statuses: Sequence[Status] = ()
) -> list[tuple[Match, float]]:
    """The memories that contain words of the question and count at its time, best first; asks the store, not the door."""
    terms, past = question_terms(question), when.known_at is not None
    found = reading.index.match_terms(terms, most=_EVERY, past=past)
    eligible = reading.eligible([each.key for each in found], when, statuses)
    matches = [(eligible[each.key], each.score) for each in found if each.key in eligible]
    matches += reading.index.match_past_terms(terms, when, statuses) if past else []
    return sorted(matches, key=lambda each: (-each[1], each[0].key))[:most]


def around(door: OnRecord, id: str, **ask: Any) -> list[tuple[str, str, str]]:
    """The edges around a memory as triples."""
    edges = door.neighbours(id, **ask).edges
    return [(edge.relation.source, edge.relation.relation, edge.relation.target) for edge in edges]


def written(value: Any) -> str:
    """A value as text, so that a test can look for a word in all of it."""
    return repr(to_json(value))
