"""WHAT would a SQL migration do to the models that the catalog knows? Its DDL, read and played on them.

Only what changes tables, views and their columns counts. What changes one of them in a way that is not understood is
told, so that nobody takes it for no change.
"""

from collections.abc import Callable, Iterator, Sequence
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
_MOST_STEPS: Final = 500_000
_TABLES: Final = ("TABLE", "VIEW", "MATERIALIZED VIEW", "FOREIGN TABLE")
#: What alters a table, but none of its columns.
_HARMLESS: Final = frozenset(
    {"addconstraint", "alterindex", "altersortkey", "alterdiststyle", "addpartition", "droppartition"}
)
_SHOWN: Final = 80


class Migrated(NamedTuple):
    """The models as they would be, None for those that would be gone; and statements that were not understood."""

    models: dict[str, Model | None]
    unread: tuple[str, ...]


def migrated(sql: str, lookup: Lookup, datasource: str | None = None) -> Migrated:
    """Play the statements of a migration on the models of a catalog. Invalid if it is not SQL."""
    playing = _Playing(lookup, datasource)
    for statement in _statements(sql):
        playing.play(statement)
    return Migrated(playing.models, tuple(playing.unread))


def _statements(sql: str) -> list["Expr"]:
    """The statements in the dialect that understands most of them."""
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
    actions: Sequence[Expr] = statement.args.get("actions") or () if statement.key == "alter" else ()
    return statement.key == "command" or any(each.key == "command" for each in actions)


class _Playing:
    """Models as the statements so far have left them."""

    def __init__(self, lookup: Lookup, datasource: str | None) -> None:
        self._lookup, self._datasource = lookup, datasource
        self.models: dict[str, Model | None] = {}
        self.unread: list[str] = []

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
        elif statement.key in ("command", "execute"):
            self._command(statement)

    def _command(self, statement: "Expr") -> None:
        """A statement that the parser did not understand counts only if it may change tables."""
        text = " ".join(str(statement).split()).upper()
        if text.startswith(
            ("ALTER TABLE", "ALTER VIEW", "DROP TABLE", "DROP VIEW", "EXEC", "RENAME")
        ) and not any(
            word in text
            for word in (" OWNER TO ", " ENABLE ", " DISABLE ", " CLUSTER ON ", " REPLICA IDENTITY ")
        ):
            self._unread(statement)

    def _unread(self, statement: "Expr") -> None:
        text = " ".join(statement.sql().split())
        self.unread.append(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")

    def _model(self, table: "Expr") -> Model | None:
        names = [part.name for part in getattr(table, "parts", ()) if part.key == "identifier"]
        for canonical, model in self.models.items():
            if model and names and names[-1].lower() == model.name.lower():
                return model
            if model is None and names and canonical.lower().endswith("." + names[-1].lower()):
                return None
        try:
            return model_of_table(names, self._lookup, self._datasource) if names else None
        except AmbiguousModel as problem:
            raise invalid("datasource", problem.reason) from None

    def _change(self, table: "Expr", change: Callable[[Model], Model | None]) -> None:
        if (model := self._model(table)) is not None:
            self.models[model.canonical] = change(model)

    def _create(self, statement: "Expr") -> None:
        """A table that is made anew has the columns that are written there; a view, those that are not known here."""
        schema = statement.this
        table = schema.this if schema.key == "schema" else schema
        if schema.key != "schema":
            return
        columns = tuple(_column(each) for each in schema.expressions if each.key == "columndef")
        names = [part.name for part in table.parts]
        dropped = next(
            (name for name, model in self.models.items() if model is None and name.endswith("." + names[-1])),
            None,
        )
        known = self._model(table)
        if known is not None and statement.args.get("replace"):
            self.models[known.canonical] = replace(known, parts=(*columns, *_computed(known)))
        elif dropped is not None:
            datasource, _, name = dropped.partition(".")
            self.models[dropped] = Model(datasource=datasource, name=name, parts=columns)

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
            self.models[model.canonical] = None
            self.models[renamed.canonical] = renamed


def _computed(model: Model) -> tuple[Part, ...]:
    return tuple(part for part in model.parts if part.kind != "column")


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
