"""HOW does PostgreSQL find near vectors? pgvector compares every visible vector; only very many need an index.

The filter comes first: an index over all vectors silently misses most of a few. So the exact way through the tenant's
own b-tree serves until very many are visible; then the index is walked until enough of the caller's own have come,
which are compared again in full precision.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Integer,
    Select,
    and_,
    bindparam,
    cast,
    func,
    select,
    text,
)

from onrecord.errors import StoreUnavailable
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.index import Coverage, Near
from onrecord.store.tables import Vector, embedded, vectors
from onrecord.store.view import View
from onrecord.store.visibility import Visibility, of_audience, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: With more visible vectors than this the approximate index is used.
MANY: Final = 50_000
# Rounded to the same digits as in process, so that noise does not decide an order.
_DIGITS: Final = 6
# Several passages of one memory may be near, and count once.
_PASSAGES: Final = 2
_WIDTH: Final = 400
_FARTHEST: Final = 200_000


def provide(connection: Connection, location: str) -> None:
    """Make sure that vectors can be stored: the extension must be installed and found by its bare name.

    It goes to `public`, not to the schema of one store: dropping that schema would take it from all others.
    """
    if connection.execute(_INSTALLED).scalar_one_or_none() is None:
        if not connection.execute(_AVAILABLE).scalar_one():
            raise StoreUnavailable(
                f"{location} has no pgvector, in which OnRecord stores vectors; nothing was changed. Install the "
                "package (postgresql-NN-pgvector, or an image such as pgvector/pgvector) and try again."
            )
        home = "SCHEMA public" if connection.execute(_HAS_PUBLIC).scalar_one() else ""
        connection.execute(text(f"CREATE EXTENSION IF NOT EXISTS vector {home}"))
    if connection.execute(_TYPE).scalar_one() is None:
        home = connection.execute(_INSTALLED).scalar_one()
        raise StoreUnavailable(
            f"pgvector lies in the schema {home} of {location}, where this connection does not look; nothing was "
            f"changed. Add {home} to the end of its search_path, or move it: ALTER EXTENSION vector SET SCHEMA …"
        )


_INSTALLED: Final = text(
    "SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
)
_AVAILABLE: Final = text("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
_HAS_PUBLIC: Final = text("SELECT to_regnamespace('public') IS NOT NULL")
_TYPE: Final = text("SELECT CAST(to_regtype('vector') AS text)")


def warm(view: View, covered: Coverage) -> None:
    """The server keeps what a search needs."""


def nearest(
    view: View, covered: Coverage, vector: "NDArray[Any]", most: int, later: str | None = None
) -> list[Near]:
    seen = VectorFilter(view.visibility, later is not None)
    here = _here(covered) | {"later": later}
    is_large = covered.memories > MANY and _visible(view, seen, here) > MANY
    through_index = is_large and _has_index(view, covered)
    if through_index:
        # Where the vectors lie on other servers, these settings must reach them.
        view.connection.execute(text("SET LOCAL citus.propagate_set_commands = 'local'"))
        view.connection.execute(text("SET LOCAL hnsw.iterative_scan = strict_order"))
        view.connection.execute(text(f"SET LOCAL hnsw.ef_search = {_WIDTH}"))
        view.connection.execute(text(f"SET LOCAL hnsw.max_scan_tuples = {_FARTHEST}"))
    statement = (
        _indexed(seen, covered.model.dimensions, _place(view, covered)) if through_index else _exact(seen)
    )
    size = most * _PASSAGES
    while True:
        rows = view.run(statement, **here, query=vector, size=size).all()
        found = _best(covered, rows)
        if len(found) >= most or len(rows) < size:
            return found[:most]
        size *= 4


def similarity(view: View, covered: Coverage, vector: "NDArray[Any]", rows: Sequence[int]) -> list[Near]:
    some = _exact(VectorFilter(view.visibility), of_some=True)
    found = view.run(some, **_here(covered), query=vector, rows=list(rows), size=None)
    return _best(covered, found.all())


def build_indexes(connection: Connection) -> None:
    """Build an index for each model of which a tenant has very many vectors; others go on reading and writing."""
    its = (embedded.c[name] for name in ("tenant", "collection", "model", "dimensions"))
    for *place, dimensions in connection.execute(select(*its).where(embedded.c.memories > MANY)).all():
        connection.execute(
            text(
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {_index_name(*place)} ON vectors USING hnsw "
                f"((vector::halfvec({dimensions})) halfvec_ip_ops) WHERE {_of_index(*place)}"
            )
        )


def _index_name(tenant: int, collection: int, model: int) -> str:
    return f"vectors_near_{tenant}_{collection}_{model}"


def _of_index(tenant: int, collection: int, model: int) -> str:
    """The name of the index of one home and model; each home numbers its models itself."""
    return f"vectors.tenant = {tenant} AND vectors.collection = {collection} AND vectors.model = {model}"


def _has_index(view: View, covered: Coverage) -> bool:
    """Whether the index is there and complete: one that is still being built is not."""
    found = view.connection.execute(
        text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)"),
        {"name": _index_name(*_place(view, covered))},
    ).scalar_one_or_none()
    return bool(found)


class VectorFilter(NamedTuple):
    """Which vectors are searched: those that the caller sees, or of these the ones of one audience."""

    visibility: Visibility
    of_one: bool = False

    def __call__(self) -> ColumnElement[bool]:
        seen = visible(vectors, self.visibility)
        return and_(seen, of_audience(vectors)) if self.of_one else seen


def _visible(view: View, seen: VectorFilter, here: dict[str, Any]) -> int:
    return int(view.run(_count(seen), **here, size=MANY + 1).scalar_one())


@cache
def _count(seen: VectorFilter) -> Select[Any]:
    some = select(vectors.c.row).where(*_MINE, seen()).limit(bindparam("size")).subquery()
    return select(func.count()).select_from(some)


def _here(covered: Coverage) -> dict[str, Any]:
    return {"model": covered.key}


def _place(view: View, covered: Coverage) -> tuple[int, int, int]:
    return covered.tenant, view.home.collection.number, covered.key


def _best(covered: Coverage, rows: Sequence[Any]) -> list[Near]:
    """The best passage of each memory."""
    found: dict[int, Near] = {}
    for row, passage, distance in rows:
        near = Near(covered.tenant, row, passage, round(-distance, _DIGITS))
        if row not in found or (near.score, -passage) > (found[row].score, -found[row].passage):
            found[row] = near
    return sorted(found.values(), key=lambda near: (-near.score, near.row))


@cache
def _exact(seen: VectorFilter, of_some: bool = False) -> Select[Any]:
    distance = vectors.c.vector.op("<#>", return_type=Float())(_QUERY).label("distance")
    statement = select(vectors.c.row, vectors.c.passage, distance).where(*_MINE, seen())
    if of_some:
        statement = statement.where(one_of(vectors.c.row, "rows"))
    # Equal texts have equal distances, so the order needs a second key.
    ordered = statement.order_by(distance, vectors.c.row, vectors.c.passage)
    return ordered.limit(bindparam("size", type_=Integer))


@cache
def _indexed(seen: VectorFilter, dimensions: int, place: tuple[int, int, int]) -> Select[Any]:
    """The search through an index. Home and model are literals in the statement, since the index covers only these."""
    from pgvector.sqlalchemy import HALFVEC

    half = HALFVEC(dimensions)
    roughly = cast(vectors.c.vector, half).op("<#>", return_type=Float())(cast(_QUERY, half))
    near = (
        select(vectors.c.row, vectors.c.passage, vectors.c.vector)
        .where(text(_of_index(*place)), seen())
        .order_by(roughly)
        .limit(bindparam("size", type_=Integer))
        .subquery()
    )
    distance = near.c.vector.op("<#>", return_type=Float())(_QUERY).label("distance")
    return select(near.c.row, near.c.passage, distance).order_by(distance)


_QUERY: Final[ColumnElement[Any]] = bindparam("query", type_=Vector)
_MINE: Final = (vectors.c.model == bindparam("model"),)
