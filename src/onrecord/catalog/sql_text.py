"""WHAT is a piece of SQL about? The tables and columns in it that the catalog knows, in any dialect.

Parsing needs no catalog, so it happens before anything is locked. Parsing and resolving count their steps and stop at
a bound: what was read until then counts, and a warning says so.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from onrecord.catalog.formulas import shown
from onrecord.catalog.lookup import Lookup
from onrecord.catalog.resolution import AmbiguousModel, Entities, Gathering, Resolved, model_of_table
from onrecord.catalog.sql_parsing import BoundedParsing, Steps, TooManySteps
from onrecord.model import limits
from onrecord.model.catalog import Model
from onrecord.model.rules import Text

if TYPE_CHECKING:
    from sqlglot.expressions import Column, Expr, Table

NOT_INSTALLED: Final = "SQL was not read for tables and columns: install onrecord[sql] for that."
#: Tried in this order if no dialect is given. The first is sqlglot's own, which reads what most dialects share.
_DIALECTS: Final = ("", *"postgres mysql bigquery snowflake tsql duckdb".split())

_SET_OPERATIONS: Final = frozenset({"union", "except", "intersect"})
_QUERIES: Final = _SET_OPERATIONS | {"select"}
#: Statements and queries with tables of their own.
_SCOPES: Final = frozenset({"select", "insert", "update", "delete", "merge", "create"})
_WITHOUT_DATA: Final = frozenset({"set", "use", "transaction", "commit", "rollback", "pragma", "semicolon"})
#: Names that databases give to the written rows of a statement.
_WRITTEN_ROWS: Final = frozenset({"excluded", "inserted", "deleted", "new", "old"})
# From a star to the table behind it, through so many subqueries at most.
_FARTHEST: Final = 50
#: How many steps are spent on parsing a text, in all dialects together; plain SQL takes about one for each word or sign.
_MOST_PARSED: Final = 20_000
#: How often a table is looked at for a column. A hundred tables with five hundred columns fit.
_MOST_READ: Final = 50_000
#: A name with more dots is not looked up.
_MOST_DOTS: Final = 15
_MOST_TABLES_SHOWN: Final = 8


class ParsedSql(NamedTuple):
    """The statements in which tables and columns can be found, and warnings about the others."""

    statements: Sequence["Expr"]
    warnings: tuple[str, ...] = ()


def parse_sql(text: str, dialect: str | None = None, *, most_steps: int = _MOST_PARSED) -> ParsedSql:
    """Parse in the given dialect, or in the first that reads all of the text; never raises."""
    try:
        import sqlglot  # noqa: F401
    except ImportError:
        return ParsedSql((), (NOT_INSTALLED,))
    try:
        Text(at_most_bytes=limits.CONTENT_BYTES)(text)
    except ValueError as reason:
        return ParsedSql((), (f"the SQL was not read for tables and columns: it {reason}.",))
    parsing = BoundedParsing(text, most_steps)
    reasons: list[str] = []
    readings: list[list[Expr]] = []
    for name in _DIALECTS if dialect is None else [dialect]:
        try:
            readings.append(parsing.statements(name))
        except Exception as error:
            # On unexpected texts the parser may raise any error.
            reasons.append(_reason(error))
            if isinstance(error, TooManySteps):
                break
        else:
            if all(map(_is_readable, readings[-1])):
                return ParsedSql(readings[-1])
    if not readings:
        return ParsedSql((), (f"the SQL could not be read for tables and columns: {reasons[0]}.",))
    return ParsedSql(
        list(filter(_is_readable, readings[0])),
        tuple(
            f"statement {number} of the SQL is of a kind in which tables and columns cannot be found."
            for number, statement in enumerate(readings[0], 1)
            if not _is_readable(statement)
        ),
    )


def tables_of(parsed: ParsedSql) -> list[tuple[str, ...]]:
    """The names of the tables in parsed SQL as they are written, each with its qualifiers; the first few."""
    named = (node for statement in parsed.statements for node in statement.walk() if node.key == "table")
    names = (tuple(part.name for part in _steps(node) if part.key == "identifier") for node in named)
    return list(islice(dict.fromkeys(filter(None, names)), limits.ENTITIES))


def entities_of_sql(sql: str | ParsedSql, lookup: Lookup, *, datasource: str | None = None) -> Entities:
    """The canonical names, and a warning for everything unknown or unreadable; only the lookup may raise.

    A table that names no datasource is looked for in the given one, else in the order of priority.
    """
    parsed = parse_sql(sql) if isinstance(sql, str) else sql
    gathering = Gathering()
    gathering.warn(*parsed.warnings)
    steps = Steps(_MOST_READ)
    tables = _TableModels(lookup, datasource, gathering)
    try:
        for statement in parsed.statements:
            if statement.key not in _WITHOUT_DATA:
                _Statement(statement, tables, gathering, steps).read()
    except TooManySteps:
        gathering.warn(
            "the SQL has more tables and columns than we read; it may be about more than is listed."
        )
    return gathering.entities()


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, TooManySteps):
        return "it is too long or complex to read whole; save it in parts, or name the entities it is about"
    if faults := getattr(error, "errors", None):
        # The rest of the message shows internals of the parser.
        what = faults[0]["description"].partition(" but got <")[0].rstrip(".")
        return f"{what} (line {faults[0]['line']}, column {faults[0]['col']})"
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def _is_readable(statement: "Expr") -> bool:
    """Whether it is SQL: some dialects read prose as an expression with an alias."""
    if statement.key in _QUERIES | _SCOPES | _WITHOUT_DATA:
        return True
    return statement.key != "command" and any(node.key == "table" for node in statement.walk())


class _TableModels:
    """The models behind the tables of a text, each looked up once."""

    def __init__(self, lookup: Lookup, datasource: str | None, gathering: Gathering) -> None:
        self._lookup, self._datasource, self._gathering = lookup, datasource, gathering
        self._found: dict[tuple[str, ...], Model | None] = {}
        self._parts: dict[str, defaultdict[str, list[str]]] = {}
        #: Tables that a statement of the same text creates; no warning is due for them.
        self._created: set[tuple[str, ...]] = set()

    def model(self, names: tuple[str, ...]) -> Model | None:
        key = _folded(names)
        if key not in self._found:
            if len(self._found) == limits.ENTITIES:
                # A memory has no more references than this, and each table is a query to the catalog.
                raise TooManySteps
            self._found[key] = self._look_up(names)
        if (model := self._found[key]) is not None:
            self._gathering.add(Resolved(model.canonical))
        return model

    def parts(self, model: Model) -> Mapping[str, Sequence[str]]:
        """The names of a model's parts by their case-folded spelling, which several may share."""
        if model.canonical not in self._parts:
            folded = self._parts[model.canonical] = defaultdict(list)
            for part in model.parts:
                folded[_fold(part.name)].append(part.name)
        return self._parts[model.canonical]

    def create(self, names: tuple[str, ...]) -> None:
        self._created.add(_folded(names))

    def _look_up(self, names: tuple[str, ...]) -> Model | None:
        try:
            model = model_of_table(names, self._lookup, self._datasource)
        except AmbiguousModel as ambiguous:
            self._gathering.warn(ambiguous.reason)
            return None
        if model is None and _folded(names) not in self._created:
            self._gathering.warn(
                f"the table {shown('.'.join(names))} is not in the catalog; it was left out."
            )
        return model


@dataclass(frozen=True, slots=True, kw_only=True)
class _FromEntry:
    """One entry of a FROM: a table, a subquery, or something else that has rows."""

    #: All that it may be called by, folded: its alias, or the parts of its name.
    names: tuple[str, ...]
    model: Model | None = None
    query: "Expr | None" = None
    #: The names that its alias gives to its columns.
    columns: frozenset[str] = frozenset()

    def is_called(self, names: tuple[str, ...]) -> bool:
        return bool(names) and self.names[-len(names) :] == names


class _VisibleScope(NamedTuple):
    """A scope that may hold a column, the branch of it that contains the column, and the outer scopes."""

    scope: "Expr"
    branch: "Expr"
    beyond: "_VisibleScope | None"


class _OutwardStep(NamedTuple):
    """How far the search from a column outwards has come, and what it has met."""

    node: "Expr"
    is_inside: bool = False
    is_hidden: bool = False
    is_lateral: bool = False


@dataclass(slots=True)
class _ColumnOrigins:
    """Where a column of some name may come from."""

    canonicals: dict[str, None] = field(default_factory=dict)
    #: Whether a query in the text defines the name; its own columns were read there.
    is_made_here: bool = False
    #: Whether there is a source with unknown columns.
    is_open: bool = False
    #: The queries that were asked.
    asked: set[int] = field(default_factory=set)


class _Statement:
    """One statement: its tables are found first, then its columns among them."""

    def __init__(self, root: "Expr", tables: _TableModels, gathering: Gathering, steps: Steps) -> None:
        self._root, self._tables, self._gathering, self._steps = root, tables, gathering, steps
        self._nodes: defaultdict[str, list[Expr]] = defaultdict(list)
        #: The scope around each node, which is settled before those below it are met.
        self._around: dict[int, Expr] = {}
        for node in root.walk(bfs=False):
            self._nodes[node.key].append(node)
            above = node.parent
            if above is None or node is root:
                self._around[id(node)] = root
            else:
                self._around[id(node)] = above if above.key in _SCOPES else self._around[id(above)]
        self._sources: defaultdict[int, list[_FromEntry]] = defaultdict(list)
        self._cte_names = {_fold(cte.alias) for cte in self._nodes["cte"]}
        #: By the WITH that contains them: the first of each name, and the position of each.
        self._ctes: defaultdict[int, dict[str, Expr]] = defaultdict(dict)
        self._places: dict[int, int] = {}
        for queries in self._nodes["with"]:
            for place, cte in enumerate(queries.expressions):
                self._places[id(cte)] = place
                self._ctes[id(queries)].setdefault(_fold(cte.alias), cte)
        self._seen: dict[tuple[int, bool, bool, bool], _VisibleScope | None] = {}
        self._aliases: dict[int, frozenset[str]] = {}
        self._read: set[tuple[Any, ...]] = set()

    def read(self) -> None:
        self._find_sources()
        for column in self._nodes["column"]:
            if column.this.key != "star":
                self._read_column(column)
        for join in self._nodes["join"]:
            for shared in join.args.get("using") or ():
                self._read_column_of(self._sources_around(join), shared.name)
        for schema in self._nodes["schema"]:
            if schema.parent and schema.parent.key == "insert":
                for column in schema.expressions:
                    self._read_column_of(self._sources[id(schema.parent)], column.name)

    # Tables

    def _find_sources(self) -> None:
        aliases = {(id(self._scope(each)), _fold(each.alias)) for each in self._nodes["table"] if each.alias}
        for table in self._nodes["table"]:
            # `UPDATE o … FROM orders AS o` and `DELETE o FROM orders AS o` write an alias in place of a table.
            is_alias = not table.alias and (id(self._scope(table)), _fold(table.name)) in aliases
            if not is_alias or len(_steps(table)) > 1:
                self._sources_around(table).append(self._table(table))
        for query in self._nodes["subquery"]:
            if query.parent and query.parent.key in ("from", "join") and query.unnest().key in _QUERIES:
                self._sources_around(query).append(_derived(query, query.unnest()))
        for alias in self._nodes["tablealias"]:
            node = alias.parent
            if node is not None and node.key not in ("table", "subquery", "cte"):
                inner = node.this.unnest() if node.key == "lateral" else None
                is_query = inner is not None and inner.key in _QUERIES
                self._sources_around(node).append(_derived(node, inner if is_query else None))

        for write in self._nodes["update"] + self._nodes["insert"]:
            if (merge := self._scope(write)).key == "merge":
                self._sources[id(write)] = self._sources[id(merge)][:1]

    def _table(self, table: "Expr") -> _FromEntry:
        parts = _steps(table)
        if any(part.key != "identifier" for part in parts):
            # A function in the place of a table.
            return _derived(table, None)
        names = tuple(name for part in parts for name in part.name.split("."))
        called = (_fold(table.alias),) if table.alias else _folded(names)
        if len(parts) == 1 and (cte := self._cte(table)) is not None:
            return _FromEntry(names=called, query=cte.this, columns=_columns_of_alias(cte))
        if self._is_created(table):
            self._tables.create(names)
        return _FromEntry(names=called, model=self._tables.model(names))

    def _is_created(self, table: "Expr") -> bool:
        node = table.parent if table.parent and table.parent.key == "schema" else table
        return node.parent is not None and node.parent.key == "create" and node.arg_key == "this"

    def _cte(self, table: "Expr") -> "Expr | None":
        """The common table expression that a table's name means: a later one, or itself, only if recursive."""
        name = _fold(table.name)
        if name not in self._cte_names:
            return None
        node = table
        while (parent := node.parent) is not None:
            self._steps.take()
            queries, before = parent, None
            if parent.key == "with":
                before = None if parent.args.get("recursive") else self._places[id(node)]
            elif node.key != "with":
                queries = parent.args.get("with_") or parent.args.get("with") or parent
            cte = self._ctes[id(queries)].get(name)
            if cte is not None and (before is None or self._places[id(cte)] < before):
                return cte
            node = parent
        return None

    def _scope(self, node: "Expr") -> "Expr":
        return self._around[id(node)]

    def _sources_around(self, node: "Expr") -> list[_FromEntry]:
        return self._sources[id(self._scope(node))]

    # Columns

    def _read_column(self, column: "Expr") -> None:
        *qualifiers, last = (part.name for part in _steps(column))
        names = (*(name for qualifier in qualifiers for name in qualifier.split(".")), last)
        seen = self._scopes_of(column)
        if (
            seen is None
            or len(names) > _MOST_DOTS
            or (len(names) == 1 and self._is_alias_in_order(names, seen))
        ):
            return
        scopes = tuple(_outwards(seen))
        # The same name in the same scopes is resolved once; a long sum may repeat it a thousand times.
        if (key := (names, *map(id, scopes))) in self._read:
            return
        self._read.add(key)
        for scope in scopes:
            self._steps.take(len(self._sources[id(scope)]))
            for cut in range(len(names) - 1, 0, -1):
                called = _folded(names[:cut])
                for source in self._sources[id(scope)]:
                    if source.is_called(called):
                        self._read_column_of([source], *names[cut:])
                        return
        if _fold(names[0]) in _WRITTEN_ROWS and len(names) > 1:
            self._read_column_of(self._sources[id(scopes[-1])][:1], *names[1:])
        elif not any(self._read_bare(names, scope) for scope in scopes) and not self._is_output(
            names, scopes[0]
        ):
            self._warn(names, [source for scope in scopes for source in self._sources[id(scope)]])

    def _read_bare(self, names: tuple[str, ...], scope: "Expr") -> bool:
        """Whether the tables of a scope settle what a column is."""
        answer = self._ask(self._sources[id(scope)], names)
        if answer.is_made_here:
            return True
        if len(answer.canonicals) == 1:
            self._gathering.add(Resolved(next(iter(answer.canonicals))))
        elif answer.canonicals and not _is_shared(names[0], scope):
            self._gathering.warn(
                f"the column {shown(names[0])} may be any of {list(answer.canonicals)}; it was left out. "
                "Write the table before it."
            )
        return bool(answer.canonicals) or answer.is_open

    def _read_column_of(self, sources: Sequence[_FromEntry], *names: str) -> None:
        answer = self._ask(sources, names)
        for canonical in answer.canonicals:
            self._gathering.add(Resolved(canonical))
        if not (answer.canonicals or answer.is_made_here or answer.is_open):
            self._warn(names, sources)

    def _warn(self, names: Sequence[str], sources: Sequence[_FromEntry]) -> None:
        self._steps.take(len(sources))
        tables = dict.fromkeys(source.model.canonical for source in sources if source.model)
        few = [
            *islice(tables, _MOST_TABLES_SHOWN),
            *(["another"] if len(tables) > _MOST_TABLES_SHOWN else []),
        ]
        where = f"on {' or '.join(few)}" if few else "on any table of the statement"
        self._gathering.warn(
            f"the column {shown('.'.join(names))} is not {where} in the catalog; it was left out."
        )

    def _ask(self, sources: Sequence[_FromEntry], names: Sequence[str]) -> _ColumnOrigins:
        """Look up a column. A nested column is known by its whole name or, failing that, by the outer column's."""
        whole = _ColumnOrigins()
        for length in range(len(names), 0, -1):
            whole = _ColumnOrigins()
            for source in sources:
                self._ask_source(source, ".".join(_folded(names[:length])), whole)
            if whole.canonicals or whole.is_made_here:
                break
        return whole

    def _ask_source(self, source: _FromEntry, name: str, answer: _ColumnOrigins) -> None:
        self._steps.take()
        if name in source.columns:
            answer.is_made_here = True
        elif source.query is not None:
            self._ask_query(source.query, name, answer)
        elif source.model is None:
            answer.is_open = True
        else:
            for part in self._tables.parts(source.model).get(name, ()):
                answer.canonicals[f"{source.model.canonical}.{part}"] = None

    def _ask_query(self, query: "Expr", name: str, answer: _ColumnOrigins) -> None:
        waiting = [query]
        while waiting:
            query = waiting.pop().unnest()
            if query.key in _SET_OPERATIONS:
                waiting += [query.args["expression"], query.this]
            elif query.key != "select" or len(answer.asked) >= _FARTHEST:
                answer.is_open = True
            elif id(query) not in answer.asked:
                answer.asked.add(id(query))
                self._ask_select(query, name, answer)

    def _ask_select(self, select: "Expr", name: str, answer: _ColumnOrigins) -> None:
        self._steps.take(len(select.expressions))
        for output in select.expressions:
            if output.is_star:
                qualifier = (
                    _folded(part.name for part in _steps(output)[:-1]) if output.key == "column" else ()
                )
                for source in self._sources[id(select)]:
                    if not qualifier or source.is_called(qualifier):
                        self._ask_source(source, name, answer)
            elif _fold(output.alias_or_name) == name:
                answer.is_made_here = True

    # Scopes

    def _scopes_of(self, column: "Expr") -> _VisibleScope | None:
        """The scopes that may hold a column, nearest first; none if it refers to the outputs of a whole query.

        Results on the way outwards are kept: neighbouring columns share most of the way, which in a sum of a thousand
        terms is a thousand nodes long.
        """
        passed: list[tuple[tuple[int, bool, bool, bool], tuple[Expr, Expr] | None]] = []
        way: _OutwardStep | None = _OutwardStep(column)
        seen: _VisibleScope | None = None
        while way is not None:
            key = (id(way.node), *way[1:])
            if key in self._seen:
                seen = self._seen[key]
                break
            way, entered = _outward(way)
            passed.append((key, entered))
        for key, entered in reversed(passed):
            seen = self._seen[key] = _VisibleScope(*entered, seen) if entered else seen
        return seen

    def _is_alias_in_order(self, names: Sequence[str], seen: _VisibleScope) -> bool:
        """`ORDER BY total` means what SELECT calls so, before any column of that name."""
        return seen.branch.key == "order" and self._is_output(names, seen.scope)

    def _is_output(self, names: Sequence[str], scope: "Expr") -> bool:
        if id(scope) not in self._aliases:
            outputs = scope.expressions if scope.key == "select" else ()
            self._aliases[id(scope)] = frozenset(
                _fold(output.alias) for output in outputs if output.key == "alias"
            )
        return len(names) == 1 and _fold(names[0]) in self._aliases[id(scope)]


def _derived(node: "Expr", query: "Expr | None") -> _FromEntry:
    return _FromEntry(names=(_fold(node.alias),), query=query, columns=_columns_of_alias(node))


def _columns_of_alias(node: "Expr") -> frozenset[str]:
    return frozenset(map(_fold, node.alias_column_names))


def _outward(way: _OutwardStep) -> tuple[_OutwardStep | None, tuple["Expr", "Expr"] | None]:
    """One node further out, or None at the end; and the scope entered there, with the branch we came from."""
    node, is_inside, is_hidden, is_lateral = way
    parent = node.parent
    if parent is None or (not is_inside and (parent.key in _SET_OPERATIONS or _wraps_query(parent))):
        return None, None
    is_lateral = is_lateral or parent.key == "lateral"
    if is_inside and (parent.key == "cte" or _stands_alone(node, parent, is_lateral)):
        is_hidden = True
    if parent.key in _SCOPES:
        return _OutwardStep(parent, is_inside=True), None if is_hidden else (parent, node)
    return _OutwardStep(parent, is_inside, is_hidden, is_lateral), None


def _outwards(seen: _VisibleScope | None) -> Iterator["Expr"]:
    while seen is not None:
        yield seen.scope
        seen = seen.beyond


def _wraps_query(node: "Expr") -> bool:
    return node.key == "subquery" and node.unnest().key in _QUERIES


def _stands_alone(node: "Expr", parent: "Expr", is_lateral: bool) -> bool:
    """Whether a query cannot use names from outside itself."""
    if parent.key in ("from", "join"):
        return node.arg_key == "this" and not is_lateral
    return parent.key in ("insert", "create") and node.arg_key == "expression"


def _is_shared(name: str, scope: "Expr") -> bool:
    """Whether `JOIN … USING (name)` makes one column of several."""
    joins = scope.args.get("joins") or ()
    return any(_fold(each.name) == _fold(name) for join in joins for each in join.args.get("using") or ())


def _steps(node: "Expr") -> Sequence["Expr"]:
    """The dotted parts of a table's or a column's name."""
    return cast("Table | Column", node).parts


def _fold(name: str) -> str:
    return name.lower()


def _folded(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_fold, names))
