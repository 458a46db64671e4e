"""WHAT do the routes of the data platform share? How parameters are read, how pages are cut, and how an error looks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Invalid, OnRecordError
from onrecord.faces.data_platform.fields import (
    CHOICES,
    LISTED,
    MOST_LISTED,
    check_choices,
    clamped,
    refuse,
)
from onrecord.model.limits import BROWSE_SKIP
from onrecord.model.rules import Integer
from onrecord.model.shapes import Described, Object, taken
from onrecord.surfaces.rest.bodies import read_object
from onrecord.surfaces.rest.declared import TEXT, Parameter, object_schema, read_parameters
from onrecord.surfaces.rest.problems import detail_of, headers_of, kind_of

ADMIN: Final = "/api/v1/admin"
PORTAL: Final = "/api/v1/portal"
COUNT: Final = {"type": "integer"}
COUNTS: Final = {"type": "object", "additionalProperties": COUNT}
#: A fault of a request has this status on the platform, and another on our own routes.
_FAULTY: Final = 400
_TIMES: Final = {"since": "created_since", "until": "created_before"}


def refused(error: OnRecordError) -> Response:
    kind = kind_of(error)
    status = _FAULTY if isinstance(error, Invalid) else kind.status
    problem = {"type": "about:blank", "title": kind.title, "status": status, "detail": detail_of(error)}
    return JSONResponse(problem, status, headers_of(error))


def read_query(
    request: Request, known: Sequence[Parameter], choices: Mapping[str, Sequence[str]] = CHOICES
) -> dict[str, Any]:
    """The parameters in the address; what is empty counts as left out."""
    names = {each.name for each in known}
    given = {name: text for name, text in request.query_params.items() if text or name not in names}
    asked = read_parameters(given, known)
    refuse(check_choices({name: value for name, value in asked.items() if name in choices}, choices))
    return asked


def read_fields(request: Request, body: bytes, takes: Object) -> dict[str, Any]:
    """The fields of a body."""
    return taken(takes, read_object(request.headers, body))


def criteria(asked: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The filters of a list in our words; `names` are those of which a filter takes several values."""
    wanted: dict[str, Any] = {ours: [asked[name]] for name, ours in names.items() if name in asked}
    return wanted | {ours: asked[name] for name, ours in _TIMES.items() if name in asked}


def page_of(asked: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """The page of a list that an admin's request asks for, and the fields that describe it."""
    size, number = clamped(asked.get("per_page"), LISTED, MOST_LISTED), max(asked.get("page", 1), 1)
    return {"limit": size, "skip": min(size * (number - 1), BROWSE_SKIP)}, {"page": number, "per_page": size}


def cut_of(asked: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """The same of a person's own list."""
    size, skip = clamped(asked.get("limit"), LISTED, MOST_LISTED), max(asked.get("offset", 0), 0)
    return {"limit": size, "skip": min(skip, BROWSE_SKIP)}, {"limit": size, "offset": skip}


def choice(name: str, choices: Mapping[str, Sequence[str]] = CHOICES) -> Parameter:
    return Parameter(name, f"Only of this {name}: {', '.join(choices[name])}.")


def how_many(name: str, most: int = MOST_LISTED) -> Parameter:
    return Parameter(name, f"How many at most, up to {most}.", Described(Integer(), default=LISTED))


SINCE: Final = Parameter("since", "Only written down at or after this time (RFC 3339).")
UNTIL: Final = Parameter("until", "Only written down before this time (RFC 3339).")
PAGED: Final = (
    Parameter("page", "Which page, from 1.", Described(Integer(), default=1)),
    how_many("per_page"),
)
CUT: Final = (
    how_many("limit"),
    Parameter("offset", "How many to leave out before them.", Described(Integer(), default=0)),
)


STATUS: Final = object_schema({"status": TEXT})
PAGE: Final = {"page": COUNT, "per_page": COUNT}
PART: Final = {"limit": COUNT, "offset": COUNT}
