"""HOW many memories has each model embedded? What a home records about the models that it has vectors of."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import select

from onrecord.model.embedding import EmbeddingModel
from onrecord.store.ports.index import Coverage
from onrecord.store.tables import embedded
from onrecord.store.tenant import of_home


def read_coverage(rows: Iterable[Sequence[Any]]) -> list[Coverage]:
    """The coverage in rows of `COVERAGE`, the newest model last."""
    return [Coverage(row[0], row[1], EmbeddingModel(*row[2:5]), *row[5:]) for row in rows]


#: The models that a home has vectors of.
COVERAGE: Final = (
    select(
        embedded.c.tenant,
        embedded.c.model,
        embedded.c.name,
        embedded.c.dimensions,
        embedded.c.file_hash,
        embedded.c.memories,
        embedded.c.passages,
        embedded.c.total,
        embedded.c.stamp,
        embedded.c.dropped,
    )
    .where(of_home(embedded))
    .order_by(embedded.c.model)
)
