"""HOW fast is a whole recall? By words and meaning, against one embedding of the question and one FTS5 query.

    python benchmarks/recall.py [--data DIR] [--sizes 1000,10000,100000] [--db DSN] [--json FILE]

Documents get vectors from a stub, so that large stores can be made: each word has a fixed random direction. A question
is embedded by the stub alone, which shows what the store costs, and by the built-in model too, which shows what a
person waits for. Ours and the other work alternate, and medians are compared.
"""

import argparse
import json
import statistics
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from exports import write_export
from raw import fts_question
from speed import _caller, _fts, _model
from texts import Texts

from onrecord import connect
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.providers.e5 import E5
from onrecord.text import document_words

_DIMENSIONS, _TOKEN_DIMENSIONS = 384, 64
_MOST_TOKENS = 256
_BLOCK = 10


class Stub:
    """A deterministic embedder that costs microseconds; its token vectors are those of the words."""

    model = EmbeddingModel("stub", _DIMENSIONS, "benchmark")

    def embed_query(self, text: str) -> Passage:
        return Passage(_sum(text), _directions(text), tuple(_words(text)[:_MOST_TOKENS]))

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [(Passage(_sum(text), _tokens(text)),) for text in texts]


class StubAtACost(Stub):
    """The stub, after the built-in model has embedded the same question: its time without its vectors."""

    def __init__(self) -> None:
        self._e5 = E5()

    def embed_query(self, text: str) -> Passage:
        self._e5.embed_query(text)
        return super().embed_query(text)


def _words(text: str) -> list[str]:
    return [terms[0] for terms in document_words(text)] or ["empty"]


@cache
def _direction(word: str, dimensions: int) -> Any:
    made = np.random.Generator(np.random.PCG64(zlib.crc32(word.encode()))).standard_normal(dimensions)
    return (made / np.linalg.norm(made)).astype(np.float32)


def _sum(text: str) -> Any:
    total = np.add.reduce([_direction(word, _DIMENSIONS) for word in _words(text)])
    return (total / np.linalg.norm(total)).astype(np.float32)


def _directions(text: str) -> Any:
    return np.array([_direction(word, _TOKEN_DIMENSIONS) for word in _words(text)[:_MOST_TOKENS]])


def _tokens(text: str) -> Any:
    return np.rint(_directions(text) * 127).astype(np.int8)


def main() -> None:
    asked = _arguments()
    texts = Texts(asked.data)
    rows = []
    with tempfile.TemporaryDirectory(prefix="onrecord-recall-") as folder:
        for size in asked.sizes:
            print(f"filling {size:,} …", file=sys.stderr)
            rows += measure(Path(folder), texts, size, asked.db)
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2))


def measure(folder: Path, texts: Texts, size: int, db: str | None) -> list[dict[str, Any]]:
    memories = list(texts.memories(size))
    questions = list(texts.questions(100))
    where: str | Path = db or folder / f"{size}.db"
    tenant = f"recall-{size}"
    with connect(where, caller=_caller(tenant), embedder=Stub()) as door:
        write_export(folder / "fill.jsonl", tenant, _model(), memories)
        door.import_(str(folder / "fill.jsonl"))
        door.embed_missing()
    fts = _fts(folder / f"fts-{size}.db", [("only", memories)])
    e5 = E5()
    with (
        connect(where, caller=_caller(tenant), embedder=Stub()) as stub,
        connect(where, caller=_caller(tenant), embedder=StubAtACost()) as costly,
    ):
        work: dict[str, Callable[[str], object]] = {
            "stub": stub.recall,
            "words": lambda question: stub.recall(question, recipe="lexical"),
            "whole": costly.recall,
            "embedding": e5.embed_query,
            "fts5": lambda question: _search(fts, question),
        }
        times = _alternating(work, questions)
    fts.close()
    sums = [embedding + query for embedding, query in zip(times["embedding"], times["fts5"], strict=True)]
    return [
        {
            "memories": f"{size:,}",
            "what": name,
            "p50 ms": round(statistics.median(each) * 1000, 2),
            "p95 ms": round(sorted(each)[int(len(each) * 0.95)] * 1000, 2),
            **(
                {"ratio": round(statistics.median(each) / statistics.median(sums), 2)}
                if name == "whole"
                else {}
            ),
        }
        for name, each in times.items()
    ]


def _search(fts: Any, question: str) -> list[Any]:
    found: list[Any] = fts.execute(
        "SELECT rowid, bm25(search) FROM search WHERE search MATCH ? ORDER BY bm25(search) LIMIT 10",
        (fts_question(question),),
    ).fetchall()
    return found


def _alternating(
    work: dict[str, Callable[[str], object]], questions: Sequence[str]
) -> dict[str, list[float]]:
    for each in work.values():
        for question in questions[:_BLOCK]:
            each(question)
    times: dict[str, list[float]] = {name: [] for name in work}
    for start in range(0, len(questions), _BLOCK):
        for name, each in work.items():
            for question in questions[start : start + _BLOCK]:
                # The same question again would come from memory: each asker says it in its own way.
                asked = f"{question} {name}" if name in ("stub", "whole", "embedding") else question
                started = perf_counter()
                each(asked)
                times[name].append(perf_counter() - started)
    return times


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="a directory with locomo_turn/, for real texts")
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(size) for size in text.split(",")],
        default=[1_000, 10_000, 100_000],
        help="how many memories",
    )
    parser.add_argument("--db", help="a PostgreSQL DSN, to measure there")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
