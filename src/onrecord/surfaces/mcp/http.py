"""HOW does an agent reach us over HTTP? Through one stateless endpoint for both versions of the protocol, with a path
for each choice of faces.

It is an OAuth resource server: the headers of each request authenticate the caller, and a request without a key or token
gets an answer that says where to get one (RFC 9728).
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from onrecord.access.resource_metadata import WELL_KNOWN, challenge, metadata_url, resource_metadata
from onrecord.errors import Invalid, NotFound, OnRecordError, Unauthenticated
from onrecord.faces import USUAL
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.faces import FACES, chosen
from onrecord.surfaces.mcp.server import Context, build_server
from onrecord.surfaces.mcp.tool_request import ToolRequest
from onrecord.surfaces.mcp.tools import Tool
from onrecord.surfaces.rest.bodies import BODY_BYTES
from onrecord.surfaces.rest.problems import problem
from onrecord.surfaces.rest.request_runner import RequestRunner, state_of

PATH: Final = "/mcp"
#: For a server that only this machine can reach: no web page may call it, under any host name.
LOOPBACK: Final = TransportSecuritySettings(
    allowed_hosts=["127.0.0.1", "127.0.0.1:*", "localhost", "localhost:*", "[::1]", "[::1]:*"],
    allowed_origins=[],
)
#: For an application that has checked Host and Origin already.
CHECKED_BEFORE: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_PLAIN: Final = re.compile(r"[a-z0-9_/+-]+")
_TOOL_REQUEST: Final = "onrecord.mcp"


def mcp_app(
    runner: RequestRunner,
    faces: Mapping[str, Sequence[Tool]] = FACES,
    *,
    speaks: Sequence[str] = (USUAL,),
    issuer: str | None = None,
    security: TransportSecuritySettings = LOOPBACK,
    pages: Callable[[Request], str] | None = None,
) -> Starlette:
    """The protocol at /mcp (the faces it `speaks`), /mcp/NAME, /mcp/NAME+OTHER …, and the metadata of these resources.

    Tokens of `issuer` are accepted; `pages` gives the address under which its sender opens
    pages, if there are any. The routes may be taken into another application, which then runs
    `app.router.lifespan_context(app)` within its own.
    """
    endpoint = _McpEndpoint(runner, faces, speaks, issuer, security)
    endpoint.pages = pages
    return Starlette(
        routes=[
            Route(WELL_KNOWN, endpoint.metadata, methods=["GET"]),
            Route(WELL_KNOWN + "/{resource:path}", endpoint.metadata, methods=["GET"]),
            Route(PATH, endpoint),
            Route(PATH + "/{faces:path}", endpoint),
        ],
        lifespan=endpoint.lifespan,
    )


class _McpEndpoint:
    """The endpoint of the protocol, for all faces."""

    def __init__(
        self,
        runner: RequestRunner,
        faces: Mapping[str, Sequence[Tool]],
        speaks: Sequence[str],
        issuer: str | None,
        security: TransportSecuritySettings,
    ) -> None:
        self._runner, self._issuer = runner, issuer
        self._faces = dict(faces)
        self._spoken = chosen(speaks, self._faces)
        self._server = build_server(_tool_request_of)
        self._security = TransportSecurityMiddleware(security)
        self._sessions: StreamableHTTPSessionManager | None = None
        #: Under which address whoever sent a request opens the pages, if there are any.
        self.pages: Callable[[Request], str] | None = None

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        # A session manager runs only once, and an application may be started again.
        sessions = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=BODY_BYTES
        )
        async with sessions.run():
            self._sessions = sessions
            try:
                yield
            finally:
                self._sessions = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if (refused := await self._security.validate_request(request)) is not None:
            await refused(scope, receive, send)
            return
        try:
            run = partial(self._runner.run, by=request)
            door = await run(self._admit, request)
            pages = None if self.pages is None else self.pages(request)
            scope[_TOOL_REQUEST] = ToolRequest(
                door,
                self._tools(request),
                run,
                pages,
                door_now=partial(self._admit, request, again=True),
                on_listening=lambda: setattr(state_of(request), "goes_on", True),
            )
        except OnRecordError as error:
            await _refusal(error, request, self._issuer)(scope, receive, send)
            return
        if self._sessions is None:
            raise RuntimeError("The application was not started: its lifespan must run around its requests.")
        await self._sessions.handle_request(scope, receive, send)

    def _admit(self, request: Request, *, again: bool = False) -> OnRecord:
        """The door of who sent a request. A caller of this protocol without a key is an agent on this machine, not its owner
        in person.
        """
        door = self._runner.admit_again(request) if again else self._runner.admit(request)
        if "authorization" in request.headers:
            return door
        return door.as_caller(replace(door.caller, actor="agent"))

    def _tools(self, request: Request) -> Mapping[str, Tool]:
        """The tools of the faces in the path: `/mcp/NAME+OTHER` names two."""
        named = [face for face in request.path_params.get("faces", "").strip("/").split("+") if face]
        try:
            return chosen(named, self._faces) if named else self._spoken
        except Invalid as problem:
            raise NotFound(f"There is nothing at {request.url.path!a}: {problem}.") from None

    async def metadata(self, request: Request) -> Response:
        """What a client needs to get a token for this resource."""
        if (refused := await self._security.validate_request(request)) is not None:
            return refused
        path = request.path_params.get("resource", PATH.strip("/"))
        if path.partition("/")[0] != PATH.strip("/"):
            return JSONResponse({"error": "not_found"}, status_code=404)
        return JSONResponse(dict(resource_metadata(_address(request, f"/{path}"), self._issuer)))


def _tool_request_of(context: Context) -> ToolRequest:
    assert context.request is not None
    tool_request: ToolRequest = context.request.scope[_TOOL_REQUEST]
    return tool_request


def _address(request: Request, path: str) -> str:
    # The address as the client used it. If a proxy ends the encryption, only its header says so.
    passed_on = request.headers.get("x-forwarded-proto", "").strip().lower()
    scheme = "https" if passed_on == "https" else request.url.scheme
    return f"{scheme}://{request.url.netloc}{path.rstrip('/')}"


def _refusal(error: OnRecordError, request: Request, issuer: str | None) -> Response:
    response = problem(error, state_of(request).request)
    if not isinstance(error, Unauthenticated):
        return response
    wrong: Literal["invalid_token"] | None = "invalid_token" if "authorization" in request.headers else None
    # Without an issuer there is nowhere to get a token: a client that is sent to read on would ask a person to sign in.
    where = None
    if issuer is not None:
        # An unknown path is not repeated in a header.
        path = request.url.path if _PLAIN.fullmatch(request.url.path) else PATH
        where = metadata_url(_address(request, path))
    response.headers["www-authenticate"] = challenge(where, error=wrong, scope="memory.read memory.manage")
    return response
