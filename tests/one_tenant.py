"""DOES every statement name one tenant? What a database that is spread over many servers by tenant asks of each.

Such a database runs a statement where its tenant lies. One that names no tenant, or joins what lies in one place with
what lies in all, is refused there or asks every server; so it must be found where there is only one.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import sqlglot
from sqlalchemy import Connection, Engine, event
from sqlglot import exp

from onrecord.store.tables import OF_TENANTS, SHARED, VERSION_TABLE

_SPREAD: Final = frozenset(table.name for table in OF_TENANTS)
_EVERYWHERE: Final = frozenset({table.name for table in SHARED} | {VERSION_TABLE})
_WRITES: Final = (exp.Insert, exp.Update, exp.Delete)
_QUERIES: Final = (exp.Select, exp.SetOperation, *_WRITES)
#: Where a part of a transaction begins and ends; what is in it is looked at by itself.
_PART: Final = re.compile(r"(?:RELEASE |ROLLBACK TO )?SAVEPOINT ")
#: By this option of a connection, what a test itself does to a store is left out.
UNRECORDED: Final = "unrecorded"


class Exempt(NamedTuple):
    """Statements that may look at all tenants: for whom, and how they are known."""

    reason: str
    pattern: re.Pattern[str]


def _exempt(reason: str, pattern: str) -> Exempt:
    return Exempt(reason, re.compile(pattern, re.IGNORECASE))


_ANY: Final = "|".join(sorted(_SPREAD))
#: The whole list: nothing else may look beyond one tenant, and none of these may write or lock.
EXEMPT: Final[Mapping[str, Exempt]] = {
    "due jobs": _exempt(
        "a worker asks in which homes something is due, and then claims it home by home",
        r"^SELECT jobs\.tenant, jobs\.collection, jobs\.name FROM jobs WHERE jobs\.due_at <= \S+ AND .* LIMIT \S+$",
    ),
    "homes": _exempt(
        "who cares for the whole store lists its homes, and then goes through them one by one",
        r"^SELECT counters\.tenant, counters\.collection FROM counters( ORDER BY [\w., ]+)?$",
    ),
    "columns": _exempt(
        "the doctor asks whether a table still has its columns, and reads no row",
        rf"^SELECT [^()]* FROM ({_ANY}) LIMIT \S+$",
    ),
    "strays": _exempt(
        "the doctor counts the rows of tenants that are no longer there",
        rf"^SELECT count\(\*\) AS count_1 FROM ({_ANY}) WHERE NOT \(?\1\.tenant = ANY ?\(\S+\)\)?$",
    ),
    "settling": _exempt(
        "after much was loaded the database looks at whole tables, in the background",
        r"^VACUUM \(ANALYZE\) ",
    ),
    "erased rows": _exempt(
        "after something was erased the database takes its dead rows out of their pages, and no one waits for it",
        r"^VACUUM \(VERBOSE, SKIP_LOCKED\) ",
    ),
    "missing vectors": _exempt(
        "a worker asks in which homes some have no vectors, and then asks for them home by home",
        r"^SELECT counters\.tenant, counters\.collection FROM counters LEFT OUTER JOIN embedded "
        r"ON embedded\.tenant = counters\.tenant AND embedded\.collection = counters\.collection AND ",
    ),
    "large models": _exempt(
        "who builds indexes of vectors asks which homes have very many",
        r"^SELECT embedded\.tenant, embedded\.collection, embedded\.model, embedded\.dimensions FROM embedded "
        r"WHERE embedded\.memories > \S+$",
    ),
}


class Checked(NamedTuple):
    faults: list[str]
    exemption: str | None = None


def check(sql: str, values: Any = None) -> Checked:
    """What a distributed database would say against a statement; `values` are some that it was run with."""
    plain = " ".join(sql.split())
    # Another distance that the parser knows.
    tree = sqlglot.parse_one(plain.replace("<#>", "<->"), read="postgres")
    names = _tables(tree) if isinstance(tree, _QUERIES) else _named(plain)
    if not names & _SPREAD:
        return Checked([])
    for name, exempt in EXEMPT.items():
        if exempt.pattern.search(plain):
            harm = [each for kind in (*_WRITES, exp.Lock) for each in tree.find_all(kind)]
            return Checked(["writes or locks across tenants"] if harm else [], name)
    if not isinstance(tree, _QUERIES):
        # An index of one tenant's rows is built on every server, and is of use on one.
        return Checked([] if isinstance(tree, exp.Create) else ["is no statement over rows"])
    faults = [f"mixes {', '.join(sorted(names & _EVERYWHERE))} with what is spread"] * bool(
        names & _EVERYWHERE
    )
    return Checked([*faults, *_Statement(tree, values).faults()])


def _tables(tree: exp.Expression) -> set[str]:
    return {table.name for table in tree.find_all(exp.Table)}


def _named(plain: str) -> set[str]:
    return set(re.findall(r"\w+", plain)) & (_SPREAD | _EVERYWHERE)


class _Statement:
    """One statement, query by query: each names the tenant of what it reads, or takes it from the one around it."""

    def __init__(self, tree: exp.Expression, values: Any) -> None:
        self._tree = tree
        self._values = values
        #: How the tenant is named.
        self._anchors: list[exp.Expression] = []

    def faults(self) -> Iterator[str]:
        yield from self._of_query(self._tree, frozenset())
        yield from self._of_writes()
        if self._names_several():
            yield "names several tenants"

    def _of_query(self, query: exp.Expression, around: frozenset[str]) -> Iterator[str]:
        """`around` are the sources of the queries outside whose tenant is named."""
        sources = _sources(query)
        named = around - sources.keys()
        # What is derived names the tenant inside.
        named |= {alias for alias, source in sources.items() if not isinstance(source, exp.Table)}
        named |= self._restricted(query, sources, named)
        inserts_into = query.find(exp.Table) if isinstance(query, exp.Insert) else None
        for alias, source in sources.items():
            is_read = isinstance(source, exp.Table) and source.name in _SPREAD and source is not inserts_into
            if is_read and alias not in named:
                yield f"{alias} is of no tenant"
        for inner in _inner(query):
            yield from self._of_query(inner, named)

    def _restricted(
        self, query: exp.Expression, sources: Mapping[str, exp.Expression], around: frozenset[str]
    ) -> frozenset[str]:
        named, pairs = set(around), []
        for condition in _conditions(query):
            if not isinstance(condition, exp.EQ):
                continue
            sides = [condition.left, condition.right]
            of = [_tenant_of(side, sources) for side in sides]
            if all(of):
                pairs.append(of)
            for alias, other in zip(of, reversed(sides), strict=True):
                if alias and _is_given(other):
                    named.add(alias)
                    self._anchors.append(other)
        for _ in pairs:
            for left, right in pairs:
                named |= {left, right} if {left, right} & named else set()
        return frozenset(named)

    def _of_writes(self) -> Iterator[str]:
        for update in self._tree.find_all(exp.Update, exp.OnConflict):
            if any(isinstance(each, exp.EQ) and each.left.name == "tenant" for each in update.expressions):
                yield "sets the tenant"
        for insert in self._tree.find_all(exp.Insert):
            columns = [each.name for each in getattr(insert.this, "expressions", [])]
            if "tenant" not in columns:
                yield "inserts without a tenant"
                continue
            rows = insert.expression
            if isinstance(rows, exp.Values) and rows.find(exp.Select):
                yield "has a query among the values"
            if isinstance(rows, exp.Select):
                given = rows.selects[columns.index("tenant")]
                if not _tenant_of(given.unalias(), _sources(rows)):
                    yield "inserts for another tenant than it reads"

    def _names_several(self) -> bool:
        told = [_told(anchor) for anchor in self._anchors]
        if len(told) < 2:
            return False
        if isinstance(self._values, Mapping):
            told = [str(self._values.get(name, name)) for name in told]
        # By position they cannot be told apart.
        return len(set(told)) > 1 or "" in told


def _sources(query: exp.Expression) -> dict[str, exp.Expression]:
    """What a query reads and writes, by the names that it uses."""
    found = [source for source in query.find_all(exp.Table, exp.Subquery) if _nearest(source) is query]
    return {
        source.alias_or_name: source
        for source in found
        if isinstance(source, exp.Table) or isinstance(source.parent, exp.From | exp.Join)
    }


def _nearest(node: exp.Expression) -> exp.Expression | None:
    return node.find_ancestor(*_QUERIES)


def _inner(query: exp.Expression) -> list[exp.Expression]:
    return [each for each in query.find_all(*_QUERIES) if each is not query and _nearest(each) is query]


def _conditions(query: exp.Expression) -> Iterator[exp.Expression]:
    """What must be true of every row, or of those that are joined: not what stands beside an OR."""
    where = query.args.get("where")
    joins = [join.args.get("on") for join in query.find_all(exp.Join) if _nearest(join) is query]
    for condition in (where and where.this, *joins):
        yield from condition.flatten() if isinstance(condition, exp.And) else filter(None, [condition])


def _tenant_of(side: exp.Expression, sources: Mapping[str, exp.Expression]) -> str | None:
    """Whose tenant a column is, by the name of its table."""
    if not isinstance(side, exp.Column) or side.name != "tenant":
        return None
    return side.table or (next(iter(sources)) if len(sources) == 1 else None)


def _is_given(side: exp.Expression) -> bool:
    bare = side.this if isinstance(side, exp.Cast) else side
    return isinstance(bare, exp.Placeholder | exp.Literal)


def _told(anchor: exp.Expression) -> str:
    bare = anchor.this if isinstance(anchor, exp.Cast) else anchor
    return str(bare.name)


class Recording:
    """Every statement that a database was told, once each, and what one transaction wrote."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}
        self._written: dict[Connection, set[str]] = {}
        self._mixed: list[str] = []

    @contextmanager
    def of(self, engine: Engine) -> Iterator[None]:
        hooks = {
            "before_cursor_execute": self._hear,
            "commit": self._end,
            "rollback": lambda connection: self._written.pop(connection, None),
        }
        for name, hook in hooks.items():
            event.listen(engine, name, hook)
        try:
            yield
        finally:
            for name, hook in hooks.items():
                event.remove(engine, name, hook)

    def faults(self) -> list[str]:
        """What is against each statement, and against each transaction that saved."""
        return [
            f"{fault}: {sql}" for sql, values in self.told.items() for fault in check(sql, values).faults
        ] + [f"a save writes {name}" for name in self._mixed]

    def exemptions(self) -> set[str]:
        return {name for sql in self.told if (name := check(sql).exemption)}

    def _hear(
        self, connection: Connection, cursor: Any, sql: str, values: Any, context: Any, many: bool
    ) -> None:
        if connection.get_execution_options().get(UNRECORDED) or _PART.match(sql):
            return
        self.told.setdefault(sql, values)
        if written := re.match(r'(?:INSERT INTO|UPDATE|DELETE FROM) "?(\w+)', sql):
            self._written.setdefault(connection, set()).add(f"{sql.split()[0]} {written[1]}")

    def _end(self, connection: Connection) -> None:
        written = self._written.pop(connection, set())
        if written & {"INSERT memories", "UPDATE memories"}:
            self._mixed += sorted(each for each in written if each.split()[1] in _EVERYWHERE)


# The parser warns of statements that are not over rows; they are dealt with here.
logging.getLogger("sqlglot").setLevel(logging.ERROR)
