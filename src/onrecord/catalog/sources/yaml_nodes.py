"""HOW is a YAML file checked so that every fault knows its line? Node by node, before anything is made of it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import yaml
from yaml.constructor import SafeConstructor
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from onrecord.catalog.sources.naming import why_no_name
from onrecord.errors import Fault, Invalid
from onrecord.model import limits, rules

# The parser in C is more than ten times as fast; it is not in every build of the library.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_TEXT, _NULL, _BOOL, _INT, _FLOAT, _TIME = (
    _TAG + kind for kind in ("str", "null", "bool", "int", "float", "timestamp")
)
_MERGE: Final = _TAG + "merge"
_WORDS: Final = {
    _NULL: "nothing",
    _BOOL: "true or false",
    _INT: "a number",
    _FLOAT: "a number",
    _TIME: "a date",
    _TAG + "seq": "a list",
    _TAG + "map": "a mapping",
}
_SCALARS: Final = SafeConstructor()
# Aliases let a few lines stand for more values than any memory holds.
_MOST_VALUES: Final = 100_000
_MOST_LEVELS: Final = 200
_UNPRINTABLE: Final = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\U0010ffff]")
# What the library quotes is taken from the file, which may hold what no message should repeat.
_QUOTED: Final = re.compile(r" '[^'<]{2,}'")


class _Bad:
    """Stands for a value that was refused, so that the rest of the file is still looked at."""


BAD: Final = _Bad()


@dataclass(slots=True)
class YamlFile:
    """One file and all that is wrong with it."""

    path: Path
    faults: list[tuple[int, str]] = field(default_factory=list)
    values: int = 0

    def refuse(self, line: int, message: str) -> _Bad:
        self.faults.append((line, message))
        return BAD

    def settle(self) -> None:
        """Nothing is made of a file with faults; all of them are told at once, from top to bottom."""
        if self.faults:
            raise self.refused()

    def refused(self) -> Invalid:
        return Invalid(Fault(f"{self.path}, line {line}", message) for line, message in sorted(self.faults))


#: Makes a value of a node, or refuses it in the file; `what` is the key under which it stands.
Shape = Callable[[YamlFile, Node, str], Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """A mapping with known keys: the values that were accepted, and the lines of all that hold anything."""

    line: int
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    def get(self, key: str, default: Any = None) -> Any:
        return self.values.get(key, default)

    def has(self, key: str) -> bool:
        """Whether anything was given, be it accepted or not."""
        return key in self.lines

    def kept(self, *keys: str) -> dict[str, Any]:
        """Those of the keys under which there is anything."""
        return {
            key: self.values[key] for key in keys if self.values.get(key) not in (None, "", [], {}, False)
        }


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise Invalid([Fault(str(path), f"cannot be read: {problem.strerror or problem}")]) from None


def read_root(file: YamlFile) -> Node:
    """The one document of a file. What is no YAML is refused with the line where it stops being any."""
    text = _decoded(file)
    try:
        root = None if _is_too_deep(file, text) else yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        reason = ", ".join(part for part in (problem.context, problem.problem) if part)
        # What is missing at the end is missed on the line after it.
        line = min(mark.line + 1, len(text.splitlines())) if mark else 1
        file.refuse(line, f"is not YAML: {_QUOTED.sub('', reason)}")
    except yaml.YAMLError:
        found = _UNPRINTABLE.search(text)
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        file.refuse(line, "is not YAML: it has a control character; remove it or write it as an escape")
    else:
        if isinstance(root, Node):
            return root
        if not file.faults:
            file.refuse(1, "is empty; remove the file or fill it")
    raise file.refused()


def _is_too_deep(file: YamlFile, text: str) -> bool:
    """Whether it is nested so deeply that the parser in C would end the process; few files need the closer look."""
    brackets = text.count("[") + text.count("{")
    if max(brackets, *map(len, text.splitlines()), 0) < _MOST_LEVELS:
        return False
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _MOST_LEVELS:
            file.refuse(event.start_mark.line + 1, f"is nested deeper than {_MOST_LEVELS} levels")
            return True
    return False


def _decoded(file: YamlFile) -> str:
    data = read_bytes(file.path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        file.refuse(line, "is not UTF-8; save the file in that encoding")
        raise file.refused() from None


def text(file: YamlFile, node: Node, what: str) -> Any:
    if node.tag != _TEXT or not isinstance(node, ScalarNode):
        return _wrong(file, node, what, "a text", hint="; put it in quotes" if _is_scalar(node) else "")
    return _stored(file, node, what)


def _stored(file: YamlFile, node: ScalarNode, what: str) -> Any:
    try:
        rules.storable(node.value)
    except ValueError as problem:
        return file.refuse(line_of(node), f"{what} {problem}")
    return node.value


def as_written(file: YamlFile, node: Node, what: str) -> Any:
    """The text of any plain value, be it a number or a date."""
    if not isinstance(node, ScalarNode):
        return _wrong(file, node, what, "plain values")
    return _stored(file, node, what)


def name(file: YamlFile, node: Node, what: str) -> Any:
    """A text that may be a part of a reference."""
    value = text(file, node, what)
    if value is not BAD and (reason := why_no_name(value)):
        return file.refuse(line_of(node), f"{what} {reason}")
    return value


def flag(file: YamlFile, node: Node, what: str) -> Any:
    return _scalar(node) if node.tag == _BOOL else _wrong(file, node, what, "true or false")


def whole_number(file: YamlFile, node: Node, what: str) -> Any:
    if node.tag != _INT:
        return _wrong(file, node, what, "a whole number")
    return _number(file, node, what)


def listing(each: Shape) -> Shape:
    """A list of such values. What is refused stays in it, so that places keep their number."""

    def read(file: YamlFile, node: Node, what: str) -> Any:
        if not isinstance(node, SequenceNode):
            return _wrong(file, node, what, "a list")
        return [each(file, item, what) for item in node.value]

    return read


def choice(options: tuple[str, ...]) -> Shape:
    rule = rules.Choice(options)

    def read(file: YamlFile, node: Node, what: str) -> Any:
        try:
            return rule(node.value if isinstance(node, ScalarNode) else None)
        except ValueError as problem:
            return file.refuse(line_of(node), f"{what} {problem}")

    return read


def plain_mapping(file: YamlFile, node: Node, what: str) -> Any:
    """A mapping of anything that JSON has, kept as it is."""
    return plain(file, node, what) if isinstance(node, MappingNode) else _wrong(file, node, what, "a mapping")


def plain(file: YamlFile, node: Node, what: str, depth: int = limits.JSON_DEPTH) -> Any:
    """Anything that JSON has; a date becomes the text that it was written as."""
    file.values += 1
    if file.values > _MOST_VALUES:
        file.refuse(line_of(node), f"{what} stands for more than {_MOST_VALUES} values")
        raise file.refused()
    if depth == 0:
        return file.refuse(line_of(node), f"{what} is nested deeper than {limits.JSON_DEPTH} levels")
    if isinstance(node, MappingNode):
        return {key: plain(file, value, what, depth - 1) for key, _, value in _pairs(file, node, what)}
    if isinstance(node, SequenceNode):
        return [plain(file, item, what, depth - 1) for item in node.value]
    return _plain_scalar(file, node, what)


def _plain_scalar(file: YamlFile, node: Node, what: str) -> Any:
    if node.tag == _TEXT:
        return text(file, node, what)
    if node.tag == _NULL:
        return None
    if node.tag == _BOOL:
        return _scalar(node)
    if node.tag in (_INT, _FLOAT):
        return _number(file, node, what)
    if node.tag == _TIME:
        return str(node.value)
    return file.refuse(line_of(node), f"{what} has the tag {node.tag}, which is not understood; remove it")


def _number(file: YamlFile, node: Node, what: str) -> Any:
    try:
        value = _scalar(node)
    except ValueError:
        return file.refuse(line_of(node), f"{what} has a number that cannot be read")
    if value != value or value in (float("inf"), float("-inf")):
        return file.refuse(line_of(node), f"{what} contains {value}, which JSON does not have")
    return value


def _scalar(node: Node) -> Any:
    build = {
        _BOOL: _SCALARS.construct_yaml_bool,
        _INT: _SCALARS.construct_yaml_int,
        _FLOAT: _SCALARS.construct_yaml_float,
    }[node.tag]
    return build(node)  # type: ignore[arg-type]


def entry(file: YamlFile, node: Node, what: str, shapes: Mapping[str, Shape]) -> Entry | None:
    """A mapping of these keys and no others, except where the shapes have one for all others (under `*`)."""
    if not isinstance(node, MappingNode):
        _wrong(file, node, what, "a mapping")
        return None
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, line, value in _pairs(file, node, what):
        shape = shapes.get(key) or shapes.get("*")
        if shape is None:
            file.refuse(line, f"{key!r} is no key of {what}{_nearest(key, shapes)}")
        elif value.tag != _NULL:
            lines[key] = line
            if (accepted := shape(file, value, key)) is not BAD:
                values[key] = accepted
    return Entry(line_of(node), values, lines)


def _pairs(file: YamlFile, node: MappingNode, what: str) -> list[tuple[str, int, Node]]:
    """The keys with their lines and values. A key that is given twice would silently lose its first value."""
    pairs: dict[str, tuple[str, int, Node]] = {}
    for key_node, value in node.value:
        line = line_of(key_node)
        if key_node.tag == _MERGE:
            file.refuse(line, f"{what} merges another mapping (<<); write its keys out")
            continue
        key = text(file, key_node, f"a key of {what}")
        if key is BAD:
            continue
        if key in pairs:
            file.refuse(
                line, f"{key!r} is given a second time in {what}; the first is on line {pairs[key][1]}"
            )
        else:
            pairs[key] = (key, line, value)
    return list(pairs.values())


def _nearest(key: str, shapes: Mapping[str, Shape]) -> str:
    near = get_close_matches(key, shapes, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; understood are {', '.join(sorted(shapes))}"


def _wrong(file: YamlFile, node: Node, what: str, wanted: str, hint: str = "") -> _Bad:
    found = _WORDS.get(node.tag) or ("a text" if node.tag == _TEXT else f"a value with the tag {node.tag}")
    return file.refuse(line_of(node), f"{what} must be {wanted}, not {found}{hint}")


def _is_scalar(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag in (_BOOL, _INT, _FLOAT, _TIME)


def line_of(node: Node) -> int:
    return int(node.start_mark.line) + 1
