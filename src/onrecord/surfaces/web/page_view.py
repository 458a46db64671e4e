"""WHO looks at a page, and what did they ask for? One value for a request to a page, from which it is made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, OnRecordError, invalid
from onrecord.features import operation_named
from onrecord.model import ids
from onrecord.model.request import request_fields
from onrecord.model.rules import INSTANT, Flag, OrNone
from onrecord.model.unset import UNSET
from onrecord.service import OnRecord
from onrecord.surfaces.parsing import list_parser, text_parser
from onrecord.surfaces.web.rendering import Html, iso, render
from onrecord.text.times import read_times

Answer = TypeVar("Answer")

#: The two clocks, which every link keeps: what was true then, and what was known then.
TIMES: Final = ("as_of", "known_at")
#: The two times that a page compares.
_ENDS: Final = ("since", "until")
#: The hidden fields of a form: which act it is for, and the proof that it is ours.
ACT: Final = "act"
PROOF: Final = "form_token"
#: What a form may be refused with while its page is shown again, as it was typed.
REFUSALS: Final = (Invalid, Conflict, Forbidden, NotFound)


@dataclass(frozen=True, slots=True)
class Form:
    """What was typed into a form, in its order."""

    pairs: Sequence[tuple[str, str]]

    @property
    def act(self) -> str:
        """The act that it is sent for: that of the pressed button, or else its own."""
        return next(reversed(self.all(ACT)), "")

    @property
    def made_for(self) -> str:
        """The act that its fields belong to, whichever of its buttons was pressed."""
        return next(iter(self.all(ACT)), "")

    def one(self, name: str) -> str:
        """The only value of a field; empty if there is none."""
        values = self.all(name)
        if len(values) > 1:
            raise invalid(name, "was given twice")
        return values[0] if values else ""

    def all(self, name: str) -> list[str]:
        return [value for each, value in self.pairs if each == name]

    def has(self, name: str) -> bool:
        return any(each == name for each, _ in self.pairs)


@dataclass(frozen=True, slots=True)
class RefusedForm:
    """A form that could not be carried out: what was typed, and why it was refused."""

    form: Form
    error: OnRecordError

    @property
    def faults(self) -> Mapping[str, str]:
        """What is wrong with each field."""
        faults = self.error.faults if isinstance(self.error, Invalid) else ()
        return {fault.field.split(".")[0].split("[")[0]: fault.message for fault in faults}


@dataclass(kw_only=True)
class PageView:
    """One request to a page, by someone whose door is open."""

    request: Request
    door: OnRecord
    #: What every form of this answer carries, and what is compared when it comes back.
    form_token: str
    #: Whether they signed in in this browser, and so may sign out.
    is_signed_in: bool = False
    #: A sentence about what was just done, if this page follows a form.
    done: str | None = None
    refused: RefusedForm | None = None
    #: A form that was sent and is shown again as it was typed, though nothing is wrong with it.
    typed: Form | None = None
    #: The pages that this person may open, for the navigation, and the path by which this page stands among them.
    links: Sequence[tuple[str, str]] = field(default_factory=tuple)
    stands_in: str = ""

    @cached_property
    def query(self) -> Form:
        """What stands in the address."""
        return Form(parse_qsl(self.request.url.query, keep_blank_values=True, max_num_fields=200))

    @property
    def path(self) -> Mapping[str, str]:
        """The variable parts of the path."""
        return self.request.path_params

    @property
    def current(self) -> str | None:
        """The page of the navigation that this one is, or is a part of."""
        inside = [path for _, path in self.links if f"{self.stands_in}/".startswith(f"{path.rstrip('/')}/")]
        # Everything is inside of "/", which is a page of its own.
        return max((path for path in inside if path != "/" or self.stands_in == "/"), key=len, default=None)

    @property
    def times(self) -> dict[str, Any]:
        """The chosen times, by the names of the fields that take them; empty for now."""
        return {name: self._read_time(name, text) for name, text in self._times_as_typed.items()}

    @property
    def known_at(self) -> dict[str, Any]:
        """The chosen time of those, for what has no other."""
        return {name: time for name, time in self.times.items() if name == "known_at"}

    @property
    def is_past(self) -> bool:
        """Whether a time was chosen, even one that cannot be read."""
        return bool(self._times_as_typed)

    @property
    def settled(self) -> str | None:
        """This page's address with times in place of the words for them, if it has any: "last March" means another time
        next year, and a link must show the same for ever.
        """
        typed = {name: self.query.one(name).strip() for name in (*TIMES, *_ENDS)}
        words = {name: text for name, text in typed.items() if text and not _is_instant(text)}
        if not words:
            return None
        return self.same(**{name: iso(self._read_time(name, text)) for name, text in words.items()})

    def time(self, name: str) -> datetime | None:
        """A time that stands in the address."""
        text = self.query.one(name).strip()
        return self._read_time(name, text) if text else None

    def attempt(self, answer: Callable[[], Answer]) -> Answer | None:
        """What an operation answers for what stands in the address. None if it refuses it: the page then says why, and
        shows what was typed.
        """
        try:
            return answer()
        except (Invalid, NotFound) as error:
            self.refused = RefusedForm(self.query, error)
            return None

    def typed_into(self, act: str) -> Form | None:
        """What was typed into the form of an act, if that is the one that was sent."""
        form = self.typed if self.refused is None else self.refused.form
        return form if form is not None and form.made_for == act else None

    def faults_of(self, act: str) -> Mapping[str, str]:
        """What is wrong with the fields of the form of an act, if that is the one that was refused."""
        return {} if self.refused is None or self.typed_into(act) is None else self.refused.faults

    def may(self, permission: str) -> bool:
        return permission in self.door.caller.permissions

    def link(self, path: str, *parts: str, **query: Any) -> str:
        """The address of a page: each `{}` of the path is filled with a part, and the chosen times are kept.

        A query value of None is left out, a list is repeated; `as_of=None` leads to now.
        """
        return address(path, *parts, **(self._times_as_typed | query))

    def called(self, id: str) -> str:
        """The id of a memory as whoever reads the page would give it."""
        return ids.as_read_by(id, self.door.caller.user)

    def exactly(self, id: str) -> str:
        """The id of a memory for a form that is about this one, though whoever sends it may have one of that name."""
        return ids.exactly(id)

    def by_address(self, id: str, read: Callable[[str], Answer]) -> Answer:
        """What is read by an id in an address. It came from an answer: where it may mean two, it means the one that has that id."""
        try:
            return read(id)
        except Conflict:
            if ids.exactly(id) == id:
                raise
            return read(ids.exactly(id))

    def same(self, **query: Any) -> str:
        """The address of this page with other values in its query; None takes one away."""
        kept: dict[str, Any] = {}
        for name, value in self.query.pairs:
            kept.setdefault(name, []).append(value)
        kept.pop("done", None)
        return address(self.request.url.path, **(kept | query))

    def without(self, name: str, value: str) -> str:
        """The address of this page without one value of its query, from the first page on."""
        return self.same(
            **{name: [each for each in self.query.all(name) if each not in (value, "")]}, after=None
        )

    def html(self, template: str, status: int = 200, **values: Any) -> Html:
        """The page, made from a template that also sees this view."""
        return Html(render(template, view=self, **values), status)

    def go(self, path: str, *parts: str, done: str | None = None, **query: Any) -> Response:
        """Lead to another page after a form was carried out; `done` names the sentence to show there."""
        return RedirectResponse(self.link(path, *parts, **query, done=done), 303)

    def fields(self, operation: str, given: Form, *names: str) -> dict[str, Any]:
        """The fields of an operation as a form or an address has them, read by their own rules.

        Of the fields that are named, or of all. What the form does not have is left out. An empty text clears a field
        that may be cleared; where it cannot, the rule of a field that changes something refuses it.
        """
        fields: dict[str, Any] = {}
        for each in request_fields(operation_named(operation).request):
            if (names and each.name not in names) or not given.has(each.name):
                continue
            fields |= _field(each.name, each.metadata["rule"], each.default, given)
        return fields

    def help(self, operation: str, name: str) -> str:
        """The help of a field, in the words that every surface has for it."""
        fields = request_fields(operation_named(operation).request)
        return next(str(each.metadata["help"]) for each in fields if each.name == name)

    @cached_property
    def _times_as_typed(self) -> dict[str, str]:
        typed = {name: self.query.one(name).strip() for name in TIMES}
        return {name: text for name, text in typed.items() if text}

    def _read_time(self, name: str, text: str) -> datetime:
        """A time as every operation takes it, or in words, which mean the beginning of what they name."""
        if _is_instant(text):
            return _instant(name, text)
        windows = read_times(text, self.door.now)
        if len(windows) == 1 and windows[0].text == text:
            found = windows[0].start or windows[0].end
            assert found is not None, "one of them is a time"
            return found
        return _instant(name, text)


def address(path: str, *parts: str, **query: Any) -> str:
    """A path with its parts and its query, quoted so that each stays what it is."""
    filled = path.format(*(quote(part, safe="~:@!$&'()*+,;=") for part in parts))
    pairs = [
        (name, str(each))
        for name, value in query.items()
        for each in (value if isinstance(value, list | tuple) else [value])
        if each is not None
    ]
    return f"{filled}?{urlencode(pairs)}" if pairs else filled


def _field(name: str, rule: Any, default: Any, given: Form) -> dict[str, Any]:
    texts = given.all(name)
    several = list_parser(rule)
    if several is not None:
        # A text area holds a list of one a line.
        return {name: several([line.strip() for text in texts for line in text.splitlines()])}
    inner = rule.rule if isinstance(rule, OrNone) else rule
    if isinstance(inner, Flag):
        # A box that is not ticked is not sent, so a hidden field before it says no.
        return {name: text_parser(inner)(texts[-1])}
    text = given.one(name)
    if text == "" and default is not UNSET and default is not MISSING:
        return {}
    # Browsers send lines that end as on no other surface.
    return {name: text_parser(rule)(text.replace("\r\n", "\n"))}


def _instant(name: str, text: str) -> datetime:
    try:
        moment: datetime = INSTANT(text)
    except ValueError as reason:
        raise invalid(name, str(reason)) from None
    return moment


def _is_instant(text: str) -> bool:
    try:
        INSTANT(text)
    except ValueError:
        return False
    return True
