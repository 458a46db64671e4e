"""WHICH routes do programs of the arbiter runtime know? Theirs, under /v1; the face translates, the operations decide.

An error has one key, `error`, whatever went wrong; what is wrong with a request is 400 there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from onrecord.errors import Invalid, OnRecordError
from onrecord.faces.arbiter import entries, workspace
from onrecord.faces.arbiter.entries import Exists, Gone
from onrecord.faces.arbiter.slash import routes as slash
from onrecord.faces.arbiter.workspace import TooLarge
from onrecord.model.limits import ARTIFACT_BYTES
from onrecord.model.workspace import MEDIA_TYPE
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import BODY_BYTES, read_body, read_object
from onrecord.surfaces.rest.problems import NO_METHOD, UNREADABLE, Refusal, detail_of, headers_of, kind_of
from onrecord.surfaces.rest.request_runner import RequestRunner
from onrecord.workspace.artifacts import ArtifactContent

#: A byte of a file may take six in JSON.
_FILE_BYTES: Final = BODY_BYTES + 6 * ARTIFACT_BYTES
_STATUS: Final[Mapping[type[OnRecordError], int]] = {Gone: 410, TooLarge: 413, Invalid: 400}
#: Whatever kind of file it says it is, it is not run as a page of this server.
_HARMLESS: Final = {
    "Content-Security-Policy": "sandbox",
    "Cache-Control": "private, no-cache",
}

Act = Callable[[OnRecord, Request, bytes], Response]
Method = tuple[str, Act]


def routes(runner: RequestRunner) -> list[BaseRoute]:
    """Entries, relations, the graph, working notes, conversations and files."""
    paths: Sequence[tuple[str, Sequence[Method]]] = (
        ("/memory", [("GET", _list_scratchpads)]),
        ("/memory/entries", [("GET", _list_entries), ("POST", _create_entry)]),
        (
            "/memory/entries/{id}",
            [("GET", _get_entry), ("PATCH", _patch_entry), ("DELETE", _delete_entry)],
        ),
        ("/memory/entries/{id}/invalidate", [("POST", _invalidate_entry)]),
        ("/memory/relations", [("GET", _list_relations), ("POST", _create_relation)]),
        ("/memory/relations/{id}", [("DELETE", _delete_relation)]),
        ("/memory/graph", [("GET", _graph)]),
        # Whatever stands there is an agent, so that a slash in it is refused as one.
        ("/memory/{agent:path}", [("GET", _get_scratchpad)]),
        ("/conversations", [("GET", _list_conversations), ("POST", _create_conversation)]),
        ("/conversations/{id}", [("GET", _get_conversation), ("DELETE", _delete_conversation)]),
        ("/conversations/{id}/artifacts", [("GET", _list_artifacts), ("POST", _write_artifact)]),
        ("/conversations/{id}/artifacts/{artifact}", [("GET", _get_artifact), ("DELETE", _delete_artifact)]),
        ("/conversations/{id}/artifacts/{artifact}/raw", [("GET", _raw_artifact)]),
        ("/artifacts", [("GET", _list_artifacts)]),
        ("/artifacts/{artifact}", [("GET", _get_artifact), ("DELETE", _delete_artifact)]),
        ("/artifacts/{artifact}/raw", [("GET", _raw_artifact)]),
    )
    own = [Route(f"/v1{path}", endpoint=_Endpoint(runner, dict(methods))) for path, methods in paths]
    return [*own, *slash.routes(runner)]


class _Endpoint:
    """Everything that can be done with one path."""

    def __init__(self, runner: RequestRunner, methods: Mapping[str, Act]) -> None:
        self._runner, self._methods = runner, methods
        self._allowed = ", ".join(sorted([*methods, *(["HEAD"] if "GET" in methods else [])]))
        self._most = _FILE_BYTES if _write_artifact in methods.values() else BODY_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        try:
            act = self._methods.get(method)
            if act is None:
                raise Refusal(NO_METHOD, f"Here one can {self._allowed}.", {"allow": self._allowed})
            await self._runner.meet(request)
            body = await read_body(request, self._most)
            return await self._runner.call(request, lambda door: act(door, request, body))
        except OnRecordError as error:
            return _refused(error)


def _refused(error: OnRecordError) -> Response:
    """The same as everywhere, in the shape and with the status that are known there."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), None)
    # What a guard keeps to itself is not told here either.
    text = detail_of(error) if status is None else str(error)
    told: dict[str, Any] = {"error": "; ".join(text.splitlines())}
    if isinstance(error, Exists):
        told["existing_id"] = error.existing
    return JSONResponse(told, status or kind_of(error).status, headers_of(error))


def _object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body, whatever kind it is said to be."""
    try:
        return read_object(Headers({"content-type": "application/json"}), body)
    except Refusal as refusal:
        told = str(refusal)
        prefix = "" if "JSON object" in told else "invalid JSON: "
        raise Refusal(UNREADABLE, prefix + told) from None


def _create_entry(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.create_entry(door, _object(body)), 201)


def _list_entries(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.list_entries(door, request.query_params))


def _get_entry(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.get_entry(door, request.path_params["id"]))


def _patch_entry(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.patch_entry(door, request.path_params["id"], _object(body)))


def _delete_entry(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.delete_entry(door, request.path_params["id"]))


def _invalidate_entry(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.invalidate_entry(door, request.path_params["id"], _object(body)))


def _create_relation(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.create_relation(door, _object(body)), 201)


def _list_relations(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.list_relations(door, request.query_params))


def _delete_relation(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.delete_relation(door, request.path_params["id"]))


def _graph(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(entries.graph(door, request.query_params))


def _list_scratchpads(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.list_scratchpads(door))


def _get_scratchpad(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.get_scratchpad(door, request.path_params["agent"]))


def _create_conversation(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.create_conversation(door, _object(body)), 201)


def _list_conversations(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.list_conversations(door, request.query_params))


def _get_conversation(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.get_conversation(door, request.path_params["id"]))


def _delete_conversation(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.delete_conversation(door, request.path_params["id"]))


def _write_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    told, created = workspace.write_artifact(door, request.path_params["id"], _object(body))
    return JSONResponse(told, 201 if created else 200)


def _list_artifacts(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.list_artifacts(door, request.path_params.get("id")))


def _get_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.get_artifact(door, *_named(request), request.query_params.get("via")))


def _delete_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.delete_artifact(door, *_named(request)))


def _raw_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    """The very bytes, unless the asker has them already."""
    found = workspace.read_artifact(door, *_named(request), request.query_params.get("via"))
    tag = f'"{found.artifact.sha256}"'
    known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers={"ETag": tag, **_HARMLESS})
    return Response(found.raw, headers={"Content-Type": _kind(found), "ETag": tag, **_HARMLESS})


def _named(request: Request) -> tuple[str | None, str]:
    return request.path_params.get("id"), request.path_params["artifact"]


def _kind(found: ArtifactContent) -> str:
    """The kind of the file, if a header can say it."""
    return found.artifact.media_type if found.artifact.media_type.isascii() else MEDIA_TYPE
