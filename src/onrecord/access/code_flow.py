"""HOW does a person sign in with an identity provider? OpenID Connect, code flow with PKCE: the browser goes there and
comes back with a code, which we redeem for tokens.

Nothing is kept meanwhile: what must match later is derived from `state` and the secret of the store, and `state` is in
a signed cookie of the browser that began.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode, urlsplit

import httpx2

from onrecord.access.fetching import NoAnswer, fetch_json
from onrecord.access.signing import is_signature, secret_of, signature
from onrecord.access.tokens import DISCOVERY, OidcTokens, base64url
from onrecord.errors import IdentityUnavailable, Unauthenticated, invalid
from onrecord.model.caller import Caller
from onrecord.model.rules import Text
from onrecord.model.shapes import Exactly, Object, Several
from onrecord.store.ports.store import Store

#: How long someone has for signing in there.
LASTS: Final = timedelta(minutes=10)
_SCOPE: Final = "openid"
_FRESH_S: Final = 600.0
_TIMEOUT_S: Final = 5.0
_STARTED_ELSEWHERE: Final = (
    "This sign-in was not begun in this browser, or too long ago. Open the sign-in page and begin again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A flow that has begun: where the browser goes, and the value of its cookie until it comes back."""

    address: str
    cookie: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """What we use of a discovery document."""

    authorization: str
    token: str
    takes_basic: bool


class CodeFlow:
    """Signs people in with one issuer. Threads may share it."""

    def __init__(
        self,
        *,
        issuer: str,
        client: str,
        secret: str | None,
        tokens: OidcTokens,
        store: Store,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        if not _is_safe(issuer, issuer):
            raise invalid(
                "oidc_issuer", f"must be an https address, so that people can sign in there (got {issuer!a})"
            )
        self.issuer, self._client, self._secret = issuer, client, secret
        self._tokens, self._store, self._timer = tokens, store, timer
        self._looking, self._found_at = Lock(), 0.0
        self._provider: Provider | None = None

    def begin(self, state: str, redirect: str, wanted: str, now: datetime) -> Begun:
        """Begin for a person who wants to see `wanted`; `state` is random, and `redirect` is where they come back."""
        secret = secret_of(self._store)
        asked = {
            "response_type": "code",
            "client_id": self._client,
            "redirect_uri": redirect,
            "scope": _SCOPE,
            "state": state,
            "nonce": signature(secret, "nonce", state),
            "code_challenge": base64url(sha256(_verifier(secret, state).encode()).digest()),
            "code_challenge_method": "S256",
        }
        there = self._discovered().authorization
        until = str(int((now + LASTS).timestamp()))
        cookie = ".".join(
            (state, until, quote(wanted, safe=""), signature(secret, "flow", state, until, wanted))
        )
        return Begun(address=f"{there}{'&' if '?' in there else '?'}{urlencode(asked)}", cookie=cookie)

    def wanted(self, cookie: str, state: str, now: datetime) -> str:
        """What the person wanted to see, if this browser has begun the flow of this state; else Unauthenticated."""
        head, _, signed = cookie.rpartition(".")
        begun, until, quoted = (*head.split(".", 2), "", "")[:3]
        expected = signature(secret_of(self._store), "flow", begun, until, unquote(quoted))
        if not is_signature(signed, expected) or not is_signature(state, begun):
            raise Unauthenticated(_STARTED_ELSEWHERE)
        if now.timestamp() >= int(until):
            raise Unauthenticated(_STARTED_ELSEWHERE)
        return unquote(quoted)

    def caller(self, code: str, state: str, redirect: str) -> Caller:
        """Redeem the code; whom the tokens name. Unauthenticated if the provider or a token says otherwise,
        IdentityUnavailable if the provider does not answer.
        """
        secret = secret_of(self._store)
        tokens = self._redeemed(
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirect,
                "client_id": self._client,
                "code_verifier": _verifier(secret, state),
            }
        )
        return self._tokens.signed_in(
            tokens["id_token"],
            tokens.get("access_token"),
            client=self._client,
            nonce=signature(secret, "nonce", state),
        )

    def _redeemed(self, form: dict[str, str]) -> Mapping[str, Any]:
        provider = self._discovered()
        basic = None
        if self._secret is not None and provider.takes_basic:
            # Both are encoded as in a form first (RFC 6749, 2.3.1).
            basic = httpx2.BasicAuth(quote(self._client, safe=""), quote(self._secret, safe=""))
        elif self._secret is not None:
            form["client_secret"] = self._secret
        try:
            with httpx2.Client(timeout=_TIMEOUT_S, auth=basic) as client:
                return dict(_TOKENS(fetch_json(client, "POST", provider.token, form=form)))
        except ValueError as reason:
            raise Unauthenticated(
                f"The identity provider's answer is not what was asked for: {reason}."
            ) from None
        except NoAnswer as problem:
            if problem.reached:
                raise Unauthenticated(
                    f"The identity provider did not accept the sign-in ({problem}). Begin again."
                ) from None
            raise _unreachable() from None

    def _discovered(self) -> Provider:
        with self._looking:
            if self._provider is None or self._timer() - self._found_at >= _FRESH_S:
                self._provider = self._looked_up()
                self._found_at = self._timer()
            return self._provider

    def _looked_up(self) -> Provider:
        try:
            with httpx2.Client(timeout=_TIMEOUT_S) as client:
                found = _document(self.issuer)(fetch_json(client, "GET", self.issuer.rstrip("/") + DISCOVERY))
        except (NoAnswer, ValueError):
            raise _unreachable() from None
        there = Provider(
            authorization=found["authorization_endpoint"],
            token=found["token_endpoint"],
            # The default of the specification, for a provider that names none.
            takes_basic="client_secret_basic"
            in found.get("token_endpoint_auth_methods_supported", ("client_secret_basic",)),
        )
        if not _is_safe(there.authorization, self.issuer) or not _is_safe(there.token, self.issuer):
            raise _unreachable()
        return there


def read_client_secret(secret: str | None, file: str | None) -> str | None:
    """The client's secret from its setting, or from the file that is named instead."""
    if file is None:
        return secret
    if secret is not None:
        raise invalid("oidc_client_secret_file", "cannot be set together with oidc_client_secret")
    try:
        return Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise invalid("oidc_client_secret_file", f"cannot be read: {type(problem).__name__}") from None


def _verifier(secret: bytes, state: str) -> str:
    return signature(secret, "verifier", state)


def _is_safe(url: str, issuer: str) -> bool:
    """Whether a secret may be sent there: over TLS, or to an issuer on this machine."""
    there = urlsplit(url)
    if there.scheme == "https":
        return bool(there.netloc)
    return there.scheme == "http" and _is_here(url) and _is_here(issuer)


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _unreachable() -> IdentityUnavailable:
    return IdentityUnavailable("The identity provider cannot be reached right now. Try again in a moment.")


def _document(issuer: str) -> Object:
    return Object(
        "a discovery document",
        {
            "issuer": Exactly(issuer),
            "authorization_endpoint": Text(),
            "token_endpoint": Text(),
            "token_endpoint_auth_methods_supported": Several(Text()),
        },
        needed=("issuer", "authorization_endpoint", "token_endpoint"),
        passes_over=True,
    )


_TOKENS: Final = Object(
    "an answer with tokens",
    {"id_token": Text(), "access_token": Text()},
    needed=("id_token",),
    passes_over=True,
)
