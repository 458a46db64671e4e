"""WHAT do the words of time mean together? Before, after, since, until, between, from and to, around the names."""

from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from onrecord.text.times.anchors import NAMING_WORDS, Anchors, FoundTime
from onrecord.text.times.cursor import TO
from onrecord.text.times.periods import Period, Weekly, Yearly, earliest, latest
from onrecord.text.times.words import TimeToken

# What lasts "until Friday" or is due "by Friday" has the Friday in it.
_UNTIL: Final = frozenset({"until", "till", "til", "by", "through", "thru"})
_RELATIONS: Final = _UNTIL | {"before", "after", "since"}
_RELATIONS_OF_TWO_WORDS: Final = {("prior", "to"): "before", ("up", "to"): "until", ("as", "of"): "until"}
# Where an expression can begin, if not with a token that is understood by itself.
_FIRST_WORDS: Final = NAMING_WORDS | _RELATIONS | {"between", "from", "prior", "up", "as"}
# After one of these a month, a weekday or a year is expected.
_LEADS: Final = _RELATIONS | frozenset(
    "in on during over around circa within from between for year years early mid late".split()
)
_LEADS_OF_MONTHS: Final = _LEADS | {"of"}
_ONWARDS: Final = frozenset({"on", "onward", "onwards", "forward"})
# A thing that happened "before the move in May" happened before May was over: the move lies within it.
_OPEN_PHRASE: Final = frozenset(
    "the a an my our your his her its their this that we i you he she they it".split()
)
_OPEN_WORDS: Final = 6


class Span(NamedTuple):
    """A stretch of local time, open on a side where there is None, and the tokens that name it."""

    start: datetime | None
    end: datetime | None
    first: int
    next: int


class Reader(Anchors):
    """Reads one question, as someone does who lives at a moment in a zone."""

    def __init__(self, tokens: list[TimeToken], now: datetime, zone: tzinfo) -> None:
        super().__init__(tokens, now, zone)
        # Up to here the tokens are understood.
        self._done = 0

    def spans(self) -> list[Span]:
        """Every stretch of time that is named, in order; no token belongs to two."""
        found: list[Span] = []
        place = 0
        while place < len(self._tokens):
            self._head = place
            span = self._expression(place)
            if span is None:
                place += 1
                continue
            self._done = place = span.next
            if span.start or span.end:
                found.append(span)
        return found

    def _expression(self, place: int) -> Span | None:
        word = self._tokens[place].word
        if self._tokens[place].kind == "other" and word not in _FIRST_WORDS:
            return None
        try:
            if word in _RELATIONS:
                return self._related(place, word, place + 1)
            if relation := _RELATIONS_OF_TWO_WORDS.get((word, self._at(place + 1).word)):
                return self._related(place, relation, place + 2)
            if word in ("between", "from"):
                return self._ranged(place)
            return self._plain(place)
        except (ValueError, OverflowError):
            # The calendar ends at the years 1 and 9999.
            return None

    def _related(self, place: int, relation: str, start: int) -> Span | None:
        found = self._anchor(start, expected=True)
        if not found:
            return None
        period = self._resolved(found.meaning)
        if not period:
            return Span(None, None, place, found.next)
        if relation == "since":
            return Span(period.start, None, place, found.next)
        if relation == "after":
            return Span(period.end, None, place, found.next)
        # "Before the end of May" is not before its last days.
        at_its_end = self._at(start + (self._at(start).word == "the")).word == "end"
        if relation == "before" and not at_its_end:
            return Span(None, period.start, place, found.next)
        return Span(None, period.end, place, found.next)

    def _ranged(self, place: int) -> Span | None:
        left = self._anchor(place + 1, expected=True)
        if not left:
            return None
        if self._tokens[place].word == "from" and self._at(left.next).word in _ONWARDS:
            period = self._resolved(left.meaning)
            return Span(period.start if period else None, None, place, left.next + 1)
        return self._range(place, left)

    def _plain(self, place: int) -> Span | None:
        leads = _LEADS_OF_MONTHS if self._tokens[place].kind == "month" else _LEADS
        expected = self._lead(place) in leads or self._is_listed(place)
        found = self._anchor(place, expected)
        if not found:
            return None
        span = self._range(place, found)
        opened = self._opened(place)
        if opened is None or span.start is None or span.end is None:
            return span
        word = self._tokens[opened].word
        if word == "before":
            return Span(None, span.end, opened, span.next)
        return Span(span.start, None, opened, span.next)

    def _is_listed(self, place: int) -> bool:
        """Whether this goes on from a time just read: in 2024 and 2025, in March, April or June."""
        if not self._done or self._tokens[place].doubtful:
            return False
        joined = self._before(place) in ("and", "or") and place - 1 == self._done
        return joined or (place == self._done and self._tokens[place - 1].gap == ",")

    def _opened(self, place: int) -> int | None:
        """Where "since the migration on" begins, if the words before a date are of that form."""
        if self._lead(place) not in ("on", "in", "of", "from"):
            return None
        for back in range(place - 2, max(place - 3 - _OPEN_WORDS, self._done - 1), -1):
            token = self._tokens[back]
            if token.gap or token.word in ("and", "or"):
                return None
            if token.word in ("since", "before", "after"):
                plain = token.word == "since" or self._tokens[back + 1].word in _OPEN_PHRASE
                return back if plain else None
        return None

    def _range(self, place: int, left: FoundTime) -> Span:
        """What was found, or the whole range up to what follows "to" or "and"."""
        between = self._tokens[place].word == "between"
        joint = self._at(left.next, comma=between).word
        if joint in TO or (between and joint == "and"):
            right = self._anchor(left.next + 1, expected=True)
            if right:
                return self._from_to(place, left, right)
            if self._at(left.next + 1).kind == "number":
                # "from 1900 to 2500": then the first was no year either.
                return Span(None, None, place, left.next + 2)
        period = self._resolved(left.meaning)
        return Span(period and period.start, period and period.end, place, left.next)

    def _from_to(self, place: int, left: FoundTime, right: FoundTime) -> Span:
        """A side without a year goes by the other: from November to January 2024 begins in 2023."""
        one, other = left.meaning, right.meaning
        if isinstance(one, Period) and isinstance(other, Yearly | Weekly):
            other = earliest(other, one.start)
        other = self._resolved(other)
        if other and isinstance(one, Yearly | Weekly):
            one = latest(one, other.start)
        one = self._resolved(one)
        if not one or not other or one.start >= other.end:
            return Span(None, None, place, right.next)
        return Span(one.start, other.end, place, right.next)
