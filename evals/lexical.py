"""HOW well do words alone find the right memory? Known questions with known answers, through the public API.

    python evals/lexical.py --data DIR [TASK …]

DIR holds a folder a task with corpus.jsonl ({"corpus", "id", "text"}) and queries.jsonl ({"corpus", "text",
"gold", "group"}). Each haystack is saved in a store of its own, each question is asked once, and the shares of
gold documents among the first ten and the mean reciprocal rank are printed beside those of SQLite's FTS5.
"""

import argparse
import json
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recollect import connect
from recollect.text.stopwords import STOP_WORDS

Search = Callable[[str], list[str]]
Documents = Sequence[tuple[str, str]]


class Score(NamedTuple):
    """Averages over the questions of a task."""

    questions: int
    recall_at_10: float
    all_at_10: float
    mrr: float


def main() -> None:
    asked = _arguments()
    tasks = asked.tasks or sorted(path.name for path in asked.data.iterdir() if path.is_dir())
    print(f"{'task':22} {'by':10} {'questions':>9} {'recall@10':>9} {'all@10':>7} {'MRR':>6}")
    for task in tasks:
        for name, make in (("recollect", _recollect), ("fts5", _fts5)):
            score = evaluate(asked.data / task, make, set(asked.skip_group))
            print(
                f"{task:22} {name:10} {score.questions:9} {score.recall_at_10:9.3f} {score.all_at_10:7.3f} {score.mrr:6.3f}"
            )
            sys.stdout.flush()


def evaluate(task: Path, make: Callable[[Documents], Search], skipped: set[str]) -> Score:
    haystacks: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for document in _lines(task / "corpus.jsonl"):
        haystacks[document["corpus"]].append((document["id"], document["text"]))
    searches = {name: make(documents) for name, documents in haystacks.items()}
    results = [
        (set(question["gold"]), searches[question["corpus"]](question["text"]))
        for question in _lines(task / "queries.jsonl")
        if question.get("group") not in skipped
    ]
    return Score(
        questions=len(results),
        recall_at_10=_mean(len(gold & set(found[:10])) / len(gold) for gold, found in results),
        all_at_10=_mean(gold <= set(found[:10]) for gold, found in results),
        mrr=_mean(
            next((1 / rank for rank, id in enumerate(found, 1) if id in gold), 0) for gold, found in results
        ),
    )


def _recollect(documents: Documents) -> Search:
    memory = connect(":memory:")
    names = {}
    for id, text in documents:
        names[memory.remember(text[:60_000], dedupe=False).memory.id] = id
    return lambda question: [names[hit.memory.id] for hit in memory.recall(question, limit=20).hits]


def _fts5(documents: Documents) -> Search:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE search USING fts5(id UNINDEXED, text, tokenize='porter unicode61')"
    )
    connection.executemany("INSERT INTO search VALUES (?, ?)", documents)

    def search(question: str) -> list[str]:
        words = "".join(char if char.isalnum() else " " for char in question.lower()).split()
        meaning = [word for word in words if word not in STOP_WORDS] or words
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(meaning))
        ranked = "SELECT id FROM search WHERE search MATCH ? ORDER BY bm25(search) LIMIT 20"
        return [id for (id,) in connection.execute(ranked, (asked,))] if asked else []

    return search


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*", help="folders in DIR; all of them when left out")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--skip-group", action="append", default=[], help="leave out a group of questions")
    return parser.parse_args()


if __name__ == "__main__":
    main()
