"""WHICH cookies does a browser keep for us? No script reads them, and no other site has them sent."""

from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import Response

from onrecord.access.identity import is_from_here
from onrecord.surfaces.rest.request_runner import peer_of

#: The token of a sign-in.
SIGN_IN: Final = "onrecord_session"
#: A random word for each browser, to which its forms are bound.
VISITOR: Final = "onrecord_visitor"
#: What must come back from an identity provider, while someone signs in there.
FLOW: Final = "onrecord_flow"


def is_guarded(request: Request) -> bool:
    """Whether the request may have come over TLS: all do but those that this machine sends itself without it."""
    plain = request.url.scheme == "http"
    return not (plain and is_from_here(request.headers.__contains__, peer_of(request), unknown=True))


def read_cookie(request: Request, name: str) -> str:
    """The value of a cookie; empty if there is none."""
    return request.cookies.get(_named(request, name), "")


def set_cookie(
    response: Response,
    request: Request,
    name: str,
    value: str,
    lasts_s: int | None = None,
    sent: Literal["strict", "lax"] = "strict",
) -> None:
    """Set a cookie until the browser ends, or for so many seconds. `lax` lets it be sent when another site leads here."""
    guarded = is_guarded(request)
    response.set_cookie(
        _named(request, name), value, max_age=lasts_s, path="/", httponly=True, samesite=sent, secure=guarded
    )


def drop_cookie(response: Response, request: Request, name: str) -> None:
    set_cookie(response, request, name, "", 0)


def _named(request: Request, name: str) -> str:
    # With this prefix a browser takes it from no other host, and only over TLS.
    return f"__Host-{name}" if is_guarded(request) else name
