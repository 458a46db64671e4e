"""WHICH keys are valid, and what was done? Keys, the audit, and requests that must not be done twice."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from onrecord.model.caller import Caller
from onrecord.model.ledger import AuditEntry, TenantSettings
from onrecord.model.ledger import Key as ApiKey
from onrecord.model.limits import AuditOutcome
from onrecord.store.ports.filters import AuditFilter


class SentRequest(NamedTuple):
    """A request that must not be done twice: its sender, a hash of the key that the sender chose, the operation, a
    fingerprint of everything sent, and the time.
    """

    tenant: str
    user: str
    key: str
    operation: str
    fingerprint: str
    at: datetime


class Done(NamedTuple):
    """What is known of a request that was done: `answered` has its answer. `different` is another request under the
    same key, and `forgotten` one about a memory that was erased since.
    """

    state: Literal["answered", "different", "forgotten"]
    status: int = 0
    answer: Any = None


class Requests(Protocol):
    """Requests that must not be done twice, in the transaction that does them."""

    def done(self, sent: SentRequest) -> Done | None:
        """The result of the request, if it was done before."""

    def keep(self, sent: SentRequest, status: int, answer: Any, about: Sequence[str]) -> bool:
        """Keep an answer as JSON with the ids of its memories; False if one was kept meanwhile. Old answers are
        removed.
        """


class Spending(NamedTuple):
    """What was asked of an advisor: by which user, for which agent (empty for none), and what it took. Millionths of a
    dollar are whole numbers, so that sums stay exact.
    """

    user: str
    agent: str
    task: str
    model: str
    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    micros: int = 0

    def tokens(self) -> dict[str, int]:
        return {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out}


class Ledger(Protocol):
    """One transaction over keys, audit and requests of one tenant, or of all where a method says so."""

    @property
    def requests(self) -> Requests:
        """Requests that must not be done twice, in the same transaction."""

    def add_key(self, key: ApiKey, hash: str) -> None:
        """A new key of the tenant it names; its id and its hash must be new."""

    def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant, including revoked and expired ones."""

    def has_keys(self) -> bool:
        """Whether there was ever a key, of any tenant, since keys were last waived; an erased tenant's counts too."""

    def all_keys(self) -> list[ApiKey]:
        """The keys of the tenant, oldest first; without a tenant, all of them."""

    def revoke(self, id: str, at: datetime) -> tuple[ApiKey, bool] | None:
        """The revoked key, and whether it was valid before; None if the tenant has no such key."""

    def forget_keys(self, now: datetime) -> int:
        """Remove the keys of every tenant that are no longer valid; returns how many."""

    def settings(self) -> TenantSettings:
        """What the tenant allows its agents and members."""

    def set(self, settings: TenantSettings, by: str, at: datetime) -> None:
        """Change these settings of the tenant."""

    def note(
        self,
        caller: Caller,
        operation: str,
        at: datetime,
        subject: str | None = None,
        outcome: AuditOutcome = "done",
    ) -> None:
        """Add a line to the audit, under the tenant's next number."""

    def note_everyones(self, caller: Caller, operation: str, at: datetime) -> None:
        """Add an entry that every tenant except the caller's sees. Only for the ledger of the global tenant."""

    def page(self, ask: AuditFilter) -> tuple[list[AuditEntry], str | None]:
        """Entries of the audit, newest first, and the mark of the next page. They include changes that other tenants made
        to global memories, which have numbers of their own.
        """

    def spend(self, day: int, on: Spending) -> None:
        """Add to what the tenant has asked of an advisor on a day. Others who spend there wait until the transaction
        ends, so that a look before it stays true.
        """

    def spent(self, day: int) -> list[Spending]:
        """What the tenant has asked of an advisor on a day, by user, agent, task and model."""

    def secret(self) -> str | None:
        """The secret of the store, with which its processes sign and verify confirmations."""

    def keep_secret(self, secret: str) -> str:
        """Make this the secret of the store, unless it has one; returns the one it has."""
