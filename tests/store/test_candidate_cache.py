"""Rows in memory: what stands is read once for each state of a tenant, and nobody gets what is not theirs."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.model.limits import PERMISSIONS, STATUSES
from onrecord.model.memory import Change
from onrecord.model.when import When
from onrecord.store.ports.index import Key, Match
from onrecord.store.ports.records import Reading
from onrecord.store.records.candidate_cache import CandidateCache, candidate_cache
from onrecord.store.sql import SqlStore
from onrecord.store.sqlite import SqliteBackend

ANN = Caller(tenant="desk", user="ann", permissions=frozenset(PERMISSIONS))
ANN_PLAIN = Caller(tenant="desk", user="ann")
BOB = Caller(tenant="desk", user="bob")


@pytest.fixture
def door(tmp_path: Path, clock: Any) -> Iterator[OnRecord]:
    with connect(tmp_path / "desk.db", caller=ANN, clock=clock, embedder="none") as opened:
        yield opened


@pytest.fixture
def store(door: OnRecord, tmp_path: Path) -> Iterator[SqlStore]:
    opened = SqlStore(SqliteBackend(tmp_path / "desk.db"))
    yield opened
    opened.close()


def keys_of(reading: Reading, *words: str) -> list[Key]:
    return [each.key for each in reading.index.match_terms([_token(word) for word in words], most=50)]


def _token(word: str) -> Any:
    from onrecord.text import question_terms

    (token,) = question_terms(word)
    return token


def ids(found: dict[Key, Match]) -> list[str]:
    return sorted(match.id for match in found.values())


def statements_of(reading: Any) -> list[str]:
    """Every statement that is run from now on."""
    told: list[str] = []
    reading._view.connection.connection.driver_connection.set_trace_callback(told.append)
    return told


def test_a_candidate_is_read_once(door: OnRecord, store: SqlStore, clock: Any) -> None:
    door.remember("amber", id="a")
    with store.reading(ANN, clock()) as reading:
        keys = keys_of(reading, "amber")
        first = reading.eligible(keys)
        told = statements_of(reading)
        assert reading.eligible(keys) == first
        assert told == []


def test_what_is_written_is_seen_at_once_also_by_another_process(
    door: OnRecord, store: SqlStore, clock: Any
) -> None:
    door.remember("amber", id="a")
    door.remember("amber too", id="b", dedupe=False)
    with store.reading(ANN, clock()) as reading:
        keys = keys_of(reading, "amber")
        assert ids(reading.eligible(keys)) == ["a", "b"]
    door.retire("a")
    door.revise("b", tags=["stone"])
    with store.reading(ANN, clock()) as reading:
        found = reading.eligible(keys)
        assert [(match.id, match.tags) for match in found.values()] == [("b", ("stone",))]


def test_an_older_state_is_read_as_it_was(door: OnRecord, store: SqlStore, clock: Any) -> None:
    door.remember("amber", id="a")
    with store.reading(ANN, clock()) as before:
        keys = keys_of(before, "amber")
        assert ids(before.eligible(keys)) == ["a"]
        door.retire("a")
        with store.reading(ANN, clock()) as after:
            assert after.eligible(keys) == {}
        assert ids(before.eligible(keys)) == ["a"]


def test_what_begins_to_stand_later_does_not_stand_before(
    door: OnRecord, store: SqlStore, clock: Any
) -> None:
    now = clock()
    door.remember("amber", id="a", valid_from=now + timedelta(days=2))
    with store.reading(ANN, now) as reading:
        keys = keys_of(reading, "amber")
        assert reading.eligible(keys) == {}
    with store.reading(ANN, now + timedelta(days=3)) as reading:
        assert ids(reading.eligible(keys)) == ["a"]
    with store.reading(ANN, now) as reading:
        assert reading.eligible(keys) == {}


def test_a_question_about_another_time_or_status_is_asked_of_the_store(
    door: OnRecord, store: SqlStore, clock: Any
) -> None:
    door.remember("amber", id="a")
    door.remember("amber too", id="b", dedupe=False)
    door.retire("b")
    with store.reading(ANN, clock()) as reading:
        keys = keys_of(reading, "amber")
        assert ids(reading.eligible(keys)) == ["a"]
        assert ids(reading.eligible(keys, statuses=STATUSES)) == ["a", "b"]
        assert reading.eligible(keys, When(as_of=clock.now - timedelta(days=400))) == {}


def test_what_one_caller_had_read_another_does_not_get(door: OnRecord, store: SqlStore, clock: Any) -> None:
    door.as_caller(ANN_PLAIN).remember("amber of my own", id="mine", scope="user")
    door.remember("amber for all", id="ours", scope="tenant")
    with store.reading(ANN, clock()) as reading:
        keys = keys_of(reading, "amber")
        assert set(ids(reading.eligible(keys))) == {"ann::mine", "ours"}
    for caller, seen in ((BOB, {"ours"}), (ANN_PLAIN, {"ann::mine", "ours"})):
        with store.reading(caller, clock()) as reading:
            assert set(ids(reading.eligible(keys))) == seen
    with store.reading(
        Caller(tenant="elsewhere", user="ann", permissions=frozenset(PERMISSIONS)), clock()
    ) as reading:
        assert reading.eligible(keys) == {}


def test_a_writer_sees_what_it_has_just_written_and_nobody_else_does(
    door: OnRecord, store: SqlStore, clock: Any
) -> None:
    door.remember("amber", id="a")
    with store.reading(ANN, clock()) as reading:
        keys = keys_of(reading, "amber")
        kept: Any = candidate_cache(reading._view)
        size = len(kept)
    with store.writing(ANN, clock()) as writing:
        before = writing.target("a")
        after = replace(before, tags=("stone",), version=2)
        writing.replace(before, after, Change("revise", "ann", "person", clock.now))
        assert [match.tags for match in writing.eligible(keys).values()] == [("stone",)]
        assert len(kept) == size


def test_a_tenant_that_was_erased_leaves_nothing_to_one_of_the_same_name(
    door: OnRecord, store: SqlStore, clock: Any
) -> None:
    with store.writing(ANN, clock()):
        pass
    door.remember("amber", id="before")
    with store.reading(ANN, clock()) as reading:
        keys = keys_of(reading, "amber")
        assert ids(reading.eligible(keys)) == ["before"]
    store.erase_tenant("desk")
    door.remember("amber", id="after")
    with store.reading(ANN, clock()) as reading:
        assert reading.eligible(keys) == {}
        assert ids(reading.eligible(keys_of(reading, "amber"))) == ["after"]


def test_counts_of_facets_are_those_of_the_readers_own_state(
    door: OnRecord, store: SqlStore, clock: Any
) -> None:
    door.remember("amber", entities=["shop:stone"])
    with store.reading(ANN, clock()) as before:
        for _ in range(2):
            assert before.index.about(["shop:stone", "shop:none"], most=9).counts == {"shop:stone": 1}
        door.remember("jade", entities=["shop:stone"])
        with store.reading(ANN, clock()) as after:
            assert after.index.about(["shop:stone", "shop:none"], most=9).counts == {"shop:stone": 2}
        assert before.index.about(["shop:stone"], most=9).counts == {"shop:stone": 1}


def test_a_name_of_too_many_is_passed_over(door: OnRecord, store: SqlStore, clock: Any) -> None:
    for number in range(3):
        colour = ["shop.stone.colour"] if number == 1 else []
        door.remember(f"amber {number}", entities=["shop.stone.weight", *colour])
    with store.reading(ANN, clock()) as reading:
        names = ["weight", "colour"]
        assert reading.index.about([], names, most=9).counts == {"weight": 3, "colour": 1}
        assert reading.index.about([], names, most=9, namesakes=2).counts == {"colour": 1}
        named = reading.index.about(["shop.stone.weight"], names, most=9, namesakes=2)
        assert named.counts == {"shop.stone.weight": 3, "colour": 1}


def test_tenants_that_were_asked_longest_ago_make_room(door: OnRecord, store: SqlStore, clock: Any) -> None:
    kept = CandidateCache(most=3)
    for tenant in ("one", "two"):
        caller = Caller(tenant=tenant, user="ann", permissions=frozenset(PERMISSIONS))
        for number in range(2):
            door.as_caller(caller).remember(f"amber {number}")
        with store.reading(caller, clock()) as reading:
            view: Any = reading._view
            kept.keep_matches(view, reading.eligible(keys_of(reading, "amber")).values())
            assert len(kept) == 2
            assert len(kept.matches(view, [row for _, row in keys_of(reading, "amber")])) == 2


def test_each_database_has_its_own(door: OnRecord, store: SqlStore, clock: Any, tmp_path: Path) -> None:
    with connect(tmp_path / "other.db", caller=ANN, clock=clock, embedder="none") as other:
        other.remember("amber", id="theirs")
        door.remember("amber", id="ours")
        elsewhere = SqlStore(SqliteBackend(tmp_path / "other.db"))
        for place, id in ((store, "ours"), (elsewhere, "theirs"), (store, "ours")):
            with place.reading(ANN, clock()) as reading:
                assert ids(reading.eligible(keys_of(reading, "amber"))) == [id]
                kept: Any = candidate_cache(reading._view)
                assert len(kept.matches(reading._view, [row for _, row in keys_of(reading, "amber")])) == 1
        elsewhere.close()
