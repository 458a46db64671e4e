"""Each version knows who wrote its text, what waits is for its owner and reviewers alone, and a tenant says who may do what.

Until now `origin` said who had made a memory; from now on it and `author` say who wrote the text of each version.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_KEY: Final = ("tenant", "collection", "row")


def _table(name: str, *columns: str) -> sa.TableClause:
    return sa.table(name, *map(sa.column, (*_KEY, *columns)))


_MEMORIES: Final = _table("memories", "status", "audience", "owner", "author", "origin")
_VERSIONS: Final = _table(
    "versions", "version", "change", "changed_by", "changed_as", "content", "owner", "author", "origin"
)


def upgrade() -> None:
    for name in ("memories", "versions"):
        op.add_column(name, sa.Column("author", sa.Text(), nullable=False, server_default=""))
        op.add_column(name, sa.Column("proposes", sa.Text()))
    op.create_table(
        "tenant_settings",
        sa.Column("tenant", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("agents_share", sa.Boolean(), nullable=False),
        sa.Column("members_retire", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name="tenant_settings_key"),
    )
    bind = op.get_bind()
    # Whoever makes a memory writes its first text.
    for table in (_MEMORIES, _VERSIONS):
        bind.execute(sa.update(table).values(author=table.c.owner))
    _credit_later_texts(bind)
    _hide_what_waits(bind)


def _credit_later_texts(bind: sa.Connection) -> None:
    """The author of a later text is the maker of its version; a text from a file, an import or a source keeps its
    stated author."""
    later: dict[tuple[int, ...], tuple[str, str]] = {}
    for row, author, origin in _authors(bind):
        if (author, origin) != (row.owner, row.origin):
            its = sa.and_(*(_VERSIONS.c[name] == getattr(row, name) for name in (*_KEY, "version")))
            bind.execute(sa.update(_VERSIONS).where(its).values(author=author, origin=origin))
        later[tuple(getattr(row, name) for name in _KEY)] = (author, origin)
    for key, (author, origin) in later.items():
        bind.execute(sa.update(_MEMORIES).where(_of(_MEMORIES, key)).values(author=author, origin=origin))


def _authors(bind: sa.Connection) -> Iterator[tuple[Any, str, str]]:
    """Every version of what has several, with who wrote its text and as what."""
    other = _VERSIONS.alias("other")
    same = (other.c[name] == _VERSIONS.c[name] for name in _KEY)
    several = sa.exists().where(*same, other.c.version > 1)
    statement = (
        sa.select(_VERSIONS).where(several).order_by(*(_VERSIONS.c[name] for name in (*_KEY, "version")))
    )
    author = origin = ""
    text: str | None = None
    for row in bind.execute(statement).all():
        if row.version == 1 or row.content != text:
            says_itself = row.version == 1 or row.changed_as == "import" or row.change == "ingest"
            author, origin = (row.owner, row.origin) if says_itself else (row.changed_by, row.changed_as)
            text = row.content
        yield row, author, origin


def _hide_what_waits(bind: sa.Connection) -> None:
    """Rows and what is derived from them say for whose eyes they are; what waits is for fewer than it was."""
    waiting = sa.select(_MEMORIES).where(_MEMORIES.c.status == "pending")
    for row in bind.execute(waiting).all():
        key = tuple(getattr(row, name) for name in _KEY)
        hidden = f"?{blake2b(row.owner.encode(), digest_size=16).hexdigest()}{row.audience}"
        for table in (_MEMORIES, _table("postings", "audience"), _table("vectors", "audience")):
            bind.execute(sa.update(table).where(_of(table, key)).values(audience=hidden))
        facets = _table("facets", "facet")
        shown_before = sa.and_(_of(facets, key), facets.c.facet == f"unasked:{row.audience}")
        bind.execute(sa.update(facets).where(shown_before).values(facet=f"unasked:{hidden}"))


def _of(table: sa.TableClause, key: tuple[int, ...]) -> sa.ColumnElement[bool]:
    return sa.and_(*(table.c[name] == value for name, value in zip(_KEY, key, strict=True)))
