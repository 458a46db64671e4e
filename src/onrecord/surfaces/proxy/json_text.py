"""WHERE in a JSON text is a value? So that something can be added there, and every other character stays as it is."""

import re
from collections.abc import Sequence
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

#: The way to a value: names in objects, places in arrays.
Path = Sequence[str | int]

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = JSONDecoder()


class TextRange(NamedTuple):
    """The characters of a value."""

    start: int
    end: int


class Insertion(NamedTuple):
    """A member to add at the end of the array or object at `path`; `member` is JSON, with its name in an object."""

    path: Path
    member: str


def with_insertions(text: str, insertions: Sequence[Insertion]) -> str:
    """The text with these members; it must be JSON that has an array or an object at each path."""
    places = sorted((_span(text, each.path), each.member) for each in insertions)
    for span, member in reversed(places):
        last = span.end - 1
        comma = "," if text[span.start + 1 : last].strip() else ""
        text = f"{text[:last]}{comma}{member}{text[last:]}"
    return text


def _span(text: str, path: Path) -> TextRange:
    start = _after_space(text, 0)
    for step in path:
        start = _start_of(text, start, step)
    return TextRange(start, _DECODER.raw_decode(text, start)[1])


def _start_of(text: str, start: int, step: str | int) -> int:
    """Where a member of the object or array that begins here has its value. Of members of one name the last counts."""
    is_object = text[start] == "{"
    found, place = None, 0
    at = _after_space(text, start + 1)
    while text[at] not in "]}":
        name: Any = place
        if is_object:
            name, at = scanstring(text, at + 1)
            at = _after_space(text, _after_space(text, at) + 1)
        if name == step:
            found = at
        at = _after_space(text, _DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _after_space(text, at + 1)
        place += 1
    if found is None:
        raise KeyError(step)
    return found


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
