"""WHAT do dbt's semantic models and metrics say of a model? Its measures, computed columns, joins and time dimension."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from onrecord.catalog.naming import legal_name
from onrecord.catalog.sources.dbt_artifacts import ArtifactPart
from onrecord.model.catalog import Join, Model, Part

_AGGREGATIONS: Final = {"average": "avg", "sum_boolean": "sum"}
#: The entities of a semantic model that identify one of its rows.
_KEYS: Final = ("primary", "unique", "natural")
_TIME: Final = "default_time_dimension"
#: How a metric aggregates by itself, if it uses no measure.
_OWN: Final = "metric_aggregation_params"


class DbtSemantics:
    """The semantic models of a manifest by the model that each builds on, and its metrics by their measures.

    `names` are the names of the models in the catalog, by their unique ids.
    """

    def __init__(self, manifest: ArtifactPart, names: Mapping[str, str]) -> None:
        self._names = names
        self._metrics = {each.needed("name"): each for each in manifest.pieces("metrics").values()}
        self._semantics: dict[str, list[ArtifactPart]] = {}
        self._built_on: dict[str, str] = {}
        self._homeless: list[str] = []
        for semantic in manifest.pieces("semantic_models").values():
            on = next((each for each in semantic.piece("depends_on").texts("nodes") if each in names), None)
            if on is None:
                self._homeless.append(semantic.needed("name"))
            else:
                self._built_on[semantic.needed("name")] = on
                self._semantics.setdefault(on, []).append(semantic)
        self._measured = {
            measure.needed("name"): on
            for on, semantics in self._semantics.items()
            for semantic in semantics
            for measure in semantic.several("measures")
        }

    def notes(self) -> list[str]:
        """Definitions on models that are not in the catalog."""
        lost = [*self._homeless, *(name for name in self._metrics if self._home(name) is None)]
        return (
            [f"Left out, since their models are not in the catalog: {', '.join(sorted(lost))}"]
            if lost
            else []
        )

    def added_to(self, unique_id: str, model: Model) -> Model:
        """The model with all that is defined on it."""
        semantics = self._semantics.get(unique_id, [])
        metrics = {name: each for name, each in self._metrics.items() if self._home(name) == unique_id}
        if not semantics and not metrics:
            return model
        parts = {part.name: part for part in model.parts}
        for semantic in semantics:
            for entity in semantic.several("entities"):
                _mark_key(parts, entity)
            for dimension in semantic.several("dimensions"):
                _add_dimension(parts, dimension)
        measures = {
            measure.needed("name"): _add(parts, _measure(measure), "measure")
            for semantic in semantics
            for measure in semantic.several("measures")
        }
        _add_metrics(parts, metrics, measures)
        times = [semantic.piece("defaults").text("agg_time_dimension") for semantic in semantics]
        time = next(filter(None, times), None)
        joins = dict.fromkeys([*model.joins, *self._joins(unique_id, semantics)])
        return replace(
            model,
            parts=tuple(parts.values()),
            joins=tuple(sorted(joins, key=lambda join: (join.target, join.pairs))),
            details={**model.details, **({_TIME: legal_name(time)} if time else {})},
        )

    def _joins(self, unique_id: str, semantics: Sequence[ArtifactPart]) -> Iterator[Join]:
        """Joins from an entity column to the model whose rows that entity identifies."""
        for semantic in semantics:
            for entity in semantic.several("entities"):
                if entity.text("type") in _KEYS:
                    continue
                for target, key in self._keys_of(entity.needed("name")):
                    if target != unique_id:
                        yield Join(target=self._names[target], pairs=((_column(entity), key),))

    def _keys_of(self, name: str) -> Iterator[tuple[str, str]]:
        for on, semantics in self._semantics.items():
            for semantic in semantics:
                for entity in semantic.several("entities"):
                    if entity.needed("name") == name and entity.text("type") in _KEYS:
                        yield on, _column(entity)

    def _home(self, metric: str, seen: frozenset[str] = frozenset()) -> str | None:
        """The model of the first measure that a metric uses, directly or through other metrics."""
        if metric not in self._metrics or metric in seen:
            return None
        params = self._metrics[metric].piece("type_params")
        if semantic := params.piece(_OWN).text("semantic_model"):
            return self._built_on.get(semantic)
        inputs = (each.text("name") for each in _inputs(params))
        homes = (self._measured.get(name) or self._home(name, seen | {metric}) for name in inputs if name)
        return next(filter(None, homes), None)


def _inputs(params: ArtifactPart) -> list[ArtifactPart]:
    """The measures and metrics that a metric uses, wherever its kind names them; the nearest first."""
    conversion, cumulative = params.piece("conversion_type_params"), params.piece("cumulative_type_params")
    single = [
        *(params.piece(each) for each in ("measure", "numerator", "denominator")),
        *(conversion.piece(each) for each in ("base_measure", "conversion_measure")),
        cumulative.piece("metric"),
    ]
    several = [each for key in ("metrics", "input_measures") for each in params.several(key)]
    return list(filter(None, [*single, *several]))


def _column(entity: ArtifactPart) -> str:
    return legal_name(entity.text("expr") or entity.needed("name"))


def _mark_key(parts: dict[str, Part], entity: ArtifactPart) -> None:
    """The column of a primary entity identifies a row."""
    column = parts.get(_column(entity))
    if column is not None and entity.text("type") == "primary":
        parts[column.name] = replace(column, details={**column.details, "primary_key": True})


def _add_dimension(parts: dict[str, Part], dimension: ArtifactPart) -> None:
    """A dimension that is a column describes it; one that is computed is a column of its own."""
    name, expression = legal_name(dimension.needed("name")), dimension.text("expr")
    known = parts.get(name) or parts.get(expression or "")
    description, label = dimension.text("description"), dimension.text("label")
    if known is not None:
        merged = replace(known, description=known.description or description, label=known.label or label)
        parts[known.name] = merged
    else:
        details = {"sql": expression} if expression and expression != name else {}
        parts[name] = Part(name=name, description=description, label=label, details=details)


def _add(parts: dict[str, Part], part: Part, noun: str) -> str:
    """Add it under its own name, or under a longer one if a column or another computed part has that name."""
    name, number = part.name, 2
    while name in parts:
        name = f"{part.name}_{noun}" if number == 2 else f"{part.name}_{noun}_{number}"
        number += 1
    parts[name] = replace(part, name=name)
    return name


def _add_metrics(
    parts: dict[str, Part], metrics: Mapping[str, ArtifactPart], measures: Mapping[str, str]
) -> None:
    """Add the metrics, whose formulas use the names that measures and other metrics have got here.

    A metric that only shows the measure of its name becomes that measure, with the metric's description.
    """
    names: dict[str, str] = {}
    for name, metric in metrics.items():
        computed = _computed(metric, "")
        if name in measures and _only_shows(metric) == name:
            names[name] = measures[name]
            known = parts[names[name]]
            says = {
                what: getattr(computed, what) or getattr(known, what)
                for what in ("description", "label", "tags")
            }
            parts[known.name] = replace(known, **says)
        else:
            names[name] = _add(parts, computed, "metric")
    for name, metric in metrics.items():
        if names[name] != measures.get(name):
            part = parts[names[name]]
            formula = _formula(metric, measures, names)
            parts[part.name] = replace(part, details={"formula": formula, **part.details})


def _only_shows(metric: ArtifactPart) -> str | None:
    """The measure that a metric shows as it is."""
    measure = metric.piece("type_params").piece("measure")
    is_plain = metric.text("type") == "simple" and not _filters(metric) and not _filters(measure)
    return measure.text("name") if is_plain else None


def _measure(measure: ArtifactPart) -> Part:
    return _computed(measure, _aggregated(measure, measure.needed("name")))


def _aggregated(measure: ArtifactPart, name: str) -> str:
    """A column and how it is aggregated, as in `amount:sum`; an expression as in `sum(amount * 2)`."""
    expression = measure.text("expr") or name
    how = measure.text("agg") or "sum"
    how = _AGGREGATIONS.get(how, how)
    share = measure.piece("agg_params").values.get("percentile")
    if legal_name(expression) == expression:
        formula = f"{expression}:{how}" + (f"(p={share})" if share is not None else "")
    else:
        formula = f"{how}({expression}" + (f", p={share})" if share is not None else ")")
    over = measure.piece("non_additive_dimension")
    if not over:
        return formula
    return (
        f"{formula} at the {'first' if over.text('window_choice') == 'min' else 'last'} {over.needed('name')}"
    )


def _formula(metric: ArtifactPart, measures: Mapping[str, str], names: Mapping[str, str]) -> str:
    """How a metric is computed; its inputs have the names by which they are known here."""
    params, kind = metric.piece("type_params"), metric.text("type")
    if own := params.piece(_OWN):
        return _aggregated(own, metric.needed("name"))
    from_measures = {**names, **measures}
    match kind:
        case "simple":
            return _input(params.piece("measure"), from_measures)
        case "ratio":
            both = (params.piece(each) for each in ("numerator", "denominator"))
            return " / ".join(_input(each, {**measures, **names}) for each in both)
        case "derived":
            inputs = [(each, _input(each, {**measures, **names})) for each in params.several("metrics")]
            called = {each.text("alias") or each.needed("name"): meant for each, meant in inputs}
            other = [f"{name} = {meant}" for name, meant in called.items() if name != meant]
            return (params.text("expr") or "") + (f" where {', '.join(other)}" if other else "")
    details = params.piece(f"{kind}_type_params")
    arguments = dict.fromkeys(
        _input(each, from_measures) for each in _inputs(params) if each.text("name") is not None
    )
    options = {
        "window": _window(details.piece("window") or params.piece("window")),
        "grain_to_date": details.text("grain_to_date") or params.text("grain_to_date"),
        "entity": details.text("entity"),
        "calculation": details.text("calculation"),
    }
    return (
        f"{kind}({', '.join([*arguments, *(f'{name}={value}' for name, value in options.items() if value)])})"
    )


def _input(reference: ArtifactPart, known: Mapping[str, str]) -> str:
    """An input by its name here; in brackets what is taken of it."""
    name = reference.text("name") or ""
    offset, grain = _window(reference.piece("offset_window")), reference.text("offset_to_grain")
    taken = [f"{offset} earlier"] if offset else []
    taken += [f"at the start of the {grain}"] if grain else []
    taken += [f"where {filters}"] if (filters := _filters(reference)) else []
    return known.get(name, name) + (f" ({', '.join(taken)})" if taken else "")


def _window(window: ArtifactPart) -> str | None:
    return f"{window.number('count')} {window.needed('granularity')}" if window else None


def _filters(owner: ArtifactPart) -> str:
    filters = [each.text("where_sql_template") for each in owner.piece("filter").several("where_filters")]
    return " and ".join(each.strip() for each in filters if each)


def _computed(definition: ArtifactPart, formula: str) -> Part:
    details = {"formula": formula, "filter": _filters(definition), "meta": definition.meta()}
    return Part(
        name=legal_name(definition.needed("name")),
        kind="measure",
        description=definition.text("description"),
        label=definition.text("label"),
        tags=definition.tags(),
        details={what: value for what, value in details.items() if value},
    )
