"""WHAT does a large catalog cost? Each figure is a ratio against the same work without it, or a bar in milliseconds.

    python benchmarks/catalog.py [--data DIR] [--models 5000] [--columns 40] [--memories 50000] [--json FILE]

The catalog is written as YAML files and ingested whole, again unchanged, and again with one model changed. References
are resolved and questions asked in that store; the same questions go to a store of the same memories without a catalog.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter

from speed import fill
from texts import Texts

from onrecord import Caller, OnRecord, connect
from onrecord.catalog.resolution import resolve
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.limits import PERMISSIONS
from onrecord.store.sql import SqlStore
from onrecord.store.sqlite import SqliteBackend

_BLOCK = 20
_NOUNS = (
    "order customer invoice payment shipment product region account contract session ticket refund".split()
)
_FIELDS = "amount status name total rate created_at updated_at region currency quantity price segment".split()
_WORDS = "gross net of refunds in the currency of the account as booked by finance when it was closed".split()


@dataclass(frozen=True)
class Figure:
    """One measurement, what it is held against (0 if nothing but its bar), and whether it passes."""

    name: str
    ours: float
    against: float
    unit: str
    bar: str
    passed: bool

    @property
    def ratio(self) -> float | None:
        return self.ours / self.against if self.against else None


def main() -> None:
    asked = _arguments()
    texts = Texts(asked.data)
    with tempfile.TemporaryDirectory(prefix="onrecord-bench-") as folder:
        root = Path(folder)
        print(f"writing {asked.models:,} models …", file=sys.stderr)
        write_catalog(root / "catalog", asked.models, asked.columns)
        with _door(root / "with.db") as door, _door(root / "without.db") as plain:
            figures = ingests(door, root / "catalog")
            figures += resolutions(root / "with.db", door.caller, asked.models)
            memories = list(texts.memories(asked.memories))
            for each in (door, plain):
                fill(each, memories, root)
            figures += searches(door, plain, _questions(texts, asked.models, asked.columns))
    _print(figures)
    if asked.json:
        asked.json.write_text(
            json.dumps([asdict(each) | {"ratio": each.ratio} for each in figures], indent=2)
        )


def write_catalog(root: Path, models: int, columns: int) -> None:
    """As people write it: each column with a type and a line about it."""
    chance = random.Random(5)
    folder = root / "models" / "shop"
    folder.mkdir(parents=True)
    for number in range(models):
        (folder / f"{_model(number)}.yaml").write_text(_written(number, columns, chance))


def _model(number: int) -> str:
    return f"{_NOUNS[number % len(_NOUNS)]}_{number}"


def _column(number: int) -> str:
    return f"{_FIELDS[number % len(_FIELDS)]}_{number}"


def _written(number: int, columns: int, chance: random.Random) -> str:
    lines = [f"name: {_model(number)}", "data_source: shop", f"sql_table: public.{_model(number)}"]
    lines += [f"description: {_sentence(chance)}", "columns:"]
    for column in range(columns):
        name = f"own_{number}" if column == 0 else _column(column)
        lines += [f"  - name: {name}", "    type: DOUBLE", f"    description: {_sentence(chance)}"]
    return "\n".join(lines) + "\n"


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, k=8))


def ingests(door: OnRecord, catalog: Path) -> list[Figure]:
    """The first, one of the same, and one in which a single model differs."""
    first = _timed(lambda: door.ingest(str(catalog)))
    again = min(_timed(lambda: door.ingest(str(catalog))) for _ in range(3))
    changed = next((catalog / "models" / "shop").glob("*.yaml"))
    changed.write_text(changed.read_text().replace("description:", "description: Now", 1))
    one = _timed(lambda: door.ingest(str(catalog)))
    return [
        Figure("first ingest", first, 0, "s", "none", True),
        Figure(
            "unchanged again, against the first", again, first, "s", "at most 0.1 times", again <= first / 10
        ),
        Figure("one model changed, against the first", one, first, "s", "none", True),
    ]


def resolutions(path: Path, caller: Caller, models: int) -> list[Figure]:
    """Of one reference: with the opening of a reading, as a single save pays for it, and within one that is open."""
    names = [_model(number) for number in random.Random(7).sample(range(models), min(models, 200))]
    forms = {
        "canonical": ([f"shop.{name}.own_{name.rpartition('_')[2]}" for name in names], 1.0),
        "dotted": ([f"{name}.own_{name.rpartition('_')[2]}" for name in names], 1.0),
        "bare": ([f"own_{name.rpartition('_')[2]}" for name in names], None),
    }
    store, now, figures = SqlStore(SqliteBackend(path)), datetime.now(UTC), []

    def once(reference: str) -> None:
        with store.reading(caller, now) as reading:
            resolve(reference, StoredCatalog(reading))

    for form, (references, bar) in forms.items():
        opened = [_timed(partial(once, each)) for each in references]
        with store.reading(caller, now) as reading:
            lookup = StoredCatalog(reading)
            open_already = [_timed(partial(resolve, each, lookup)) for each in references]
        for told, times in (("reading opened", opened), ("within a reading", open_already)):
            ms = statistics.median(times) * 1000
            told_bar = f"below {bar} ms" if bar else "none"
            figures.append(Figure(f"resolve {form}, {told}", ms, 0, "ms", told_bar, bar is None or ms < bar))
    store.close()
    return figures


def searches(door: OnRecord, plain: OnRecord, kinds: dict[str, list[str]]) -> list[Figure]:
    """The same search over the same memories, with a catalog beside them and without."""
    figures = []
    for kind, questions in kinds.items():
        for question in questions:
            door.search(question=question)
            plain.search(question=question)
        times: dict[str, list[float]] = {"with": [], "without": []}
        for start in range(0, len(questions), _BLOCK):
            for side, where in (("with", door), ("without", plain)):
                block = questions[start : start + _BLOCK]
                times[side] += [_timed(partial(where.search, question=question)) for question in block]
        ours, against = (statistics.median(times[side]) * 1000 for side in ("with", "without"))
        passed = ours <= 2 * against
        figures.append(Figure(f"search, {kind}", ours, against, "ms", "at most 2 times", passed))
    return figures


def _questions(texts: Texts, models: int, columns: int) -> dict[str, list[str]]:
    """Of which the catalog knows nothing, of which it knows one model, and whose words stand in thousands of columns.

    The last name a column that every model has.
    """
    chance, asked = random.Random(9), texts.questions(100)
    return {
        "words of memories": asked,
        "and the name of a model": [f"{each} {_model(chance.randrange(models))}" for each in asked],
        "and words of every model": [
            f"{each} {chance.choice(_NOUNS)} {chance.choice(_FIELDS)}" for each in asked
        ],
        "and a column of every model": [f"{each} {_column(chance.randrange(1, columns))}" for each in asked],
    }


def _door(path: Path) -> OnRecord:
    """Words alone: what vectors cost is measured in recall.py."""
    caller = Caller(tenant="bench", user="bench", permissions=frozenset(PERMISSIONS))
    return connect(path, caller=caller, embedder="none")


def _timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _print(figures: Sequence[Figure]) -> None:
    print(f"{'':45} {'ours':>12} {'against':>12}  {'unit':5} {'ratio':>6}  bar")
    for figure in figures:
        against, ratio = (f"{figure.against:.3f}", f"{figure.ratio:.2f}") if figure.ratio else ("", "")
        mark = "" if figure.passed else "  MISSED"
        print(
            f"{figure.name:45} {figure.ours:12.3f} {against:>12}  {figure.unit:5} {ratio:>6}  {figure.bar}{mark}"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="a directory with locomo_turn/, for real texts")
    parser.add_argument("--models", type=int, default=5_000)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--memories", type=int, default=50_000)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
