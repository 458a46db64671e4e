"""WHAT is a query about? The source model first, then every part of the catalog that its fields mention."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from onrecord.catalog.formulas import (
    NameInFormula,
    UnreadableFormula,
    mentions_in_filter,
    mentions_in_formula,
    shown,
)
from onrecord.catalog.lookup import Lookup
from onrecord.catalog.naming import table_parts
from onrecord.catalog.queries import InlineModel, ModelExtension, ModelQuery, is_over_models, read_query
from onrecord.catalog.resolution import (
    Entities,
    Gathering,
    Resolved,
    Unresolved,
    model_of_table,
    resolve,
    resolve_model,
    within,
)
from onrecord.catalog.sql_text import ParsedSql, entities_of_sql, parse_sql
from onrecord.errors import invalid
from onrecord.model.catalog import Model

_SOURCE: Final = "source_model"
_NOTHING: Final = Entities((), ())
_MOST_NAMES: Final = 1_000


class ReadQuery(NamedTuple):
    """What can be read of a query without a catalog, before any transaction."""

    #: As it was written.
    given: Mapping[str, Any] | str | None
    query: ModelQuery | None = None
    parsed: Mapping[str, ParsedSql] = MappingProxyType({})

    def entities(self, lookup: Lookup) -> Entities:
        """The entities in it. An unknown name in a query over models is an error; in SQL it is only a warning."""
        if self.query is not None:
            return entities_of_query(self.query, lookup, parsed=self.parsed)
        return entities_of_sql(self.parsed[self.given], lookup) if isinstance(self.given, str) else _NOTHING


def read_without_catalog(given: Mapping[str, Any] | str | None) -> ReadQuery:
    """Read a query as far as possible without the catalog; Invalid if it is a query over models with faults."""
    if isinstance(given, str):
        return ReadQuery(given, None, {given: parse_sql(given)})
    if not is_over_models(given):
        return ReadQuery(given)
    query = read_query(given)
    return ReadQuery(given, query, {sql: parse_sql(sql) for sql in _sql_in(query)})


def _sql_in(query: ModelQuery) -> Iterator[str]:
    model = query.source_model
    if isinstance(model, InlineModel):
        yield from filter(None, [model.sql])
        for stage in model.source_queries:
            yield from _sql_in(stage)


def entities_of_query(
    query: ModelQuery,
    lookup: Lookup,
    *,
    known: Collection[str] | None = None,
    parsed: Mapping[str, ParsedSql] = MappingProxyType({}),
) -> Entities:
    """The canonical names; Invalid lists every unknown name.

    `known` are the names that the query had before, if it was read before. A column of the source model may be gone
    while another model has one of the same name, which was never meant: so a bare name leads to another model only
    where it did before. `parsed` is the SQL in it, as far as it is parsed already.
    """
    gathering = Gathering()
    try:
        source = _source(query, lookup, parsed)
    except Unresolved as error:
        # Without the source model no other name can be resolved.
        raise error.at(_SOURCE) from None
    for canonical in source.stands_on:
        gathering.add(Resolved(canonical))
    gathering.warn(*source.warnings)
    reading = _NameReading(source, lookup, known)
    known_mentions: set[NameInFormula] = set()
    for field, mention in _mentions(query, gathering):
        if gathering.has_enough_errors:
            break
        if mention in known_mentions:
            continue
        known_mentions.add(mention)
        if len(known_mentions) > _MOST_NAMES:
            # Each name is a query to the catalog.
            raise invalid(field, f"the query names more than {_MOST_NAMES} columns and measures")
        try:
            found = reading.resolve(mention)
        except Unresolved as error:
            gathering.fail(error.at(field))
        else:
            if found:
                gathering.add(found)
    return gathering.entities()


def _mentions(query: ModelQuery, gathering: Gathering) -> Iterator[tuple[str, NameInFormula]]:
    """Every name in the query with its place; unreadable parts become faults."""
    for place, dimension in enumerate(query.dimensions):
        yield f"dimensions[{place}]", NameInFormula(name=dimension.path)
    for place, time in enumerate(query.time_dimensions):
        yield f"time_dimensions[{place}].dimension", NameInFormula(name=time.dimension.path)
    for place, measure in enumerate(query.measures):
        yield from _read(mentions_in_formula, measure.formula, f"measures[{place}].formula", gathering)
    named = {measure.name for measure in query.measures}
    for place, condition in enumerate(query.filters):
        for field, mention in _read(mentions_in_filter, condition, f"filters[{place}]", gathering):
            # A filter may name a measure of the query, unless the model has a part of that name.
            is_computed = mention.aggregation is None and mention.name in named
            yield field, replace(mention, soft=True) if is_computed else mention


def _read(
    mentions: Callable[[str], tuple[NameInFormula, ...]], text: str, field: str, gathering: Gathering
) -> Iterator[tuple[str, NameInFormula]]:
    try:
        found = mentions(text)
    except UnreadableFormula as unreadable:
        gathering.fail(UnreadableFormula(unreadable.reason, field))
        return
    for mention in found:
        yield field, mention


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuerySource:
    """What a query reads from: a model of the catalog, or one that the query itself defines."""

    #: As the query sees it, with the joins that it adds.
    model: Model
    #: The canonical names to tag for it.
    stands_on: tuple[str, ...]
    #: The parts that only this query knows.
    own: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


def _source(query: ModelQuery, lookup: Lookup, parsed: Mapping[str, ParsedSql]) -> _QuerySource:
    given = query.source_model
    if isinstance(given, InlineModel):
        return _inline(given, lookup, parsed)
    if isinstance(given, ModelExtension):
        base = resolve_model(given.source_name, lookup)
        return _QuerySource(
            model=replace(base, joins=(*base.joins, *given.joins)),
            stands_on=(base.canonical,),
            own=frozenset(part.name for part in given.parts),
        )
    model = resolve_model(given, lookup)
    return _QuerySource(model=model, stands_on=(model.canonical,))


def _inline(given: InlineModel, lookup: Lookup, parsed: Mapping[str, ParsedSql]) -> _QuerySource:
    if given.data_source is not None and given.data_source not in lookup.datasources():
        raise Unresolved(given.data_source, f"{shown(given.data_source)} is not a known datasource.")
    grounds, warnings = _grounds(given, lookup, parsed)
    if not grounds:
        warnings += (f"the inline model {shown(given.name)} uses no model that the catalog knows.",)
    datasource = given.data_source or (grounds[0].partition(".")[0] if grounds else "")
    return _QuerySource(
        model=Model(datasource=datasource, name=given.name, parts=given.parts, joins=given.joins),
        stands_on=grounds,
        own=frozenset(part.name for part in given.parts),
        warnings=warnings,
    )


def _grounds(given: InlineModel, lookup: Lookup, parsed: Mapping[str, ParsedSql]) -> Entities:
    """The models of the catalog that an inline model is made from, including itself if the catalog has it."""
    gathering = Gathering()
    if given.data_source and (saved := lookup.model(given.data_source, given.name)):
        gathering.add(Resolved(saved.canonical))
    parts = table_parts(given.sql_table or "")
    if given.sql_table and (table := model_of_table(parts, lookup, given.data_source)):
        gathering.add(Resolved(table.canonical))
    if given.sql:
        read = entities_of_sql(parsed.get(given.sql, given.sql), lookup, datasource=given.data_source)
        gathering.warn(*read.warnings)
        for canonical in read.canonicals:
            if canonical.count(".") == 1:
                gathering.add(Resolved(canonical))
    for source in _sources_of_stages(given.source_queries, lookup, parsed):
        gathering.warn(*source.warnings)
        for canonical in source.stands_on:
            gathering.add(Resolved(canonical))
    return gathering.entities()


def _sources_of_stages(
    stages: Sequence[ModelQuery], lookup: Lookup, parsed: Mapping[str, ParsedSql]
) -> Iterator[_QuerySource]:
    earlier: set[str] = set()
    for stage in stages:
        # A stage may read from one before it instead of the catalog.
        if _name_of_source(stage) not in earlier:
            yield _source(stage, lookup, parsed)
        earlier.update(() if stage.name is None else (stage.name,))


def _name_of_source(query: ModelQuery) -> str | None:
    given = query.source_model
    if isinstance(given, InlineModel):
        return None
    return given.source_name if isinstance(given, ModelExtension) else given


@dataclass(frozen=True, slots=True)
class _NameReading:
    """How to read a name in one query."""

    source: _QuerySource
    lookup: Lookup
    known: Collection[str] | None

    def resolve(self, mention: NameInFormula) -> Resolved | None:
        model = self.source.model
        path = mention.name.removeprefix(f"{model.name}.")
        if path == "*" and mention.aggregation == "count":
            return None
        if path.endswith("*"):
            reference = f"{mention.name}:{mention.aggregation}" if mention.aggregation else mention.name
            return resolve(reference, self.lookup, source_model=model)
        if path in self.source.own:
            return None
        if found := within(model, path, self.lookup):
            return Resolved(found)
        if mention.soft:
            return None
        return self._elsewhere(mention.name)

    def _elsewhere(self, name: str) -> Resolved:
        """The error for a name that cannot be reached from the source model."""
        found = resolve(name, self.lookup, source_model=self.source.model)
        if found.canonical in self.lookup.datasources():
            raise Unresolved(name, f"{shown(name)} is a datasource where a column or a measure is needed.")
        if "." in name:
            return found
        if self.known is not None and found.canonical not in self.known:
            raise Unresolved(name, f"{shown(name)} is not a part of model {shown(self.source.model.name)}.")
        return Resolved(
            found.canonical,
            (
                *found.warnings,
                f"{shown(name)} is not a part of model {shown(self.source.model.name)}; it was resolved as "
                f"{shown(found.canonical)}.",
            ),
        )
