"""WHAT does a face offer over HTTP? One value for each of its routes, which both serves and describes it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from onrecord import faces
from onrecord.errors import OnRecordError, invalid
from onrecord.model.rules import Rule, Text
from onrecord.model.shapes import Object, taken
from onrecord.service import OnRecord
from onrecord.surfaces.parsing import text_parser
from onrecord.surfaces.rest import idempotency
from onrecord.surfaces.rest.bodies import BODY_BYTES, read_body
from onrecord.surfaces.rest.problems import JSON, NO_METHOD, Refusal
from onrecord.surfaces.rest.request_runner import RequestRunner

#: Answers a request, given the door of its sender and the body.
Act = Callable[[OnRecord, Request, bytes], Response]
JsonSchema = Mapping[str, Any]

SCHEMAS: Final = "#/components/schemas/"
TEXT: Final = {"type": "string"}


def schema_named(name: str) -> JsonSchema:
    """A reference to one of the `schemas` of a face."""
    return {"$ref": SCHEMAS + name}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A variable part of an address: in the path if that has its name, else in the query."""

    name: str
    description: str
    rule: Rule = Text()


def read_parameters(given: Mapping[str, str], known: Sequence[Parameter]) -> dict[str, Any]:
    """The parameters of a query, read and checked by their rules; Invalid lists every fault."""
    rules = {each.name: each.rule for each in known}
    values = {name: text_parser(rules[name])(text) if name in rules else text for name, text in given.items()}
    return taken(Object("this address", rules), values)


def object_schema(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """An object with these properties; all but the `optional` ones are required."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
    }


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """The answer under one status: a sentence about it, and its schema or type."""

    description: str
    schema: JsonSchema | type | None
    media_type: str = JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceRoute:
    """One route of a face, such as `POST /memories`: its name, what it takes, and what it answers."""

    method: str
    path: str
    name: str
    summary: str
    act: Act
    answers: Mapping[int, RouteAnswer]
    parameters: Sequence[Parameter] = ()
    body: JsonSchema | None = None
    most_bytes: int = BODY_BYTES
    #: Whether it does at most one write, which an `Idempotency-Key` protects.
    is_one_write: bool = True
    #: What it may be refused with that nothing else here is.
    refusals: Mapping[int, str] = field(default_factory=dict)


def get_route(
    path: str, name: str, summary: str, act: Act, answer: JsonSchema, *parameters: Parameter
) -> FaceRoute:
    """A route that reads, with one answer."""
    return FaceRoute(
        method="GET",
        path=path,
        name=name,
        summary=summary,
        act=act,
        parameters=parameters,
        answers={200: RouteAnswer(summary, answer)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceHttp:
    """Everything that a face offers over HTTP."""

    face: str
    routes: Sequence[FaceRoute]
    #: How the face reports errors, and their schema; without them errors look like those of our own routes.
    refuse: Callable[[OnRecordError], Response] | None = None
    error: JsonSchema | None = None
    #: Schemas that several routes use, by name.
    schemas: Mapping[str, JsonSchema] = field(default_factory=dict)

    def open(self, runner: RequestRunner) -> list[BaseRoute]:
        """The routes for the server."""
        by_path: dict[str, list[FaceRoute]] = defaultdict(list)
        for each in self.routes:
            by_path[each.path].append(each)
        return [
            Route(path, endpoint=_FaceEndpoint(runner, self, {each.method: each for each in routes}))
            for path, routes in by_path.items()
        ]


def of_faces() -> Iterator[FaceHttp]:
    """What every face offers over HTTP, in the order of the table."""
    return (module.HTTP for module in faces.loaded("routes"))


class _FaceEndpoint:
    """All methods of one path of a face."""

    def __init__(self, runner: RequestRunner, http: FaceHttp, routes: Mapping[str, FaceRoute]) -> None:
        self._runner, self._http, self._methods = runner, http, routes
        self._allowed = ", ".join(sorted([*routes, *(["HEAD"] if "GET" in routes else [])]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        route = self._methods.get("GET" if request.method == "HEAD" else request.method)
        try:
            if route is None:
                raise Refusal(NO_METHOD, f"Allowed here: {self._allowed}.", {"allow": self._allowed})
            await self._runner.authenticate_large(request)
            body = await read_body(request, route.most_bytes)
            # Only an authenticated caller learns what is wrong.
            return await self._runner.call(request, lambda door: self._act(route, door, request, body))
        except OnRecordError as error:
            if self._http.refuse is None:
                raise
            return self._http.refuse(error)

    def _act(self, route: FaceRoute, door: OnRecord, request: Request, body: bytes) -> Response:
        key = idempotency.key_in(request.headers)
        if key is None or route.method == "GET":
            return route.act(door, request, body)
        if not route.is_one_write:
            raise invalid(
                idempotency.HEADER,
                "protects one write, but this request may write several times; send it without the header, or send each write to its own route",
            )
        name, sent = f"{self._http.face}.{route.name}", idempotency.sent(request, body)
        return idempotency.once_translated(
            self._runner, door, name, key, sent, lambda door: route.act(door, request, body)
        )
