"""WHAT is recorded of API keys, of changes and of a tenant's settings?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from onrecord.model.advice import Standing
from onrecord.model.answer import Answer
from onrecord.model.limits import Actor, AuditOutcome, Grant, Origin, Permission


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
class TenantSettings(Answer):
    """What a tenant allows its agents and members, and what an advisor does there without being asked each time.

    `agents_share`: all its agents, attended or not, share one tier and may correct each other's shared memories.
    `members_retire`: whoever may save there may also retire and supersede what others shared, within their tier.
    """

    agents_share: bool = False
    members_retire: bool = False
    advice: tuple[Standing, ...] = ()
