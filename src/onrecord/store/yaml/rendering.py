"""HOW is an entry written so that a diff reads well? One field a line, and long text line by line.

Texts are plain if every YAML reader takes them for texts, and quoted otherwise.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from onrecord.store.yaml.entries import TIMES

_STEP: Final = 2
# A longer key is written with `? `; YAML needs that from 1,024 characters on.
_LONGEST_KEY: Final = 500

#: What YAML cannot hold unescaped: control characters, and what some readers take for the end of a line.
_UNPRINTABLE: Final = (
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_NEEDS_ESCAPE: Final = re.compile(_UNPRINTABLE)
_ESCAPED: Final = re.compile(f'{_UNPRINTABLE}|[\t\n"\\\\]')
_PLAIN: Final = re.compile(r"[\w(/$](?:.*[^\s:])?", re.DOTALL)
_NOT_PLAIN: Final = re.compile(r":\s|\s#|[\t\n]")
_BLANK_LINE: Final = re.compile(r"^[ \t]+$", re.MULTILINE)
_SHORT: Final = {"\t": r"\t", "\n": r"\n", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def render(entry: Mapping[str, Any], column: int) -> str:
    """An entry as an item of a list whose dashes are in this column."""
    lines = _fields(entry, column + _STEP, TIMES)
    lines[0] = f"{' ' * column}- {lines[0].lstrip(' ')}"
    return "\n".join(lines) + "\n"


def _fields(values: Mapping[str, Any], indent: int, bare: frozenset[str] = frozenset()) -> list[str]:
    lines = []
    for name, value in values.items():
        key = _line(name)
        if len(key) > _LONGEST_KEY:
            lines.append(f"{' ' * indent}? {key}")
            key = ""
        # Times are written without quotes, so that YAML readers take them for times.
        head, more = (f" {value}", []) if name in bare else _value(value, indent)
        lines += [f"{' ' * indent}{key}:{head}", *more]
    return lines


def _items(values: Sequence[Any], indent: int) -> list[str]:
    lines = []
    for value in values:
        if isinstance(value, Mapping | list) and value:
            first, *more = _nested(value, indent + _STEP)
            lines += [f"{' ' * indent}- {first.lstrip(' ')}", *more]
        else:
            head, more = _value(value, indent)
            lines += [f"{' ' * indent}-{head}", *more]
    return lines


def _nested(value: Any, indent: int) -> list[str]:
    return _fields(value, indent) if isinstance(value, Mapping) else _items(value, indent)


def _value(value: Any, indent: int) -> tuple[str, list[str]]:
    """What follows the colon or dash, and the lines below."""
    if isinstance(value, str):
        return _text(value, indent)
    if isinstance(value, Mapping | list):
        if not value:
            return (" {}" if isinstance(value, Mapping) else " []"), []
        return "", _nested(value, indent + _STEP)
    return f" {_bare(value)}", []


def _bare(value: float | bool | None) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    if isinstance(value, float) and "." not in text:
        # Without a point some readers take it for a text.
        text = text.replace("e", ".0e")
    return text


def _text(text: str, indent: int) -> tuple[str, list[str]]:
    if "\n" not in text or not text.strip("\n") or _NEEDS_ESCAPE.search(text) or _BLANK_LINE.search(text):
        return f" {_line(text)}", []
    kept = len(text) - len(text.rstrip("\n"))
    # How far a block is indented is read off its first line, unless that begins with a space.
    depth = str(_STEP) if text[0] in " \t\n" else ""
    chomping = "-" if kept == 0 else "" if kept == 1 else "+"
    lines = text.removesuffix("\n").split("\n")
    return f" |{depth}{chomping}", [line and " " * (indent + _STEP) + line for line in lines]


def _line(text: str) -> str:
    """A text on one line: plain, or in the quotes that need the least escaping."""
    if _needs_quotes(text):
        if ('"' in text or "\\" in text) and "\t" not in text and not _ESCAPED_LINE.search(text):
            return "'" + text.replace("'", "''") + "'"
        return '"' + _ESCAPED.sub(_escape, text) + '"'
    return text


_ESCAPED_LINE: Final = re.compile(f"{_UNPRINTABLE}|\n")


def _needs_quotes(text: str) -> bool:
    return (
        not _PLAIN.fullmatch(text)
        or _NOT_PLAIN.search(text) is not None
        or _NEEDS_ESCAPE.search(text) is not None
        or _means_something_else(text)
    )


def _means_something_else(text: str) -> bool:
    """Whether some reader would take it for a number, a date, or a yes or no."""
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers.get(text[0], ())
    if any(pattern.match(text) for _, pattern in resolvers) or text.lower() in ("y", "n"):
        return True
    for number in (float, lambda digits: int(digits, 0)):
        try:
            number(text)
        except ValueError:
            continue
        return True
    return False


def _escape(found: re.Match[str]) -> str:
    letter = found.group()
    if letter in _SHORT:
        return _SHORT[letter]
    return f"\\x{ord(letter):02x}" if ord(letter) < 0x100 else f"\\u{ord(letter):04x}"
