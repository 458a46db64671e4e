"""HOW does the index follow the rows? A transaction gathers changes and writes them at its end, in key order."""

from collections import Counter
from itertools import repeat
from operator import itemgetter
from typing import Final

from sqlalchemy import Connection

from onrecord.model.collections import Collection
from onrecord.model.memory import Memory, RowPlace
from onrecord.store.audience import audience_of
from onrecord.store.index.entries import IndexEntries, entries_of
from onrecord.store.prepared import Row, Statements

_THIRD: Final = itemgetter(2)


class IndexChanges:
    """The index entries that one transaction adds and removes."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._postings_in: list[Row] = []
        self._postings_out: list[Row] = []
        self._facets_in: list[Row] = []
        self._facets_out: list[Row] = []
        #: By tenant and audience: in how many more records each term occurs, and how many records, words and facets came.
        self._terms: dict[tuple[int, str], Counter[str]] = {}
        self._counts: dict[tuple[int, str], list[int]] = {}
        self._rows: set[tuple[int, int]] = set()

    @property
    def size(self) -> int:
        """How many postings are waiting to be written."""
        return len(self._postings_in)

    def touches(self, place: RowPlace) -> bool:
        """Whether a change of this row is waiting already. Additions are written after removals, so the two must not
        meet in one row.
        """
        return place[:2] in self._rows

    def add(self, memory: Memory, place: RowPlace) -> None:
        self._put(memory, place, entries_of(memory, self._collection), 1)

    def remove(self, memory: Memory, place: RowPlace) -> None:
        self._put(memory, place, entries_of(memory, self._collection), -1)

    def swap(self, before: Memory, after: Memory, place: RowPlace) -> None:
        """Replace the entries of a row. If words and audience are the same, as when a memory is retired, nothing
        changes.
        """
        old, new = entries_of(before, self._collection), entries_of(after, self._collection)
        if (old, audience_of(before)) != (new, audience_of(after)):
            self._put(before, place, old, -1)
            self._put(after, place, new, 1)

    def _put(self, memory: Memory, place: RowPlace, entries: IndexEntries, sign: int) -> None:
        tenant, row, _ = place
        self._rows.add((tenant, row))
        length, terms, weights, places, facets = entries
        # Columns are joined to rows by zip, which is several times as quick as a loop of ours.
        collection, audience = self._collection.number, audience_of(memory)
        key = (repeat(tenant), repeat(collection), terms, repeat(audience), repeat(row))
        filed = [(tenant, collection, facet, row, audience) for facet in facets]
        counts = self._terms.setdefault((tenant, audience), Counter())
        if sign > 0:
            self._postings_in += zip(*key, weights, repeat(length), places, strict=False)
            self._facets_in += filed
            counts.update(terms)
        else:
            self._postings_out += zip(*key, strict=False)
            self._facets_out += filed
            counts.subtract(terms)
        held = self._counts.setdefault((tenant, audience), [0, 0, 0])
        for at, more in enumerate((1, length, len(facets))):
            held[at] += sign * more

    def write(self, connection: Connection, statements: Statements) -> tuple[int, int]:
        """Write everything; returns the changes in the numbers of documents and of words."""
        collection = self._collection.number
        terms: list[Row] = [
            (tenant, collection, term, audience, count)
            for (tenant, audience), counts in self._terms.items()
            for term, count in counts.items()
            if count
        ]
        audiences: list[Row] = [
            (tenant, collection, audience, *counts)
            for (tenant, audience), counts in self._counts.items()
            if any(counts)
        ]
        for statement, rows in (
            (statements.drop_posting, self._postings_out),
            (statements.drop_facet, self._facets_out),
            (statements.add_posting, self._postings_in),
            (statements.add_facet, self._facets_in),
            (statements.count_term, terms),
            (statements.drop_term, [row[:4] for row in terms if row[4] < 0]),
            (statements.count_audience, audiences),
            (statements.drop_audience, [row[:3] for row in audiences if row[3] < 0]),
        ):
            # By term, facet or audience, so that neighbours in the index are written together.
            rows.sort(key=_THIRD)
            statement.run_tuples(connection, rows)
        documents, words = (sum(counts[at] for counts in self._counts.values()) for at in (0, 1))
        return documents, words
