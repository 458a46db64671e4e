"""WHICH change of a schema makes which memory stale? One table for every source, each through an adapter of its own."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import psycopg

from tests.catalog.datahub_server import Datahub, dataset_urn

NOTE: Final = "too slow"
REPLACEMENT: Final = "shop.orders_v2"


class Column(NamedTuple):
    name: str
    type: str
    description: str | None = None


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    description: str | None = None
    deprecated: bool = False


Schema = Mapping[str, Table]


class Adapter(Protocol):
    """Says one schema in the words of one kind of source; the datasource is called shop."""

    #: What this kind of source can say at all.
    deprecates: bool
    describes: bool

    def write(self, schema: Schema) -> str:
        """Where the source is that says so, for `ingest` and `impact`."""

    def fail(self) -> None:
        """From now on it cannot be read."""

    def mend(self) -> None:
        """It can be read again."""


def table(columns: str, **more: Any) -> Table:
    return Table(tuple(Column(*each.split(":")) for each in columns.split()), **more)


BASE: Final[Schema] = {
    "orders": table("id:INTEGER amount:REAL status:TEXT placed:TEXT"),
    "customers": table("id:INTEGER name:TEXT"),
}

#: Eight kinds of memory about it.
MEMORIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "a column": {"entities": ["shop.orders.amount"]},
    "another column": {"entities": ["shop.orders.status"]},
    "the model": {"entities": ["shop.orders"]},
    "the datasource": {"entities": ["shop"]},
    "a query": {"query": {"source_model": "orders", "measures": ["amount:sum"]}},
    "a query that counts": {"query": {"source_model": "orders", "measures": ["*:count"]}},
    "SQL": {"query": "SELECT amount FROM orders"},
    "an event": {"entities": ["shop.orders.amount"], "dimension": "event"},
}


class SchemaChange(NamedTuple):
    """What becomes of the schema, which of the memories go stale, and what the reason says."""

    change: Callable[[Schema], Schema]
    stale: frozenset[str] = frozenset()
    reason: str = ""


def _orders(change: Callable[[Table], Table]) -> Callable[[Schema], Schema]:
    return lambda schema: {**schema, "orders": change(schema["orders"])}


def _columns(change: Callable[[tuple[Column, ...]], tuple[Column, ...]]) -> Callable[[Schema], Schema]:
    return _orders(lambda told: replace(told, columns=change(told.columns)))


def _without(name: str) -> Callable[[Schema], Schema]:
    return _columns(lambda columns: tuple(each for each in columns if each.name != name))


def _with(name: str, /, **changes: Any) -> Callable[[Schema], Schema]:
    return _columns(
        lambda columns: tuple(each._replace(**changes) if each.name == name else each for each in columns)
    )


_OF_AMOUNT: Final = frozenset({"a column", "the model", "a query", "SQL"})
_OF_STATUS: Final = frozenset({"another column", "the model"})
_OF_ORDERS: Final = _OF_AMOUNT | _OF_STATUS | {"a query that counts"}

#: Twelve changes.
CHANGES: Final[Mapping[str, SchemaChange]] = {
    "a column is added": SchemaChange(_columns(lambda columns: (*columns, Column("tax", "REAL")))),
    "a column is removed": SchemaChange(_without("amount"), _OF_AMOUNT, "amount"),
    "a column is renamed": SchemaChange(
        _with("amount", name="total"),
        _OF_AMOUNT,
        "perhaps renamed to shop.orders.total (same type and place)",
    ),
    "a column has another type": SchemaChange(
        _with("amount", type="TEXT"), _OF_AMOUNT, "shop.orders.amount was REAL and is TEXT"
    ),
    "another column is removed": SchemaChange(_without("status"), _OF_STATUS, "status"),
    "another column has another type": SchemaChange(
        _with("status", type="INTEGER"), _OF_STATUS, "shop.orders.status was TEXT and is INTEGER"
    ),
    "a type is spelled otherwise": SchemaChange(_with("amount", type="real")),
    "the columns are in another order": SchemaChange(_columns(lambda columns: columns[::-1])),
    "the model is gone": SchemaChange(
        lambda schema: {"customers": schema["customers"]}, _OF_ORDERS, "shop.orders is gone"
    ),
    "the model is deprecated": SchemaChange(
        _orders(lambda told: replace(told, deprecated=True)),
        _OF_ORDERS,
        f"shop.orders is deprecated: {NOTE}; use {REPLACEMENT}",
    ),
    "it is described anew": SchemaChange(
        _orders(
            lambda told: replace(
                told,
                description="Orders of the shop.",
                columns=tuple(each._replace(description=f"The {each.name}.") for each in told.columns),
            )
        )
    ),
    "another model is added": SchemaChange(
        lambda schema: {**schema, "returns": table("id:INTEGER amount:REAL")}
    ),
}


def unsaid(change: str, adapter: Adapter) -> bool:
    """Whether a kind of source has no words for a change, so that nothing changes."""
    return (change == "the model is deprecated" and not adapter.deprecates) or (
        change == "it is described anew" and not adapter.describes
    )


class _InFiles:
    """A source that cannot be read while it is away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fail(self) -> None:
        self.folder.rename(self.folder.with_name("away"))

    def mend(self) -> None:
        self.folder.with_name("away").rename(self.folder)


class ModelFiles(_InFiles):
    """A folder of YAML models."""

    deprecates = describes = True

    def write(self, schema: Schema) -> str:
        models = self.folder / "models" / "shop"
        models.mkdir(parents=True, exist_ok=True)
        for old in models.iterdir():
            old.unlink()
        for name, told in schema.items():
            written = {
                "name": name,
                "data_source": "shop",
                "sql_table": name,
                "description": told.description or "",
                "columns": [{k: v for k, v in each._asdict().items() if v} for each in told.columns],
                "meta": _meta(told),
            }
            # JSON is YAML, too.
            (models / f"{name}.yaml").write_text(json.dumps(written), encoding="utf-8")
        return str(self.folder)


def _meta(told: Table) -> dict[str, Any]:
    if not told.deprecated:
        return {}
    return {"deprecated": True, "deprecation_note": NOTE, "replaced_by": REPLACEMENT}


class DbtManifest(_InFiles):
    """A manifest.json and the catalog.json beside it, as dbt writes them."""

    deprecates = describes = True

    def write(self, schema: Schema) -> str:
        self.folder.mkdir(exist_ok=True)
        for file, of_node in (("manifest", _dbt_node), ("catalog", _dbt_listing)):
            nodes = {f"model.shop.{name}": of_node(name, told) for name, told in schema.items()}
            metadata = {
                "dbt_schema_version": f"https://schemas.getdbt.com/dbt/{file}/v{12 if file == 'manifest' else 1}.json",
                "project_name": "shop",
                "adapter_type": "duckdb",
            }
            text = json.dumps({"metadata": metadata, "nodes": nodes, "sources": {}})
            (self.folder / f"{file}.json").write_text(text, encoding="utf-8")
        return str(self.folder / "manifest.json")


def _dbt_node(name: str, told: Table) -> dict[str, Any]:
    return {
        "resource_type": "model",
        "name": name,
        "package_name": "shop",
        "database": "warehouse",
        "schema": "main",
        "description": told.description or "",
        "config": {"materialized": "table", "meta": _meta(told)},
        "columns": {each.name: {"name": each.name, "description": each.description} for each in told.columns},
    }


def _dbt_listing(name: str, told: Table) -> dict[str, Any]:
    columns = {
        each.name: {"name": each.name, "type": each.type, "index": place}
        for place, each in enumerate(told.columns, 1)
    }
    return {"metadata": {"type": "BASE TABLE", "name": name}, "columns": columns, "stats": {}}


class LiveDatabase(_InFiles):
    """A SQLite database."""

    deprecates = describes = False

    def write(self, schema: Schema) -> str:
        self.folder.mkdir(exist_ok=True)
        path = self.folder / "shop.db"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            for name, told in schema.items():
                columns = ", ".join(f"{each.name} {each.type}" for each in told.columns)
                connection.execute(f"CREATE TABLE {name} ({columns})")
        return str(path)


class PostgresDatabase:
    """A PostgreSQL database, whose names for types are the same as those of the table."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def write(self, schema: Schema) -> str:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(b"DROP TABLE IF EXISTS orders, customers, returns")
            for name, told in schema.items():
                columns = ", ".join(f"{each.name} {each.type}" for each in told.columns)
                comments = [(f"COLUMN {name}.{each.name}", each.description) for each in told.columns]
                notes = [
                    f"COMMENT ON {what} IS '{said}'"
                    for what, said in (*comments, (f"TABLE {name}", told.description))
                    if said
                ]
                connection.execute("; ".join([f"CREATE TABLE {name} ({columns})", *notes]).encode())
        return self._dsn


class DatahubDatasets:
    """A DataHub with a platform that is called shop."""

    deprecates = describes = True

    def __init__(self, hub: Datahub) -> None:
        self._hub = hub

    def write(self, schema: Schema) -> str:
        self._hub.state.datasets.clear()
        for name, told in schema.items():
            fields = {
                each.name: {"type": each.type, "description": each.description} for each in told.columns
            }
            replacement = dataset_urn(REPLACEMENT.removeprefix("shop."), "shop")
            deprecation = {"note": NOTE, "replacement": replacement} if told.deprecated else None
            self._hub.add(name, "shop", fields=fields, description=told.description, deprecation=deprecation)
        return "datahub"

    def fail(self) -> None:
        self._hub.fail(500, times=100_000)

    def mend(self) -> None:
        self._hub.calm()


#: Those that need nothing but a folder.
ADAPTERS: Final[Mapping[str, Callable[[Path], Adapter]]] = {
    "model files": ModelFiles,
    "dbt": DbtManifest,
    "a database": LiveDatabase,
}
