"""WHICH routes do programs of the slayer semantic layer know? Theirs, at the root; the face translates, the operations decide.

What is wrong with a request is 400 there and has one key, `detail`; a save answers 200.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from onrecord.errors import Fault, Invalid, OnRecordError
from onrecord.faces.slayer import calls
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import read_body, read_object
from onrecord.surfaces.rest.problems import detail_of, headers_of, kind_of
from onrecord.surfaces.rest.request_runner import RequestRunner

Types = Mapping[str, tuple[type, ...]]

_SAVED: Final[Types] = {"learning": (str,), "linked_entities": (list, dict)}
_SAVED_MAYBE: Final[Types] = {"id": (str, int), "description": (str,)}
_ASKED: Final[Types] = {"entities": (list,), "query": (dict,), "question": (str,), "datasource": (str,)}
_LISTS: Final[Types] = {"max_memories": (int,), "max_example_queries": (int,), "max_entities": (int,)}
_ONE_LIST: Final[Types] = {"max_results": (int,), "cypher_filter": (str,), "compact": (bool,)}
_CALLED: Final[Mapping[type, str]] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}

Act = Callable[[OnRecord, Request, bytes], dict[str, Any]]


def routes(runner: RequestRunner) -> list[BaseRoute]:
    """POST /memories, DELETE /memories/{id} and POST /search."""
    face = _Face(runner)
    return [
        Route("/memories", face.save, methods=["POST"]),
        # Whatever stands there is an id, so that a slash in it is refused as one.
        Route("/memories/{id:path}", face.forget, methods=["DELETE"]),
        Route("/search", face.search, methods=["POST"]),
    ]


class _Face:
    def __init__(self, runner: RequestRunner) -> None:
        self._runner = runner

    async def save(self, request: Request) -> Response:
        """Keep a note about entities, or the note that goes with an example query."""
        return await self._answer(request, _save)

    async def forget(self, request: Request) -> Response:
        """Delete a note, and every reference to it."""
        return await self._answer(
            request, lambda door, asked, body: calls.forget_memory(door, asked.path_params["id"])
        )

    async def search(self, request: Request) -> Response:
        """Notes, example queries and entities; with `max_results` the later form, one list of all kinds."""
        return await self._answer(request, _search)

    async def _answer(self, request: Request, act: Act) -> Response:
        try:
            await self._runner.meet(request)
            body = await read_body(request)
            return JSONResponse(await self._runner.call(request, lambda door: act(door, request, body)))
        except OnRecordError as error:
            return _refused(error)


def _save(door: OnRecord, request: Request, body: bytes) -> dict[str, Any]:
    return calls.save_memory(door, **_read(request, body, _SAVED, _SAVED_MAYBE))


def _search(door: OnRecord, request: Request, body: bytes) -> dict[str, Any]:
    given = _read(request, body, {}, {**_ASKED, **_LISTS, **_ONE_LIST})
    if not given.keys() & _ONE_LIST.keys():
        return calls.search(door, **given)
    if apart := [name for name in given if name in _LISTS]:
        told = "caps a list of its own; with max_results, cypher_filter or compact there is one list"
        raise Invalid([Fault(name, told) for name in apart])
    return calls.search_flat(door, **given)


def _refused(error: OnRecordError) -> Response:
    """The same as everywhere, in the shape and with the status that are known there."""
    status = 400 if isinstance(error, Invalid) else kind_of(error).status
    return JSONResponse({"detail": detail_of(error)}, status, headers_of(error))


def _read(request: Request, body: bytes, required: Types, optional: Types) -> dict[str, Any]:
    """The fields of a body; what is null counts as left out. Invalid with everything that is wrong at once."""
    given = {name: value for name, value in read_object(request.headers, body).items() if value is not None}
    known = {**required, **optional}
    faults = [Fault(name, "is required") for name in required if name not in given]
    faults += [Fault(name, "is not a field here") for name in given if name not in known]
    faults += [
        Fault(
            name, f"must be {' or '.join(_CALLED[kind] for kind in kinds)}; got {type(given[name]).__name__}"
        )
        for name, kinds in known.items()
        if name in given and type(given[name]) not in kinds
    ]
    if faults:
        raise Invalid(faults)
    return given
