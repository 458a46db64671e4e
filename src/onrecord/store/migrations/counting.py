"""WHAT do steps count? What tables hold for each audience, made of the postings, facets and vectors that are there."""

from typing import Any, Final

import sqlalchemy as sa

_BATCH: Final = 1_000
_SUMS: Final = sa.table(
    "audience_vectors",
    *map(sa.column, ("tenant", "collection", "model", "audience", "memories", "passages", "total")),
)


def count_terms(bind: sa.Connection) -> None:
    bind.exec_driver_sql(
        "INSERT INTO terms (tenant, collection, term, audience, documents) "
        "SELECT tenant, collection, term, audience, count(*) FROM postings GROUP BY 1, 2, 3, 4"
    )


def count_records(bind: sa.Connection) -> None:
    """Every posting says how many words its memory has, and one without any has none."""
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


def sum_vectors(bind: sa.Connection) -> None:
    if bind.exec_driver_sql("SELECT 1 FROM vectors LIMIT 1").first() is None:
        return
    import numpy as np

    models = bind.exec_driver_sql("SELECT tenant, collection, model, dimensions FROM embedded")
    dimensions = {tuple(home): width for *home, width in models}
    found: dict[tuple[Any, ...], list[Any]] = {}
    every = sa.text(f"SELECT tenant, collection, model, audience, passage, {_packed(bind)} FROM vectors")
    found_rows = bind.execute(every, execution_options={"yield_per": _BATCH})
    for *place, passage, packed in found_rows:
        vector = _numbers(packed)
        width = dimensions.get(tuple(place[:3]))
        if width is None:
            # The doctor reports vectors of unknown models.
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
    """PostgreSQL returns a vector as the text of a list, since the driver does not know its type here."""
    return "CAST(vector AS text)" if bind.dialect.name == "postgresql" else "vector"


def _numbers(packed: Any) -> Any:
    import numpy as np

    if isinstance(packed, str):
        return np.fromstring(packed.strip("[]"), dtype=np.float32, sep=",")
    return np.frombuffer(packed[: len(packed) // 4 * 4], np.float32)
