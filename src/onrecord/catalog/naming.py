"""WHICH names can a reference hold? A thing with another name always gets the same legal name."""

import re
from collections.abc import Iterable
from typing import Any, Final
from unicodedata import normalize

from onrecord.errors import invalid
from onrecord.model import limits, rules

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
#: Characters that separate the parts of a reference, or lead out of a folder.
_SEPARATORS: Final = (".", ":", "/", "\\")
#: The quotes around a name in SQL, in any dialect.
_QUOTES: Final = '"`[]'
_NOT_IN_A_SEGMENT: Final = re.compile(r"[^\w-]+")


def why_no_name(text: str) -> str | None:
    """Why it cannot be the name of a datasource, a model or a part; None if it can."""
    if not text.strip():
        return "must not be empty"
    if text != text.strip():
        return f"must not begin or end with a space (got {text!a})"
    if found := _CONTROL.search(text):
        return f"must be a single line without control characters (has {found.group()!a})"
    if found_separator := next((mark for mark in _SEPARATORS if mark in text), None):
        return (
            f"must not contain {found_separator!r}, which separates the parts of a reference (got {text!r})"
        )
    if len(text) > limits.NAME_CHARACTERS:
        return f"must have at most {limits.NAME_CHARACTERS} characters (has {len(text)})"
    return None


def folded(name: str) -> str:
    """A name in one case, to compare it: databases change the case of names in different ways."""
    return normalize("NFC", name).lower()


def table_parts(name: str) -> list[str]:
    """The parts of the name of a table such as `shop.public."orders"`, without quotes."""
    return [part.strip(_QUOTES) for part in name.split(".")]


def reference_name(value: Any) -> str:
    """The rule of a name that may be a part of a reference."""
    text = rules.Text()(value)
    if reason := why_no_name(text):
        raise ValueError(reason)
    return text


def named_datasource(text: str) -> str:
    """The requested name, if it is legal."""
    if reason := why_no_name(text):
        raise invalid("datasource", reason)
    return text


def legal_name(text: str) -> str:
    """A name that every reference can hold: letters, digits, `_` and `-`, not beginning with a digit."""
    name = _NOT_IN_A_SEGMENT.sub("_", text)[: limits.NAME_CHARACTERS - 1]
    return name if name[:1].isalpha() or name.startswith("_") else f"_{name}"


def legal_names(texts: Iterable[str]) -> dict[str, str]:
    """A different legal name for each; names that are legal already stay."""
    given = dict.fromkeys(texts)
    names = {text: text for text in given if legal_name(text) == text}
    taken = set(names)
    for text in sorted(given.keys() - names.keys()):
        name, number = legal_name(text), 2
        while name in taken:
            name, number = f"{legal_name(text)}_{number}", number + 1
        names[text] = name
        taken.add(name)
    return names
