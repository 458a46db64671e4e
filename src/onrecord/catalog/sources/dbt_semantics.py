"""WHAT do dbt's semantic models and metrics say of a model? Its measures, computed columns, joins and time dimension."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from onrecord.catalog.sources.dbt_artifacts import ArtifactPart
from onrecord.catalog.sources.naming import legal_name
from onrecord.model.catalog import Join, Model, Part

_AGGREGATIONS: Final = {"average": "avg", "sum_boolean": "sum"}
#: The entities of a semantic model that stand for one of its rows.
_KEYS: Final = ("primary", "unique", "natural")
_TIME: Final = "default_time_dimension"


class DbtSemantics:
    """The semantic models of a manifest by the model that each builds on, and its metrics by their measures.

    `names` are the names of the models in the catalog, by their unique ids.
    """

    def __init__(self, manifest: ArtifactPart, names: Mapping[str, str]) -> None:
        self._names = names
        self._metrics = {each.needed("name"): each for each in manifest.pieces("metrics").values()}
        self._semantics: dict[str, list[ArtifactPart]] = {}
        self._homeless: list[str] = []
        for semantic in manifest.pieces("semantic_models").values():
            on = next((each for each in semantic.piece("depends_on").texts("nodes") if each in names), None)
            if on is None:
                self._homeless.append(semantic.needed("name"))
            else:
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
            [f"What is defined on no model that is here is left out: {', '.join(sorted(lost))}"]
            if lost
            else []
        )

    def added_to(self, unique_id: str, model: Model) -> Model:
        """The model with all that is defined on it."""
        semantics = self._semantics.get(unique_id, [])
        metrics = [each for name, each in self._metrics.items() if self._home(name) == unique_id]
        if not semantics and not metrics:
            return model
        parts = {part.name: part for part in model.parts}
        for semantic in semantics:
            for dimension in semantic.several("dimensions"):
                _add_dimension(parts, dimension)
            for measure in semantic.several("measures"):
                _add(parts, _measure(measure), "measure")
        for metric in metrics:
            _add(parts, _metric(metric), "metric")
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
        inputs = _inputs(self._metrics[metric].piece("type_params"))
        homes = (self._measured.get(name) or self._home(name, seen | {metric}) for name in inputs)
        return next(filter(None, homes), None)


def _inputs(params: ArtifactPart) -> list[str]:
    """The measures and metrics that a metric uses, wherever its kind names them."""
    single = [params.piece(each).text("name") for each in ("measure", "numerator", "denominator")]
    several = [each.text("name") for key in ("input_measures", "metrics") for each in params.several(key)]
    return list(dict.fromkeys(filter(None, [*single, *several])))


def _column(entity: ArtifactPart) -> str:
    return legal_name(entity.text("expr") or entity.needed("name"))


def _add_dimension(parts: dict[str, Part], dimension: ArtifactPart) -> None:
    """A dimension that is a column describes it; one that is computed is a column of its own."""
    name, expression = legal_name(dimension.needed("name")), dimension.text("expr")
    known = parts.get(name) or parts.get(expression or "")
    description, label = dimension.text("description"), dimension.text("label")
    if known is not None:
        told = replace(known, description=known.description or description, label=known.label or label)
        parts[known.name] = told
    else:
        details = {"sql": expression} if expression else {}
        parts[name] = Part(name=name, description=description, label=label, details=details)


def _add(parts: dict[str, Part], part: Part, noun: str) -> None:
    """Add it under its own name, or under a longer one if a column or another computed part has that name.

    A metric that only shows a measure becomes that measure, with the metric's description.
    """
    known = parts.get(part.name)
    is_shown = part.details.get("formula") == part.name and "filter" not in part.details
    if known is not None and known.kind == "measure" and is_shown:
        told = {
            what: getattr(part, what) or getattr(known, what) for what in ("description", "label", "tags")
        }
        parts[part.name] = replace(known, **told)
        return
    name, number = part.name, 2
    while name in parts:
        name = f"{part.name}_{noun}" if number == 2 else f"{part.name}_{noun}_{number}"
        number += 1
    parts[name] = replace(part, name=name)


def _measure(measure: ArtifactPart) -> Part:
    """Its formula names a column and how it is aggregated, as in `amount:sum`."""
    expression = measure.text("expr") or measure.needed("name")
    how = measure.text("agg") or "sum"
    how = _AGGREGATIONS.get(how, how)
    is_name = legal_name(expression) == expression
    return _computed(measure, f"{expression}:{how}" if is_name else f"{how}({expression})")


def _metric(metric: ArtifactPart) -> Part:
    params, kind = metric.piece("type_params"), metric.text("type")
    inputs = _inputs(params)
    formula = params.text("expr") or (" / " if kind == "ratio" else ", ").join(inputs)
    if kind not in ("simple", "ratio", "derived"):
        formula = f"{kind}({formula})"
    return _computed(metric, formula)


def _computed(told: ArtifactPart, formula: str) -> Part:
    filters = [each.text("where_sql_template") for each in told.piece("filter").several("where_filters")]
    details = {"formula": formula, "filter": " and ".join(filter(None, filters)), "meta": told.meta()}
    return Part(
        name=legal_name(told.needed("name")),
        kind="measure",
        description=told.text("description"),
        label=told.text("label"),
        tags=told.tags(),
        details={what: value for what, value in details.items() if value},
    )
