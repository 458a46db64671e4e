"""WHO may come in, and what was done? Keys, the audit, and requests that must not be done twice."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from onrecord.model.caller import Caller
from onrecord.model.ledger import AuditEntry, TenantSettings
from onrecord.model.ledger import Key as ApiKey
from onrecord.model.limits import AuditOutcome
from onrecord.store.ports.filters import AuditFilter


class SentRequest(NamedTuple):
    """A request that must not be done twice: whose it is, a hash of the key that its sender chose, what it asks for, a
    fingerprint of all that was sent, and when it came."""

    tenant: str
    user: str
    key: str
    operation: str
    fingerprint: str
    at: datetime


class Done(NamedTuple):
    """What is known of a request that was done: `answered` comes with what was answered. `different` is another request
    under the same key, and `forgotten` one about a memory that was erased since."""

    state: Literal["answered", "different", "forgotten"]
    status: int = 0
    answer: Any = None


class Requests(Protocol):
    """Requests that must not be done twice, in the transaction that does them."""

    def done(self, sent: SentRequest) -> Done | None:
        """What came of it, if it was done before."""

    def keep(self, sent: SentRequest, status: int, answer: Any, about: Sequence[str]) -> bool:
        """Keep an answer in JSON, and which memories it is about; False if one was kept meanwhile. Old ones are swept."""


class Ledger(Protocol):
    """One transaction over keys, audit and requests: those of one tenant, or where it says so of all."""

    @property
    def requests(self) -> Requests:
        """Requests that must not be done twice, in the same transaction."""

    def add_key(self, key: ApiKey, hash: str) -> None:
        """A new key of the tenant it names; its id and its hash must be new."""

    def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, whosever it is; revoked and expired ones too."""

    def has_keys(self) -> bool:
        """Whether there was ever a key, of any tenant, and it was not forgotten; an erased tenant's counts too."""

    def all_keys(self) -> list[ApiKey]:
        """The keys of the tenant, oldest first; without a tenant, all of them."""

    def revoke(self, id: str, at: datetime) -> tuple[ApiKey, bool] | None:
        """A key that works no longer, and whether it was not revoked before; None if the tenant has no such key."""

    def forget_keys(self, now: datetime) -> int:
        """Take away those that work no longer, of every tenant; gives how many."""

    def settings(self) -> TenantSettings:
        """What the tenant has said of who may change what."""

    def set(self, settings: TenantSettings, by: str, at: datetime) -> None:
        """Let the tenant have said this."""

    def note(
        self,
        caller: Caller,
        operation: str,
        at: datetime,
        subject: str | None = None,
        outcome: AuditOutcome = "done",
    ) -> None:
        """A line of the audit, in the next number of the tenant."""

    def note_everyones(self, caller: Caller, operation: str, at: datetime) -> None:
        """A line for every tenant but the caller's, in the audit of what all of them see: this is the ledger of that."""

    def page(self, ask: AuditFilter) -> tuple[list[AuditEntry], str | None]:
        """Lines of the audit, newest first, and the mark of the next page; with them what others have changed of what
        every tenant sees, by numbers of its own."""

    def secret(self) -> str | None:
        """What only those who hold the store know: by it processes believe what another of them has signed."""

    def keep_secret(self, secret: str) -> str:
        """Make this the secret of the store, unless it has one; gives the one it has."""
