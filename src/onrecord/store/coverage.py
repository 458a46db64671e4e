"""HOW many memories has each model embedded? What a home records about the models that it has vectors of."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, func, select

from onrecord.model.embedding import EmbeddingModel
from onrecord.store.ports.index import Coverage
from onrecord.store.tables import audience_vectors, counters, embedded
from onrecord.store.tenant import of_home, same_home
from onrecord.store.visibility import Visibility, visible


def read_coverage(rows: Iterable[Sequence[Any]]) -> list[Coverage]:
    """The coverage in rows of a statement below, the newest model last; several rows of one model are of several
    audiences.
    """
    return [_covered(list(of_model)) for _, of_model in groupby(rows, key=itemgetter(1))]


def _covered(rows: Sequence[Sequence[Any]]) -> Coverage:
    tenant, key, name, dimensions, file_hash, stamp, dropped, *_ = rows[0]
    memories, passages, totals = zip(*(row[7:] for row in rows), strict=True)
    model = EmbeddingModel(name, dimensions, file_hash)
    return Coverage(tenant, key, model, sum(memories), sum(passages), totals, stamp, dropped)


_MODEL: Final = tuple(
    embedded.c[name] for name in ("tenant", "model", "name", "dimensions", "file_hash", "stamp", "dropped")
)
_COUNTED: Final = ("memories", "passages", "total")

#: The models that a home has vectors of, visible or not.
COVERAGE: Final = (
    select(*_MODEL, *(embedded.c[name] for name in _COUNTED))
    .where(of_home(embedded))
    .order_by(embedded.c.model)
)

#: Where some records have no vectors of a model: the numbers of their tenants and collections.
LACKING: Final = (
    select(counters.c.tenant, counters.c.collection)
    .outerjoin_from(
        counters,
        embedded,
        and_(
            same_home(embedded, counters),
            *(embedded.c[name] == bindparam(name) for name in EmbeddingModel._fields),
        ),
    )
    .where(counters.c.documents > func.coalesce(embedded.c.memories, 0))
    .order_by(counters.c.tenant, counters.c.collection)
)


@cache
def seen_coverage(visibility: Visibility) -> Select[Any]:
    """Those that a caller sees vectors of, with a row for each audience that they are for."""
    if visibility.is_admin:
        return COVERAGE
    of_model = and_(same_home(embedded, audience_vectors), embedded.c.model == audience_vectors.c.model)
    return (
        select(*_MODEL, *(audience_vectors.c[name] for name in _COUNTED))
        .join_from(embedded, audience_vectors, of_model)
        .where(of_home(embedded), visible(audience_vectors, visibility))
        .order_by(embedded.c.model)
    )
