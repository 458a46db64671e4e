"""Conversations with their files, working notes, and settings of agents."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "numbers",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "name", name="numbers_key"),
    )
    op.create_table(
        "conversations",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text()),
        sa.Column("title", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "row", name="conversations_key"),
        sa.UniqueConstraint("tenant", "id", name="conversations_id"),
    )
    op.create_table(
        "artifacts",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("conversation", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("written_by", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name="artifacts_key"),
        sa.UniqueConstraint("tenant", "conversation", "path", name="artifacts_path"),
    )
    op.create_index("artifacts_size", "artifacts", ["tenant", "conversation", "size"])
    op.create_table(
        "scratchpads",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "agent", "number", name="scratchpads_key"),
    )
    op.create_index("scratchpads_size", "scratchpads", ["tenant", "agent", "size"])
    op.create_table(
        "agent_settings",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "agent", name="agent_settings_key"),
    )
    op.create_index(
        "memories_pinned",
        "memories",
        ["tenant", "conversation", "updated_at", "row"],
        sqlite_where=sa.text("conversation IS NOT NULL"),
        postgresql_where=sa.text("conversation IS NOT NULL"),
    )
