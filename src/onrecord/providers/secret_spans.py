"""WHERE in a text are secrets? All rules at once: one cheap look, then those whose anchors occur."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

from onrecord.providers.secret_contexts import CONTEXT_RULES, LONG_CONTEXT_RULES
from onrecord.providers.secret_rules import SHORTEST_TOKEN, TOKEN_RULES, SecretRule
from onrecord.providers.secret_values import SecretCandidate

Span = tuple[int, int, str]  # start, end, name of the rule

PLACEHOLDER = re.compile(r"\[secret:([a-z-]{1,32})\]")
MARK = "[secret:"
_LONG_RUN = re.compile(rf"[A-Za-z0-9_.:/+=~%-]{{{SHORTEST_TOKEN}}}")
_REST_OF_RUN = re.compile(r"(?:\.?[A-Za-z0-9_~%+/=-]+)*+")
_WHAT_ENDS_A_VALUE = ('"', "'", "`", "\\", "”", "“", "»", "」", "』", "›", "’", "@", "<")
_LONGEST_CANDIDATE = 256
# How many rejected values of one rule may cover the same letter.
_MOST_REJECTED = 8


def _by_anchor(rules: tuple[SecretRule, ...]) -> tuple[tuple[str, tuple[SecretRule, ...]], ...]:
    """Look for each anchor once, however many rules share it."""
    anchors: dict[str, list[SecretRule]] = {}
    for rule in rules:
        for anchor in rule.anchors:
            # At `pwd` the same rule is tried for `pw`, too.
            if not any(anchor.startswith(other) for other in rule.anchors if other != anchor):
                anchors.setdefault(anchor, []).append(rule)
    return tuple((anchor, tuple(shared)) for anchor, shared in anchors.items())


def _tree(words: list[str]) -> str:
    """A regular expression for any of the words that looks at each letter once."""
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[0], []).append(word[1:])
    # A word that is a prefix of another makes the other superfluous.
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
    return PLACEHOLDER.sub(lambda m: "\0" * len(m[0]), lowered) if MARK in lowered else lowered


def _anchored(rule: SecretRule, anchor: str, text: str, lowered: str) -> Iterator[Span]:
    """What the rule accepts at an anchor.

    In `sig=-sig=-sig=-…` each value contains the next. After a few of them the whole rest is hidden without further
    checks: it means nothing to a reader, and may contain a secret.
    """
    reach = rejected = 0
    place = lowered.find(anchor)
    while place >= 0:
        following = place + 1
        match = rule.pattern.match(text, place)
        if match:
            start, end = _span(match)
            rejected = rejected + 1 if start < reach else 0
            if rejected == _MOST_REJECTED:
                yield start, max(reach, end), rule.name
                following = max(reach, end)
            elif rule.accept(SecretCandidate(text, start, end)):
                end = _to_end_of_run(text, start, end)
                yield start, end, rule.name
                following = end
            elif not match.lastindex:
                following = end  # a token of unbounded length: do not read it again from its middle
            reach = max(reach, end)
        place = lowered.find(anchor, max(following, place + 1))


def _scanned(rule: SecretRule, text: str) -> Iterator[Span]:
    for match in rule.pattern.finditer(text):
        start, end = _span(match)
        if rule.accept(SecretCandidate(text, start, end)):
            yield start, end, rule.name


def _span(match: re.Match[str]) -> tuple[int, int]:
    """The place of the secret, without the marks that close a sentence or a bracket around it."""
    start, end = match.span(match.lastindex or 0)
    text = match.string
    if match.lastindex and not text.startswith(_WHAT_ENDS_A_VALUE, end):
        while end > start + 1 and text[end - 1] in ".,:)]}":
            end -= 1
    return start, end


def _to_end_of_run(text: str, start: int, end: int) -> int:
    """The end of the whole value: patterns see a bounded part of it, but a longer value is hidden whole."""
    rest = _REST_OF_RUN.match(text, end) if end - start >= _LONGEST_CANDIDATE else None
    return rest.end() if rest else end


def _hinted(lowered: str) -> list[tuple[str, tuple[SecretRule, ...]]]:
    """The anchors in a text; a few stems show which are worth looking for."""
    stems = set(_EVERY_HINT.findall(lowered))
    return [hit for stem in sorted(stems) for hit in _anchors_from(stem) if hit[0] in lowered]


@cache
def _anchors_from(stem: str) -> tuple[tuple[str, tuple[SecretRule, ...]], ...]:
    return tuple(hit for hit in _ASCII_CONTEXT if _stem(hit[0]).startswith(stem))


def has_signs(text: str) -> bool:
    """One cheap look: if it finds nothing, no rule would find a secret."""
    return not text.isascii() or bool(_HINT.search(text.lower()) or _LONG_RUN.search(text))


def find(text: str) -> list[Span]:
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
    return _outside_placeholders(text, spans) if spans and MARK in text else spans


def _outside_placeholders(text: str, spans: list[Span]) -> list[Span]:
    """Drop what overlaps a placeholder: it was scrubbed before."""
    taken = [m.span() for m in PLACEHOLDER.finditer(text) if m[1] in _RANK]
    starts = [start for start, _ in taken]

    def is_free(span: Span) -> bool:
        nearest = bisect_left(starts, span[1]) - 1  # the last placeholder that begins before the span ends
        return nearest < 0 or taken[nearest][1] <= span[0]

    return [span for span in spans if is_free(span)]


def merge(spans: list[Span]) -> list[Span]:
    """Join overlapping spans under the name of the most specific rule."""
    merged: list[Span] = []
    for start, end, name in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, other = merged[-1]
            merged[-1] = (first, max(last, end), min(name, other, key=_RANK.__getitem__))
        else:
            merged.append((start, end, name))
    return merged


def redact(text: str, spans: list[Span]) -> tuple[str, list[Span]]:
    """Replace every span by a placeholder; also returns the places of the placeholders."""
    pieces: list[str] = []
    placed: list[Span] = []
    cursor = length = 0
    for start, end, name in spans:
        placeholder = f"{MARK}{name}]"
        pieces += (text[cursor:start], placeholder)
        length += start - cursor
        placed.append((length, length + len(placeholder), name))
        length += len(placeholder)
        cursor = end
    return "".join((*pieces, text[cursor:])), placed
