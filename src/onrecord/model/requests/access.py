"""WHAT can be asked about who may come in, and about what they did?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from onrecord.errors import Fault
from onrecord.model import limits
from onrecord.model.caller import Caller
from onrecord.model.limits import Actor, AuditOutcome, Permission
from onrecord.model.requests.base import MAYBE_INSTANT, MAYBE_NAME, Request, ask

# By name, since a key has a field `rules`.
from onrecord.model.rules import GRANT, ID, NAME, REASON, SOURCE, Choice, Integer, ListOf, OrNone


@dataclass(frozen=True, slots=True)
class CreateKey(Request):
    """Make a key for an agent or a person. It is shown this once; only its hash is kept.

    A key can do no more than whoever makes it: other tenants are for whoever runs the store.
    """

    label: str | None = ask(OrNone(SOURCE), "What the key is for.", None)
    tenant: str | None = ask(MAYBE_NAME, "Whose memories; the caller's own when left out.", None)
    user: str | None = ask(MAYBE_NAME, "Who comes with it; the caller when left out.", None)
    personas: Sequence[str] = ask(ListOf(NAME, at_most=100), "Personas it speaks for.", ())
    permissions: Sequence[Permission] = ask(
        ListOf(Choice(limits.PERMISSIONS), at_most=len(limits.PERMISSIONS), at_least=1),
        f"What it may do, of {', '.join(limits.PERMISSIONS)}.",
        ("memory.read", "memory.manage"),
    )
    systems: Sequence[str] = ask(
        ListOf(GRANT, at_most=1_000),
        "Systems it may read, or manage with =manage behind the name; * is all.",
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
            yield Fault("tenant", "a key for another tenant is made by whoever runs the store")


@dataclass(frozen=True, slots=True)
class ListKeys(Request):
    """The keys of the tenant, without their secrets; revoked and expired ones too."""


@dataclass(frozen=True, slots=True)
class RevokeKey(Request):
    """Let a key work no longer. A second call changes nothing."""

    id: str = ask(NAME, "The id of the key, as listed.", positional=True)


@dataclass(frozen=True, slots=True)
class CreateTenant(Request):
    """Make room for a tenant before anything is saved there."""

    name: str = ask(NAME, "What to call it.", positional=True)


@dataclass(frozen=True, slots=True)
class ListTenants(Request):
    """The tenants of the store with how much each holds; only the caller's own unless it runs the store."""


@dataclass(frozen=True, slots=True)
class EraseTenant(Request):
    """Erase everything of a tenant, with its catalog, its keys and its history, and look whether anything is left."""

    name: str = ask(NAME, "The tenant to erase.", positional=True)
    confirm: str = ask(NAME, "Its name once more, so that no other is meant.")

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.confirm != self.name:
            yield Fault("confirm", f"must be {self.name!a} too: everything in it is erased for good")
        if self.name != caller.tenant and not caller.operator:
            yield Fault("name", "another tenant is erased by whoever runs the store")


@dataclass(frozen=True, slots=True)
class ListAudit(Request):
    """Who wrote what, when, and what was refused; newest first. The text of memories is not in it."""

    user: str | None = ask(MAYBE_NAME, "Only by this user.", None)
    subject: str | None = ask(MAYBE_NAME, "Only about this memory, key or tenant.", None)
    outcome: AuditOutcome | None = ask(
        OrNone(Choice(limits.AUDIT_OUTCOMES)), f"Only {' or '.join(limits.AUDIT_OUTCOMES)}.", None
    )
    since: datetime | None = ask(MAYBE_INSTANT, "Only at or after this time.", None)
    limit: int = ask(Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(MAYBE_NAME, "Go on after the page that gave this mark.", None)


@dataclass(frozen=True, slots=True)
class Approve(Request):
    """Let a proposal count, or vouch for a memory that an agent wrote: after that it may be told unasked."""

    id: str = ask(ID, "The memory to approve.", positional=True)


@dataclass(frozen=True, slots=True)
class Reject(Request):
    """Turn a proposal down. It stays readable in the past; a second call changes nothing."""

    id: str = ask(ID, "The proposal to turn down.", positional=True)
    reason: str | None = ask(OrNone(REASON), "Why.", None)
