"""WHAT is a query of the semantic layer? Its fields, read from JSON with every fault at once, and written back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Final, Literal, TypeGuard, cast, get_args

from onrecord.catalog.formulas import (
    NameInFormula,
    UnreadableFormula,
    mentions_in_filter,
    mentions_in_formula,
)
from onrecord.catalog.model_shapes import (
    MODEL_VERSION,
    NOTE,
    OBJECT,
    TEXT,
    measure_of_model,
    model_faults,
    model_fields,
    name_faults,
    parts_of,
)
from onrecord.errors import Fault, Invalid
from onrecord.model.catalog import Join, Part
from onrecord.model.rules import FLAG, Choice, Integer, Rule, type_of
from onrecord.model.shapes import Exactly, Faults, Object, Pair, Several, faults_at

Granularity = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
SortDirection = Literal["asc", "desc"]

QUERY_VERSION: Final = 3
#: They separate the steps of a path in references and in generated SQL.
_FORBIDDEN_IN_NAMES: Final = ("__", ".", ":")
_MOST_ROWS: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMeasure:
    """A value to compute; `name` is what the result calls it."""

    formula: str
    name: str | None = None
    label: str | None = None
    description: str | None = None
    type: str | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A column to group by; `model` is the path of joins that leads to it."""

    name: str
    model: str | None = None
    label: str | None = None

    @property
    def path(self) -> str:
        return f"{self.model}.{self.name}" if self.model else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDimension:
    """A column of times, to group by in steps."""

    dimension: Dimension
    granularity: Granularity
    date_range: tuple[str, str] | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """What the rows are sorted by: a column, or a formula such as `amount:sum`."""

    column: str
    direction: SortDirection = "asc"


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineModel:
    """A model that a query defines itself instead of naming one."""

    name: str
    data_source: str | None
    sql_table: str | None
    sql: str | None
    source_queries: tuple["ModelQuery", ...]
    parts: tuple[Part, ...]
    joins: tuple[Join, ...]
    #: As it was written.
    definition: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExtension:
    """A named model, with more parts and joins for this query alone."""

    source_name: str
    parts: tuple[Part, ...]
    joins: tuple[Join, ...]
    #: As it was written.
    definition: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuery:
    """What to read from which model."""

    version: int = QUERY_VERSION
    name: str | None = None
    source_model: str | InlineModel | ModelExtension
    measures: tuple[QueryMeasure, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    time_dimensions: tuple[TimeDimension, ...] = ()
    main_time_dimension: str | None = None
    filters: tuple[str, ...] = ()
    variables: Mapping[str, Any] | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int | None = None
    whole_periods_only: bool = False


def is_over_models(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is a query over models, not other JSON or text in a memory's query."""
    return isinstance(value, Mapping) and "source_model" in value


def read_query(value: Mapping[str, Any]) -> ModelQuery:
    """Read a query from JSON; Invalid lists every fault with its place."""
    try:
        return cast(ModelQuery, _QUERY(OBJECT(value) if isinstance(value, Mapping) else value))
    except ValueError as reason:
        raise Invalid(Fault(each.field or "query", each.message) for each in faults_at("", reason)) from None


def to_json(query: ModelQuery) -> dict[str, Any]:
    """The query as JSON that `read_query` reads as the same query; what was left out stays left out."""
    return cast(dict[str, Any], _written(query))


def _written(value: Any) -> Any:
    if isinstance(value, InlineModel | ModelExtension):
        return dict(value.definition)
    if is_dataclass(value):
        known = ((each.name, getattr(value, each.name)) for each in fields(value))
        return {name: _written(item) for name, item in known if item not in (None, ()) and item is not False}
    return [_written(item) for item in value] if isinstance(value, tuple) else value


def _readable(mentions: Callable[[str], tuple[NameInFormula, ...]]) -> Rule:
    def read(value: Any) -> str:
        text = TEXT(value)
        try:
            mentions(text)
        except UnreadableFormula as unreadable:
            raise ValueError(unreadable.reason) from None
        return text

    return read


def _name(value: Any) -> str:
    name = TEXT(value)
    if bad := [mark for mark in _FORBIDDEN_IN_NAMES if mark in name]:
        raise ValueError(f"must not contain {' or '.join(map(repr, bad))} (got {name!r})")
    return name


def _dimension(name: str, model: str | None = None, label: str | None = None) -> Dimension:
    *path, leaf = name.split(".")
    if path and model:
        raise Faults([Fault("model", f"is given twice: the name {name!r} already contains a path")])
    path = model.split(".") if model else path
    for step in (*path, leaf):
        _name(step)
    return Dimension(name=leaf, model=".".join(path) or None, label=label)


def _sorted_by(value: Any) -> str:
    """A formula, or a column as a dimension has it."""
    return TEXT(value) if isinstance(value, str) else cast(Dimension, _DIMENSION(value)).path


def _source_model(value: Any) -> str | InlineModel | ModelExtension:
    if isinstance(value, str):
        return TEXT(value)
    if isinstance(value, Mapping):
        shape = _EXTENSION if "source_name" in value else _MODEL
        return replace(cast(InlineModel | ModelExtension, shape(value)), definition=value)
    raise ValueError(
        "must be the name of a model, a model (an object with `name`), or an extension of one "
        f"(an object with `source_name`), not {type_of(value)}"
    )


def _extension(source_name: str, **given: Any) -> ModelExtension:
    return ModelExtension(source_name=source_name, parts=parts_of(given), joins=given.get("joins", ()))


def _inline_model(name: str, **given: Any) -> InlineModel:
    return InlineModel(
        name=name,
        data_source=given.get("data_source"),
        sql_table=given.get("sql_table"),
        sql=given.get("sql"),
        source_queries=given.get("source_queries", ()),
        parts=parts_of(given),
        joins=given.get("joins", ()),
    )


def _query(value: Any) -> ModelQuery:
    return cast(ModelQuery, _QUERY(value))


_COUNT: Final = Integer(0, _MOST_ROWS)
_DIMENSION: Final = Object(
    "a dimension",
    {"name": TEXT, "model": TEXT, "label": NOTE},
    needed=("name",),
    build=_dimension,
    short_for="name",
)
_TIME_DIMENSION: Final = Object(
    "a time dimension",
    {
        "dimension": _DIMENSION,
        "granularity": Choice(get_args(Granularity)),
        "date_range": Pair(TEXT, "its first and its last day"),
        "label": NOTE,
    },
    needed=("dimension", "granularity"),
    build=TimeDimension,
)
_MEASURE: Final = Object(
    "a measure",
    {
        "formula": _readable(mentions_in_formula),
        "name": _name,
        "label": NOTE,
        "description": NOTE,
        "type": TEXT,
        "meta": OBJECT,
    },
    needed=("formula",),
    build=QueryMeasure,
    short_for="formula",
)
_ORDERING: Final = Object(
    "an entry of the order",
    {"column": _sorted_by, "direction": Choice(get_args(SortDirection))},
    needed=("column",),
    build=Ordering,
)
_MODEL: Final = Object(
    "a model",
    {
        # Version 6 is a subset of version 7.
        "version": Integer(6, MODEL_VERSION),
        "data_source": TEXT,
        **model_fields(_name, _query, measure_of_model(_MEASURE.fields, ("name", "formula"))),
    },
    needed=("name",),
    between=model_faults,
    build=_inline_model,
)
_EXTENSION: Final = Object(
    "an extension of a model",
    {"source_name": TEXT, **{name: _MODEL.fields[name] for name in ("columns", "measures", "joins")}},
    needed=("source_name",),
    between=name_faults,
    build=_extension,
)
_QUERY: Final = Object(
    "a query",
    {
        "version": Exactly(QUERY_VERSION),
        "name": _name,
        "source_model": _source_model,
        "measures": Several(_MEASURE),
        "dimensions": Several(_DIMENSION),
        "time_dimensions": Several(_TIME_DIMENSION),
        "main_time_dimension": TEXT,
        "filters": Several(_readable(mentions_in_filter)),
        "variables": OBJECT,
        "order": Several(_ORDERING),
        "limit": _COUNT,
        "offset": _COUNT,
        "whole_periods_only": FLAG,
    },
    needed=("source_model",),
    build=ModelQuery,
)
