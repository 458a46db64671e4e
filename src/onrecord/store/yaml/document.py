"""WHICH entries are in memories.yaml, and where? So that one can be rewritten while all others stay as they are.

Comments, blank lines and people's own formatting of an entry survive every change of another entry.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from onrecord.store.yaml.entries import SHAPES, EntryKey
from onrecord.yaml_reader import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    UnreadableYaml,
    json_of,
    parse,
    refuse_tag,
)

_LIST: Final = "memories"
HEADER: Final = (
    "# What was learned here, an entry for each memory. Edit it by hand as you like: an entry needs no more than\n"
    "# `learning`, and is given an id. What it said before is kept in the history beside this file.\n"
)

# The ends of lines, as YAML counts them.
_LINE: Final = re.compile("[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029]|$)")
_MERGING: Final = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)
_MARKER: Final = re.compile(r"(?:---|\.\.\.)(?:\s|$)")


@dataclass(slots=True)
class YamlEntry:
    """What an entry says, and at which lines."""

    values: dict[str, Any]
    line: int
    lines: dict[str, int]

    def line_of(self, name: str) -> int:
        return self.lines.get(name, self.line)


@dataclass(slots=True)
class Slot:
    """The place of one entry: its own lines, and those between it and the next."""

    key: EntryKey | None
    text: str = ""
    gap: str = ""
    entry: YamlEntry | None = None


@dataclass(slots=True)
class YamlDocument:
    """A file cut into pieces. If it cannot be cut, only the keys of `slots` are known, and the whole file is
    rewritten.
    """

    head: str = HEADER
    column: int = 0
    newline: str = "\n"
    is_cut: bool = True
    slots: list[Slot] = field(default_factory=list)
    #: Whether the file still contains entries that were left out of the slots.
    is_outdated: bool = False

    def leave_out(self, slot: Slot) -> None:
        """Remove an entry that repeats another; what people wrote around it stays."""
        place = next(number for number, each in enumerate(self.slots) if each is slot)
        if place:
            self.slots[place - 1].gap += slot.gap
        else:
            self.head += slot.gap
        del self.slots[place]
        self.is_outdated = True

    def text(self) -> str:
        pieces = [self.head, *(piece for slot in self.slots for piece in (slot.text, slot.gap))]
        return "".join(pieces)

    def replaced(self, written: Mapping[EntryKey, str | None]) -> "YamlDocument":
        """The file with some entries rewritten, removed, or added at its end."""
        self._end_last_line()
        head, slots = self.head, list[Slot]()
        for slot in self.slots:
            if slot.key is None or slot.key not in written:
                slots.append(slot)
            elif (text := written[slot.key]) is not None:
                slots.append(Slot(slot.key, self._spelt(text), slot.gap))
            elif slot.gap.strip():
                # A comment between two entries is most likely about the one below.
                if slots:
                    slots[-1].gap += slot.gap
                else:
                    head += slot.gap
        held = {slot.key for slot in self.slots}
        slots += [Slot(key, self._spelt(text)) for key, text in written.items() if key not in held and text]
        return YamlDocument(head, self.column, self.newline, True, slots)

    def _end_last_line(self) -> None:
        """Add a line break to the last line if it has none, since more may follow."""
        last = self.slots[-1] if self.slots else None
        if last is None:
            self.head = self._ended(self.head)
        elif last.gap:
            last.gap = self._ended(last.gap)
        else:
            last.text = self._ended(last.text)

    def _spelt(self, text: str) -> str:
        return text.replace("\n", self.newline)

    def _ended(self, text: str) -> str:
        return text if not text or text.endswith(("\n", "\r")) else text + self.newline

    def layout(self) -> str:
        """The lengths of the pieces, by which the same text can be cut again without parsing."""
        slots = [[*(slot.key or ()), len(slot.text), len(slot.gap)] for slot in self.slots]
        return json.dumps([len(self.head), self.column, self.newline, self.is_cut, slots])

    @classmethod
    def laid_out(cls, text: str, layout: str) -> "YamlDocument":
        at, column, newline, is_cut, lengths = json.loads(layout)
        head, slots = text[:at], []
        for tenant, id, own, gap in lengths:
            slots.append(Slot(EntryKey(tenant, id), text[at : at + own], text[at + own : at + own + gap]))
            at += own + gap
        return cls(head, column, newline, is_cut, slots)


def read_document(text: str) -> YamlDocument:
    """The file with what each entry says. UnreadableYaml names the line that cannot be read."""
    if marker := _MERGING.search(text):
        line = text.count("\n", 0, marker.start()) + 1
        raise UnreadableYaml(
            line, "is a conflict marker of an unfinished merge; keep the right lines and delete the markers"
        )
    parsed = parse(text)
    listing = _listing(parsed.root)
    newline = "\r\n" if "\r\n" in text else "\n"
    if listing is None:
        return _without_entries(text, parsed.root, newline)
    entries = [_entry(node) for node in listing.items]
    document = None if parsed.has_references else _cut(text, listing, newline)
    if document is None:
        document = YamlDocument(_comments(text), 0, newline, False, [Slot(None) for _ in entries])
    for slot, entry in zip(document.slots, entries, strict=True):
        slot.entry = entry
    return document


def _listing(root: Node | None) -> SequenceNode | None:
    """The list of entries, which is the whole document or is under its name."""
    if root is None or (isinstance(root, ScalarNode) and root.is_nothing):
        return None
    if isinstance(root, SequenceNode):
        return root
    if not isinstance(root, MappingNode):
        raise UnreadableYaml(root.line, "is a text, but a list of memories is expected, each with `learning`")
    found: SequenceNode | None = None
    for name, value in root.fields():
        if name.text != _LIST:
            raise UnreadableYaml(
                value.line, f"{name.text} is not expected here: there is only `{_LIST}`, the list of memories"
            )
        if isinstance(value, SequenceNode):
            found = value
        elif not (isinstance(value, ScalarNode) and value.is_nothing):
            raise UnreadableYaml(value.line, f"`{_LIST}` must be a list")
    return found


def _without_entries(text: str, root: Node | None, newline: str) -> YamlDocument:
    if isinstance(root, MappingNode):
        key, value = root.items[0]
        # `memories:` and nothing below: entries can be put there, unless it says so in a word.
        is_bare = isinstance(value, ScalarNode) and not value.text and not root.is_flow
        return (
            YamlDocument(text, key.column + 2, newline)
            if is_bare
            else YamlDocument(_comments(text), 0, newline)
        )
    return YamlDocument(_comments(text), 0, newline)


def _comments(text: str) -> str:
    """The comments at the top."""
    kept = []
    for line in _lines(text):
        if line.strip() and not line.lstrip("\ufeff").startswith("#"):
            break
        kept.append(line)
    return "".join(kept)


def _lines(text: str) -> list[str]:
    return [line for line in _LINE.findall(text) if line]


def _cut(text: str, listing: SequenceNode, newline: str) -> YamlDocument | None:
    """The pieces of a list in block style; None if an entry shares a line with something else."""
    lines, column = _lines(text), listing.column
    begins = [node.line - 1 for node in listing.items]
    if listing.is_flow or not begins:
        return None
    dash = re.compile(rf"\ufeff?{' ' * column}- *\Z")
    for node in listing.items:
        if not dash.match(lines[node.line - 1][: node.column + (lines[node.line - 1][:1] == "\ufeff")]):
            return None
    if any(_MARKER.match(line) for line in lines[begins[0] :]):
        return None
    slots = []
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        last = end
        while last > begin + 1 and _is_between(lines[last - 1], column):
            last -= 1
        slots.append(Slot(None, "".join(lines[begin:last]), "".join(lines[last:end])))
    return YamlDocument("".join(lines[: begins[0]]), column, newline, True, slots)


def _is_between(line: str, column: int) -> bool:
    """Whether a line after an entry does not belong to it: it is indented less."""
    text = line.lstrip(" ")
    return not text.strip() or (text.startswith("#") and len(line) - len(text) <= column)


def _entry(node: Node) -> YamlEntry:
    if not isinstance(node, MappingNode):
        raise UnreadableYaml(
            node.line, "is not a memory: a memory is a set of fields, one of which is `learning`"
        )
    values, lines = {}, {}
    for key, value in node.fields():
        # The line of the name, since that is where people look.
        lines[key.text] = key.line
        values[key.text] = _value(key.text, value)
    return YamlEntry(values, node.line, lines)


def _value(name: str, node: Node) -> Any:
    """The value of a field; a text field is always a text, so that `id: 007` is not 7."""
    refuse_tag(node)
    shape = SHAPES.get(name)
    if isinstance(node, ScalarNode):
        if node.is_nothing:
            return None
        if name == "id" and node.is_plain and node.text.lower() in ("true", "false"):
            raise UnreadableYaml(
                node.line, f"the id {node.text} is not read as a text; put it in quotes if it is one"
            )
        return node.text if shape in ("text", "json") else json_of(node)
    if shape == "texts" and isinstance(node, SequenceNode):
        return [item.text if isinstance(item, ScalarNode) else json_of(item) for item in node.items]
    return json_of(node)
