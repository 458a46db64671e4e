"""WHICH route do programs of datamind know? The one that shows what is remembered in a profile; the face translates,
the operations decide.
"""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Fault, Invalid
from onrecord.faces.datamind import asking
from onrecord.faces.datamind.items import ITEM, MOST_RECALLED
from onrecord.service import OnRecord
from onrecord.surfaces.rest.declared import TEXT, FaceHttp, FaceRoute, Parameter, RouteAnswer, schema_named

#: More than the default of the tools: a page has room for it.
_SHOWN: Final = 10
_QUERY: Final = (
    Parameter("query", "The question; without one, the newest are listed.", {**TEXT, "default": ""}),
    Parameter(
        "top_k",
        "How many at most.",
        {"type": "integer", "minimum": 1, "maximum": MOST_RECALLED, "default": _SHOWN},
    ),
)


def _look(door: OnRecord, request: Request, body: bytes) -> Response:
    profile, asked = request.path_params["profile"], _read(request)
    if asked["query"].strip():
        found = asking.recall(door, **asked, profile=profile)
    else:
        found = asking.newest(door, asked["top_k"], profile)
    return JSONResponse(
        {"profile": profile, "query": asked["query"], "results": [each.as_json() for each in found]}
    )


def _read(request: Request) -> dict[str, Any]:
    """The question and the number of results; Invalid lists everything that is wrong."""
    given, names = request.query_params, [each.name for each in _QUERY]
    faults = [
        Fault(name, f"is not known here; there are {', '.join(names)}") for name in given if name not in names
    ]
    top_k = given.get("top_k", str(_SHOWN))
    if not (top_k.isascii() and top_k.isdigit() and len(top_k) < 10):
        faults.append(Fault("top_k", f"must be a whole number (got {top_k!a})"))
    if faults:
        raise Invalid(faults)
    return {"query": given.get("query", ""), "top_k": int(top_k)}


HTTP: Final = FaceHttp(
    face="datamind",
    schemas={"DatamindItem": ITEM},
    routes=(
        FaceRoute(
            method="GET",
            path="/api/memory/{profile}",
            name="look",
            summary="What is relevant to a question in one profile, and for everyone, or the newest; another's looks like an empty one.",
            act=_look,
            parameters=(Parameter("profile", "The profile, which is the tenant of the key."), *_QUERY),
            answers={
                200: RouteAnswer(
                    "What was found, best first; without a question, newest first.",
                    {
                        "type": "object",
                        "properties": {
                            "profile": TEXT,
                            "query": TEXT,
                            "results": {"type": "array", "items": schema_named("DatamindItem")},
                        },
                        "required": ["profile", "query", "results"],
                    },
                )
            },
        ),
    ),
)
