"""HOW does a page look? Templates, with the few filters that they share; whatever was stored is escaped."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from onrecord.context import frame
from onrecord.model.checks import CHECK_WORDS
from onrecord.model.limits import CheckState
from onrecord.model.memory import Memory
from onrecord.model.wire import write_instant
from onrecord.text.differences import TextChange, differences
from onrecord.text.marking import passages, pieces, spans

_PACKAGE: Final = "onrecord.surfaces.web"
STATIC: Final = "/static"
#: A list shows texts of this length whole; of longer ones so many passages of about so many characters.
_WHOLE_CHARACTERS: Final = 600
_PASSAGE_CHARACTERS: Final = 280
_PASSAGES: Final = 2
#: How much of what stayed is shown beside a change.
_AROUND: Final = 200
_MARK: Final = Markup("<mark>{}</mark>")
_GAP: Final = Markup('<span class="gap" title="Text is left out here"> … </span>')
#: The fields that forms call otherwise than their own names.
_WORDS: Final = {
    "content": "text",
    "entities": "about",
    "always_inject": "always apply",
    "valid_from": "true since",
    "valid_to": "true until",
    "verified_at": "checked",
    "conversation_by": "pinned by",
    "status_reason": "because",
}
_CHANGED: Final = {"removed": Markup("<del>{}</del>"), "added": Markup("<ins>{}</ins>")}
#: Nothing from elsewhere, nothing inline; pages are in no frame but where a page says so.
POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "font-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


class Html(Response):
    """A page as it is sent."""

    media_type = "text/html"

    def __init__(self, body: str, status: int = 200, policy: dict[str, str] | None = None) -> None:
        super().__init__(body.encode("utf-8", "backslashreplace"), status)
        rules = POLICY | (policy or {})
        # Without a referrer a browser would send the forms of this page as of no origin.
        self.headers["referrer-policy"] = "same-origin"
        self.headers["content-security-policy"] = "; ".join(
            f"{name} {value}" for name, value in rules.items()
        )


def render(template: str, **values: Any) -> str:
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters |= {
        each.__name__: each
        for each in (
            check_words,
            *(visible, marked, passage, words, field, code, word_diff, earlier, later),
            *(moment, day, percent, iso),
        )
    }
    templates.globals |= {"static": static}
    return templates


def check_words(state: CheckState) -> str:
    return CHECK_WORDS[state]


def visible(text: str) -> str:
    """A stored text with its invisible and control characters written out, as everywhere on a screen."""
    return frame.visible(text)


def marked(text: str, question: str = "") -> Markup:
    """A stored text in which the words of a question are marked."""
    # Most lists are made without a question.
    return _with_marks(text, spans(text, question)) if question else escape(visible(text))


def passage(text: str, question: str = "") -> Markup:
    """What a list shows of a text: all of a short one, of a long one the parts around the words of the question."""
    if len(text) <= _WHOLE_CHARACTERS:
        return marked(text, question)
    found = spans(text, question) if question else []
    shown, end = Markup(), 0
    for start, stop in passages(text, found, characters=_PASSAGE_CHARACTERS, most=_PASSAGES):
        shown += _GAP if start > end else Markup()
        inside = [(first - start, last - start) for first, last in found if start <= first and last <= stop]
        shown += _with_marks(text[start:stop], inside)
        end = stop
    return shown + (_GAP if end < len(text) else Markup())


def _with_marks(text: str, found: Sequence[tuple[int, int]]) -> Markup:
    return Markup().join(
        _MARK.format(visible(piece.text)) if piece.is_match else escape(visible(piece.text))
        for piece in pieces(text, found)
    )


def words(name: str) -> str:
    """A field by the name that it has on a page."""
    return _WORDS.get(name) or name.replace("_", " ")


def field(memory: Memory, name: str) -> str:
    """One field of a memory in words, to compare it with that of another."""
    value = getattr(memory, name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"
    return code(value)


def code(value: Any) -> str:
    """A query or other data as one reads it: text as it is, the rest as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return (
        json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, Mapping | list) else str(value)
    )


def word_diff(after: str, before: str) -> Markup:
    """A text with what was added to an earlier one and what was taken from it; long stretches that stayed are cut."""
    return _changes(differences(before, after))


def earlier(before: str, after: str) -> Markup:
    """The earlier of two texts, with what the later one no longer has."""
    return _changes(span for span in differences(before, after) if span.change != "added")


def later(after: str, before: str) -> Markup:
    """The later of two texts, with what the earlier one did not have."""
    return _changes(span for span in differences(before, after) if span.change != "removed")


def _changes(spans: Iterable[TextChange]) -> Markup:
    return Markup().join(
        _stayed(span.text) if span.change == "same" else _CHANGED[span.change].format(visible(span.text))
        for span in spans
    )


def _stayed(text: str) -> Markup:
    if len(text) <= 3 * _AROUND:
        return escape(visible(text))
    return escape(visible(text[:_AROUND])) + _GAP + escape(visible(text[-_AROUND:]))


def iso(time: datetime) -> str:
    return write_instant(time)


@lru_cache(maxsize=4_096)
def moment(time: datetime | None) -> Markup:
    """A time to the minute, in UTC, with its full form for programs and for whoever points at it."""
    return _shown(time, "%Y-%m-%d %H:%M")


@lru_cache(maxsize=4_096)
def day(time: datetime | None) -> Markup:
    return _shown(time, "%Y-%m-%d")


def _shown(time: datetime | None, form: str) -> Markup:
    if time is None:
        return Markup()
    # Nothing in a time needs to be escaped.
    return Markup(f'<time datetime="{iso(time)}" title="{iso(time)}">{time.astimezone(UTC):{form}}</time>')


def percent(part: float) -> str:
    return f"{100 * part:.0f} %"


@cache
def static(name: str) -> str:
    """The address of a file that we ship; it changes with the file, so browsers may keep it for ever."""
    digest = sha256((files(_PACKAGE) / "static" / name).read_bytes()).hexdigest()[:12]
    return f"{STATIC}/{name}?v={digest}"
