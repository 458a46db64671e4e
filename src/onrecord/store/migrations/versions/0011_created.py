"""Lists in the order in which memories were written down go by an index."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("memories_created", "memories", ["tenant", "collection", "created_at", "row"])
