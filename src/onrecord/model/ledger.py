"""WHAT is recorded of API keys, sign-ins, changes and a tenant's settings?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from onrecord.model.advice import Standing
from onrecord.model.answer import Answer
from onrecord.model.limits import Actor, AuditOutcome, Grant, Origin, Permission

YesOrNo = Literal["yes", "no"]


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
class SignIn:
    """A person's or an agent's way into the pages from one browser, until it ends.

    It was begun with a key, or else with a token of an issuer, which said the rest: personas, permissions, systems,
    actor.
    """

    tenant: str
    user: str
    key: str | None = None
    claims: Mapping[str, Any] | None = None
    began_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsQuestion:
    """What an agent asked of a person who opens a link: to call a tool with these arguments.

    `answer` is what became of it, once a person has answered.
    """

    tool: str
    arguments: Mapping[str, Any]
    user: str
    origin: Origin
    at: datetime
    ends_at: datetime
    answer: YesOrNo | None = None


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
    `keep_questions`: feedback keeps the question that it is about; otherwise only a digest of it.
    """

    agents_share: bool = False
    members_retire: bool = False
    advice: tuple[Standing, ...] = ()
    keep_questions: bool = False
