"""WHAT comes back about keys, tenants, reviews and the audit?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from onrecord.model.answers.base import Answer
from onrecord.model.limits import Actor, AuditOutcome, Grant, Origin, Permission
from onrecord.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Answer):
    """What a key may do, and until when; never the key itself."""

    id: str
    tenant: str
    user: str
    label: str | None = None
    personas: tuple[str, ...] = ()
    permissions: tuple[Permission, ...] = ()
    systems: Mapping[str, Grant] = field(default_factory=dict)
    actor: Actor = "agent"
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    per_minute: int | None = None
    saves_per_day: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedKey(Answer):
    """A new key. `secret` is the key itself, shown this once."""

    secret: str = field(repr=False)
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedKeys(Answer):
    """The keys of a tenant, oldest first."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedKey(Answer):
    """A key that works no longer; `changed` is false if it did not before."""

    key: Key
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant(Answer):
    """A tenant and how much it holds."""

    name: str
    memories: int
    entities: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedTenant(Answer):
    """A tenant; `created` is false if it was there before."""

    tenant: Tenant
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTenants(Answer):
    """Tenants by name."""

    tenants: tuple[Tenant, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedTenant(Answer):
    """What was erased, by table, and what a search for the rest has found: nothing, if all is well."""

    name: str
    erased: Mapping[str, int]
    residue: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry(Answer):
    """One write or refusal: who, what, when, and for which request."""

    number: int
    at: datetime
    user: str
    origin: Origin
    operation: str
    outcome: AuditOutcome
    subject: str | None = None
    key: str | None = None
    run: str | None = None
    request: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited(Answer):
    """A page of the audit, newest first; `next` asks for the page after it."""

    entries: tuple[AuditEntry, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed(Answer):
    """A memory after a person has looked at it; `changed` is false if nothing was to be done."""

    memory: Memory
    changed: bool
