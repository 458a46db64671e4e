"""WHAT can a memory be about? Datasources, the models in them, and the parts of those."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, get_args

#: A part of a model: what it is made of, what is computed from it, and how.
PartKind = Literal["column", "measure", "aggregation"]
EntityKind = Literal["datasource", "model", "column", "measure", "aggregation", "system"]
Form = Literal["table", "view", "sql", "query"]
State = Literal["present", "deprecated", "gone"]

ENTITY_KINDS: Final[tuple[EntityKind, ...]] = get_args(EntityKind)
#: Under this name the details of a column hold examples of its values.
SAMPLED: Final = "sampled"
#: Under this name the details of a model say that its source does not know all of its columns.
COLUMNS_KNOWN: Final = "columns_told"
MEMORY_PREFIX: Final = "memory:"
THING_PREFIX: Final = "thing:"
SYSTEM_PREFIX: Final = "system:"
URN_PREFIX: Final = "urn:"
#: How the URN of a field begins: that of its model and its own name follow, as in `urn:li:schemaField:(urn:…,amount)`.
FIELD_URN: Final = "urn:li:schemaField:("


class FieldUrn(NamedTuple):
    """The URN of a field: the URN of its model, and its own name."""

    model: str
    name: str

    def __str__(self) -> str:
        return f"{FIELD_URN}{self.model},{self.name})"


def field_of(urn: str) -> FieldUrn | None:
    """The field that a URN means; None if it is not that of one."""
    if not urn.startswith(FIELD_URN) or not urn.endswith(")"):
        return None
    model, _, name = urn.removeprefix(FIELD_URN).removesuffix(")").rpartition(",")
    return FieldUrn(model, name) if model and name else None


#: What is known beyond the fields that every entity has; `meta` in it is kept and never indexed.
Details = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """How the rows of a model find those of another, which is looked up in the same datasource."""

    target: str
    pairs: tuple[tuple[str, str], ...]
    kind: Literal["left", "inner"] = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A column, a named measure or a custom aggregation. Columns and measures share one namespace."""

    name: str
    kind: PartKind = "column"
    description: str | None = None
    label: str | None = None
    type: str | None = None
    hidden: bool = False
    tags: tuple[str, ...] = ()
    #: Of a column: sql, filter, format, allowed_aggregations, primary_key, sampled, distinct_count, meta.
    #: Of a measure: formula, meta. Of an aggregation: formula, params, meta.
    details: Details = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A table, a view, or a query that stands for one."""

    datasource: str
    name: str
    form: Form = "table"
    description: str | None = None
    label: str | None = None
    hidden: bool = False
    tags: tuple[str, ...] = ()
    state: State = "present"
    parts: tuple[Part, ...] = ()
    joins: tuple[Join, ...] = ()
    #: The canonical names of the models that this one is made from, in whichever datasource.
    upstream: tuple[str, ...] = ()
    #: Other names under which it is known elsewhere, such as `urn:li:dataset:(…)`.
    aliases: tuple[str, ...] = ()
    #: sql_table, sql, source_queries, backing_query_sql, filters, default_time_dimension, query_variables, meta.
    details: Details = field(default_factory=dict)

    @property
    def canonical(self) -> str:
        return f"{self.datasource}.{self.name}"

    def part(self, name: str) -> Part | None:
        return next((part for part in self.parts if part.name == name), None)

    def join(self, target: str) -> Join | None:
        return next((join for join in self.joins if join.target == target), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Datasource:
    """Where models live."""

    name: str
    description: str | None = None
    hidden: bool = False
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    details: Details = field(default_factory=dict)

    @property
    def canonical(self) -> str:
        return self.name


def canonicals_of(model: Model) -> Iterator[str]:
    """The model itself and each of its parts."""
    yield model.canonical
    for part in model.parts:
        yield f"{model.canonical}.{part.name}"
