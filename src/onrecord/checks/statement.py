"""WHICH SQL may a check run? One query whose text only reads tables.

The connection refuses writing, files and more a second time (`process.py`); this says so before anything runs.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from onrecord.catalog.sql_parsing import BoundedParsing, TooManySteps
from onrecord.model.connections import ConnectionKind

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

NOT_INSTALLED: Final = "checks with SQL need one more package: pip install 'onrecord[sql]'"
#: The parser's names of the kinds of connection. Without one, what most dialects share.
_DIALECTS: Final[Mapping[str | None, str]] = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgres",
    None: "",
}
_MOST_STEPS: Final = 20_000
#: Parts of a statement that do more than read.
_MORE_THAN_READING: Final = frozenset(
    {
        *(
            "insert",
            "update",
            "delete",
            "merge",
            "create",
            "drop",
            "alter",
            "truncatetable",
            "command",
            "copy",
        ),
        *("into", "lock", "pragma", "attach", "detach", "set", "use", "kill", "loaddata", "transaction"),
    }
)
#: Functions that read files or give another answer each time.
_REFUSED: Final = frozenset(
    {"readcsv", "readparquet", "rand", "randn", "randstr", "uuid", "tablesample", "operator"}
)
#: Functions that the parser knows by no kind of its own, and that only calculate. Any other might do anything.
_HARMLESS: Final = frozenset(
    {
        *("printf", "format", "instr", "typeof", "total", "ifnull", "julianday", "unixepoch", "pg_typeof"),
        *("date_part", "to_number", "mode", "list_distinct", "epoch", "strftime", "datetime"),
    }
)


def refuse(sql: str, kind: ConnectionKind | None = None) -> None:
    """Raise ValueError, in words, unless the text is one query that a check may run."""
    statement = _parsed(sql, kind)
    defined = {node.alias_or_name.casefold() for node in statement.walk() if node.key == "cte"}
    tables = 0
    for node in statement.walk():
        _refuse_node(node)
        if node.key == "table":
            name = _table_name(node)
            tables += name.casefold() not in defined
    if not tables:
        raise ValueError("reads no table, so its result proves nothing")
    if not any(map(_depends_on_rows, _returned(statement))):
        raise ValueError("returns only constants, which prove nothing; return columns or counts")


def _parsed(sql: str, kind: ConnectionKind | None) -> "Expr":
    try:
        statements = BoundedParsing(sql, _MOST_STEPS).statements(_DIALECTS.get(kind, ""))
    except ImportError:
        raise ValueError(NOT_INSTALLED) from None
    except TooManySteps:
        raise ValueError("is too long or complex to read") from None
    except Exception as problem:
        # On unexpected texts the parser may raise any error.
        where: dict[str, int] = next(iter(getattr(problem, "errors", ())), {})
        what = f"line {where['line']}, column {where['col']}" if "line" in where else "its beginning"
        raise ValueError(f"cannot be read as SQL (at {what})") from None
    if len(statements) != 1:
        raise ValueError(f"must be one statement (has {len(statements)})")
    if statements[0].key not in ("select", "union", "except", "intersect"):
        raise ValueError(f"must be a query that begins with SELECT or WITH, not {statements[0].key.upper()}")
    return statements[0]


def _refuse_node(node: "Expr") -> None:
    if node.key in _MORE_THAN_READING:
        raise ValueError(f"must only read: {node.key.upper()} does more")
    if node.key in _REFUSED:
        raise ValueError(f"must not use {node.key.upper()}")
    if node.key in ("anonymous", "anonymousaggfunc") and node.name.casefold() not in _HARMLESS:
        raise ValueError(
            f"must not call {node.name}: only functions that every database has may be used in checks"
        )
    if node.key == "placeholder" or node.key == "parameter":
        raise ValueError("must not have parameters")


def _table_name(node: "Expr") -> str:
    """The name of a table; ValueError if it is a function, a file or what only the database's owner needs."""
    inner = node.args.get("this")
    if inner is None or inner.key != "identifier":
        raise ValueError("must read tables alone, not what functions return")
    name = str(node.name)
    if any(sign in name for sign in "/\\:*?."):
        raise ValueError(f"must read tables, not files ({name!r})")
    schema = (node.text("db") or "").casefold()
    if name.casefold().startswith(("pg_", "duckdb_", "pragma_")) or schema == "pg_catalog":
        raise ValueError(f"must not read {name}, which describes the database itself")
    return name


def _returned(statement: "Expr") -> Iterator["Expr"]:
    """What the outermost queries return."""
    if statement.key == "select":
        yield from statement.expressions
        return
    for side in (statement.this, statement.expression):
        yield from _returned(side.unnest() if hasattr(side, "unnest") else side)


def _depends_on_rows(returned: "Expr") -> bool:
    from sqlglot import expressions

    return any(
        node.key in ("column", "star") or isinstance(node, expressions.AggFunc | expressions.Query)
        for node in returned.walk()
    )
