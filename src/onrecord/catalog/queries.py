"""WHAT is a query of the semantic layer? Its fields, read from JSON with every fault at once, and written back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal, NamedTuple, TypeGuard, cast, get_args

from onrecord.catalog.formulas import Mention, Unreadable, mentions_in_filter, mentions_in_formula
from onrecord.errors import Fault, Invalid
from onrecord.model.catalog import Join, Part, PartKind
from onrecord.model.rules import FLAG, Choice, Integer, Json, Rule, Text

Granularity = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
SortDirection = Literal["asc", "desc"]

QUERY_VERSION: Final = 3
MODEL_VERSION: Final = 6
BUILT_IN_AGGREGATIONS: Final = frozenset(
    """
    sum avg min max count count_distinct first last weighted_avg median percentile stddev_samp stddev_pop var_samp
    var_pop corr covar_samp covar_pop
    """.split()
)
#: They part the steps of a path, in a reference and in the SQL that is made from it.
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
    """A model that is written out in the query instead of being named."""

    name: str
    data_source: str | None
    sql_table: str | None
    sql: str | None
    source_queries: tuple["ModelQuery", ...]
    parts: tuple[Part, ...]
    joins: tuple[Join, ...]
    #: As it was written.
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExtension:
    """A model by its name, with more parts and joins for this query alone."""

    source_name: str
    parts: tuple[Part, ...]
    joins: tuple[Join, ...]
    #: As it was written.
    definition: Mapping[str, Any]


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
    """Whether it is a query over models, and not some other JSON or text that a memory may carry."""
    return isinstance(value, Mapping) and "source_model" in value


def read_query(value: Mapping[str, Any]) -> ModelQuery:
    """A query as JSON has it; Invalid lists everything that is wrong with it, each with its place."""
    if not isinstance(value, Mapping):
        raise Invalid([Fault("query", f"must be a query, which is an object, not {type(value).__name__}")])
    try:
        clean = Json()(value)
    except ValueError as reason:
        raise Invalid([Fault("query", str(reason))]) from None
    place = _Place("", [])
    query = _query(clean, place)
    if place.faults:
        raise Invalid(place.faults)
    return cast(ModelQuery, query)


def to_json(query: ModelQuery) -> dict[str, Any]:
    """What `read_query` reads as the same query; what was left out stays left out."""
    return cast(dict[str, Any], _written(query))


def _written(value: Any) -> Any:
    if isinstance(value, InlineModel | ModelExtension):
        return dict(value.definition)
    if is_dataclass(value):
        known = ((each.name, getattr(value, each.name)) for each in fields(value))
        return {name: _written(item) for name, item in known if item not in (None, ()) and item is not False}
    return [_written(item) for item in value] if isinstance(value, tuple) else value


class _Place(NamedTuple):
    """Where in a query one stands, and what was found wrong so far."""

    path: str
    faults: list[Fault]

    def field(self, name: str) -> "_Place":
        return _Place(f"{self.path}.{name}" if self.path else name, self.faults)

    def item(self, number: int) -> "_Place":
        return _Place(f"{self.path}[{number}]", self.faults)

    def fault(self, message: str) -> None:
        self.faults.append(Fault(self.path or "query", message))


#: Gives back the clean value; where there is none, a fault says why and what comes back does not matter.
_Read = Callable[[Any, _Place], Any]


class _Field(NamedTuple):
    read: _Read
    required: bool = False


class _Shape(NamedTuple):
    noun: str
    fields: Mapping[str, _Field]


def _ruled(rule: Rule) -> _Read:
    def read(value: Any, place: _Place) -> Any:
        try:
            return rule(value)
        except ValueError as reason:
            place.fault(str(reason))
            return None

    return read


def _list_of(each: _Read, *, at_least: int = 0) -> _Read:
    def read(value: Any, place: _Place) -> tuple[Any, ...]:
        if not isinstance(value, list):
            place.fault(f"must be a list, not {type(value).__name__}")
            return ()
        if len(value) < at_least:
            place.fault("must not be empty")
        return tuple(each(item, place.item(number)) for number, item in enumerate(value))

    return read


def _object(shape: _Shape, value: Any, place: _Place) -> dict[str, Any] | None:
    """The fields that were given and are right, or None if something is wrong with any of them."""
    faults_before = len(place.faults)
    if not isinstance(value, Mapping):
        place.fault(f"must be {shape.noun}, which is an object, not {type(value).__name__}")
        return None
    for name in value:
        if name not in shape.fields:
            near = get_close_matches(name, shape.fields, n=1)
            hint = f"; did you mean {near[0]}?" if near else f", which has {', '.join(shape.fields)}"
            place.field(name).fault(f"is not a field of {shape.noun}{hint}")
    clean = {}
    for name, field in shape.fields.items():
        if value.get(name) is not None:
            clean[name] = field.read(value[name], place.field(name))
        elif field.required:
            place.field(name).fault("is missing")
    return clean if len(place.faults) == faults_before else None


def _formula(value: Any, place: _Place) -> Any:
    return _readable(value, place, mentions_in_formula)


def _filter(value: Any, place: _Place) -> Any:
    return _readable(value, place, mentions_in_filter)


def _readable(value: Any, place: _Place, mentions: Callable[[str], tuple[Mention, ...]]) -> Any:
    text = _text(value, place)
    if text is not None:
        try:
            mentions(text)
        except Unreadable as unreadable:
            place.fault(unreadable.reason)
    return text


def _plain_name(value: Any) -> str:
    name = Text(at_least=1)(value)
    if bad := [mark for mark in _FORBIDDEN_IN_NAMES if mark in name]:
        raise ValueError(f"must not contain {' or '.join(map(repr, bad))} (got {name!r})")
    return name


def _anything(value: Any, _place: _Place) -> Any:
    return value


def _version(number: int) -> _Read:
    def read(value: Any, place: _Place) -> int:
        if value != number:
            place.fault(f"must be {number} (got {value!r})")
        return number

    return read


def _made(build: Callable[..., Any], shape: _Shape, *, short_for: str | None = None) -> _Read:
    """An object of some shape; a text alone may be short for the one field that matters."""

    def read(value: Any, place: _Place) -> Any:
        whole = {short_for: value} if short_for and isinstance(value, str) else value
        clean = _object(shape, whole, place)
        return None if clean is None else build(**clean)

    return read


def _dimension(value: Any, place: _Place) -> Dimension | None:
    clean = _object(_DIMENSION, {"name": value} if isinstance(value, str) else value, place)
    if clean is None:
        return None
    *path, leaf = clean["name"].split(".")
    if path and "model" in clean:
        place.field("model").fault(f"is given twice: the name {clean['name']!r} has a path already")
    elif "model" in clean:
        path = clean["model"].split(".")
    for step in (*path, leaf):
        _name(step, place)
    return Dimension(name=leaf, model=".".join(path) or None, label=clean.get("label"))


def _date_range(value: Any, place: _Place) -> tuple[str, str] | None:
    ends = _list_of(_text)(value, place)
    if isinstance(value, list) and len(ends) != 2:
        place.fault(f"must have two entries, its first and its last day (has {len(ends)})")
        return None
    return cast(tuple[str, str], ends)


def _sorted_by(value: Any, place: _Place) -> str | None:
    """A formula, or a column as a dimension has it."""
    if isinstance(value, str):
        return cast(str | None, _text(value, place))
    dimension = _dimension(value, place)
    return dimension.path if dimension else None


def _source_model(value: Any, place: _Place) -> str | InlineModel | ModelExtension | None:
    if isinstance(value, str):
        return cast(str | None, _text(value, place))
    if isinstance(value, Mapping):
        return _extension(value, place) if "source_name" in value else _inline_model(value, place)
    place.fault(
        "must be the name of a model, a model (an object with `name`), or an extension of one "
        f"(an object with `source_name`), not {type(value).__name__}"
    )
    return None


def _extension(value: Mapping[str, Any], place: _Place) -> ModelExtension | None:
    clean = _object(_EXTENSION, value, place)
    if clean is None:
        return None
    parts = _parts(clean, place)
    return ModelExtension(
        source_name=clean["source_name"], parts=parts, joins=clean.get("joins", ()), definition=value
    )


def _inline_model(value: Mapping[str, Any], place: _Place) -> InlineModel | None:
    clean = _object(_MODEL, value, place)
    if clean is None:
        return None
    bodies = [name for name in ("sql_table", "sql", "source_queries") if name in clean]
    if len(bodies) != 1:
        place.fault(
            f"needs exactly one of sql_table, sql and source_queries (has {', '.join(bodies) or 'none'})"
        )
    if "data_source" not in clean and bodies != ["source_queries"]:
        place.field("data_source").fault("is missing; only a model made of source_queries has none")
    return InlineModel(
        name=clean["name"],
        data_source=clean.get("data_source"),
        sql_table=clean.get("sql_table"),
        sql=clean.get("sql"),
        source_queries=clean.get("source_queries", ()),
        parts=_parts(clean, place),
        joins=clean.get("joins", ()),
        definition=value,
    )


def _parts(clean: Mapping[str, Any], place: _Place) -> tuple[Part, ...]:
    columns, measures = clean.get("columns", ()), clean.get("measures", ())
    taken: set[str] = set()
    for part in (*columns, *measures):
        if part.name in taken:
            place.fault(f"has more than one column or measure called {part.name!r}")
        taken.add(part.name)
    return (*columns, *measures, *clean.get("aggregations", ()))


def _part_of(shape: _Shape, kind: PartKind) -> _Read:
    def read(value: Any, place: _Place) -> Part | None:
        clean = _object(shape, value, place)
        if clean is None:
            return None
        if kind == "aggregation" and "formula" not in clean and clean["name"] not in BUILT_IN_AGGREGATIONS:
            place.field("formula").fault(f"is missing; {clean['name']!r} is not a built-in aggregation")
        return Part(
            name=clean["name"],
            kind=kind,
            description=clean.get("description"),
            label=clean.get("label"),
            type=clean.get("type"),
        )

    return read


def _join(value: Any, place: _Place) -> Join | None:
    clean = _object(_JOIN, value, place)
    if clean is None:
        return None
    return Join(target=clean["target_model"], pairs=clean["join_pairs"], kind=clean.get("join_type", "left"))


def _join_pair(value: Any, place: _Place) -> tuple[str, str] | None:
    pair = _list_of(_text)(value, place)
    if isinstance(value, list) and len(pair) != 2:
        place.fault(f"must have two entries, a column here and a column there (has {len(pair)})")
    return cast(tuple[str, str], pair)


def _query(value: Any, place: _Place) -> ModelQuery | None:
    clean = _object(_QUERY, value, place)
    # A part of it may have been refused after its fields were read.
    return None if clean is None or place.faults else ModelQuery(**clean)


_text: Final = _ruled(Text(at_least=1))
_note: Final = _ruled(Text())
_name: Final = _ruled(_plain_name)
_mapping: Final = _ruled(Json())
_flag: Final = _ruled(FLAG)
_count: Final = _ruled(Integer(0, _MOST_ROWS))

_DIMENSION: Final = _Shape(
    "a dimension", {"name": _Field(_text, required=True), "model": _Field(_text), "label": _Field(_note)}
)
_TIME_DIMENSION: Final = _Shape(
    "a time dimension",
    {
        "dimension": _Field(_dimension, required=True),
        "granularity": _Field(_ruled(Choice(get_args(Granularity))), required=True),
        "date_range": _Field(_date_range),
        "label": _Field(_note),
    },
)
_MEASURE: Final = _Shape(
    "a measure",
    {
        "formula": _Field(_formula, required=True),
        "name": _Field(_name),
        "label": _Field(_note),
        "description": _Field(_note),
        "type": _Field(_text),
        "meta": _Field(_mapping),
    },
)
_ORDERING: Final = _Shape(
    "an entry of the order",
    {
        "column": _Field(_sorted_by, required=True),
        "direction": _Field(_ruled(Choice(get_args(SortDirection)))),
    },
)
_COLUMN: Final = _Shape(
    "a column",
    {
        "name": _Field(_name, required=True),
        "sql": _Field(_text),
        "type": _Field(_text),
        "primary_key": _Field(_flag),
        "description": _Field(_note),
        "label": _Field(_note),
        "hidden": _Field(_flag),
        "format": _Field(_anything),
        "allowed_aggregations": _Field(_list_of(_text)),
        "filter": _Field(_text),
        "meta": _Field(_mapping),
        "sampled": _Field(_anything),
    },
)
_NAMED_MEASURE: Final = _Shape(
    "a measure of a model", {**_MEASURE.fields, "name": _Field(_name, required=True)}
)
_PARAMETER: Final = _Shape(
    "a parameter", {"name": _Field(_name, required=True), "sql": _Field(_text, required=True)}
)
_AGGREGATION: Final = _Shape(
    "an aggregation",
    {
        "name": _Field(_name, required=True),
        "formula": _Field(_text),
        "params": _Field(_list_of(_made(dict, _PARAMETER))),
        "description": _Field(_note),
        "meta": _Field(_mapping),
    },
)
_JOIN: Final = _Shape(
    "a join",
    {
        "target_model": _Field(_name, required=True),
        "join_pairs": _Field(_list_of(_join_pair, at_least=1), required=True),
        "join_type": _Field(_ruled(Choice(("left", "inner")))),
    },
)
_ADDITIONS: Final = {
    "columns": _Field(_list_of(_part_of(_COLUMN, "column"))),
    "measures": _Field(_list_of(_part_of(_NAMED_MEASURE, "measure"))),
    "joins": _Field(_list_of(_join)),
}
_EXTENSION: Final = _Shape(
    "an extension of a model", {"source_name": _Field(_text, required=True), **_ADDITIONS}
)
_MODEL: Final = _Shape(
    "a model",
    {
        "version": _Field(_version(MODEL_VERSION)),
        "name": _Field(_name, required=True),
        "sql_table": _Field(_text),
        "sql": _Field(_text),
        "source_queries": _Field(_list_of(_query, at_least=1)),
        "data_source": _Field(_text),
        **_ADDITIONS,
        "aggregations": _Field(_list_of(_part_of(_AGGREGATION, "aggregation"))),
        "filters": _Field(_list_of(_text)),
        "default_time_dimension": _Field(_text),
        "description": _Field(_note),
        "hidden": _Field(_flag),
        "meta": _Field(_mapping),
        "query_variables": _Field(_mapping),
    },
)
_QUERY: Final = _Shape(
    "a query",
    {
        "version": _Field(_version(QUERY_VERSION)),
        "name": _Field(_name),
        "source_model": _Field(_source_model, required=True),
        "measures": _Field(_list_of(_made(QueryMeasure, _MEASURE, short_for="formula"))),
        "dimensions": _Field(_list_of(_dimension)),
        "time_dimensions": _Field(_list_of(_made(TimeDimension, _TIME_DIMENSION))),
        "main_time_dimension": _Field(_text),
        "filters": _Field(_list_of(_filter)),
        "variables": _Field(_mapping),
        "order": _Field(_list_of(_made(Ordering, _ORDERING))),
        "limit": _Field(_count),
        "offset": _Field(_count),
        "whole_periods_only": _Field(_flag),
    },
)
