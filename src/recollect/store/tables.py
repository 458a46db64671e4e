"""WHICH tables are there? Written once; the tenant leads every key, and times are microseconds in UTC."""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def microseconds_of(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


class Instant(TypeDecorator[datetime]):
    """A point in time, kept as microseconds since 1970 so that both databases compare it alike."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else microseconds_of(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return None if value is None else moment_of(value)


class Json(TypeDecorator[Any]):
    """A JSON value, kept as text: both databases give back exactly what was written."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class Words(Json):
    """Several texts in their order."""

    cache_ok = True

    def process_result_value(self, value: Any | None, dialect: Dialect) -> tuple[str, ...]:
        return tuple(json.loads(value or "[]"))


class Vector(TypeDecorator[Any]):
    """An embedding: pgvector's own type, or its float32 bytes."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name != "postgresql":
            return dialect.type_descriptor(LargeBinary())
        from pgvector.sqlalchemy import VECTOR

        # Models have different dimensions, so the column has none.
        return dialect.type_descriptor(VECTOR())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return value if dialect.name == "postgresql" else value.tobytes()

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        import numpy as np

        if isinstance(value, bytes):
            # Damage may have cut it short; whoever compares dimensions sees that.
            return np.frombuffer(value[: len(value) // 4 * 4], np.float32)
        return np.asarray(value, np.float32)


metadata: Final = MetaData()


def _record_columns() -> list[Column[Any]]:
    """What a memory says and how it stands: the same columns for the row of today and for each version."""
    return [
        Column("kind", Text, nullable=False),
        Column("dimension", Text, nullable=False),
        Column("title", Text, nullable=False),
        Column("hint", Text),
        Column("content", Text, nullable=False),
        Column("tags", Words, nullable=False),
        Column("category", Text),
        Column("confidence", Text, nullable=False),
        Column("source", Text),
        Column("metadata", Json, nullable=False),
        Column("entities", Words, nullable=False),
        Column("query", Json),
        Column("artifact", Text),
        Column("scope", Text, nullable=False),
        Column("owner", Text, nullable=False),
        Column("persona", Text),
        Column("system", Text),
        Column("conversation", Text),
        Column("origin", Text, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("updated_at", Instant, nullable=False),
        Column("valid_from", Instant, nullable=False),
        Column("valid_to", Instant),
        Column("verified_at", Instant),
        Column("status", Text, nullable=False),
        Column("status_reason", Text),
        Column("always_inject", Boolean, nullable=False),
        Column("approved_by", Text),
        Column("approved_at", Instant),
    ]


# Interned and plain, since a name that is another object makes each call with it by keyword three times as slow.
RECORD: Final = tuple(sys.intern(str(column.name)) for column in _record_columns())

store_facts = Table(
    "store_facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

tenants = Table(
    "tenants",
    metadata,
    Column("key", Integer, primary_key=True, autoincrement=True),
    Column("name", Text, nullable=False, unique=True),
    # A text, because a caller may choose an id of more digits than a database integer holds.
    Column("last_id", Text, nullable=False),
    Column("last_row", BigInteger, nullable=False),
    Column("last_relation", BigInteger, nullable=False),
    Column("changes", BigInteger, nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("words", BigInteger, nullable=False),
)

memories = Table(
    "memories",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    Column("audience", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    *_record_columns(),
    PrimaryKeyConstraint("tenant", "row", name="memories_key"),
    UniqueConstraint("tenant", "id", name="memories_id"),
    Index("memories_newest", "tenant", "updated_at", "row"),
    Index("memories_recorded", "tenant", "recorded_at"),
    Index("memories_content", "tenant", "content_hash"),
)

versions = Table(
    "versions",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    Column("recorded_to", Instant),
    Column("change", Text, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_as", Text, nullable=False),
    *_record_columns(),
    PrimaryKeyConstraint("tenant", "row", "version", name="versions_key"),
    Index("versions_recorded", "tenant", "recorded_at"),
)

relations = Table(
    "relations",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("id", BigInteger, nullable=False),
    Column("source", BigInteger, nullable=False),
    Column("relation", Text, nullable=False),
    Column("target", BigInteger, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("removed_at", Instant),
    Column("removed_by", Text),
    PrimaryKeyConstraint("tenant", "id", name="relations_key"),
    Index(
        "relations_triple",
        "tenant",
        "source",
        "target",
        "relation",
        unique=True,
        sqlite_where=text("removed_at IS NULL"),
        postgresql_where=text("removed_at IS NULL"),
    ),
    Index("relations_source", "tenant", "source"),
    Index("relations_target", "tenant", "target"),
)

facets = Table(
    "facets",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("facet", Text, nullable=False),
    Column("row", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "facet", "row", name="facets_key"),
    sqlite_with_rowid=False,
)

terms = Table(
    "terms",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("term", Text, nullable=False),
    Column("documents", Integer, nullable=False),
    PrimaryKeyConstraint("tenant", "term", name="terms_key"),
    sqlite_with_rowid=False,
)

postings = Table(
    "postings",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("term", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("weight", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("positions", LargeBinary, nullable=False),
    PrimaryKeyConstraint(
        "tenant", "term", "audience", "row", name="postings_key", postgresql_include=["weight", "length"]
    ),
    sqlite_with_rowid=False,
)

#: Which models made the vectors that are kept here.
models = Table(
    "models",
    metadata,
    Column("key", Integer, primary_key=True, autoincrement=True),
    Column("name", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("file_hash", Text, nullable=False),
    UniqueConstraint("name", "dimensions", "file_hash", name="models_same"),
)

#: How many memories of a tenant a model has vectors of. `stamp` grows with every change, `dropped` where some went.
embedded = Table(
    "embedded",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("model", Integer, nullable=False),
    Column("memories", BigInteger, nullable=False),
    Column("passages", BigInteger, nullable=False),
    # The sum of all its vectors, in float64: what is common to them tells none apart.
    Column("total", LargeBinary, nullable=False),
    Column("stamp", BigInteger, nullable=False),
    Column("dropped", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "model", name="embedded_key"),
)

vectors = Table(
    "vectors",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("model", Integer, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("passage", Integer, nullable=False),
    Column("audience", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("stamp", BigInteger, nullable=False),
    Column("vector", Vector, nullable=False),
    # Last, so that a scan of the vectors passes by.
    Column("tokens", LargeBinary),
    PrimaryKeyConstraint("tenant", "model", "row", "passage", name="vectors_key"),
    Index("vectors_audience", "tenant", "model", "audience"),
    Index("vectors_changed", "tenant", "model", "stamp"),
    Index(
        "vectors_text",
        "tenant",
        "text_hash",
        sqlite_where=text("passage = 0"),
        postgresql_where=text("passage = 0"),
    ),
)

jobs = Table(
    "jobs",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("name", Text, nullable=False),
    # The row of a memory, or 0 for the tenant as a whole.
    Column("subject", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("claimed_by", Text),
    Column("error", Text),
    PrimaryKeyConstraint("tenant", "name", "subject", name="jobs_key"),
    Index("jobs_due", "due_at"),
)
