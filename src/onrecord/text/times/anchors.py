"""WHICH period does a name mean? March, last week, two days ago, the end of 2023: one reader for each way to say it.

A month, a weekday or a season without a year means the last one that has begun; with "next", the next. A number is a
year, and a doubtful word a month, only where the words around it say so.
"""

from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Final, NamedTuple, cast

from onrecord.text.times.cursor import COUNTS, TO, Cursor
from onrecord.text.times.periods import (
    Period,
    Recurring,
    Unit,
    Weekly,
    Yearly,
    around,
    calendar_unit,
    earliest,
    in_year,
    is_a_day,
    latest,
    nth,
    part,
    shifted,
)
from onrecord.text.times.words import DatePart, TimeToken

_LEADS_OF_DOUBTFUL_DAYS: Final = frozenset({"on"})
_LEADS_OF_DOUBTFUL_SEASONS: Final = frozenset({"in", "during", "over", "since", "until", "by"})
# What happens "on Saturday mornings" happened on no one Saturday.
_EVERY_WEEK: Final = frozenset({"mornings", "afternoons", "evenings", "nights"})
_THIRDS: Final = {"early": 0, "mid": 1, "late": 2, "beginning": 0, "start": 0, "middle": 1, "end": 2}
_LAST: Final = frozenset({"last", "past", "previous", "preceding"})
_NEXT: Final = frozenset({"next", "coming", "upcoming"})
_THIS: Final = frozenset({"this", "current"})
_DAYS_FROM_TODAY: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
_DAY: Final = timedelta(days=1)
# "The end of the end of …" leads nowhere: enough for "two weeks before the end of last year".
_DEEPEST: Final = 4


class FoundTime(NamedTuple):
    """What some words mean and the place after them; no meaning if they name a day that does not exist."""

    meaning: Period | Recurring | None
    next: int


class Anchors(Cursor):
    """Reads the names of days and longer times."""

    def __init__(self, tokens: list[TimeToken], now: datetime, zone: tzinfo) -> None:
        super().__init__(tokens, now, zone)
        self._depth = 0

    def _anchor(self, place: int, expected: bool, comma: bool = False) -> FoundTime | None:
        """The day or longer time that the words from a place on name. Expected: the word before speaks of time."""
        token = self._at(place, comma)
        read = _BY_WORD.get(token.word) or _BY_KIND.get(token.kind)
        if read is None or self._depth >= _DEEPEST:
            return None
        outer, self._head = self._head, place
        self._depth += 1
        try:
            found = read(self, place, expected)
        finally:
            self._depth -= 1
            self._head = outer
        return self._with_time_of_day(found) if found else None

    def _resolved(self, meaning: Period | Recurring | None) -> Period | None:
        if isinstance(meaning, Weekly) and meaning.days == 1:
            # On a Monday one says today, so "on Monday" is another.
            return latest(meaning, self._today.start - _DAY)
        if isinstance(meaning, Yearly | Weekly):
            return latest(meaning, self._now)
        return meaning

    def _made_of(self, whole: FoundTime | None, make: Callable[[Period], Period | None]) -> FoundTime | None:
        """What is made of a period that was found; the words of a day that does not exist are taken all the same."""
        period = self._resolved(whole.meaning) if whole else None
        return FoundTime(make(period), whole.next) if whole and period else whole

    @property
    def _today(self) -> Period:
        return calendar_unit(self._now, "day")

    # Names of the calendar

    def _the(self, place: int, expected: bool) -> FoundTime | None:
        return self._anchor(place + 1, expected)

    def _written(self, place: int, expected: bool) -> FoundTime | None:
        value = self._tokens[place].value
        if isinstance(value, datetime):
            local = value.astimezone(self._zone).replace(tzinfo=None) if value.tzinfo else value
            return FoundTime(calendar_unit(local, "minute"), place + 1)
        return FoundTime(value if isinstance(value, Period) else None, place + 1)

    def _month(self, place: int, expected: bool) -> FoundTime | None:
        """May, May 2023, May 3rd, May 3-7, 2024; a doubtful "may" needs a word before it, a year or an ordinal."""
        token = self._tokens[place]
        assert isinstance(token.value, Yearly)
        spoken = expected or (self._at(place + 1).word in TO and self._at(place + 2).kind == "month")
        after = place + 1
        if day := self._month_day(after + (self._at(after).word == "the")):
            first, last, after = day
            yearly = Yearly(token.value.month, day=first, last_day=last)
            dated = self._with_year(yearly, after)
            sure = dated or expected or self._tokens[after - 1].kind == "ordinal" or not token.doubtful
            return dated or (FoundTime(self._existing(yearly), after) if sure else None)
        if dated := self._with_year(token.value, after):
            return dated
        return FoundTime(token.value, after) if spoken and not (token.doubtful and not expected) else None

    def _with_year(self, yearly: Yearly, place: int) -> FoundTime | None:
        """A month, quarter, season or day with the year that follows it, if one does."""
        if self._at(place).word == "of":
            place += 1
        year = self._year(place, comma=True)
        return FoundTime(in_year(yearly, year), place + 1) if year else None

    def _existing(self, yearly: Yearly) -> Yearly | None:
        return yearly if latest(yearly, self._now) else None

    def _number(self, place: int, expected: bool) -> FoundTime | None:
        """3 May, 3-7 May 2024, 3 days ago, or a year where one is expected."""
        day = self._day_and_month(place, expected)
        if day:
            return day
        if ago := self._counted(place, expected):
            return ago
        year = self._year(place)
        if year is None or not expected:
            return None
        following = self._at(place + 1)
        if following.kind == "quarter" and isinstance(following.value, Yearly):
            return FoundTime(in_year(following.value, year), place + 2)
        return FoundTime(calendar_unit(datetime(year, 1, 1), "year"), place + 1)

    def _day_and_month(self, place: int, expected: bool) -> FoundTime | None:
        first = self._day_number(place)
        if first is None:
            return None
        last, after = first, place + 1
        joint = self._at(after).word
        if joint in TO or (joint == "and" and self._lead(place) == "between"):
            second = self._day_number(after + 1)
            if second is not None and second > first:
                last, after = second, after + 2
        linked = self._at(after).word == "of"
        month = self._at(after + linked)
        if month.kind != "month" or not isinstance(month.value, Yearly):
            return None
        yearly = Yearly(month.value.month, day=first, last_day=last)
        if dated := self._with_year(yearly, after + linked + 1):
            return dated
        in_words = self._tokens[place].word.isalpha()
        if (month.doubtful or in_words) and not (linked or expected):
            return None
        return FoundTime(self._existing(yearly), after + linked + 1)

    def _ordinal(self, place: int, expected: bool) -> FoundTime | None:
        """The 3rd of May, the second week of November, the third quarter (of 2025)."""
        token, following = self._tokens[place], self._at(place + 1)
        if following.kind != "unit" and following.word != "half":
            return self._day_and_month(place, expected)
        assert isinstance(token.value, int)
        quarter = Yearly(3 * token.value - 2, months=3) if 1 <= token.value <= 4 else None
        if following.word == "quarter" and quarter:
            if dated := self._with_year(quarter, place + 2):
                return dated
            if expected and self._at(place + 2).word != "of":
                return FoundTime(quarter, place + 2)
        number = token.value
        if following.word == "half":
            return self._made_of(
                self._of(place + 2), lambda whole: part(whole, number - 1, 2) if number in (1, 2) else None
            )
        return self._made_of(self._of(place + 2), lambda whole: nth(whole, _unit(following), number))

    def _of(self, place: int) -> FoundTime | None:
        """What follows "of"; "the week" is then this week."""
        if self._at(place).word != "of":
            return None
        unit = self._at(place + 2)
        goes_on = self._at(place + 3).word in ("of", "before", "after")
        if self._at(place + 1).word == "the" and unit.kind == "unit" and not goes_on:
            return FoundTime(calendar_unit(self._now, _unit(unit)), place + 3)
        year = self._year(place + 1)
        if year:
            return FoundTime(calendar_unit(datetime(year, 1, 1), "year"), place + 2)
        return self._anchor(place + 1, expected=True)

    def _quarter(self, place: int, expected: bool) -> FoundTime | None:
        value = self._tokens[place].value
        assert isinstance(value, Yearly)
        return self._with_year(value, place + 1) or FoundTime(value, place + 1)

    def _season(self, place: int, expected: bool) -> FoundTime | None:
        token = self._tokens[place]
        assert isinstance(token.value, Yearly)
        if dated := self._with_year(token.value, place + 1):
            return dated
        if not expected or self._at(place + 1).word == "of":
            return None
        if token.word in ("spring", "fall"):
            # "in Spring Boot", "after the fall"
            sure = self._before(place) == "the" and self._lead(place) in _LEADS_OF_DOUBTFUL_SEASONS
            return FoundTime(token.value, place + 1) if sure else None
        return FoundTime(token.value, place + 1)

    def _weekday(self, place: int, expected: bool) -> FoundTime | None:
        """On Monday, Monday morning, the weekend; Monday, 3 May is that day."""
        token, following = self._tokens[place], self._at(place + 1, comma=True)
        if following.kind in ("number", "ordinal", "month", "date"):
            dated = self._anchor(place + 1, expected=False, comma=True)
            if dated and isinstance(dated.meaning, Yearly | Period) and self._is_dated(dated.meaning):
                return dated
        if token.word == "weekend":
            expected = self._before(place) == "the"
        elif token.word in ("sat", "sun", "mon", "wed"):
            expected = expected and self._before(place) in _LEADS_OF_DOUBTFUL_DAYS
        elif self._before(place) == "the":
            expected = False
        following = self._at(place + 1)
        if following.word in _EVERY_WEEK or not (expected or following.kind == "part"):
            return None
        assert isinstance(token.value, Weekly)
        return FoundTime(token.value, place + 1)

    def _is_dated(self, meaning: Period | Yearly) -> bool:
        return is_a_day(meaning) if isinstance(meaning, Period) else meaning.day is not None

    def _roughly(self, place: int, expected: bool) -> FoundTime | None:
        """Early March, late in 2023, the end of last year: thirds."""
        word, after = self._tokens[place].word, place + 1
        if word in ("early", "mid", "late"):
            after += self._at(after).word == "in"
            whole = self._anchor(after, expected=True)
        else:
            whole = self._of(after)
        return self._made_of(whole, lambda period: part(period, _THIRDS[word], 3))

    # Counted and named from now

    def _from_today(self, place: int, expected: bool) -> FoundTime | None:
        return FoundTime(
            calendar_unit(self._now, "day", _DAYS_FROM_TODAY[self._tokens[place].word]), place + 1
        )

    def _tonight(self, place: int, expected: bool) -> FoundTime | None:
        return FoundTime(_hours(self._today, DatePart(18, 30)), place + 1)

    def _counted(self, place: int, expected: bool) -> FoundTime | None:
        """Two weeks ago, a month from now, three days before 7 June."""
        count = self._count(place)
        if not count:
            return None
        low, high, after = count
        token = self._at(after)
        if token.kind != "unit":
            return None
        unit, word = _unit(token), self._at(after + 1).word
        if word == "ago":
            return FoundTime(_distance(self._now, unit, -high, -low), after + 2)
        if word == "from" and self._at(after + 2).word in ("now", "today"):
            return FoundTime(_distance(self._now, unit, low, high), after + 3)
        if word not in ("before", "after"):
            return None
        whole = self._anchor(after + 2, expected=True)
        if word == "before":
            return self._made_of(whole, lambda period: _distance(period.start, unit, -high, -low))
        return self._made_of(whole, lambda period: _distance(period.end - _DAY, unit, low, high))

    def _last(self, place: int, expected: bool) -> FoundTime | None:
        """Last week is the calendar's; the last week, or the past one, ends now; the last week of May ends in May."""
        rolling = self._tokens[place].word == "past" or self._before(place) in ("the", "this")
        count = self._count(place + 1)
        _, high, after = count or (1, 1, place + 1)
        token = self._at(after)
        if token.kind != "unit":
            return self._last_named(after, token) if not count else None
        unit = _unit(token)
        if self._at(after + 1).word == "of":
            return self._made_of(self._of(after + 1), lambda whole: _ending(whole, unit, high))
        if count is None and unit in ("minute", "day") and not self._is_recent(place):
            return None
        if count is None and (not rolling or unit == "quarter"):
            return FoundTime(calendar_unit(self._now, unit, -1), after + 1)
        return FoundTime(self._rolling(unit, -high), after + 1)

    def _is_recent(self, place: int) -> bool:
        """Whether "last day" means the hours just past, as in "in the last day", and not the day something ended."""
        return self._tokens[place].word == "past" or self._lead(place) in ("in", "within", "over", "during")

    def _last_named(self, place: int, token: TimeToken) -> FoundTime | None:
        if token.word == "night":
            return FoundTime(_hours(calendar_unit(self._now, "day", -1), DatePart(18, 30)), place + 1)
        if not isinstance(token.value, Yearly | Weekly):
            return None
        found = latest(token.value, self._now)
        if found and found.end > self._now:
            found = latest(token.value, found.start - _DAY)
        return FoundTime(found, place + 1)

    def _next(self, place: int, expected: bool) -> FoundTime | None:
        after = place + 1
        rolling = self._tokens[place].word == "coming" or self._before(place) == "the"
        count = self._count(after)
        _, high, after = count or (1, 1, after)
        token = self._at(after)
        if token.kind == "unit" and self._at(after + 1).word != "of":
            unit = _unit(token)
            if count or (rolling and unit != "quarter"):
                return FoundTime(self._rolling(unit, high), after + 1)
            return FoundTime(calendar_unit(self._now, unit, 1), after + 1) if unit != "minute" else None
        if count or not isinstance(token.value, Yearly | Weekly):
            return None
        return FoundTime(earliest(token.value, self._today.end), after + 1)

    def _rolling(self, unit: Unit, count: int) -> Period:
        """So many units back from now or ahead, the present day (or minute) included."""
        present = calendar_unit(self._now, "minute" if unit in ("minute", "hour") else "day")
        if count < 0:
            return Period(shifted(present.start, unit, count), present.end)
        return Period(present.start, shifted(present.end, unit, count))

    def _this(self, place: int, expected: bool) -> FoundTime | None:
        token = self._at(place + 1)
        if token.word in ("past", "coming"):
            return self._anchor(place + 1, expected)
        if token.word == "time" and self._at(place + 2).word in ("last", "next"):
            return self._this_time(place + 2)
        if token.kind == "unit" and token.word != "minute":
            return FoundTime(calendar_unit(self._now, _unit(token)), place + 2)
        if isinstance(token.value, DatePart) and self._tokens[place].word == "this":
            return FoundTime(_hours(self._today, token.value), place + 2)
        if isinstance(token.value, Weekly):
            return FoundTime(earliest(token.value, calendar_unit(self._now, "week").start), place + 2)
        if isinstance(token.value, Yearly) and not token.doubtful:
            begun = latest(token.value, self._now)
            # This winter, in January, began last year.
            lasting = begun if begun and begun.end > self._now else in_year(token.value, self._now.year)
            return self._with_year(token.value, place + 2) or FoundTime(lasting, place + 2)
        return None

    def _this_time(self, place: int) -> FoundTime | None:
        """This time last year is the month around that day; last week or month, the day."""
        token = self._at(place + 1)
        if token.kind != "unit":
            return None
        unit = _unit(token)
        day = shifted(self._now, unit, -1 if self._tokens[place].word == "last" else 1)
        return FoundTime(around(day, "month" if unit in ("year", "decade") else "day"), place + 2)

    def _beside(self, place: int, expected: bool) -> FoundTime | None:
        """The day before yesterday, the week after 3 May, the month before last, the week of 3 May, the year 2013."""
        token, word = self._tokens[place], self._at(place + 1).word
        if token.word.endswith("s"):
            return None
        unit = _unit(token)
        if word == "of":
            whole = self._anchor(place + 2, expected=True)
            return self._made_of(whole, lambda period: calendar_unit(period.start, unit))
        if unit == "year" and self._year(place + 1):
            return self._anchor(place + 1, expected=True)
        if word not in ("before", "after") or self._before(place) != "the":
            return None
        whole = self._anchor(place + 2, expected=True)
        if not whole and word == "before" and self._at(place + 2).word == "last":
            return FoundTime(calendar_unit(self._now, unit, -2), place + 3)
        if word == "before":
            return self._made_of(whole, lambda later: Period(shifted(later.start, unit, -1), later.start))
        return self._made_of(whole, lambda earlier: Period(earlier.end, shifted(earlier.end, unit, 1)))

    # Within a day

    def _part_of_day(self, place: int, expected: bool) -> FoundTime | None:
        """The morning of 3 May."""
        token = self._tokens[place]
        whole = self._of(place + 1)
        period = self._resolved(whole.meaning) if whole else None
        if not whole or not period or not is_a_day(period) or not isinstance(token.value, DatePart):
            return None
        return FoundTime(_hours(period, token.value), whole.next)

    def _with_time_of_day(self, found: FoundTime) -> FoundTime:
        """Yesterday evening, 3 May at 14:30, today at 3 pm; a time of day alone is no time."""
        place = found.next
        following = self._at(place)
        if isinstance(following.value, DatePart):
            day = self._day(found.meaning)
            return FoundTime(_hours(day, following.value), place + 1) if day else found
        place += following.word in ("at", "around")
        clock = self._clock(place)
        day = self._day(found.meaning) if clock else None
        if not clock or not day:
            return found
        time, after = clock
        start = day.start.replace(hour=time.hour, minute=time.minute or 0)
        return FoundTime(calendar_unit(start, "hour" if time.minute is None else "minute"), after)

    def _day(self, meaning: Period | Recurring | None) -> Period | None:
        period = self._resolved(meaning)
        return period if period and is_a_day(period) else None


def _ending(period: Period, unit: Unit, count: int) -> Period | None:
    start = shifted(period.end, unit, -count)
    return Period(start, period.end) if start >= period.start else None


def _distance(moment: datetime, unit: Unit, low: int, high: int) -> Period:
    return Period(
        around(shifted(moment, unit, low), unit).start, around(shifted(moment, unit, high), unit).end
    )


def _hours(day: Period, hours: DatePart) -> Period:
    return Period(day.start + timedelta(hours=hours.hour), day.start + timedelta(hours=hours.until))


def _unit(token: TimeToken) -> Unit:
    return cast(Unit, token.value)


_Read = Callable[[Anchors, int, bool], FoundTime | None]
_BY_WORD: Final[dict[str, _Read]] = {
    "the": Anchors._the,
    "tonight": Anchors._tonight,
    **dict.fromkeys(_DAYS_FROM_TODAY, Anchors._from_today),
    **dict.fromkeys(_LAST, Anchors._last),
    **dict.fromkeys(_THIS, Anchors._this),
    **dict.fromkeys(_NEXT, Anchors._next),
    **dict.fromkeys(_THIRDS, Anchors._roughly),
    **dict.fromkeys(COUNTS, Anchors._counted),
}
NAMING_WORDS: Final = frozenset(_BY_WORD)
_BY_KIND: Final[dict[str, _Read]] = {
    "date": Anchors._written,
    "moment": Anchors._written,
    "decade": Anchors._written,
    "month": Anchors._month,
    "number": Anchors._number,
    "ordinal": Anchors._ordinal,
    "quarter": Anchors._quarter,
    "season": Anchors._season,
    "weekday": Anchors._weekday,
    "part": Anchors._part_of_day,
    "unit": Anchors._beside,
}
