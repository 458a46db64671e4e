"""WHICH keys are there? They are made, listed and revoked; only their hashes are kept.

A key reads `onr_<id>_<secret>`: the id is for people and the audit, and the whole is hashed. Keys made under the
former name begin with `rk_` and still work.
"""

import re
import secrets
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from onrecord.access.signing import hash_of
from onrecord.access.systems import read_systems
from onrecord.errors import Conflict, Fault, Forbidden, NotFound, invalid
from onrecord.model import limits
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.ledger import Key
from onrecord.model.limits import ACTORS, CHANGE_GLOBAL, KEY_PREFIXES, Actor, Permission
from onrecord.model.request import MAYBE_INSTANT, MAYBE_NAME, Request, ask, request_fields
from onrecord.model.rules import GRANT, NAME, SOURCE, Choice, Integer, ListOf, OrNone
from onrecord.model.unset import UNSET, Unset
from onrecord.operation import Call, operation
from onrecord.store.ports.ledger import Ledger
from onrecord.store.ports.store import Store


@dataclass(frozen=True, slots=True)
class CreateKey(Request):
    """Make a key for an agent or a person. It is shown this once; only its hash is kept.

    A key can do no more than the caller who creates it. Only the operator of the store creates keys for other tenants,
    and memory.global can be granted only on the server's machine.
    """

    label: str | None = ask(OrNone(SOURCE), "What the key is for.", None)
    tenant: str | None = ask(MAYBE_NAME, "Whose memories; the caller's own when left out.", None)
    user: str | None = ask(MAYBE_NAME, "Who uses it; the caller when left out.", None)
    personas: Sequence[str] = ask(ListOf(NAME, at_most=100), "Personas it speaks for.", ())
    permissions: Sequence[Permission] = ask(
        ListOf(Choice(limits.PERMISSIONS), at_most=len(limits.PERMISSIONS), at_least=1),
        f"What it may do, of {', '.join(limits.PERMISSIONS)}.",
        ("memory.read", "memory.manage"),
    )
    systems: Sequence[str] = ask(
        ListOf(GRANT, at_most=1_000),
        "Systems it may read, or manage with =manage after the name; * means all.",
        (),
    )
    actor: Actor = ask(Choice(limits.ACTORS), f"Who holds it: {', '.join(limits.ACTORS)}.", "agent")
    expires_at: datetime | None = ask(MAYBE_INSTANT, "When it stops working; never when left out.", None)
    per_minute: int | None = ask(
        OrNone(Integer(1, 1_000_000)), "How many requests a minute; the server's own limit if less.", None
    )
    saves_per_day: int | None = ask(OrNone(Integer(0, 10_000_000)), "How many saves in 24 hours.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.tenant not in (None, caller.tenant) and not caller.operator:
            yield Fault("tenant", "only the operator of the store may create a key for another tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedKey(Answer):
    """A new key. `secret` is the key itself, shown this once."""

    secret: str = field(repr=False)
    key: Key


@dataclass(frozen=True, slots=True)
class ListKeys(Request):
    """List the keys of the tenant, without their secrets; revoked and expired ones too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedKeys(Answer):
    """The keys of a tenant, oldest first."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class ChangeKey(Request):
    """Change what a key is for, what it may do or until when; only what is given changes.

    Its secret, its user and its actor stay: for another of these make a new key. A revoked key changes no more.
    """

    id: str = ask(NAME, "The id of the key, as listed.", positional=True)
    label: str | None | Unset = ask(OrNone(SOURCE), "What the key is for.", UNSET)
    personas: Sequence[str] | Unset = ask(ListOf(NAME, at_most=100), "Personas it speaks for.", UNSET)
    permissions: Sequence[Permission] | Unset = ask(
        ListOf(Choice(limits.PERMISSIONS), at_most=len(limits.PERMISSIONS), at_least=1),
        f"What it may do, of {', '.join(limits.PERMISSIONS)}.",
        UNSET,
    )
    systems: Sequence[str] | Unset = ask(
        ListOf(GRANT, at_most=1_000),
        "Systems it may read, or manage with =manage after the name; * means all.",
        UNSET,
    )
    expires_at: datetime | None | Unset = ask(MAYBE_INSTANT, "When it stops working.", UNSET)
    per_minute: int | None | Unset = ask(
        OrNone(Integer(1, 1_000_000)), "How many requests a minute; the server's own limit if less.", UNSET
    )
    saves_per_day: int | None | Unset = ask(
        OrNone(Integer(0, 10_000_000)), "How many saves in 24 hours.", UNSET
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedKey(Answer):
    """A key as it is now; `changed` names the fields that are different."""

    key: Key
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RevokeKey(Request):
    """Revoke a key. A second call changes nothing."""

    id: str = ask(NAME, "The id of the key, as listed.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedKey(Answer):
    """A revoked key; `changed` is false if it was revoked before."""

    key: Key
    changed: bool


@dataclass(frozen=True, slots=True)
class WaiveKeys(Request):
    """Forget revoked and expired keys, so that a server on this machine is open to its owner without one again.

    A store that has had keys stays closed until someone does this at its machine; refused while a key is valid.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WaivedKeys(Answer):
    """How many keys were forgotten, none of which was valid; 0 if there were none."""

    forgotten: int


_LETTERS: Final = string.ascii_letters + string.digits
_ID_LETTERS: Final = string.ascii_lowercase + string.digits
_ID_LENGTH: Final = 8
# 256 bits and a little.
_SECRET_LENGTH: Final = 43
_SHAPE: Final = re.compile(
    rf"(?:{'|'.join(KEY_PREFIXES)})[a-z0-9]{{{_ID_LENGTH}}}_[A-Za-z0-9]{{{_SECRET_LENGTH}}}"
)


def has_keys(store: Store) -> bool:
    """Whether any key was ever made, valid or not: from then on every request needs one, until keys are waived."""
    with store.ledger(writes=False) as ledger:
        return ledger.has_keys()


def find(secret: str, store: Store, now: datetime) -> Key | None:
    """The key, if it is valid: known, not revoked, not expired."""
    if not _SHAPE.fullmatch(secret):
        return None
    with store.ledger(writes=False) as ledger:
        key = ledger.key(hash_of(secret))
    return key if key is not None and is_valid(key, now) else None


def is_valid(key: Key, now: datetime) -> bool:
    """Whether a known key is neither revoked nor expired."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def caller_of(
    key: Key, *, request: str | None = None, conversation: str | None = None, run: str | None = None
) -> Caller:
    """The caller that a key identifies."""
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


@operation("write", "memory.admin", "POST /keys", "keys create", begins=True)
def create_key(call: Call, ask: CreateKey) -> CreatedKey:
    caller, now = call.caller, call.now
    # `crm=manage` is the grant to manage, `crm` alone to read; that each is one was checked with the request.
    systems, _ = read_systems(ask.systems)
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
    _refuse_more_than(caller, key)
    _refuse_global(call, key)
    _refuse_past(key, now)
    caller_of(key)
    shown = f"{KEY_PREFIXES[0]}{id}_{secret}"
    with call.ledger(key.tenant) as ledger:
        _refuse_overstepping(caller, key, ledger)
        ledger.add_key(key, hash_of(shown))
        ledger.note(caller, "create_key", now, id)
        return call.done(ledger, CreatedKey(secret=shown, key=key))


@operation("write", "memory.admin", "PATCH /keys/{id}", "keys change")
def change_key(call: Call, ask: ChangeKey) -> ChangedKey:
    caller, now = call.caller, call.now
    new = {
        each.name: value
        for each in request_fields(ask)
        if each.name != "id" and not isinstance(value := getattr(ask, each.name), Unset)
    }
    if "systems" in new:
        new["systems"], _ = read_systems(new["systems"])
    for name in ("personas", "permissions"):
        if name in new:
            new[name] = tuple(new[name])
    with call.ledger(_home(caller, ask.id, call.store)) as ledger:
        before = next((each for each in ledger.all_keys() if each.id == ask.id), None)
        if before is None:
            raise _no_key(ask.id)
        if before.revoked_at is not None:
            raise Conflict(f"Key {ask.id} is revoked and changes no more. Make a new one.")
        key = replace(before, **new)
        changed = tuple(name for name in new if getattr(before, name) != getattr(key, name))
        _refuse_more_than(caller, key)
        if "permissions" in changed:
            _refuse_global(call, key)
        if "expires_at" in changed:
            _refuse_past(key, now)
        _refuse_overstepping(caller, key, ledger)
        if changed:
            ledger.change_key(key)
            ledger.note(caller, "change_key", now, ask.id)
        return call.done(ledger, ChangedKey(key=key, changed=changed))


def _no_key(id: str) -> NotFound:
    return NotFound(f"No key {id} here. List the keys to see which there are.")


def _refuse_global(call: Call, key: Key) -> None:
    if CHANGE_GLOBAL in key.permissions and not call.policy.gives_global:
        raise Forbidden(
            f"The permission {CHANGE_GLOBAL} can be granted only on the server's machine: run `onrecord keys create` there."
        )


def _refuse_past(key: Key, now: datetime) -> None:
    if key.expires_at is not None and key.expires_at <= now:
        raise invalid("expires_at", f"must be in the future (it is {now.isoformat()} now)")


def _refuse_more_than(caller: Caller, key: Key) -> None:
    """Raise Forbidden if the key could do more than its maker. Personas and users are free: a maker of keys already
    sees all memories of the tenant.
    """
    if lacking := sorted(set(key.permissions) - caller.permissions):
        raise Forbidden(f"You cannot give a key a permission that you lack: {', '.join(lacking)}.")
    beyond = [
        f"{name}={grant}" if grant == "manage" else name
        for name, grant in sorted(key.systems.items())
        if not (caller.manages(name) if grant == "manage" else caller.reads(name))
    ]
    if beyond:
        raise Forbidden(f"You cannot give a key systems that you were not granted: {', '.join(beyond)}.")
    if ACTORS.index(key.actor) < ACTORS.index(caller.actor):
        raise Forbidden(
            f"A key can do no more than the caller who creates it: an actor {caller.actor} cannot create one for a {key.actor}."
        )


def _refuse_overstepping(caller: Caller, key: Key, ledger: Ledger) -> None:
    """A key with an end or limits makes only keys with at most these: otherwise a new key would remove them."""
    own = next((each for each in ledger.all_keys() if each.id == caller.key), None)
    if own is None:
        return
    bounds: Sequence[tuple[str, Any, Any]] = [
        (name, getattr(key, name), getattr(own, name))
        for name in ("expires_at", "per_minute", "saves_per_day")
    ]
    for name, wanted, most in bounds:
        if most is not None and (wanted is None or wanted > most):
            limit = most.isoformat() if isinstance(most, datetime) else most
            raise Forbidden(
                f"A key can do no more than the one it is created with, which has {name} {limit}; give {name}, at most that."
            )


@operation("read", "memory.admin", "GET /keys", "keys list")
def list_keys(call: Call, ask: ListKeys) -> ListedKeys:
    with call.store.ledger(call.caller.tenant, writes=False) as ledger:
        return ListedKeys(keys=tuple(ledger.all_keys()))


@operation("write", "memory.admin", "DELETE /keys/{id}", "keys revoke")
def revoke_key(call: Call, ask: RevokeKey) -> RevokedKey:
    with call.ledger(_home(call.caller, ask.id, call.store)) as ledger:
        revoked = ledger.revoke(ask.id, call.now)
        if revoked is None:
            raise _no_key(ask.id)
        key, changed = revoked
        if changed:
            ledger.note(call.caller, "revoke_key", call.now, ask.id)
        return call.done(ledger, RevokedKey(key=key, changed=changed))


@operation("write", "memory.admin", None, "keys waive")
def waive_keys(call: Call, ask: WaiveKeys) -> WaivedKeys:
    call.caller.require_operator("To do without keys")
    if call.caller.actor != "person":
        raise Forbidden("Only a person may waive keys: run `onrecord keys waive`.")
    with call.store.ledger() as ledger:
        forgotten = ledger.forget_keys(call.now)
        if working := len(ledger.all_keys()):
            raise Conflict(f"Some keys are still valid ({working}); revoke them first.")
    if forgotten:
        call.note("waive_keys")
    return WaivedKeys(forgotten=forgotten)


def _home(caller: Caller, id: str, store: Store) -> str:
    """The tenant of a key to revoke. The operator of the store revokes any key: a leaked one must not wait until its
    tenant is named.
    """
    if not caller.operator:
        return caller.tenant
    with store.ledger(writes=False) as ledger:
        return next((key.tenant for key in ledger.all_keys() if key.id == id), caller.tenant)


def _random(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _ in range(length))
