"""A conversation is known by who began it and its name, and has members; an agent has users.

Until now whoever named a conversation was in it. Those who worked in one stay in it: whoever began it, the owners of what
is pinned to it, and whoever wrote its files. Where several worked under a name that nobody had registered, the first of
them began it.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_BATCH: Final = 200
_GLOBAL: Final = "global"
_COUNTED: Final = 2**53


def upgrade() -> None:
    bind = op.get_bind()
    for name in ("memories", "versions"):
        op.add_column(name, sa.Column("conversation_by", sa.Text()))
    op.create_table(
        "conversation_members",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("conversation", sa.BigInteger(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "conversation", "user", name="conversation_members_key"),
    )
    op.create_index("conversation_members_user", "conversation_members", ["tenant", "user", "conversation"])
    op.create_table(
        "agent_users",
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "agent", "user", name="agent_users_key"),
    )
    bind.exec_driver_sql(
        'INSERT INTO agent_users (tenant, agent, "user") SELECT tenant, agent, updated_by FROM agent_settings '
        "WHERE agent <> 'shared'"
    )
    _begin_shared_names(bind)
    _take_members_in(bind)
    for name in ("memories", "versions"):
        bind.exec_driver_sql(_TELL_WHOSE.format(name))
    _rename_audiences(bind)
    _know_by_whom(bind)


#: What is pinned in the tenants: what is for every tenant is pinned to nobody's conversation.
_PINNED: Final = (
    "FROM memories AS m JOIN tenants AS t ON t.key = m.tenant "
    f"WHERE m.conversation IS NOT NULL AND t.name <> '{_GLOBAL}'"
)
_TELL_WHOSE: Final = (
    "UPDATE {0} SET conversation_by = (SELECT c.created_by FROM conversations AS c "
    "WHERE c.tenant = {0}.tenant AND c.id = {0}.conversation) "
    "WHERE conversation IS NOT NULL AND EXISTS (SELECT 1 FROM conversations AS c WHERE c.tenant = {0}.tenant "
    "AND c.id = {0}.conversation AND c.created_by <> {0}.owner)"
)


def _begin_shared_names(bind: sa.Connection) -> None:
    """Register the names that several people pinned to and nobody registered."""
    several = bind.exec_driver_sql(
        f"SELECT m.tenant, m.conversation, min(m.created_at) {_PINNED} AND NOT EXISTS (SELECT 1 FROM conversations AS c "
        "WHERE c.tenant = m.tenant AND c.id = m.conversation) "
        "GROUP BY m.tenant, m.conversation HAVING count(DISTINCT m.owner) > 1 ORDER BY 1, 3, 2"
    ).all()
    first = sa.text(
        f'SELECT m.owner {_PINNED} AND m.tenant = :tenant AND m.conversation = :name ORDER BY m."row" LIMIT 1'
    )
    for tenant, name, began in several:
        owner = bind.execute(first, {"tenant": tenant, "name": name}).scalar_one()
        row = _next(bind, tenant, "conversation row")
        if name.isascii() and name.isdigit() and not name.startswith("0") and int(name) < _COUNTED:
            _next(bind, tenant, "conversation", at_least=int(name))
        bind.execute(
            sa.text(
                'INSERT INTO conversations (tenant, "row", id, agent, title, created_at, created_by) '
                "VALUES (:tenant, :row, :name, NULL, NULL, :began, :owner)"
            ),
            {"tenant": tenant, "row": row, "name": name, "began": began, "owner": owner},
        )


def _next(bind: sa.Connection, tenant: int, name: str, at_least: int | None = None) -> int:
    """The next number of a sort, or the one that was chosen if it is higher than the last."""
    here = {"tenant": tenant, "name": name}
    last = bind.execute(sa.text("SELECT last FROM numbers WHERE tenant = :tenant AND name = :name"), here)
    before = last.scalar_one_or_none()
    after = max(before or 0, at_least) if at_least is not None else (before or 0) + 1
    if before is None:
        bind.execute(
            sa.text("INSERT INTO numbers (tenant, name, last) VALUES (:tenant, :name, :last)"),
            here | {"last": after},
        )
    else:
        bind.execute(
            sa.text("UPDATE numbers SET last = :last WHERE tenant = :tenant AND name = :name"),
            here | {"last": after},
        )
    return after


def _take_members_in(bind: sa.Connection) -> None:
    """Whoever owns what is pinned to a conversation, or wrote one of its files, is a member of it."""
    bind.exec_driver_sql(
        'INSERT INTO conversation_members (tenant, conversation, "user") '
        'SELECT m.tenant, c."row", m.owner FROM memories AS m '
        "JOIN conversations AS c ON c.tenant = m.tenant AND c.id = m.conversation "
        "WHERE m.conversation IS NOT NULL AND m.owner <> c.created_by "
        'UNION SELECT a.tenant, c."row", a.written_by FROM artifacts AS a '
        'JOIN conversations AS c ON c.tenant = a.tenant AND c."row" = a.conversation '
        "WHERE a.written_by <> c.created_by"
    )


def _rename_audiences(bind: sa.Connection) -> None:
    """The audience of a conversation names who began it too; rows and what is derived from them say so alike."""
    told = bind.exec_driver_sql(
        "SELECT DISTINCT tenant, audience, conversation, coalesce(conversation_by, owner) FROM memories "
        "WHERE scope = 'session' AND conversation IS NOT NULL ORDER BY tenant"
    ).all()
    for tenant, rows in groupby(told, key=lambda row: row[0]):
        renamed = (
            (before, f"{before.removesuffix(f'c:{name}')}c:{by}\n{name}")
            for _, before, name, by in rows
            if before.endswith(f"c:{name}")
        )
        for some in _batches(renamed):
            for table in _CARRYING:
                _rename(bind, table, "audience", tenant, some)
            _rename(
                bind,
                "facets",
                "facet",
                tenant,
                {f"unasked:{old}": f"unasked:{new}" for old, new in some.items()},
            )


_CARRYING: Final = (
    "memories",
    "postings",
    "terms",
    "facets",
    "audience_counts",
    "vectors",
    "audience_vectors",
)


def _rename(bind: sa.Connection, table: str, column: str, tenant: int, names: dict[str, str]) -> None:
    there = sa.table(table, sa.column("tenant"), sa.column(column))
    named = there.c[column]
    bind.execute(
        sa.update(there)
        .where(there.c.tenant == tenant, named.in_(list(names)))
        .values({column: sa.case(names, value=named)})
    )


def _batches(pairs: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    rest = iter(pairs)
    while some := dict(islice(rest, _BATCH)):
        yield some


def _know_by_whom(bind: sa.Connection) -> None:
    """A name is one conversation for each who began one under it. SQLite changes a key only by writing the table anew."""
    if bind.dialect.name == "postgresql":
        op.drop_constraint("conversations_id", "conversations", type_="unique")
        op.create_unique_constraint("conversations_begun", "conversations", ["tenant", "created_by", "id"])
    else:
        op.rename_table("conversations", "conversations_0007")
        op.create_table("conversations", *_columns())
        columns = 'tenant, "row", id, agent, title, created_at, created_by'
        bind.exec_driver_sql(
            f"INSERT INTO conversations ({columns}) SELECT {columns} FROM conversations_0007"
        )
        op.drop_table("conversations_0007")
    op.create_index("conversations_named", "conversations", ["tenant", "id"])


def _columns() -> tuple[Any, ...]:
    return (
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text()),
        sa.Column("title", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "row", name="conversations_key"),
        sa.UniqueConstraint("tenant", "created_by", "id", name="conversations_begun"),
    )
