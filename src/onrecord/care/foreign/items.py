"""WHAT is one thing that another system remembers? An item, in no more than its own words and times."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from onrecord.model import rules
from onrecord.model.limits import Kind

#: Larger numbers of seconds are milliseconds, or more.
_SECONDS: Final = 1e11


class Unreadable(Exception):
    """Why a file is not of the format it was read as."""


class Unread(NamedTuple):
    """A part of a store that could not be read: where it is, and why."""

    place: str
    reason: str


class Link(NamedTuple):
    """A relation to another item, by the name that it has there."""

    name: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that another system remembers. `key` names it there, for good; `place` says where it was found.

    `ended_at` is when it stopped being true there. `links` name the keys of other items.
    """

    key: str
    place: str
    content: str
    title: str | None = None
    hint: str | None = None
    kind: Kind = "fact"
    tags: Sequence[str] = ()
    category: str | None = None
    about: Sequence[str] = ()
    is_relation: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None
    valid_from: datetime | None = None
    ended_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    links: Sequence[Link] = ()


def moment(given: Any) -> datetime | None:
    """A time as other systems write it: ISO 8601, or seconds or milliseconds since 1970; None if it is none of these."""
    if isinstance(given, bool) or given in (None, ""):
        return None
    if isinstance(given, datetime):
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    try:
        if isinstance(given, int | float):
            seconds = float(given)
            while abs(seconds) > _SECONDS:
                seconds /= 1_000
            return datetime.fromtimestamp(seconds, UTC)
        return rules.INSTANT(str(given).strip().replace(" ", "T", 1))
    except (ValueError, OverflowError, OSError):
        return None


def words(given: Any) -> tuple[str, ...]:
    """Tags or names: a list of texts, or one text with commas between."""
    if isinstance(given, str):
        given = given.split(",")
    if not isinstance(given, list | tuple):
        return ()
    return tuple(dict.fromkeys(word for each in given if (word := str(each).strip())))


def text_of(given: Any) -> str:
    """A text; anything else as JSON. Empty if there is nothing."""
    if given is None:
        return ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)


def json_of(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"{path.name} is not JSON ({type(problem).__name__})") from None


def lines_of(path: Path) -> list[tuple[str, str]]:
    """The lines of a file that hold something, each with its place."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Unreadable(f"{path.name} is not UTF-8 ({problem.reason} at byte {problem.start})") from None
    return [
        (f"{path.name} line {number}", line)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]


def object_of(line: str) -> dict[str, Any] | None:
    """A line as a JSON object, or None."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
