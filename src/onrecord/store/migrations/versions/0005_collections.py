"""Collections inside a tenant, counters apart from names, and one number for all that is of a tenant.

What a tenant knows of its systems was a tenant of its own with a reserved name; it becomes a collection of the tenant.
Every table that is of a tenant is written anew with its number, and where it holds records with their collection.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_MEMORIES, _ENTITIES = 1, 2
_PREFIX: Final = "catalog:"
_HOMES: Final = "homes_0004"
_COUNTERS: Final = ("last_id", "last_row", "last_relation", "changes", "documents", "words")
#: Tables of records, with the keys and indexes they get: the tenant and the collection lead each.
_RECORDS: Final[Mapping[str, Sequence[str]]] = {
    "memories": ("row",),
    "versions": ("row", "version"),
    "relations": ("id",),
    "facets": ("facet", "row"),
    "terms": ("term",),
    "postings": ("term", "audience", "row"),
    "embedded": ("model",),
    "vectors": ("model", "row", "passage"),
    "jobs": ("name", "subject"),
}
_INDEXES: Final[Sequence[tuple[str, str, Sequence[str], str | None]]] = (
    ("memories_newest", "memories", ("updated_at", "row"), None),
    ("memories_recorded", "memories", ("recorded_at",), None),
    ("memories_content", "memories", ("content_hash",), None),
    ("memories_pinned", "memories", ("conversation", "updated_at", "row"), "conversation IS NOT NULL"),
    ("versions_recorded", "versions", ("recorded_at",), None),
    ("relations_triple", "relations", ("source", "target", "relation"), "removed_at IS NULL"),
    ("relations_source", "relations", ("source",), None),
    ("relations_target", "relations", ("target",), None),
    ("vectors_audience", "vectors", ("model", "audience"), None),
    ("vectors_changed", "vectors", ("model", "stamp"), None),
    ("vectors_text", "vectors", ("text_hash",), "passage = 0"),
)
#: Tables that went by the name of their tenant, with their keys and indexes behind it.
_NAMED: Final[Mapping[str, Sequence[str]]] = {
    "audit": ("number",),
    "idempotency": ("user", "key"),
    "numbers": ("name",),
    "conversations": ("row",),
    "artifacts": ("id",),
    "scratchpads": ("agent", "number"),
    "agent_settings": ("agent",),
}
_NAMED_INDEXES: Final[Sequence[tuple[str, str, Sequence[str], str | None]]] = (
    ("audit_run", "audit", ("run",), "run IS NOT NULL"),
    ("audit_api_key", "audit", ("key", "at"), "key IS NOT NULL"),
    ("idempotency_at", "idempotency", ("at",), None),
    ("artifacts_size", "artifacts", ("conversation", "size"), None),
    ("scratchpads_size", "scratchpads", ("agent", "size"), None),
)
_UNIQUE: Final = {
    "memories": ("memories_id", ("id",)),
    "conversations": ("conversations_id", ("id",)),
    "artifacts": ("artifacts_path", ("conversation", "path")),
}
_WITHOUT_ROWID: Final = ("facets", "terms", "postings", "audit")


def upgrade() -> None:
    bind = op.get_bind()
    if bind.dialect.name == "postgresql":
        # Registers the type of vectors, which is read off the tables.
        import pgvector.sqlalchemy  # noqa: F401
    _split_tenants(bind)
    for name, key in _RECORDS.items():
        _rebuild(bind, name, ("tenant", "collection", *key))
    for name, key in _NAMED.items():
        _rebuild(bind, name, ("tenant", *key))
    for name, table, columns, where in _INDEXES:
        _create_index(name, table, ("tenant", "collection", *columns), where)
    for name, table, columns, where in _NAMED_INDEXES:
        _create_index(name, table, ("tenant", *columns), where)
    op.create_index("jobs_due", "jobs", ["due_at"])
    op.drop_table("models")
    op.drop_table(_HOMES)
    if bind.dialect.name == "postgresql":
        # A vector is read by every search, the tokens by few: let only the tokens go to the side table.
        op.execute("ALTER TABLE vectors ALTER COLUMN vector SET STORAGE PLAIN")
        op.execute("ALTER TABLE vectors ALTER COLUMN tokens SET STORAGE EXTERNAL")


def _split_tenants(bind: sa.Connection) -> None:
    """Names and numbers stay in their table, counters get one of their own, and catalogs are tenants no longer."""
    for table in _NAMED:
        bind.exec_driver_sql(
            f"INSERT INTO tenants (name, last_id, last_row, last_relation, changes, documents, words) "
            f"SELECT DISTINCT tenant, '', 0, 0, 0, 0, 0 FROM {table} "
            f"WHERE tenant NOT IN (SELECT name FROM tenants)"
        )
    start = len(_PREFIX) + 1
    bind.exec_driver_sql(
        f"INSERT INTO tenants (name, last_id, last_row, last_relation, changes, documents, words) "
        f"SELECT substr(name, {start}), '', 0, 0, 0, 0, 0 FROM tenants WHERE substr(name, 1, {start - 1}) = '{_PREFIX}' "
        f"AND substr(name, {start}) NOT IN (SELECT name FROM tenants)"
    )
    op.create_table(
        _HOMES,
        sa.Column("old", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("collection", sa.SmallInteger(), nullable=False),
    )
    bind.exec_driver_sql(
        f"INSERT INTO {_HOMES} (old, tenant, collection) SELECT key, key, {_MEMORIES} FROM tenants "
        f"WHERE substr(name, 1, {start - 1}) <> '{_PREFIX}'"
    )
    bind.exec_driver_sql(
        f"INSERT INTO {_HOMES} (old, tenant, collection) SELECT catalog.key, owner.key, {_ENTITIES} "
        f"FROM tenants AS catalog JOIN tenants AS owner ON owner.name = substr(catalog.name, {start}) "
        f"WHERE substr(catalog.name, 1, {start - 1}) = '{_PREFIX}'"
    )
    op.create_table(
        "counters",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("collection", sa.SmallInteger(), nullable=False),
        sa.Column("last_id", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _COUNTERS[1:]),
        sa.PrimaryKeyConstraint("tenant", "collection", name="counters_key"),
    )
    # Those that were just given a number have no memories yet.
    columns = ", ".join(_COUNTERS)
    bind.exec_driver_sql(
        f"INSERT INTO counters (tenant, collection, {columns}) SELECT h.tenant, h.collection, "
        f"{', '.join(f't.{name}' for name in _COUNTERS)} FROM tenants AS t JOIN {_HOMES} AS h ON h.old = t.key "
        f"WHERE t.last_id <> ''"
    )
    bind.exec_driver_sql(f"DELETE FROM tenants WHERE substr(name, 1, {start - 1}) = '{_PREFIX}'")
    for name in _COUNTERS:
        bind.exec_driver_sql(f"ALTER TABLE tenants DROP COLUMN {name}")


def _rebuild(bind: sa.Connection, name: str, key: Sequence[str]) -> None:
    """The same table with other leading columns: the old one steps aside, and its rows are copied over."""
    old, aside = sa.Table(name, sa.MetaData(), autoload_with=bind), f"{name}_0004"
    _step_aside(bind, old, aside)
    in_collections = key[1] == "collection"
    kept = [column for column in old.columns if column.name != "tenant"]
    op.create_table(
        name,
        sa.Column("tenant", sa.Integer(), nullable=False),
        *([sa.Column("collection", sa.SmallInteger(), nullable=False)] if in_collections else []),
        *_columns(name, kept),
        sa.PrimaryKeyConstraint(
            *key,
            name=f"{name}_key",
            postgresql_include=["weight", "length"] if name == "postings" else None,
        ),
        *_unique(name, key),
        sqlite_with_rowid=name not in _WITHOUT_ROWID,
    )
    bind.exec_driver_sql(_copy(name, aside, [column.name for column in kept], in_collections))
    op.drop_table(aside)


def _step_aside(bind: sa.Connection, old: sa.Table, aside: str) -> None:
    """With its keys and indexes dropped: the new ones have their names."""
    for index in old.indexes:
        op.drop_index(index.name or "", old.name)
    if bind.dialect.name == "postgresql":
        inspector = sa.inspect(bind)
        names = [inspector.get_pk_constraint(old.name)["name"]]
        names += [each["name"] for each in inspector.get_unique_constraints(old.name)]
        for constraint in names:
            bind.exec_driver_sql(f'ALTER TABLE {old.name} DROP CONSTRAINT "{constraint}"')
        for column in old.columns:
            # Since PostgreSQL 18 these have names of their own too.
            bind.exec_driver_sql(f'ALTER TABLE {old.name} ALTER COLUMN "{column.name}" DROP NOT NULL')
    op.rename_table(old.name, aside)


def _columns(name: str, kept: Sequence[sa.Column[Any]]) -> list[sa.Column[Any]]:
    made = []
    for column in kept:
        made.append(sa.Column(column.name, column.type, nullable=column.nullable))
        if name == "embedded" and column.name == "model":
            made.append(sa.Column("name", sa.Text(), nullable=False))
            made.append(sa.Column("dimensions", sa.Integer(), nullable=False))
            made.append(sa.Column("file_hash", sa.Text(), nullable=False))
    return made


def _unique(name: str, key: Sequence[str]) -> list[sa.UniqueConstraint]:
    if name not in _UNIQUE:
        return []
    constraint, columns = _UNIQUE[name]
    lead = ("tenant", "collection") if key[1] == "collection" else ("tenant",)
    return [sa.UniqueConstraint(*lead, *columns, name=constraint)]


def _copy(name: str, aside: str, kept: Sequence[str], in_collections: bool) -> str:
    own = [f'"{each}"' for each in kept]
    given = [f"o.{each}" for each in own]
    joins = (
        f"JOIN {_HOMES} AS h ON h.old = o.tenant"
        if in_collections
        else "JOIN tenants AS t ON t.name = o.tenant"
    )
    home = ["h.tenant", "h.collection"] if in_collections else ["t.key"]
    into = ["tenant", "collection"] if in_collections else ["tenant"]
    if name == "embedded":
        joins += " JOIN models AS m ON m.key = o.model"
        own += ["name", "dimensions", "file_hash"]
        given += ["m.name", "m.dimensions", "m.file_hash"]
    order = "" if not in_collections else " ORDER BY 1, 2"
    return f"INSERT INTO {name} ({', '.join(into + own)}) SELECT {', '.join(home + given)} FROM {aside} AS o {joins}{order}"


def _create_index(name: str, table: str, columns: Sequence[str], where: str | None) -> None:
    op.create_index(
        name,
        table,
        list(columns),
        unique=name == "relations_triple",
        sqlite_where=None if where is None else sa.text(where),
        postgresql_where=None if where is None else sa.text(where),
    )
