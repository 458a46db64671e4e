"""WHAT may a field hold? One small value per shape; calling it gives the clean value or says what is wrong."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Protocol

from onrecord.model import ids, limits
from onrecord.model.near_names import near_name

# NUL cannot be stored in PostgreSQL, a lone surrogate cannot be written as UTF-8 anywhere.
_UNSTORABLE: Final = re.compile(r"[\x00\ud800-\udfff]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Rule(Protocol):
    """Gives back the clean value, or raises ValueError with the reason."""

    def __call__(self, value: Any, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Text:
    """A text within bounds; `line` refuses line breaks and other control characters.

    `any_character` allows those that cannot be stored, where parts of the text are checked before they are.
    """

    at_least: int = 0
    at_most: int | None = None
    at_most_bytes: int | None = None
    line: bool = False
    strip: bool = False
    any_character: bool = False

    def __call__(self, value: Any, /) -> str:
        if not isinstance(value, str):
            raise ValueError(f"must be a text, not {type_of(value)}")
        if not self.any_character:
            storable(value)
        text = value.strip() if self.strip else value
        if self.line and (found := _CONTROL.search(text)):
            raise ValueError(f"must be a single line without control characters (has {found.group()!a})")
        if len(text) < self.at_least or (self.at_least and not text.strip()):
            raise ValueError("must not be empty")
        if self.at_most is not None and len(text) > self.at_most:
            raise ValueError(f"must have at most {self.at_most} characters (has {len(text)})")
        if self.at_most_bytes is not None and (size := len(text.encode())) > self.at_most_bytes:
            raise ValueError(f"must have at most {self.at_most_bytes} bytes of UTF-8 (has {size})")
        return text


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a closed list."""

    options: tuple[str, ...]
    aliases: Mapping[str, str] | None = None

    def __call__(self, value: Any, /) -> str:
        if isinstance(value, str):
            text = (self.aliases or {}).get(value, value)
            if text in self.options:
                return text
        near = near_name(value, self.options) if isinstance(value, str) else None
        hint = f"; did you mean {near}?" if near else ""
        raise ValueError(f"must be one of {', '.join(self.options)} (got {shown(value)}){hint}")


@dataclass(frozen=True, slots=True)
class ListOf:
    """Several values of one rule, each once, in the order given."""

    each: Rule
    at_most: int | None
    at_least: int = 0

    def __call__(self, value: Any, /) -> tuple[Any, ...]:
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            raise ValueError(f"must be a list, not {type_of(value)}")
        clean: dict[Any, None] = {}
        reasons = []
        for place, item in enumerate(value):
            try:
                clean[self.each(item)] = None
            except ValueError as reason:
                reasons.append(f"item {place + 1} {reason}")
                if len(reasons) == limits.FAULTS_SHOWN:
                    break
        if reasons:
            raise ValueError("; ".join(reasons))
        if self.at_most is not None and len(clean) > self.at_most:
            raise ValueError(f"must have at most {self.at_most} entries (has {len(clean)})")
        if len(clean) < self.at_least:
            raise ValueError("must not be empty")
        return tuple(clean)


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def __call__(self, value: Any, /) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false (got {shown(value)})")
        return value


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number within bounds; no lower bound means no upper bound either."""

    at_least: int | None = None
    at_most: int | None = None

    def __call__(self, value: Any, /) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"must be a whole number{self._bounds(' ')} (got {shown(value)})")
        too_small = self.at_least is not None and value < self.at_least
        if too_small or (self.at_most is not None and value > self.at_most):
            raise ValueError(f"must be {self._bounds()} (got {value})")
        return value

    def _bounds(self, before: str = "") -> str:
        if self.at_least is None:
            return ""
        return before + f"from {self.at_least} {'on' if self.at_most is None else f'to {self.at_most}'}"


@dataclass(frozen=True, slots=True)
class Fraction:
    """A number from 0 to 1."""

    def __call__(self, value: Any, /) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"must be a number from 0 to 1 (got {shown(value)})")
        return float(value)


@dataclass(frozen=True, slots=True)
class Number:
    """Any number, whole or not."""

    def __call__(self, value: Any, /) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"must be a number (got {shown(value)})")
        return float(value)


@dataclass(frozen=True, slots=True)
class Counted:
    """A number that the store counts up, written as a text: the id of an artifact or a relation."""

    at_least: int
    at_most: int | None = None

    def __call__(self, value: Any, /) -> str:
        number = ids.whole_number(Text(at_most=limits.ID_CHARACTERS)(value))
        if number is None or number < self.at_least or number > (self.at_most or number):
            raise ValueError(
                f"must be a whole number from {self.at_least} on, as a text (got {shown(value)})"
            )
        return str(number)


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A point in time: a datetime that knows its zone, or ISO 8601 text (UTC unless it says otherwise)."""

    def __call__(self, value: Any, /) -> datetime:
        if isinstance(value, str):
            return instant(value)
        if not isinstance(value, datetime):
            raise ValueError(f"must be a date or time such as 2026-05-03T14:00:00Z (got {shown(value)})")
        if value.utcoffset() is None:
            raise ValueError("needs a time zone: write datetime(..., tzinfo=UTC)")
        return _to_utc(value)


@dataclass(frozen=True, slots=True)
class Identifier:
    """The id of a memory, as `42`, `#42`, `kb.policy.42`, `ann::kb.x` or `global:5`."""

    def __call__(self, value: Any, /) -> str:
        return ids.written(value)


@dataclass(frozen=True, slots=True)
class StoredIdentifier:
    """The id of a memory as it is stored: it means the same for everyone, so `::kb.x` becomes `kb.x`."""

    def __call__(self, value: Any, /) -> str:
        place = ids.address(value)
        return ids.spell(place.tenant or "", place.id)


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value within bounds: an object, with `text_too` a text as well, or with `any_kind` whatever JSON has."""

    text_too: bool = False
    any_kind: bool = False

    def __call__(self, value: Any, /) -> Any:
        if isinstance(value, str) and self.text_too:
            return Text(at_least=1, at_most_bytes=limits.JSON_BYTES)(value)
        if not self.any_kind and not isinstance(value, Mapping):
            expected = "a JSON object or a text" if self.text_too else "a JSON object"
            raise ValueError(f"must be {expected}, not {type_of(value)}")
        clean = _json(value, limits.JSON_DEPTH)
        if (size := len(json.dumps(clean, ensure_ascii=False).encode())) > limits.JSON_BYTES:
            raise ValueError(f"must have at most {limits.JSON_BYTES} bytes as JSON (has {size})")
        return clean


@dataclass(frozen=True, slots=True)
class Document:
    """Any JSON value or text. It is read and not kept, so that nothing about its size is a fault."""

    def __call__(self, value: Any, /) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class OrNone:
    """What the inner rule accepts, or nothing at all."""

    rule: Rule

    def __call__(self, value: Any, /) -> Any:
        return None if value is None else self.rule(value)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a memory is about: a canonical name, `memory:<id>` or `thing:<text>`."""

    def __call__(self, value: Any, /) -> str:
        text = Text(at_least=1, at_most=limits.ENTITY_CHARACTERS, line=True, strip=True)(value)
        if text.startswith("memory:"):
            return "memory:" + Identifier()(text.removeprefix("memory:"))
        return text


@dataclass(frozen=True, slots=True)
class SystemGrant:
    """A system that may be read, or managed if its name ends in `=manage`."""

    def __call__(self, value: Any, /) -> str:
        text = NAME(value)
        name, equals, grant = text.rpartition("=")
        if equals and (not name or grant not in ("read", "manage")):
            raise ValueError(
                f"must be the name of a system, alone or with =read or =manage (got {shown(text)})"
            )
        return text


def anything(value: Any) -> Any:
    """The rule for a value that is kept or passed on as it is."""
    return value


def storable(text: str) -> None:
    """Refuse the few characters that our databases cannot hold."""
    if found := _UNSTORABLE.search(text):
        what = "a NUL character" if found.group() == "\x00" else "a lone surrogate"
        raise ValueError(
            f"contains {what} ({found.group()!a} at {found.start()}), which cannot be stored; remove it"
        )


def instant(text: str) -> datetime:
    """Read ISO 8601; a date alone is its first moment, and UTC is meant unless a zone is given."""
    try:
        if len(text) == 10:
            return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"must be a date or time such as 2026-05-03 or 2026-05-03T14:00:00Z (got {shown(text)})"
        ) from None
    return _to_utc(read if read.utcoffset() is not None else read.replace(tzinfo=UTC))


def _to_utc(moment: datetime) -> datetime:
    if moment.tzinfo is UTC:
        return moment
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"lies outside the years 1 to 9999 in UTC (got {moment.isoformat()})") from None


def _json(value: Any, depth: int) -> Any:
    if depth == 0:
        raise ValueError(f"is nested deeper than {limits.JSON_DEPTH} levels")
    if isinstance(value, str):
        storable(value)
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"contains {value}, which JSON does not have")
        return value
    if isinstance(value, Mapping):
        return {_key(key): _json(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item, depth - 1) for item in value]
    raise ValueError(f"contains {type_of(value)}, which JSON does not have")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"has the key {shown(key)}: keys must be texts")
    storable(key)
    return key


def type_of(value: object) -> str:
    return {
        "NoneType": "nothing",
        "bool": "true or false",
        "int": "a number",
        "float": "a number",
        "list": "a list",
        "tuple": "a list",
        "dict": "an object",
        "str": "a text",
    }.get(type(value).__name__, type(value).__name__)


def shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


NAME: Final = Text(at_least=1, at_most=limits.NAME_CHARACTERS, line=True, strip=True)
TITLE: Final = Text(at_least=1, at_most=limits.TITLE_CHARACTERS, line=True, strip=True)
HINT: Final = Text(at_least=1, at_most=limits.HINT_CHARACTERS, strip=True)
CONTENT: Final = Text(at_least=1, at_most_bytes=limits.CONTENT_BYTES)
SOURCE: Final = Text(at_least=1, at_most=limits.SOURCE_CHARACTERS, line=True, strip=True)
CATEGORY: Final = Text(at_least=1, at_most=limits.CATEGORY_CHARACTERS, line=True, strip=True)
REASON: Final = Text(at_least=1, at_most=limits.REASON_CHARACTERS, strip=True)
TAG: Final = Text(at_least=1, at_most=limits.TAG_CHARACTERS, line=True, strip=True)
KIND: Final = Choice(limits.KINDS)
DIMENSION: Final = Choice(limits.DIMENSIONS)
RELATION: Final = Choice(limits.RELATIONS)
SCOPE: Final = Choice(limits.SCOPES, limits.SCOPE_ALIASES)
STATUS: Final = Choice(limits.STATUSES)
CONFIDENCE: Final = Choice(limits.CONFIDENCES)
ORIGIN: Final = Choice(limits.ORIGINS)
ID: Final = Identifier()
STORED_ID: Final = StoredIdentifier()
INSTANT: Final = Timestamp()
FLAG: Final = Flag()
GRANT: Final = SystemGrant()
GRANTED: Final = Choice(("read", "manage"))
