"""A memory may carry checks; what came of them is a state of it, and their last runs are kept beside."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("memories", "versions"):
        op.add_column(name, sa.Column("checks", sa.Text()))
        op.add_column(name, sa.Column("check_state", sa.Text()))
    is_checked = sa.text("check_state IS NOT NULL")
    op.create_index(
        "memories_checked",
        "memories",
        ["tenant", "collection", "row"],
        sqlite_where=is_checked,
        postgresql_where=is_checked,
    )
    op.create_table(
        "check_runs",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("memory", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "memory", name="check_runs_key"),
    )
