"""HOW does a memory follow a column that was renamed? Its references and its example query get the new name.

Of a query only those names are changed that mean the column, whatever else has the same name; the text around them
stays as it was written.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.formulas import names_in
from onrecord.catalog.lookup import Lookup
from onrecord.catalog.queries import is_over_models, read_query
from onrecord.catalog.resolution import resolve_model, within
from onrecord.catalog.sql_text import ParsedSql, entities_of_sql, parse_sql
from onrecord.errors import Invalid, invalid
from onrecord.model.memory import Memory

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

#: A query that names the column more often is not rewritten: each place is looked at by itself.
_MOST_PLACES: Final = 100
#: A name that no column has, to distinguish the places of one column.
_NO_NAME: Final = "onrecord_no_such_column"
#: The quotes around a name in SQL, of whichever dialect.
_QUOTES: Final = {'"': '"', "`": "`", "[": "]"}
_PLAIN: Final = re.compile(r"[^\W\d]\w*")


def with_new_names(memory: Memory, names: Mapping[str, str], then: Lookup, now: Lookup) -> Memory:
    """The memory with other names for columns, by their old ones; all at once, since its query resolves only with all of them.
    Invalid if its query cannot be rewritten so that it does.
    """
    entities = tuple(dict.fromkeys(names.get(each, each) for each in memory.entities))
    edits = memory.edits
    if edits and memory.changeset is None:
        edits = tuple(replace(each, entity=names.get(each.entity, each.entity)) for each in edits)
    query = memory.query
    if isinstance(query, str):
        query = _rewritten_sql(query, names, then, now)
    elif is_over_models(query):
        query = _rewritten_query(query, names, now, entities)
    return replace(memory, entities=entities, edits=edits, query=query)


def _last(canonical: str) -> str:
    return canonical.split(".", 2)[2]


def _rewritten_query(
    query: Mapping[str, Any], names: Mapping[str, str], now: Lookup, entities: tuple[str, ...]
) -> Mapping[str, Any]:
    read = read_query(query)
    if not isinstance(read.source_model, str):
        raise invalid("query", "it defines or extends its model itself; revise it by hand")
    model = resolve_model(read.source_model, now)
    own = frozenset(measure.name for measure in read.measures if measure.name)

    def renamed(name: str) -> str:
        """A path in the query with a new name, if that leads from the model to the column."""
        path = name.removeprefix(f"{model.name}.")
        for old, new in names.items() if name not in own else ():
            to = path.removesuffix(_last(old)) + _last(new)
            is_called = path == _last(old) or path.endswith("." + _last(old))
            if is_called and within(model, to, now) == new:
                return to
        return name

    changed = _in_query(query, renamed)
    entities_of_query(read_query(changed), now, known=entities)
    return changed


def _in_query(query: Mapping[str, Any], renamed: Callable[[str], str]) -> dict[str, Any]:
    def text(value: str) -> str:
        spans = [(start, end, renamed(name)) for name, start, end in names_in(value)]
        return _replaced(value, [span for span in spans if span[2] != value[span[0] : span[1]]])

    def dimension(value: Any) -> Any:
        if isinstance(value, str):
            return renamed(value)
        path = f"{value['model']}.{value['name']}" if value.get("model") else value["name"]
        new_path = renamed(path)
        return value if new_path == path else {**value, "name": new_path.rpartition(".")[2]}

    def measure(value: Any) -> Any:
        return text(value) if isinstance(value, str) else {**value, "formula": text(value["formula"])}

    def time(value: Any) -> Any:
        return {**value, "dimension": dimension(value["dimension"])}

    computed = dict(_computed(query.get("measures") or (), renamed))

    def order(value: Any) -> Any:
        column = value["column"]
        if not isinstance(column, str):
            return {**value, "column": dimension(column)}
        return {**value, "column": computed.get(column) or text(column)}

    each: dict[str, Callable[[Any], Any]] = {
        "dimensions": dimension,
        "measures": measure,
        "time_dimensions": time,
        "filters": text,
        "order": order,
    }
    changed = {name: list(map(each[name], value)) if name in each else value for name, value in query.items()}
    if isinstance(main := changed.get("main_time_dimension"), str):
        changed["main_time_dimension"] = renamed(main)
    return changed


def _computed(measures: Iterable[Any], renamed: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """What measures without a name of their own are called, by what they were called: `amount:sum` is `amount_sum`."""
    for each in measures:
        formula = each if isinstance(each, str) else "" if each.get("name") else each["formula"]
        column, colon, aggregation = formula.partition(":")
        if colon and aggregation.isidentifier() and renamed(column) != column:
            yield f"{column}_{aggregation}", f"{renamed(column)}_{aggregation}"


def _replaced(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    for start, end, to in sorted(spans, reverse=True):
        text = text[:start] + to + text[end:]
    return text


def _rewritten_sql(sql: str, names: Mapping[str, str], then: Lookup, now: Lookup) -> str:
    parsed = parse_sql(sql)
    led = entities_of_sql(parsed, then).canonicals
    called = [each for each in led if each in names]
    if not called:
        return sql
    spans = [
        (start, end, _spelled(sql[start:end], _last(names[old])))
        for old in called
        for start, end in _places(parsed, old, then)
    ]
    changed = _replaced(sql, spans)
    leads = set(entities_of_sql(changed, now).canonicals)
    missing = {names.get(each, each) for each in led} - leads
    if missing or leads & (names.keys() - set(names.values())):
        to = ", ".join(sorted(missing) or [names[each] for each in called])
        raise invalid("query", f"it could not be rewritten so that it leads to {to}; revise it by hand")
    return changed


def _places(parsed: ParsedSql, old: str, then: Lookup) -> list[tuple[int, int]]:
    """Where in its text SQL names a column."""
    called = [node for node in _identifiers(parsed) if node.name.lower() == _last(old).lower()]
    if len(called) > _MOST_PLACES:
        raise invalid("query", f"it names {old} too often to be rewritten; revise it by hand")
    meant = [node for node in called if _is_meant(node, called, parsed, old, then)]
    return [(node.meta["start"], node.meta["end"] + 1) for node in meant]


def _identifiers(parsed: ParsedSql) -> Iterator["Expr"]:
    """The names of columns in SQL whose place in the text is known."""
    for statement in parsed.statements:
        for node in statement.walk():
            if node.key == "identifier" and "start" in node.meta:
                yield node


def _is_meant(node: "Expr", places: list["Expr"], parsed: ParsedSql, old: str, then: Lookup) -> bool:
    """Whether this very name means the column: all others of its name are taken away for a look."""
    others = [each for each in places if each is not node]
    spelled = [each.this for each in others]
    for each in others:
        each.set("this", _NO_NAME)
    try:
        return old in entities_of_sql(parsed, then).canonicals
    finally:
        for each, name in zip(others, spelled, strict=True):
            each.set("this", name)


def _spelled(old: str, name: str) -> str:
    """A name as written in SQL, in quotes if the old one was, or if it needs them."""
    opening = old[0] if old[0] in _QUOTES else "" if _PLAIN.fullmatch(name) else '"'
    closing = _QUOTES.get(opening, "")
    return opening + name.replace(closing, closing * 2) + closing if closing else name


def why_not(problem: Invalid) -> str:
    return "; ".join(fault.message for fault in problem.faults)
