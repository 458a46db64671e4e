"""WHO looks at a page? Whoever signed in in this browser, or holds a link that was signed for it; else as everywhere."""

from typing import Final

from starlette.requests import Request

from onrecord.access import embed_links
from onrecord.access.embed_links import EmbedLink
from onrecord.access.identity import Authenticator
from onrecord.model.caller import Caller
from onrecord.surfaces.rest.request_runner import ByHeader, RequestRunner, peer_of, state_of
from onrecord.surfaces.web.cookies import SIGN_IN, read_cookie

_SIGN_IN: Final = "onrecord.sign_in"
_SIGNED: Final = "signature"


class ByCookie:
    """By the cookie of a sign-in, unless a header shows a key or a token. A cookie that has ended counts as none."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator, self._by_header = authenticator, ByHeader(authenticator)

    def caller(self, request: Request) -> Caller:
        if token := self._token(request):
            id = state_of(request).request
            caller = self._authenticator.signed_in(token, request.headers, peer_of(request), id)
            if caller is not None:
                request.scope[_SIGN_IN] = token
                return caller
        return self._by_header.caller(request)

    def credential(self, request: Request) -> str:
        return self._token(request) or self._by_header.credential(request)

    def _token(self, request: Request) -> str:
        return "" if "authorization" in request.headers else read_cookie(request, SIGN_IN)


class ByLink:
    """By a link that the backend of another system has signed: whoever has it reads what is about one system. Without a
    signature, by the sign-in.
    """

    def __init__(self, runner: RequestRunner) -> None:
        self._runner, self._by_cookie = runner, ByCookie(runner.authenticator)

    def caller(self, request: Request) -> Caller:
        if _SIGNED not in request.query_params:
            return self._by_cookie.caller(request)
        return embed_links.check(_link_of(request), self._runner.store, self._runner.clock())

    def credential(self, request: Request) -> str:
        return request.url.query if _SIGNED in request.query_params else self._by_cookie.credential(request)


def sign_in_of(request: Request) -> str:
    """The token of the sign-in by which its caller was found; empty if it was found otherwise."""
    token: str = request.scope.get(_SIGN_IN, "")
    return token


def _link_of(request: Request) -> EmbedLink:
    said = {name: request.query_params.get(name, "") for name in ("key", "until", _SIGNED)}
    return EmbedLink(system=request.path_params["id"], **said)
