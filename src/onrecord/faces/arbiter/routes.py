"""WHICH routes do programs of the arbiter runtime know? Those under /v1. They only translate; the operations
decide.

Every error has its text under the key `error`. A request with faults is answered with status 400.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Invalid, OnRecordError
from onrecord.faces.arbiter import agents, entries, shapes, slash, workspace
from onrecord.faces.arbiter.entries import (
    LIST_LIMIT,
    LIST_MOST,
    RELATIONS_LIMIT,
    RELATIONS_MOST,
    Exists,
    Gone,
)
from onrecord.faces.arbiter.workspace import TooLarge
from onrecord.model.limits import ARTIFACT_BYTES
from onrecord.model.rules import OrNone
from onrecord.model.schema import closed_schema
from onrecord.model.shapes import Described, Object, taken
from onrecord.model.wire import to_json
from onrecord.model.workspace import MEDIA_TYPE
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import BODY_BYTES, read_object
from onrecord.surfaces.rest.declared import (
    Act,
    FaceHttp,
    FaceRoute,
    Parameter,
    RouteAnswer,
    get_route,
)
from onrecord.surfaces.rest.problems import UNREADABLE, Refusal, detail_of, headers_of, kind_of
from onrecord.surfaces.rest.request_runner import state_of
from onrecord.workspace.artifacts import ArtifactContent

#: JSON may need six bytes for one byte of a file.
_FILE_BYTES: Final = BODY_BYTES + 6 * ARTIFACT_BYTES
#: An agent's text may contain files, and JSON may need several bytes for a character that is no plain letter.
_TURN_BYTES: Final = 4 * 1024 * 1024
_STATUS: Final[Mapping[type[OnRecordError], int]] = {Gone: 410, TooLarge: 413, Invalid: 400}
#: A browser must not run a file as a page of this server, whatever media type the file has.
_HARMLESS: Final = {
    "Content-Security-Policy": "sandbox",
    "Cache-Control": "private, no-cache",
}


def _refuse(error: OnRecordError) -> Response:
    """The answer to an error, with the shape and the status that programs of the runtime expect."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), None)
    # Details that the other routes hide from callers are hidden here too.
    text = detail_of(error) if status is None else str(error)
    body: dict[str, Any] = {"error": "; ".join(text.splitlines())}
    if isinstance(error, Exists):
        body["existing_id"] = error.existing
    return JSONResponse(body, status or kind_of(error).status, headers_of(error))


def _sent(request: Request, body: bytes) -> dict[str, Any]:
    """The JSON object in a body, whatever the Content-Type of the request."""
    try:
        return read_object(Headers({"content-type": "application/json"}), body)
    except Refusal as refusal:
        reason = str(refusal)
        prefix = "" if "JSON object" in reason else "invalid JSON: "
        raise Refusal(UNREADABLE, prefix + reason) from None


def _asked(request: Request, body: bytes) -> Any:
    return request.query_params


def _id(request: Request, body: bytes) -> Any:
    return request.path_params["id"]


def _agent(request: Request, body: bytes) -> Any:
    return request.path_params["agent"]


def _act(function: Callable[..., Any], *arguments: Callable[[Request, bytes], Any], status: int = 200) -> Act:
    """Answer with what the function returns for the door and these parts of the request."""

    def act(door: OnRecord, request: Request, body: bytes) -> Response:
        return JSONResponse(function(door, *(read(request, body) for read in arguments)), status)

    return act


def _write_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    answer, created = workspace.write_artifact(door, request.path_params["id"], _sent(request, body))
    return JSONResponse(answer, 201 if created else 200)


def _list_artifacts(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.list_artifacts(door, request.path_params.get("id")))


def _get_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.get_artifact(door, *_named(request), request.query_params.get("via")))


def _delete_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(workspace.delete_artifact(door, *_named(request)))


def _raw_artifact(door: OnRecord, request: Request, body: bytes) -> Response:
    """The bytes of a file unchanged, or status 304 if the client has them already."""
    found = workspace.read_artifact(door, *_named(request), request.query_params.get("via"))
    tag = f'"{found.artifact.sha256}"'
    known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers={"ETag": tag, **_HARMLESS})
    return Response(found.raw, headers={"Content-Type": _kind(found), "ETag": tag, **_HARMLESS})


def _named(request: Request) -> tuple[str | None, str]:
    return request.path_params.get("id"), request.path_params["artifact"]


def _kind(found: ArtifactContent) -> str:
    """The media type of a file, or the default one if a header cannot hold it."""
    return found.artifact.media_type if found.artifact.media_type.isascii() else MEDIA_TYPE


def _slash(door: OnRecord, request: Request, body: bytes) -> Response:
    given = taken(_TURN, _sent(request, body))
    # Count each command: otherwise a caller could get around the limit on requests with many commands in one text.
    return JSONResponse(to_json(slash.run(door, **given, count_another=state_of(request).count_another)))


_TURN: Final = Object(
    "the text of an agent",
    {
        "text": Described(slash.SAID, "The text that the agent wrote."),
        "agent": Described(OrNone(slash.SAID), "The agent whose scratchpad and settings are used."),
        "conversation": Described(OrNone(slash.SAID), "The conversation it speaks in."),
    },
    needed=("text",),
)
_ID: Final = Parameter("id", "Its id, with or without a # before it.")
_AGENT: Final = Parameter("agent", "The agent.")
_CONVERSATION: Final = Parameter("id", "The id of a conversation.")
_ARTIFACT: Final = Parameter("artifact", "The id of a file.")
_VIA: Final = Parameter(
    "via", "mem:<entry_id>, to read a file of another conversation by an entry linked to it."
)
_TYPES: Final = Parameter("type", "Types, with commas between.")
_BEFORE: Final = shapes.number(
    "before_updated_at", "Only what was updated before this time, in seconds since 1970."
)
_LISTED: Final = (
    _TYPES,
    Parameter("tag", "A tag; parts of tags do not match."),
    Parameter(
        "q", "A question. The best entries come first then; type and tag rank entries higher and hide none."
    ),
    Parameter("conversation_id", "Only entries pinned to this conversation or to none."),
    Parameter(
        "graduated", "1, true, on or yes: also entries pinned to other conversations, last among equals."
    ),
    Parameter("intent", "off: cue words of the question rank no type higher."),
    Parameter(
        "expand", "The advisor model that also searches for paraphrases of q; yes for the default model."
    ),
    Parameter("rerank", "The advisor model that reorders the best entries; yes for the default model."),
    Parameter(
        "rerank_fine", "The advisor model that reorders the first eight again; yes for the default model."
    ),
    Parameter("decay", "1, true, on or yes, or a half-life in days: old entries weigh less."),
    shapes.number("decay_half_life_days", "After how many days the weight of an entry is halved."),
    shapes.number("decay_floor", "The least weight of an old entry."),
    shapes.number("as_of", "Entries that were active at this time, in seconds since 1970."),
    shapes.number("since", "Only entries written since this time, in seconds since 1970."),
    _BEFORE,
    shapes.page(LIST_LIMIT, LIST_MOST),
)


def _raw(path: str, name: str, *parameters: Parameter) -> FaceRoute:
    summary = "The bytes of a file, under its own media type."
    return FaceRoute(
        method="GET",
        path=f"/v1{path}",
        name=name,
        summary=summary,
        act=_raw_artifact,
        parameters=parameters,
        answers={
            200: RouteAnswer(summary, {"type": "string", "format": "binary"}, "*/*"),
            304: RouteAnswer("The file has not changed (If-None-Match).", None),
        },
    )


def _delete(path: str, name: str, summary: str, act: Any, *parameters: Parameter) -> FaceRoute:
    return FaceRoute(
        method="DELETE",
        path=f"/v1{path}",
        name=name,
        summary=summary,
        act=act,
        parameters=parameters,
        answers={200: RouteAnswer("It is gone.", shapes.DELETED)},
    )


HTTP: Final = FaceHttp(
    face="arbiter",
    refuse=_refuse,
    error=shapes.ERROR,
    schemas=shapes.SCHEMAS,
    routes=(
        get_route(
            "/v1/memory",
            "list_scratchpads",
            "The agents that have working notes; the shared notes have no agent.",
            _act(workspace.list_scratchpads),
            shapes.SCRATCHPADS,
        ),
        get_route(
            "/v1/memory/entries",
            "list_entries",
            "List entries, last updated first; with a question, best first.",
            _act(entries.list_entries, _asked),
            shapes.ENTRIES,
            *_LISTED,
        ),
        FaceRoute(
            method="POST",
            path="/v1/memory/entries",
            name="create_entry",
            summary="Create an entry, and end those that it supersedes: all of it or nothing.",
            act=_act(entries.create_entry, _sent, status=201),
            body=shapes.NEW_ENTRY,
            answers={201: RouteAnswer("The entry.", shapes.ENTRY)},
        ),
        get_route(
            "/v1/memory/entries/{id}",
            "get_entry",
            "An active entry with the file it is linked to.",
            _act(entries.get_entry, _id),
            shapes.ENTRY,
            _ID,
        ),
        FaceRoute(
            method="PATCH",
            path="/v1/memory/entries/{id}",
            name="patch_entry",
            summary="Change the given fields of an active entry.",
            act=_act(entries.patch_entry, _id, _sent),
            parameters=(_ID,),
            body=shapes.CHANGED_ENTRY,
            answers={200: RouteAnswer("The entry as it is now.", shapes.ENTRY)},
            refusals={_STATUS[Gone]: "The entry was deleted meanwhile; nothing was written."},
        ),
        _delete(
            "/memory/entries/{id}",
            "delete_entry",
            "Erase an entry and its relations, even if it has ended.",
            _act(entries.delete_entry, _id),
            _ID,
        ),
        FaceRoute(
            method="POST",
            path="/v1/memory/entries/{id}/invalidate",
            name="invalidate_entry",
            summary="End an entry that is no longer true; a second call answers 404.",
            act=_act(entries.invalidate_entry, _id, _sent),
            parameters=(_ID,),
            body=shapes.INVALIDATION,
            answers={200: RouteAnswer("It is over.", shapes.INVALIDATED)},
        ),
        get_route(
            "/v1/memory/relations",
            "list_relations",
            "List relations, newest first.",
            _act(entries.list_relations, _asked),
            shapes.list_of("relations", shapes.RELATION),
            Parameter("source_id", "From this entry."),
            Parameter("target_id", "To this entry."),
            Parameter("relation", "Of this name."),
            shapes.page(RELATIONS_LIMIT, RELATIONS_MOST),
        ),
        FaceRoute(
            method="POST",
            path="/v1/memory/relations",
            name="create_relation",
            summary="Relate two entries; an existing relation is returned with its number.",
            act=_act(entries.create_relation, _sent, status=201),
            body=shapes.NEW_RELATION,
            answers={201: RouteAnswer("The relation.", shapes.RELATION)},
        ),
        _delete(
            "/memory/relations/{id}",
            "delete_relation",
            "Delete a relation.",
            _act(entries.delete_relation, _id),
            _ID,
        ),
        get_route(
            "/v1/memory/graph",
            "graph",
            "Every active entry of the types, and every relation of which both ends are among them.",
            _act(entries.graph, _asked),
            shapes.GRAPH,
            _TYPES,
        ),
        # Everything after /memory/ is the name of an agent, so a slash in it is refused as an invalid name.
        get_route(
            "/v1/memory/{agent:path}",
            "get_scratchpad",
            "The working notes of an agent; an empty text with `exists` false if there are none.",
            _act(workspace.get_scratchpad, _agent),
            shapes.SCRATCHPAD,
            Parameter("agent", "The agent; `shared` means the notes of all agents."),
        ),
        get_route(
            "/v1/conversations",
            "list_conversations",
            "List conversations, newest first.",
            _act(workspace.list_conversations, _asked),
            shapes.list_of("conversations", shapes.CONVERSATION),
            _BEFORE,
            shapes.page(LIST_LIMIT, LIST_MOST),
        ),
        FaceRoute(
            method="POST",
            path="/v1/conversations",
            name="create_conversation",
            summary="Create a conversation, under the next number.",
            act=_act(workspace.create_conversation, _sent, status=201),
            body=shapes.NEW_CONVERSATION,
            answers={201: RouteAnswer("The conversation.", shapes.CONVERSATION)},
        ),
        get_route(
            "/v1/conversations/{id:path}/artifacts",
            "list_artifacts",
            "List the files of a conversation, last written first.",
            _list_artifacts,
            shapes.ARTIFACTS,
            _CONVERSATION,
        ),
        FaceRoute(
            method="POST",
            path="/v1/conversations/{id:path}/artifacts",
            name="write_artifact",
            summary="Store a file at a path of a conversation.",
            act=_write_artifact,
            parameters=(_CONVERSATION,),
            body=shapes.NEW_ARTIFACT,
            most_bytes=_FILE_BYTES,
            answers={
                200: RouteAnswer("The file existed and was overwritten.", shapes.WRITTEN),
                201: RouteAnswer("It is new.", shapes.WRITTEN),
            },
        ),
        get_route(
            "/v1/conversations/{id:path}/artifacts/{artifact}",
            "get_artifact",
            "A file without its content, as seen from a conversation.",
            _get_artifact,
            shapes.ARTIFACT,
            _CONVERSATION,
            _ARTIFACT,
            _VIA,
        ),
        _delete(
            "/conversations/{id:path}/artifacts/{artifact}",
            "delete_artifact",
            "Delete a file of a conversation; entries that were linked to it stay.",
            _delete_artifact,
            _CONVERSATION,
            _ARTIFACT,
        ),
        _raw(
            "/conversations/{id:path}/artifacts/{artifact}/raw",
            "raw_artifact",
            _CONVERSATION,
            _ARTIFACT,
            _VIA,
        ),
        # Last, since the name of another's conversation holds a slash, as in ~ann/talk.
        get_route(
            "/v1/conversations/{id:path}",
            "get_conversation",
            "One conversation.",
            _act(workspace.get_conversation, _id),
            shapes.CONVERSATION,
            _CONVERSATION,
        ),
        _delete(
            "/conversations/{id:path}",
            "delete_conversation",
            "Delete a conversation with its files; entries lose their pin and their link, and stay.",
            _act(workspace.delete_conversation, _id),
            _CONVERSATION,
        ),
        get_route(
            "/v1/artifacts",
            "list_all_artifacts",
            "List the files of all conversations, last written first.",
            _list_artifacts,
            shapes.ARTIFACTS,
        ),
        get_route(
            "/v1/artifacts/{artifact}",
            "get_any_artifact",
            "A file without its content.",
            _get_artifact,
            shapes.ARTIFACT,
            _ARTIFACT,
            _VIA,
        ),
        _delete(
            "/artifacts/{artifact}",
            "delete_any_artifact",
            "Delete a file; entries that were linked to it stay.",
            _delete_artifact,
            _ARTIFACT,
        ),
        _raw("/artifacts/{artifact}/raw", "raw_any_artifact", _ARTIFACT, _VIA),
        get_route(
            "/v1/agents/{agent}",
            "get_agent",
            "An agent's document; its memory block shows the settings in force.",
            _act(agents.get_agent, _agent),
            shapes.AGENT_SET,
            _AGENT,
        ),
        FaceRoute(
            method="PUT",
            path="/v1/agents/{agent}",
            name="put_agent",
            summary="Store an agent's document, and use the settings in its memory block.",
            act=_act(agents.put_agent, _agent, _sent),
            parameters=(_AGENT,),
            body=shapes.AGENT,
            answers={
                200: RouteAnswer(
                    "The document; its memory block shows the settings in force.", shapes.AGENT_SET
                )
            },
        ),
        _delete(
            "/admin/tenants/{id}",
            "erase_tenant",
            "For the operator of the server: erase a tenant with everything in it.",
            _act(workspace.erase_tenant, _id),
            Parameter("id", "The tenant."),
        ),
        FaceRoute(
            method="POST",
            path="/v1/slash",
            name="slash",
            summary="Run the commands in an agent's text.",
            act=_slash,
            body=closed_schema(_TURN),
            most_bytes=_TURN_BYTES,
            is_one_write=False,
            answers={200: RouteAnswer("The blocks that answer them.", slash.SlashAnswer)},
        ),
    ),
)
