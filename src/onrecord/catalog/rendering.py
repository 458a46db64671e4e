"""WHAT is indexed of an entity? One text, which gives its words and its vector.

The text is not trusted: names and descriptions come from other people's files and databases. Every value becomes one
line, and except for the filters of a model takes at most a share of the text, so that none can crowd out the rest.
`meta` is never included.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final

from onrecord.catalog.amendments import Amendment
from onrecord.model.catalog import Datasource, Join, Model, Part, PartKind

TEXT_BYTES: Final = 8 * 1024
#: The most bytes of a text that one value takes, and that a list of names takes.
_VALUE_BYTES: Final = TEXT_BYTES // 4
_NAMES_BYTES: Final = TEXT_BYTES // 2

_ELLIPSIS: Final = "…"
#: Control characters, and halves of characters, which cannot be written at all.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DEEPEST: Final = 4
_WIDEST: Final = 1_000
_NEVER_SHOWN: Final = "meta"
_DESCRIPTION: Final = "description: "
_PLURALS: Final[Mapping[PartKind, str]] = {
    "column": "columns",
    "measure": "measures",
    "aggregation": "aggregations",
}


def text_of_datasource(
    datasource: Datasource, models: Sequence[str], promoted: Sequence[Amendment] = ()
) -> str:
    """`models` are the names of visible models; of very many, the text holds the first by name."""
    return _text(
        (
            _short(in_words(datasource.canonical)),
            _line("description", datasource.description),
            *_promoted(promoted, datasource.canonical),
            _names("models", sorted(set(models))),
        )
    )


def text_of_model(model: Model, promoted: Sequence[Amendment] = ()) -> str:
    """The text of a model. It only names the parts that are not hidden, since each has a text of its own."""
    details = model.details
    return _text(
        (
            _short(in_words(model.canonical)),
            _line("label", model.label),
            _line("description", model.description),
            *_promoted(promoted, model.canonical),
            _titled("filters", "; ".join(listed(details.get("filters")))),
            _line("table", details.get("sql_table")),
            *(_names(plural, _visible(model, kind)) for kind, plural in _PLURALS.items()),
            _names("joins", _joins(model)),
            _names("made from", model.upstream),
            _line("sql", details.get("sql")),
            _line("queries", details.get("source_queries")),
        )
    )


def text_of_part(model: Model, part: Part, promoted: Sequence[Amendment] = ()) -> str:
    details = part.details
    primary_key = "primary key" if details.get("primary_key") is True else None
    return _text(
        (
            _short(in_words(f"{model.canonical}.{part.name}")),
            ", ".join(filter(None, (part.kind, _short(in_words(part.type)), primary_key))),
            _line("label", part.label),
            _line("description", part.description),
            *_promoted(promoted, f"{model.canonical}.{part.name}"),
            _line("format", details.get("format")),
            _line("allowed aggregations", details.get("allowed_aggregations")),
            _line("filter", details.get("filter")),
            _line("sql", details.get("sql")),
            _line("formula", details.get("formula")),
            _line("parameters", details.get("params")),
            _line("values", details.get("sampled")),
        )
    )


def _promoted(amendments: Sequence[Amendment], canonical: str) -> Iterator[str]:
    """What people promoted of an entity, and who approved it; descriptions and tags have lines of their own."""
    own = [each for each in amendments if each.entity == canonical]
    for each in own:
        if each.field not in ("description", "tags") and each.value is not None:
            value = "" if each.value is True else in_words(each.value)
            yield _line(each.field, f"{in_words(each.key)} {value}".strip())
    approvals = (f"{each.field} by {each.approved_by}" for each in own if each.approved_by)
    yield _names("approved", dict.fromkeys(approvals))


def description_in(text: str) -> str | None:
    """The description inside the text of an entity."""
    descriptions = (
        line.removeprefix(_DESCRIPTION) for line in text.split("\n") if line.startswith(_DESCRIPTION)
    )
    return next(descriptions, None)


def in_words(value: object, depth: int = _DEEPEST) -> str:
    """Any value on one line of printable characters; empty for no value."""
    if isinstance(value, str):
        return " ".join(_UNPRINTABLE.sub(" ", value).split())
    if isinstance(value, Mapping | Sequence | AbstractSet) and not isinstance(value, bytes):
        # A structure may hold itself.
        return ", ".join(filter(None, _inside(value, depth - 1))) if depth else ""
    try:
        return "" if value is None else in_words(str(value))
    except ValueError:
        # An integer of thousands of digits, which Python refuses to write.
        return ""


def listed(value: object) -> list[str]:
    """The items of a list, or the one value, each on one line."""
    items: Iterable[object] = value if isinstance(value, list | tuple) else (value,)
    return [words for words in map(in_words, items) if words]


def cut(text: str, most_bytes: int) -> str:
    """At most so many bytes of UTF-8, cut at a word unless words are too long for that."""
    written = text.encode()
    if len(written) <= most_bytes:
        return text
    head = written[: most_bytes - len(_ELLIPSIS.encode())].decode(errors="ignore")
    whole_words = head[: max(head.rfind(" "), head.rfind("\n"), 0)]
    return (whole_words if len(whole_words) > len(head) // 2 else head).rstrip(" \n,;") + _ELLIPSIS


def _text(lines: Iterable[str]) -> str:
    return cut("\n".join(filter(None, lines)), TEXT_BYTES)


def _line(title: str, value: object) -> str:
    return _titled(title, _short(in_words(value)))


def _names(title: str, names: Iterable[str]) -> str:
    return _titled(title, cut(", ".join(filter(None, map(in_words, names))), _NAMES_BYTES))


def _titled(title: str, words: str) -> str:
    return f"{title}: {words}" if words else ""


def _short(words: str) -> str:
    return cut(words, _VALUE_BYTES)


def _visible(model: Model, kind: PartKind) -> Iterator[str]:
    return (part.name for part in model.parts if part.kind == kind and not part.hidden)


def _joins(model: Model) -> Iterator[str]:
    hidden = {part.name for part in model.parts if part.hidden}
    return (_join(join, hidden) for join in model.joins)


def _join(join: Join, hidden: AbstractSet[str]) -> str:
    pairs = " and ".join(f"{source} = {target}" for source, target in join.pairs if source not in hidden)
    return f"{join.target} ({pairs})" if pairs else join.target


def _inside(
    value: Mapping[object, object] | Sequence[object] | AbstractSet[object], depth: int
) -> Iterator[str]:
    """What a structure holds, always in the same order: databases return mappings and sets in an order of their own."""
    if not isinstance(value, Mapping):
        is_set = isinstance(value, AbstractSet)
        items = (in_words(item, depth) for item in (value if is_set else islice(value, _WIDEST)))
        yield from sorted(items) if is_set else items
        return
    pairs = ((in_words(key, 1), in_words(item, depth)) for key, item in islice(value.items(), _WIDEST))
    yield from (f"{key} {words}" for key, words in sorted(pairs) if words and key != _NEVER_SHOWN)
