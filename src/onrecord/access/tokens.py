"""WHO is the caller of a token? OpenID Connect access tokens, signed by an issuer we trust and meant for us.

Every fault of a token gives the same Unauthenticated; the reason is in the log, the token never is.
"""

import base64
import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol, cast, get_args
from urllib.parse import urlsplit

import httpx2
import jwt

from onrecord.access.fetching import NoAnswer, fetch_json
from onrecord.access.systems import Systems, read_systems
from onrecord.errors import Fault, IdentityUnavailable, Invalid, Unauthenticated, invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import TENANT_PERMISSIONS, Actor, Permission
from onrecord.model.rules import NAME, Choice, Integer, Rule, Text, anything
from onrecord.model.shapes import Either, Exactly, MapOf, Object, Several

#: Signed with a key that only the issuer holds. With `none` and HS256 anyone could write a token.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
FIELDS: Final = ("tenant", "user", "permissions", "personas", "systems", "actor")
DISCOVERY: Final = "/.well-known/openid-configuration"

_log: Final = logging.getLogger("onrecord.access")
_DEFAULT_PERMISSIONS: Final[frozenset[Permission]] = frozenset({"memory.read", "memory.manage"})
_LEEWAY_S: Final = 30
_TIMEOUT_S: Final = 5.0
#: Keys are fetched again after _FRESH_S; if that fails, the old ones count for up to _STALE_S.
_FRESH_S, _STALE_S = 600.0, 24 * 3600.0
#: A token with an unknown key makes us fetch the keys again, but not more often than this, since anyone can send one.
_PAUSE_S: Final = 10.0
_KEY_TYPES: Final = ("RSA", "EC", "OKP")

_ACTOR: Final = Choice(get_args(Actor))
_NAMED: Final = Either("a text or a whole number", {str: Text(), int: Integer()})
Jwk = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Which claim of a token holds what. A dot leads into a claim: `realm_access.roles`."""

    tenant: str
    user: str = "sub"
    permissions: str | None = None
    personas: str | None = None
    systems: str | None = None
    actor: str | None = None


_TIMES: Final = ("exp", "nbf", "iat")
#: The year 9999; a later time is not accepted.
_LAST_TIME_S: Final = 253_402_300_800


def read_claims(setting: str | None) -> Claims:
    """The claims in a setting such as `tenant=org,user=sub,permissions=scope`; Invalid lists every fault."""
    faults, claims = [], dict[str, str]()
    for part in filter(None, (each.strip() for each in (setting or "").split(","))):
        field, equals, claim = (each.strip() for each in part.partition("="))
        if not equals or not claim:
            faults.append(f"{part!a} does not say which claim it is; write e.g. tenant=org")
        elif field not in FIELDS:
            faults.append(f"{field!a} cannot be set by a claim; there are {', '.join(FIELDS)}")
        elif field in claims:
            faults.append(f"{field} is given twice, as {claims[field]} and as {claim}")
        claims.setdefault(field, claim)
    if "tenant" not in claims:
        faults.append("must say which claim holds the tenant, e.g. tenant=org")
    if faults:
        raise Invalid([Fault("oidc_claims", each) for each in faults])
    return Claims(**claims)


class SigningKeys(Protocol):
    """Where the public keys of an issuer are found."""

    def among(self, kid: str | None) -> Sequence[Jwk]:
        """The keys of this name; without one, all."""


def open_tokens(
    *, issuer: str, audience: str | None, jwks: str | None = None, claims: str | None = None
) -> "OidcTokens":
    """The reader of tokens for these settings: `jwks` is a file or an address; by default the issuer says where its
    keys are.
    """
    faults = list(_issuer_faults(issuer))
    if not audience:
        faults.append(
            Fault(
                "oidc_audience",
                "is required with oidc_issuer: we must not accept a token that is meant for someone else",
            )
        )
    mapping = None
    try:
        mapping = read_claims(claims)
    except Invalid as problem:
        faults.extend(problem.faults)
    if faults or mapping is None or not audience:
        raise Invalid(faults)
    keys: SigningKeys
    if jwks is None or jwks.startswith(("http://", "https://")):
        keys = FetchedSigningKeys(issuer, jwks)
    else:
        keys = FileSigningKeys(Path(jwks).expanduser())
    return OidcTokens(issuer=issuer, audience=audience, keys=keys, claims=mapping)


def _issuer_faults(issuer: str) -> Iterator[Fault]:
    there = urlsplit(issuer)
    if there.scheme not in ("http", "https") or not there.netloc:
        yield Fault("oidc_issuer", f"must be the address in its tokens' claim iss (got {issuer!a})")


class OidcTokens:
    """Reads the tokens of one issuer. Threads may share it."""

    def __init__(self, *, issuer: str, audience: str, keys: SigningKeys, claims: Claims) -> None:
        self._issuer, self._audience, self._keys, self._claims = issuer, audience, keys, claims
        self._jwt = jwt.PyJWT(options={"enforce_minimum_key_length": True})

    def caller(self, token: str) -> Caller:
        """The caller that a token names; Unauthenticated if it is not valid here, IdentityUnavailable if it cannot be
        checked now.
        """
        with _refusing():
            return _caller(self._verified(token, self._audience), self._claims)

    def signed_in(self, id_token: str, access_token: str | None, *, client: str, nonce: str) -> Caller:
        """Whom the tokens name that our client got for someone who has just signed in: an access token that is meant
        for us, if there is one, and else the id token, which must be valid in any case. Errors as above.
        """
        with _refusing():
            claims = self._verified(id_token, client)
            if claims.get("nonce") != nonce:
                raise _Refused("its nonce is not the one that was sent")
            if claims.get("azp", client) != client:
                raise _Refused("it was made for another client")
            if access_token is not None and access_token.count(".") == 2:
                with suppress(jwt.PyJWTError, _Refused, RecursionError):
                    access = self._verified(access_token, self._audience)
                    claims = access if access.get("sub") == claims.get("sub") else claims
            # Whoever comes through a browser is a person, unless the issuer says otherwise.
            return _caller(claims, self._claims, usual="person")

    def _verified(self, token: str, audience: str) -> Mapping[str, Any]:
        header = jwt.get_unverified_header(token)
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise _Refused("its algorithm is not one that we take")
        fitting = [jwk for jwk in self._keys.among(kid) if _fits(jwk, algorithm)]
        reason: jwt.PyJWTError | None = None
        for jwk in fitting:
            try:
                return self._decoded(token, jwt.PyJWK(dict(jwk), algorithm), audience)
            except (jwt.InvalidSignatureError, jwt.InvalidKeyError, jwt.PyJWKError) as problem:
                reason = problem
        raise reason or _Refused("the issuer has no such key")

    def _decoded(self, token: str, key: jwt.PyJWK, audience: str) -> Mapping[str, Any]:
        try:
            read = self._jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=audience,
                issuer=self._issuer,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except OverflowError:
            raise _Refused("one of its times is without end") from None
        for name in _TIMES:
            if name in read and not _is_time(read[name]):
                raise _Refused(f"{name} is no time")
        return cast(Mapping[str, Any], read)


class _Refused(Exception):
    """Why a token is not valid here; for the log alone."""


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn every fault of a token into the same Unauthenticated."""
    try:
        yield
        return
    except (jwt.PyJWTError, _Refused, Invalid) as reason:
        _log.warning("A token was refused: %s", reason)
    except RecursionError:
        _log.warning("A token was refused: it is nested too deeply")
    raise Unauthenticated()


def base64url(value: bytes) -> str:
    """As in tokens: without padding."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _is_time(value: Any) -> bool:
    """Whether it is a plausible number of seconds: the library also accepts texts and booleans as numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _LAST_TIME_S


def _fits(jwk: Jwk, algorithm: str) -> bool:
    """Whether a key is meant for signatures of this kind."""
    return (
        jwk.get("kty") in _KEY_TYPES
        and jwk.get("use", "sig") == "sig"
        and jwk.get("alg", algorithm) == algorithm
    )


def _caller(token: Mapping[str, Any], claims: Claims, usual: Actor = "agent") -> Caller:
    return Caller(
        tenant=_name(token, claims.tenant),
        user=_name(token, claims.user),
        permissions=_permissions(token, claims.permissions),
        personas=frozenset(_names(token, claims.personas)),
        systems=_systems(token, claims.systems),
        actor=_actor(token, claims.actor, usual),
    )


def _claim(token: Mapping[str, Any], claim: str) -> Any:
    """The value of a claim: by its whole name, else along its dots."""
    if claim in token:
        return token[claim]
    found: Any = token
    for step in claim.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _name(token: Mapping[str, Any], claim: str) -> str:
    return str(_claimed(_NAMED, claim, _claim(token, claim)))


def _listed(value: Any) -> list[Any]:
    """A list, or the words of a text, as in the claim `scope`."""
    if isinstance(value, str):
        return value.split()
    return value if isinstance(value, list) else []


def _permissions(token: Mapping[str, Any], claim: str | None) -> frozenset[Permission]:
    if claim is None:
        return _DEFAULT_PERMISSIONS
    granted = _listed(_claim(token, claim))
    return frozenset(each for each in TENANT_PERMISSIONS if each in granted)


def _names(token: Mapping[str, Any], claim: str | None) -> Iterator[str]:
    for value in _listed(_claim(token, claim)) if claim else ():
        try:
            yield NAME(value)
        except ValueError as reason:
            _log.info("A name in the claim %s was left out: it %s", claim, reason)


def _systems(token: Mapping[str, Any], claim: str | None) -> Systems:
    value = _claim(token, claim) if claim else None
    if isinstance(value, Mapping):
        value = [f"{system}={grant}" for system, grant in value.items()]
    systems, problems = read_systems(_listed(value))
    for problem in problems:
        _log.info("A system in the claim %s was left out: it %s", claim, problem)
    return systems


def _actor(token: Mapping[str, Any], claim: str | None, usual: Actor) -> Actor:
    """The usual one unless the token says otherwise: of a request an agent, so that its texts do not count as a
    person's.
    """
    value = _claim(token, claim) if claim else None
    if value is None:
        return usual
    return cast(Actor, _claimed(_ACTOR, claim, value))


def _claimed(rule: Rule, claim: str | None, value: Any) -> Any:
    try:
        return rule(value)
    except ValueError as reason:
        raise _Refused(f"its claim {claim} {reason}") from None


class FileSigningKeys:
    """The keys in a file, read once."""

    def __init__(self, path: Path) -> None:
        try:
            self._keys = _read_keys(json.loads(path.read_bytes()))
        except (OSError, ValueError, RecursionError) as problem:
            raise invalid(f"oidc_jwks: {path}", f"cannot be read as a set of keys: {problem}") from None

    def among(self, kid: str | None) -> Sequence[Jwk]:
        return _among(self._keys, kid)


class FetchedSigningKeys:
    """The keys that the issuer publishes, fetched again from time to time and when a token names an unknown one."""

    def __init__(
        self, issuer: str, url: str | None = None, *, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer, self._url, self._timer = issuer, url, timer
        self._looking = Lock()
        self._keys: tuple[Jwk, ...] = ()
        self._found_at = self._looked_at = -math.inf
        self._failure: NoAnswer | None = None

    def among(self, kid: str | None) -> Sequence[Jwk]:
        """IdentityUnavailable if the issuer's keys cannot be fetched."""
        known = self._known(kid)
        if not known or self._timer() - self._found_at >= _FRESH_S:
            self._look_up(wait=not known)
            known = self._known(kid)
        if not known and self._failure:
            raise IdentityUnavailable(
                "Tokens cannot be checked right now: the signing keys of their issuer could not be fetched. "
                "Try again in a moment."
            )
        return known

    def _known(self, kid: str | None) -> Sequence[Jwk]:
        return _among(self._keys, kid) if self._timer() - self._found_at < _STALE_S else ()

    def _look_up(self, *, wait: bool) -> None:
        """Only one thread fetches at a time; callers with a usable key do not wait."""
        if not self._looking.acquire(blocking=wait):
            return
        try:
            # Another may have looked while this one waited.
            if self._timer() - self._looked_at >= _PAUSE_S:
                self._look()
        finally:
            self._looking.release()

    def _look(self) -> None:
        try:
            self._keys, self._failure = self._fetched(), None
            self._found_at = self._timer()
        except NoAnswer as problem:
            self._failure = problem
            _log.warning("The keys of %s could not be looked up: %s", self._issuer, problem)
        self._looked_at = self._timer()

    def _fetched(self) -> tuple[Jwk, ...]:
        with httpx2.Client(timeout=_TIMEOUT_S) as client:
            try:
                url = self._url or _discovered(self._issuer, client)
                return _read_keys(fetch_json(client, "GET", url))
            except ValueError as problem:
                raise NoAnswer(str(problem), reached=True) from None


def _discovered(issuer: str, client: httpx2.Client) -> str:
    """The address of the issuer's keys, from its discovery document."""
    shape = Object(
        "a discovery document",
        {"issuer": Exactly(issuer), "jwks_uri": Text()},
        needed=("issuer", "jwks_uri"),
        passes_over=True,
    )
    url: str = shape(fetch_json(client, "GET", issuer.rstrip("/") + DISCOVERY))["jwks_uri"]
    if not url.startswith(("https://", "http://")):
        raise ValueError("its discovery document has no address as jwks_uri")
    if issuer.startswith("https://") and not url.startswith("https://"):
        raise ValueError("its discovery document, fetched by https, names keys at an http address")
    return url


def _read_keys(document: Any) -> tuple[Jwk, ...]:
    try:
        return cast(tuple[Jwk, ...], _KEY_SET(document)["keys"])
    except ValueError as reason:
        raise ValueError(f'it is not a set of keys, {{"keys": […]}}: {reason}') from None


_KEY_SET: Final = Object(
    "a set of keys",
    {"keys": Several(MapOf("a key", anything, anything), at_least=1)},
    needed=("keys",),
    passes_over=True,
)


def _among(keys: tuple[Jwk, ...], kid: str | None) -> Sequence[Jwk]:
    """The keys of this name; without one, all."""
    return keys if kid is None else [key for key in keys if key.get("kid") == kid]
