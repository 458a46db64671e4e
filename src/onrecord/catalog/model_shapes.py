"""WHAT does a model look like in writing? Its fields, both in a file of its own and inside a query."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from onrecord.errors import Fault
from onrecord.model.catalog import SAMPLED, Details, Form, Join, Part, PartKind
from onrecord.model.rules import FLAG, Choice, Integer, Json, Rule, Text
from onrecord.model.shapes import Object, Pair, Several

MODEL_VERSION: Final = 7
BUILT_IN_AGGREGATIONS: Final = frozenset(
    """
    sum avg min max count count_distinct first last weighted_avg median percentile stddev_samp stddev_pop var_samp
    var_pop corr covar_samp covar_pop
    """.split()
)
#: The form of a model, by the field that defines it.
FORM_OF: Final[Mapping[str, Form]] = {"sql_table": "table", "sql": "sql", "source_queries": "query"}
TEXT: Final = Text(at_least=1)
NOTE: Final = Text()
NOTES: Final = Several(NOTE)
OBJECT: Final = Json()
_DEFAULT_TYPE: Final = "TEXT"


def _format(value: Any) -> Any:
    return NOTE(value) if isinstance(value, str) else OBJECT(value)


def _sampled(value: Any) -> str:
    """Sample values as one text; a list is joined to one."""
    return NOTE(value) if isinstance(value, str) else ", ".join(Several(_as_text)(value))


def _as_text(value: Any) -> str:
    if isinstance(value, list | Mapping):
        raise ValueError("must be a plain value")
    return NOTE(value) if isinstance(value, str) else json.dumps(value)


def kept(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The fields that are not empty."""
    fields = {name: list(value) if isinstance(value := given.get(name), tuple) else value for name in names}
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, False)}


def tags_of(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Its own tags, then those from `meta`."""
    noted = given.get("meta", {}).get("tags")
    is_texts = isinstance(noted, list) and all(isinstance(tag, str) for tag in noted)
    return tuple(dict.fromkeys([*given.get("tags", ()), *(noted if is_texts else ())]))


def _part(kind: PartKind, *details: str) -> Callable[..., Part]:
    def build(**given: Any) -> Part:
        # Since version 7 sample values may be a list, in addition to the text or instead of it.
        given.setdefault(SAMPLED, given.get("sampled_values"))
        known: Details = kept(given, *details)
        return Part(
            name=given["name"],
            kind=kind,
            description=given.get("description") or None,
            label=given.get("label") or None,
            type=given.get("type", _DEFAULT_TYPE if kind == "column" else None),
            hidden=given.get("hidden", False),
            tags=tags_of(given),
            details=known,
        )

    return build


def _join(target_model: str, join_pairs: Any, join_type: Any = "left", **_unkept: Any) -> Join:
    return Join(target=target_model, pairs=join_pairs, kind=join_type)


def _needs_formula(given: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[Fault]:
    if asked.get("formula") is None and given.get("name") not in (None, *BUILT_IN_AGGREGATIONS):
        yield Fault("formula", f"is missing; {given['name']!r} is not a built-in aggregation")


_JOIN_PAIR: Final = Pair(TEXT, "a column here and a column there")


def model_fields(name: Rule, query: Rule, measure: Object) -> dict[str, Rule]:
    """The fields of a model, given the rules of a name, a query and a measure in that place."""
    described: dict[str, Rule] = {"name": name, "description": NOTE, "tags": NOTES, "meta": OBJECT}
    column = Object(
        "a column",
        {
            **described,
            "label": NOTE,
            "sql": NOTE,
            "type": NOTE,
            "primary_key": FLAG,
            "hidden": FLAG,
            "format": _format,
            "allowed_aggregations": NOTES,
            "filter": NOTE,
            "sampled": _sampled,
            "sampled_values": _sampled,
            "distinct_count": Integer(0),
        },
        needed=("name",),
        build=_part(
            "column",
            *(
                "sql",
                "filter",
                "format",
                "allowed_aggregations",
                "primary_key",
                "sampled",
                "distinct_count",
                "meta",
            ),
        ),
    )
    parameter = Object("a parameter", {"name": name, "sql": NOTE}, needed=("name", "sql"))
    aggregation = Object(
        "an aggregation",
        {**described, "formula": NOTE, "params": Several(parameter)},
        needed=("name",),
        between=_needs_formula,
        build=_part("aggregation", "formula", "meta", "params"),
    )
    join = Object(
        "a join",
        {
            "target_model": name,
            "join_pairs": Several(_JOIN_PAIR, at_least=1),
            "join_type": Choice(("left", "inner")),
            "description": NOTE,
            "meta": OBJECT,
        },
        needed=("target_model", "join_pairs"),
        build=_join,
    )
    return {
        **described,
        "label": NOTE,
        "sql_table": TEXT,
        "sql": TEXT,
        "source_queries": Several(query, at_least=1),
        "columns": Several(column),
        "measures": Several(measure),
        "aggregations": Several(aggregation),
        "joins": Several(join),
        "filters": NOTES,
        "default_time_dimension": NOTE,
        "hidden": FLAG,
        "query_variables": OBJECT,
        "backing_query_sql": NOTE,
    }


def measure_of_model(fields: Mapping[str, Rule], needed: tuple[str, ...]) -> Object:
    return Object("a measure of a model", fields, needed=needed, build=_part("measure", "formula", "meta"))


def parts_of(given: Mapping[str, Any]) -> tuple[Part, ...]:
    return (*given.get("columns", ()), *given.get("measures", ()), *given.get("aggregations", ()))


def model_faults(given: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong between the fields of a model."""
    bodies = [name for name, value in asked.items() if name in FORM_OF and value is not None]
    if len(bodies) != 1:
        yield Fault(
            bodies[1] if bodies else "",
            f"needs exactly one of sql_table, sql and source_queries (has {' and '.join(bodies) or 'none'})",
        )
    if asked.get("data_source") is None and "source_queries" not in bodies:
        yield Fault("data_source", "is missing; only a model made of source_queries has none")
    yield from name_faults(given)


def name_faults(given: Mapping[str, Any], _asked: Mapping[str, Any] | None = None) -> Iterator[Fault]:
    """Columns and measures share one namespace; aggregations have their own."""
    for kinds in (("columns", "measures"), ("aggregations",)):
        taken: dict[str, str] = {}
        for kind in kinds:
            for number, part in enumerate(given.get(kind, ())):
                place = f"{kind}[{number}]"
                if (first := taken.setdefault(part.name, place)) != place:
                    yield Fault(f"{place}.name", f"{part.name!r} is the name of {first} already")
