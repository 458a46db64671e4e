"""A memory may propose edits of the catalog; a changeset holds what was applied, with what stood there before."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("memories", "versions"):
        op.add_column(name, sa.Column("edits", sa.Text()))
        op.add_column(name, sa.Column("changeset", sa.Text()))
    op.create_table(
        "changesets",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("entity", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("memories", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("ended_by", sa.Text()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("ended_reason", sa.Text()),
        sa.PrimaryKeyConstraint("tenant", "id", name="changesets_key"),
    )
    op.create_index("changesets_entity", "changesets", ["tenant", "entity", "id"])
    op.create_index("changesets_state", "changesets", ["tenant", "state", "id"])
