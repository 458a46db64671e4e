"""WHICH tables are there? Written once; the tenant leads every key, then the collection; times are microseconds in UTC."""

import json
import sys
from datetime import datetime
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
    SmallInteger,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

from onrecord.store.timestamps import datetime_of, microseconds_of


class TimestampColumn(TypeDecorator[datetime]):
    """A point in time, stored as microseconds since 1970 so that both databases compare it alike."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else microseconds_of(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return None if value is None else datetime_of(value)


class JsonColumn(TypeDecorator[Any]):
    """A JSON value, stored as text: both databases return exactly what was written."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class Words(JsonColumn):
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
            # Damage may have cut it short; comparing the dimensions shows that.
            return np.frombuffer(value[: len(value) // 4 * 4], np.float32)
        return np.asarray(value, np.float32)


metadata: Final = MetaData()
#: Where the migrations keep their record; a name of our own, since another program may keep its own in the same schema.
VERSION_TABLE: Final = "onrecord_version"
#: What it was called while the project had another name.
FORMER_VERSION_TABLE: Final = "recollect_version"


def _record_columns() -> list[Column[Any]]:
    """The text and state of a memory: the same columns for the present row and for each version."""
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
        Column("metadata", JsonColumn, nullable=False),
        Column("entities", Words, nullable=False),
        Column("query", JsonColumn),
        Column("artifact", Text),
        Column("scope", Text, nullable=False),
        Column("owner", Text, nullable=False),
        Column("persona", Text),
        Column("system", Text),
        Column("conversation", Text),
        Column("origin", Text, nullable=False),
        Column("created_at", TimestampColumn, nullable=False),
        Column("updated_at", TimestampColumn, nullable=False),
        Column("valid_from", TimestampColumn, nullable=False),
        Column("valid_to", TimestampColumn),
        Column("verified_at", TimestampColumn),
        Column("status", Text, nullable=False),
        Column("status_reason", Text),
        Column("always_inject", Boolean, nullable=False),
        Column("approved_by", Text),
        Column("approved_at", TimestampColumn),
        # SQLite adds a column that is never empty only with a value for the rows that are there.
        Column("author", Text, nullable=False, server_default=text("''")),
        Column("proposes", JsonColumn),
        Column("conversation_by", Text),
        Column("edits", JsonColumn),
        Column("changeset", Text),
        Column("checks", JsonColumn),
        Column("check_state", Text),
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
    # The number of a tenant that was erased is given to no other: what processes keep in memory goes by it.
    sqlite_autoincrement=True,
)


def _home() -> list[Column[Any]]:
    """The first columns of every table of records: the tenant and the collection."""
    return [Column("tenant", Integer, nullable=False), Column("collection", SmallInteger, nullable=False)]


#: The last numbers given in a collection of a tenant, and what is counted there; its lock lets one writer in at a time.
counters = Table(
    "counters",
    metadata,
    *_home(),
    # A text, as ids are.
    Column("last_id", Text, nullable=False),
    Column("last_row", BigInteger, nullable=False),
    Column("last_relation", BigInteger, nullable=False),
    Column("changes", BigInteger, nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("words", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "collection", name="counters_key"),
)

memories = Table(
    "memories",
    metadata,
    *_home(),
    Column("row", BigInteger, nullable=False),
    Column("id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("recorded_at", TimestampColumn, nullable=False),
    Column("audience", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    *_record_columns(),
    PrimaryKeyConstraint("tenant", "collection", "row", name="memories_key"),
    UniqueConstraint("tenant", "collection", "id", name="memories_id"),
    Index("memories_newest", "tenant", "collection", "updated_at", "row"),
    Index("memories_created", "tenant", "collection", "created_at", "row"),
    Index("memories_recorded", "tenant", "collection", "recorded_at"),
    Index("memories_content", "tenant", "collection", "content_hash"),
    Index(
        "memories_pinned",
        "tenant",
        "collection",
        "conversation",
        "updated_at",
        "row",
        sqlite_where=text("conversation IS NOT NULL"),
    ),
    Index(
        "memories_checked",
        "tenant",
        "collection",
        "row",
        sqlite_where=text("check_state IS NOT NULL"),
    ),
)

versions = Table(
    "versions",
    metadata,
    *_home(),
    Column("row", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("recorded_at", TimestampColumn, nullable=False),
    Column("recorded_to", TimestampColumn),
    Column("change", Text, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_as", Text, nullable=False),
    *_record_columns(),
    PrimaryKeyConstraint("tenant", "collection", "row", "version", name="versions_key"),
    Index("versions_recorded", "tenant", "collection", "recorded_at"),
)

relations = Table(
    "relations",
    metadata,
    *_home(),
    Column("id", BigInteger, nullable=False),
    Column("source", BigInteger, nullable=False),
    Column("relation", Text, nullable=False),
    Column("target", BigInteger, nullable=False),
    Column("created_at", TimestampColumn, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("removed_at", TimestampColumn),
    Column("removed_by", Text),
    PrimaryKeyConstraint("tenant", "collection", "id", name="relations_key"),
    Index(
        "relations_triple",
        "tenant",
        "collection",
        "source",
        "target",
        "relation",
        unique=True,
        sqlite_where=text("removed_at IS NULL"),
    ),
    Index("relations_source", "tenant", "collection", "source"),
    Index("relations_target", "tenant", "collection", "target"),
)

facets = Table(
    "facets",
    metadata,
    *_home(),
    Column("facet", Text, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("audience", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "collection", "facet", "row", "audience", name="facets_key"),
    sqlite_with_rowid=False,
)

#: In how many records of each audience a term occurs: a search sums up the caller's audiences.
terms = Table(
    "terms",
    metadata,
    *_home(),
    Column("term", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("documents", Integer, nullable=False),
    PrimaryKeyConstraint("tenant", "collection", "term", "audience", name="terms_key"),
    sqlite_with_rowid=False,
)

#: How many records each audience has, their words and their facets; `counters` has the sums of the first two, for admins.
audience_counts = Table(
    "audience_counts",
    metadata,
    *_home(),
    Column("audience", Text, nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("words", BigInteger, nullable=False),
    Column("facets", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "collection", "audience", name="audience_counts_key"),
    sqlite_with_rowid=False,
)

postings = Table(
    "postings",
    metadata,
    *_home(),
    Column("term", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("weight", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("positions", LargeBinary, nullable=False),
    PrimaryKeyConstraint(
        "tenant",
        "collection",
        "term",
        "audience",
        "row",
        name="postings_key",
    ),
    sqlite_with_rowid=False,
)

#: Which models made the vectors of a home, numbered as they came, and of how many records each has some. `stamp` grows with every change, `dropped` where some went.
embedded = Table(
    "embedded",
    metadata,
    *_home(),
    Column("model", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("file_hash", Text, nullable=False),
    Column("memories", BigInteger, nullable=False),
    Column("passages", BigInteger, nullable=False),
    # The sum of all its vectors, in float64: what they have in common distinguishes none of them.
    Column("total", LargeBinary, nullable=False),
    Column("stamp", BigInteger, nullable=False),
    Column("dropped", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "collection", "model", name="embedded_key"),
)

#: The same numbers and sum as in `embedded`, for each audience that has vectors of a model.
audience_vectors = Table(
    "audience_vectors",
    metadata,
    *_home(),
    Column("model", Integer, nullable=False),
    Column("audience", Text, nullable=False),
    Column("memories", BigInteger, nullable=False),
    Column("passages", BigInteger, nullable=False),
    Column("total", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "collection", "model", "audience", name="audience_vectors_key"),
)

vectors = Table(
    "vectors",
    metadata,
    *_home(),
    Column("model", Integer, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("passage", Integer, nullable=False),
    Column("audience", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("stamp", BigInteger, nullable=False),
    Column("vector", Vector, nullable=False),
    # Last, so that a scan of the vectors passes by.
    Column("tokens", LargeBinary),
    PrimaryKeyConstraint("tenant", "collection", "model", "row", "passage", name="vectors_key"),
    Index("vectors_audience", "tenant", "collection", "model", "audience"),
    Index("vectors_changed", "tenant", "collection", "model", "stamp"),
    Index(
        "vectors_text",
        "tenant",
        "collection",
        "text_hash",
        sqlite_where=text("passage = 0"),
    ),
)

jobs = Table(
    "jobs",
    metadata,
    *_home(),
    Column("name", Text, nullable=False),
    # The row of a memory, or 0 for the tenant as a whole.
    Column("subject", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", TimestampColumn, nullable=False),
    Column("claimed_by", Text),
    Column("error", Text),
    PrimaryKeyConstraint("tenant", "collection", "name", "subject", name="jobs_key"),
    Index("jobs_due", "due_at"),
)

#: API keys: never a key itself, only its hash.
api_keys = Table(
    "api_keys",
    metadata,
    Column("hash", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("label", Text),
    Column("personas", Words, nullable=False),
    Column("rules", Words, key="permissions", nullable=False),
    Column("systems", JsonColumn, nullable=False),
    Column("actor", Text, nullable=False),
    Column("created_at", TimestampColumn, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires_at", TimestampColumn),
    Column("revoked_at", TimestampColumn),
    Column("per_minute", Integer),
    Column("saves_per_day", Integer),
    # A caller sends a key without naming its tenant.
    PrimaryKeyConstraint("hash", name="api_keys_key"),
    UniqueConstraint("tenant", "id", name="api_keys_id"),
)

#: Who is signed in to the pages: never the token of a cookie itself, only its hash.
sign_ins = Table(
    "sign_ins",
    metadata,
    Column("hash", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("user", Text, nullable=False),
    # The id of the key that was shown; without one, what the token of an issuer said.
    Column("key", Text),
    Column("claims", JsonColumn),
    Column("began_at", TimestampColumn, nullable=False),
    Column("ends_at", TimestampColumn, nullable=False),
    # Whoever shows a cookie does not say of which tenant it is.
    PrimaryKeyConstraint("hash", name="sign_ins_key"),
    Index("sign_ins_user", "tenant", "user"),
)

#: What agents asked of a person who opens a link: never the code of a link itself, only its hash.
persons_questions = Table(
    "persons_questions",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("hash", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("arguments", JsonColumn, nullable=False),
    Column("user", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("at", TimestampColumn, nullable=False),
    Column("ends_at", TimestampColumn, nullable=False),
    Column("answer", Text),
    PrimaryKeyConstraint("tenant", "hash", name="persons_questions_key"),
)

#: What was written and what was refused; it holds no text of a memory.
audit = Table(
    "audit",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("at", TimestampColumn, nullable=False),
    Column("user", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("subject", Text),
    Column("key", Text),
    Column("run", Text),
    Column("request", Text),
    PrimaryKeyConstraint("tenant", "number", name="audit_key"),
    Index(
        "audit_run",
        "tenant",
        "run",
        sqlite_where=text("run IS NOT NULL"),
    ),
    Index(
        "audit_api_key",
        "tenant",
        "key",
        "at",
        sqlite_where=text("key IS NOT NULL"),
    ),
    sqlite_with_rowid=False,
)

#: Requests that must not be done twice, and what was answered; without a status one is still being done.
idempotency = Table(
    "idempotency",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("user", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("at", TimestampColumn, nullable=False),
    Column("status", Integer),
    Column("body", Text),
    PrimaryKeyConstraint("tenant", "user", "key", name="idempotency_key"),
    Index("idempotency_at", "tenant", "at"),
)

#: A tenant's settings; a tenant that never changed them has no row.
tenant_settings = Table(
    "tenant_settings",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("agents_share", Boolean, nullable=False),
    Column("members_retire", Boolean, nullable=False),
    Column("updated_at", TimestampColumn, nullable=False),
    Column("updated_by", Text, nullable=False),
    Column("advice", Words),
    Column("keep_questions", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("tenant", name="tenant_settings_key"),
)

#: What an advisor was asked on a day, by whom, and what it cost in millionths of a dollar.
advice_usage = Table(
    "advice_usage",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("day", Integer, nullable=False),
    Column("user", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("micros", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "day", "agent", "user", "task", "model", name="advice_usage_key"),
)

LEDGER: Final = (api_keys, sign_ins, persons_questions, audit, idempotency, tenant_settings, advice_usage)

#: Numbers that a tenant gives to the items of its workspace: the last of each sort, so that none comes twice.
numbers = Table(
    "numbers",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("last", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "name", name="numbers_key"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("row", BigInteger, nullable=False),
    Column("id", Text, nullable=False),
    Column("agent", Text),
    Column("title", Text),
    Column("created_at", TimestampColumn, nullable=False),
    Column("created_by", Text, nullable=False),
    # SQLite adds a column that is never empty only with a value for the rows that are there.
    Column("numbered", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("tenant", "row", name="conversations_key"),
    UniqueConstraint("tenant", "created_by", "id", name="conversations_begun"),
    Index("conversations_named", "tenant", "id"),
)

#: Whom a conversation was shared with; `conversation` is its row.
conversation_members = Table(
    "conversation_members",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("conversation", BigInteger, nullable=False),
    Column("user", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "conversation", "user", name="conversation_members_key"),
    Index("conversation_members_user", "tenant", "user", "conversation"),
)

#: Files of conversations; `conversation` is the row of one.
artifacts = Table(
    "artifacts",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("id", BigInteger, nullable=False),
    Column("conversation", BigInteger, nullable=False),
    Column("path", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created_at", TimestampColumn, nullable=False),
    Column("updated_at", TimestampColumn, nullable=False),
    Column("written_by", Text, nullable=False),
    # Last, so that a list of files passes by.
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "id", name="artifacts_key"),
    UniqueConstraint("tenant", "conversation", "path", name="artifacts_path"),
    # What the quotas ask at each write.
    Index("artifacts_size", "tenant", "conversation", "size"),
)

#: Working notes, a row for each addition: rewriting all of them each time would cost more the longer they are.
scratchpads = Table(
    "scratchpads",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("agent", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("written_at", TimestampColumn, nullable=False),
    Column("text", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "agent", "number", name="scratchpads_key"),
    Index("scratchpads_size", "tenant", "agent", "size"),
)

agent_settings = Table(
    "agent_settings",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("agent", Text, nullable=False),
    Column("settings", JsonColumn, nullable=False),
    Column("updated_at", TimestampColumn, nullable=False),
    Column("updated_by", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "agent", name="agent_settings_key"),
)

#: Who uses an agent, in the order in which they came to it; an unused agent has no row, and anybody may use it.
agent_users = Table(
    "agent_users",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("agent", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("place", Integer, nullable=False),
    PrimaryKeyConstraint("tenant", "agent", "user", name="agent_users_key"),
)

#: What was promoted into the catalog, with the previous values.
changesets = Table(
    "changesets",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("id", BigInteger, nullable=False),
    Column("entity", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("changes", JsonColumn, nullable=False),
    Column("memories", Words, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", TimestampColumn, nullable=False),
    Column("updated_at", TimestampColumn, nullable=False),
    Column("reason", Text),
    Column("ended_by", Text),
    Column("ended_at", TimestampColumn),
    Column("ended_reason", Text),
    PrimaryKeyConstraint("tenant", "id", name="changesets_key"),
    Index("changesets_entity", "tenant", "entity", "id"),
    Index("changesets_state", "tenant", "state", "id"),
)

#: Turns of conversations whose facts are extracted later, without their secrets; `conversation` is the row of one. A job
#: of the same number is done for each.
waiting_turns = Table(
    "waiting_turns",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("conversation", BigInteger),
    Column("caller", JsonColumn, nullable=False),
    Column("asked", JsonColumn, nullable=False),
    Column("at", TimestampColumn, nullable=False),
    PrimaryKeyConstraint("tenant", "number", name="waiting_turns_key"),
    Index("waiting_turns_conversation", "tenant", "conversation"),
)

#: Which hits were useful for which questions, newest last; the text of a question is there only if the tenant keeps questions.
feedback = Table(
    "feedback",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("memory", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("question", Text),
    Column("verdict", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("at", TimestampColumn, nullable=False),
    PrimaryKeyConstraint("tenant", "number", name="feedback_key"),
    UniqueConstraint("tenant", "memory", "user", "digest", name="feedback_of_hit"),
    Index("feedback_user", "tenant", "user", "at"),
    Index("feedback_at", "tenant", "at"),
)
#: The last runs of the checks of a memory, the newest first.
check_runs = Table(
    "check_runs",
    metadata,
    Column("tenant", Integer, nullable=False),
    Column("memory", Text, nullable=False),
    Column("at", TimestampColumn, nullable=False),
    Column("runs", JsonColumn, nullable=False),
    PrimaryKeyConstraint("tenant", "memory", name="check_runs_key"),
)

WORKSPACE: Final = (
    numbers,
    conversations,
    conversation_members,
    waiting_turns,
    artifacts,
    scratchpads,
    agent_settings,
    agent_users,
    changesets,
)
#: What no index can be derived from: a store in text files keeps it apart.
BESIDE: Final = (tenants, *LEDGER, *WORKSPACE, feedback, check_runs)
#: What is not of one tenant: every server of a distributed database has the whole of it.
SHARED: Final = (store_facts, tenants, api_keys, sign_ins)
#: What is of a tenant: it lies where the tenant lies.
OF_TENANTS: Final = tuple(table for table in metadata.tables.values() if table not in SHARED)
