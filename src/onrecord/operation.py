"""WHAT is an operation? A function of a call and a request, marked with its effect, the permission it needs, its
route and its command.

Request, answer and function stand together in the file of their feature; `features.py` lists those files. The doors,
the client, routes, tools, commands and the reference are all derived from these marks.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import MISSING, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args

from onrecord.attached_buffer import AttachedBuffer
from onrecord.errors import Fault, Forbidden, Invalid, OnRecordError
from onrecord.model import ids
from onrecord.model.advice import YES, AdviceInput, Advised, Standing, Task
from onrecord.model.caller import Caller
from onrecord.model.connections import CheckPolicy
from onrecord.model.limits import SAVES_PER_RUN, Permission
from onrecord.model.memory import Change
from onrecord.model.near_names import unknown_names
from onrecord.model.request import Request, checked, request_fields
from onrecord.model.service_address import ServiceAddress
from onrecord.model.unset import Unset
from onrecord.providers.advising import Advisor, Asker
from onrecord.providers.embedding import Embedders
from onrecord.store.ports.ledger import Done, Ledger, SentRequest
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.store import Store
from onrecord.turn_buffer import TurnBuffer

Asked = TypeVar("Asked", bound=Request)
Answer = TypeVar("Answer")
Effect = Literal["read", "write", "destroy"]
Progress = Callable[[str, int, int | None], None]


def unshown(what: str, done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


class Watch(NamedTuple):
    """How often the catalog is compared with what memories say of it, and which sources are read again for that."""

    every: timedelta
    sources: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class StorePolicy:
    """What the operator of the store allows: which sources callers may ingest (None for any), how many saves an
    unattended run may make, how long audit entries and feedback are kept (None for ever), whether an API key may be granted the
    permission to change global memories, whether what memories are about is watched, and where the DataHub is that is
    read and written, if there is one; and what checks may read.
    """

    sources: Sequence[str] | None = None
    saves_per_run: int = SAVES_PER_RUN
    audit_kept: timedelta | None = None
    feedback_kept: timedelta | None = None
    gives_global: bool = True
    watch: Watch | None = None
    datahub: ServiceAddress | None = None
    checks: CheckPolicy = CheckPolicy()


class DoneBefore(Exception):
    """The same request was done before. Only the code that sent it may catch this."""

    def __init__(self, done: Done) -> None:
        super().__init__(done)
        self.done = done


class KeptAnswer(NamedTuple):
    """The part of an answer that is kept, as JSON, and the ids of the memories in it."""

    status: int
    answer: Any
    about: Sequence[str]


@dataclass(slots=True)
class IdempotentRequest:
    """A request that must not be done twice. The transaction that does it also keeps its answer, so that there is
    never one without the other, even if the process or the connection ends.
    """

    sent: SentRequest
    wording: Callable[[Any], KeptAnswer]
    is_kept: bool = False

    def within(self, whole: Callable[[Any], Any]) -> "IdempotentRequest":
        """The same request for an operation that does a part of it: its answer is kept as that part of the whole."""
        return replace(self, wording=lambda part: self.wording(whole(part)))

    def begin(self, transaction: Writing | Ledger) -> None:
        """Begin it. A second request with the same key waits here until the first is done, and then sees that it was."""
        if done := transaction.requests.done(self.sent):
            raise DoneBefore(done)

    def end(self, transaction: Writing | Ledger, answer: Any) -> None:
        if not transaction.requests.keep(self.sent, *self.wording(answer)):
            done = transaction.requests.done(self.sent)
            assert done is not None, "a conflict means that the answer exists"
            raise DoneBefore(done)
        self.is_kept = True

    def amend(self, transaction: Ledger, answer: Any) -> None:
        """Keep what was done after the transaction, too."""
        transaction.requests.amend(self.sent, *self.wording(answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of an operation: the caller, the time, and the store and providers to work with."""

    caller: Caller
    now: datetime
    store: Store
    embedders: Embedders
    advisor: Advisor
    turns: TurnBuffer
    attached: AttachedBuffer
    policy: StorePolicy
    progress: Progress
    once: IdempotentRequest | None = None

    def reading(self) -> AbstractContextManager[Reading]:
        """The store as the caller sees it."""
        return self.store.reading(self.caller, self.now)

    @contextmanager
    def writing(self, id: str | None = None, *, tenant: str | None = None) -> Iterator[Writing]:
        """A transaction in the caller's tenant, in the one that is given, or in the one that an id belongs to."""
        home = tenant or (None if id is None else ids.address(id).tenant)
        with self.store.writing(self.caller, self.now, home or self.caller.tenant) as writing:
            if self.once is not None:
                self.once.begin(writing)
            yield writing

    @contextmanager
    def ledger(self, tenant: str) -> Iterator[Ledger]:
        """A transaction over the keys and settings of a tenant."""
        with self.store.ledger(tenant) as ledger:
            if self.once is not None:
                self.once.begin(ledger)
            yield ledger

    def done(self, transaction: Writing | Ledger, answer: Answer) -> Answer:
        """Return the answer; call it last in the transaction. The answer of an idempotent request is kept in that
        transaction.
        """
        if self.once is not None:
            self.once.end(transaction, answer)
        return answer

    def amend(self, answer: Any) -> None:
        """Keep the answer of an idempotent request again, with what was done after the transaction. If that fails, a
        repeated request hears of the transaction alone.
        """
        if self.once is not None:
            with suppress(OnRecordError), self.store.ledger(self.caller.tenant) as ledger:
                self.once.amend(ledger, answer)

    def change(self, name: str) -> Change:
        """Who changes what and when, to be stored with the version that a change makes."""
        return Change(name, self.caller.user, self.caller.actor, self.now)

    def advise(self, task: Task, input: AdviceInput, model: str = YES, agent: str | None = None) -> Advised:
        """Advice for this caller and its agent. Ask outside every transaction: it may take seconds."""
        return self.advisor.advise(task, input, Asker(caller=self.caller, now=self.now, agent=agent), model)

    def standing_advice(self) -> frozenset[Standing]:
        """What the tenant lets an advisor do without being asked each time."""
        with self.store.ledger(self.caller.tenant, writes=False) as ledger:
            return frozenset(ledger.settings().advice)

    def note(self, operation: str, subject: str | None = None) -> None:
        """Write a line of the audit for the operation as a whole. Single saves write their own lines."""
        with self.store.ledger(self.caller.tenant) as ledger:
            ledger.note(self.caller, operation, self.now, subject)

    def note_refusal(self, operation: str) -> None:
        """Add a line about a refusal to the audit; a failure to write the line is ignored."""
        with suppress(OnRecordError), self.store.ledger(self.caller.tenant) as ledger:
            ledger.note(self.caller, operation, self.now, outcome="refused")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with all that surfaces need to offer it.

    `route` is its path over HTTP, or None if it is for this machine alone. `command` is its name on a command line,
    or None if it has none because what it keeps ends with the process. `begins` says whether it may be the first
    operation on a store, which is then made; all others need an existing store.
    """

    name: str
    request: type[Request]
    answer: Any
    effect: Effect
    permission: Permission
    route: str | None
    command: str | None
    function: Callable[[Call, Any], Any]
    begins: bool = False

    @property
    def tool_name(self) -> str:
        """What a model calls it."""
        return self.name.rstrip("_")

    @property
    def description(self) -> str:
        """What it does, for a model, as one line."""
        return " ".join((self.request.__doc__ or "").split())

    def is_offered_to(self, caller: Caller) -> bool:
        """Whether to show this operation to this caller: no permission or restriction rules it out."""
        return self.permission in caller.permissions and not self._is_refused_to(caller)

    def _is_refused_to(self, caller: Caller) -> bool:
        return self.effect == "destroy" and caller.actor == "unattended"

    def run(self, call: Call, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Check the permission and every field, then do it. Takes the fields of the request, or the request itself."""
        call.caller.require(self.permission)
        if self._is_refused_to(call.caller):
            raise Forbidden("An unattended run may not erase a memory: retire it, or let a person erase it.")
        is_request = len(given) == 1 and isinstance(given[0], self.request) and not named
        asked = given[0] if is_request else build_request(self.request, given, named)
        return self.function(call, checked(asked, call.caller))

    def sign(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Give a method the name, docstring and signature of this operation, so that a framework can make a tool of
        it.
        """
        parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
        for each in request_fields(self.request):
            how = inspect.Parameter.KEYWORD_ONLY if each.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            hint = _without_unset(each.type)
            parameters.append(inspect.Parameter(each.name, how, default=default, annotation=hint))
        signed: Any = method
        signed.__name__, signed.__qualname__, signed.__doc__ = self.name, self.name, self.request.__doc__
        signed.operation = self
        signed.__signature__ = inspect.Signature(parameters, return_annotation=self.answer)
        signed.__annotations__ = {each.name: each.annotation for each in parameters[1:]}
        signed.__annotations__["return"] = self.answer
        return method


def operation(
    effect: Effect,
    permission: Permission,
    route: str | None = None,
    command: str | None = "",
    begins: bool = False,
) -> Callable[[Callable[[Call, Asked], Answer]], Callable[[Call, Asked], Answer]]:
    """Mark a function as an operation. Its annotations name its request and its answer."""

    def mark(function: Callable[[Call, Asked], Answer]) -> Callable[[Call, Asked], Answer]:
        name = function.__name__
        hints = function.__annotations__
        spelt = name.rstrip("_").replace("_", "-") if command == "" else command
        function.operation = Operation(  # type: ignore[attr-defined]
            name, hints["ask"], hints["return"], effect, permission, route, spelt, function, begins
        )
        return function

    return mark


def build_request(kind: type[Asked], given: tuple[Any, ...], named: dict[str, Any]) -> Asked:
    """Make the request; Invalid lists every unknown and every missing field."""
    known = {each.name: each for each in request_fields(kind)}
    positional = [name for name, each in known.items() if not each.kw_only]
    values = dict(zip(positional, given, strict=False)) | named
    faults = unknown_names(named, known, "is not a field here")
    faults += [Fault(name, "was given twice") for name in positional[: len(given)] if name in named]
    if len(given) > len(positional):
        faults.append(
            Fault(
                "arguments", f"at most {len(positional)} may be given by position ({len(given)} were given)"
            )
        )
    for name, each in known.items():
        if each.default is MISSING and name not in values:
            faults.append(Fault(name, "is required"))
    if faults:
        raise Invalid(faults)
    return kind(**values)


def _without_unset(hint: Any) -> Any:
    """The annotation without `Unset`, which callers never pass."""
    kinds = [each for each in get_args(hint) if each is not Unset]
    return Union[tuple(kinds)] if Unset in get_args(hint) else hint  # noqa: UP007
