"""WHICH keys are valid, who is signed in, and what was done? Keys, sign-ins, questions to people, the audit, and
requests that must not be done twice.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from onrecord.model.caller import Caller
from onrecord.model.ledger import AuditEntry, PersonsQuestion, SignIn, TenantSettings, YesOrNo
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

    def amend(self, sent: SentRequest, status: int, answer: Any, about: Sequence[str]) -> None:
        """Keep this answer in place of the one that was kept for the request, unless that was forgotten."""


class SignIns(Protocol):
    """Who is signed in to the pages: by the hash of the token in a browser's cookie."""

    def begin(self, hash: str, sign_in: SignIn) -> None:
        """A new one, whose hash must be new. Those of every tenant that have ended by then are removed."""

    def find(self, hash: str) -> tuple[SignIn, ApiKey | None] | None:
        """The one with this hash, of any tenant, whether or not its time is over; with the key it was begun with, as
        that is now.
        """

    def end(self, hash: str) -> bool:
        """Whether there was one with this hash, which is removed."""

    def end_all(self, user: str) -> int:
        """Remove every one of a user of the tenant; returns how many."""


class PersonsQuestions(Protocol):
    """What agents of the tenant asked of people: by the hash of the code in the link."""

    def ask(self, hash: str, question: PersonsQuestion) -> None:
        """A new question, whose hash must be new. Those that ended long before it are removed."""

    def find(self, hash: str) -> PersonsQuestion | None:
        """The question with this hash, answered or not."""

    def answer(self, hash: str, answer: YesOrNo) -> bool:
        """Record the first answer, and drop the arguments; False if there was an answer already."""


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

    @property
    def sign_ins(self) -> SignIns:
        """Who is signed in, in the same transaction."""

    @property
    def questions(self) -> PersonsQuestions:
        """What waits for a person's answer, in the same transaction."""

    def add_key(self, key: ApiKey, hash: str) -> None:
        """A new key of the tenant it names; its id and its hash must be new."""

    def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant, including revoked and expired ones."""

    def keys_named(self, id: str) -> list[tuple[ApiKey, str]]:
        """The keys of this id with their hashes; one at most in the tenant, and without a tenant those of all."""

    def has_keys(self) -> bool:
        """Whether there was ever a key, of any tenant, since keys were last waived; an erased tenant's counts too."""

    def all_keys(self) -> list[ApiKey]:
        """The keys of the tenant, oldest first; without a tenant, all of them."""

    def change_key(self, key: ApiKey) -> None:
        """Give the tenant's key of this id the label, the permissions and the limits that `key` has; not its owner."""

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
