"""WHAT is a page? A path, what it shows, and the forms that it takes; every page is answered by the same steps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from onrecord.errors import Forbidden, Unauthenticated
from onrecord.model.limits import Permission
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import read_body
from onrecord.surfaces.rest.problems import NO_METHOD, UNREADABLE, WRONG_TYPE, Refusal, detail_of, kind_of
from onrecord.surfaces.rest.request_runner import RequestRunner, state_of
from onrecord.surfaces.web.callers import sign_in_of
from onrecord.surfaces.web.page_view import ACT, PROOF, REFUSALS, Form, PageView, RefusedForm
from onrecord.surfaces.web.proofs import FormProofs, greet, is_from_our_page, visitor_of
from onrecord.surfaces.web.rendering import POLICY, STATIC, Html, render

SIGN_IN: Final = "/sign-in"
#: Room for the longest memory, with every character escaped, and what stands around it.
FORM_BYTES: Final = 512 * 1024
_MOST_FIELDS: Final = 2_000
_FORM_TYPE: Final = "application/x-www-form-urlencoded"
#: How a page words problems whose usual text speaks of a caller and a key.
_TITLES: Final = {"forbidden": "You may not do that", "unauthenticated": "You are not signed in"}
_SIGNED_IN_SINCE: Final = (
    "You have signed in or out since this form was opened. Look at it, and send it again."
)

Show = Callable[[PageView], Response]
Act = Callable[[PageView, Form], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page. `show` answers GET; a form names one of the `acts`, each of which carries it out and leads on.

    An act that is refused shows the page again, with what was typed and why it was refused. `menu` is the name in the
    navigation, for those who have the `permission`; whoever lacks it does not open the page; None lets in everyone who is known. `done` are sentences to
    show after a form, by the names that acts use.
    """

    path: str
    show: Show
    acts: Mapping[str, Act] = field(default_factory=dict)
    menu: str | None = None
    permission: Permission | None = "memory.read"
    done: Mapping[str, str] = field(default_factory=dict)
    #: Whether its acts make or end keys, which are looked up again at once then.
    changes_keys: bool = False
    #: The page of the menu that it belongs to, unless its own path says so.
    part_of: str = ""


def open_pages(
    pages: Sequence[Page], runner: RequestRunner, framed_by: Sequence[str] | None = None
) -> list[BaseRoute]:
    """The routes of all pages. With `framed_by` pages of these origins may show them in a frame, where nobody is led to
    the sign-in page.
    """
    endpoint = _PageEndpoint if framed_by is None else partial(_FramedEndpoint, framed_by)
    return [Route(page.path, endpoint=endpoint(runner, page, pages)) for page in pages]


def shipped_files() -> BaseRoute:
    """The route of the files that pages load."""
    return Mount(STATIC, _ShippedFiles(packages=[("onrecord.surfaces.web", "static")]))


class _ShippedFiles(StaticFiles):
    """Files with the digest of their content in their address, so that browsers keep them."""

    def file_response(self, *given: object, **named: object) -> Response:
        response = super().file_response(*given, **named)  # type: ignore[arg-type]
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


class _PageEndpoint:
    """All methods of one page."""

    def __init__(self, runner: RequestRunner, page: Page, pages: Sequence[Page]) -> None:
        self._runner, self._page, self._proofs = runner, page, FormProofs(runner.store)
        self._menu = tuple((each.menu, each.path, each.permission) for each in pages if each.menu)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        state_of(request).show_problem = partial(self._show_problem, request)
        response = await self._answer(request)
        await response(scope, receive, send)

    def _show_problem(self, request: Request, error: Exception) -> Response:
        return problem_page(request, error)

    async def _answer(self, request: Request) -> Response:
        if is_led_here(request):
            return again(request)
        if request.method in ("GET", "HEAD"):
            return await self._runner.call(request, partial(self._shown, request))
        if request.method != "POST" or not self._page.acts:
            allowed = "GET, HEAD, POST" if self._page.acts else "GET, HEAD"
            raise Refusal(NO_METHOD, f"Allowed here: {allowed}.", {"allow": allowed})
        body = await read_body(request, FORM_BYTES)
        if is_from_our_page(request):
            state_of(request).show_problem = partial(_problem_with_form, request, body)
        return await self._runner.call(request, partial(self._carried_out, request, body))

    def _shown(self, request: Request, door: OnRecord) -> Response:
        return greet(self._show(self._view(request, door)), request)

    def _show(self, view: PageView) -> Response:
        """The page; a question in its address that was refused is shown again, with the reason."""
        if settled := view.attempt(lambda: view.settled):
            return RedirectResponse(settled, 303)
        response = self._page.show(view)
        if view.refused is not None:
            response.status_code = kind_of(view.refused.error).status
        return response

    def _carried_out(self, request: Request, body: bytes, door: OnRecord) -> Response:
        form = read_form(request, body)
        if self._proofs.is_from_another_sign_in(request, form) and form.act in self._page.acts:
            view = self._view(request, door)
            view.refused = RefusedForm(form, Forbidden(_SIGNED_IN_SINCE))
            response = self._page.show(view)
            response.status_code = kind_of(view.refused.error).status
            return response
        self._proofs.check(request, form)
        view = self._view(request, door)
        act = self._page.acts.get(form.act)
        if act is None:
            raise Refusal(UNREADABLE, f"This page has no form named {form.act[:80]!a}.")
        try:
            response = act(view, form)
        except REFUSALS as error:
            # An act may have put what has changed meanwhile into the form.
            view.refused = view.refused or RefusedForm(form, error)
            response = self._page.show(view)
            response.status_code = kind_of(error).status
        if self._page.changes_keys:
            self._runner.authenticator.forget_keys()
        return response

    def _view(self, request: Request, door: OnRecord) -> PageView:
        if self._page.permission is not None:
            door.caller.require(self._page.permission)
        proof = self._proofs.of(request, visitor_of(request))
        view = PageView(request=request, door=door, form_token=proof, is_signed_in=bool(sign_in_of(request)))
        view.links = [
            (name, path)
            for name, path, permission in self._menu
            if permission is None or view.may(permission)
        ]
        view.stands_in = self._page.part_of or request.url.path
        view.done = self._page.done.get(view.query.one("done"))
        return view


class _FramedEndpoint(_PageEndpoint):
    """All methods of a page that others show in a frame."""

    def __init__(
        self, origins: Sequence[str], runner: RequestRunner, page: Page, pages: Sequence[Page]
    ) -> None:
        super().__init__(runner, page, pages)
        self._framed_by = " ".join(origins) or "'none'"

    def _show_problem(self, request: Request, error: Exception) -> Response:
        return self._framed(problem_page(request, error, leads_on=False))

    def _shown(self, request: Request, door: OnRecord) -> Response:
        return self._framed(self._page.show(self._view(request, door)))

    def _framed(self, response: Response) -> Response:
        usual = f"frame-ancestors {POLICY['frame-ancestors']}"
        policy = response.headers["content-security-policy"]
        response.headers["content-security-policy"] = policy.replace(
            usual, f"frame-ancestors {self._framed_by}"
        )
        return response


def is_led_here(request: Request) -> bool:
    """Whether a page of another site leads here: the browser then keeps back the cookie of the sign-in."""
    site = request.headers.get("sec-fetch-site", "none")
    return (
        request.method == "GET"
        and site not in ("same-origin", "none")
        and (request.headers.get("sec-fetch-dest") == "document")
    )


def again(request: Request) -> Response:
    """A page that opens the same address once more, as one of ours, so that cookies are sent."""
    # Within quotation marks.
    return Html(render("again.html", here=_asked(request).replace("'", "%27")))


def _asked(request: Request) -> str:
    """The path and query as they were sent, still quoted; an address that does not begin as that of another host."""
    query: str = request.scope.get("query_string", b"").decode("ascii", "replace")
    path: str = request.scope.get("raw_path", b"").decode("ascii", "replace").split("?")[0]
    return "/" + path.lstrip("/\\") + (f"?{query}" if query else "")


def problem_page(request: Request, error: Exception, *, leads_on: bool = True) -> Response:
    """The page for a request that could not be answered; strangers are led to the sign-in page."""
    if isinstance(error, Unauthenticated) and request.method in ("GET", "HEAD") and leads_on:
        return RedirectResponse(f"{SIGN_IN}?next={quote(_asked(request), safe='')}", 303)
    kind = kind_of(error)
    page = render(
        "problem.html",
        title=_TITLES.get(kind.name, kind.title),
        detail=detail_of(error),
        request_id=state_of(request).request,
        sign_in=SIGN_IN if isinstance(error, Unauthenticated) and leads_on else None,
    )
    response = Html(page, kind.status)
    response.headers.update(error.headers if isinstance(error, Refusal) else {})
    return response


def _problem_with_form(request: Request, body: bytes, error: Exception) -> Response:
    """The same for a form of ours. Whose sign-in has ended meanwhile signs in again and brings the form back, as typed."""
    if not isinstance(error, Unauthenticated):
        return problem_page(request, error)
    pairs = read_form(request, body).pairs
    # Chosen values go with the form; what may have taken someone a while to type can be read, and copied, at once.
    texts = [(name, value) for name, value in pairs if name not in (ACT, PROOF) and len(value.split()) > 1]
    page = render("signed_out.html", here=_asked(request), pairs=pairs, texts=texts, sign_in=SIGN_IN)
    return Html(page, kind_of(error).status)


def show_to_browsers(request: Request) -> None:
    """Let a problem be a page, if someone has opened this address in a browser."""
    if request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", ""):
        state_of(request).show_problem = partial(problem_page, request)


def read_form(request: Request, body: bytes) -> Form:
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != _FORM_TYPE:
        raise Refusal(WRONG_TYPE, f"Send the form as {_FORM_TYPE}.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except (UnicodeDecodeError, ValueError):
        raise Refusal(UNREADABLE, "The form cannot be read. Open the page again and repeat it.") from None
    return Form(pairs)
