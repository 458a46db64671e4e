"""Posting lists in memory: scored as those that are read, and never of another state than the reader's."""

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onrecord import Caller
from onrecord.model.limits import PERMISSIONS
from onrecord.store.index.lexical import statistics
from onrecord.store.index.posting_cache import PostingCache
from onrecord.store.index.ranking import (
    ROW_UNIT,
    SCALE,
    WEIGHT_UNIT,
    Candidates,
    Scored,
    Statistics,
    best_of_few,
    packed_numbers,
)
from onrecord.store.sql import SqlStore
from onrecord.store.sqlite import SqliteBackend

TENANT = 3
LISTS = st.dictionaries(st.integers(1, 60), st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=40)
ANN = Caller(tenant="desk", user="ann", permissions=frozenset(PERMISSIONS))


def packed(postings: dict[int, tuple[int, int]]) -> str:
    return ",".join(
        str(row * ROW_UNIT + weight * WEIGHT_UNIT + length) for row, (weight, length) in postings.items()
    )


def scored(known: Statistics, term: str, postings: dict[int, tuple[int, int]]) -> Scored:
    return Scored.of(known, term, TENANT, [packed_numbers(packed(postings))] if postings else [])


def scores_by_hand(known: Statistics, lists: dict[str, dict[int, tuple[int, int]]]) -> dict[int, int]:
    scores: dict[int, int] = {}
    for term, postings in lists.items():
        for row, (weight, length) in postings.items():
            scores[row] = scores.get(row, 0) + known.part(known.weights[term], weight, length)
    return scores


@given(first=LISTS, second=LISTS, third=LISTS, most=st.integers(1, 50))
def test_lists_in_memory_add_up_to_what_lists_that_are_read_do(
    first: Any, second: Any, third: Any, most: int
) -> None:
    lists = {"a": first, "b": second, "c": third}
    known = Statistics.of(60, 300, {term: len(each) for term, each in lists.items()})
    candidates = Candidates(known, most)
    candidates.add([(TENANT, "a", packed(first))] if first else [])
    for term in ("b", "c"):
        candidates.take(Scored.of(known, term, TENANT, [packed_numbers(packed(lists[term]))]))
    by_hand = sorted(scores_by_hand(known, lists).items(), key=lambda each: (-each[1], each[0]))
    assert candidates.best() == [(TENANT, row, score) for row, score in by_hand[:most]]


@given(first=LISTS, second=LISTS, most=st.integers(1, 50))
def test_few_postings_add_up_one_by_one_to_what_they_do_in_arrays(first: Any, second: Any, most: int) -> None:
    known = Statistics.of(60, 300, {"a": len(first), "b": len(second)})
    # Of two tenants, since a row of each may have one number.
    lists = [
        (tenant, term, packed(each)) for tenant in (3, 1) for term, each in (("a", first), ("b", second))
    ]
    lists = [each for each in lists if each[2]]
    candidates = Candidates(known, most)
    candidates.add(lists)
    assert best_of_few(known, lists, most) == candidates.best()


@given(
    few=st.dictionaries(st.integers(1, 400), st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=4),
    lengths=st.lists(st.integers(1, 30), min_size=260, max_size=300),
    most=st.integers(1, 40),
)
def test_of_the_last_list_the_best_are_enough(few: Any, lengths: list[int], most: int) -> None:
    long = {row: (1 + length % 4, length) for row, length in enumerate(lengths, 1)}
    lists = {"a": few, "b": long}
    known = Statistics.of(400, 3000, {term: len(each) for term, each in lists.items()})
    candidates = Candidates(known, most)
    candidates.add([(TENANT, "a", packed(few))] if few else [])
    candidates.take_last(scored(known, "b", long))
    by_hand = sorted(scores_by_hand(known, lists).items(), key=lambda each: (-each[1], each[0]))
    assert candidates.best() == [(TENANT, row, score) for row, score in by_hand[:most]]


@given(listed=LISTS, keys=st.lists(st.integers(0, 70), unique=True), stretched=st.booleans())
def test_a_list_tells_what_it_adds_to_any_row(listed: Any, keys: list[int], stretched: bool) -> None:
    """Laid out by rows or searched: which it is, depends on how far apart its rows are."""
    apart = 1_000 if stretched else 1
    held = {row * apart: each for row, each in listed.items()}
    known = Statistics.of(60, 300, {"a": len(held)})
    asked = np.array([(TENANT << 39) | (row * apart) for row in keys], np.int64)
    told = scored(known, "a", held).parts_of(asked).tolist()
    by_hand = scores_by_hand(known, {"a": held})
    assert told == [by_hand.get(row * apart, 0) for row in keys]


@given(here=LISTS, listed=LISTS)
def test_lifting_adds_to_those_that_are_here_alone(here: Any, listed: Any) -> None:
    known = Statistics.of(60, 300, {"a": len(here), "b": len(listed)})
    candidates = Candidates(known, 100)
    candidates.add([(TENANT, "a", packed(here))] if here else [])
    candidates.lift(Scored.of(known, "b", TENANT, [packed_numbers(packed(listed))]))
    inside = {row: each for row, each in listed.items() if row in here}
    assert {row: score for _, row, score in candidates.best()} == scores_by_hand(
        known, {"a": here, "b": inside}
    )


@given(parts=st.lists(st.integers(0, SCALE), min_size=1, max_size=80), most=st.integers(1, 90))
def test_the_floor_is_reached_by_the_best_and_hardly_below_the_last_of_them(
    parts: list[int], most: int
) -> None:
    candidates = Candidates(Statistics.of(1, 1, {}), most)
    candidates.take(Scored(np.arange(len(parts)), np.array(parts, np.int64)))
    floor = candidates.floor()
    if len(parts) < most:
        assert floor == -1
        return
    last = sorted(parts, reverse=True)[most - 1]
    assert last - max(parts) // 1024 <= floor <= last


def test_a_reader_gets_the_list_of_its_own_state_and_old_lists_make_room(tmp_path: Path, clock: Any) -> None:
    from onrecord import connect

    kept, now = PostingCache(most_bytes=1), clock()
    with connect(tmp_path / "desk.db", caller=ANN, clock=clock, embedder="none") as door:
        door.remember("amber and jade")
        store = SqlStore(SqliteBackend(tmp_path / "desk.db"))
        with store.reading(ANN, now) as before:
            assert _rows(kept, before, "amber") == 1
            door.remember("amber again")
            with store.reading(ANN, now) as after:
                assert _rows(kept, after, "amber") == 2
            assert _rows(kept, before, "amber") == 1
        with store.reading(ANN, now) as after:
            assert _rows(kept, after, "amber") == 2
            assert _rows(kept, after, "jade") == 1
            # Placement for one byte is room for the list asked for last.
            assert kept.nbytes < 1_000
        store.close()


def test_a_list_holds_nothing_that_the_caller_does_not_see(tmp_path: Path, clock: Any) -> None:
    from onrecord import connect

    kept, now = PostingCache(), clock()
    bob = Caller(tenant="desk", user="bob")
    with connect(tmp_path / "desk.db", caller=ANN, clock=clock, embedder="none") as door:
        door.as_caller(Caller(tenant="desk", user="ann")).remember("amber of my own", scope="user")
        door.remember("amber for all", scope="tenant")
        store = SqlStore(SqliteBackend(tmp_path / "desk.db"))
        for caller, seen in ((ANN, 2), (bob, 1), (ANN, 2)):
            with store.reading(caller, now) as reading:
                assert _rows(kept, reading, "amber") == seen
        store.close()


def _rows(kept: PostingCache, reading: Any, term: str) -> int:
    view = reading._view
    (found,) = kept.scored(view, statistics([view], [term]), [term])
    return len(found.keys)
