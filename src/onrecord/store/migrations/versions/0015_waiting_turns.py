"""A turn whose facts are extracted later waits in the store, so that it is not lost with the process that took it."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "waiting_turns",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("conversation", sa.BigInteger()),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "number", name="waiting_turns_key"),
    )
    op.create_index("waiting_turns_conversation", "waiting_turns", ["tenant", "conversation"])
