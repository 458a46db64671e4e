"""WHICH exact vector search should the store use? Each way is held against NumPy's float32 product in the same run.

    python benchmarks/vector_study.py [--sizes 10000,100000] [--vectors FILE.npy --queries FILE.npy] [--libraries]

For each way: milliseconds for the best hundred (the least and the median of rounds in which all ways alternate), the
ratio to plain NumPy, the bytes it reads for each vector, how many vectors it then compares in full, and how many of the
true best ten and hundred it finds. Real vectors, where given, are made as many as needed by moving them about with
noise of their own covariance; without them, vectors are made that share a direction and lie in families, as those of
a sentence encoder do. Libraries that are not installed are skipped. A million vectors need 8 GB.
"""

import argparse
import importlib
import os
import statistics
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from onrecord.store.index.nearest import Vectors

TOP = 100
BLOCK = 256
WIDTH = 384
Array = NDArray[Any]


class Way(NamedTuple):
    """A way to search. `search` gives the slots it holds for the best and how many it compared in full."""

    name: str
    bytes_read: int
    search: Callable[[Array], tuple[Array, int]]


# What is searched


def real(path: str, count: int, random: np.random.Generator) -> Array:
    known = np.load(path).astype(np.float32)
    centre = known.mean(axis=0)
    turn = np.linalg.cholesky(np.cov(known.T) + 1e-9 * np.eye(known.shape[1])).astype(np.float32).T
    made = np.empty((count, known.shape[1]), np.float32)
    for start in range(0, count, 50_000):
        many = min(50_000, count - start)
        noise = random.uniform(0.2, 0.9, (many, 1)).astype(np.float32)
        moved = random.standard_normal((many, known.shape[1]), dtype=np.float32) @ turn
        base = known[random.integers(0, len(known), many)] - centre
        made[start : start + many] = centre + np.sqrt(1 - noise) * base + np.sqrt(noise) * moved
    return unit(made)


def alike(count: int, random: np.random.Generator) -> Array:
    """A common direction, a spectrum that falls, families of fifty: cosines between .7 and .9."""
    spectrum = (1 / np.sqrt(np.arange(1, WIDTH + 1))).astype(np.float32)
    centre = unit(random.standard_normal((1, WIDTH), dtype=np.float32))
    families = random.standard_normal((max(count // 50, 1), WIDTH), dtype=np.float32)
    made = 0.7 * random.standard_normal((count, WIDTH), dtype=np.float32)
    made += families[random.integers(0, len(families), count)]
    made *= spectrum / np.linalg.norm(spectrum)
    made *= np.float32(0.41)
    made += centre
    return unit(made)


def unit(vectors: Array) -> Array:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


# The ways


def highest(scores: Array, most: int) -> Array:
    return np.argpartition(scores, len(scores) - most)[len(scores) - most :]


def among(vectors: Array, query: Array, slots: Array) -> tuple[Array, int]:
    """The best of some slots, compared in full a few at a time."""
    scores = np.concatenate(
        [np.vecdot(vectors[slots[at : at + 512]], query) for at in range(0, len(slots), 512)]
    )
    return slots[highest(scores, min(TOP, len(slots)))], len(slots)


def within(vectors: Array, query: Array, guess: Array, doubt: Array) -> tuple[Array, int]:
    """Every slot whose guess and doubt reach the hundredth best of a first pool."""
    first = highest(guess, 4 * TOP)
    floor = np.sort(np.vecdot(vectors[first], query))[-TOP]
    return among(vectors, query, np.flatnonzero(guess + doubt >= floor - 1e-5))


def in_full(vectors: Array) -> Iterator[Way]:
    def all_of(scores: Array) -> tuple[Array, int]:
        return highest(scores, TOP), len(scores)

    def halves(query: Array) -> tuple[Array, int]:
        scores, half = np.empty(len(vectors), np.float32), len(vectors) // 2
        other = pool.submit(np.vecdot, vectors[:half], query, out=scores[:half])
        np.vecdot(vectors[half:], query, out=scores[half:])
        other.result()
        return all_of(scores)

    pool = ThreadPoolExecutor(1)
    yield Way("float32, vectors @ query", 4 * WIDTH, lambda query: all_of(vectors @ query))
    yield Way("float32, vecdot", 4 * WIDTH, lambda query: all_of(np.vecdot(vectors, query)))
    yield Way("float32, vecdot in two threads", 4 * WIDTH, halves)
    small = vectors.astype(np.float16)
    yield Way("float16, widened block by block", 2 * WIDTH, lambda query: all_of(widened(small, query)))


def widened(small: Array, query: Array) -> Array:
    blocks = range(0, len(small), BLOCK)
    return np.concatenate([np.vecdot(small[at : at + BLOCK].astype(np.float32), query) for at in blocks])


def by_bytes(vectors: Array) -> Iterator[Way]:
    """A byte a dimension of the difference from the centre, with the bound that the rounding errors give."""
    centre = vectors.mean(axis=0)
    codes, scales, errors = as_bytes(vectors - centre)
    along = vectors @ centre

    def search(query: Array, multiply: Callable[[Array, Array], Array]) -> tuple[Array, int]:
        code, scale, error = as_bytes((query - centre)[None])
        guess = multiply(codes, code[0]) * scales * scale[0] + along + np.float32((query - centre) @ centre)
        return within(vectors, query, guess, errors * np.linalg.norm(query - centre) + error[0])

    yield Way("int8 and bound, NumPy", WIDTH, lambda query: search(query, in_floats))
    for name in ("simsimd", "numkong"):
        if library := found(name):
            yield Way(f"int8 and bound, {name}", WIDTH, lambda query, by=library: search(query, products(by)))


def as_bytes(vectors: Array) -> tuple[Array, Array, Array]:
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-30) / np.float32(127)
    codes = np.rint(vectors / scales[:, None]).astype(np.int8)
    return codes, scales, np.linalg.norm(vectors - codes * scales[:, None], axis=1)


def in_floats(codes: Array, query: Array) -> Array:
    return widened(codes, query.astype(np.float32))


def products(library: Any) -> Callable[[Array, Array], Array]:
    return lambda codes, query: np.asarray(library.cdist(query[None], codes, metric="dot"))[0].astype(
        np.float32
    )


def by_bits(vectors: Array) -> Iterator[Way]:
    """Signs with a pool of a fiftieth; and two bits after a random turn with a pool of five standard errors."""
    centre, none = vectors.mean(axis=0), np.zeros(vectors.shape[1], np.float32)
    for name, middle in (("signs", none), ("signs, centred", centre)):
        planes = packed(vectors - middle > 0)

        def nearest_signs(query: Array, planes: Array = planes, middle: Array = middle) -> tuple[Array, int]:
            asked = packed((query - middle > 0)[None])
            apart = sum_of(
                np.bitwise_count(plane ^ word) for plane, word in zip(planes, asked[:, 0], strict=True)
            )
            return among(vectors, query, highest(-apart, max(len(vectors) // 50, 4 * TOP)))

        yield Way(f"{name}, popcount, pool 2 %", WIDTH // 8, nearest_signs)
    yield from by_two_bits(vectors, centre)


def by_two_bits(vectors: Array, centre: Array) -> Iterator[Way]:
    width = vectors.shape[1]
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((width, width)))[0].astype(np.float32)
    upper, lower, pulls, reaches, rough = two_bits((vectors - centre) @ turn)
    along, roughest = vectors @ centre, float(rough.max())

    def search(query: Array) -> tuple[Array, int]:
        high, low, pull, reach, error = two_bits(((query - centre) @ turn)[None])
        apart = np.zeros(len(vectors), np.int16)
        for ours, theirs, weight in ((upper, high, 4), (upper, low, 2), (lower, high, 2), (lower, low, 1)):
            counts = (np.bitwise_count(plane ^ word[0]) for plane, word in zip(ours, theirs, strict=True))
            apart += weight * sum_of(counts)
        guess = (9 * width - 2 * apart.astype(np.float32)) * (pull[0] * pulls) + along
        guess += np.float32((query - centre) @ centre)
        spread = reach[0] * np.sqrt((1 - error[0] ** 2) * roughest**2 + error[0] ** 2)
        return within(vectors, query, guess, reaches * np.float32(5 * spread / np.sqrt(width - 1)))

    yield Way("two bits, popcount, 5 deviations", WIDTH // 4, search)


def two_bits(turned: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Planes of bits; what times the code is the vector and an error across it; how long that is, and what part is error."""
    squared = np.vecdot(turned, turned)
    upper = turned > 0
    far = np.abs(turned) > 0.9957 * np.sqrt(squared / turned.shape[1])[:, None]
    steps = np.where(far, np.float32(3), np.float32(1))
    pulls = squared / np.vecdot(np.abs(turned), steps)
    reaches = pulls * np.sqrt(np.vecdot(steps, steps))
    return (
        packed(upper),
        packed(upper == far),
        pulls,
        reaches,
        np.sqrt(np.maximum(1 - squared / reaches**2, 0)),
    )


def packed(bits: Array) -> Array:
    return np.ascontiguousarray(np.packbits(bits, axis=1).view(np.uint64).T)


def sum_of(counts: Iterator[Array]) -> Array:
    total = next(counts).astype(np.int16)
    for count in counts:
        total += count
    return total


def by_first_dimensions(vectors: Array) -> Iterator[Way]:
    """The strongest directions in full, and for the rest the product of the lengths, which it cannot exceed."""
    sample = vectors[:20_000].astype(np.float64)
    turn = np.linalg.eigh(sample.T @ sample)[1][:, ::-1].astype(np.float32)
    for many in (128, 192):
        turned = vectors @ turn
        first, rest = turned[:, :many].copy(), np.linalg.norm(turned[:, many:], axis=1)

        def search(
            query: Array, many: int = many, first: Array = first, rest: Array = rest
        ) -> tuple[Array, int]:
            asked = query @ turn
            guess = np.vecdot(first, asked[:many])
            return within(vectors, query, guess, rest * np.linalg.norm(asked[many:]))

        yield Way(f"first {many} directions and bound", 4 * many, search)


def by_libraries(vectors: Array) -> Iterator[Way]:
    if simsimd := found("simsimd"):

        def dots(query: Array) -> tuple[Array, int]:
            scores = np.asarray(simsimd.cdist(query[None], vectors, metric="dot"))[0]
            return highest(scores, TOP), len(vectors)

        yield Way("simsimd float32", 4 * WIDTH, dots)
    if usearch := found("usearch.index"):

        def exact(query: Array) -> tuple[Array, int]:
            answer = usearch.search(vectors, query, TOP, usearch.MetricKind.IP, exact=True, threads=1)
            return answer.keys.astype(np.int64), len(vectors)

        yield Way("usearch exact float32", 4 * WIDTH, exact)
    if faiss := found("faiss"):
        faiss.omp_set_num_threads(1)
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        yield Way(
            "faiss flat float32",
            4 * WIDTH,
            lambda query: (index.search(query[None], TOP)[1][0], len(vectors)),
        )


def found(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def ours(vectors: Array) -> Iterator[Way]:
    for name, compressed_from in (("ours, plain", None), ("ours, with codes", 1)):
        if compressed_from and not found("simsimd"):
            continue
        held = filled(vectors, compressed_from)
        read = WIDTH if compressed_from else 4 * WIDTH
        yield Way(name, read, lambda query, held=held: (rows_of(held, query), 0))


def filled(vectors: Array, compressed_from: int | None) -> Vectors:
    held, count = Vectors(vectors.shape[1], compressed_from), len(vectors)
    held.put(np.arange(count), np.zeros(count, np.int64), (np.arange(count) % 1000).tolist(), vectors)
    return held


def rows_of(held: Vectors, query: Array) -> Array:
    return np.array([near.row for near in held.nearest(query, TOP)])


# The measurement


def measure(ways: list[Way], vectors: Array, queries: Array, rounds: int) -> None:
    took: dict[str, list[float]] = {way.name: [] for way in ways}
    compared: dict[str, list[int]] = {way.name: [] for way in ways}
    kept = {way.name: [0, 0] for way in ways}
    for query in queries[:rounds]:
        scores = np.vecdot(vectors, query)
        best = highest(scores, TOP)
        hundredth, tenth = scores[best].min(), np.sort(scores[best])[-10]
        for way in ways:
            way.search(query)
            start = perf_counter()
            slots, many = way.search(query)
            took[way.name].append(1000 * (perf_counter() - start))
            compared[way.name].append(many)
            kept[way.name][0] += min(int((scores[slots] >= tenth - 1e-6).sum()), 10)
            kept[way.name][1] += min(int((scores[slots] >= hundredth - 1e-6).sum()), TOP)
    plain = min(took[ways[0].name])
    print(f"\n{len(vectors):,} vectors, {rounds} questions")
    print(
        f"{'way':36}{'least ms':>9}{'median':>8}{'ratio':>7}{'bytes':>7}{'in full':>9}{'of 10':>8}{'of 100':>8}"
    )
    for way in ways:
        times, (ten, hundred) = took[way.name], kept[way.name]
        share = (
            f"{statistics.mean(compared[way.name]) / len(vectors):9.2%}"
            if any(compared[way.name])
            else f"{'':9}"
        )
        print(
            f"{way.name:36}{min(times):9.2f}{statistics.median(times):8.2f}{min(times) / plain:7.2f}{way.bytes_read:7}"
            f"{share}{ten / (10 * rounds):8.4f}{hundred / (TOP * rounds):8.4f}"
        )


def measure_filters(vectors: Array, query: Array) -> None:
    """Ours, when the caller sees a part: one thousand audiences, some of them allowed."""
    for name, compressed_from in (("plain", None), ("with codes", 1)):
        if compressed_from and not found("simsimd"):
            continue
        held = filled(vectors, compressed_from)
        parts = (1, 10, 100, 200, 500, 1000)
        search = partial(held.nearest, query, TOP)
        times = [f"{part / 1000:.1%} {least(partial(search, range(part))):.2f}" for part in parts]
        print(f"ours, {name}, {held.nbytes / 1e6:,.0f} MB; ms by the part that is seen: " + ", ".join(times))


def least(work: Callable[[], object]) -> float:
    times = []
    for _ in range(15):
        start = perf_counter()
        work()
        times.append(1000 * (perf_counter() - start))
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--vectors")
    parser.add_argument("--queries")
    parser.add_argument(
        "--libraries", action="store_true", help="measure whole libraries too, where installed"
    )
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    for name in ("simsimd", "numkong", "usearch", "faiss"):
        if not found(name):
            print(f"{name} is not installed: skipped")
    for size in map(int, options.sizes.split(",")):
        random = np.random.default_rng(7)
        vectors = real(options.vectors, size, random) if options.vectors else alike(size, random)
        if options.queries:
            queries = random.permutation(np.load(options.queries).astype(np.float32))
        else:
            queries = unit(
                vectors[random.integers(0, size, options.rounds)] + 0.5 * vectors[: options.rounds]
            )
        makers = [in_full, by_bytes, by_bits, by_first_dimensions, ours]
        makers += [by_libraries] if options.libraries else []
        measure(
            [way for make in makers for way in make(vectors)],
            vectors,
            queries,
            min(options.rounds, len(queries)),
        )
        measure_filters(vectors, queries[0])


if __name__ == "__main__":
    main()
