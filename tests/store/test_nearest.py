"""ARE the nearest vectors really the nearest? Compared with looking at every one, in one thread and in several."""

import threading
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from onrecord.store.index.nearest import NearRow, Vectors

WIDTH = 6
EVERYTHING = 10**6
PLAIN, COMPRESSED = None, 1

# Eighths have exact products, so the oracle's scores are equal and not merely near.
vector = st.lists(st.integers(-8, 8).map(lambda eighths: eighths / 8), min_size=WIDTH, max_size=WIDTH)
memory_row = st.integers(0, 12) | st.integers(2**50, 2**50 + 3)
audience = st.integers(-1, 3)
passages_of_a_memory = st.lists(st.tuples(audience, vector), min_size=1, max_size=3)
put = st.dictionaries(memory_row, passages_of_a_memory, max_size=8)
drop = st.lists(memory_row, max_size=4)
change = st.one_of(put, put, drop)
way = st.sampled_from([PLAIN, COMPRESSED])

Held = dict[int, list[tuple[int, list[float]]]]


def put_all(vectors: Vectors, memories: Held) -> None:
    entries = [
        (row, number, audience, vector)
        for row, passages in memories.items()
        for number, (audience, vector) in enumerate(passages)
    ]
    rows, numbers, audiences, values = zip(*entries, strict=True) if entries else ((), (), (), ())
    vectors.put(rows, numbers, audiences, np.array(values, np.float32).reshape(-1, WIDTH))


def lived(changes: Iterable[Held | list[int]], compressed_from: int | None) -> tuple[Vectors, Held]:
    """Vectors after some changes, and what they should hold."""
    vectors, held = Vectors(WIDTH, compressed_from), Held()
    for each in changes:
        if isinstance(each, dict):
            put_all(vectors, each)
            held |= each
        else:
            vectors.drop(each)
            held = {row: passages for row, passages in held.items() if row not in each}
    return vectors, held


def looked_through(held: Held, query: list[float], audiences: Collection[int] | None = None) -> list[NearRow]:
    best: dict[int, NearRow] = {}
    for row, passages in held.items():
        for number, (audience, vector) in enumerate(passages):
            score = round(float(np.dot(query, vector)), 6)
            if (audiences is None or audience in audiences) and (row not in best or score > best[row].score):
                best[row] = NearRow(row, number, score)
    return sorted(best.values(), key=lambda near: (-near.score, near.row))


@given(st.lists(change, max_size=8), vector, st.integers(0, 15), st.none() | st.frozensets(audience), way)
def test_the_nearest_memories_are_those_that_looking_at_every_passage_finds(
    changes: list[Held | list[int]],
    query: list[float],
    most: int,
    audiences: frozenset[int] | None,
    compressed_from: int | None,
) -> None:
    vectors, held = lived(changes, compressed_from)
    assert vectors.nearest(query, most, audiences) == looked_through(held, query, audiences)[:most]
    assert len(vectors) == sum(map(len, held.values()))


@given(st.lists(change, max_size=8), vector, st.lists(memory_row), way)
def test_given_memories_are_scored_by_their_best_passage(
    changes: list[Held | list[int]], query: list[float], rows: list[int], compressed_from: int | None
) -> None:
    vectors, held = lived(changes, compressed_from)
    wanted = {row: passages for row, passages in held.items() if row in rows}
    assert vectors.score(query, rows) == looked_through(wanted, query)


numbers = st.floats(-1, 1, width=32)
table = st.integers(1, 30).flatmap(lambda many: arrays(np.float32, (many, WIDTH), elements=numbers))


@given(table, arrays(np.float32, WIDTH, elements=numbers), st.integers(1, 5))
def test_codes_change_nothing_whatever_the_vectors_are(
    values: NDArray[np.float32], query: NDArray[np.float32], most: int
) -> None:
    # Each vector many times, so that the codes leave few enough to fetch.
    plain, compressed = (filled(np.repeat(values, 20, axis=0), way) for way in (PLAIN, COMPRESSED))
    assert compressed.nearest(query, most) == plain.nearest(query, most)


def filled(values: NDArray[np.float32], compressed_from: int | None) -> Vectors:
    vectors, count = Vectors(values.shape[1], compressed_from), len(values)
    vectors.put(np.arange(count), np.zeros(count, np.int64), [0] * count, values)
    return vectors


def crowd(seed: int, count: int = 4000, width: int = 96) -> NDArray[np.float32]:
    """Vectors as a model makes them: all much alike, and in families whose members a byte can hardly tell apart."""
    random = np.random.default_rng(seed)
    families = 2 * random.standard_normal(width) + random.standard_normal((count // 50, width))
    members = families[random.integers(0, len(families), count)] + 0.02 * random.standard_normal(
        (count, width)
    )
    unit: NDArray[np.float32] = (members / np.linalg.norm(members, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.mark.parametrize("seed", range(8))
def test_codes_find_the_nearest_among_vectors_they_cannot_tell_apart(seed: int) -> None:
    values = crowd(seed)
    plain, compressed = filled(values, PLAIN), filled(values, COMPRESSED)
    for query in values[:20]:
        for most in (1, 10, 100):
            assert compressed.nearest(query, most) == plain.nearest(query, most)


def test_codes_find_the_nearest_after_vectors_came_went_and_moved() -> None:
    values, later = crowd(1), crowd(2)
    found = []
    for compressed_from in (PLAIN, COMPRESSED):
        vectors = filled(values, compressed_from)
        vectors.put(range(3000, 6000), [0] * 3000, [1] * 3000, later[:3000])
        vectors.drop(range(2500))
        found.append([vectors.nearest(query, 10, who) for query in later[:20] for who in (None, {0}, {1})])
    assert found[0] == found[1]


def test_scores_that_differ_by_noise_keep_the_order_of_saving() -> None:
    vectors = Vectors(2)
    vectors.put([3, 1, 2], [0, 0, 0], [0, 0, 0], [[0.5, 0], [0.5 - 1e-7, 0], [0.6, 0]])
    assert [near.row for near in vectors.nearest([1, 0], 3)] == [2, 1, 3]
    assert [near.row for near in vectors.nearest([1, 0], 2)] == [2, 1]


def test_the_best_so_many_memories_are_found_behind_one_of_many_passages() -> None:
    vectors = Vectors(1)
    vectors.put([7] * 50, range(50), [0] * 50, [[1.0]] * 50)
    vectors.put([1, 2], [0, 0], [0, 0], [[0.5], [0.25]])
    assert vectors.nearest([1], 2) == [NearRow(7, 0, 1.0), NearRow(1, 0, 0.5)]


def test_an_unknown_audience_sees_nothing() -> None:
    values = crowd(1)
    vectors = filled(values, COMPRESSED)
    assert vectors.nearest(values[0], 10, {5}) == []
    assert vectors.nearest(values[0], 10, set()) == []


@pytest.mark.parametrize(
    ("rows", "audiences", "values"),
    [
        ([1], [0], [[0.0] * 3]),
        ([1, 2], [0, 0], [[0.0] * 2]),
        ([1], [0, 0], [[0.0] * 2]),
        ([1], [0], [0.0, 0.0]),
        ([1], [0], [[0.0, float("nan")]]),
    ],
)
def test_vectors_that_do_not_fit_are_refused_and_change_nothing(
    rows: list[int], audiences: list[int], values: list[list[float]]
) -> None:
    vectors = Vectors(2)
    with pytest.raises(ValueError, match="a vector of 2 numbers"):
        vectors.put(rows, [0] * len(rows), audiences, values)
    assert len(vectors) == 0


def test_one_more_vector_is_written_into_room_that_is_there() -> None:
    values, sizes = crowd(1), set()
    vectors = filled(values, COMPRESSED)
    for row in range(5000, 6000):
        vectors.put([row], [0], [0], values[:1])
        sizes.add(vectors.nbytes)
    assert len(sizes) <= 2


def test_room_is_given_back_when_most_vectors_are_gone() -> None:
    vectors = filled(crowd(1), COMPRESSED)
    before = vectors.nbytes
    vectors.drop(range(3900))
    assert len(vectors) == 100
    assert vectors.nbytes < before / 3


@pytest.mark.parametrize("compressed_from", [PLAIN, COMPRESSED])
def test_a_reader_sees_all_of_a_put_or_nothing_of_it(compressed_from: int | None) -> None:
    """Each round gives every memory a new score. A mixture, or a memory too few, would be half a put."""
    rows, rounds = np.repeat(np.arange(20), 2), 400
    passages, audiences = np.tile([0, 1], 20), [0, 1] * 20
    vectors = Vectors(2, compressed_from)
    done = threading.Event()

    def write_round(number: int) -> None:
        vectors.put(rows, passages, audiences, np.tile([number / 1024, 0.0], (40, 1)))

    def read() -> int:
        seen = set()
        while not done.is_set():
            for found in (
                vectors.nearest([1, 0], EVERYTHING),
                vectors.nearest([1, 0], 20, {1}),
                vectors.score([1, 0], range(20)),
            ):
                scores = {near.score for near in found}
                assert [near.row for near in found] == list(range(20))
                assert len(scores) == 1
                seen |= scores
        return len(seen)

    write_round(0)
    with ThreadPoolExecutor(3) as readers:
        reading = [readers.submit(read) for _ in range(3)]
        try:
            for number in range(1, rounds):
                write_round(number)
        finally:
            done.set()
        assert sum(each.result() for each in reading) > 3
    assert vectors.nearest([1, 0], 1) == [NearRow(0, 0, round((rounds - 1) / 1024, 6))]


def test_writers_wait_for_each_other() -> None:
    vectors = Vectors(1)

    def write(part: int) -> None:
        for row in range(part * 300, part * 300 + 300):
            vectors.put([row], [0], [part], [[row / 2048]])

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(write, range(4)))
    assert [near.row for near in vectors.nearest([1], EVERYTHING)] == list(range(1199, -1, -1))
    assert [near.row for near in vectors.nearest([1], 2, {2})] == [899, 898]
