"""WHAT can be done here? A store as one caller sees it, with a method for each operation."""

from collections.abc import Callable, Mapping
from copy import copy
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from onrecord.access import confirmation
from onrecord.attached_buffer import AttachedBuffer
from onrecord.doors import Door
from onrecord.errors import Forbidden
from onrecord.model.caller import Caller
from onrecord.model.request import Request
from onrecord.operation import (
    Call,
    IdempotentRequest,
    Operation,
    Progress,
    StorePolicy,
    build_request,
    unshown,
)
from onrecord.providers.advising import NO_ADVISORS, Advisor
from onrecord.providers.embedding import NO_EMBEDDERS, Embedders
from onrecord.store.ports.store import Store
from onrecord.turn_buffer import TurnBuffer

if TYPE_CHECKING:
    # Most programs run none.
    from onrecord.jobs.worker import Worker

_FREE: Final = StorePolicy()

#: Does a write through a door, and gives its answer.
Write = Callable[["OnRecord", Operation, Request], Any]


class OnRecord(Door):
    """A store as one caller sees it. Several doors may share one store; closing any closes it for all."""

    def __init__(
        self,
        store: Store,
        caller: Caller,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        progress: Progress = unshown,
        embedders: Embedders = NO_EMBEDDERS,
        turns: TurnBuffer | None = None,
        policy: StorePolicy = _FREE,
    ) -> None:
        self._store = store
        self._turns = turns or TurnBuffer()
        self._attached = AttachedBuffer()
        self._policy = policy
        self._embedders = embedders
        #: The advisor; set by the code that opens the store.
        self.advisor: Advisor = NO_ADVISORS
        self.caller = caller
        self._clock = clock
        self._progress = progress
        self._write: Write | None = None

    @property
    def now(self) -> datetime:
        """The time by the clock of this door."""
        return self._clock()

    def as_caller(self, caller: Caller, policy: StorePolicy | None = None) -> "OnRecord":
        """The same store for another caller, under another policy if one is given."""
        door = copy(self)
        door.caller, door._policy = caller, policy or self._policy
        return door

    def perform(self, operation: Operation, /, *given: Any, **named: Any) -> Any:
        """Do an operation; takes the fields of its request, or the request itself. A refusal leaves a line in the
        audit.
        """
        if self._write is not None and operation.effect != "read":
            return self._write(self, operation, build_request(operation.request, given, named))
        return self._perform(operation, given, named)

    def _perform(
        self,
        operation: Operation,
        given: tuple[Any, ...],
        named: dict[str, Any],
        once: IdempotentRequest | None = None,
    ) -> Any:
        call = self._call(self.caller, self._clock(), once)
        try:
            return operation.run(call, given, named)
        except Forbidden:
            call.note_refusal(operation.name)
            raise

    def _call(self, caller: Caller, now: datetime, once: IdempotentRequest | None = None) -> Call:
        return Call(
            caller=caller,
            now=now,
            store=self._store,
            embedders=self._embedders,
            advisor=self.advisor,
            turns=self._turns,
            attached=self._attached,
            policy=self._policy,
            progress=self._progress,
            once=once,
        )

    def issue_confirmation(self, what: str) -> str:
        """A signed token to send with a question to a person. For a few minutes it proves that this caller has asked
        that question.
        """
        return confirmation.issue(self.caller, what, self._store, self._clock())

    def verify_confirmation(self, what: str, token: str) -> confirmation.ConfirmationState:
        """Whether a token was issued to this caller for exactly this question, and whether it is still valid."""
        return confirmation.verify(self.caller, what, token, self._store, self._clock())

    def ask_person(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Keep a question to a person of the tenant: may this tool be called so? The code that it returns is for a link,
        where it is answered once.
        """
        return confirmation.ask(self.caller, tool, arguments, self._store, self._clock())

    @property
    def worker(self) -> "Worker":
        """A worker for jobs that were put off, and for those that come back; any number of workers may share one store."""
        from onrecord.jobs.worker import Worker
        from onrecord.upkeep import doers

        call_of = self._call if self.advisor.is_there else None
        known = doers(self._store, self._embedders, self._policy, call_of)
        return Worker(self._store, known, self._clock)

    @property
    def location(self) -> str:
        """Where the data lives."""
        return self._store.location

    def close(self) -> None:
        self.advisor.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def perform_once(door: OnRecord, once: IdempotentRequest, operation: Operation, asked: Request) -> Any:
    """Do an operation unless the same request was done before: then DoneBefore is raised. For surfaces whose callers
    may repeat a request.
    """
    return door._perform(operation, (asked,), {}, once)


def writing_through(door: OnRecord, write: Write | None) -> OnRecord:
    """The same door, whose writes are done by `write`. For surfaces that translate a request into operations."""
    door = copy(door)
    door._write = write
    return door
