"""The spine: memories, their versions and relations, and the lexical index."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "store_facts",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )
    op.create_table(
        "tenants",
        sa.Column("key", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text(), nullable=False, unique=True),
        sa.Column("last_id", sa.Text(), nullable=False),
        sa.Column("last_row", sa.BigInteger(), nullable=False),
        sa.Column("last_relation", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("words", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "memories",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        *_record_columns(),
        sa.PrimaryKeyConstraint("tenant", "row", name="memories_key"),
        sa.UniqueConstraint("tenant", "id", name="memories_id"),
    )
    op.create_index("memories_content", "memories", ["tenant", "content_hash"])
    op.create_index("memories_newest", "memories", ["tenant", "updated_at", "row"])
    op.create_index("memories_recorded", "memories", ["tenant", "recorded_at"])
    op.create_table(
        "versions",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("recorded_to", sa.BigInteger()),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("changed_as", sa.Text(), nullable=False),
        *_record_columns(),
        sa.PrimaryKeyConstraint("tenant", "row", "version", name="versions_key"),
    )
    op.create_index("versions_recorded", "versions", ["tenant", "recorded_at"])
    op.create_table(
        "relations",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.BigInteger(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("target", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("removed_at", sa.BigInteger()),
        sa.Column("removed_by", sa.Text()),
        sa.PrimaryKeyConstraint("tenant", "id", name="relations_key"),
    )
    op.create_index("relations_source", "relations", ["tenant", "source"])
    op.create_index("relations_target", "relations", ["tenant", "target"])
    op.create_index(
        "relations_triple",
        "relations",
        ["tenant", "source", "target", "relation"],
        unique=True,
        sqlite_where=sa.text("removed_at IS NULL"),
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "facets",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("facet", sa.Text(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "facet", "row", name="facets_key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "terms",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "term", name="terms_key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "postings",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("positions", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant", "term", "audience", "row", name="postings_key", postgresql_include=["weight", "length"]
        ),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        # An index is read alone only where vacuum has been; by default it waits for a fifth of the table.
        op.execute("ALTER TABLE postings SET (autovacuum_vacuum_insert_scale_factor = 0.02)")


def _record_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("hint", sa.Text()),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("category", sa.Text()),
        sa.Column("confidence", sa.Text(), nullable=False),
        sa.Column("source", sa.Text()),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("entities", sa.Text(), nullable=False),
        sa.Column("query", sa.Text()),
        sa.Column("artifact", sa.Text()),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text()),
        sa.Column("system", sa.Text()),
        sa.Column("conversation", sa.Text()),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger()),
        sa.Column("verified_at", sa.BigInteger()),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("status_reason", sa.Text()),
        sa.Column("always_inject", sa.Boolean(), nullable=False),
        sa.Column("approved_by", sa.Text()),
        sa.Column("approved_at", sa.BigInteger()),
    ]
