"""MAY this be asked at all? Host, Origin and address are checked first: foreign web pages may not ask."""

import re
from collections.abc import Callable, Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onrecord.errors import Unauthenticated
from onrecord.model.limits import KEY_PREFIXES
from onrecord.surfaces.rest.problems import BAD_HOST, FOREIGN_ORIGIN, MISDIRECTED, Refusal

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
#: Secrets that must not be in an address, since addresses are logged.
_SECRET_IN_QUERY: Final = re.compile(
    rb"(?:^|[&;])(?:access_token|id_token|token|api_?key|authorization|bearer)="
    rb"|=(?:bearer(?:%20|\+))?(?:" + "|".join(KEY_PREFIXES).encode() + rb")",
    re.I,
)
#: How a browser says that a page of this server asks, or a person by an address that they typed.
_OF_NO_OTHER_PAGE: Final = frozenset({"same-origin", "none"})
#: What others may show in a frame of theirs.
EMBEDDED: Final = "/embed/"
_PORT: Final = re.compile(r":\d{1,5}$")
_ALLOWED: Final = {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": (
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Mcp-Protocol-Version, "
        "Mcp-Session-Id, Mcp-Method, Mcp-Name, OnRecord-Conversation, OnRecord-Run, X-Request-Id"
    ),
    "access-control-max-age": "600",
}
_EXPOSED: Final = "ETag, Link, Location, Retry-After, X-Request-Id, Mcp-Session-Id"


class HostGuard:
    """Lets requests through that name one of our hosts and come from no foreign page.

    Starlette's own middleware for hosts and origins answers in plain text, and lets a foreign page's request through
    to its route.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] | None,
        origins: Collection[str],
        is_linked: Callable[[Scope], bool] = lambda scope: False,
    ) -> None:
        """`hosts` is None if any name is accepted. Pages must be of this server or of the named `origins`: other
        pages served on this machine may come from anywhere. `is_linked` says to what other sites may link.
        """
        self._app, self._is_linked = app, is_linked
        self._hosts = None if hosts is None else frozenset(each.lower() for each in hosts)
        self._origins = frozenset(each.lower().rstrip("/") for each in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        self._check_host(headers.getlist("host"))
        origins = headers.getlist("origin")
        # With two origins nobody can say which is true.
        origin = ", ".join(origins) if origins else None
        if origin is not None and not self._is_ours(origin.lower(), headers["host"].lower()):
            raise Refusal(
                FOREIGN_ORIGIN,
                f"Pages of {origin[:80]!a} may not call this server; see the setting allowed_origins.",
            )
        # Browsers request images and scripts without an Origin.
        is_ours = set(headers.getlist("sec-fetch-site")) <= _OF_NO_OTHER_PAGE
        if origin is None and not is_ours and not (_is_navigation(scope, headers) and self._is_linked(scope)):
            raise Refusal(
                FOREIGN_ORIGIN,
                "Pages of other servers may not call this one; see the setting allowed_origins.",
            )
        if _SECRET_IN_QUERY.search(scope.get("query_string", b"")):
            raise Unauthenticated(
                "A key or token in an address ends up in logs and is not read. Send Authorization: Bearer …"
            )
        if origin is None:
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            allowed = Response(status_code=204, headers=_shared(origin) | _ALLOWED)
            await allowed(scope, receive, send)
        else:
            await self._app(scope, receive, _sharing(origin, send))

    def _check_host(self, named: list[str]) -> None:
        if len(named) != 1 or not named[0]:
            raise Refusal(BAD_HOST, "A request must have exactly one Host header.")
        host = named[0].lower()
        if self._hosts is not None and not {host, _PORT.sub("", host)} & self._hosts:
            raise Refusal(
                MISDIRECTED, f"{host[:80]!a} is not a name of this server; see the setting allowed_hosts."
            )

    def _is_ours(self, origin: str, host: str) -> bool:
        if origin in self._origins:
            return True
        try:
            there = urlsplit(origin)
        except ValueError:
            return False
        if there.scheme not in ("http", "https"):
            return False
        return there.netloc == host


def _is_navigation(scope: Scope, headers: Headers) -> bool:
    """Whether a person follows a link, or a frame is filled: what comes back is shown, and no script of the page that
    led here can read it.
    """
    dest, path = headers.getlist("sec-fetch-dest"), scope["path"]
    shown = dest == ["document"] or (dest == ["iframe"] and path.startswith(EMBEDDED))
    return scope["method"] == "GET" and headers.getlist("sec-fetch-mode") == ["navigate"] and shown


def _shared(origin: str) -> dict[str, str]:
    return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": _EXPOSED,
        "vary": "Origin",
    }


def _sharing(origin: str, send: Send) -> Send:
    """The headers that let an accepted page read the answer."""

    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *Headers(_shared(origin)).raw]
        await send(message)

    return send_on
