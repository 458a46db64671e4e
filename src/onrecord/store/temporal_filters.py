"""WHEN does a row count? The conditions of both time axes, for present rows and for versions."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, and_, bindparam, or_

from onrecord.model.limits import Status
from onrecord.model.when import When
from onrecord.store.list_parameters import one_of
from onrecord.store.tables import TimestampColumn


class AskedTimes(NamedTuple):
    """Which times and statuses a question names; similar questions share their statements."""

    as_of: bool
    known_at: bool
    statuses: bool


def asked_of(when: When, statuses: Sequence[Status] = ()) -> AskedTimes:
    return AskedTimes(when.as_of is not None, when.known_at is not None, bool(statuses))


def time_parameters(when: When, statuses: Sequence[Status], now: datetime) -> dict[str, Any]:
    """The times in the conditions. For a question about what was known at T, the present is T."""
    return {
        "as_of": when.as_of,
        "known_at": when.known_at,
        "present": when.known_at or now,
        "statuses": list(statuses),
    }


def _moment(name: str) -> ColumnElement[Any]:
    return bindparam(name, type_=TimestampColumn)


def known_then(version: FromClause) -> ColumnElement[bool]:
    """The version in force at the question's `known_at`."""
    return and_(version.c.recorded_at <= _moment("known_at"), in_force_since(version))


def in_force_since(
    version: FromClause, moment: ColumnElement[Any] | datetime | None = None
) -> ColumnElement[bool]:
    """The versions in force at a time or later; by default, at the `known_at` of the question."""
    then = _moment("known_at") if moment is None else moment
    return or_(version.c.recorded_to.is_(None), version.c.recorded_to > then)


def existed_then(edge: FromClause, asked: AskedTimes) -> ColumnElement[bool]:
    """The edges that exist now, or that existed at the question's `known_at`."""
    if not asked.known_at:
        return edge.c.removed_at.is_(None)
    then = _moment("known_at")
    return and_(edge.c.created_at <= then, or_(edge.c.removed_at.is_(None), edge.c.removed_at > then))


def true_then(record: FromClause, asked: AskedTimes) -> Iterator[ColumnElement[bool]]:
    """What was true at `as_of`, if the question names it; a memory that waits for review is not true yet."""
    if asked.as_of:
        yield _window(record)
        yield record.c.status != "pending"


def listed(record: FromClause, asked: AskedTimes) -> ColumnElement[bool]:
    """What a list shows: active memories, those true at a time, or those of the given statuses."""
    if asked.statuses:
        window = [_window(record)] if asked.as_of else []
        return and_(one_of(record.c.status, "statuses"), *window)
    if asked.as_of:
        return and_(*true_then(record, asked))
    return and_(record.c.status == "active", record.c.valid_from <= _moment("present"))


def _window(record: FromClause) -> ColumnElement[bool]:
    """A half-open window: true at its first moment, no longer at its last."""
    then = _moment("as_of")
    return and_(record.c.valid_from <= then, or_(record.c.valid_to.is_(None), record.c.valid_to > then))
