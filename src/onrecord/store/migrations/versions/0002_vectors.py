"""Vectors of memories, the models that made them, and work to be done later."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    on_postgres = op.get_bind().dialect.name == "postgresql"
    op.create_table(
        "models",
        sa.Column("key", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("file_hash", sa.Text(), nullable=False),
        sa.UniqueConstraint("name", "dimensions", "file_hash", name="models_same"),
    )
    op.create_table(
        "embedded",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.Column("memories", sa.BigInteger(), nullable=False),
        sa.Column("passages", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.LargeBinary(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("dropped", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "model", name="embedded_key"),
    )
    op.create_table(
        "vectors",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("passage", sa.Integer(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("vector", _vector(on_postgres), nullable=False),
        sa.Column("tokens", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("tenant", "model", "row", "passage", name="vectors_key"),
    )
    if on_postgres:
        # A vector is read by every search, the tokens by few: let only the tokens go to the side table.
        op.execute("ALTER TABLE vectors ALTER COLUMN vector SET STORAGE PLAIN")
        op.execute("ALTER TABLE vectors ALTER COLUMN tokens SET STORAGE EXTERNAL")
    op.create_index("vectors_audience", "vectors", ["tenant", "model", "audience"])
    op.create_index("vectors_changed", "vectors", ["tenant", "model", "stamp"])
    op.create_index(
        "vectors_text",
        "vectors",
        ["tenant", "text_hash"],
        sqlite_where=sa.text("passage = 0"),
        postgresql_where=sa.text("passage = 0"),
    )
    op.create_table(
        "jobs",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("subject", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_by", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("tenant", "name", "subject", name="jobs_key"),
    )
    op.create_index("jobs_due", "jobs", ["due_at"])


def _vector(on_postgres: bool) -> Any:
    if not on_postgres:
        return sa.LargeBinary()
    from pgvector.sqlalchemy import VECTOR

    return VECTOR()
