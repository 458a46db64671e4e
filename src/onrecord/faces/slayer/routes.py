"""WHICH routes do programs of the slayer semantic layer know? Their own, at the root; the face translates, the
operations decide.

As in the semantic layer, the answer to a faulty request is 400 with one key, `detail`, and that to a save is 200.
"""

from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Invalid, OnRecordError
from onrecord.faces.slayer import calls, fields
from onrecord.model.schema import rule_schema
from onrecord.model.shapes import Object, taken, taken_by
from onrecord.service import OnRecord
from onrecord.surfaces.rest import declared
from onrecord.surfaces.rest.bodies import read_object
from onrecord.surfaces.rest.declared import FaceHttp, FaceRoute, RouteAnswer
from onrecord.surfaces.rest.problems import detail_of, headers_of, kind_of

_SAVE: Final = taken_by(calls.save_memory, fields.SAVE)
_SEARCH: Final = Object("what a search takes", fields.SEARCH)


def _save(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(calls.save_memory(door, **taken(_SAVE, read_object(request.headers, body))))


def _forget(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(calls.forget_memory(door, request.path_params["id"]))


def _search(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(calls.search_either(door, **taken(_SEARCH, read_object(request.headers, body))))


def _refuse(error: OnRecordError) -> Response:
    """The same error as everywhere, in the shape and with the status of the semantic layer."""
    status = 400 if isinstance(error, Invalid) else kind_of(error).status
    return JSONResponse({"detail": detail_of(error)}, status, headers_of(error))


def _body(takes: Object) -> Mapping[str, Any]:
    return {**rule_schema(takes), "additionalProperties": False}


HTTP: Final = FaceHttp(
    face="slayer",
    refuse=_refuse,
    error={"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]},
    routes=(
        FaceRoute(
            method="POST",
            path="/memories",
            name="save_memory",
            summary="Keep a note about entities, or the note that goes with an example query.",
            act=_save,
            body=_body(_SAVE),
            answers={200: RouteAnswer("It is kept.", rule_schema(fields.SAVED))},
        ),
        FaceRoute(
            method="DELETE",
            # The whole rest of the path is the id, so that an id with a slash is refused as a wrong id.
            path="/memories/{id:path}",
            name="forget_memory",
            summary="Delete a note, and every reference to it.",
            act=_forget,
            parameters=(declared.Parameter("id", "Its id."),),
            answers={200: RouteAnswer("It is gone.", rule_schema(fields.FORGOTTEN))},
        ),
        FaceRoute(
            method="POST",
            path="/search",
            name="search",
            summary="Find notes, example queries and entities; with max_results the later form, one list of all kinds.",
            act=_search,
            body=_body(_SEARCH),
            answers={200: RouteAnswer("What was found, best first.", rule_schema(fields.FOUND))},
        ),
    ),
)
