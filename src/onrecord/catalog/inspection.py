"""WHAT does an inspection of a model show? Its parts, where its joins lead, and what was learned about them.

The JSON form is made first and the Markdown from it, so that both show the same. Texts from the catalog or a memory
are data: in the Markdown each stays on its line and inside its cell, after words of ours, so that it can forge
neither a heading nor a row.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, get_args

from onrecord.catalog.lookup import Lookup
from onrecord.catalog.rendering import cut, in_words, listed
from onrecord.errors import Fault, Invalid
from onrecord.model.catalog import Join, Model, Part, PartKind, canonicals_of
from onrecord.model.limits import Tier
from onrecord.model.tiers import WORDS
from onrecord.text.tokens import count_tokens

#: In the order in which they are shown.
SECTIONS: Final = (
    *("columns", "measures", "aggregations", "joins", "reachable_fields", "samples", "promoted", "learnings"),
)
DEEPEST_REACH: Final = 20
#: How many reachable fields are listed; densely joined models have far more.
MOST_REACHABLE_FIELDS: Final = 1_000
#: The default size of an inspection.
INSPECTION_TOKENS: Final = 8_000
#: The size of a note about a list that was cut.
_NOTE_TOKENS: Final = 60

_ELLIPSIS: Final = "…"
_NAME_SHOWN: Final = 60
_KIND_OF_SECTION: Final[Mapping[str, PartKind]] = {f"{kind}s": kind for kind in get_args(PartKind)}
_TITLES: Final = (
    *("name", "target_model", "join_type", "join_pairs", "type", "primary_key", "label", "description"),
    *("format", "allowed_aggregations", "distinct_count", "filter", "formula", "params", "sql", "tags"),
)
#: What a cell shows as code; everything else in a table is prose.
_CODE: Final = frozenset({"name", "target_model", "join_pairs", "sql", "filter", "formula", "params"})
_BREAKS_A_CELL: Final = re.compile(r"(?<!\\)(\\*)([|`])")
_BREAKS_CODE_IN_A_CELL: Final = re.compile(r"(?<!\\)(\\*)(\|)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """A memory without a query. `author` wrote the text, and `tier` says as what."""

    id: str
    text: str
    author: str
    tier: Tier
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenSections:
    """Which sections of the model are wanted, and how much of each."""

    show_sql: bool
    sections: Sequence[str] | None
    descriptions_max_chars: int | None
    reachable_fields_depth: int
    num_rows: int

    def check(self) -> None:
        faults = []
        if isinstance(self.sections, str):
            faults.append(
                Fault("sections", f"write a list of names, [{self.sections!r}], instead of one text")
            )
        if self.descriptions_max_chars is not None and self.descriptions_max_chars < 0:
            faults.append(Fault("descriptions_max_chars", _at_least_zero(self.descriptions_max_chars)))
        if not 0 <= self.reachable_fields_depth <= DEEPEST_REACH:
            problem = f"must be 0 to {DEEPEST_REACH}, and is {self.reachable_fields_depth}"
            faults.append(Fault("reachable_fields_depth", problem))
        if self.num_rows < 0:
            faults.append(Fault("num_rows", _at_least_zero(self.num_rows)))
        if faults:
            raise Invalid(faults)

    def shows(self, section: str) -> bool:
        return self.sections is None or section in self.sections

    def notes(self) -> list[str]:
        unknown = [name for name in dict.fromkeys(self.sections or ()) if name not in SECTIONS]
        return [f"{_quoted(name)} is no section; there are {', '.join(SECTIONS)}." for name in unknown]

    def description(self, text: str | None) -> str | None:
        most = self.descriptions_max_chars
        if text is None or most is None or len(text) <= most:
            return text
        if most == 0:
            return None
        head = text[: most - 1]
        whole_words = head.rpartition(" ")[0]
        return (whole_words if len(whole_words) > most // 2 else head).rstrip() + _ELLIPSIS


def inspection(  # noqa: PLR0913 - these are the arguments of `inspect_model`, as its callers know them
    model: Model,
    learnings: Sequence[Learning],
    lookup: Lookup,
    *,
    show_sql: bool = False,
    sections: Sequence[str] | None = None,
    descriptions_max_chars: int | None = None,
    reachable_fields_depth: int = 5,
    num_rows: int = 3,
    promoted: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The JSON form. Unknown details are left out, and so are learnings and promoted values where there are none.

    Raises `Invalid` if a number is out of range. A section that does not exist is only a note.
    """
    choice = _ChosenSections(
        show_sql=show_sql,
        sections=sections,
        descriptions_max_chars=descriptions_max_chars,
        reachable_fields_depth=reachable_fields_depth,
        num_rows=num_rows,
    )
    choice.check()
    notes = choice.notes()
    shown = _head(model, choice)
    for section, kind in _KIND_OF_SECTION.items():
        if choice.shows(section):
            shown[section] = [_part(part, choice) for part in _visible(model, kind)]
    if choice.shows("joins"):
        shown["joins"] = [_join(join) for join in model.joins]
    if choice.shows("reachable_fields"):
        shown["reachable_fields"], cut_off = _nearest(model, lookup, reachable_fields_depth)
        notes += cut_off
    if choice.shows("samples"):
        shown["samples"] = _samples(model, num_rows)
    if choice.shows("promoted") and promoted:
        shown["promoted"] = [dict(each) for each in promoted]
    if choice.shows("learnings") and (matched := _matched(model, learnings)):
        shown["learnings"] = matched
    return {**shown, "notes": notes}


def within_tokens(inspected: Mapping[str, Any], most: int) -> dict[str, Any]:
    """As much of it as fits into so many tokens, in either form; its notes count what is left out.

    Short lists stay whole and long lists share the rest; the first text is cut so that lists have room.
    """
    if _cost(inspected) <= most and count_tokens(as_markdown(inspected)) <= most:
        return dict(inspected)
    shown, notes = dict(inspected), list(inspected["notes"])
    for name, text in inspected.items():
        if isinstance(text, str) and text != (shorter := cut(text, 3 * most // 8)):
            shown[name] = shorter
            notes.append(f"{name} is cut; see it whole with a greater max_tokens than {most}.")
    lists = {name: kept for name, kept in shown.items() if isinstance(kept, list | dict) and name != "notes"}
    rest = {name: value for name, value in shown.items() if name not in lists}
    left = most - _cost({**rest, **{name: [] for name in lists}}) - _NOTE_TOKENS * len(lists)
    costs = {name: [_cost(each) + len(_TITLES) for each in _items(kept)] for name, kept in lists.items()}
    for place, name in enumerate(sorted(costs, key=lambda name: sum(costs[name]))):
        share, kept = left // (len(costs) - place), 0
        for cost in costs[name]:
            if cost > share:
                break
            share, left, kept = share - cost, left - cost, kept + 1
        if kept < len(costs[name]):
            shown[name] = (
                dict(_items(lists[name])[:kept]) if isinstance(lists[name], dict) else lists[name][:kept]
            )
            alone = f"sections=['{name}'] or " if name in SECTIONS and len(lists) > 1 else ""
            notes.append(
                f"{len(costs[name]) - kept} of {len(costs[name])} {name} are left out to stay within {most} tokens; "
                f"see more with {alone}a greater max_tokens."
            )
    return {**shown, "notes": notes}


def _items(listed_or_named: Any) -> list[Any]:
    return list(listed_or_named.items() if isinstance(listed_or_named, dict) else listed_or_named)


def _cost(value: Any) -> int:
    return count_tokens(json.dumps(value, ensure_ascii=False))


def as_markdown(inspected: Mapping[str, Any]) -> str:
    """The same as Markdown; each section has a heading with the number of items it shows."""
    blocks = [[f"# {_code(inspected['canonical'])}"], list(_facts(inspected))]
    blocks += (
        [
            f"## {section.replace('_', ' ').capitalize()} ({len(inspected[section])})",
            *_body(section, inspected),
        ]
        for section in SECTIONS
        if section in inspected
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _at_least_zero(given: int) -> str:
    return f"must be 0 or more, and is {given}"


def _quoted(name: object) -> str:
    words = in_words(name)
    return repr(words if len(words) <= _NAME_SHOWN else words[: _NAME_SHOWN - 1] + _ELLIPSIS)


# The JSON form


def _known(**facts: Any) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact}


def _head(model: Model, choice: _ChosenSections) -> dict[str, Any]:
    details = model.details
    return {
        "canonical": model.canonical,
        "data_source": model.datasource,
        "name": model.name,
        "form": model.form,
        "state": model.state,
        **_known(
            label=model.label,
            description=choice.description(model.description),
            tags=list(model.tags),
            sql_table=in_words(details.get("sql_table")),
            sql=_sql(details.get("sql"), choice),
            filters=listed(details.get("filters")),
            default_time_dimension=in_words(details.get("default_time_dimension")),
            upstream=list(model.upstream),
        ),
    }


def _part(part: Part, choice: _ChosenSections) -> dict[str, Any]:
    details = part.details
    return {
        "name": part.name,
        **_known(
            type=part.type,
            primary_key=details.get("primary_key") is True,
            label=part.label,
            description=choice.description(part.description),
            format=in_words(details.get("format")),
            allowed_aggregations=listed(details.get("allowed_aggregations")),
            distinct_count=details.get("distinct_count"),
            filter=in_words(details.get("filter")),
            formula=in_words(details.get("formula")),
            params=_params(details.get("params"), choice),
            sql=_sql(details.get("sql"), choice),
            tags=list(part.tags),
        ),
    }


def _params(given: object, choice: _ChosenSections) -> list[str]:
    """The names of an aggregation's parameters, and their defaults if SQL is shown."""
    params = given if isinstance(given, list | tuple) else ()
    pairs = (
        (in_words(param.get("name")), _sql(param.get("sql"), choice))
        for param in params
        if isinstance(param, Mapping)
    )
    return [f"{name} = {default}" if default else name for name, default in pairs if name]


def _sql(given: object, choice: _ChosenSections) -> str | None:
    """The SQL as it was written, perhaps over several lines."""
    if not choice.show_sql:
        return None
    return given if isinstance(given, str) else in_words(given)


def _join(join: Join) -> dict[str, Any]:
    return {
        "target_model": join.target,
        "join_type": join.kind,
        "join_pairs": [list(pair) for pair in join.pairs],
    }


def _visible(model: Model, *kinds: PartKind) -> Iterator[Part]:
    return (part for part in model.parts if part.kind in kinds and not part.hidden)


def _nearest(model: Model, lookup: Lookup, depth: int) -> tuple[list[str], list[str]]:
    """The reachable fields, and a note if there are more than are shown."""
    found = list(islice(_reachable(model, lookup, depth), MOST_REACHABLE_FIELDS + 1))
    if len(found) <= MOST_REACHABLE_FIELDS:
        return found, []
    note = (
        f"More than {MOST_REACHABLE_FIELDS} fields can be reached; the nearest are shown. "
        "Inspect a joined model to see what it leads to."
    )
    return found[:MOST_REACHABLE_FIELDS], [note]


def _reachable(model: Model, lookup: Lookup, depth: int) -> Iterator[str]:
    """Columns and measures behind the joins, the nearest first, each model by the shortest way to it.

    A hidden model shows no fields, but the way may go on through it to models that do.
    """
    seen, here = {model.name}, [("", model)]
    for _ in range(depth):
        beyond: list[tuple[str, Model]] = []
        for path, source in here:
            for join in source.joins:
                if join.target in seen:
                    continue
                seen.add(join.target)
                if (target := lookup.model(model.datasource, join.target)) is None:
                    continue
                way = f"{path}{target.name}."
                beyond.append((way, target))
                if not target.hidden:
                    yield from (way + part.name for part in _visible(target, "column", "measure"))
        here = beyond


def _samples(model: Model, most: int) -> dict[str, list[str]]:
    found = {part.name: _values(part.details.get("sampled"))[:most] for part in _visible(model, "column")}
    return {name: values for name, values in found.items() if values}


def _values(sampled: object) -> list[str]:
    """The sample values; sources store them as one text with commas."""
    if isinstance(sampled, str):
        sampled = sampled.split(", ")
    return listed(sampled)


def _matched(model: Model, learnings: Sequence[Learning]) -> list[dict[str, Any]]:
    own = frozenset(canonicals_of(model))
    matches = ((each, [name for name in dict.fromkeys(each.entities) if name in own]) for each in learnings)
    return [
        {
            "id": each.id,
            "learning": each.text,
            "matched_entities": entities,
            "author": each.author,
            "tier": each.tier,
        }
        for each, entities in matches
        if entities
    ]


# The Markdown


def _facts(inspected: Mapping[str, Any]) -> Iterator[str]:
    """A Markdown list, because a paragraph that begins with someone else's words might begin a heading."""
    for fact in ("label", "description", "form", "state", "tags", "upstream", "default_time_dimension"):
        if words := in_words(inspected.get(fact)):
            yield f"- {fact.replace('_', ' ')}: {words}"
    for fact in ("sql_table", "sql"):
        if words := in_words(inspected.get(fact)):
            yield f"- {fact.replace('_', ' ')}: {_code(words)}"
    yield from (f"- filter: {_code(condition)}" for condition in inspected.get("filters", ()))
    yield from (f"- note: {in_words(note)}" for note in inspected.get("notes", ()))


def _body(section: str, inspected: Mapping[str, Any]) -> Iterator[str]:
    content = inspected[section]
    if not content:
        return
    yield ""
    match section:
        case "reachable_fields":
            yield from (f"- {_code(path)}" for path in content)
        case "samples":
            yield from (f"- {_code(name)}: {_codes(values)}" for name, values in content.items())
        case "promoted":
            yield from map(_promoted, content)
        case "learnings":
            yield from map(_learning, content)
        case _:
            yield from _table(content)


def _learning(learning: Mapping[str, Any]) -> str:
    entities, text = _codes(learning["matched_entities"]), in_words(learning["learning"])
    return f"- **M{in_words(learning['id'])}** ({entities}; {WORDS[learning['tier']]}): {text}"


def _promoted(promoted: Mapping[str, Any]) -> str:
    key = f" {_code(promoted['key'])}" if "key" in promoted else ""
    what = f"{_code(promoted['entity'])} {promoted['field']}{key}"
    by = f"approved by {in_words(promoted['approved_by'])}, " if "approved_by" in promoted else ""
    value = promoted["value"]
    # A tag or a term is there, and has no value but its name.
    value = "taken away" if value is None else "added" if value is True else in_words(value)
    anew = (
        f"; the source now says: {in_words(promoted['source_says']) or 'nothing'}"
        if "source_says" in promoted
        else ""
    )
    return f"- {what} ({by}changeset {in_words(promoted['changeset'])}): {value}{anew}"


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A Markdown table, with one column for each detail that any row has."""
    titles = [title for title in _TITLES if any(title in row for row in rows)]
    yield f"| {' | '.join(title.replace('_', ' ') for title in titles)} |"
    yield f"|{' --- |' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(_cell(title, row.get(title)) for title in titles)} |"


def _cell(title: str, value: Any) -> str:
    if title == "join_pairs":
        value = [f"{source} = {target}" for source, target in value]
    if value is True:
        return "yes"
    if title not in _CODE:
        return _escaped(_BREAKS_A_CELL, in_words(value))
    return _escaped(_BREAKS_CODE_IN_A_CELL, _codes(listed(value)))


def _escaped(breaking: re.Pattern[str], words: str) -> str:
    # A backslash before it would otherwise be escaped in its place.
    return breaking.sub(lambda found: f"{found[1]}{found[1]}\\{found[2]}", words)


def _codes(values: Sequence[str]) -> str:
    return ", ".join(map(_code, values))


def _code(value: str) -> str:
    """A text in backticks, with one backtick more than it contains in a row."""
    words = in_words(value)
    fence = "`" * (max(map(len, re.findall("`+", words)), default=0) + 1)
    room = " " if words.startswith("`") or words.endswith("`") or not words else ""
    return f"{fence}{room}{words}{room}{fence}"
