"""WHAT is at a place in a question? Looks at tokens one by one: what came before, which year or day, how many."""

from datetime import datetime, tzinfo
from typing import Final

from onrecord.text.times.words import NOTHING, TimeOfDay, TimeToken

TO: Final = frozenset({"to", "until", "till", "through", "thru", "-", "–"})
# Low and high: some counts are vague, and are read generously.
COUNTS: Final = {
    "a": (1, 1),
    "an": (1, 1),
    "couple": (2, 3),
    "few": (2, 5),
    "several": (3, 9),
    **{
        word: (at, at)
        for at, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
    },
}
# "in 2023 rows", "after 2000 requests": the number counts them.
_COUNTED: Final = frozenset(
    """
    % percent times rows records lines columns tables cells entries items files documents docs pages words chunks
    characters chars letters bytes bits kb mb gb tb tokens vectors dimensions keys ids nodes edges points steps
    requests calls queries messages events jobs tasks tests cases samples iterations epochs retries errors failures
    users people persons customers employees clients members connections threads processes workers instances
    ms milliseconds seconds minutes hours days weeks months years dollars euros pounds usd eur gbp
    units pieces copies km kilometers kilometres miles meters metres feet kg calories votes
    """.split()
)
_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2099


class Cursor:
    """The tokens of one question, and the moment and time zone in which it is asked."""

    def __init__(self, tokens: list[TimeToken], now: datetime, zone: tzinfo) -> None:
        self._tokens = tokens
        self._zone = zone
        self._now = now.astimezone(zone).replace(tzinfo=None)
        # Where a phrase begins, it does not matter how the one before it ended.
        self._head = 0

    def _at(self, place: int, comma: bool = False) -> TimeToken:
        """The token at a place, if the phrase goes on to it from the one before."""
        if not 0 <= place < len(self._tokens):
            return NOTHING
        gap = "" if place in (0, self._head) else self._tokens[place - 1].gap
        return self._tokens[place] if not gap or (comma and gap == ",") else NOTHING

    def _before(self, place: int) -> str:
        """The word before a place, in the same phrase."""
        return self._tokens[place - 1].word if place and not self._tokens[place - 1].gap else ""

    def _lead(self, place: int) -> str:
        """The word before a place, an article left out."""
        word = self._before(place)
        return self._before(place - 1) if word == "the" else word

    def _year(self, place: int, comma: bool = False) -> int | None:
        token = self._at(place, comma)
        if token.kind != "number" or not isinstance(token.value, int) or self._is_counted(place):
            return None
        return token.value if _FIRST_YEAR <= token.value <= _LAST_YEAR else None

    def _is_counted(self, place: int) -> bool:
        return self._at(place + 1).word in _COUNTED

    def _day_number(self, place: int) -> int | None:
        token = self._at(place)
        if token.kind in ("number", "ordinal") and isinstance(token.value, int):
            return token.value if 1 <= token.value <= 31 else None
        return None

    def _month_day(self, place: int) -> tuple[int, int, int] | None:
        """A day of a month, or a first and a last one, and the place after them."""
        first = self._day_number(place)
        if first is None or self._is_counted(place):
            return None
        last = self._day_number(place + 2) if self._at(place + 1).word in TO else None
        if last is None or last < first or self._at(place + 3).kind == "month":
            return first, first, place + 1
        return first, last, place + 3

    def _count(self, place: int) -> tuple[int, int, int] | None:
        """A number, in figures or words, as low and high, and the place after it: 3, a, a couple of, several."""
        token = self._at(place)
        if token.kind == "number" and isinstance(token.value, int) and token.value:
            return token.value, token.value, place + 1
        if token.word == "a" and self._at(place + 1).word in ("few", "couple"):
            place += 1
            token = self._at(place)
        if token.word not in COUNTS:
            return None
        after = place + 1
        after += token.word == "couple" and self._at(after).word == "of"
        return *COUNTS[token.word], after

    def _clock(self, place: int) -> tuple[TimeOfDay, int] | None:
        token, following = self._at(place), self._at(place + 1).word
        half = following in ("am", "pm")
        if token.kind == "number" and half and isinstance(token.value, int):
            clock = TimeOfDay(token.value)
        elif isinstance(token.value, TimeOfDay):
            clock = token.value
        else:
            return None
        if not half:
            return clock, place + 1
        if not 1 <= clock.hour <= 12:
            return None
        return clock._replace(hour=clock.hour % 12 + (12 if following == "pm" else 0)), place + 2
