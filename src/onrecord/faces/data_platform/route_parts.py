"""WHAT do the routes of the data platform share? How parameters are read, how pages are cut, and how an error looks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Fault, Invalid, OnRecordError
from onrecord.faces.data_platform.fields import (
    CHOICES,
    LISTED,
    MOST_LISTED,
    check_choices,
    clamped,
    refuse,
)
from onrecord.model.limits import BROWSE_SKIP
from onrecord.model.near_names import unknown_names
from onrecord.surfaces.rest.bodies import read_object
from onrecord.surfaces.rest.declared import TEXT, FaceRoute, Parameter, RouteAnswer
from onrecord.surfaces.rest.problems import detail_of, headers_of, kind_of

ADMIN: Final = "/api/v1/admin"
PORTAL: Final = "/api/v1/portal"
COUNT: Final = {"type": "integer"}
COUNTS: Final = {"type": "object", "additionalProperties": COUNT}
#: A fault of a request has this status on the platform, and another on our own routes.
_FAULTY: Final = 400
_TIMES: Final = {"since": "created_since", "until": "created_before"}
_NUMBERS: Final = frozenset({"page", "per_page", "limit", "offset"})


def refused(error: OnRecordError) -> Response:
    kind = kind_of(error)
    status = _FAULTY if isinstance(error, Invalid) else kind.status
    told = {"type": "about:blank", "title": kind.title, "status": status, "detail": detail_of(error)}
    return JSONResponse(told, status, headers_of(error))


def read_query(
    request: Request, known: Sequence[Parameter], choices: Mapping[str, Sequence[str]] = CHOICES
) -> dict[str, Any]:
    """The parameters in the address; Invalid lists those that are unknown, and numbers that are none."""
    names = [each.name for each in known]
    given = dict(request.query_params)
    faults = unknown_names(given, names, "is not known here", f"; there are {', '.join(names)}")
    for name in _NUMBERS & given.keys():
        if not (
            given[name].removeprefix("-").isdecimal() and given[name].isascii() and len(given[name]) < 10
        ):
            faults.append(Fault(name, f"must be a whole number (got {given[name]!a})"))
    if faults:
        raise Invalid(faults)
    refuse(check_choices({name: value for name, value in given.items() if name in choices}, choices))
    return {name: int(value) if name in _NUMBERS else value for name, value in given.items() if value}


def read_fields(request: Request, body: bytes, known: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body with these properties; Invalid lists those that are unknown or of another type."""
    given, fields = read_object(request.headers, body), known["properties"]
    if faults := unknown_names(given, fields, "is not a field here", f"; there are {', '.join(fields)}"):
        raise Invalid(faults)
    faults = [
        Fault(name, f"must be {'an object' if fields[name]['type'] == 'object' else 'a text'}")
        for name, value in given.items()
        if value is not None and not isinstance(value, dict if fields[name]["type"] == "object" else str)
    ]
    if faults:
        raise Invalid(faults)
    return given


def criteria(asked: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The filters of a list in our words; `names` are those of which a filter takes several values."""
    wanted: dict[str, Any] = {ours: [asked[name]] for name, ours in names.items() if name in asked}
    return wanted | {ours: asked[name] for name, ours in _TIMES.items() if name in asked}


def page_of(asked: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """What an admin's page asks of a list, and what it tells of itself."""
    size, number = clamped(asked.get("per_page"), LISTED, MOST_LISTED), max(asked.get("page", 1), 1)
    return {"limit": size, "skip": min(size * (number - 1), BROWSE_SKIP)}, {"page": number, "per_page": size}


def cut_of(asked: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """The same of a person's own list."""
    size, skip = clamped(asked.get("limit"), LISTED, MOST_LISTED), max(asked.get("offset", 0), 0)
    return {"limit": size, "skip": min(skip, BROWSE_SKIP)}, {"limit": size, "offset": skip}


def choice(name: str, choices: Mapping[str, Sequence[str]] = CHOICES) -> Parameter:
    return Parameter(name, f"Only of this {name}: {', '.join(choices[name])}.")


def how_many(name: str, most: int = MOST_LISTED) -> Parameter:
    return Parameter(name, f"How many at most, up to {most}.", {**COUNT, "default": LISTED})


SINCE: Final = Parameter("since", "Only written down at or after this time (RFC 3339).")
UNTIL: Final = Parameter("until", "Only written down before this time (RFC 3339).")
PAGED: Final = (Parameter("page", "Which page, from 1.", {**COUNT, "default": 1}), how_many("per_page"))
CUT: Final = (
    how_many("limit"),
    Parameter("offset", "How many to leave out before them.", {**COUNT, "default": 0}),
)


def shape(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    needed = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": needed}


STATUS: Final = shape({"status": TEXT})
PAGE: Final = {"page": COUNT, "per_page": COUNT}
PART: Final = {"limit": COUNT, "offset": COUNT}


def get(
    path: str, name: str, summary: str, act: Callable[..., Response], answer: Any, *parameters: Parameter
) -> FaceRoute:
    return FaceRoute(
        method="GET",
        path=path,
        name=name,
        summary=summary,
        act=act,
        parameters=parameters,
        answers={200: RouteAnswer(summary, answer)},
    )
