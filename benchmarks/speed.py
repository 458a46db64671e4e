"""HOW fast is it? Each figure is a ratio against raw sqlite3 or FTS5 doing the same work in the same run.

    python benchmarks/speed.py [--data DIR] [--memories 100000] [--only remember,import,show,recall,tenants] [--json FILE]

Machines are noisy, so ours and the raw work alternate in small blocks and medians are compared.
"""

import argparse
import json
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from exports import write_export
from raw import Raw, fts_question
from texts import Texts

from onrecord import Caller, Memory, OnRecord, connect
from onrecord.model.limits import PERMISSIONS

_BLOCK = 20
_IMPORTS = 5


@dataclass(frozen=True)
class Figure:
    """One measurement: ours, the raw work it is held against, and the bar."""

    name: str
    ours: float
    raw: float
    unit: str
    bar: str
    passed: bool

    @property
    def ratio(self) -> float:
        return self.ours / self.raw


def main() -> None:
    asked = _arguments()
    texts = Texts(asked.data)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="onrecord-bench-") as folder:
        for name, measure in MEASURES.items():
            if name in asked.only:
                print(f"measuring {name} …", file=sys.stderr)
                figures += measure(Path(folder), texts, asked.memories)
    _print(figures)
    if asked.json:
        asked.json.write_text(
            json.dumps([asdict(figure) | {"ratio": figure.ratio} for figure in figures], indent=2)
        )


def remember_one(folder: Path, texts: Texts, most: int) -> list[Figure]:
    """One durable save against the same rows and postings inserted by hand, both into stores that hold some already."""
    every = list(dict.fromkeys(texts.memories(3_000)))
    ours = _ours(folder / "ours.db")
    fill(ours, every[:2_000], folder)
    raw = Raw(folder / "raw.db", folder / "ours.db")
    raw.insert_all(raw.batches(1_000))
    times: dict[str, list[float]] = {"ours": [], "raw": []}
    for block in _blocks(every[2_000:]):
        saved = []
        for text in block:
            started = perf_counter()
            saved.append(ours.remember(text).memory)
            times["ours"].append(perf_counter() - started)
        for rows in [raw.rows_of(memory) for memory in saved]:
            times["raw"].append(_timed(lambda rows=rows: raw.insert_durably(rows)))
    ours.close()
    raw.close()
    return [_compare("one durable remember", times, "ms", most_times=4)]


def import_many(folder: Path, texts: Texts, most: int) -> list[Figure]:
    """Bulk import against sqlite3 writing the same rows and postings in the same batches."""
    count = min(most, 20_000)
    memories, times = list(texts.memories(count)), {"ours": list[float](), "raw": list[float]()}
    for attempt in range(_IMPORTS):
        target = _ours(folder / f"target-{attempt}.db")
        write_export(folder / "bulk.jsonl", target.caller.tenant, _model(), memories)
        times["ours"].append(_timed(lambda to=target: to.import_(str(folder / "bulk.jsonl"))))
        raw = Raw(folder / f"raw-bulk-{attempt}.db", folder / f"target-{attempt}.db")
        batches = raw.batches(1_000)
        times["raw"].append(_timed(lambda to=raw, rows=batches: to.insert_all(rows)))
        target.close()
        raw.close()
    ours, theirs = (count / statistics.median(times[side]) for side in ("ours", "raw"))
    return [Figure("bulk import", ours, theirs, "memories/s", "at least 0.5 times", ours / theirs >= 0.5)]


def show_one(folder: Path, texts: Texts, most: int) -> list[Figure]:
    """Reading one memory by id with its edges, against selecting the row."""
    ours = _ours(folder / "show.db")
    fill(ours, list(texts.memories(5_000)), folder)
    raw = Raw(folder / "show-raw.db", folder / "show.db")
    raw.insert_all(raw.batches(1_000))
    times: dict[str, list[float]] = {"ours": [], "raw": []}
    for number in range(1, 1_001):
        times["ours"].append(_timed(lambda id=str(number): ours.show(id)))
        times["raw"].append(_timed(lambda id=str(number): raw.lookup(id)))
    ours.close()
    raw.close()
    return [_compare("show by id", times, "ms", most_times=None)]


def recall_in_one_tenant(folder: Path, texts: Texts, most: int) -> list[Figure]:
    """A whole recall of ten hits in one tenant against FTS5, which has no callers to respect."""
    figures = []
    for count in [size for size in (1_000, 10_000, 100_000) if size <= most]:
        memories = list(texts.memories(count))
        ours, fts = (
            _ours(folder / f"recall-{count}.db"),
            _fts(folder / f"fts-{count}.db", [("only", memories)]),
        )
        fill(ours, memories, folder)
        times = _search_times(ours, partial(_fts_search, fts), texts.questions(200))
        # In a small store the floor of any Python call decides; the bar is for where the index does.
        bars = {"p95": 1.0} if count == 100_000 else {}
        figures += _percentiles(f"recall, {count:,} in one tenant", times, bars)
        ours.close()
        fts.close()
    return figures


def recall_among_tenants(folder: Path, texts: Texts, most: int) -> list[Figure]:
    """A recall in a tenant of 500 among 200 tenants, against FTS5 with a tenant filter."""
    count = min(most, 100_000)
    memories = list(texts.memories(count))
    shares = [(f"t{place}", memories[place * 500 : place * 500 + 500]) for place in range(count // 500)]
    ours, fts = _ours(folder / "tenants.db", shares[0][0]), _fts(folder / "tenants-fts.db", shares)
    for tenant, share in shares:
        fill(ours.as_caller(_caller(tenant)), share, folder)
    tenant = shares[len(shares) // 2][0]
    door = ours.as_caller(_caller(tenant))
    times = _search_times(door, lambda question: _fts_search(fts, question, tenant), texts.questions(200))
    ours.close()
    fts.close()
    return _percentiles(f"recall, 500 of {count:,} in {len(shares)} tenants", times, {"p50": 0.2, "p95": 0.2})


MEASURES = {
    "remember": remember_one,
    "import": import_many,
    "show": show_one,
    "recall": recall_in_one_tenant,
    "tenants": recall_among_tenants,
}


def _search_times(
    ours: OnRecord, theirs: Callable[[str], object], questions: Sequence[str]
) -> dict[str, list[float]]:
    for question in questions:
        ours.recall(question)
        theirs(question)
    times: dict[str, list[float]] = {"ours": [], "raw": []}
    for block in _blocks(questions):
        times["ours"] += [_timed(lambda question=question: ours.recall(question)) for question in block]
        times["raw"] += [_timed(lambda question=question: theirs(question)) for question in block]
    return times


def _fts(path: Path, shares: Iterable[tuple[str, Sequence[str]]]) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE memories(id INTEGER PRIMARY KEY, tenant TEXT, content TEXT)")
    connection.execute(
        "CREATE VIRTUAL TABLE search USING fts5(content, tokenize='porter unicode61 remove_diacritics 2')"
    )
    for tenant, texts in shares:
        for text in texts:
            row = connection.execute(
                "INSERT INTO memories(tenant, content) VALUES (?, ?)", (tenant, text)
            ).lastrowid
            connection.execute("INSERT INTO search(rowid, content) VALUES (?, ?)", (row, text))
    connection.execute("INSERT INTO search(search) VALUES ('optimize')")
    connection.commit()
    return connection


def _fts_search(
    connection: sqlite3.Connection, question: str, tenant: str | None = None
) -> list[tuple[object, ...]]:
    filtered = "AND memories.tenant = :tenant" if tenant else ""
    return connection.execute(
        f"""SELECT memories.*, bm25(search) FROM search JOIN memories ON memories.id = search.rowid
            WHERE search MATCH :words {filtered} ORDER BY bm25(search) LIMIT 10""",
        {"words": fts_question(question), "tenant": tenant},
    ).fetchall()


def _ours(path: Path, tenant: str = "bench") -> OnRecord:
    """Words alone: what vectors cost is measured in recall.py."""
    return connect(path, caller=_caller(tenant), embedder="none")


def _caller(tenant: str) -> Caller:
    return Caller(tenant=tenant, user="bench", permissions=frozenset(PERMISSIONS))


def fill(door: OnRecord, texts: Sequence[str], folder: Path) -> None:
    """Through an export file, the quick way in; its content is what `remember` would have stored."""
    path = folder / "fill.jsonl"
    write_export(path, door.caller.tenant, _model(), texts)
    door.import_(str(path))


def _model() -> Memory:
    with connect(":memory:", caller=_caller("model"), embedder="none") as maker:
        return maker.remember("x").memory


def _blocks(items: Sequence[str]) -> Iterable[Sequence[str]]:
    return (items[start : start + _BLOCK] for start in range(0, len(items), _BLOCK))


def _timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _compare(name: str, times: dict[str, list[float]], unit: str, most_times: float | None) -> Figure:
    ours, raw = (statistics.median(times[side]) * 1000 for side in ("ours", "raw"))
    bar = f"at most {most_times} times" if most_times else "none"
    return Figure(name, ours, raw, unit, bar, most_times is None or ours / raw <= most_times)


def _percentiles(name: str, times: dict[str, list[float]], bars: dict[str, float]) -> list[Figure]:
    figures = []
    for label, place in (("p50", 0.5), ("p95", 0.95)):
        ours, raw = (sorted(times[side])[int(len(times[side]) * place)] * 1000 for side in ("ours", "raw"))
        bar = bars.get(label)
        told = f"at most {bar} times" if bar else "none"
        figures.append(Figure(f"{name}, {label}", ours, raw, "ms", told, bar is None or ours / raw <= bar))
    return figures


def _print(figures: Sequence[Figure]) -> None:
    print(f"{'':45} {'ours':>12} {'raw':>12}  {'unit':11} {'ratio':>6}  bar")
    for figure in figures:
        mark = "" if figure.passed else "  MISSED"
        print(
            f"{figure.name:45} {figure.ours:12.3f} {figure.raw:12.3f}  {figure.unit:11} {figure.ratio:6.2f}  "
            f"{figure.bar}{mark}"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="a directory with locomo_turn/, for real texts")
    parser.add_argument("--memories", type=int, default=100_000, help="the largest store measured")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(MEASURES))
    parser.add_argument("--json", type=Path, help="write the figures there too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
