"""WHAT would a SQL migration do to the models that the catalog knows? Its DDL is parsed and applied to a copy of them.

Only changes of tables, views and their columns count. A change of one of them that is not understood is reported, so
that it is not mistaken for no change.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from onrecord.catalog.changing_table import ChangingTable
from onrecord.catalog.lookup import Lookup
from onrecord.catalog.naming import folded
from onrecord.catalog.resolution import AmbiguousModel, model_of_table
from onrecord.catalog.sql_parsing import BoundedParsing, TooManySteps
from onrecord.errors import invalid
from onrecord.model import limits
from onrecord.model.catalog import Model, Part

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

_DIALECTS: Final = ("postgres", "", "mysql", "snowflake", "bigquery", "tsql", "duckdb", "sqlite")
#: A migration comes from the person who changes the tables, and may be long.
_MOST_STEPS: Final = 300_000
_MOST_TABLES: Final = 1_000
_TABLES: Final = ("TABLE", "VIEW", "MATERIALIZED VIEW", "FOREIGN TABLE")
#: What alters a table, but none of its columns.
_HARMLESS: Final = frozenset(
    {"addconstraint", "alterindex", "altersortkey", "alterdiststyle", "addpartition", "droppartition"}
)
#: The same of statements that no parser reads, by how they begin and by what they do.
_HARMLESS_WORDS: Final = tuple(
    """
    GRANT|REVOKE|VACUUM|ANALYZE|REINDEX|LOCK|CREATE |ALTER INDEX|ALTER SEQUENCE|ALTER ROLE|ALTER USER|ALTER FUNCTION
    |ALTER DEFAULT|DROP INDEX|DROP FUNCTION|DROP TRIGGER|COMMENT|SET |RESET|BEGIN|START|END|SAVEPOINT|RELEASE|SELECT
    |PRAGMA|SHOW
    """.strip()
    .replace("\n    ", "")
    .split("|")
)
_HARMLESS_CLAUSES: Final = (
    *(" OWNER TO ", " ENABLE ", " DISABLE ", " CLUSTER ON ", " REPLICA IDENTITY "),
    *(" DROP PRIMARY KEY", " CONVERT TO CHARACTER SET ", " ADD GENERATED "),
)
#: Of what is created, only this may take the place of a model.
_MAKES_TABLE: Final = re.compile(r"CREATE (OR (REPLACE|ALTER) )?(\w+ ){0,3}(TABLE|VIEW) ")
#: Tools keep the way back in the same file, under a line such as these.
_WAY: Final = re.compile(
    r"^[ \t]*--[ \t]*(?:(?:\+\w+[ \t]+|migrate:|rambler[ \t]+)(up|down)|(up|down)[ \t]+migration)\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
#: Statements that change no table; anything else that is no DDL either is not SQL, whatever a dialect makes of it.
_ELSEWHERE: Final = frozenset(
    """
    select union except intersect insert update delete merge comment set use transaction commit rollback grant revoke
    truncatetable analyze copy pragma semicolon declare describe show kill loaddata refresh cache uncache attach detach
    """.split()
)
_SHOWN: Final = 80


class ChangedModels(NamedTuple):
    """The models as they would be, None for those that would be gone; and statements that were not understood."""

    models: dict[str, Model | None]
    unread: tuple[str, ...]


#: The models over each table, by the table's name alone.
Tables = Mapping[str, Sequence[str]]


def models_after(
    statements: Sequence["Expr"], lookup: Lookup, tables: Tables, datasource: str | None = None
) -> ChangedModels:
    """Apply the statements of a migration to a copy of the catalog's models."""
    playing = _Playing(lookup, tables, datasource)
    for statement in statements:
        playing.play(statement)
    return ChangedModels(playing.models, tuple(playing.unread))


def without_way_back(sql: str) -> str:
    """A migration without the parts that undo it, which would cancel its changes."""
    kept, is_kept, start = list[str](), True, 0
    for marker in _WAY.finditer(sql):
        kept += [sql[start : marker.start()]] if is_kept else []
        is_kept, start = (marker[1] or marker[2]).lower() == "up", marker.end()
    return "".join([*kept, sql[start:] if is_kept else ""])


def read_migration(sql: str) -> list["Expr"]:
    """The statements in the dialect that understands most of them; Invalid if it is not SQL. This needs no catalog."""
    try:
        import sqlglot  # noqa: F401
    except ImportError:
        raise invalid("sql", "a migration can be read only with onrecord[sql]; install that") from None
    if len(sql.encode()) > limits.DOCUMENT_CHARACTERS:
        raise invalid("sql", f"is longer than {limits.DOCUMENT_CHARACTERS} bytes; give it in parts")
    parsing, readings, reason = BoundedParsing(sql, _MOST_STEPS), list[list["Expr"]](), ""
    for dialect in _DIALECTS:
        try:
            readings.append(parsing.statements(dialect))
        except TooManySteps:
            break
        except Exception as problem:
            # On unexpected texts the parser may raise any error.
            reason = reason or (str(problem).splitlines() or [type(problem).__name__])[0]
            continue
        if not any(map(_is_command, readings[-1])):
            break
    if not readings:
        raise invalid(
            "sql", f"could not be read as SQL: {reason or 'it takes too many steps; give it in parts'}"
        )
    return min(readings, key=lambda reading: sum(map(_is_command, reading)))


def _is_command(statement: "Expr") -> bool:
    """Whether the parser left it as an unparsed command."""
    if statement.key == "alter":
        return any(each.key == "command" for each in statement.args.get("actions") or ())
    return statement.key not in _ELSEWHERE | {"create", "drop"}


class _Playing:
    """The tables after the statements so far."""

    def __init__(self, lookup: Lookup, tables: Tables, datasource: str | None) -> None:
        self._lookup, self._tables, self._datasource = lookup, tables, datasource
        self.unread: list[str] = []
        #: What was looked at, by the canonical name of its model; None once it is dropped. What the catalog does not know
        #: has no datasource.
        self._now: dict[str, ChangingTable | None] = {}
        self._meanings: dict[tuple[str, ...], tuple[str, ...]] = {}
        #: What the catalog does not know, by the names that the migration gave it.
        self._new: dict[str, str] = {}

    @property
    def models(self) -> dict[str, Model | None]:
        tables = {name: table for name, table in self._now.items() if not name.startswith(".")}
        return {name: None if table is None else table.as_model() for name, table in tables.items()}

    def play(self, statement: "Expr") -> None:
        kind = str(statement.args.get("kind") or "").upper()
        if statement.key == "drop" and kind in _TABLES:
            for table in statement.args.get("tables") or filter(None, [statement.args.get("this")]):
                self._now |= dict.fromkeys(self._meant(table))
        elif statement.key == "drop" and kind in ("SCHEMA", "DATABASE"):
            self._unread(statement)
        elif statement.key == "create" and kind in _TABLES:
            self._create(statement)
        elif statement.key == "alter":
            for action in statement.args.get("actions") or ():
                self._alter(statement, action)
        elif _is_command(statement) and not _is_harmless(_text_of(statement)):
            self._unread(statement)

    def _unread(self, statement: "Expr") -> None:
        text = _text_of(statement)
        self.unread.append(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")

    def _meant(self, table: "Expr") -> list[str]:
        """The models over a table that are there now; several may be over the same one."""
        names = _names_of(table)
        known = self._known(names) or tuple(filter(None, [self._new.get(folded(names[-1]))] if names else []))
        return [name for name in known if self._now[name] is not None]

    def _known(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The models over a table that the catalog knows, even if the migration has removed them."""
        if names not in self._meanings:
            found = self._found(names) if names and folded(names[-1]) in self._tables else ()
            self._meanings[names] = tuple(model.canonical for model in found)
            for model in found:
                self._now.setdefault(model.canonical, ChangingTable(model))
        return self._meanings[names]

    def _found(self, names: tuple[str, ...]) -> list[Model]:
        if len(self._meanings) >= _MOST_TABLES:
            # Each table is a question to the catalog.
            raise invalid("sql", f"names more than {_MOST_TABLES} tables; give it in parts")
        try:
            called = model_of_table(names, self._lookup, self._datasource)
        except AmbiguousModel as problem:
            raise invalid("datasource", problem.reason) from None
        within = called.datasource if called else self._datasource
        over = [each.partition(".") for each in self._tables[folded(names[-1])]]
        others = [self._lookup.model(each, name) for each, _, name in over if within in (None, each)]
        return list({model.canonical: model for model in (called, *others) if model}.values())

    def _create(self, statement: "Expr") -> None:
        """A created table gets the columns of its definition, or those of its query."""
        schema, query = statement.this, statement.args.get("expression")
        table = schema.this if schema.key == "schema" else schema
        known = self._known(_names_of(table))
        is_replaced = bool(statement.args.get("replace"))
        anew = [name for name in known if is_replaced or self._now[name] is None]
        columns: list[Part] | None = None
        if schema.key == "schema":
            columns = [
                _column(each) for each in schema.expressions if each.key in ("columndef", "identifier")
            ]
        elif query is not None and query.named_selects and "*" not in query.named_selects:
            columns = [Part(name=name) for name in query.named_selects]
        if anew and not columns:
            self._unread(statement)
        for name in anew if columns else ():
            self._now[name] = self._made_anew(name, columns or ())
        if not known and columns:
            self._keep_new(ChangingTable(Model(datasource="", name=table.name), columns), table.name)

    def _keep_new(self, table: ChangingTable, name: str) -> None:
        canonical = table.as_model().canonical
        self._now[canonical] = table
        self._new[folded(name)] = canonical

    def _made_anew(self, canonical: str, columns: Iterable[Part]) -> ChangingTable:
        """A model that the catalog knows with other columns, each with its type as it was if that is the same."""
        datasource, _, name = canonical.partition(".")
        model = self._lookup.model(datasource, name)
        assert model is not None
        before = ChangingTable(model)
        return ChangingTable(model, [_like_before(before.column(each.name), each) for each in columns])

    def _alter(self, statement: "Expr", action: "Expr") -> None:
        change, meant = _ACTIONS.get(action.key), self._meant(statement.this)
        to = next(
            (each for each in statement.args.get("options") or () if each.key == "totableproperty"), None
        )
        for name in meant:
            table = self._now[name]
            assert table is not None
            if change is not None:
                change(table, action)
            elif action.key == "alterrename" and to is not None:
                # PostgreSQL leaves out the word COLUMN: the parser takes the old name for that of a table.
                _rename_column(table, action.this.name, to.this.name)
            elif action.key == "alterrename":
                self._rename(name, table, action)
            elif action.key not in _HARMLESS and not _is_harmless(_text_of(action)):
                self._unread(statement)
                break

    def _rename(self, canonical: str, table: ChangingTable, action: "Expr") -> None:
        to, model = action.this.name, table.as_model()
        self._now[canonical] = None
        places = self._known((model.datasource, to) if model.datasource else _names_of(action.this))
        for place in places:
            # Another table takes the name of one that the catalog knows.
            self._now[place] = self._made_anew(place, table.columns)
        if not places:
            self._keep_new(table.renamed(to), to)


def _names_of(table: "Expr") -> tuple[str, ...]:
    """The parts of the name of a table; BigQuery puts one pair of quotes around all of them."""
    named = (part.name for part in getattr(table, "parts", ()) if part.key == "identifier")
    return tuple(name for names in named for name in names.split(".") if name)


def _text_of(statement: "Expr") -> str:
    try:
        return " ".join(statement.sql().split())
    except ValueError:
        # The library reads some statements that it cannot write.
        return " ".join([statement.key.upper(), *(part.name for part in statement.find_all(_identifier()))])


def _identifier() -> type["Expr"]:
    from sqlglot import exp

    return exp.Identifier


def _is_harmless(text: str) -> bool:
    """Whether a statement that the parser did not understand is known to change no column, in any of its parts."""
    upper = text.upper()
    if _MAKES_TABLE.match(upper):
        return False
    return upper.startswith(_HARMLESS_WORDS) or all(
        any(clause in f" {part}" for clause in _HARMLESS_CLAUSES) for part in upper.split(",")
    )


def _column(definition: "Expr") -> Part:
    kind = definition.args.get("kind")
    return Part(name=definition.name, type=None if kind is None else kind.sql())


def _dropped(table: ChangingTable, action: "Expr") -> None:
    if str(action.args.get("kind") or "").upper() == "COLUMN":
        for each in (*(action.args.get("tables") or ()), *filter(None, [action.args.get("this")])):
            table.drop(each.name)


def _added(table: ChangingTable, action: "Expr") -> None:
    table.add(_column(action))


def _rename_column(table: ChangingTable, old: str, new: str) -> None:
    table.change(old, lambda part: replace(part, name=new))


def _renamed(table: ChangingTable, action: "Expr") -> None:
    _rename_column(table, action.this.name, action.args["to"].name)


def _retyped(table: ChangingTable, action: "Expr") -> None:
    dtype = action.args.get("dtype")
    if dtype is not None:
        table.change(action.this.name, lambda part: replace(part, type=_type_written(part, dtype.sql())))


def _modified(table: ChangingTable, action: "Expr") -> None:
    """MySQL's way to give a column another type, and perhaps another name."""
    fresh, old = _column(action.this), action.args.get("rename_from")
    table.change(
        fresh.name if old is None else old.name,
        lambda part: replace(part, name=fresh.name, type=_type_written(part, fresh.type)),
    )


def _like_before(before: Part | None, fresh: Part) -> Part:
    return fresh if before is None else replace(before, type=_type_written(before, fresh.type))


def _type_written(part: Part, written: str | None) -> str | None:
    """The type as the migration writes it; as it was, if that is another spelling of the same."""
    return part.type if written is None or (part.type and _is_spelled(part.type, written)) else written


def _is_spelled(known: str, written: str) -> bool:
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        return bool(exp.DataType.build(known) == exp.DataType.build(written))
    except (SqlglotError, ValueError):
        return known.upper() == written.upper()


_ACTIONS: Final[dict[str, Callable[[ChangingTable, Any], None]]] = {
    "drop": _dropped,
    "columndef": _added,
    "renamecolumn": _renamed,
    "altercolumn": _retyped,
    "modifycolumn": _modified,
}


def differing(models: dict[str, Model | None], lookup: Lookup) -> Iterator[str]:
    """The names of the models that would not be what they are."""
    for canonical, model in models.items():
        datasource, _, name = canonical.partition(".")
        if lookup.model(datasource, name) != model:
            yield canonical
