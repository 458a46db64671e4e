"""A conversation is known by who began it and its name, and has members; an agent has users.

Until now naming a conversation was enough to be in it. Those who worked in one stay members: the user who began it,
owners of its live memories of session scope, and authors of its files. If several did so under a name that nobody had
registered, the first of them began it. A pin alone makes nobody a member.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from onrecord.store.migrations.counting import count_records, count_terms, sum_vectors

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_GLOBAL: Final = "global"
_COUNTED: Final = 2**53
#: After every number of an audit.
_LAST: Final = 2**63 - 1
_DELETED: Final = "its conversation was deleted"
#: What was said to the members of a conversation alone and has not ended, of a row `m`.
_SAID: Final = (
    "m.conversation IS NOT NULL AND m.scope = 'session' AND m.status IN ('pending', 'active', 'stale')"
)


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
        sa.Column("place", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "agent", "user", name="agent_users_key"),
    )
    _record_users(bind)
    _unpin_everyones(bind)
    _begin_shared_names(bind)
    _take_members_in(bind)
    _return_what_is_over(bind)
    for name in ("memories", "versions"):
        bind.exec_driver_sql(_TELL_WHOSE.format(name))
    _rename_audiences(bind)
    _know_by_whom(bind)


def _record_users(bind: sa.Connection) -> None:
    """Users who set an agent or wrote to its scratchpad use it, in the order of the audit; so does the last to set it."""
    bind.exec_driver_sql(
        'INSERT INTO agent_users (tenant, agent, "user", place) '
        'SELECT tenant, agent, "user", row_number() OVER (PARTITION BY tenant, agent ORDER BY first) FROM ('
        'SELECT tenant, agent, "user", min(number) AS first FROM ('
        'SELECT tenant, subject AS agent, "user", number FROM audit '
        "WHERE operation IN ('set_agent', 'append_scratchpad') AND outcome = 'done' AND subject IS NOT NULL "
        f"UNION ALL SELECT tenant, agent, updated_by, {_LAST} FROM agent_settings"
        ") AS used WHERE agent NOT IN ('shared', 'index') GROUP BY 1, 2, 3) AS users"
    )


#: Pins of those who are no members mean a conversation of their own.
_TELL_WHOSE: Final = (
    "UPDATE {0} SET conversation_by = (SELECT c.created_by FROM conversations AS c "
    "WHERE c.tenant = {0}.tenant AND c.id = {0}.conversation) "
    "WHERE conversation IS NOT NULL AND EXISTS (SELECT 1 FROM conversations AS c "
    'JOIN conversation_members AS x ON x.tenant = c.tenant AND x.conversation = c."row" '
    'WHERE c.tenant = {0}.tenant AND c.id = {0}.conversation AND x."user" = {0}.owner)'
)


def _unpin_everyones(bind: sa.Connection) -> None:
    """Unpin global memories: a pin would show the conversation's name to every tenant."""
    for name in ("memories", "versions"):
        bind.exec_driver_sql(
            f"UPDATE {name} SET conversation = NULL WHERE conversation IS NOT NULL "
            f"AND tenant IN (SELECT key FROM tenants WHERE name = '{_GLOBAL}')"
        )


def _begin_shared_names(bind: sa.Connection) -> None:
    """Register the names under which several people spoke and which nobody registered; the first of them began it."""
    several = bind.exec_driver_sql(
        "SELECT s.tenant, s.name, s.began, f.owner FROM (SELECT m.tenant, m.conversation AS name, "
        'min(m.created_at) AS began, min(m."row") AS first FROM memories AS m '
        f"WHERE {_SAID} AND NOT EXISTS "
        "(SELECT 1 FROM conversations AS c WHERE c.tenant = m.tenant AND c.id = m.conversation) "
        "GROUP BY m.tenant, m.conversation HAVING count(DISTINCT m.owner) > 1) AS s "
        'JOIN memories AS f ON f.tenant = s.tenant AND f."row" = s.first AND f.conversation = s.name '
        "ORDER BY s.tenant, s.began, s.name"
    ).all()
    for tenant, rows in groupby(several, key=lambda row: row[0]):
        _register(bind, tenant, list(rows))


def _register(bind: sa.Connection, tenant: int, rows: Sequence[Any]) -> None:
    names = [row.name for row in rows]
    last = _count_on(bind, tenant, "conversation row", lambda before: before + len(names))
    chosen = [int(name) for name in names if name.isascii() and name.isdigit() and not name.startswith("0")]
    highest = max((number for number in chosen if number < _COUNTED), default=0)
    if highest:
        _count_on(bind, tenant, "conversation", lambda before: max(before, highest))
    bind.execute(
        sa.text(
            'INSERT INTO conversations (tenant, "row", id, agent, title, created_at, created_by) '
            "VALUES (:tenant, :row, :name, NULL, NULL, :began, :owner)"
        ),
        [
            {"tenant": tenant, "row": number, "name": row.name, "began": row.began, "owner": row.owner}
            for number, row in enumerate(rows, last - len(names) + 1)
        ],
    )


def _count_on(bind: sa.Connection, tenant: int, name: str, on: Callable[[int], int]) -> int:
    """Move the numbers of a sort on; returns the last."""
    here = {"tenant": tenant, "name": name}
    found = bind.execute(sa.text("SELECT last FROM numbers WHERE tenant = :tenant AND name = :name"), here)
    before = found.scalar_one_or_none()
    after = on(before or 0)
    change = (
        "INSERT INTO numbers (tenant, name, last) VALUES (:tenant, :name, :last)"
        if before is None
        else "UPDATE numbers SET last = :last WHERE tenant = :tenant AND name = :name"
    )
    bind.execute(sa.text(change), here | {"last": after})
    return after


def _take_members_in(bind: sa.Connection) -> None:
    """Make owners of session memories and authors of files members."""
    bind.exec_driver_sql(
        'INSERT INTO conversation_members (tenant, conversation, "user") '
        'SELECT m.tenant, c."row", m.owner FROM memories AS m '
        "JOIN conversations AS c ON c.tenant = m.tenant AND c.id = m.conversation "
        f"WHERE {_SAID} AND m.owner <> c.created_by "
        'UNION SELECT a.tenant, c."row", a.written_by FROM artifacts AS a '
        'JOIN conversations AS c ON c.tenant = a.tenant AND c."row" = a.conversation '
        "WHERE a.written_by <> c.created_by"
    )


def _return_what_is_over(bind: sa.Connection) -> None:
    """What ended with its conversation, or in one that its owner is not in, is its owner's own: the conversation that has
    the name now may be another.
    """
    bind.exec_driver_sql(
        'CREATE TEMPORARY TABLE returned (tenant INTEGER NOT NULL, collection SMALLINT NOT NULL, "row" BIGINT NOT NULL, '
        'version INTEGER NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, PRIMARY KEY (tenant, collection, "row"))'
    )
    found = bind.exec_driver_sql(
        "INSERT INTO returned SELECT m.tenant, m.collection, m.\"row\", m.version, m.audience, 'u:' || m.owner "
        "FROM memories AS m WHERE m.scope = 'session' AND m.status NOT IN ('pending', 'active', 'stale') "
        f"AND (m.status_reason = '{_DELETED}' OR NOT EXISTS (SELECT 1 FROM conversations AS c "
        "WHERE c.tenant = m.tenant AND c.id = m.conversation AND (c.created_by = m.owner OR EXISTS ("
        "SELECT 1 FROM conversation_members AS x WHERE x.tenant = c.tenant "
        'AND x.conversation = c."row" AND x."user" = m.owner))))'
    )
    if found.rowcount:
        _move_returned(bind)
    bind.exec_driver_sql("DROP TABLE returned")


def _move_returned(bind: sa.Connection) -> None:
    for table, version in (("memories", ""), ("versions", "AND r.version = versions.version")):
        bind.exec_driver_sql(
            f"UPDATE {table} SET scope = 'user', conversation = NULL "
            f"WHERE EXISTS (SELECT 1 {_RETURNED.format(table)} {version})"
        )
    # Before the audience, by which it is found.
    unasked = f"{_RETURNED.format('facets')} AND facets.facet = 'unasked:' || r.before"
    bind.exec_driver_sql(
        f"UPDATE facets SET facet = (SELECT 'unasked:' || r.after {unasked}) WHERE EXISTS (SELECT 1 {unasked})"
    )
    for table in ("memories", "postings", "facets", "vectors"):
        there = _RETURNED.format(table)
        bind.exec_driver_sql(
            f"UPDATE {table} SET audience = (SELECT r.after {there}) WHERE EXISTS (SELECT 1 {there})"
        )
    for table in ("terms", "audience_counts", "audience_vectors"):
        bind.exec_driver_sql(f"DELETE FROM {table}")
    count_terms(bind)
    count_records(bind)
    sum_vectors(bind)


_RETURNED: Final = (
    'FROM returned AS r WHERE r.tenant = {0}.tenant AND r.collection = {0}.collection AND r."row" = {0}."row"'
)


def _rename_audiences(bind: sa.Connection) -> None:
    """Add who began a conversation to its audience, in rows and in everything derived from them.

    One statement for each table looks every row up in a list of old and new, whatever the number of conversations.
    """
    bind.exec_driver_sql(
        "CREATE TEMPORARY TABLE renamed (tenant INTEGER NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, "
        "PRIMARY KEY (tenant, before))"
    )
    bind.execute(
        sa.text(
            "INSERT INTO renamed (tenant, before, after) SELECT DISTINCT tenant, audience, "
            "substr(audience, 1, length(audience) - length(conversation)) "
            "|| coalesce(conversation_by, owner) || :between || conversation FROM memories "
            "WHERE scope = 'session' AND conversation IS NOT NULL "
            "AND substr(audience, length(audience) - length(conversation) - 1) = 'c:' || conversation"
        ),
        {"between": "\n"},
    )
    bind.exec_driver_sql(
        "INSERT INTO renamed (tenant, before, after) SELECT tenant, 'unasked:' || before, 'unasked:' || after "
        "FROM renamed"
    )
    for table, column in (*((name, "audience") for name in _CARRYING), ("facets", "facet")):
        there = f"FROM renamed AS r WHERE r.tenant = {table}.tenant AND r.before = {table}.{column}"
        bind.exec_driver_sql(
            f"UPDATE {table} SET {column} = (SELECT r.after {there}) WHERE EXISTS (SELECT 1 {there})"
        )
    bind.exec_driver_sql("DROP TABLE renamed")


_CARRYING: Final = (
    "memories",
    "postings",
    "terms",
    "facets",
    "audience_counts",
    "vectors",
    "audience_vectors",
)


def _know_by_whom(bind: sa.Connection) -> None:
    """A name is unique for each user who began a conversation. SQLite changes a key only by rebuilding the table."""
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
