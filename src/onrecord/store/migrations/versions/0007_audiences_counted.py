"""What is counted is counted for each audience: terms, records, words, facets, and vectors with their sums.

All of it follows from what is there: postings and vectors know their audiences, and facets learn them from their rows.
"""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_BATCH: Final = 1_000
_SUMS: Final = sa.table(
    "audience_vectors",
    *map(sa.column, ("tenant", "collection", "model", "audience", "memories", "passages", "total")),
)


def upgrade() -> None:
    bind = op.get_bind()
    _count_terms(bind)
    _tell_facets(bind)
    _count_records(bind)
    _sum_vectors(bind)


def _home() -> tuple[sa.Column[Any], sa.Column[Any]]:
    return sa.Column("tenant", sa.Integer(), nullable=False), sa.Column(
        "collection", sa.SmallInteger(), nullable=False
    )


def _count_terms(bind: sa.Connection) -> None:
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
    bind.exec_driver_sql(
        "INSERT INTO terms (tenant, collection, term, audience, documents) "
        "SELECT tenant, collection, term, audience, count(*) FROM postings GROUP BY 1, 2, 3, 4"
    )


def _tell_facets(bind: sa.Connection) -> None:
    """The table is written anew, since its key becomes longer."""
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


def _count_records(bind: sa.Connection) -> None:
    """Every posting says how many words its memory has, and one without any has none."""
    op.create_table(
        "audience_counts",
        *_home(),
        sa.Column("audience", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("documents", "words", "facets")),
        sa.PrimaryKeyConstraint("tenant", "collection", "audience", name="audience_counts_key"),
        sqlite_with_rowid=False,
    )
    bind.exec_driver_sql(
        "INSERT INTO audience_counts (tenant, collection, audience, documents, words, facets) "
        "SELECT tenant, collection, audience, sum(documents), sum(words), sum(facets) FROM ("
        "SELECT tenant, collection, audience, count(*) AS documents, 0 AS words, 0 AS facets "
        "FROM memories GROUP BY 1, 2, 3 "
        "UNION ALL SELECT tenant, collection, audience, 0, sum(length), 0 FROM "
        '(SELECT DISTINCT tenant, collection, audience, "row", length FROM postings) AS each_memory GROUP BY 1, 2, 3 '
        "UNION ALL SELECT tenant, collection, audience, 0, 0, count(*) FROM facets GROUP BY 1, 2, 3"
        ") AS counted GROUP BY 1, 2, 3"
    )


def _sum_vectors(bind: sa.Connection) -> None:
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
    if bind.exec_driver_sql("SELECT 1 FROM vectors LIMIT 1").first() is None:
        return
    import numpy as np

    models = bind.exec_driver_sql("SELECT tenant, collection, model, dimensions FROM embedded")
    dimensions = {tuple(home): width for *home, width in models}
    found: dict[tuple[Any, ...], list[Any]] = {}
    every = sa.text(f"SELECT tenant, collection, model, audience, passage, {_packed(bind)} FROM vectors")
    told = bind.execute(every, execution_options={"yield_per": _BATCH})
    for *place, passage, packed in told:
        vector = _numbers(packed)
        width = dimensions.get(tuple(place[:3]))
        if width is None:
            # The doctor tells of vectors of no known model.
            continue
        sums = found.setdefault(tuple(place), [0, 0, np.zeros(width, np.float64)])
        sums[0] += passage == 0
        sums[1] += 1
        if len(vector) == width:
            sums[2] += vector
    names = [column.name for column in _SUMS.columns]
    rows = [(*place, *counts, total.tobytes()) for place, (*counts, total) in found.items()]
    bind.execute(sa.insert(_SUMS), [dict(zip(names, row, strict=True)) for row in rows])


def _packed(bind: sa.Connection) -> str:
    """What pgvector knows as a vector comes as the text of a list, where nobody has told the driver of its type."""
    return "CAST(vector AS text)" if bind.dialect.name == "postgresql" else "vector"


def _numbers(packed: Any) -> Any:
    import numpy as np

    if isinstance(packed, str):
        return np.fromstring(packed.strip("[]"), dtype=np.float32, sep=",")
    return np.frombuffer(packed[: len(packed) // 4 * 4], np.float32)
