"""WHICH parts of a nested value are secrets? Secrets in its texts, and every value under the name of a credential."""

from __future__ import annotations

from collections.abc import Mapping

from onrecord.providers.scrubber import scrub
from onrecord.providers.secret_names import kind_of, secret_kind
from onrecord.providers.secret_spans import MARK, PLACEHOLDER

_DEEPEST = 100
_PLAIN_NAMES = frozenset(
    "user username login name host hostname port type kind id email region expires url scope".split()
)


class Walk:
    """Cleans one nested value. It remembers what it has seen, so that shared and cyclic parts are walked once."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._seen: dict[tuple[int, str, str | None], object] = {}
        self._numbers: dict[str, int] = {}  # how often a key has become the same text
        self._kept: list[object] = []  # an id is only good as long as its object lives

    def clean(self, name: str, value: object, kind: str | None, depth: int = 0) -> object:
        if isinstance(value, str):
            return self._text(name, value, kind)
        if isinstance(value, Mapping | list | tuple):
            return self._container(name, value, kind, depth)
        if kind and isinstance(value, int | float | bytes) and not isinstance(value, bool):
            return self._hide(kind)
        return value

    def _hide(self, kind: str) -> str:
        self.found.append(kind)
        return f"{MARK}{kind}]"

    def _text(self, name: str, value: str, kind: str | None) -> str:
        kind = kind or kind_of(name, value)
        if kind and value.strip() and not PLACEHOLDER.fullmatch(value):
            return self._hide(kind)
        scrubbed = scrub(value)
        self.found += scrubbed.found
        return scrubbed.text

    def _container(self, name: str, value: object, kind: str | None, depth: int) -> object:
        place = (id(value), "" if isinstance(value, Mapping) else name, kind)  # names reach into lists only
        if place not in self._seen:
            self._kept.append(value)
            self._seen[place] = "[cycle]"  # what a part of itself sees of it
            self._seen[place] = self._open(name, value, kind, depth) if depth < _DEEPEST else "[too deep]"
        return self._seen[place]

    def _open(self, name: str, value: object, kind: str | None, depth: int) -> object:
        if isinstance(value, Mapping):
            return self._mapping(value, kind, depth)
        assert isinstance(value, list | tuple)
        items = [self.clean(name, item, kind, depth + 1) for item in value]
        return items if isinstance(value, list) else tuple(items)

    def _mapping(self, value: Mapping[object, object], kind: str | None, depth: int) -> dict[object, object]:
        clean: dict[object, object] = {}
        pair = _named_by(value)
        for key, item in value.items():
            name = key if isinstance(key, str) else ""
            inherited = None if name.lower() in _PLAIN_NAMES else kind
            own = secret_kind(name) or (pair if name.lower() == "value" else None)
            clean[self._key(key, clean)] = self.clean(name, item, own or inherited, depth + 1)
        return clean

    def _key(self, key: object, taken: dict[object, object]) -> object:
        if not isinstance(key, str):
            return key
        scrubbed = scrub(key)
        self.found += scrubbed.found
        text = scrubbed.text
        while scrubbed.found and text in taken:  # two secrets of one kind must not become one key
            number = self._numbers[scrubbed.text] = self._numbers.get(scrubbed.text, 1) + 1
            text = f"{scrubbed.text} {number}"
        return text


def _named_by(value: Mapping[object, object]) -> str | None:
    """In `{"name": "DB_PASSWORD", "value": ...}` the first entry names the value of the second."""
    names = (value.get("name"), value.get("key")) if "value" in value else ()
    # A placeholder names the kind of a secret, and is not a value to judge.
    labels = (name for name in names if isinstance(name, str) and not PLACEHOLDER.search(name))
    return next((kind for name in labels if (kind := secret_kind(name))), None)
