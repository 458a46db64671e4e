"""WHICH route do programs of datamind know? The one that shows what is remembered in a profile; the face translates,
the operations decide.
"""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.faces.datamind import asking
from onrecord.faces.datamind.items import ITEM, RECALLED
from onrecord.model.rules import Text
from onrecord.model.shapes import Described
from onrecord.service import OnRecord
from onrecord.surfaces.rest.declared import (
    TEXT,
    FaceHttp,
    FaceRoute,
    Parameter,
    RouteAnswer,
    object_schema,
    read_parameters,
    schema_named,
)

#: More than the default of the tools: a page has room for it.
_SHOWN: Final = 10
_QUERY: Final = (
    Parameter("query", "The question; without one, the newest are listed.", Described(Text(), default="")),
    Parameter("top_k", "How many at most.", Described(RECALLED, default=_SHOWN)),
)


def _look(door: OnRecord, request: Request, body: bytes) -> Response:
    profile = request.path_params["profile"]
    asked: dict[str, Any] = {"query": "", "top_k": _SHOWN} | read_parameters(request.query_params, _QUERY)
    if asked["query"].strip():
        found = asking.recall(door, **asked, profile=profile)
    else:
        found = asking.newest(door, asked["top_k"], profile)
    return JSONResponse(
        {"profile": profile, "query": asked["query"], "results": [each.as_json() for each in found]}
    )


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
                    object_schema(
                        {
                            "profile": TEXT,
                            "query": TEXT,
                            "results": {"type": "array", "items": schema_named("DatamindItem")},
                        }
                    ),
                )
            },
        ),
    ),
)
