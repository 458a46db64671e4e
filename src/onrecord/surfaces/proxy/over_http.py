"""HOW does the proxy stand before a server that is reached over HTTP? As a server on this machine, which asks the other.

Bodies of JSON and events of a stream are read; everything else passes in the pieces in which it came.
"""

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final
from urllib.parse import urlsplit

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from onrecord.errors import Unauthenticated
from onrecord.lru_cache import LruCache
from onrecord.surfaces.attach_lookup import SESSION_HEADER
from onrecord.surfaces.proxy.relay import Relay
from onrecord.surfaces.proxy.session import LONGEST_READ, Session
from onrecord.surfaces.rest.problems import Refusal
from onrecord.surfaces.serving.host_guard import LOOPBACK, HostGuard

_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]
#: Headers of one connection; they are no part of a message.
_OF_A_CONNECTION: Final = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
#: What the other side computes anew, or what we must be able to read.
_NOT_SENT_ON: Final = _OF_A_CONNECTION | {"host", "content-length", "accept-encoding"}
_NOT_PASSED_BACK: Final = _OF_A_CONNECTION | {"content-length"}
_MOST_SESSIONS: Final = 10_000
#: The status of an answer that goes nowhere.
_NOBODY_WAITS: Final = 499
#: A line ends in one of three ways, also within one stream; an empty line ends an event.
_EVENT_END: Final = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LONGEST_END: Final = 4


def proxy_app(url: str, relay: Relay, client: httpx2.AsyncClient) -> ASGIApp:
    """The application: its paths are those of the server at `url`."""
    proxy = _Proxy(url, relay, client)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with client:
            yield

    routes = [Route("/{path:path}", proxy.pass_on, methods=_METHODS)]
    # Web pages of others may reach this port, but must not use it.
    guard = HostGuard(Starlette(routes=routes, lifespan=lifespan), hosts=LOOPBACK, origins=())

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await guard(scope, receive, send)
        except (Refusal, Unauthenticated) as refused:
            status = refused.kind.status if isinstance(refused, Refusal) else 401
            await Response(f"{refused}\n", status, media_type="text/plain")(scope, receive, send)

    return guarded


class _Proxy:
    def __init__(self, url: str, relay: Relay, client: httpx2.AsyncClient) -> None:
        self._server = parts = urlsplit(url)
        self._origin, self._path, self._query = f"{parts.scheme}://{parts.netloc}", parts.path, parts.query
        self._relay, self._client = relay, client
        # A cookie belongs to the client that got it, which sends it itself.
        client.cookies.jar = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        self._sessions: LruCache[str, Session] = LruCache(_MOST_SESSIONS)

    async def pass_on(self, request: Request) -> Response:
        if not request.scope["raw_path"].startswith(b"/"):
            # After the address of the server, anything else could name another one.
            return Response("The path of a request must begin with /.\n", 400, media_type="text/plain")
        session = self._session(request.headers)
        body = await request.body()
        session.note_sent(body)
        async with _while_waited_for(request):
            return await self._passed_on(request, body, session)
        return Response(status_code=_NOBODY_WAITS)

    async def _passed_on(self, request: Request, body: bytes, session: Session) -> Response:
        headers = [(name, value) for name, value in request.headers.raw if name.decode() not in _NOT_SENT_ON]
        try:
            answer = await self._client.send(
                self._client.build_request(
                    request.method,
                    self._address(request),
                    headers=[*headers, (b"accept-encoding", b"identity")],
                    content=body or None,
                ),
                stream=True,
            )
            return await self._answer(answer, session)
        except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
            text = f"The server behind this proxy cannot be reached: {type(problem).__name__}."
            return Response(text + "\n", 502, media_type="text/plain")

    def _address(self, request: Request) -> str:
        """The same path at the server; that of its own address keeps the query it came with."""
        path, query = request.scope["raw_path"].decode("latin-1"), request.url.query
        if path == (self._path or "/"):
            query = "&".join(filter(None, (self._query, query)))
        return f"{self._origin}{path}{'?' if query else ''}{query}"

    def _session(self, headers: Mapping[str, str]) -> Session:
        """That of the header; without one, of this exchange alone."""
        name = headers.get(SESSION_HEADER)
        if name is None:
            return Session(None)
        # The name may open the session to others, and be longer than that of a conversation.
        kept = f"mcp-{sha256(name.encode()).hexdigest()[:32]}"
        return self._sessions.get_or_put(kept, lambda: Session(kept))

    async def _answer(self, answer: httpx2.Response, session: Session) -> Response:
        kind = answer.headers.get("content-type", "").split(";")[0].strip().lower()
        is_readable = answer.headers.get("content-encoding", "identity") == "identity"
        is_empty = answer.request.method == "HEAD" or answer.status_code in (204, 304)
        if is_readable and kind == "application/json" and not is_empty:
            passed = await self._document(answer, session)
        elif is_readable and kind == "text/event-stream" and not is_empty:
            passed = StreamingResponse(self._events(answer, session))
        else:
            passed = StreamingResponse(_pieces(answer, b"", answer.aiter_raw()))
        passed.status_code = answer.status_code
        own = [each for each in passed.raw_headers if each[0] == b"content-length"]
        passed.raw_headers = own + [
            (name.lower(), self._here(value) if name.lower() == b"location" else value)
            for name, value in answer.headers.raw
            if name.decode("latin-1").lower() not in _NOT_PASSED_BACK
        ]
        return passed

    def _here(self, location: bytes) -> bytes:
        """Where a client is sent within the server: to the same path here, or it would go past this proxy."""
        place = urlsplit(location.decode("latin-1"))
        is_there = (place.scheme, place.netloc) == (
            self._server.scheme,
            self._server.netloc.rpartition("@")[2],
        )
        if not is_there or place.path.startswith("//"):
            return location
        return place._replace(scheme="", netloc="", path=place.path or "/").geturl().encode("latin-1")

    async def _document(self, answer: httpx2.Response, session: Session) -> Response:
        """A body of JSON; one that is too long passes as it is."""
        pieces, read, length = answer.aiter_raw(), list[bytes](), 0
        try:
            async for piece in pieces:
                read.append(piece)
                length += len(piece)
                if length > LONGEST_READ:
                    return StreamingResponse(_pieces(answer, b"".join(read), pieces))
        except BaseException:
            await answer.aclose()
            raise
        await answer.aclose()
        return Response(await self._relay.passed_on(session, session.read(b"".join(read))))

    async def _events(self, answer: httpx2.Response, session: Session) -> AsyncIterator[bytes]:
        """Events one by one; what is too long for one passes as it is."""
        cutter = EventCutter()
        try:
            async for piece in answer.aiter_raw():
                for event in cutter.events(piece):
                    yield await self._event(event, session)
                if cutter.is_too_long:
                    yield cutter.rest()
            yield cutter.rest()
        finally:
            await answer.aclose()

    async def _event(self, event: bytes, session: Session) -> bytes:
        """An event with what is known about the answer in it; all its other lines stay as they are."""
        lines = event.splitlines(keepends=True)
        places = [place for place, line in enumerate(lines) if line.startswith(b"data:")]
        if not places:
            return event
        data = b"\n".join(_data_of(lines[place]) for place in places)
        message = session.read(data)
        passed = await self._relay.passed_on(session, message)
        if passed == data:
            return event
        # What follows the last of them may complete its ending.
        last = lines[places[-1]]
        ending = last[len(last.rstrip(b"\r\n")) :]
        lines[places[0]] = b"".join(b"data: " + line + ending for line in passed.split(b"\n"))
        return b"".join(line for place, line in enumerate(lines) if place not in places[1:])


class EventCutter:
    """Cuts a stream into its events, in whichever pieces it comes."""

    def __init__(self) -> None:
        self._begun, self._searched = bytearray(), 0

    def events(self, piece: bytes) -> Iterator[bytes]:
        """The events that are whole with this piece."""
        self._begun += piece
        # The line ends at the end of an event may have begun before.
        while found := _EVENT_END.search(self._begun, max(0, self._searched - _LONGEST_END)):
            event = bytes(self._begun[: found.end()])
            del self._begun[: found.end()]
            self._searched = 0
            yield event
        self._searched = len(self._begun)

    @property
    def is_too_long(self) -> bool:
        return len(self._begun) > LONGEST_READ

    def rest(self) -> bytes:
        """What has begun, whole or not."""
        rest = bytes(self._begun)
        self._begun, self._searched = bytearray(), 0
        return rest


def _data_of(line: bytes) -> bytes:
    return line.rstrip(b"\r\n").removeprefix(b"data:").removeprefix(b" ")


@asynccontextmanager
async def _while_waited_for(request: Request) -> AsyncIterator[None]:
    """Whoever goes away takes back what they asked: the server behind hears of it as it would without us."""
    async with anyio.create_task_group() as group:

        async def end() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(end)
        yield
        group.cancel_scope.cancel()


async def _pieces(
    answer: httpx2.Response, first: bytes, others: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    try:
        if first:
            yield first
        async for piece in others:
            yield piece
    finally:
        await answer.aclose()
