"""What is counted is counted for each audience: terms, records, words, facets, and vectors with their sums.

All of it follows from what is there: postings and vectors know their audiences, and facets learn them from their rows.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from onrecord.store.migrations.counting import count_records, count_terms, sum_vectors

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    bind = op.get_bind()
    _make_terms(bind)
    _mark_facets(bind)
    _make_counts(bind)
    _make_sums(bind)


def _home() -> tuple[sa.Column[Any], sa.Column[Any]]:
    return sa.Column("tenant", sa.Integer(), nullable=False), sa.Column(
        "collection", sa.SmallInteger(), nullable=False
    )


def _make_terms(bind: sa.Connection) -> None:
    op.drop_table("terms")
    op.create_table(
        "terms",
        *_home(),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "collection", "term", "audience", name="terms_key"),
        sqlite_with_rowid=False,
    )
    count_terms(bind)


def _mark_facets(bind: sa.Connection) -> None:
    """Rebuild the table, since its key becomes longer."""
    if bind.dialect.name == "postgresql":
        bind.exec_driver_sql("ALTER TABLE facets DROP CONSTRAINT facets_key")
        for name in ("tenant", "collection", "facet", "row"):
            # Since PostgreSQL 18 these have names of their own too.
            bind.exec_driver_sql(f'ALTER TABLE facets ALTER COLUMN "{name}" DROP NOT NULL')
    op.rename_table("facets", "facets_0006")
    op.create_table(
        "facets",
        *_home(),
        sa.Column("facet", sa.Text(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "collection", "facet", "row", "audience", name="facets_key"),
        sqlite_with_rowid=False,
    )
    bind.exec_driver_sql(
        'INSERT INTO facets (tenant, collection, facet, "row", audience) '
        'SELECT f.tenant, f.collection, f.facet, f."row", m.audience FROM facets_0006 AS f '
        'JOIN memories AS m ON m.tenant = f.tenant AND m.collection = f.collection AND m."row" = f."row" '
        "ORDER BY 1, 2, 3, 4"
    )
    op.drop_table("facets_0006")


def _make_counts(bind: sa.Connection) -> None:
    op.create_table(
        "audience_counts",
        *_home(),
        sa.Column("audience", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("documents", "words", "facets")),
        sa.PrimaryKeyConstraint("tenant", "collection", "audience", name="audience_counts_key"),
        sqlite_with_rowid=False,
    )
    count_records(bind)


def _make_sums(bind: sa.Connection) -> None:
    op.create_table(
        "audience_vectors",
        *_home(),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("memories", sa.BigInteger(), nullable=False),
        sa.Column("passages", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "collection", "model", "audience", name="audience_vectors_key"),
    )
    sum_vectors(bind)
