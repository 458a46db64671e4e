"""Does a question mean the times that its words name, and none where they name none?"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from onrecord.text.times import Window, read_times
from onrecord.text.times.cursor import Cursor

# A Wednesday.
NOW = datetime(2026, 3, 18, 15, 30, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def times(question: str, now: datetime = NOW) -> list[str]:
    """The windows of a question as short texts: `2026-03-17 2026-03-18`, with `-` where one is open."""
    return [f"{short(window.start)} {short(window.end)}" for window in read_times(question, now)]


def short(moment: datetime | None) -> str:
    if moment is None:
        return "-"
    return f"{moment:%Y-%m-%d}" if moment.time() == datetime.min.time() else f"{moment:%Y-%m-%dT%H:%M}"


READ = {
    "yesterday": "2026-03-17 2026-03-18",
    "today": "2026-03-18 2026-03-19",
    "the day before yesterday": "2026-03-16 2026-03-17",
    "the day after tomorrow": "2026-03-20 2026-03-21",
    "tonight": "2026-03-18T18:00 2026-03-19T06:00",
    "last night": "2026-03-17T18:00 2026-03-18T06:00",
    "this morning": "2026-03-18T05:00 2026-03-18T12:00",
    "yesterday evening": "2026-03-17T18:00 2026-03-18",
    "yesterday at noon": "2026-03-17T12:00 2026-03-17T13:00",
    "today at 3 pm": "2026-03-18T15:00 2026-03-18T16:00",
    "today at 12am": "2026-03-18 2026-03-18T01:00",
    "3 May at 14:30": "2025-05-03T14:30 2025-05-03T14:31",
    "the morning of 2012/8/26": "2012-08-26T05:00 2012-08-26T12:00",
    # Units of the calendar
    "last week": "2026-03-09 2026-03-16",
    "last week's numbers": "2026-03-09 2026-03-16",
    "this week": "2026-03-16 2026-03-23",
    "next week": "2026-03-23 2026-03-30",
    "the week before last": "2026-03-02 2026-03-09",
    "last month": "2026-02-01 2026-03-01",
    "previous month": "2026-02-01 2026-03-01",
    "last quarter": "2025-10-01 2026-01-01",
    "the last quarter": "2025-10-01 2026-01-01",
    "this quarter": "2026-01-01 2026-04-01",
    "next quarter": "2026-04-01 2026-07-01",
    "last year": "2025-01-01 2026-01-01",
    "this year": "2026-01-01 2027-01-01",
    "this time last year": "2025-03-03 2025-04-03",
    # Up to now
    "the last week": "2026-03-11 2026-03-19",
    "this past week": "2026-03-11 2026-03-19",
    "past month": "2026-02-18 2026-03-19",
    "the past 7 days": "2026-03-11 2026-03-19",
    "the last two weeks": "2026-03-04 2026-03-19",
    "the last few months": "2025-10-18 2026-03-19",
    "in the last day": "2026-03-17 2026-03-19",
    "past 24 hours": "2026-03-17T15:30 2026-03-18T15:31",
    "next 3 days": "2026-03-18 2026-03-22",
    # Counted from now, or from a day
    "3 days ago": "2026-03-15 2026-03-16",
    "2 hours ago": "2026-03-18T13:00 2026-03-18T14:01",
    "a week ago": "2026-03-08 2026-03-15",
    "two weeks ago": "2026-03-01 2026-03-08",
    "a month ago": "2026-02-03 2026-03-06",
    "two years ago": "2024-01-01 2025-01-01",
    "a few days ago": "2026-03-13 2026-03-17",
    "a couple of days ago": "2026-03-15 2026-03-17",
    "1 week from now": "2026-03-22 2026-03-29",
    "two weeks before August 11, 2023": "2023-07-25 2023-08-01",
    "3 days after 28 February 2024": "2024-03-02 2024-03-03",
    "the week before 3 May 2024": "2024-04-26 2024-05-03",
    "the week of 3 May 2024": "2024-04-29 2024-05-06",
    # Days
    "3 May": "2025-05-03 2025-05-04",
    "May 3rd, 2024": "2024-05-03 2024-05-04",
    "the 3rd of May": "2025-05-03 2025-05-04",
    "the fourth of July": "2025-07-04 2025-07-05",
    "on may 3": "2025-05-03 2025-05-04",
    "16 November, 2023": "2023-11-16 2023-11-17",
    "December 1,2023": "2023-12-01 2023-12-02",
    "Dec. 1st": "2025-12-01 2025-12-02",
    "Monday, 3 May 2021": "2021-05-03 2021-05-04",
    "18 March": "2026-03-18 2026-03-19",
    "19 March": "2025-03-19 2025-03-20",
    "29 February": "2024-02-29 2024-03-01",
    "2024-05-03": "2024-05-03 2024-05-04",
    "2024-05-03T10:00Z": "2024-05-03T10:00 2024-05-03T10:01",
    "2024-05-03T10:00:30+02:00": "2024-05-03T08:00 2024-05-03T08:01",
    "2012/8/24 12:42:00": "2012-08-24T12:42 2012-08-24T12:43",
    "7/19/2010 7:19:56 PM": "2010-07-19T19:19 2010-07-19T19:20",
    "18/09/2014": "2014-09-18 2014-09-19",
    "9/18/2014": "2014-09-18 2014-09-19",
    "05/05/2024": "2024-05-05 2024-05-06",
    "on Monday": "2026-03-16 2026-03-17",
    "on Wednesday": "2026-03-11 2026-03-12",
    "on Monday morning": "2026-03-16T05:00 2026-03-16T12:00",
    "last Friday": "2026-03-13 2026-03-14",
    "this Friday": "2026-03-20 2026-03-21",
    "next Wednesday": "2026-03-25 2026-03-26",
    "the weekend": "2026-03-14 2026-03-16",
    "last weekend": "2026-03-14 2026-03-16",
    "this weekend": "2026-03-21 2026-03-23",
    # Months and longer
    "in March": "2026-03-01 2026-04-01",
    "in april": "2025-04-01 2025-05-01",
    "in may": "2025-05-01 2025-06-01",
    "in May 2023": "2023-05-01 2023-06-01",
    "in Sept. 2024": "2024-09-01 2024-10-01",
    "last March": "2025-03-01 2025-04-01",
    "next May": "2026-05-01 2026-06-01",
    "upcoming March": "2027-03-01 2027-04-01",
    "this May": "2026-05-01 2026-06-01",
    "2024-05": "2024-05-01 2024-06-01",
    "Q3": "2025-07-01 2025-10-01",
    "Q1": "2026-01-01 2026-04-01",
    "Q3 2025": "2025-07-01 2025-10-01",
    "2025-Q4": "2025-10-01 2026-01-01",
    "in 2025 Q4": "2025-10-01 2026-01-01",
    "third quarter of 2025": "2025-07-01 2025-10-01",
    "in the third quarter": "2025-07-01 2025-10-01",
    "summer 2023": "2023-06-01 2023-09-01",
    "the fall of 2023": "2023-09-01 2023-12-01",
    "winter 2023": "2023-12-01 2024-03-01",
    "in the summer": "2025-06-01 2025-09-01",
    "last winter": "2025-12-01 2026-03-01",
    "in 2023": "2023-01-01 2024-01-01",
    "year 2011": "2011-01-01 2012-01-01",
    "the year of 2013": "2013-01-01 2014-01-01",
    "the 1990s": "1990-01-01 2000-01-01",
    "the late 1990s": "1996-01-01 2000-01-01",
    # Parts
    "early March": "2026-03-01 2026-03-11",
    "mid-March": "2026-03-11 2026-03-21",
    "late March 2024": "2024-03-21 2024-04-01",
    "the beginning of last year": "2025-01-01 2025-05-01",
    "the end of the month": "2026-03-21 2026-04-01",
    "the end of summer 2023": "2023-08-01 2023-09-01",
    "first half of 2024": "2024-01-01 2024-07-01",
    "the second week of November": "2025-11-08 2025-11-15",
    "the last week of February 2024": "2024-02-23 2024-03-01",
    # Open on one side
    "before March": "- 2026-03-01",
    "prior to 2020": "- 2020-01-01",
    "before the end of the year": "- 2027-01-01",
    "after 2024": "2025-01-01 -",
    "since Monday": "2026-03-16 -",
    "since last week": "2026-03-09 -",
    "since the migration on 3 May": "2025-05-03 -",
    "after his trip in August 2023": "2023-08-01 -",
    "before we moved in May 2024": "- 2024-06-01",
    "until June": "- 2025-07-01",
    "by 7 November, 2022": "- 2022-11-08",
    "through June": "- 2025-07-01",
    "up to May 2024": "- 2024-06-01",
    "as of December 2023": "- 2024-01-01",
    "from 3 May onwards": "2025-05-03 -",
    # From and to
    "between 3 May and 7 June 2024": "2024-05-03 2024-06-08",
    "between 1/1/1985, and 12/31/1995": "1985-01-01 1996-01-01",
    "between 1980-1985": "1980-01-01 1986-01-01",
    "between Monday and Tuesday": "2026-03-16 2026-03-18",
    "between 3 and 7 May": "2025-05-03 2025-05-08",
    "from March to May": "2025-03-01 2025-06-01",
    "from November to January 2024": "2023-11-01 2024-02-01",
    "from May 2023 to January": "2023-05-01 2024-02-01",
    "from 2010 to 2015": "2010-01-01 2016-01-01",
    "from yesterday": "2026-03-17 2026-03-18",
    "3-7 May 2024": "2024-05-03 2024-05-08",
    "on May 3-7": "2025-05-03 2025-05-08",
    "Jan–Mar 2024": "2024-01-01 2024-04-01",
    "3 May – 7 June 2024": "2024-05-03 2024-06-08",
}


@pytest.mark.parametrize(("words", "window"), READ.items())
def test_words_of_time_are_read(words: str, window: str) -> None:
    assert times(words) == [window]


@pytest.mark.parametrize(("words", "window"), READ.items())
def test_words_of_time_are_read_wherever_they_stand(words: str, window: str) -> None:
    question = f"Which column changed, {words}? Tell me (please)."
    (found,) = read_times(question, NOW)
    assert f"{short(found.start)} {short(found.end)}" == window
    assert found.text == question[slice(*found.span)]
    assert found.text in words


NOT_READ = """
    it may fail|this may break|may 3 rows be deleted|May 3 users share a seat|you may not|these 3 may fail
    the 2nd may fail|the second may fail|we march on|how to march|wait a second|prices fall|in the sun
    during the fall of Rome|in Spring Boot|after the fall|in 2023 rows|after 2000 requests|between 1900 and 2000 rows
    from 1900 to 2500|between 60 to 65|python 3.11|v2024.1|in v2024.1|#2023|issue #2023|port 2020|in port 2020|line 2000
    orders_2023|$2023|2023%|1.2.2024|Cyberpunk 2077|population of 2000|see the 2023 rows|in 1850|in 2100|id 20240503
    31 February|on 31 February 2024|29 February 2023|2023-02-29|2024-13-01|31/31/2024|2024-05-03T25:00|32 May|0 days ago
    05/03/2024|7/22|how many days ago|years ago|5-day trip|one-year-old|last name|last time|last minute change|the last day
    the last 3 days of the trip|first quarter of users|a quarter of users|on a Sunday|every Monday|on Saturday mornings
    Ash Wednesday|the Sunday mass|of Friday Osanebi|weekends|Q5|next to me|day by day|week-long|at noon|at 14:30|recently
    http://host/2023/05/03|99999 years ago|9999 years ago|second|the|between|since|from|of|in the past|until the
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("words", sorted({words.strip() for words in NOT_READ} - {""}))
def test_words_that_name_no_time_are_left_alone(words: str) -> None:
    assert times(words) == []
    assert times(f"What of it, {words}?") == []


def test_every_time_of_a_question_is_read_in_order() -> None:
    assert times("What changed in 2024 and 2025, last week, or since Monday?") == [
        "2024-01-01 2025-01-01",
        "2025-01-01 2026-01-01",
        "2026-03-09 2026-03-16",
        "2026-03-16 -",
    ]
    assert times("in March, April or June") == [
        "2026-03-01 2026-04-01",
        "2025-04-01 2025-05-01",
        "2025-06-01 2025-07-01",
    ]
    assert times("in April and may include more") == ["2025-04-01 2025-05-01"]


@pytest.mark.parametrize(
    ("words", "now", "window"),
    [
        ("yesterday", "2024-03-01", "2024-02-29 2024-03-01"),
        ("last month", "2024-03-31", "2024-02-01 2024-03-01"),
        ("a month ago", "2024-03-31", "2024-02-14 2024-03-16"),
        ("last quarter", "2024-01-01", "2023-10-01 2024-01-01"),
        ("this quarter", "2024-12-31", "2024-10-01 2025-01-01"),
        ("next month", "2024-12-31", "2025-01-01 2025-02-01"),
        ("last week", "2024-01-01", "2023-12-25 2024-01-01"),
        ("the weekend", "2024-06-02", "2024-06-01 2024-06-03"),
        ("last weekend", "2024-06-02", "2024-05-25 2024-05-27"),
        ("this winter", "2024-01-15", "2023-12-01 2024-03-01"),
        ("29 February", "2104-02-28", "2096-02-29 2096-03-01"),
        ("this time last year", "2024-02-29", "2023-02-13 2023-03-16"),
        ("yesterday", "0001-01-01", None),
        ("next year", "9999-12-31", None),
    ],
)
def test_the_edges_of_the_calendar_hold(words: str, now: str, window: str | None) -> None:
    assert times(words, datetime.fromisoformat(now).replace(tzinfo=UTC)) == ([window] if window else [])


def test_days_begin_at_midnight_where_the_asker_lives() -> None:
    now = datetime(2026, 3, 18, 23, 30, tzinfo=UTC)
    (window,) = read_times("today", now, ZoneInfo("Europe/Berlin"))
    assert (window.start, window.end) == (
        datetime(2026, 3, 18, 23, tzinfo=UTC),
        datetime(2026, 3, 19, 23, tzinfo=UTC),
    )
    # The clocks go forward: the day has 23 hours.
    (short_day,) = read_times("29 March 2026", now, ZoneInfo("Europe/Berlin"))
    assert short_day.end
    assert short_day.start
    assert short_day.end - short_day.start == timedelta(hours=23)


def test_an_hour_that_the_clock_leaves_out_still_ends_after_it_began() -> None:
    (window,) = read_times("2026-03-29 at 2am", NOW, ZoneInfo("Europe/Berlin"))
    assert window.start
    assert window.end == window.start + timedelta(hours=1)


def test_a_day_that_a_zone_left_out_is_no_time() -> None:
    assert read_times("on 2011-12-30", NOW, ZoneInfo("Pacific/Apia")) == ()


# Texts that look like time, put together from the words of the grammar.
WORDS = """
    the a of in on at to and or before after since until by from between last past next this early mid late end
    beginning first second 3rd half few couple 3 7 31 60 1999 2024 99999 May may March Jan. summer fall Monday Sun weekend
    day days week weeks month months quarter year years decade ago now yesterday today tonight morning night noon pm 12:30
    Q3 1990s 2024-05-03 2024-02-30 5/3/2024 2024-05-03T10:00Z 3-7 Jan–Mar mid-2024 rows time , . ? ( “ - – 's it
""".split()
moments = st.datetimes(timezones=st.just(UTC))
questions = st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
zones = st.sampled_from([UTC, *map(ZoneInfo, ("Pacific/Apia", "America/New_York", "Australia/Lord_Howe"))])


@given(questions, moments, zones)
@example("9999 years ago", datetime.min.replace(tzinfo=UTC), UTC)
@example("today", datetime.min.replace(tzinfo=UTC), ZoneInfo("America/New_York"))
@example("next decade", datetime.max.replace(tzinfo=UTC), UTC)
@example("since since the end of the end of the end of the end of the end of May", NOW, UTC)
def test_any_text_gives_windows_that_begin_before_they_end(
    question: str, now: datetime, zone: ZoneInfo
) -> None:
    windows = read_times(question, now, zone)
    for window in windows:
        assert window.start or window.end
        assert not (window.start and window.end) or window.start < window.end
        assert window.text == question[slice(*window.span)] != ""
    places = [place for window in windows for place in window.span]
    assert places == sorted(places), "no words are read twice"


def only(windows: tuple[Window, ...]) -> tuple[datetime, datetime]:
    (window,) = windows
    assert window.start
    assert window.end
    return window.start, window.end


days = st.datetimes(datetime(1902, 1, 1), datetime(2098, 12, 31), timezones=st.just(UTC))


@given(
    days, st.sampled_from(["{:%Y-%m-%d}", "{:%d %B %Y}", "{:%B %d, %Y}", "on {:%A, %d %b %Y}", "{:%Y/%m/%d}"])
)
def test_a_written_day_is_that_day(day: datetime, form: str) -> None:
    start, end = only(read_times(form.format(day), NOW))
    assert start <= day < end
    assert end - start == DAY


@given(days, days)
def test_a_day_without_a_year_is_the_last_one_that_has_begun(day: datetime, now: datetime) -> None:
    start, end = only(read_times(f"on {day:%d %B}", now))
    assert (start.month, start.day) == (day.month, day.day)
    assert start <= now
    assert end - start == DAY
    assume(not (day.month == 2 and day.day == 29))
    assert now - start <= 366 * DAY


@given(days, st.integers(1, 60), st.sampled_from(["day", "week", "month", "year"]))
def test_what_was_some_time_ago_is_over_and_the_day_it_names_is_in_it(
    now: datetime, count: int, unit: str
) -> None:
    start, end = only(read_times(f"{count} {unit}s ago", now))
    assert start < end <= now
    months = {"month": count, "year": 12 * count}.get(unit)
    if months is None:
        assert start <= now - count * (DAY if unit == "day" else 7 * DAY) < end
    else:
        named = now.year * 12 + now.month - 1 - months
        assert start < datetime(named // 12, named % 12 + 1, 28, 23, 59, tzinfo=UTC)
        assert end > datetime(named // 12, named % 12 + 1, 1, tzinfo=UTC)


@given(days, st.sampled_from(["week", "month", "quarter", "year"]))
def test_last_this_and_next_lie_end_to_end_around_now(now: datetime, unit: str) -> None:
    last, this, following = (only(read_times(f"{word} {unit}", now)) for word in ("last", "this", "next"))
    assert last[1] == this[0] <= now < this[1] == following[0]


@given(days, days)
def test_before_in_and_after_a_month_share_out_all_time(month: datetime, now: datetime) -> None:
    name = f"{month:%B %Y}"
    start, end = only(read_times(f"in {name}", now))
    assert [(window.start, window.end) for window in read_times(f"before {name}", now)] == [(None, start)]
    assert [(window.start, window.end) for window in read_times(f"after {name}", now)] == [(end, None)]
    assert [(window.start, window.end) for window in read_times(f"since {name}", now)] == [(start, None)]
    assert [(window.start, window.end) for window in read_times(f"until {name}", now)] == [(None, end)]
    assert start <= month < end


@given(
    st.integers(1904, 2090),
    st.integers(-4, 4),
    st.sampled_from(["in May", "3 May", "Q3", "last summer", "last year"]),
)
def test_the_same_day_in_another_year_gives_the_same_time_of_that_year(
    year: int, later: int, words: str
) -> None:
    now = NOW.replace(year=year)
    start, end = only(read_times(words, now))
    shifted = only(read_times(words, now.replace(year=year + later)))
    assert shifted == (start.replace(year=start.year + later), end.replace(year=end.year + later))


@pytest.mark.parametrize(
    "piece",
    [
        "the end of ",
        "before ",
        "the ",
        "last ",
        "3 days before ",
        "2024-05-03 ",
        "3-7 ",
        "May 3 to ",
        "in 2024 and ",
        "May 1,2024 ",
        "between 3 and ",
    ],
)
def test_work_grows_no_faster_than_the_text(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    look = Cursor._at

    def counted(self: Cursor, place: int, comma: bool = False) -> object:
        nonlocal looked
        looked += 1
        return look(self, place, comma)

    monkeypatch.setattr(Cursor, "_at", counted)

    def work(times: int) -> int:
        nonlocal looked
        looked = 0
        read_times(piece * times + "May", NOW)
        return looked

    assert work(800) < 2.1 * work(400)
    assert work(400) < 400 * 100
