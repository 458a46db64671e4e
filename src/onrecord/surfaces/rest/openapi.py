"""WHAT can be asked over HTTP? OpenAPI 3.1, made from the table of operations and from what the faces declare."""

import json
import re
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from onrecord import __version__
from onrecord.access.identity import CONVERSATION, RUN
from onrecord.features import OPERATIONS
from onrecord.model.request import request_fields
from onrecord.model.rules import OrNone, Rule
from onrecord.model.schema import Definitions, Schema, input_schema, rule_schema
from onrecord.operation import Operation
from onrecord.surfaces.rest import idempotency
from onrecord.surfaces.rest.declared import SCHEMAS, FaceHttp, FaceRoute, RouteAnswer, of_faces
from onrecord.surfaces.rest.operations import PREFIX, QUERIED, path_fields
from onrecord.surfaces.rest.problems import JSON, PROBLEM
from onrecord.surfaces.rest.transfer import FILE_FIELD, LINES

PATH: Final = "/openapi.json"
#: What may come instead of the answer, by operation; those that all have are added.
_STATUSES: Final = {
    400: "The message cannot be read.",
    401: "No valid API key or token was sent.",
    403: "The caller may not do that.",
    404: "There is no such thing, or it is not for this caller to know.",
    405: "That cannot be done here.",
    409: "A conflict with the present state.",
    412: "The memory is no longer at that version.",
    413: "The body is too large.",
    415: "The media type of the body is not supported.",
    421: "This server does not answer for that host.",
    422: "The request is invalid, each with its field.",
    429: "Too many requests.",
    500: "Something went wrong here.",
    502: "A service that this server calls failed.",
    503: "The store cannot be used right now; nothing was changed, unless the type says outcome-unknown.",
}
#: Statuses that only our server gives, and those that both the server and a face give.
_AT_THE_DOOR, _EITHER = (421, 500), (400, 403)
_HEADERS: Final = {
    CONVERSATION: "The conversation that the caller speaks in.",
    RUN: "The run of an unattended caller.",
}
_ONCE: Final = {
    idempotency.HEADER: "Whoever sends the same again under this key gets the same answer; it is done once."
}
_LINES_SCHEMA: Final = {"type": "string", "description": "An export: JSON, one object on a line."}


def routes() -> list[BaseRoute]:
    body = json.dumps(document(), ensure_ascii=False).encode()

    async def serve(request: Request) -> Response:
        return Response(body, media_type=JSON)

    return [Route(PATH, serve, methods=["GET"])]


def document() -> Schema:
    """The whole document."""
    definitions = Definitions(SCHEMAS)
    paths: dict[str, Schema] = {}
    for operation in OPERATIONS:
        if operation.route is not None:
            method, _, path = operation.route.partition(" ")
            paths.setdefault(PREFIX + path, {})[method.lower()] = _operation(operation, method, definitions)
    shapes: dict[str, Schema] = {}
    for http in of_faces():
        shapes |= {name: dict(schema) for name, schema in http.schemas.items()}
        for route in http.routes:
            path = route.path.replace(":path}", "}")
            paths.setdefault(path, {})[route.method.lower()] = _of_a_face(http, route, definitions)
    paths |= {f"/health/{name}": {"get": _health(name)} for name in ("live", "ready")}
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "OnRecord",
            "version": __version__,
            "description": "The memory layer for agents that work on real systems.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "schemas": {"ProblemDetails": _PROBLEM_SCHEMA}
            | dict(sorted({**definitions.known, **shapes}.items())),
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key (onr_…) or a token of the configured issuer. A server that only this machine "
                    "reaches, and for which no key was made, needs none.",
                }
            },
        },
    }


def _operation(operation: Operation, method: str, definitions: Definitions) -> Schema:
    summary, _, rest = (operation.request.__doc__ or "").partition("\n")
    described: Schema = {
        "operationId": operation.name.rstrip("_"),
        "summary": summary.strip(),
        "description": " ".join(f"{summary} {rest} Needs the permission {operation.permission}.".split()),
        "tags": [operation.permission.partition(".")[2]],
        "parameters": _parameters(operation, method),
        "responses": _responses(operation, method, definitions),
    }
    if operation.name == "import_":
        described["requestBody"] = {"required": True, "content": {LINES: {"schema": _LINES_SCHEMA}}}
    elif method not in QUERIED:
        schema = input_schema(operation.request, without=path_fields(operation), exact=True)
        described["requestBody"] = {
            "required": "required" in schema,
            "content": {JSON: {"schema": schema}},
        }
    return described


def _parameters(operation: Operation, method: str) -> list[Schema]:
    in_path = path_fields(operation)
    parameters = []
    for each in request_fields(operation.request):
        is_queried = method in QUERIED or operation.name == "import_"
        if each.name in in_path or (is_queried and each.name != FILE_FIELD):
            rule = each.metadata["rule"]
            parameters.append(
                {
                    "name": each.name,
                    "in": "path" if each.name in in_path else "query",
                    # A field in the path is always required, even if it is optional elsewhere.
                    "required": each.name in (*in_path, *input_schema(operation.request).get("required", ())),
                    "description": each.metadata["help"],
                    "schema": _text_schema(rule),
                }
            )
    return parameters + [_header(name, help) for name, help in _header_help(operation, method).items()]


def _text_schema(rule: Rule) -> Schema:
    """The schema of a field in an address, where everything is a text, and an empty text means nothing."""
    if isinstance(rule, OrNone):
        return {"anyOf": [_text_schema(rule.rule), {"type": "string", "maxLength": 0}]}
    schema = rule_schema(rule, exact=True)
    return schema | {"type": "string", "minLength": 1} if isinstance(schema.get("type"), list) else schema


def _header_help(operation: Operation, method: str) -> dict[str, str]:
    headers = dict(_HEADERS)
    if method != "GET" and operation.name != "import_":
        headers |= _ONCE
    if operation.name == "revise":
        headers["If-Match"] = 'The version that you change, such as "3".'
    if operation.name == "show":
        headers["If-None-Match"] = "What is known already; if it is the same, nothing is sent."
    return headers


def _header(name: str, help: str) -> Schema:
    patterns = {
        idempotency.HEADER: "^[!-~]([ -~]{0,198}[!-~])?$",
        "If-Match": r'^("[0-9]{1,10}"|\*)$',
        CONVERSATION: "^[!-~]([ -~]{0,198}[!-~])?$",
        RUN: "^[!-~]([ -~]{0,198}[!-~])?$",
    }
    schema = {"type": "string"} | ({"pattern": patterns[name]} if name in patterns else {})
    return {"name": name, "in": "header", "required": False, "description": help, "schema": schema}


def _responses(operation: Operation, method: str, definitions: Definitions) -> Schema:
    answer = definitions.refer(operation.answer)
    content = {JSON: {"schema": answer}}
    if operation.name == "export":
        content = {LINES: {"schema": _LINES_SCHEMA}}
    responses: Schema = {"200": {"description": _first(operation.answer), "content": content}}
    if operation.name in ("remember", "create_key", "create_tenant"):
        responses["201"] = {"description": "It was made.", "content": content}
    if operation.name == "create_key":
        del responses["200"]
    if operation.name == "show":
        responses["304"] = {"description": "It is as it was."}
    problems = {"content": {PROBLEM: {"schema": {"$ref": f"{SCHEMAS}ProblemDetails"}}}}
    return responses | {
        str(status): {"description": text} | problems
        for status, text in _STATUSES.items()
        if status != 412 or operation.name == "revise"
    }


def _of_a_face(http: FaceHttp, route: FaceRoute, definitions: Definitions) -> Schema:
    """The description of a face's route."""
    in_path = set(re.findall(r"{(\w+)", route.path))
    is_once = route.method != "GET" and route.is_one_write
    described: Schema = {
        "operationId": f"{http.face}_{route.name}",
        "summary": route.summary,
        "tags": [http.face],
        "parameters": [
            {
                "name": each.name,
                "in": "path" if each.name in in_path else "query",
                "required": each.name in in_path,
                "description": each.description,
                "schema": rule_schema(each.rule),
            }
            for each in route.parameters
        ]
        + [_header(name, help) for name, help in (_HEADERS | (_ONCE if is_once else {})).items()],
        "responses": {str(status): _answer(answer, definitions) for status, answer in route.answers.items()}
        | _refusals(http, route),
    }
    if route.body is not None:
        content = {JSON: {"schema": dict(route.body)}}
        described["requestBody"] = {"required": bool(route.body.get("required")), "content": content}
    return described


def _answer(answer: RouteAnswer, definitions: Definitions) -> Schema:
    if answer.schema is None:
        return {"description": answer.description}
    shape = definitions.refer(answer.schema) if isinstance(answer.schema, type) else dict(answer.schema)
    return {"description": answer.description, "content": {answer.media_type: {"schema": shape}}}


def _refusals(http: FaceHttp, route: FaceRoute) -> Schema:
    """The error answers, all in our shape, also those from authentication and internal errors."""
    problem = {PROBLEM: {"schema": {"$ref": f"{SCHEMAS}ProblemDetails"}}}
    statuses = {status: text for status, text in _STATUSES.items() if status != 412} | dict(route.refusals)
    if http.error is None:
        return {str(status): {"description": text, "content": problem} for status, text in statuses.items()}
    # Such a face answers 400 for faults of a request, too.
    del statuses[422]
    own = {JSON: {"schema": dict(http.error)}}
    return {
        str(status): {
            "description": text,
            "content": problem if status in _AT_THE_DOOR else own | (problem if status in _EITHER else {}),
        }
        for status, text in statuses.items()
    }


def _health(name: str) -> Schema:
    schema = {
        "type": "object",
        "properties": {"status": {"type": "string", "enum": ["live", "ready", "unavailable"]}},
        "required": ["status"],
    }
    content = {"content": {JSON: {"schema": schema}}}
    responses: Schema = {"200": {"description": "Yes."} | content}
    if name == "ready":
        responses["503"] = {"description": "No."} | content
    return {
        "operationId": f"health_{name}",
        "summary": f"Is it {name}?",
        "tags": ["health"],
        "security": [],
        "responses": responses,
    }


def _first(kind: Any) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


_PROBLEM_SCHEMA: Final[Schema] = {
    "type": "object",
    "description": "What went wrong, in the shape of RFC 9457.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request": {"type": "string", "description": "The id of the request, to find it in the log."},
        "faults": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
                "required": ["field", "message"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "request"],
}
