"""WHICH names does a formula or a filter mention? A small tokenizer finds them; its context decides what a name is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from onrecord.errors import Fault, Invalid

# An accent may be a character of its own, behind its letter.
_NAME: Final = r"[^\W\d][\w\u0300-\u036f]*"
_TOKEN: Final = re.compile(
    rf"""
    (?P<space>\s+)
    | (?P<literal>'[^']*'|"[^"]*")
    | (?P<placeholder>\{{[^{{}}]*\}})
    | (?P<cast>::\s*{_NAME})
    | (?P<aggregation>:{_NAME})
    | (?P<number>\.?\d[\w.]*)
    | (?P<name>\*(?=:{_NAME})|{_NAME}(?:\.{_NAME})*(?:\.\*)?)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<comma>,)
    | (?P<operator>[<>=!]+|[-+*/%])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_AGGREGATION: Final = re.compile(rf"({_NAME})(\(.*\))?", re.DOTALL)

#: These words never name a column.
_KEYWORDS: Final = frozenset(
    "and or not in is null like ilike between case when then else end true false as exists distinct".split()
)
#: These words name a column only if the model has one of that name.
_SOFT_WORDS: Final = frozenset(
    """
    all any asc at avg bigint bool boolean both by cast char coalesce collate concat count cross current
    current_date current_time current_timestamp current_user date datetime day days decimal desc div
    double epoch escape extract first float following for from full glob group having hour hours if ifnull
    inner instr int integer interval isnull join last lateral leading left length limit localtime
    localtimestamp lower max millisecond min minute minutes mod month months natural none notnull now
    nullif nulls numeric offset on order outer over partition preceding precision quarter quarters range
    real regexp replace right rlike round row rows second seconds select similar some substr substring sum
    symmetric text time timestamp timestamptz timezone to trailing trim unbounded union unknown upper
    using uuid varchar varying week weeks where window with within without xor year years zone
    """.split()
)
#: Their arguments after the first may have names, as in `rank(amount:sum, partition_by=status)`.
_TRANSFORMS: Final = frozenset(
    """
    change change_pct consecutive_periods cumsum dense_rank first lag last lead ntile percent_rank rank time_shift
    """.split()
)
#: The owner of a parenthesis whose contents are ignored.
_IGNORED: Final = ":"
_SHOWN_CHARACTERS: Final = 80


class UnreadableFormula(Invalid):
    """This is not a valid formula, filter or aggregation."""

    def __init__(self, reason: str, field: str = "formula") -> None:
        self.reason = reason
        super().__init__([Fault(field, reason)])


@dataclass(frozen=True, slots=True, kw_only=True)
class NameInFormula:
    """A name in a text: `amount`, `customers.name`, `*` or `customers.*`."""

    name: str
    aggregation: str | None = None
    #: Whether it may also be a keyword, so that it counts only if the model has a part of this name.
    soft: bool = False


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


_NOTHING: Final = _Token("end", "", -1, -1)


def mentions_in_formula(formula: str) -> tuple[NameInFormula, ...]:
    """Every name that a measure is computed from; of `amount:weighted_avg(weight=quantity)` that is `amount`."""
    return _mentions(formula, _tokens(formula, strict=True))


def mentions_in_filter(condition: str) -> tuple[NameInFormula, ...]:
    """Every name in a condition. Operators are not checked: each database has its own."""
    return _mentions(condition, _tokens(condition, strict=False))


def names_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Every word of a formula or a filter that may be a name, with its place."""
    for token in _scan(text):
        if token.kind == "name" and token.text.lower() not in _KEYWORDS:
            yield token.text, token.start, token.end


def split_aggregation(reference: str) -> tuple[str, str | None]:
    """Split at the colon outside parentheses: `amount:corr(other=tax)` is (`amount`, `corr`)."""
    colon = _outer_colon(reference)
    if colon is None:
        return reference, None
    written = _AGGREGATION.fullmatch(reference, colon + 1)
    if written is None or (written[2] and not _is_one_group(written[2])):
        raise UnreadableFormula(
            f"{shown(reference[colon:])} of {shown(reference)} is not an aggregation: "
            "write ':sum', or ':corr(other=tax)' with all parentheses closed"
        )
    return reference[:colon], written[1]


def shown(text: str) -> str:
    """A text in quotes for a message, cut if it is long."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")


def _outer_colon(reference: str) -> int | None:
    depth = 0
    for token in _scan(reference):
        if token.kind == "open":
            depth += 1
        elif token.kind == "close":
            depth -= 1
        elif depth == 0 and token.kind != "literal" and token.text.startswith(":"):
            return token.start
    return None


def _is_one_group(text: str) -> bool:
    """Whether the parenthesis at the start of a text closes at its end and not before."""
    depth = 0
    for token in _scan(text):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth == 0:
            return token.end == len(text)
    return False


def _scan(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        yield _Token(str(found.lastgroup), found.group(), found.start(), found.end())


def _tokens(text: str, *, strict: bool) -> Sequence[_Token]:
    tokens = [token for token in _scan(text) if token.kind != "space"]
    if not tokens:
        raise UnreadableFormula("must not be empty")
    for token in tokens:
        if token.kind != "other":
            continue
        if token.text in "'\"":
            raise _unreadable(
                text, token, "this quote is never closed; a quote within a text is written twice"
            )
        if strict:
            raise _unreadable(
                text, token, "a formula has names, aggregations, numbers, + - * / % and functions"
            )
    return tokens


def _mentions(text: str, tokens: Sequence[_Token]) -> tuple[NameInFormula, ...]:
    found: list[NameInFormula] = []
    #: Each open parenthesis, and what it belongs to: a function, nothing, or what is ignored.
    groups: list[tuple[_Token, str]] = []
    ignored = 0
    before = _NOTHING
    for token, after in zip(tokens, [*tokens[1:], _NOTHING], strict=True):
        if token.kind == "open":
            groups.append((token, _owner(text, before, token)))
            ignored += groups[-1][1] == _IGNORED
        elif token.kind == "close":
            if not groups:
                raise _unreadable(text, token, "this parenthesis was never opened")
            ignored -= groups.pop()[1] == _IGNORED
        elif token.kind == "name" and not ignored:
            inside = groups[-1][1] if groups else ""
            if _is_mention(token, before, after, inside):
                found.append(_mention(token, after))
        before = token
    if groups:
        raise _unreadable(text, groups[-1][0], "this parenthesis is never closed")
    return tuple(dict.fromkeys(found))


def _owner(text: str, before: _Token, token: _Token) -> str:
    if before.kind in ("aggregation", "cast"):
        return _IGNORED
    if before.kind != "name":
        return ""
    if before.text.lower() == "over":
        raise _unreadable(
            text,
            before,
            "window functions are not read here: use a transform such as rank(amount:sum)",
            token,
        )
    return before.text.lower()


def _is_mention(token: _Token, before: _Token, after: _Token, inside: str) -> bool:
    word = token.text.lower()
    if word in _KEYWORDS or after.kind == "open":
        return False
    if before.kind == "name" and before.text.lower() == "as":
        return False
    # As in `date '2026-01-01'` and in `N'text'`.
    if after.kind == "literal" and (word in _SOFT_WORDS or after.start == token.end):
        return False
    return not (inside in _TRANSFORMS and before.kind == "comma" and after.text == "=")


def _mention(token: _Token, after: _Token) -> NameInFormula:
    aggregation = after.text.removeprefix(":") if after.kind == "aggregation" else None
    soft = aggregation is None and token.text.lower() in _SOFT_WORDS
    return NameInFormula(name=token.text, aggregation=aggregation, soft=soft)


def _unreadable(text: str, token: _Token, reason: str, until: _Token | None = None) -> UnreadableFormula:
    piece = text[token.start : (until or token).end]
    return UnreadableFormula(f"cannot be read at character {token.start + 1} ({shown(piece)}): {reason}")
