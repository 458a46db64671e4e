"""WHAT would a SQL migration do to the models that the catalog knows? Its DDL, read and played on them.

Only what changes tables, views and their columns counts. What changes one of them in a way that is not understood is
told, so that nobody takes it for no change.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from onrecord.catalog.lookup import Lookup
from onrecord.catalog.resolution import AmbiguousModel, model_of_table
from onrecord.catalog.sql_parsing import BoundedParsing, TooManySteps
from onrecord.errors import invalid
from onrecord.model import limits
from onrecord.model.catalog import Model, Part

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

_DIALECTS: Final = ("postgres", "", "mysql", "snowflake", "bigquery", "tsql", "duckdb", "sqlite")
#: A migration is read by whoever changes the tables, and may be long.
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
_HARMLESS_CLAUSES: Final = (" OWNER TO ", " ENABLE ", " DISABLE ", " CLUSTER ON ", " REPLICA IDENTITY ")
#: Statements that change no table; anything else that is no DDL either is not SQL, whatever a dialect makes of it.
_ELSEWHERE: Final = frozenset(
    """
    select union except intersect insert update delete merge comment set use transaction commit rollback grant revoke
    truncatetable analyze copy pragma semicolon declare describe show kill loaddata refresh cache uncache attach detach
    """.split()
)
_SHOWN: Final = 80


class Migrated(NamedTuple):
    """The models as they would be, None for those that would be gone; and statements that were not understood."""

    models: dict[str, Model | None]
    unread: tuple[str, ...]


def migrated(statements: Sequence["Expr"], lookup: Lookup, datasource: str | None = None) -> Migrated:
    """Play the statements of a migration on the models of a catalog."""
    playing = _Playing(lookup, datasource)
    for statement in statements:
        playing.play(statement)
    return Migrated(playing.models, tuple(playing.unread))


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
    """Whether the parser did not understand it."""
    if statement.key == "alter":
        return any(each.key == "command" for each in statement.args.get("actions") or ())
    return statement.key not in _ELSEWHERE | {"create", "drop"}


class _Playing:
    """Models as the statements so far have left them."""

    def __init__(self, lookup: Lookup, datasource: str | None) -> None:
        self._lookup, self._datasource = lookup, datasource
        self.models: dict[str, Model | None] = {}
        self.unread: list[str] = []
        #: Each model before its last change, in case that dropped it.
        self._before: dict[str, Model] = {}
        #: What was changed by its name without its datasource, and what was looked up.
        self._canonicals: dict[str, str] = {}
        self._found: dict[tuple[str, ...], Model | None] = {}

    def play(self, statement: "Expr") -> None:
        kind = str(statement.args.get("kind") or "").upper()
        if statement.key == "drop" and kind in _TABLES:
            for table in statement.args.get("tables") or filter(None, [statement.args.get("this")]):
                self._change(table, lambda model: None)
        elif statement.key == "drop" and kind in ("SCHEMA", "DATABASE"):
            self._unread(statement)
        elif statement.key == "create" and kind in _TABLES:
            self._create(statement)
        elif statement.key == "alter":
            for action in statement.args.get("actions") or ():
                self._alter(statement, action)
        elif _is_command(statement):
            self._command(statement)

    def _command(self, statement: "Expr") -> None:
        """A statement that the parser did not understand; of some it is known that they change no column."""
        text = " ".join(str(statement).split()).upper()
        if not text.startswith(_HARMLESS_WORDS) and not any(word in text for word in _HARMLESS_CLAUSES):
            self._unread(statement)

    def _unread(self, statement: "Expr") -> None:
        text = " ".join(statement.sql().split())
        self.unread.append(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")

    def _model(self, table: "Expr") -> Model | None:
        """The model of a table as the statements so far have left it."""
        names = tuple(part.name for part in getattr(table, "parts", ()) if part.key == "identifier")
        if not names:
            return None
        canonical = self._canonicals.get(names[-1].lower())
        return self.models[canonical] if canonical else self._known(names)

    def _known(self, names: tuple[str, ...]) -> Model | None:
        if names not in self._found:
            if len(self._found) == _MOST_TABLES:
                # Each table is a question to the catalog.
                raise invalid("sql", f"names more than {_MOST_TABLES} tables; give it in parts")
            try:
                self._found[names] = model_of_table(names, self._lookup, self._datasource)
            except AmbiguousModel as problem:
                raise invalid("datasource", problem.reason) from None
        return self._found[names]

    def _put(self, canonical: str, model: Model | None) -> None:
        self.models[canonical] = model
        self._canonicals[canonical.partition(".")[2].lower()] = canonical

    def _change(self, table: "Expr", change: Callable[[Model], Model | None]) -> None:
        if (model := self._model(table)) is not None:
            self._put(model.canonical, change(model))
            self._before[model.canonical] = model

    def _create(self, statement: "Expr") -> None:
        """What is made anew has the columns that are written there, or that its query has."""
        schema, query = statement.this, statement.args.get("expression")
        table = schema.this if schema.key == "schema" else schema
        known = self._model(table) if statement.args.get("replace") else None
        known = known or next((each for each in self._dropped_ones() if _is_called(each, table)), None)
        if known is None:
            return
        if schema.key == "schema":
            defined = [each for each in schema.expressions if each.key == "columndef"]
            kinds = {each.name: each.args.get("kind") for each in defined}
            self._put(known.canonical, _made_anew(known, kinds))
        elif query is not None and query.named_selects and "*" not in query.named_selects:
            self._put(known.canonical, _made_anew(known, dict.fromkeys(query.named_selects)))
        else:
            self._unread(statement)

    def _dropped_ones(self) -> Iterator[Model]:
        return (self._before[name] for name, model in self.models.items() if model is None)

    def _alter(self, statement: "Expr", action: "Expr") -> None:
        change = _ACTIONS.get(action.key)
        if change is not None:
            self._change(statement.this, lambda model: change(model, action))
        elif action.key == "alterrename":
            self._rename(statement.this, action)
        elif action.key not in _HARMLESS and self._model(statement.this) is not None:
            self._unread(statement)

    def _rename(self, table: "Expr", action: "Expr") -> None:
        if (model := self._model(table)) is not None:
            renamed = replace(model, name=action.this.name)
            self._put(model.canonical, None)
            self._before[model.canonical] = model
            self._put(renamed.canonical, renamed)


def _is_called(model: Model, table: "Expr") -> bool:
    return bool(table.name.lower() == model.name.lower())


def _made_anew(known: Model, columns: Mapping[str, Any]) -> Model:
    """A model with the columns that a table is made with, each with its type if that is told; what is computed stays."""
    before = {part.name.lower(): part for part in known.parts if part.kind == "column"}
    made = []
    for name, kind in columns.items():
        part = before.get(name.lower(), Part(name=name))
        made.append(replace(part, type=_told_as(part, kind)))
    return replace(known, parts=(*made, *(part for part in known.parts if part.kind != "column")))


def _column(definition: "Expr") -> Part:
    kind = definition.args.get("kind")
    return Part(name=definition.name, type=None if kind is None else kind.sql())


def _same(part: Part, name: str) -> bool:
    return part.kind == "column" and part.name.lower() == name.lower()


def _dropped(model: Model, action: "Expr") -> Model:
    named = [*(action.args.get("tables") or ()), *filter(None, [action.args.get("this")])]
    gone = {each.name.lower() for each in named}
    if str(action.args.get("kind") or "").upper() != "COLUMN":
        return model
    kept = tuple(part for part in model.parts if part.kind != "column" or part.name.lower() not in gone)
    return replace(model, parts=kept)


def _added(model: Model, action: "Expr") -> Model:
    if any(_same(part, action.name) for part in model.parts):
        return model
    last = max((place for place, part in enumerate(model.parts) if part.kind == "column"), default=-1)
    parts = [*model.parts[: last + 1], _column(action), *model.parts[last + 1 :]]
    return replace(model, parts=tuple(parts))


def _mapped(model: Model, name: str, change: Callable[[Part], Part]) -> Model:
    return replace(model, parts=tuple(change(part) if _same(part, name) else part for part in model.parts))


def _renamed(model: Model, action: "Expr") -> Model:
    return _mapped(model, action.this.name, lambda part: replace(part, name=action.args["to"].name))


def _retyped(model: Model, action: "Expr") -> Model:
    dtype = action.args.get("dtype")
    if dtype is None:
        return model
    return _mapped(model, action.this.name, lambda part: replace(part, type=_told_as(part, dtype)))


def _modified(model: Model, action: "Expr") -> Model:
    """MySQL's way to give a column another type, and perhaps another name."""
    definition, old = action.this, action.args.get("rename_from")
    fresh = _column(definition)
    return _mapped(
        model,
        old.name if old is not None else definition.name,
        lambda part: replace(part, name=fresh.name, type=_told_as(part, definition.args.get("kind"))),
    )


def _told_as(part: Part, dtype: Any) -> str | None:
    """The type as the migration writes it; as it was, if that is another spelling of the same."""
    if dtype is None:
        return part.type
    return part.type if part.type and _is_spelled(part.type, dtype) else str(dtype.sql())


def _is_spelled(known: str, dtype: Any) -> bool:
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        return bool(exp.DataType.build(known) == dtype)
    except (SqlglotError, ValueError):
        return known.upper() == str(dtype.sql()).upper()


_ACTIONS: Final[dict[str, Callable[[Model, Any], Model]]] = {
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
