"""WHAT does the same work cost without us? The very rows and postings that we wrote, written by sqlite3 alone."""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from onrecord.model.memory import Memory
from onrecord.store.audience import audience_of
from onrecord.store.index.entries import entries_of
from onrecord.text.stopwords import STOP_WORDS

Row = tuple[Any, ...]


class Rows(NamedTuple):
    """What one or many saves leave in the three tables that matter."""

    memories: list[Row]
    versions: list[Row]
    postings: list[Row]


class Raw:
    """A database with the tables of ours, filled with the rows of ours."""

    def __init__(self, path: Path, ours: Path) -> None:
        self._ours = sqlite3.connect(ours)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        schema = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name IN ('memories','versions','postings','terms')"
        for (statement,) in self._ours.execute(schema):
            self._connection.execute(statement)
        self._inserts = {
            table: f"INSERT INTO {table} VALUES ({','.join('?' * self._width(table))})"
            for table in Rows._fields
        }

    def _width(self, table: str) -> int:
        return len(self._ours.execute(f"PRAGMA table_info({table})").fetchall())

    def rows_of(self, memory: Memory) -> Rows:
        """The rows that our save of this memory wrote."""
        assert memory.place is not None
        here = (memory.place.tenant, memory.place.row)
        found = [
            self._ours.execute(f"SELECT * FROM {table} WHERE tenant=? AND row=?", here).fetchall()
            for table in ("memories", "versions")
        ]
        entries = entries_of(memory)
        postings = [
            (here[0], term, audience_of(memory), here[1], weight, entries.length, places)
            for term, weight, places in entries.postings
        ]
        return Rows(*found, sorted(postings))

    def batches(self, size: int) -> list[tuple[Rows, list[Row]]]:
        """Everything that is in our store, as it came in: so many memories at a time, each with its count of terms."""
        split: dict[int, Rows] = defaultdict(lambda: Rows([], [], []))
        for table, place in (("memories", 1), ("versions", 1), ("postings", 3)):
            for row in self._ours.execute(f"SELECT * FROM {table}"):
                getattr(split[(row[place] - 1) // size], table).append(row)
        return [(split[number], _term_counts(split[number])) for number in sorted(split)]

    def insert_durably(self, rows: Rows) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._insert(rows)
        self._connection.execute("COMMIT")

    def _insert(self, rows: Rows) -> None:
        for table, values in zip(Rows._fields, rows, strict=True):
            self._connection.executemany(self._inserts[table], values)

    def insert_all(self, batches: Sequence[tuple[Rows, list[Row]]]) -> None:
        """Batch by batch, the counts of the terms included, since a bulk load writes those too."""
        count = "INSERT INTO terms VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET documents = documents + excluded.documents"
        for rows, counts in batches:
            self._connection.execute("BEGIN IMMEDIATE")
            self._insert(rows)
            self._connection.executemany(count, counts)
            self._connection.execute("COMMIT")

    def lookup(self, id: str) -> Row:
        return self._connection.execute("SELECT * FROM memories WHERE tenant=1 AND id=?", (id,)).fetchone()

    def close(self) -> None:
        self._connection.close()
        self._ours.close()


def _term_counts(rows: Rows) -> list[Row]:
    counts = Counter(posting[:2] for posting in rows.postings)
    return sorted((*term, number) for term, number in counts.items())


def fts_question(question: str) -> str:
    """Any of the words that carry meaning, quoted, so that FTS5 sees no syntax."""
    words = re.findall(r"\w+", question.lower())
    meaning = [word for word in words if word not in STOP_WORDS] or words
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(meaning))
