"""WHAT may a field of the arbiter runtime hold? In the runtime, sizes are bytes and times are seconds."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final, cast

from onrecord.errors import Fault, Invalid
from onrecord.model import ids
from onrecord.model.limits import KINDS, Kind
from onrecord.model.rules import NAME, Choice, Integer, Number, OrNone, Rule, shown

#: The type in the runtime for each of our kinds: it has six types, and our kinds are finer.
TYPE_OF: Final[Mapping[Kind, str]] = {
    "user": "user",
    "feedback": "feedback",
    "project": "project",
    "reference": "reference",
    "learning": "learning",
    "context": "context",
    "preference": "user",
    "decision": "project",
    "workflow": "learning",
    "summary": "context",
    "skill": "learning",
    "fact": "reference",
}
TYPES: Final = tuple(dict.fromkeys(TYPE_OF.values()))
_TYPE: Final = Choice(TYPES)
TITLE_BYTES: Final = 200
CONTENT_BYTES: Final = 64 * 1024
SOURCE_BYTES: Final = 200
TAGS: Final = 32
TAG_BYTES: Final = 64

_MILLISECONDS_FROM: Final = 10**12
_YES: Final = frozenset({"1", "true", "on", "yes"})
_NO: Final = frozenset({"0", "false", "off", "no"})


class Wrong(Invalid):
    """What is wrong, in one sentence that names the field."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__([Fault(field, sentence)])
        self.args = (sentence,)


def _checked(field: str, rule: Rule, value: Any, sentence: str | None = None) -> Any:
    """The value as the rule returns it.

    If the rule refuses it, raise Wrong with `sentence`, or else with the name of the field and the rule's own reason.
    """
    try:
        return rule(value)
    except ValueError as reason:
        raise Wrong(field, sentence or f"{field} {reason}") from None


def read_type(value: Any) -> Kind:
    reason = f"invalid type {shown(value)}: must be one of {', '.join(TYPES)}"
    return cast(Kind, _checked("type", _TYPE, value, reason))


def read_types(text: str) -> tuple[Kind, ...]:
    """Our kinds for a list of types separated by commas."""
    wanted = [each for each in (part.strip() for part in text.split(",")) if each]
    for each in wanted:
        _checked("type", _TYPE, each, f"invalid type filter: {each} is none of {', '.join(TYPES)}")
    return kinds_of(wanted)


def kinds_of(types: Collection[str]) -> tuple[Kind, ...]:
    """Our kinds for these types."""
    return tuple(kind for kind in KINDS if TYPE_OF[kind] in types)


def read_title(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong("title", f"title must be a text of 1 to {TITLE_BYTES} bytes")
    if not value.strip() or size(value) > TITLE_BYTES:
        raise Wrong("title", f"title length must be 1 to {TITLE_BYTES} bytes (got {size(value)})")
    return value


def read_content(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong("content", "content must be a text")
    if size(value) > CONTENT_BYTES:
        raise Wrong("content", f"content exceeds {CONTENT_BYTES // 1024} KiB (got {size(value)} bytes)")
    return value


def read_source(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise Wrong("source", "source must be a text")
    if size(value or "") > SOURCE_BYTES:
        raise Wrong("source", f"source exceeds {SOURCE_BYTES} bytes (got {size(value or '')})")
    return (value or "").strip()


def read_tags(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise Wrong("tags", "tags must be a JSON array of texts")
    if len(value) > TAGS:
        raise Wrong("tags", f"tags: at most {TAGS} entries (got {len(value)})")
    for tag in value:
        if not isinstance(tag, str):
            raise Wrong("tags", f"tags entries must be texts (got {shown(tag)})")
        if not tag.strip() or size(tag) > TAG_BYTES:
            raise Wrong("tags", f"tag length must be 1 to {TAG_BYTES} bytes (got {size(tag)})")
    return value


def read_id(field: str, value: Any) -> str:
    """An id as we write it: 42, "42" and "#42" are the same."""
    return str(_checked(field, ids.written, value))


def read_model(field: str, value: Any) -> None:
    """Check the name of an advisor's model, if one is given."""
    _checked(field, OrNone(NAME), value or None)


def size(text: str) -> int:
    """How many bytes a text has. Half a character (a lone surrogate) counts too; it is refused when it is stored."""
    return len(text.encode("utf-8", "surrogatepass"))


def read_artifact(value: Any) -> str | None:
    if value is None or (value == 0 and not isinstance(value, bool)):
        return None
    reason = f"artifact_id must be a number \N{GREATER-THAN OR EQUAL TO} 0 (got {shown(value)})"
    return str(_checked("artifact_id", Integer(0), value, reason))


def read_moment(field: str, value: Any) -> datetime | None:
    """A time, from seconds since 1970, or from milliseconds if the number is that large; None for null and 0."""
    if value is None:
        return None
    reason = f"{field!r} must be a non-negative epoch, \N{GREATER-THAN OR EQUAL TO} 0 (got {shown(value)})"
    seconds = _checked(field, Number(), value, reason)
    if not isfinite(seconds) or seconds < 0:
        raise Wrong(field, reason)
    if seconds == 0:
        return None
    try:
        return datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS_FROM else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise Wrong(field, f"{field!r} lies too far in the future (got {shown(value)})") from None


def moment_in(query: Mapping[str, str], name: str) -> datetime | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        value = int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise Wrong(name, f"{name!r} must be a non-negative epoch (got {shown(text)})") from None
    return read_moment(name, value)


def positive_in(query: Mapping[str, str], name: str) -> float | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (isfinite(value) and value > 0):
        raise Wrong(name, f"{name} must be a positive number of days (got {shown(text)})")
    return value


def page_size(query: Mapping[str, str], usual: int, most: int) -> int:
    """The `limit` of a query, but at most `most`; `usual` if it is missing or not a positive whole number."""
    try:
        limit = int(query.get("limit") or usual)
    except ValueError:
        return usual
    return min(limit, most) if limit >= 1 else usual


def is_yes(text: str) -> bool:
    return text.strip().lower() in _YES


def is_no(text: str) -> bool:
    return text.strip().lower() in _NO
