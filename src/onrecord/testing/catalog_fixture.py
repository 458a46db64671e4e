"""WHICH catalog do the tests use? A small shop in two datasources, held in memory."""

from collections.abc import Iterable
from typing import Final

from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.model.catalog import Datasource, Join, Model, Part, PartKind

MYDB: Final = Datasource(name="mydb", description="The shop")
OTHER: Final = Datasource(name="other", description="Everything else")
DATASOURCES: Final = (MYDB, OTHER)
PRIORITY: Final = ("mydb", "other")


def columns(names: str) -> tuple[Part, ...]:
    """Columns with these names, which are separated by spaces."""
    return tuple(Part(name=name) for name in names.split())


def part(name: str, kind: PartKind, formula: str) -> Part:
    """A measure or an aggregation."""
    return Part(name=name, kind=kind, details={"formula": formula})


def join(target: str, source_column: str) -> Join:
    return Join(target=target, pairs=((source_column, "id"),))


ORDERS: Final = Model(
    datasource="mydb",
    name="orders",
    description="One row per order",
    parts=(
        *columns("id amount status customer_id ordered_at"),
        part("aov", "measure", "amount:sum / *:count"),
        part("weighted_score", "aggregation", "sum({value} * {weight}) / sum({weight})"),
    ),
    joins=(join("customers", "customer_id"),),
    aliases=("urn:li:dataset:(urn:li:dataPlatform:postgres,mydb.orders,PROD)",),
)
#: One of its columns has the name of a model.
CUSTOMERS: Final = Model(
    datasource="mydb",
    name="customers",
    description="One row per customer",
    parts=columns("id name region_id orders"),
    joins=(join("regions", "region_id"),),
)
REGIONS: Final = Model(datasource="mydb", name="regions", parts=columns("id name"))
INVOICES: Final = Model(datasource="mydb", name="invoices", parts=columns("id amount"))
USERS: Final = Model(datasource="other", name="users", parts=columns("id name"))
#: A model with the name of a datasource.
NAMESAKE: Final = Model(datasource="other", name="mydb", parts=columns("id"))
MODELS: Final = (ORDERS, CUSTOMERS, REGIONS, INVOICES, USERS, NAMESAKE)


def shop(*, memories: Iterable[str] = (), systems: Iterable[str] = ()) -> HeldCatalog:
    """The catalog that most tests use, with these memories and systems."""
    return HeldCatalog(
        models=MODELS,
        more_datasources=tuple(datasource.name for datasource in DATASOURCES),
        ranked=PRIORITY,
        memories=frozenset(memories),
        systems=frozenset(systems),
    )
