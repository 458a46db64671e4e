"""WHICH parts of a text are secrets, and what remains of it without them?"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from onrecord.providers.secret_contexts import CONTEXT_RULES, LONG_CONTEXT_RULES
from onrecord.providers.secret_names import kind_of, secret_kind
from onrecord.providers.secret_rules import SHORTEST_TOKEN, TOKEN_RULES, Rule
from onrecord.providers.secret_values import Candidate

Span = tuple[int, int, str]  # start, end, name of the rule


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets and the names of the rules that found them, in order of place."""

    text: str
    found: tuple[str, ...]


_PLACEHOLDER = re.compile(r"\[secret:([a-z-]{1,32})\]")
_MARK = "[secret:"
_LONG_RUN = re.compile(rf"[A-Za-z0-9_.:/+=~%-]{{{SHORTEST_TOKEN}}}")
_REST_OF_RUN = re.compile(r"(?:\.?[A-Za-z0-9_~%+/=-]+)*+")
_WHAT_ENDS_A_VALUE = ('"', "'", "`", "\\", "”", "“", "»", "」", "』", "›", "’", "@", "<")
_LONGEST_CANDIDATE = 256
_MOST_PASSES = 4


def _by_anchor(rules: tuple[Rule, ...]) -> tuple[tuple[str, tuple[Rule, ...]], ...]:
    """Look for each anchor once, however many rules share it."""
    anchors: dict[str, list[Rule]] = {}
    for rule in rules:
        for anchor in rule.anchors:
            anchors.setdefault(anchor, []).append(rule)
    return tuple((anchor, tuple(shared)) for anchor, shared in anchors.items())


def _tree(words: list[str]) -> str:
    """A regular expression for any of the words that looks at each letter once."""
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[0], []).append(word[1:])
    # A word that is the beginning of another makes the other superfluous.
    branches = [re.escape(head) + (_tree(tails) if all(tails) else "") for head, tails in heads.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _stem(anchor: str) -> str:
    """The anchor from its rarest letter on, so that most letters of a text cannot begin one."""
    return anchor[min(range(max(1, len(anchor) - 2)), key=lambda place: _RARE_FIRST.find(anchor[place])) :]


_RARE_FIRST = "zqjxkvbwgpcmufydlhrsnioate "
_ALL_RULES = (*TOKEN_RULES, *LONG_CONTEXT_RULES, *CONTEXT_RULES)
_LONG = _by_anchor((*TOKEN_RULES, *LONG_CONTEXT_RULES))
_ASCII_CONTEXT = tuple(pair for pair in _by_anchor(CONTEXT_RULES) if pair[0].isascii())
_OTHER_CONTEXT = tuple(pair for pair in _by_anchor(CONTEXT_RULES) if not pair[0].isascii())
_STEMS = _tree([_stem(anchor) for anchor, _ in _ASCII_CONTEXT])
_HINT = re.compile(_STEMS)  # one cheap look before the many
_EVERY_HINT = re.compile(f"(?=({_STEMS}))")
_RANK = {name: rank for rank, name in enumerate(dict.fromkeys(rule.name for rule in _ALL_RULES))}


def _fold(text: str) -> str:
    """Lower case of the same length, so that places in it are places in the text (only İ grows when lowered)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("İ", "I").lower()


def _without_placeholders(lowered: str) -> str:
    """Blank the placeholders: the `password` in `[secret:password]` is no key to what follows it."""
    return _PLACEHOLDER.sub(lambda m: "\0" * len(m[0]), lowered) if _MARK in lowered else lowered


def _anchored(rule: Rule, anchor: str, text: str, lowered: str) -> Iterator[Span]:
    """What the rule accepts where the anchor stands."""
    place = lowered.find(anchor)
    while place >= 0:
        following = place + 1
        match = rule.pattern.match(text, place)
        if match:
            start, end = _span(match)
            if rule.accept(Candidate(text, start, end)):
                end = _to_end_of_run(text, start, end)
                yield start, end, rule.name
                following = end
            elif not match.lastindex:
                following = end  # a token of unbounded length: do not read it again from its middle
        place = lowered.find(anchor, max(following, place + 1))


def _scanned(rule: Rule, text: str) -> Iterator[Span]:
    for match in rule.pattern.finditer(text):
        start, end = _span(match)
        if rule.accept(Candidate(text, start, end)):
            yield start, end, rule.name


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Where the secret stands, without the marks that close a sentence or a bracket around it."""
    start, end = match.span(match.lastindex or 0)
    text = match.string
    if match.lastindex and not text.startswith(_WHAT_ENDS_A_VALUE, end):
        while end > start + 1 and text[end - 1] in ".,:)]}":
            end -= 1
    return start, end


def _to_end_of_run(text: str, start: int, end: int) -> int:
    """Patterns look at a bounded part of a value; a longer one is hidden whole all the same."""
    rest = _REST_OF_RUN.match(text, end) if end - start >= _LONGEST_CANDIDATE else None
    return rest.end() if rest else end


def _hinted(lowered: str) -> list[tuple[str, tuple[Rule, ...]]]:
    """The anchors in a text, of which a few stems tell which are worth looking for."""
    stems = set(_EVERY_HINT.findall(lowered))
    return [hit for stem in sorted(stems) for hit in _anchors_from(stem) if hit[0] in lowered]


@cache
def _anchors_from(stem: str) -> tuple[tuple[str, tuple[Rule, ...]], ...]:
    return tuple(hit for hit in _ASCII_CONTEXT if _stem(hit[0]).startswith(stem))


def may_hold_secrets(text: str) -> bool:
    """One cheap look: where it finds no sign, no rule finds a secret."""
    return not text.isascii() or bool(_HINT.search(text.lower()) or _LONG_RUN.search(text))


def _find(text: str) -> list[Span]:
    lowered = _without_placeholders(_fold(text))
    hits = _hinted(lowered) if _HINT.search(lowered) else []
    if not text.isascii():
        hits += [hit for hit in _OTHER_CONTEXT if hit[0] in lowered]
    if _LONG_RUN.search(text):
        hits += [hit for hit in _LONG if hit[0] in lowered]
    spans: list[Span] = []
    for anchor, rules in hits:
        for rule in rules:
            spans += _scanned(rule, text) if rule.scan else _anchored(rule, anchor, text, lowered)
    return _outside_placeholders(text, spans) if spans and _MARK in text else spans


def _outside_placeholders(text: str, spans: list[Span]) -> list[Span]:
    """Drop what overlaps a placeholder: it was scrubbed before."""
    taken = [m.span() for m in _PLACEHOLDER.finditer(text) if m[1] in _RANK]
    starts = [start for start, _ in taken]

    def is_free(span: Span) -> bool:
        nearest = bisect_left(starts, span[1]) - 1  # the last placeholder that begins before the span ends
        return nearest < 0 or taken[nearest][1] <= span[0]

    return [span for span in spans if is_free(span)]


def _merge(spans: list[Span]) -> list[Span]:
    """Join overlapping spans under the name of the most telling rule."""
    merged: list[Span] = []
    for start, end, name in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, other = merged[-1]
            merged[-1] = (first, max(last, end), min(name, other, key=_RANK.__getitem__))
        else:
            merged.append((start, end, name))
    return merged


def _redact(text: str, spans: list[Span]) -> tuple[str, list[Span]]:
    """Put a placeholder over every span; also say where the placeholders now stand."""
    pieces: list[str] = []
    placed: list[Span] = []
    cursor = length = 0
    for start, end, name in spans:
        placeholder = f"{_MARK}{name}]"
        pieces += (text[cursor:start], placeholder)
        length += start - cursor
        placed.append((length, length + len(placeholder), name))
        length += len(placeholder)
        cursor = end
    return "".join((*pieces, text[cursor:])), placed


def scrub(text: str) -> Scrubbed:
    """Replace every secret by `[secret:<rule>]` and leave the rest as it is.

    A replacement can open a border for another secret, hence a few passes; one more is only paid when one found some.
    """
    placed: list[Span] = []
    for _ in range(_MOST_PASSES):
        spans = _find(text)
        if not spans:
            break
        text, placed = _redact(text, _merge(spans + placed))
    return Scrubbed(text, tuple(name for _, _, name in placed))


def scrub_bytes(content: bytes) -> tuple[bytes, int]:
    """A file without its secrets, and how many there were; what is no text is left as it is."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content, 0
    scrubbed = scrub(text)
    return (scrubbed.text.encode(), len(scrubbed.found)) if scrubbed.found else (content, 0)


# ---- metadata --------------------------------------------------------------------------------------------
_DEEPEST = 100
_PLAIN_NAMES = frozenset(
    "user username login name host hostname port type kind id email region expires url scope".split()
)


class _Walk:
    """Cleans one nested value. Remembers what it has seen, so that shared and cyclic parts are walked once."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._seen: dict[tuple[int, str, str | None], object] = {}
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
        return f"{_MARK}{kind}]"

    def _text(self, name: str, value: str, kind: str | None) -> str:
        kind = kind or kind_of(name, value)
        if kind and value.strip() and not _PLACEHOLDER.fullmatch(value):
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
        text, number = scrubbed.text, 2
        while scrubbed.found and text in taken:  # two secrets of one kind must not become one key
            text, number = f"{scrubbed.text} {number}", number + 1
        return text


def _named_by(value: Mapping[object, object]) -> str | None:
    """`{"name": "DB_PASSWORD", "value": ...}`: another entry says what the value is."""
    names = (value.get("name"), value.get("key")) if "value" in value else ()
    # What was scrubbed before names a kind of secret, not what the value is.
    told = (name for name in names if isinstance(name, str) and not _PLACEHOLDER.search(name))
    return next((kind for name in told if (kind := secret_kind(name))), None)


def scrub_value(key: str, value: object) -> tuple[object, tuple[str, ...]]:
    """The value of a metadata entry without its secrets, and the names of the rules that found them.

    Under the name of a credential a text or number is replaced whole; other texts go through scrub().
    """
    walk = _Walk()
    return walk.clean(key, value, secret_kind(key)), tuple(walk.found)
