"""WHICH value is on which line of a YAML text? Values with their lines, read with limits of depth and size."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml.constructor import SafeConstructor
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)
from yaml.resolver import Resolver

from onrecord.model.limits import JSON_BYTES, JSON_DEPTH

#: The parser in C where there is one: it is ten times as quick.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# The objects that a field may hold, what it is a field of, the list of those, and what contains the list.
_DEEPEST: Final = JSON_DEPTH + 4
#: How many characters values and their paths may have together, for each character of the text: references repeat values.
_TIMES_READ: Final = 16
_UNREADABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOTHING: Final = ("", "~", "null", "Null", "NULL")
_PREFIX: Final = "tag:yaml.org,2002:"
# The library quotes the file, which may contain secrets that no message should repeat.
_QUOTED: Final = re.compile(r" '[^'<]{2,}'")


class UnreadableYaml(Exception):
    """The text is not YAML, or this line (counted from 1) holds something unexpected."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ScalarNode:
    text: str
    line: int
    column: int
    #: Without quotes, so that `7` is a number and `true` a flag.
    is_plain: bool
    tag: str | None = None

    @property
    def is_nothing(self) -> bool:
        return self.is_plain and self.text in _NOTHING


@dataclass(frozen=True, slots=True)
class SequenceNode:
    line: int
    column: int
    is_flow: bool
    tag: str | None = None
    items: "list[Node]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MappingNode:
    line: int
    column: int
    is_flow: bool
    tag: str | None = None
    items: "list[tuple[ScalarNode, Node]]" = field(default_factory=list)

    def fields(self) -> "Iterator[tuple[ScalarNode, Node]]":
        """Each name with its value; UnreadableYaml if a name appears there twice."""
        seen: dict[str, int] = {}
        for key, value in self.items:
            if key.is_plain and key.text == "<<":
                raise UnreadableYaml(key.line, "merges another object into this one; write its fields out")
            if key.text in seen:
                raise UnreadableYaml(key.line, f"{key.text} is already at line {seen[key.text]}")
            seen[key.text] = key.line
            yield key, value


Node = ScalarNode | SequenceNode | MappingNode


@dataclass(frozen=True, slots=True)
class Parsed:
    root: Node | None
    #: Whether the text has anchors and references, so that no part can be moved alone.
    has_references: bool


def decoded(data: bytes) -> str:
    """The text of a file. UnreadableYaml if it is in another encoding."""
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise UnreadableYaml(line, "is not UTF-8; save the file in that encoding") from None


def parse(text: str) -> Parsed:
    """The one document of a text; UnreadableYaml if there is none."""
    if unreadable := _UNREADABLE.search(text.removeprefix("\ufeff")):
        line = text.count("\n", 0, unreadable.start()) + 1
        raise UnreadableYaml(
            line, f"holds the character {unreadable.group()!a}; write it as an escape in quotes"
        )
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        reason = ", ".join(part for part in (problem.context, problem.problem) if part)
        # The library reports something missing at the end on the line after the last.
        line = min(mark.line + 1, len(text.splitlines())) if mark else 1
        raise UnreadableYaml(line, f"is not YAML: {_QUOTED.sub('', reason)}") from None
    except yaml.YAMLError as problem:
        raise UnreadableYaml(1, f"is not YAML: {problem}") from None


@dataclass(frozen=True, slots=True)
class _OpenNode:
    """A list or an object that is not closed yet."""

    node: SequenceNode | MappingNode
    anchor: str | None
    parts: list[Node] = field(default_factory=list)


class _Builder:
    """Builds nodes from events, without recursion."""

    def __init__(self) -> None:
        self._open: list[_OpenNode] = []
        self._named: dict[str, Node] = {}
        self._root: Node | None = None
        self._documents = 0
        self._has_references = False

    def build(self, events: Iterator[Event]) -> Parsed:
        for event in events:
            if isinstance(event, ScalarEvent):
                tag = _tag(event)
                is_plain = bool(event.implicit[0]) and event.tag is None
                self._put(ScalarNode(event.value, *_at(event), is_plain, tag), event.anchor)
            elif isinstance(event, SequenceStartEvent | MappingStartEvent):
                self._begin(event)
            elif isinstance(event, CollectionEndEvent):
                self._end()
            elif isinstance(event, AliasEvent):
                self._refer(event)
            elif isinstance(event, DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    raise UnreadableYaml(_line(event), "begins a second document; there can be only one")
        return Parsed(self._root, self._has_references)

    def _begin(self, event: SequenceStartEvent | MappingStartEvent) -> None:
        if len(self._open) >= _DEEPEST:
            raise UnreadableYaml(_line(event), "is nested too deeply")
        kind = SequenceNode if isinstance(event, SequenceStartEvent) else MappingNode
        node = kind(*_at(event), bool(event.flow_style), _tag(event))
        self._open.append(_OpenNode(node, event.anchor))

    def _end(self) -> None:
        begun = self._open.pop()
        if isinstance(begun.node, SequenceNode):
            begun.node.items.extend(begun.parts)
        else:
            for key, value in zip(begun.parts[::2], begun.parts[1::2], strict=True):
                if not isinstance(key, ScalarNode):
                    raise UnreadableYaml(key.line, "has a key that is not a text")
                begun.node.items.append((key, value))
        # The anchor is set only now, so that nothing can contain itself.
        self._put(begun.node, begun.anchor)

    def _refer(self, event: AliasEvent) -> None:
        self._has_references = True
        known = self._named.get(event.anchor or "")
        if known is None:
            raise UnreadableYaml(_line(event), "refers (with *) to an anchor that is not defined before it")
        self._put(known)

    def _put(self, node: Node, anchor: str | None = None) -> None:
        if anchor:
            self._named[anchor] = node
        if self._open:
            self._open[-1].parts.append(node)
        else:
            self._root = node


def _tag(event: ScalarEvent | SequenceStartEvent | MappingStartEvent) -> str | None:
    return None if event.tag == f"{_PREFIX}str" else event.tag


def _line(event: Event) -> int:
    return _at(event)[0]


def _at(event: Event) -> tuple[int, int]:
    """The line and column at which something begins; lines count from 1."""
    assert event.start_mark is not None
    return event.start_mark.line + 1, event.start_mark.column


def refuse_tag(node: Node) -> None:
    """Refuse a tag: it would turn a value into something other than it looks like."""
    if node.tag is not None:
        raise UnreadableYaml(node.line, f"has the tag {node.tag}; write the value without one")


@dataclass(slots=True)
class Located:
    """The value of a node as JSON, and the line of each path in it, such as `columns[2].name`."""

    value: Any
    lines: dict[str, int]

    def line_of(self, path: str) -> int:
        """The line of a path; for a path that is missing, the line where it belongs."""
        while path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines[path]


class _Values:
    """Turns nodes into plain values, up to a limit: a few references can stand for very many values."""

    def __init__(self, characters: int) -> None:
        # A value that is referenced counts each time, with its path.
        self._left = _TIMES_READ * max(JSON_BYTES, characters)
        self.lines: dict[str, int] = {}

    def of(self, node: Node, path: str = "", depth: int = _DEEPEST) -> Any:
        refuse_tag(node)
        self._left -= 1 + len(path) + (len(node.text) if isinstance(node, ScalarNode) else 0)
        if self._left < 0 or depth < 0:
            raise UnreadableYaml(node.line, f"is {'nested too deeply' if depth < 0 else 'too large'}")
        self.lines.setdefault(path, node.line)
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if isinstance(node, SequenceNode):
            return [self.of(item, f"{path}[{n}]", depth - 1) for n, item in enumerate(node.items)]
        values = {}
        for key, value in node.fields():
            name = f"{path}.{key.text}" if path else key.text
            # The line of the name, since that is where people look.
            self.lines[name] = key.line
            values[key.text] = self.of(value, name, depth - 1)
        return values


def json_of(node: Node) -> Any:
    """The value of a node as JSON, in which a date is a text."""
    return _Values(JSON_BYTES).of(node)


def located(node: Node, characters: int) -> Located:
    """The value of a node as JSON, with the line of everything in it. `characters` is the length of the whole text,
    which bounds the value.
    """
    values = _Values(characters)
    return Located(values.of(node), values.lines)


def _scalar(node: ScalarNode) -> Any:
    if not node.is_plain:
        return node.text
    tag = _RESOLVER.resolve(yaml.ScalarNode, node.text, (True, False))  # type: ignore[no-untyped-call]
    if tag == f"{_PREFIX}null":
        return None
    read = _READERS.get(tag)
    if read is None:
        return node.text
    try:
        return read(yaml.ScalarNode(tag, node.text))
    except (ValueError, OverflowError) as reason:
        raise UnreadableYaml(node.line, f"holds a number that cannot be read: {reason}") from None


_RESOLVER: Final = Resolver()
_CONSTRUCTOR: Final = SafeConstructor()
_READERS: Final = {
    f"{_PREFIX}bool": _CONSTRUCTOR.construct_yaml_bool,
    f"{_PREFIX}int": _CONSTRUCTOR.construct_yaml_int,
    f"{_PREFIX}float": _CONSTRUCTOR.construct_yaml_float,
}
