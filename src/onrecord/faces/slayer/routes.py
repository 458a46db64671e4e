"""WHICH routes do programs of the slayer semantic layer know? Their own, at the root; the face translates, the
operations decide.

As in the semantic layer, the answer to a faulty request is 400 with one key, `detail`, and that to a save is 200.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Invalid, OnRecordError
from onrecord.faces.slayer import calls, fields
from onrecord.model.schema import closed_schema, rule_schema
from onrecord.model.shapes import Object, taken, taken_by
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import read_object
from onrecord.surfaces.rest.declared import TEXT, FaceHttp, FaceRoute, Parameter, RouteAnswer, object_schema
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


HTTP: Final = FaceHttp(
    face="slayer",
    refuse=_refuse,
    error=object_schema({"detail": TEXT}),
    routes=(
        FaceRoute(
            method="POST",
            path="/memories",
            name="save_memory",
            summary="Save a note about entities, or the note that goes with an example query.",
            act=_save,
            body=closed_schema(_SAVE),
            answers={200: RouteAnswer("It is kept.", rule_schema(fields.SAVED))},
        ),
        FaceRoute(
            method="DELETE",
            # The whole rest of the path is the id, so that an id with a slash is refused as a wrong id.
            path="/memories/{id:path}",
            name="forget_memory",
            summary="Delete a note, and every reference to it.",
            act=_forget,
            parameters=(Parameter("id", "Its id."),),
            answers={200: RouteAnswer("It is gone.", rule_schema(fields.FORGOTTEN))},
        ),
        FaceRoute(
            method="POST",
            path="/search",
            name="search",
            summary="Find notes, example queries and entities; with max_results the later form, one list of all kinds.",
            act=_search,
            body=closed_schema(_SEARCH),
            answers={200: RouteAnswer("What was found, best first.", rule_schema(fields.FOUND))},
        ),
    ),
)
