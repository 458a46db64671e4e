"""HOW is a live database read? Its tables and views as it describes them; rows are read only for samples."""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Inspector, inspect, select, text
from sqlalchemy.dialects.postgresql.pg_catalog import pg_class, pg_namespace
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedForeignKeyConstraint
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import DatabaseError, DBAPIError, NoSuchTableError, SAWarning
from sqlalchemy.types import NullType

from onrecord.catalog.naming import legal_name, legal_names
from onrecord.catalog.sources.database_access import access_by_address, access_to_file
from onrecord.catalog.sources.fingerprinting import fingerprint, fingerprint_with_samples
from onrecord.catalog.sources.sampling import may_be_sampled, sample
from onrecord.errors import StoreUnavailable, invalid
from onrecord.model.catalog import SAMPLED, Datasource, Join, Model, Part

_PARTITIONS: Final = (
    select(pg_class.c.relname)
    .join(pg_namespace, pg_namespace.c.oid == pg_class.c.relnamespace)
    .where(pg_class.c.relispartition)
)


@dataclass(frozen=True, slots=True)
class _DatabaseState:
    """One state of a database, and notes about what could not be read."""

    schema: str | None
    models: tuple[Model, ...]
    notes: tuple[str, ...]


class DatabaseCatalog:
    """A SQLite file or a schema of PostgreSQL. It is read once: open it again to see what has changed since.

    Unless named, the datasource has the name of the database, or of the file without its ending.
    """

    kind = "database"
    origin = None

    def __init__(
        self,
        given: str | Path,
        *,
        datasource: str | None = None,
        schema: str | None = None,
        sample_values: int = 0,
    ) -> None:
        self._access = access_to_file(given) if isinstance(given, Path) else access_by_address(given)
        self.location = self._access.location
        self._datasource = datasource or legal_name(self._access.name)
        self._schema = schema
        self._sample_values = sample_values

    def datasources(self) -> Sequence[Datasource]:
        details = {**self._access.details, "schema": self._read.schema}
        return [
            Datasource(name=self._datasource, details={key: value for key, value in details.items() if value})
        ]

    def priority(self) -> None:
        return None

    @property
    def leaves_samples(self) -> bool:
        return not self._sample_values

    def fingerprints(self) -> Mapping[str, str]:
        of = fingerprint if self.leaves_samples else fingerprint_with_samples
        return {model.canonical: of(model) for model in self._read.models}

    def models(self, wanted: Collection[str] | None = None) -> Iterator[Model]:
        return (model for model in self._read.models if wanted is None or model.canonical in wanted)

    def notes(self) -> Sequence[str]:
        return self._read.notes

    @cached_property
    def _read(self) -> _DatabaseState:
        with self._access.reading() as connection, warnings.catch_warnings():
            # A column of an unknown type counts as one without a type.
            warnings.simplefilter("ignore", SAWarning)
            _check_schema(inspect(connection), self._schema)
            if connection.dialect.name == "postgresql":
                self._check_use(connection)
            tables = _SchemaTables(connection, self._schema)
            return _DatabaseState(tables.schema_name, tuple(self._models(tables)), tuple(tables.notes))

    def _check_use(self, connection: Connection) -> None:
        """A schema that the reader may not use looks as if it were empty; that says nothing about its tables."""
        asked = connection.execute(_SCHEMA_READ, {"schema": self._schema}).first()
        if asked is not None and not asked.may_use:
            raise StoreUnavailable(
                f"{self._access.location}: the schema {asked.name} may not be used by {asked.reader}; nothing was "
                "changed. Grant USAGE on it, or name another one."
            )

    def _models(self, tables: "_SchemaTables") -> Iterator[Model]:
        for name in sorted(tables.names, key=tables.names.__getitem__):
            samples = tables.samples(name, self._sample_values) if self._sample_values else {}
            yield Model(
                datasource=self._datasource,
                name=tables.names[name],
                form="view" if name in tables.views else "table",
                description=tables.comments.get(name),
                parts=tuple(tables.parts(name, samples)),
                joins=tuple(tables.joins(name)),
                details={"sql_table": tables.address(name)},
            )


#: The schema that is read: the one that was asked for, or the first of the search path that is there.
_SCHEMA_READ: Final = text("""
    SELECT n.nspname AS name, has_schema_privilege(n.oid, 'USAGE') AS may_use, current_user AS reader
    FROM unnest(
        CASE WHEN CAST(:schema AS text) IS NULL
        THEN string_to_array(replace(current_setting('search_path'), ' ', ''), ',')
        ELSE ARRAY[CAST(:schema AS text)] END
    ) WITH ORDINALITY AS path (name, place)
    JOIN pg_catalog.pg_namespace n
        ON n.nspname = replace(btrim(path.name, '"'), '$user', CAST(current_user AS text))
    ORDER BY path.place LIMIT 1
""")


def _check_schema(inspector: Inspector, schema: str | None) -> None:
    if schema is not None and schema not in (known := inspector.get_schema_names()):
        raise invalid("schema", f"there is no schema {schema!r}; there are {', '.join(sorted(known))}")


class _SchemaTables:
    """The descriptions of all tables and views of a schema, read together."""

    def __init__(self, connection: Connection, schema: str | None) -> None:
        self._connection = connection
        self._inspector = inspect(connection)
        self._is_sqlite = connection.dialect.name == "sqlite"
        self._schema = schema
        self.schema_name = schema or (None if self._is_sqlite else self._inspector.default_schema_name)
        self.notes: list[str] = []
        tables = self._described("columns", ObjectKind.TABLE)
        self.views = self._described("columns", ObjectKind.ANY_VIEW)
        stored_apart = self._stored_apart() & tables.keys()
        if stored_apart:
            self.notes.append(
                f"What only stores the rows of other tables is left out ({len(stored_apart)}), "
                f"such as {min(stored_apart)}"
            )
        self._columns: dict[str, list[ReflectedColumn]] = {
            name: columns for name, columns in (tables | self.views).items() if name not in stored_apart
        }
        self._keys = self._described("pk_constraint", ObjectKind.TABLE)
        self._foreign_keys = self._described("foreign_keys", ObjectKind.TABLE)
        self.comments = self._all_comments()
        self.names = legal_names(self._columns)
        self._column_names = {
            name: legal_names(column["name"] for column in columns) for name, columns in self._columns.items()
        }

    def _described(self, what: str, kind: ObjectKind) -> dict[str, Any]:
        """Read descriptions of all tables at once; if one fails, read them one by one and leave it out."""
        try:
            found = getattr(self._inspector, f"get_multi_{what}")(schema=self._schema, kind=kind)
            return {name: value for (_, name), value in found.items()}
        except (DBAPIError, NoSuchTableError):
            if not self._is_sqlite:
                raise
        is_table = kind is ObjectKind.TABLE
        names = self._inspector.get_table_names if is_table else self._inspector.get_view_names
        return {name: self._described_alone(what, name) for name in names(schema=self._schema)}

    def _described_alone(self, what: str, name: str) -> Any:
        """Nothing but a note for a view on a missing table, or a table of a missing module."""
        try:
            return getattr(self._inspector, f"get_{what}")(name, schema=self._schema)
        except (DBAPIError, NoSuchTableError) as problem:
            if _is_of_the_whole(problem):
                raise
            if what == "columns":
                self.notes.append(f"{name} is listed without columns: {getattr(problem, 'orig', problem)}")
            return []

    def _all_comments(self) -> dict[str, str | None]:
        if not self._connection.dialect.supports_comments:
            return {}
        found = self._described("table_comment", ObjectKind.ANY)
        return {name: comment["text"] for name, comment in found.items()}

    def _stored_apart(self) -> set[str]:
        """The partitions of a table and the shadow tables of a virtual one: they say how it is stored, not what there
        is.
        """
        if self._is_sqlite:
            rows = self._connection.exec_driver_sql("PRAGMA table_list")
            return {row.name for row in rows if row.type == "shadow"}
        partitions = _PARTITIONS.where(pg_namespace.c.nspname == self.schema_name)
        return set(self._connection.scalars(partitions))

    def address(self, name: str) -> str:
        return f"{self.schema_name}.{name}" if self.schema_name else name

    def parts(self, name: str, samples: Mapping[str, str]) -> Iterator[Part]:
        key = self._key(name)
        for column in self._columns[name]:
            called = column["name"]
            part_name = self._column_names[name][called]
            quote = self._connection.dialect.identifier_preparer.quote_identifier
            details = {
                "sql": quote(called) if part_name != called else None,
                "primary_key": called in key,
                SAMPLED: samples.get(called),
            }
            yield Part(
                name=part_name,
                description=column.get("comment"),
                type=self._type(column),
                details={what: value for what, value in details.items() if value},
            )

    def _key(self, name: str) -> list[str]:
        # A table that could not be described has an empty list here.
        return list((self._keys.get(name) or {}).get("constrained_columns", ()))

    def _type(self, column: ReflectedColumn) -> str | None:
        type_ = column["type"]
        return None if isinstance(type_, NullType) else type_.compile(dialect=self._connection.dialect)

    def joins(self, name: str) -> list[Join]:
        """One for each foreign key into the same schema."""
        joins = []
        for key in self._foreign_keys.get(name, ()):
            target = key["referred_table"]
            is_here = key["referred_schema"] in (None, self._schema, self.schema_name)
            if is_here and target in self.names and (pairs := self._pairs(name, target, key)):
                joins.append(Join(target=self.names[target], pairs=pairs))
        return sorted(set(joins), key=lambda join: (join.target, join.pairs))

    def _pairs(
        self, name: str, target: str, key: ReflectedForeignKeyConstraint
    ) -> tuple[tuple[str, str], ...]:
        here, there = self._column_names[name], self._column_names[target]
        return tuple(
            (here[ours], there[theirs])
            for ours, theirs in zip(key["constrained_columns"], key["referred_columns"], strict=False)
            if ours in here and theirs in there
        )

    def samples(self, name: str, count: int) -> Mapping[str, str]:
        """Sample values, or None and a note if the rows may not be read."""
        chosen = [column["name"] for column in self._columns[name] if may_be_sampled(column)]
        if not chosen:
            return {}
        try:
            with self._connection.begin_nested():
                return sample(self._connection, (self._schema, name), chosen, self._key(name), count)
        except DBAPIError as problem:
            if _is_of_the_whole(problem):
                raise
            self.notes.append(f"{name} has no sample values: {str(problem.orig).splitlines()[0]}")
            return {}


def _is_of_the_whole(problem: Exception) -> bool:
    """Whether the connection is lost or the file is damaged, rather than one table being unreadable."""
    return type(problem) is DatabaseError or bool(getattr(problem, "connection_invalidated", False))
