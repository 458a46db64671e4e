"""WHERE does a stretch of time begin and end? Calendar arithmetic on local, half-open periods; no words here.

Weeks begin on Monday. Seasons are those of the northern hemisphere, three whole months each; winter belongs to the
year in which it begins.
"""

from datetime import MAXYEAR, datetime, timedelta
from typing import Final, Literal, NamedTuple

Unit = Literal["minute", "hour", "day", "week", "month", "quarter", "year", "decade"]

_DAY: Final = timedelta(days=1)
_STEPS: Final[dict[Unit, timedelta]] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": _DAY,
    "week": timedelta(days=7),
}
_MONTHS: Final[dict[Unit, int]] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
# "Three weeks ago" is no exact day: this much on either side of it is meant too. A year is the calendar's.
_EITHER_SIDE: Final[dict[Unit, timedelta]] = {
    "hour": timedelta(minutes=30),
    "week": timedelta(days=3),
    "month": timedelta(days=15),
    "quarter": timedelta(days=45),
}
# The 29th of February is missing for eight years around 1900 and 2100.
_LONGEST_GAP_YEARS: Final = 8


class Period(NamedTuple):
    """From `start` up to, not including, `end`; local time without a zone."""

    start: datetime
    end: datetime


class Yearly(NamedTuple):
    """What comes back every year: a month, a quarter, a season; or a day, or some days, of one month."""

    month: int
    months: int = 1
    day: int | None = None
    last_day: int | None = None


class Weekly(NamedTuple):
    """What comes back every week: a weekday (Monday is 0), or the weekend."""

    weekday: int
    days: int = 1


Recurring = Yearly | Weekly


def shifted(moment: datetime, unit: Unit, count: int) -> datetime:
    """So many units later; the 31st of a shorter month is its last day."""
    if unit in _STEPS:
        return moment + _STEPS[unit] * count
    months = moment.year * 12 + moment.month - 1 + _MONTHS[unit] * count
    year, month = months // 12, months % 12 + 1
    return moment.replace(year=year, month=month, day=min(moment.day, _days_in(year, month)))


def calendar_unit(moment: datetime, unit: Unit, offset: int = 0) -> Period:
    """The day, week, month … of the calendar that holds a moment, or the one so many units later."""
    start = shifted(_floor(moment, unit), unit, offset)
    return Period(start, shifted(start, unit, 1))


def around(moment: datetime, unit: Unit) -> Period:
    """What is meant by a moment that was named no more exactly than by this unit."""
    if unit not in _EITHER_SIDE:
        return calendar_unit(moment, unit)
    named = calendar_unit(moment, "minute" if unit == "hour" else "day")
    return Period(named.start - _EITHER_SIDE[unit], named.end + _EITHER_SIDE[unit])


def part(period: Period, which: int, parts: int) -> Period:
    """One of so many equal parts, counted from 0, cut between years, months or days, the longest that will do."""
    return Period(_cut(period, which, parts), _cut(period, which + 1, parts))


def nth(period: Period, unit: Unit, number: int) -> Period | None:
    """The first, second … (or, for -1, the last) unit of a period, if it has so many."""
    if number < 0:
        found = Period(shifted(period.end, unit, number), period.end)
    else:
        found = Period(shifted(period.start, unit, number - 1), shifted(period.start, unit, number))
    return found if period.start <= found.start and found.end <= period.end else None


def latest(recurring: Recurring, moment: datetime) -> Period | None:
    """The last time that it began, up to a moment; None for a day that no year has."""
    if isinstance(recurring, Weekly):
        days_since = (moment.weekday() - recurring.weekday) % 7
        return _days(calendar_unit(moment, "day").start - _DAY * days_since, recurring.days)
    for year in range(moment.year, moment.year - _LONGEST_GAP_YEARS - 1, -1):
        period = in_year(recurring, year)
        if period and period.start <= moment:
            return period
    return None


def earliest(recurring: Recurring, moment: datetime) -> Period | None:
    """The first time that it begins, from a moment on; None for a day that no year has."""
    if isinstance(recurring, Weekly):
        days_to = (recurring.weekday - moment.weekday()) % 7
        found = _days(calendar_unit(moment, "day").start + _DAY * days_to, recurring.days)
        return found if found.start >= moment else _days(found.start + 7 * _DAY, recurring.days)
    for year in range(moment.year, moment.year + _LONGEST_GAP_YEARS + 1):
        period = in_year(recurring, year)
        if period and period.start >= moment:
            return period
    return None


def in_year(yearly: Yearly, year: int) -> Period | None:
    """The one that begins in this year; None if the year has no such day."""
    if not 1 <= year < MAXYEAR:
        return None
    if yearly.day is None:
        start = datetime(year, yearly.month, 1)
        return Period(start, shifted(start, "month", yearly.months))
    last_day = yearly.last_day or yearly.day
    if not 1 <= yearly.day <= last_day <= _days_in(year, yearly.month):
        return None
    return Period(datetime(year, yearly.month, yearly.day), datetime(year, yearly.month, last_day) + _DAY)


def is_a_day(period: Period) -> bool:
    return period.end - period.start == _DAY


def _days(start: datetime, count: int) -> Period:
    return Period(start, start + _DAY * count)


def _floor(moment: datetime, unit: Unit) -> datetime:
    if unit == "minute":
        return moment.replace(second=0, microsecond=0)
    if unit == "hour":
        return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return day
    if unit == "week":
        return day - _DAY * day.weekday()
    months = day.year * 12 + day.month - 1
    months -= months % _MONTHS[unit]
    return day.replace(year=months // 12, month=months % 12 + 1, day=1)


def _days_in(year: int, month: int) -> int:
    """How many days a month has; 31 in a year that no calendar has, where the next step refuses the year."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _cut(period: Period, which: int, parts: int) -> datetime:
    start, end = period
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1 and months > 12:
        return shifted(start, "year", months // 12 * which // parts)
    if start.day == end.day == 1 and months and months % parts == 0:
        return shifted(start, "month", months // parts * which)
    days = (end - start) // _DAY
    return start + (_DAY * (days * which // parts) if days >= parts else (end - start) * which / parts)
