"""WHICH words can speak of time? A question becomes tokens: months, units, numbers, dates, and the words between.

A number counts as one only when it stands alone: not in `v2024.1`, `#2023`, `orders_2023`, `3.11` or `$2000`.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, Literal, NamedTuple

from onrecord.text.times.periods import Period, Unit, Weekly, Yearly, calendar_unit

TokenKind = Literal[
    "clock",
    "date",
    "decade",
    "month",
    "moment",
    "number",
    "ordinal",
    "other",
    "part",
    "quarter",
    "season",
    "unit",
    "weekday",
]


class DatePart(NamedTuple):
    """Some hours of a day, the second number past 24 if it ends on the next."""

    hour: int
    until: int


class TimeOfDay(NamedTuple):
    """A time of day as it was written; without minutes the whole hour is meant."""

    hour: int
    minute: int | None = None


# A datetime is a date with a time, perhaps with a zone of its own.
Value = int | Unit | Period | Yearly | Weekly | DatePart | TimeOfDay | datetime | None


class TimeToken(NamedTuple):
    """A word in small letters, its meaning, and its spelling in the text."""

    word: str
    kind: TokenKind
    value: Value
    start: int
    end: int
    # What ends the phrase after it: nothing, a comma, or more than that.
    gap: Literal["", ",", "."] = ""
    # "may" and "march" in small letters are rather verbs.
    doubtful: bool = False


NOTHING: Final = TimeToken("", "other", None, 0, 0)

_MONTH_NAMES: Final = "january february march april may june july august september october november december"
_WEEKDAY_NAMES: Final = "monday tuesday wednesday thursday friday saturday sunday"
_VOCABULARY: Final[dict[str, tuple[TokenKind, Value]]] = {
    **{name: ("month", Yearly(at)) for at, name in enumerate(_MONTH_NAMES.split(), 1)},
    **{name[:3]: ("month", Yearly(at)) for at, name in enumerate(_MONTH_NAMES.split(), 1)},
    "sept": ("month", Yearly(9)),
    **{name: ("weekday", Weekly(at)) for at, name in enumerate(_WEEKDAY_NAMES.split())},
    **{name[:3]: ("weekday", Weekly(at)) for at, name in enumerate(_WEEKDAY_NAMES.split())},
    "tues": ("weekday", Weekly(1)),
    "thurs": ("weekday", Weekly(3)),
    "weekend": ("weekday", Weekly(5, days=2)),
    "spring": ("season", Yearly(3, months=3)),
    "summer": ("season", Yearly(6, months=3)),
    "autumn": ("season", Yearly(9, months=3)),
    "fall": ("season", Yearly(9, months=3)),
    "winter": ("season", Yearly(12, months=3)),
    **{f"q{at}": ("quarter", Yearly(3 * at - 2, months=3)) for at in range(1, 5)},
    "minute": ("unit", "minute"),
    "minutes": ("unit", "minute"),
    "hour": ("unit", "hour"),
    "hours": ("unit", "hour"),
    "day": ("unit", "day"),
    "days": ("unit", "day"),
    "week": ("unit", "week"),
    "weeks": ("unit", "week"),
    "month": ("unit", "month"),
    "months": ("unit", "month"),
    "quarter": ("unit", "quarter"),
    "quarters": ("unit", "quarter"),
    "year": ("unit", "year"),
    "years": ("unit", "year"),
    "decade": ("unit", "decade"),
    "decades": ("unit", "decade"),
    "morning": ("part", DatePart(5, 12)),
    "afternoon": ("part", DatePart(12, 18)),
    "evening": ("part", DatePart(18, 24)),
    "night": ("part", DatePart(18, 30)),
    "noon": ("clock", TimeOfDay(12)),
    "midnight": ("clock", TimeOfDay(0)),
    **{
        name: ("ordinal", at)
        for at, name in enumerate(
            "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
        )
    },
}
_DOUBTFUL: Final = frozenset({"may", "march", "mar", "august"})
# No expression is without one of these or a digit, so a question without any is done at once.
_NEEDED: Final = frozenset(
    word for word, (kind, _) in _VOCABULARY.items() if kind not in ("clock", "ordinal")
) | {"yesterday", "today", "tonight", "tomorrow"}

_LETTERS: Final = re.compile(r"[a-z]+|[0-9]")
_CHUNK: Final = re.compile(r"\S+")
_OPENING: Final = "\"'([{<“‘«*"
_CLOSING: Final = "\"')]}>”’»*.,;:!?…"
_LONGEST_CHUNK: Final = 40

_YEAR: Final = "(?:19|20)[0-9]{2}"
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_ORDINAL: Final = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")
_DECADE: Final = re.compile(r"((?:19|20)[0-9]0)['’]?s")
_CLOCK: Final = re.compile(r"([0-9]{1,2})(?::([0-9]{2})(?::[0-9]{2})?)?(am|pm)?")
_QUARTER: Final = re.compile(rf"q([1-4])[/-]?({_YEAR})|({_YEAR})[/-]?q([1-4])")
_MOMENT: Final = re.compile(
    rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}[tT][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(?:\.[0-9]{{1,6}})?)?(?:[zZ]|[+-][0-9]{{2}}:?[0-9]{{2}})?"
)
_YEAR_FIRST: Final = re.compile(rf"({_YEAR})([/-])([0-9]{{1,2}})(?:\2([0-9]{{1,2}}))?")
_YEAR_LAST: Final = re.compile(rf"([0-9]{{1,2}})/([0-9]{{1,2}})/({_YEAR})")
# December 1,2023
_DAY_AND_YEAR: Final = re.compile(rf"([0-9]{{1,2}}(?:st|nd|rd|th)?),({_YEAR})")
_DASH: Final = re.compile("[-–]")
_ROUGHLY: Final = frozenset({"early", "mid", "late"})


def tokens_of(question: str) -> list[TimeToken]:
    """The words of a question, those of time understood; none at all if no word can speak of time."""
    if not _NEEDED.isdisjoint(words := _LETTERS.findall(question.lower())) or _has_digit(words):
        tokens: list[TimeToken] = []
        for chunk in _CHUNK.finditer(question):
            _add(tokens, chunk.group(), chunk.start())
        return tokens
    return []


def _has_digit(words: list[str]) -> bool:
    return any(word <= "9" for word in words)


def _add(tokens: list[TimeToken], chunk: str, at: int) -> None:
    opened = chunk.lstrip(_OPENING)
    at += len(chunk) - len(opened)
    if len(opened) < len(chunk):
        _close(tokens, ".")
    core = opened.rstrip(_CLOSING)
    if not core:
        _close(tokens, _gap(opened))
        return
    tokens += _read(core, at) if len(core) <= _LONGEST_CHUNK else [_other(core[:1].lower(), core, at)]
    abbreviated = tokens[-1].kind in ("month", "weekday") and opened[len(core) :] == "." and len(core) <= 5
    if not abbreviated:
        _close(tokens, _gap(opened[len(core) :]))


def _close(tokens: list[TimeToken], gap: Literal["", ",", "."]) -> None:
    if tokens and gap and tokens[-1].gap != ".":
        tokens[-1] = tokens[-1]._replace(gap=gap)


def _gap(closing: str) -> Literal["", ",", "."]:
    if not closing:
        return ""
    return "," if closing == "," else "."


def _read(core: str, at: int) -> list[TimeToken]:
    word = core.lower()
    if word.endswith(("'s", "’s")) and not word[0].isdigit():
        word = word[:-2]
    if word in _VOCABULARY:
        kind, value = _VOCABULARY[word]
        doubtful = word in _DOUBTFUL and core[0].islower()
        return [TimeToken(word, kind, value, at, at + len(core), doubtful=doubtful)]
    if word.isalpha():
        return [_other(word, core, at)]
    if any(letter in "0123456789" for letter in word):
        whole = _read_figures(word)
        if whole:
            return [TimeToken(word, *whole, at, at + len(core))]
        if pair := _DAY_AND_YEAR.fullmatch(word):
            day, year = pair.span(1), pair.span(2)
            return [*_read(core[: day[1]], at), *_read(core[year[0] :], at + year[0])]
    return list(_read_pair(core, at)) or [_other(word, core, at)]


def _other(word: str, core: str, at: int) -> TimeToken:
    return TimeToken(word, "other", None, at, at + len(core))


def _read_pair(core: str, at: int) -> Iterator[TimeToken]:
    """mid-March, March-May, 1980–1985, 3-7: two words that are understood, with "to" in between."""
    pieces = _DASH.split(core)
    if len(pieces) != 2 or not all(pieces):
        return
    left = _read(pieces[0], at)
    right = _read(pieces[1], at + len(pieces[0]) + 1)
    joined = ("month", "weekday", "quarter", "number", "ordinal", "season")
    if len(left) != 1 or right[0].kind not in (*joined, "decade"):
        return
    if left[0].word in _ROUGHLY:
        yield from (*left, *right)
    elif left[0].kind in joined:
        place = left[0].end
        yield from (*left, TimeToken("to", "other", None, place, place + 1), *right)


def _read_figures(word: str) -> tuple[TokenKind, Value] | None:
    """The meaning of a word with digits; a date that no calendar has is a date without a value."""
    if _NUMBER.fullmatch(word):
        return "number", int(word)
    if found := _ORDINAL.fullmatch(word):
        return "ordinal", int(found[1])
    if found := _DECADE.fullmatch(word):
        return "decade", calendar_unit(datetime(int(found[1]), 1, 1), "decade")
    if found := _QUARTER.fullmatch(word):
        year, quarter = (found[2], found[1]) if found[1] else (found[3], found[4])
        return "date", calendar_unit(datetime(int(year), int(quarter) * 3, 1), "quarter")
    if found := _MOMENT.fullmatch(word):
        return _moment(word)
    if found := _YEAR_FIRST.fullmatch(word):
        return _year_first(found)
    if found := _YEAR_LAST.fullmatch(word):
        return _year_last(int(found[1]), int(found[2]), int(found[3]))
    if found := _CLOCK.fullmatch(word):
        return _clock(int(found[1]), found[2], found[3])
    return None


def _moment(word: str) -> tuple[TokenKind, Value]:
    try:
        return "moment", datetime.fromisoformat(word.upper())
    except ValueError:
        return "date", None


def _year_first(found: re.Match[str]) -> tuple[TokenKind, Value] | None:
    year, _, month, day = found.groups()
    if day is None:
        # 2010-11 may be a month, 2010/11 and 2010-9 are not written for one.
        is_month = found[2] == "-" and len(month) == 2
        return _date(int(year), int(month), None) if is_month else None
    return _date(int(year), int(month), int(day))


def _year_last(one: int, other: int, year: int) -> tuple[TokenKind, Value] | None:
    """18/09/2014 and 9/18/2014 can be read in one way only; 05/03/2024 in two, so it is not read."""
    if one <= 12 and other <= 12 and one != other:
        return "other", None
    day, month = (one, other) if one > 12 else (other, one)
    return _date(year, month, day)


def _date(year: int, month: int, day: int | None) -> tuple[TokenKind, Value]:
    try:
        return "date", calendar_unit(
            datetime(year, month, 1 if day is None else day), "month" if day is None else "day"
        )
    except ValueError:
        return "date", None


def _clock(hour: int, minute: str | None, half: str | None) -> tuple[TokenKind, Value] | None:
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or int(minute or 0) > 59:
        return None
    return "clock", TimeOfDay(hour, int(minute) if minute else None)
