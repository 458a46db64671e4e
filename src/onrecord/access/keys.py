"""WHICH keys are there? Made, listed and revoked; only their hashes are kept.

A key reads `onr_<id>_<secret>`: the id is for people and the audit, the whole is what is hashed. Those that were made
under the former name begin with `rk_` and go on working.
"""

import re
import secrets
import string
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from onrecord.access.systems import read_systems
from onrecord.errors import Fault, Forbidden, Invalid, NotFound
from onrecord.model.answers import CreatedKey, Key, ListedKeys, RevokedKey
from onrecord.model.caller import Caller
from onrecord.model.limits import ACTORS, KEY_PREFIXES, Grant
from onrecord.model.requests import CreateKey, RevokeKey
from onrecord.store.ports.ledger import Ledger
from onrecord.store.ports.store import Store

_LETTERS: Final = string.ascii_letters + string.digits
_ID_LETTERS: Final = string.ascii_lowercase + string.digits
_ID_LENGTH: Final = 8
# 256 bits and a little.
_SECRET_LENGTH: Final = 43
_SHAPE: Final = re.compile(
    rf"(?:{'|'.join(KEY_PREFIXES)})[a-z0-9]{{{_ID_LENGTH}}}_[A-Za-z0-9]{{{_SECRET_LENGTH}}}"
)


def hash_of(secret: str) -> str:
    """What is kept of a key. It is random and long, so no slow hash is needed."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def has_keys(store: Store) -> bool:
    """Whether any key was made, working or not: once there is one, nobody comes in without."""
    with store.ledger(writes=False) as ledger:
        return ledger.has_keys()


def find(secret: str, store: Store, now: datetime) -> Key | None:
    """The key that was shown, if it works: known, not revoked, not expired."""
    if not _SHAPE.fullmatch(secret):
        return None
    with store.ledger(writes=False) as ledger:
        key = ledger.key(hash_of(secret))
    return key if key is not None and _works(key, now) else None


def _works(key: Key, now: datetime) -> bool:
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def caller_of(
    key: Key, *, request: str | None = None, conversation: str | None = None, run: str | None = None
) -> Caller:
    """Whoever comes with a key."""
    return Caller(
        tenant=key.tenant,
        user=key.user,
        personas=frozenset(key.personas),
        permissions=frozenset(key.permissions),
        systems=key.systems,
        conversation=conversation,
        run=run,
        actor=key.actor,
        key=key.id,
        request=request,
    )


def create(caller: Caller, ask: CreateKey, store: Store, now: datetime) -> CreatedKey:
    # `crm=manage` is the grant to manage, `crm` alone to read; that each is one was checked with the request.
    systems, _ = read_systems(ask.systems)
    _refuse_more_than(caller, ask, systems)
    if ask.expires_at is not None and ask.expires_at <= now:
        raise Invalid([Fault("expires_at", f"must be in the future (it is {now.isoformat()} now)")])
    id, secret = _random(_ID_LETTERS, _ID_LENGTH), _random(_LETTERS, _SECRET_LENGTH)
    key = Key(
        id=id,
        tenant=ask.tenant or caller.tenant,
        user=ask.user or caller.user,
        label=ask.label,
        personas=tuple(ask.personas),
        permissions=tuple(ask.permissions),
        systems=systems,
        actor=ask.actor,
        created_at=now,
        created_by=caller.user,
        expires_at=ask.expires_at,
        per_minute=ask.per_minute,
        saves_per_day=ask.saves_per_day,
    )
    caller_of(key)
    shown = f"{KEY_PREFIXES[0]}{id}_{secret}"
    with store.ledger(key.tenant) as ledger:
        _refuse_overstepping(caller, key, ledger)
        ledger.add_key(key, hash_of(shown))
        ledger.note(caller, "create_key", now, id)
    return CreatedKey(secret=shown, key=key)


def _refuse_more_than(caller: Caller, ask: CreateKey, systems: Mapping[str, Grant]) -> None:
    """Personas and users are free: whoever makes keys sees everyone's memories of the tenant already."""
    if lacking := sorted(set(ask.permissions) - caller.permissions):
        raise Forbidden(
            f"A key can do no more than its maker, who lacks the permission {', '.join(lacking)}."
        )
    beyond = [
        f"{name}={grant}" if grant == "manage" else name
        for name, grant in sorted(systems.items())
        if not (caller.manages(name) if grant == "manage" else caller.reads(name))
    ]
    if beyond:
        raise Forbidden(f"A key can do no more than its maker, who is not granted {', '.join(beyond)}.")
    if ACTORS.index(ask.actor) < ACTORS.index(caller.actor):
        raise Forbidden(
            f"A key can do no more than its maker: one made by an actor {caller.actor} cannot be for a {ask.actor}."
        )


def _refuse_overstepping(caller: Caller, key: Key, ledger: Ledger) -> None:
    """What bounds a key would otherwise be shed by making another: its end, and how much it may do."""
    own = next((each for each in ledger.all_keys() if each.id == caller.key), None)
    if own is None:
        return
    bounds: Sequence[tuple[str, Any, Any]] = [
        (name, getattr(key, name), getattr(own, name))
        for name in ("expires_at", "per_minute", "saves_per_day")
    ]
    for name, wanted, most in bounds:
        if most is not None and (wanted is None or wanted > most):
            told = most.isoformat() if isinstance(most, datetime) else most
            raise Forbidden(
                f"A key can do no more than its maker, whose own key has {name} {told}; give {name}, at most that."
            )


def listed(caller: Caller, store: Store) -> ListedKeys:
    with store.ledger(caller.tenant, writes=False) as ledger:
        return ListedKeys(keys=tuple(ledger.all_keys()))


def revoke(caller: Caller, ask: RevokeKey, store: Store, now: datetime) -> RevokedKey:
    with store.ledger(_home(caller, ask.id, store)) as ledger:
        revoked = ledger.revoke(ask.id, now)
        if revoked is None:
            raise NotFound(f"No key {ask.id} here. List the keys to see which there are.")
        key, changed = revoked
        if changed:
            ledger.note(caller, "revoke_key", now, ask.id)
    return RevokedKey(key=key, changed=changed)


def _home(caller: Caller, id: str, store: Store) -> str:
    """Whoever runs the store revokes any key: one that leaked must not wait until its tenant is named."""
    if not caller.operator:
        return caller.tenant
    with store.ledger(writes=False) as ledger:
        return next((key.tenant for key in ledger.all_keys() if key.id == id), caller.tenant)


def _random(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _ in range(length))
