"""WHAT remains of a text without its secrets? There are many rules, which are loaded when a text first looks as if it
held one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from onrecord.providers.secret_spans import Span

_MOST_PASSES: Final = 4


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets, and the names of the rules that found them, in the order of the text."""

    text: str
    found: tuple[str, ...]


def may_hold_secrets(text: str) -> bool:
    """One cheap look: if it finds no sign, no rule would find a secret."""
    from onrecord.providers.secret_spans import has_signs

    return has_signs(text)


def scrub(text: str) -> Scrubbed:
    """Replace every secret by `[secret:<rule>]` and leave the rest as it is.

    A replacement may expose another secret beside it, so there are a few passes; another pass runs only after one
    that found something.
    """
    from onrecord.providers.secret_spans import find, merge, redact

    placed: list[Span] = []
    for _ in range(_MOST_PASSES):
        spans = find(text)
        if not spans:
            break
        text, placed = redact(text, merge(spans + placed))
    return Scrubbed(text, tuple(name for _, _, name in placed))


def scrub_bytes(content: bytes) -> tuple[bytes, int]:
    """A file without its secrets, and how many there were; a file that is not text stays as it is."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content, 0
    scrubbed = scrub(text)
    return (scrubbed.text.encode(), len(scrubbed.found)) if scrubbed.found else (content, 0)


def scrub_value(key: str, value: object) -> tuple[object, tuple[str, ...]]:
    """The value of a metadata entry without its secrets, and the names of the rules that found them.

    Under the name of a credential a text or number is replaced whole; other texts go through `scrub`.
    """
    from onrecord.providers.nested_secrets import Walk
    from onrecord.providers.secret_names import secret_kind

    walk = Walk()
    return walk.clean(key, value, secret_kind(key)), tuple(walk.found)
