"""WHO is signed in to the pages? A cookie's token stands for a key, or for what an issuer's token said, for twelve
hours. Only its hash is kept.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from onrecord.access import keys
from onrecord.access.signing import hash_of
from onrecord.errors import Forbidden
from onrecord.model.caller import Caller
from onrecord.model.ledger import Key, SignIn
from onrecord.store.ports.store import Store

#: A sign-in ends then, however much it is used: what an issuer said of someone may have changed by then.
LASTS: Final = timedelta(hours=12)
_TOKEN_BYTES: Final = 32


class SignedIn(NamedTuple):
    """The caller of a sign-in, and its key as it is now, if it was begun with one."""

    caller: Caller
    key: Key | None


def begin(caller: Caller, store: Store, now: datetime) -> str:
    """Sign a caller in, who has just shown a key or a token; returns the token for the cookie, which was never used."""
    if caller.operator:
        raise Forbidden(
            "The operator key signs nobody in. Make a key for a person with `onrecord keys create`."
        )
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    sign_in = SignIn(
        tenant=caller.tenant,
        user=caller.user,
        key=caller.key,
        claims=_claims(caller) if caller.key is None else None,
        began_at=now,
        ends_at=now + LASTS,
    )
    with store.ledger(caller.tenant) as ledger:
        ledger.sign_ins.begin(hash_of(token), sign_in)
        ledger.note(caller, "sign_in", now)
    return token


def find(token: str, store: Store, now: datetime) -> SignedIn | None:
    """The caller of a token with what they may do now; None if the sign-in or its key has ended."""
    with store.ledger(writes=False) as ledger:
        found = ledger.sign_ins.find(hash_of(token))
    if found is None or found[0].ends_at <= now:
        return None
    sign_in, key = found
    if sign_in.key is None:
        claims: dict[str, Any] = dict(sign_in.claims or {})
        return SignedIn(Caller(tenant=sign_in.tenant, user=sign_in.user, **claims), None)
    if key is None or not keys.is_valid(key, now):
        return None
    return SignedIn(keys.caller_of(key), key)


def end(token: str, caller: Caller, store: Store, now: datetime) -> None:
    """End one sign-in of this caller, at once and for every process."""
    with store.ledger(caller.tenant) as ledger:
        if ledger.sign_ins.end(hash_of(token)):
            ledger.note(caller, "sign_out", now)


def forget(token: str, store: Store) -> None:
    """End what a browser was signed in as before it signs in anew."""
    with store.ledger() as ledger:
        ledger.sign_ins.end(hash_of(token))


def end_all(caller: Caller, store: Store, now: datetime) -> int:
    """End every sign-in of this caller's user, in every browser; returns how many."""
    with store.ledger(caller.tenant) as ledger:
        ended = ledger.sign_ins.end_all(caller.user)
        ledger.note(caller, "sign_out_everywhere", now)
    return ended


def _claims(caller: Caller) -> dict[str, Any]:
    """What a token said of someone, as JSON."""
    return {
        "personas": sorted(caller.personas),
        "permissions": sorted(caller.permissions),
        "systems": dict(caller.systems),
        "actor": caller.actor,
    }
