"""WHICH routes do programs of the slayer semantic layer know? Theirs, at the root; the face translates, the operations decide.

What is wrong with a request is 400 there and has one key, `detail`; a save answers 200.
"""

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Fault, Invalid, OnRecordError
from onrecord.faces.slayer import calls, fields
from onrecord.service import OnRecord
from onrecord.surfaces.rest import declared
from onrecord.surfaces.rest.bodies import read_object
from onrecord.surfaces.rest.declared import FaceHttp, FaceRoute, Told
from onrecord.surfaces.rest.problems import detail_of, headers_of, kind_of

_SAVE: Final = signature(calls.save_memory).parameters
_REQUIRED: Final = tuple(name for name in fields.SAVE if _SAVE[name].default is Parameter.empty)


def _save(door: OnRecord, request: Request, body: bytes) -> Response:
    given = fields.read(read_object(request.headers, body), fields.SAVE)
    if missing := [Fault(name, "is required") for name in _REQUIRED if name not in given]:
        raise Invalid(missing)
    return JSONResponse(calls.save_memory(door, **given))


def _forget(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(calls.forget_memory(door, request.path_params["id"]))


def _search(door: OnRecord, request: Request, body: bytes) -> Response:
    given = fields.read(read_object(request.headers, body), fields.SEARCH)
    return JSONResponse(calls.search_either(door, **given))


def _refuse(error: OnRecordError) -> Response:
    """The same as everywhere, in the shape and with the status that are known there."""
    status = 400 if isinstance(error, Invalid) else kind_of(error).status
    return JSONResponse({"detail": detail_of(error)}, status, headers_of(error))


def _body(takes: fields.Fields, *required: str) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": dict(takes),
        "required": list(required),
        "additionalProperties": False,
    }


HTTP: Final = FaceHttp(
    face="slayer",
    refuse=_refuse,
    error={"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]},
    routes=(
        FaceRoute(
            method="POST",
            path="/memories",
            name="save_memory",
            told="Keep a note about entities, or the note that goes with an example query.",
            act=_save,
            body=_body(fields.SAVE, *_REQUIRED),
            answers={200: Told("It is kept.", fields.SAVED)},
        ),
        FaceRoute(
            method="DELETE",
            # Whatever stands there is an id, so that a slash in it is refused as one.
            path="/memories/{id:path}",
            name="forget_memory",
            told="Delete a note, and every reference to it.",
            act=_forget,
            parameters=(declared.Parameter("id", "Its id."),),
            answers={200: Told("It is gone.", fields.FORGOTTEN)},
        ),
        FaceRoute(
            method="POST",
            path="/search",
            name="search",
            told="Find notes, example queries and entities; with max_results the later form, one list of all kinds.",
            act=_search,
            body=_body(fields.SEARCH),
            answers={200: Told("What was found, best first.", fields.FOUND)},
        ),
    ),
)
