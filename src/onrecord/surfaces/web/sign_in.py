"""HOW does a person come in? They show a key, or sign in with an identity provider; and they sign out again."""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from onrecord.access import sign_ins
from onrecord.access.code_flow import LASTS, CodeFlow
from onrecord.errors import Forbidden, OnRecordError, Unauthenticated
from onrecord.model.caller import Caller
from onrecord.surfaces.rest.bodies import read_body
from onrecord.surfaces.rest.problems import detail_of, headers_of, kind_of
from onrecord.surfaces.rest.request_runner import RequestRunner, peer_of, state_of
from onrecord.surfaces.web.callers import sign_in_of
from onrecord.surfaces.web.cookies import FLOW, SIGN_IN, drop_cookie, is_guarded, read_cookie, set_cookie
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.proofs import FormProofs, greet, visitor_of
from onrecord.surfaces.web.rendering import Html, render
from onrecord.surfaces.web.site import SIGN_IN as PATH
from onrecord.surfaces.web.site import Page, again, is_led_here, problem_page, read_form

PROVIDER: Final = PATH + "/provider"
CALLBACK: Final = PATH + "/callback"
SIGN_OUT: Final = "/sign-out"
_FORM_BYTES: Final = 16 * 1024
_STATE_BYTES: Final = 24
#: A path of this server, in the characters that an address has; `//` and `/\` would lead to another host.
_OWN_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,2000}", re.ASCII)
_NO_SUCH_KEY: Final = (
    "This key is not valid here. Check that you copied all of it; it may also have expired or been revoked."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComingIn:
    """How people come in here: under which address, with which identity provider, if any, and in the frames of which
    origins.
    """

    public_url: str | None = None
    code_flow: CodeFlow | None = None
    embed_origins: Sequence[str] = ()

    def address(self, request: Request, path: str = "") -> str:
        """The full address of a path, as people open it."""
        scheme = "https" if is_guarded(request) else request.url.scheme
        return f"{(self.public_url or f'{scheme}://{request.url.netloc}').rstrip('/')}{path}"


def own_path(text: str) -> str:
    """Where to go after signing in: a path of this server, or else its first page."""
    return text if _OWN_PATH.fullmatch(text) else "/"


def routes(runner: RequestRunner, coming: ComingIn) -> list[BaseRoute]:
    """The pages for those who are not known yet."""
    known = _SignIn(runner, coming)
    provided = [] if coming.code_flow is None else _with_provider(_Provided(runner, coming.code_flow, coming))
    return [Route(PATH, known.page, methods=["GET", "POST"]), *provided]


class _SignIn:
    """The sign-in page."""

    def __init__(self, runner: RequestRunner, coming: ComingIn) -> None:
        self._runner, self._coming, self._proofs = runner, coming, FormProofs(runner.store)

    async def page(self, request: Request) -> Response:
        state_of(request).show_problem = partial(problem_page, request)
        if is_led_here(request):
            return again(request)
        if request.method != "POST":
            return await self._runner.run_unknown(partial(self._shown, request))
        form = read_form(request, await read_body(request, _FORM_BYTES))
        return await self._runner.run_unknown(partial(self._tried, request, form))

    def _shown(self, request: Request, refused: OnRecordError | None = None, typed: str = "") -> Response:
        wanted = own_path(typed or request.query_params.get("next", ""))
        if refused is None and self._is_at_home(request):
            return RedirectResponse(wanted, 303)
        flow = self._coming.code_flow
        page = render(
            "sign_in.html",
            refused=None if refused is None else detail_of(refused),
            wanted=wanted,
            provider=flow and urlsplit(flow.issuer).netloc,
            is_unsafe=is_guarded(request) and not self._is_secure(request),
            form_token=self._proofs.of(request, visitor_of(request)),
        )
        response = Html(page, 200 if refused is None else kind_of(refused).status)
        if refused is not None:
            response.headers.update(headers_of(refused))
        return greet(response, request)

    def _is_at_home(self, request: Request) -> bool:
        """Whether nobody needs to sign in at this machine."""
        bare = {name: value for name, value in request.headers.items() if name != "authorization"}
        try:
            self._runner.authenticator.caller(bare, peer_of(request))
        except Unauthenticated:
            return False
        return True

    def _is_secure(self, request: Request) -> bool:
        passed_on = request.headers.get("x-forwarded-proto", request.url.scheme)
        return passed_on == "https" or (self._coming.public_url or "").startswith("https:")

    def _tried(self, request: Request, form: Form) -> Response:
        self._proofs.check(request, form)
        try:
            self._runner.throttle.take_attempt(peer_of(request) or "")
            caller = self._caller(request, form.one("key").strip())
        except OnRecordError as refused:
            return self._shown(request, refused, form.one("next"))
        return signed_in(self._runner, request, caller, own_path(form.one("next")))

    def _caller(self, request: Request, key: str) -> Caller:
        shown = {"authorization": f"Bearer {key}"}
        try:
            caller = self._runner.authenticator.caller(shown, peer_of(request), state_of(request).request)
        except Unauthenticated:
            raise Unauthenticated(_NO_SUCH_KEY) from None
        if caller.key is None and not caller.operator:
            # A token is short-lived; a sign-in with the identity provider is what lasts.
            raise Unauthenticated(_NO_SUCH_KEY)
        return caller


def signed_in(runner: RequestRunner, request: Request, caller: Caller, wanted: str) -> Response:
    """Lead on, signed in under a new token; what this browser was signed in as before ends."""
    now = runner.clock()
    token = sign_ins.begin(caller, runner.store, now)
    if before := read_cookie(request, SIGN_IN):
        sign_ins.forget(before, runner.store)
    state_of(request).caller = caller
    response = RedirectResponse(wanted, 303)
    set_cookie(response, request, SIGN_IN, token, int(sign_ins.LASTS.total_seconds()))
    return response


class _Provided:
    """Signing in with an identity provider: there, and back again."""

    def __init__(self, runner: RequestRunner, flow: CodeFlow, coming: ComingIn) -> None:
        self._runner, self._flow, self._coming = runner, flow, coming

    def begin(self, request: Request) -> Response:
        self._runner.throttle.take_attempt(peer_of(request) or "")
        begun = self._flow.begin(
            secrets.token_urlsafe(_STATE_BYTES),
            self._coming.address(request, CALLBACK),
            own_path(request.query_params.get("next", "")),
            self._runner.clock(),
        )
        response = RedirectResponse(begun.address, 303)
        # The way back begins at the provider, another site.
        set_cookie(response, request, FLOW, begun.cookie, int(LASTS.total_seconds()), "lax")
        return response

    def end(self, request: Request) -> Response:
        self._runner.throttle.take_attempt(peer_of(request) or "")
        said = {name: request.query_params.get(name, "") for name in ("state", "code", "error", "iss")}
        wanted = self._flow.wanted(read_cookie(request, FLOW), said["state"], self._runner.clock())
        if said["error"]:
            described = request.query_params.get("error_description", "")
            raise Forbidden(
                f"The identity provider refused the sign-in: {said['error'][:100]} {described[:300]}".strip()
            )
        if said["iss"] not in ("", self._flow.issuer):
            raise Unauthenticated(
                "The answer comes from another identity provider than the one that was asked."
            )
        caller = self._flow.caller(said["code"], said["state"], self._coming.address(request, CALLBACK))
        response = signed_in(self._runner, request, caller, wanted)
        drop_cookie(response, request, FLOW)
        return response


def _with_provider(provided: _Provided) -> list[BaseRoute]:
    steps: tuple[tuple[str, Callable[[Request], Response]], ...] = (
        (PROVIDER, provided.begin),
        (CALLBACK, provided.end),
    )
    return [Route(path, _answered(provided, step), methods=["GET"]) for path, step in steps]


def _answered(provided: _Provided, step: Callable[[Request], Response]) -> Callable[[Request], object]:
    async def endpoint(request: Request) -> Response:
        state_of(request).show_problem = partial(_failed, request)
        # The provider may be slow; nothing else waits for it.
        return await provided._runner.run(step, request, slow=True)

    return endpoint


def _failed(request: Request, error: Exception) -> Response:
    """The page for a sign-in that did not work out, which never leads to the provider again by itself."""
    page = render(
        "problem.html",
        title="You are not signed in",
        detail=detail_of(error),
        request_id=state_of(request).request,
        sign_in=PATH,
    )
    response = Html(page, kind_of(error).status)
    drop_cookie(response, request, FLOW)
    return response


def _show(view: PageView) -> Response:
    return view.html("sign_out.html")


def sign_out_page(runner: RequestRunner) -> Page:
    """Who one is here, and the ways out."""

    def here(view: PageView, form: Form) -> Response:
        sign_ins.end(sign_in_of(view.request), view.door.caller, runner.store, runner.clock())
        return _left(view)

    def everywhere(view: PageView, form: Form) -> Response:
        sign_ins.end_all(view.door.caller, runner.store, runner.clock())
        return _left(view)

    return Page(path=SIGN_OUT, show=_show, acts={"here": here, "everywhere": everywhere}, permission=None)


def _left(view: PageView) -> Response:
    response = RedirectResponse(f"{PATH}?next={quote('/', safe='')}", 303)
    drop_cookie(response, view.request, SIGN_IN)
    return response
