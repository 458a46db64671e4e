"""WAS this form shown by us, to this browser, in this sign-in? Each form carries a proof, which no other site can make."""

import secrets
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from onrecord.access.signing import is_signature, secret_of, signature
from onrecord.errors import Forbidden
from onrecord.store.ports.store import Store
from onrecord.surfaces.web.callers import sign_in_of
from onrecord.surfaces.web.cookies import VISITOR, read_cookie, set_cookie
from onrecord.surfaces.web.page_view import PROOF, Form

_VISITOR_BYTES: Final = 18


class FormProofs:
    """Makes and checks proofs, with the secret of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._secret: bytes | None = None

    def of(self, request: Request, visitor: str) -> str:
        """The proof for a browser and its sign-in."""
        if self._secret is None:
            # It never changes, so it is read once.
            self._secret = secret_of(self._store)
        return signature(self._secret, "form", visitor, sign_in_of(request))

    def check(self, request: Request, form: Form) -> None:
        """Forbidden unless the form was shown to this browser in this sign-in."""
        if not self._is_proven(request, form):
            raise Forbidden(
                "This form was not sent from a page of this server, or you have signed in or out since. "
                "Nothing was changed: open the page again and repeat it."
            )

    def is_from_another_sign_in(self, request: Request, form: Form) -> bool:
        """Whether the form has no proof that holds now, and comes from a page of this server in this browser all the same: one
        that was opened before its person signed in again. The form may then be shown, and nothing may be done by it.
        """
        return is_from_our_page(request) and not self._is_proven(request, form)

    def _is_proven(self, request: Request, form: Form) -> bool:
        visitor = read_cookie(request, VISITOR)
        return bool(visitor) and is_signature(form.one(PROOF), self.of(request, visitor))


def is_from_our_page(request: Request) -> bool:
    """Whether the browser says that a page of this very server sends this, and is known here; no other site can have it say
    so.
    """
    return bool(read_cookie(request, VISITOR)) and request.headers.get("sec-fetch-site") == "same-origin"


def visitor_of(request: Request) -> str:
    """The word for this browser; a new one if it has none yet, which `greet` gives it."""
    word: str = request.scope.setdefault(
        "onrecord.visitor", read_cookie(request, VISITOR) or secrets.token_urlsafe(_VISITOR_BYTES)
    )
    return word


def greet(response: Response, request: Request) -> Response:
    """The response, which gives the browser its word if it has none."""
    if not read_cookie(request, VISITOR):
        set_cookie(response, request, VISITOR, visitor_of(request))
    return response
