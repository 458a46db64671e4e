"""Users say which hits were useful; a tenant says whether their questions are kept with it."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "tenant_settings",
        sa.Column("keep_questions", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "feedback",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("memory", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("question", sa.Text()),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "number", name="feedback_key"),
        sa.UniqueConstraint("tenant", "memory", "user", "digest", name="feedback_of_hit"),
    )
    op.create_index("feedback_user", "feedback", ["tenant", "user", "at"])
    op.create_index("feedback_at", "feedback", ["tenant", "at"])
