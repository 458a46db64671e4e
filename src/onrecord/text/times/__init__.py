"""WHICH times does a question name? "Last quarter", "before March", "3 May" become windows, counted from the time of the question."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from onrecord.text.times.grammar import Reader, Span
from onrecord.text.times.words import TimeToken, tokens_of

__all__ = ["Window", "read_times"]

_DAY: Final = timedelta(days=1)


class Window(NamedTuple):
    """From `start` up to, not including, `end`, in UTC; None is open. At least one of them is a time."""

    start: datetime | None
    end: datetime | None
    # The words that name the time, and their place in the question.
    text: str
    span: tuple[int, int]


def read_times(question: str, now: datetime, zone: tzinfo = UTC) -> tuple[Window, ...]:
    """Every time that a question names, in the order of its words; none for most questions.

    `now` knows its zone. Days begin at midnight in `zone`.
    """
    tokens = tokens_of(question)
    if not tokens:
        return ()
    try:
        reader = Reader(tokens, now, zone)
    except OverflowError:
        # The first and the last day of the calendar are not there in every zone.
        return ()
    windows = (_window(question, tokens, span, zone) for span in reader.spans())
    return tuple(window for window in windows if window)


def _window(question: str, tokens: list[TimeToken], span: Span, zone: tzinfo) -> Window | None:
    first, last = tokens[span.first].start, tokens[span.next - 1].end
    try:
        start = span.start and _in_utc(span.start, zone)
        end = span.end and _in_utc(span.end, zone)
    except OverflowError:
        return None
    if start and span.start and span.end and span.end - span.start < _DAY:
        # Where the clock is put back, or forward, an hour's end by the clock may lie before its start.
        end = start + (span.end - span.start)
    if start and end and start >= end:
        # A day that a zone left out, as Samoa did in 2011.
        return None
    return Window(start, end, question[first:last], (first, last))


def _in_utc(local: datetime, zone: tzinfo) -> datetime:
    return local.replace(tzinfo=zone).astimezone(UTC)
