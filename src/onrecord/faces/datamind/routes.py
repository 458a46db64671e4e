"""WHICH route do programs of datamind know? What is remembered of one profile; the face translates, the operations decide."""

import logging
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from onrecord.errors import Fault, Invalid
from onrecord.faces.datamind import asking
from onrecord.faces.datamind.legacy import migrate_own
from onrecord.service import OnRecord
from onrecord.surfaces.rest.request_runner import RequestRunner

_TAKES: Final = ("query", "top_k")
_LOG: Final = logging.getLogger(__name__)


def routes(runner: RequestRunner) -> list[BaseRoute]:
    """GET /api/memory/{profile}. If the store is in the file of an older datamind, that is emptied into it first."""
    for migrated in migrate_own(runner.door, runner.door.caller.tenant):
        for warning in migrated.warnings:
            _LOG.warning("%s", warning)

    async def look(request: Request) -> Response:
        """What bears on a question in one profile, and for everyone; another's profile looks like an empty one."""

        def act(door: OnRecord) -> dict[str, Any]:
            # Only whoever is let in is told what is wrong with it.
            return _look(door, request.path_params["profile"], **_read(request))

        return JSONResponse(await runner.call(request, act))

    return [Route("/api/memory/{profile}", look, methods=["GET"])]


def _look(door: OnRecord, profile: str, query: str, top_k: int) -> dict[str, Any]:
    found = asking.recall(door, query, top_k, profile=profile)
    return {"profile": profile, "query": query, "results": [each.as_json() for each in found]}


def _read(request: Request) -> dict[str, Any]:
    """The question and how many; Invalid with everything that is wrong at once."""
    given = request.query_params
    faults = [
        Fault(name, f"is not known here; there are {', '.join(_TAKES)}")
        for name in given
        if name not in _TAKES
    ]
    top_k = given.get("top_k", "10")
    if not (top_k.isascii() and top_k.isdigit() and len(top_k) < 10):
        faults.append(Fault("top_k", f"must be a whole number (got {top_k!a})"))
    if faults:
        raise Invalid(faults)
    return {"query": given.get("query", ""), "top_k": int(top_k)}
