"""A conversation knows whether its number was given to it by the tenant, which gives each only once, or chosen by a program.

Of those that were begun under one number before, the first counts as the one that it was given to.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_CHUNK: Final = 500


def upgrade() -> None:
    op.add_column(
        "conversations", sa.Column("numbered", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    bind = op.get_bind()
    first = bind.exec_driver_sql(
        'SELECT tenant, id, min("row") AS "row" FROM conversations GROUP BY tenant, id'
    )
    given = [{"tenant": tenant, "row": row} for tenant, id, row in first if _is_whole(id)]
    change = sa.text('UPDATE conversations SET numbered = true WHERE tenant = :tenant AND "row" = :row')
    for start in range(0, len(given), _CHUNK):
        bind.execute(change, given[start : start + _CHUNK])


def _is_whole(id: str) -> bool:
    """Whether an id is digits without a leading zero, which is all that a tenant gives."""
    return id.isascii() and id.isdigit() and not id.startswith("0")
