"""WHO calls over the network? The owner of a key or token; headers only narrow it.

`Authenticator.caller` may ask the store, the issuer of tokens and the source of grants: call it in a thread.
"""

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from onrecord.access import keys, sign_ins
from onrecord.access.grants import NO_GRANTS, Grants, RequestOrigin
from onrecord.access.systems import strongest
from onrecord.errors import Fault, Invalid, Unauthenticated, invalid
from onrecord.lru_cache import LruCache
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import CONVERSATION as A_CONVERSATION
from onrecord.model.ledger import Key
from onrecord.model.limits import KEY_PREFIXES, NAME_CHARACTERS
from onrecord.model.rules import NAME, Rule
from onrecord.store.ports.store import Store

if TYPE_CHECKING:
    from onrecord.access.tokens import OidcTokens

CONVERSATION: Final = "OnRecord-Conversation"
RUN: Final = "OnRecord-Run"

_KEY: Final = re.compile(rf"(?:{'|'.join(KEY_PREFIXES)})(?P<id>[a-z0-9]+)_[A-Za-z0-9]+")
_BEARER: Final = re.compile(r"(?i:bearer) +(?P<secret>[A-Za-z0-9._~+/-]+=*) *")
_LONGEST_BEARER: Final = 16 * 1024
_SHORTEST_OPERATOR: Final = 32
#: Headers that proxies add: such a request does not come from this machine, even if the connection does.
_PASSED_ON: Final = """
    via forwarded x-forwarded x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-forwarded-server
    x-original-forwarded-for x-original-host x-real-ip x-client-ip x-cluster-client-ip x-envoy-external-address
    true-client-ip cf-connecting-ip cf-ray fastly-client-ip fly-client-ip cdn-loop
    """.split()
#: How long a key that another process revoked may still work here, and how long the first key may go unnoticed.
_KEPT_S: Final = 2.0
_KEPT_KEYS: Final = 10_000


class Operator:
    """The operator of the store, and the secret that proves it over the network."""

    def __init__(self, secret: str, caller: Caller) -> None:
        if (
            len(secret) < _SHORTEST_OPERATOR
            or not _BEARER.fullmatch(f"Bearer {secret}")
            or _KEY.fullmatch(secret)
        ):
            reason = f"must be at least {_SHORTEST_OPERATOR} letters, digits and signs of a bearer token, and no key of a tenant"
            raise invalid("operator_key", reason)
        self._digest, self.caller = sha256(secret.encode()).digest(), caller

    def is_shown(self, secret: str) -> bool:
        return compare_digest(sha256(secret.encode()).digest(), self._digest)


class Authenticator:
    """Finds the caller of a request. Threads may share it."""

    def __init__(
        self,
        store: Store,
        *,
        local: Caller | None = None,
        operator: Operator | None = None,
        tokens: "OidcTokens | None" = None,
        grants: Grants = NO_GRANTS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """`local` is the caller without a key or token, if the store never had keys and no tokens are read: only for
        a server that no other machine can reach. `operator` is the operator of the store, if the operator may log in here.
        """
        self._operator = operator
        self._store, self._tokens, self._grants, self._clock = store, tokens, grants, clock
        # The operator works at the machine or sends the operator key, so a local caller is not the operator. If tokens are set up,
        # nobody comes in without one.
        self._local = None if local is None or tokens is not None else replace(local, operator=False)
        self._timer = timer
        self._keys = _KnownKeys(timer)
        self._has_keys, self._looked_at = False, -math.inf

    def caller(
        self, headers: Mapping[str, str], peer: str | None = None, request: str | None = None
    ) -> Caller:
        """The sender of these headers from the address `peer`, the other end of the connection.

        Unauthenticated for any fault of a key or token; Invalid for a fault of a narrowing header.
        """
        given = _Headers(headers.items())
        return self._narrowed(self._identified(given, peer), given, request)

    def signed_in(
        self, token: str, headers: Mapping[str, str], peer: str | None = None, request: str | None = None
    ) -> Caller | None:
        """Whoever signed in with this token of a cookie, as they are now; None if that has ended."""
        found = sign_ins.find(token, self._store, self._clock())
        if found is None or (found.key is None and self._tokens is None):
            return None
        if found.key is not None:
            self._keys.note(found.key)
        given = _Headers(headers.items())
        return self._narrowed(self._granted(found.caller, given, peer), given, request)

    def _narrowed(self, caller: Caller, given: "_Headers", request: str | None) -> Caller:
        given.refuse_former(CONVERSATION, RUN)
        run = given.name(RUN) or caller.run
        if run is None and caller.actor == "unattended":
            run = _run_of_today(caller, self._clock())
        return replace(
            caller,
            conversation=given.name(CONVERSATION, A_CONVERSATION) or caller.conversation,
            run=run,
            request=request,
        )

    def per_minute(self, key: str) -> int | None:
        """How many requests a minute a recently used key allows."""
        known = self._keys.by_id(key)
        return None if known is None else known.per_minute

    def forget_keys(self) -> None:
        """Look every key up again, since this process has made or revoked one."""
        self._keys.clear()
        self._looked_at = -math.inf

    def close(self) -> None:
        self._grants.close()

    def _identified(self, given: "_Headers", peer: str | None) -> Caller:
        if not given.has("authorization"):
            if self._local is None or not is_from_here(given.has, peer, unknown=True) or self._needs_keys():
                raise Unauthenticated()
            return self._local
        return self._granted(self._bearer(given.one("authorization") or ""), given, peer)

    def _granted(self, caller: Caller, given: "_Headers", peer: str | None) -> Caller:
        granted = self._grants.systems(caller, RequestOrigin(headers=given.single(), peer=peer))
        return replace(caller, systems=strongest(caller.systems, granted)) if granted else caller

    def _needs_keys(self) -> bool:
        """Whether there was ever a key; from then on every request needs one."""
        now = self._timer()
        if now >= self._looked_at + _KEPT_S:
            self._has_keys, self._looked_at = keys.has_keys(self._store), now
        return self._has_keys

    def _bearer(self, authorization: str) -> Caller:
        shown = _BEARER.fullmatch(authorization) if len(authorization) <= _LONGEST_BEARER else None
        if shown is None:
            raise Unauthenticated()
        if self._operator is not None and self._operator.is_shown(shown["secret"]):
            return self._operator.caller
        if key := _KEY.fullmatch(shown["secret"]):
            return self._by_key(key["id"], key[0])
        if self._tokens is None or shown["secret"].count(".") != 2:
            raise Unauthenticated()
        return self._tokens.caller(shown["secret"])

    def _by_key(self, id: str, secret: str) -> Caller:
        now = self._clock()
        digest = sha256(secret.encode()).digest()
        key = self._keys.find(id, digest, lambda: keys.find(secret, self._store, now))
        # A cached key may have expired since it was looked up.
        if key is None or not keys.is_valid(key, now):
            raise Unauthenticated()
        return keys.caller_of(key)


class _Headers:
    """The headers of one request, whatever the case of their names; it knows which were sent twice."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name.lower(), []).append(value)

    def has(self, name: str) -> bool:
        return name in self._values

    def one(self, name: str) -> str | None:
        """The value of a header, unless it was sent twice, since then it is unknown which one was meant."""
        values = self._values.get(name, [])
        return values[0] if len(values) == 1 else None

    def single(self) -> dict[str, str]:
        """Every header that was sent once."""
        return {name: values[0] for name, values in self._values.items() if len(values) == 1}

    def refuse_former(self, *headers: str) -> None:
        """Refuse headers of the former name: ignoring one would widen what its sender has narrowed."""
        sent = [(header, header.replace("OnRecord", "Recollect")) for header in headers]
        if faults := [
            Fault(former, f"is now called {now}") for now, former in sent if self.has(former.lower())
        ]:
            raise Invalid(faults)

    def name(self, header: str, rule: Rule = NAME) -> str | None:
        """A name in a header; Invalid if it is not a valid name."""
        values = self._values.get(header.lower(), [])
        if not values:
            return None
        if len(values) > 1:
            raise invalid(header, "was sent twice; send one")
        try:
            clean: str = rule(_as_text(values[0]))
        except ValueError as reason:
            raise invalid(header, str(reason)) from None
        return clean


def _as_text(value: str) -> str:
    """Servers pass header bytes on as Latin-1; most senders of more than ASCII mean UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def is_from_here(has_header: Callable[[str], bool], peer: str | None, *, unknown: bool) -> bool:
    """Whether a request comes from this machine, and not through a proxy that says so.

    `unknown` is the answer if there is no address: for a socket in the file system, or a call within this process.
    """
    if any(map(has_header, _PASSED_ON)):
        return False
    try:
        return ip_address(peer or "").is_loopback
    except ValueError:
        return unknown


def _run_of_today(caller: Caller, now: datetime) -> str:
    """The run of an unattended caller that names none: everything it does in a day."""
    who = f"key:{caller.key}" if caller.key else f"user:{caller.user}"
    day = f":{now.date().isoformat()}"
    return who[: NAME_CHARACTERS - len(day)] + day


@dataclass(frozen=True, slots=True)
class _CachedKey:
    digest: bytes
    key: Key
    until: float


class _KnownKeys:
    """Recently used keys, so that not every request asks the store. Unknown keys are not cached."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self.clear()

    def find(self, id: str, digest: bytes, look_up: Callable[[], Key | None]) -> Key | None:
        # Counted from before the look-up, since the key may be revoked during it.
        now = self._timer()
        cache = self._known
        known = cache.get(id)
        if known is not None and now < known.until and compare_digest(known.digest, digest):
            return known.key
        key = look_up()
        if key is not None:
            cache.put(key.id, _CachedKey(digest, key, now + _KEPT_S))
        return key

    def note(self, key: Key) -> None:
        """Remember the limit of a key that was looked up otherwise; whoever shows the key is looked up again."""
        self._known.put(key.id, _CachedKey(b"", key, -math.inf))

    def by_id(self, id: str) -> Key | None:
        known = self._known.get(id)
        return None if known is None else known.key

    def clear(self) -> None:
        # A new cache, so that a look-up under way writes into the old one, which nobody reads.
        self._known: LruCache[str, _CachedKey] = LruCache(_KEPT_KEYS)
