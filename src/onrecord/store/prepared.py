"""HOW are rows written quickly? With statements compiled once, run with values as the driver takes them.

SQLAlchemy's handling of parameters costs more than SQLite's writing of the row.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    literal_column,
    null,
    select,
    update,
)
from sqlalchemy.sql.expression import ClauseElement

from onrecord.store.backend import Backend
from onrecord.store.tables import (
    RECORD,
    audience_counts,
    audit,
    counters,
    facets,
    memories,
    postings,
    terms,
    versions,
)

Row = tuple[Any, ...]

# With the 41 columns of a version this stays within the number of parameters that either database allows.
_ROWS_AT_ONCE: Final = 250
_ROW: Final = ("tenant", "collection", "row")
#: What is counted in a home.
COUNTED: Final = ("last_id", "last_row", "last_relation", "changes", "documents", "words")


class Prepared:
    """One statement of ours in the dialect of one database."""

    def __init__(
        self, statement: ClauseElement, backend: Backend, given: Sequence[str] | None = None
    ) -> None:
        compiled = statement.compile(dialect=backend.positional, column_keys=given)
        self._sql = str(compiled)
        self._names: Sequence[str] = compiled.positiontup  # type: ignore[attr-defined]

    def run(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run it for each row, given by column names."""
        self.run_tuples(connection, [tuple(map(row.__getitem__, self._names)) for row in rows])

    def run_tuples(self, connection: Connection, rows: list[Row]) -> None:
        """Run it for each row, given in the order of the columns."""
        if rows:
            connection.exec_driver_sql(self._sql, rows)


class PreparedInsert(Prepared):
    """An INSERT that writes hundreds of rows in one statement when there are many."""

    def __init__(self, table: Table, backend: Backend) -> None:
        super().__init__(insert(table), backend)
        head, _, row = self._sql.rpartition(" VALUES ")
        self._many = f"{head} VALUES {', '.join([row] * _ROWS_AT_ONCE)}"

    def run_tuples(self, connection: Connection, rows: list[Row]) -> None:
        whole = len(rows) // _ROWS_AT_ONCE * _ROWS_AT_ONCE
        for start in range(0, whole, _ROWS_AT_ONCE):
            values = tuple(chain.from_iterable(rows[start : start + _ROWS_AT_ONCE]))
            connection.exec_driver_sql(self._many, values)
        super().run_tuples(connection, rows[whole:])


class Statements:
    """Every statement that writes memories and their derived rows."""

    def __init__(self, backend: Backend) -> None:
        def prepared(statement: ClauseElement, given: Sequence[str] | None = None) -> Prepared:
            return Prepared(statement, backend, given)

        def adding(table: Table) -> Prepared:
            """Add to the numbers of a row, which is made if it is not there."""
            rows, key = backend.insert(table), [column.name for column in table.primary_key.columns]
            sums = {
                column.name: column + rows.excluded[column.name]
                for column in table.columns
                if column.name not in key
            }
            return prepared(rows.on_conflict_do_update(index_elements=key, set_=sums))

        self.add_counters = prepared(
            backend.insert(counters).on_conflict_do_nothing(index_elements=["tenant", "collection"]),
            [each.name for each in counters.columns],
        )
        # The key is not among the set columns: the tenant of a distributed table cannot be changed.
        self.save_counters = prepared(_by_key(update(counters), counters), COUNTED)
        self.add_memory = PreparedInsert(memories, backend)
        self.add_version = PreparedInsert(versions, backend)
        self.copy_to_versions = prepared(_copy_to_versions())
        # As above, without the key.
        self.change_memory = prepared(
            _by_key(update(memories), memories, *_ROW),
            [column.name for column in memories.columns if column.name not in _ROW],
        )
        self.close_version = prepared(
            _by_key(update(versions), versions, *_ROW, "version").values(recorded_to=bindparam("recorded_to"))
        )
        self.add_audit = prepared(insert(audit))
        self.add_posting = PreparedInsert(postings, backend)
        self.drop_posting = prepared(_by_key(delete(postings), postings))
        self.add_facet = prepared(insert(facets))
        self.drop_facet = prepared(_by_key(delete(facets), facets))
        self.count_term = adding(terms)
        self.drop_term = prepared(_by_key(delete(terms), terms).where(_has_none(terms)))
        self.count_audience = adding(audience_counts)
        self.drop_audience = prepared(
            _by_key(delete(audience_counts), audience_counts).where(_has_none(audience_counts))
        )


def _has_none(table: Table) -> ColumnElement[bool]:
    return table.c.documents <= literal_column("0")


def _copy_to_versions() -> Any:
    """Copy rows to their newest versions inside the database, which has just been given them."""
    changed_by = (bindparam(f"as_{name}", type_=Text) for name in ("change", "changed_by", "changed_as"))
    present = [memories.c[name] for name in ("tenant", "collection", "row", "version", "recorded_at")]
    rows = select(*present, null(), *changed_by, *(memories.c[name] for name in RECORD)).where(
        memories.c.tenant == bindparam("at_tenant"),
        memories.c.collection == bindparam("at_collection"),
        memories.c.row.between(bindparam("first"), bindparam("last")),
    )
    return insert(versions).from_select([column.name for column in versions.columns], rows)


def _by_key(statement: Any, table: Any, *names: str) -> Any:
    keys = names or [column.name for column in table.primary_key.columns]
    return statement.where(*(table.c[name] == bindparam(f"at_{name}") for name in keys))
