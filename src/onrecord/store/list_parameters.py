"""HOW does a statement take or return a list? As one value, so that it is compiled once whatever the list holds.

With a parameter for each item SQLAlchemy would recompile the statement at every call, which costs more than running
it.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Dialect,
    Integer,
    TableValuedAlias,
    Text,
    TypeDecorator,
    bindparam,
    column,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeEngine


def one_of(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Whether the column holds an item of the list that is passed under this name."""
    several = _Numbers if isinstance(column.type, Integer) else _Texts
    return _OneOf(column, bindparam(name, type_=several))


def items(name: str) -> TableValuedAlias:
    """The items of the list of texts that is passed under this name, as rows of `value` and, in their order, `key`."""
    listed = _Items(bindparam(name, type_=_Texts))
    return listed.table_valued(column("key", BigInteger), column("value", Text), name="item")


class _Items(FunctionElement[Any]):
    inherit_cache = True
    name = "items"


@compiles(_Items, "sqlite")
def _json_each(element: _Items, compiler: SQLCompiler, **how: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **how)})"


@compiles(_Items, "postgresql")
def _unnest(element: _Items, compiler: SQLCompiler, **how: Any) -> str:
    several = compiler.process(element.clauses, **how)
    return (
        f"(SELECT each.key - 1 AS key, each.value FROM unnest({several}) WITH ORDINALITY AS each(value, key))"
    )


class Joined(FunctionElement[str]):
    """The values of a group as one text with commas, which is cheaper than a row for each."""

    type = Text()
    inherit_cache = True
    name = "joined"


@compiles(Joined, "sqlite")
def _group_concat(element: Joined, compiler: SQLCompiler, **how: Any) -> str:
    return f"group_concat({compiler.process(element.clauses, **how)}, ',')"


@compiles(Joined, "postgresql")
def _string_agg(element: Joined, compiler: SQLCompiler, **how: Any) -> str:
    return f"string_agg({compiler.process(element.clauses, **how)}, ',')"


class _Texts(TypeDecorator[Sequence[Any]]):
    """A list as one value: JSON for SQLite, an array for PostgreSQL."""

    impl = Text
    cache_ok = True
    item: TypeEngine[Any] = Text()

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else ARRAY(self.item))

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> Any:
        return json.dumps(list(value or ())) if dialect.name == "sqlite" else list(value or ())


class _Numbers(_Texts):
    item = BigInteger()
    cache_ok = True


class _OneOf(FunctionElement[bool]):
    # Of no type: after a boolean SQLite's dialect writes `= 1`, which hides the comparison from the planner.
    type = NullType()  # type: ignore[assignment]
    inherit_cache = True
    name = "one_of"


@compiles(_OneOf, "sqlite")
def _sqlite(element: _OneOf, compiler: SQLCompiler, **how: Any) -> str:
    column, several = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({several}))"


@compiles(_OneOf, "postgresql")
def _postgresql(element: _OneOf, compiler: SQLCompiler, **how: Any) -> str:
    column, several = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{column} = ANY({several})"
